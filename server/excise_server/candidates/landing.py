"""What candidates of a repository land together: `excise_server.review.landing` with the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from excise import CancelFlag
from excise.languages import resolve
from excise_server.candidates.chosen import chosen_candidates, chosen_tasks
from excise_server.candidates.compared import compared
from excise_server.foundation.changes import Side
from excise_server.foundation.file_bytes import SHA256_DIGITS
from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Blob, Repository
from excise_server.git.search import lines_with
from excise_server.review.candidate import candidate_called, review_digest
from excise_server.review.git_patch import git_patch
from excise_server.review.landing import Chosen, Landing, choose, land
from excise_server.review.relations import broken_in_target
from excise_server.review.verdicts import Verdict, match_verdicts
from excise_server.sources.candidates import Candidates

MOST = 1_000
"""Most candidates that are put together."""

MOST_FILES = 300
"""Most files of the target that are read for what they use."""


@dataclass(slots=True)
class _Target:
    """The files of the target that were searched, and why some were not."""

    repository: Repository
    commit: str
    note: str = ""

    def files_with(self, words: frozenset[str]) -> dict[str, str]:
        """Return the files of code that have one of some words, or none if there are too many."""
        lines = lines_with(self.repository, self.commit, words)
        paths = dict.fromkeys(path for path, _ in lines or () if resolve(None, path, ""))
        if lines is None or len(paths) > MOST_FILES:
            why = f"in {len(paths):,} files" if lines else f"{len(words):,} words"
            self.note = f"unchanged files were not searched for the names that are gone: {why}"
            return {}
        blobs = self.repository.blobs([f"{self.commit}:{path}" for path in paths])
        texts = {
            path: Side("100644", blob.data).text
            for path, blob in zip(paths, blobs, strict=True)
            if isinstance(blob, Blob)
        }
        return {path: text for path, text in texts.items() if text is not None}


def land_candidates(
    repository: Repository | None,
    candidates: Candidates,
    names: Sequence[str] = (),
    *,
    task: str = "",
    verdicts: Sequence[Verdict] = (),
    anyway: bool = False,
    cancel: CancelFlag | None = None,
) -> Landing:
    """Put candidates together: those that are named, or else of each task the one that is decided.

    Raises SourceError if a name denotes none, there are too many, or a part cannot be taken. Raises
    excise.errors.Cancelled if the flag is raised meanwhile.

    - ``repository``: None for folders without one: other files are not searched then.
    - ``task``: the only task that lands: as of `chosen_tasks`.
    - ``anyway``: whether what breaks something lands all the same.
    """
    if names:
        candidates = chosen_candidates(candidates, names)
    if len(candidates.found) > MOST:
        count = f"{len(candidates.found):,} candidates, limit {MOST:,}"
        raise SourceError(count, hint="choose with --only GLOB, or name them")
    every = compared(candidates, cancel=cancel)
    candidates, tasks, _ = chosen_tasks(candidates, every.tasks, task)
    chosen = Chosen(candidates.found)
    if names:
        called = {(c := candidate_called(name, candidates.found)).id: c for name in names}
        chosen = Chosen(tuple(called.values()))
    else:
        matched = match_verdicts(verdicts, candidates.found)
        chosen = choose(candidates.found, tasks, matched.outcome)
    broken, note = {}, ""
    if repository is not None:
        target = _Target(repository, candidates.origin)
        broken = broken_in_target(chosen.candidates, every.reader, target.files_with)
        note = target.note
    landing = land(chosen, every.relations, broken, every.claims, anyway=anyway)
    sha256 = repository is not None and len(candidates.origin) == SHA256_DIGITS
    taken = replace(
        landing.taken,
        origin=candidates.origin,
        digest=review_digest(candidates.origin, landing.order),
        patch=git_patch(landing.taken.files, sha256=sha256),
    )
    return replace(landing, taken=taken, notes=(*landing.notes, *([note] if note else [])))
