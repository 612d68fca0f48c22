"""The whole candidates of a client: kept by id, and replayed on the origins of their documents."""

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
    """The candidates of a client: all revisions with one id are one candidate, in any files.

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
        """Keep a file of a candidate, and its label if that is not empty."""
        candidate = self._by_id.get(name)
        files = candidate.files if candidate is not None else {}
        label = label or (candidate.label if candidate is not None else "")
        self._by_id[name] = Given(name, label, {**files, key: file})

    def forget(self, name: str, key: str) -> None:
        """Forget a file of a candidate, and the candidate with its last one."""
        if (candidate := self._by_id.get(name)) is None:
            return
        files = {file_key: file for file_key, file in candidate.files.items() if file_key != key}
        if files:
            self._by_id[name] = replace(candidate, files=files)
        else:
            del self._by_id[name]

    def deletes(self, name: str, key: str) -> bool:
        """Whether a candidate deletes a file, so that its empty text is not a text."""
        candidate = self._by_id.get(name)
        file = candidate.files.get(key) if candidate is not None else None
        return file is not None and file.text is None


def on_origin(candidate: Given, file: GivenFile, origin: str) -> tuple[Revision, list[str]]:
    """Return a candidate's revision of an origin, replayed from its own base, and notes.

    If the candidate deletes the file, the text is empty.
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
