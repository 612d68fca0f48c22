"""Whole candidates as changes of one commit: the report that everyone shows.

Each is a change set of one origin, over all its files, and scored by whole texts, each file by its
grammar: a pair has the number that ``excise rank`` gives for the same texts. Command and language
server show the same report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from excise import CancelFlag, Cluster, Ranked, ScoreMatrix
from excise.clustering import DISTANCE, LINKAGE
from excise.facts import EditFacts, joined_facts
from excise.patches import IGNORED, Patch
from excise.patches.features import compared
from excise.ranking import INTENT
from excise.reading import PARSER_SECONDS
from excise_server.candidates.chosen import chosen_batches
from excise_server.foundation.changes import patch_files
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.git.repository import Repository
from excise_server.review.batches import Batch
from excise_server.review.change_sets import change_set, origin_texts
from excise_server.review.hunks import ReviewedFile, review_files
from excise_server.review.kinds import kind_of
from excise_server.review.ranked import RankedBatch, rank_batches
from excise_server.review.reasons import Reason, group_reasons
from excise_server.review.verdicts import NO_VERDICTS, Verdict, Verdicts, match_verdicts
from excise_server.sources.candidates import Candidate, Candidates, Selection, find_candidates

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["Review", "compare_candidates", "compare_worktrees"]


@dataclass(frozen=True, slots=True)
class Review:
    """Candidates of one target, compared: their similarities, tasks, order, groups and hunks.

    Attributes
    ----------
    top
        The top folder of the repository's working tree.
    candidates
        The candidates that were found, refused and left out, and the base.
    patches
        The changes of each candidate, without the ignored files.
    matrix
        Their similarities, the word for each pair, and how much of the first one's edit the second
        one has at the same place; in the order of the candidates.
    batches
        The candidates of each task, ranked and grouped by themselves, the largest batch first.
    other_batches
        Batches that were not chosen.
    verdicts
        The results of checks on the candidates.
    files
        For each batch, the files that it changes, hunk by hunk.
    reasons
        For each batch, what sets its groups apart, in the order of its clusters.
    intent
        What the candidates are for, as in `excise.rank`.
    """

    top: str
    candidates: Candidates
    patches: tuple[Patch, ...]
    matrix: ScoreMatrix
    batches: tuple[RankedBatch, ...]
    threshold: float
    linkage: str
    other_batches: tuple[Batch, ...] = ()
    verdicts: Verdicts = NO_VERDICTS
    files: tuple[tuple[ReviewedFile, ...], ...] = ()
    reasons: tuple[tuple[tuple[Reason, ...], ...], ...] = ()
    intent: str = INTENT

    @property
    def values(self) -> Values:
        """The similarities alone."""
        return self.matrix.values

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The word for each pair."""
        count = range(len(self.patches))
        return tuple(tuple(self.matrix.word(i, j) for j in count) for i in count)

    @property
    def signature(self) -> str:
        """The signature of every score."""
        return self.matrix.signature

    @property
    def ranking(self) -> tuple[Ranked, ...]:
        """All candidates, batch after batch."""
        return tuple(ranked for batch in self.batches for ranked in batch.ranking)

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """All groups, batch after batch."""
        return tuple(cluster for batch in self.batches for cluster in batch.clusters)


def compare_worktrees(
    repository: Repository,
    selection: Selection | None = None,
    *,
    batch: str = "",
    ignored: Sequence[str] = IGNORED,
    threshold: float = DISTANCE,
    linkage: str = LINKAGE,
    intent: str = INTENT,
    cancel: CancelFlag | None = None,
) -> Review:
    """Score, rank and cluster the worktrees or branches of a repository.

    Parameters
    ----------
    repository
        The opened repository, in which only plumbing that reads is run.
    batch
        The only batch to compare, by its number, its task or a candidate in it; empty for all.
    ignored
        Globs of base names or paths that are left out, unless there is nothing else.
    threshold, linkage
        As in `excise.cluster`.
    intent
        As in `excise.rank`.
    cancel
        A flag that is checked between two pairs.

    Raises
    ------
    excise_server.sources.SourceError
        If git fails, or no batch has that name.
    excise.errors.Cancelled
        If the flag is raised meanwhile.
    """
    candidates = find_candidates(repository, selection or Selection())
    return compare_candidates(
        repository.top, candidates, batch=batch, ignored=ignored, threshold=threshold,
        linkage=linkage, intent=intent, cancel=cancel,
    )  # fmt: skip


