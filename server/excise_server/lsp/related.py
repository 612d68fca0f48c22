"""relatedInformation of a hunk: the location of each variant, as far as the client can open it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from lsprotocol import types as t
from pygls.uris import from_fs_path

from excise_server.editor.analysis import Analysis
from excise_server.editor.wording import listed, names_of, share_of
from excise_server.lsp.gathering import OwnFile
from excise_server.lsp.virtual import virtual_uri

__all__ = ["MAX_VARIANTS", "Related"]

MAX_VARIANTS = 5
"""Most variants to which one hunk links."""

_MAX_NAMES = 3


class Related:
    """Locations of the variants of an analysis.

    Parameters
    ----------
    analysis : Analysis
        The analysis whose hunks are shown.
    files : callable
        Returns the files that contain revisions, by id.
    virtual : bool
        Whether the client opens the URIs of texts that are in no file.
    """

    def __init__(
        self, analysis: Analysis, files: Callable[[], dict[str, OwnFile]], *, virtual: bool
    ) -> None:
        """Look at nothing yet."""
        self._analysis, self._read_files, self._virtual = analysis, files, virtual

    def of_hunk(self, index: int) -> list[t.DiagnosticRelatedInformation]:
        """Return the locations of the variants of a hunk that differ from the origin."""
        hunk = self._analysis.hunks[index].hunk
        information = []
        for variant in hunk.variants[: MAX_VARIANTS + 1]:
            location = None if variant.text == hunk.text else self._location(index, variant.members)
            if location is not None:
                information.append(
                    t.DiagnosticRelatedInformation(location, self._message(variant.members))
                )
        return information[:MAX_VARIANTS]

    def _location(self, index: int, members: tuple[int, ...]) -> t.Location | None:
        """Return the first member's lines that can be opened."""
        snapshot, spans = self._analysis.snapshot, self._analysis.hunks[index].hunk.spans
        for member in members:
            if member == snapshot.own:
                continue  # it is the document itself
            (lo, hi), identity = spans[member], snapshot.revisions[member].id
            if (file := self._files.get(identity)) is not None:
                uri, (lo, hi) = from_fs_path(file.path) or "", file.lines.span(lo, hi)
            elif self._virtual:
                uri = virtual_uri(snapshot.uri_or_path, identity)
            else:
                continue
            return t.Location(uri, t.Range(t.Position(lo, 0), t.Position(hi, 0)))
        return None

    def _message(self, members: tuple[int, ...]) -> str:
        """Return "gpt, claude (2 of 5)"."""
        snapshot = self._analysis.snapshot
        who = listed((self._names[member] for member in members), _MAX_NAMES)
        return f"{who} ({share_of(members, len(snapshot.texts))})"

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return names_of(self._analysis.snapshot.revisions)

    @cached_property
    def _files(self) -> dict[str, OwnFile]:
        return self._read_files()
