"""A client's whole candidates on the origins of their documents. Pure."""

from __future__ import annotations

import excise
from excise.text import Revision, normalise
from excise_server.report.escape import printable
from excise_server.review.given import Given, GivenFile
from excise_server.review.replayed import CREATED, CREATES, DELETES, SAME_LINES

__all__ = ["on_origin"]


def on_origin(candidate: Given, file: GivenFile, origin: str) -> tuple[Revision, list[str]]:
    """Return what a candidate makes of an origin, replayed from what it made it from, and notes.

    A file that it deletes has no text.
    """
    if file.text is None:
        return Revision(candidate.id, "", candidate.label), [DELETES]
    text, notes = file.text, list[str]()
    if file.status == "A":
        notes = [CREATES, *([CREATED] if origin and normalise(text) != origin else [])]
    elif file.base is not None and normalise(file.base) != normalise(origin):
        replayed = excise.replay(file.base, origin, text)
        text = replayed.text
        notes = [*([SAME_LINES] if replayed.conflicts else []), *replayed.notes]
    if file.status == "R" and file.path:
        notes.append(f"renamed to {printable(file.path.replace(chr(92), '/').rpartition('/')[2])}")
    return Revision(candidate.id, text, candidate.label), notes
