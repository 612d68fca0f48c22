"""The JSON document of ``excise take``, as docs/json.md describes it."""

from __future__ import annotations

from excise_server.report.shapes import SCHEMA, Shape

__all__ = [
    "CheckedDocument",
    "FindingEntry",
    "RefusalEntry",
    "TakeDocument",
    "TakenFileEntry",
    "TakenPartEntry",
    "UndoneDocument",
]


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


class UndoneDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --undo --json``: when the take was made, and how its files change."""

    schema: int = SCHEMA
    repository: str
    time: str
    files: list[TakenFileEntry]
    notes: list[str]


class FindingEntry(Shape, frozen=True, kw_only=True):
    """Something in a mix that cannot work: its line (from 1), its kind and the missing name."""

    path: str
    line: int
    kind: str
    name: str
    message: str


class RefusalEntry(Shape, frozen=True, kw_only=True):
    """Why a mix is refused, and the command that takes what is missing, or an empty string."""

    message: str
    findings: list[FindingEntry]
    mend: str


class CheckedDocument(Shape, frozen=True, kw_only=True):
    """What a worker says of each edit of a document: why it is refused, or `null`."""

    refusals: list[RefusalEntry | None]
