"""A candidate that a client sends: the texts of some files, and those they were made from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Status = Literal["A", "M", "D", "R"]
"""Added, modified, deleted or renamed, in the letters of git."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """One file of a given candidate.

    - ``uri``: the document that it is reviewed in: for a renamed file, the one with the old name.
    - ``path``: the file's absolute path, under its new name; None for a document that is not a
      file.
    - ``base``: the text that it was made from, or None for the origin's.
    - ``old_path``: where a renamed file was before.
    """

    uri: str
    path: str | None
    status: Status = "M"
    text: str | None = None
    base: str | None = None
    old_path: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """One candidate of a client, with ``files`` by the keys of their documents."""

    id: str
    label: str
    files: Mapping[str, GivenFile]