def compare_candidates(
    top: str,
    candidates: Candidates,
    *,
    batch: str = "",
    ignored: Sequence[str] = IGNORED,
    threshold: float = DISTANCE,
    linkage: str = LINKAGE,
    intent: str = INTENT,
    verdicts: Sequence[Verdict] = (),
    cancel: CancelFlag | None = None,
) -> Review:
    """Score, rank and cluster candidates that were read.

    Parameters
    ----------
    batch, ignored, threshold, linkage, intent, cancel
        As in `compare_worktrees`.
    verdicts
        The results of checks on them: the first key of the order.
    """
    judged = match_verdicts(verdicts, candidates.found)
    candidates, chosen, others = chosen_batches(candidates, batch)
    compared_candidates = candidates.found
    complete = [
        Patch(patch_files(candidate.old, candidate.new)) for candidate in compared_candidates
    ]
    filtered = [compared(patch, ignored) for patch in complete]
    patches = tuple(Patch(files) for files, _ in filtered)
    matrix = _matrix(compared_candidates, patches, cancel)
    notes = tuple(
        (*candidate.notes, *left_out, *_left_out(unfiltered, patch), *map(visible, of_texts))
        for candidate, unfiltered, patch, (_, left_out), of_texts in zip(
            compared_candidates, complete, patches, filtered, matrix.notes, strict=True
        )
    )
    by_path = matrix.facts_by_path
    ranked_by = replace(matrix, notes=notes, edited=tuple(map(_of_code, matrix.edited)))
    ranked = rank_batches(
        ranked_by, chosen, threshold=threshold, linkage=linkage, level=judged.level,
        facts=tuple(map(_facts_of_code, by_path)), intent=intent,
    )  # fmt: skip
    files = tuple(
        review_files(_members(candidates, batch), cancel, matrix.readings) for batch in ranked
    )
    reasons = tuple(
        _reasons(
            candidates, judged, batch, of_batch,
            dict(zip(matrix.ids, by_path, strict=True)), cancel,
        )
        for batch, of_batch in zip(ranked, files, strict=True)
    )  # fmt: skip
    return Review(
        top, candidates, patches, matrix, ranked, threshold, linkage, others, judged, files,
        reasons, intent,
    )  # fmt: skip


def _members(candidates: Candidates, batch: RankedBatch) -> tuple[Candidate, ...]:
    """Return the candidates of a batch, in the order in which they are shown."""
    groups = [sorted(cluster.members) for cluster in batch.clusters]
    order = {ranked.index: place for place, ranked in enumerate(batch.ranking)}
    return tuple(
        candidates.found[index]
        for group in groups
        for index in sorted(group, key=order.__getitem__)
    )


def _reasons(
    candidates: Candidates,
    verdicts: Verdicts,
    batch: RankedBatch,
    files: Sequence[ReviewedFile],
    facts: Mapping[str, Mapping[str, EditFacts]],
    cancel: CancelFlag | None,
) -> tuple[tuple[Reason, ...], ...]:
    ids = [candidate.id for candidate in candidates.found]
    groups = [[ids[i] for i in cluster.members] for cluster in batch.clusters]
    broken = {ranked.id for ranked in batch.ranking if ranked.syntax_errors}
    by_group = group_reasons(_members(candidates, batch), groups, files, broken, facts, cancel)
    checked = [verdicts.of_group(group) for group in groups]
    return tuple(
        (Reason("checks", text, tuple(group)), *reasons) if text else reasons
        for text, group, reasons in zip(checked, groups, by_group, strict=True)
    )


def _matrix(
    candidates: Sequence[Candidate], patches: Sequence[Patch], cancel: CancelFlag | None
) -> ScoreMatrix:
    """Compare the whole texts, each file by its grammar."""
    origin: dict[str, str] = {}
    change_sets = {}
    for candidate, patch in zip(candidates, patches, strict=True):
        origin |= origin_texts(candidate.old, candidate.new, patch.files)
        change_sets[candidate.id] = change_set(candidate.old, candidate.new, patch.files)
    return ScoreMatrix.from_change_sets(origin, change_sets, cancel=cancel, timeout=PARSER_SECONDS)


def _of_code(sizes: Mapping[str, int]) -> Mapping[str, int]:
    """Return the sizes of the edits of code, or of everything if there is no code."""
    return {path: size for path, size in sizes.items() if kind_of(visible(path)) == "code"} or sizes


def _facts_of_code(by_path: Mapping[str, EditFacts]) -> EditFacts:
    """Return the facts about the code. A candidate that changes none is a stub, however large."""
    return joined_facts(
        facts for path, facts in by_path.items() if kind_of(visible(path)) == "code"
    )


def _left_out(complete: Patch, patch: Patch) -> tuple[str, ...]:
    """Return a note about the files that are ignored."""
    ignored = [path for path in complete.paths if path not in set(patch.paths)]
    if not ignored:
        return ()
    return (f"ignored: {first_few(list(map(visible, ignored)))}",)
