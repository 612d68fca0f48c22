"""The JSON document of ``excise take``, as docs/json.md describes it."""

from __future__ import annotations

from excise_server.report.shapes import SCHEMA, Shape

__all__ = ["TakeDocument", "TakenFileEntry", "TakenPartEntry"]


class TakenPartEntry(Shape, frozen=True, kw_only=True):
    """A part of the result and its candidate, without a hunk for a file, name or mode."""

    candidate: str
    path: str
    hunk: str | None


class TakenFileEntry(Shape, frozen=True, kw_only=True):
    """A file that is changed."""

    path: str
    old_path: str
    status: str


class TakeDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --json``, with the patch in base64 if it is not UTF-8."""

    schema: int = SCHEMA
    repository: str
    origin: str
    digest: str
    parts: list[TakenPartEntry]
    files: list[TakenFileEntry]
    patch: str
    base64: bool
    written: bool
    undo: str | None
    notes: list[str]
