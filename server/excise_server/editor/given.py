"""The whole candidates of a client: kept by id, and put on the origins of their documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import excise
from excise.text import Revision, normalise
from excise_server.foundation.escape import printable
from excise_server.review.given import Given, GivenFile
from excise_server.review.replayed import CREATED, CREATES, DELETES, SAME_LINES

__all__ = ["GivenCandidates", "on_origin"]


class GivenCandidates:
    """What a client gave: revisions of one id are one candidate, in however many files.

    Files are kept by the keys of their documents.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._by_id: dict[str, Given] = {}

    @property
    def by_id(self) -> Mapping[str, Given]:
        """The candidates by id, with all of their files."""
        return self._by_id

    def note(self, name: str, label: str, key: str, file: GivenFile) -> None:
        """Keep a file of a candidate; without a label it keeps the one that it has."""
        known = self._by_id.get(name)
        files = known.files if known is not None else {}
        label = label or (known.label if known is not None else "")
        self._by_id[name] = Given(name, label, {**files, key: file})

    def forget(self, name: str, key: str) -> None:
        """Forget a file of a candidate, and the candidate with its last one."""
        if (known := self._by_id.get(name)) is None:
            return
        files = {other: file for other, file in known.files.items() if other != key}
        if files:
            self._by_id[name] = replace(known, files=files)
        else:
            del self._by_id[name]

    def deletes(self, name: str, key: str) -> bool:
        """Whether a candidate deletes a file, so that its empty text is not a text."""
        known = self._by_id.get(name)
        file = known.files.get(key) if known is not None else None
        return file is not None and file.text is None


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
