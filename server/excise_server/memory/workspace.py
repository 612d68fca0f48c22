"""The subject of memory: the folders that a client has open."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """The absolute paths of the workspace folders, and whether git may be started in them."""

    folders: tuple[str, ...]
    trusted: bool
