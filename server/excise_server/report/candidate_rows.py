"""The row of a candidate: its group, its lines by kind, how it relates to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from excise import Cluster, Ranked
from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, NEARLY_ALL, OVERLAPS, SAME
from excise.patches import Patch
from excise_server.candidates.worktrees import Worktrees
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.review.kinds import KINDS, Kind, kind_of
from excise_server.review.ranked import RankedBatch
from excise_server.sources.candidates import Candidate

__all__ = ["CHECKS_FIRST", "CandidateRow", "Lines", "candidate_rows", "lines_by_kind"]

CHECKS_FIRST = (
    "candidates that pass, then those without a verdict, then those that fail; among each, "
)
"""The first key of the order, where checks ran."""

STAND = "●"
"""The mark of a group's representative, in a table."""

_PHRASES = {
    SAME: "same as {}",
    ELSEWHERE: "same text as {}, elsewhere",
    OVERLAPS: "overlaps {}",
    DIFFERENT: "different from {}, though near it",
}


@dataclass(frozen=True, slots=True)
class Lines:
    """How many files of one kind a candidate changes, and how many lines of them."""

    files: int = 0
    added: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate as people read it.

    ``batch`` and ``group`` count from 1, the groups through all batches. ``stands`` marks the
    representative of a group of several. ``says`` is why it has its place and how it relates to the
    others, and ``checks`` what its checks found, in words. ``level`` is the first key of the order:
    a candidate that fails is never above one that passes, whatever the order of their groups.
    """

    candidate: Candidate
    ranked: Ranked
    batch: int
    group: int
    stands: bool
    is_ranked: bool
    lines: Mapping[Kind, Lines]
    says: str
    checks: str = ""
    level: int = 0

    @property
    def behind(self) -> str:
        """How many commits its base is behind the target, in words, or "" if none."""
        return f"behind {self.candidate.behind:,}" if self.candidate.behind else ""


def candidate_rows(
    worktrees: Worktrees, shown: Callable[[str], str] = str
) -> list[tuple[RankedBatch, list[CandidateRow]]]:
    """Return the rows of every batch: by verdict, group by group, and by rank within a group.

    Parameters
    ----------
    shown
        How the label of another candidate is written in a row.
    """
    first, result = 1, []
    for number, batch in enumerate(worktrees.batches, start=1):
        place = {ranked.index: place for place, ranked in enumerate(batch.ranking)}
        rows = []
        for group, cluster in enumerate(batch.clusters, start=first):
            for rank in sorted(place[i] for i in cluster.members):
                numbers = number, group
                rows.append(_row(worktrees, batch, cluster, batch.ranking[rank], numbers, shown))
        first += len(batch.clusters)
        rows.sort(key=lambda row: row.level)
        result.append((batch, rows))
    return result


def _row(
    worktrees: Worktrees,
    batch: RankedBatch,
    cluster: Cluster,
    ranked: Ranked,
    numbers: tuple[int, int],
    shown: Callable[[str], str],
) -> CandidateRow:
    candidate = worktrees.candidates.found[ranked.index]
    stands = ranked.index == cluster.representative
    if ranked.no_op:
        words = ""
    elif not batch.is_ranked:
        words = _where(worktrees.patches[ranked.index])
    elif stands:
        words = _nearest(worktrees, batch, cluster, shown)
    else:
        words = _beside(worktrees, ranked.index, cluster.representative, STAND)
        if worktrees.candidates.found[cluster.representative].id in candidate.identical:
            words = f"identical to {STAND}"
    conflict = "in conflict with the target" if candidate.conflicts else ""
    return CandidateRow(
        candidate=candidate,
        ranked=ranked,
        batch=numbers[0],
        group=numbers[1],
        stands=stands and len(cluster.members) > 1,
        is_ranked=batch.is_ranked,
        lines=lines_by_kind(worktrees.patches[ranked.index]),
        says="; ".join(filter(None, [*ranked.why, words, conflict])),
        checks=worktrees.verdicts.words(candidate.id),
        level=worktrees.verdicts.level(candidate.id),
    )


def _nearest(
    worktrees: Worktrees, batch: RankedBatch, cluster: Cluster, shown: Callable[[str], str]
) -> str:
    """Say how the representative relates to the nearest candidate of other groups, if at all."""
    best = cluster.representative
    others = [ranked.index for ranked in batch.ranking if ranked.index not in cluster.members]
    nearest = max(others, key=lambda i: (worktrees.values[best, i], -i), default=best)
    if worktrees.matrix.word(best, nearest) in (DIFFERENT, SAME):
        return ""
    label = shown(visible(worktrees.candidates.found[nearest].label))
    return _beside(worktrees, best, nearest, label)


def _beside(worktrees: Worktrees, i: int, nearest: int, name: str) -> str:
    """Say how a candidate relates to another one of that name."""
    word = worktrees.matrix.word(i, nearest)
    if word != SAME and worktrees.matrix.codes[i] == worktrees.matrix.codes[nearest]:
        return f"same code as {name}, other comments"
    if word != CONTAINS:
        return _PHRASES[word].format(name)
    shares = worktrees.matrix.contained[i, nearest], worktrees.matrix.contained[nearest, i]
    in_other, has_other = (share >= float(NEARLY_ALL) for share in shares)
    if in_other and has_other:
        return f"contains {name} and is contained in it"
    return f"contained in {name}" if in_other else f"contains {name}"


def _where(patch: Patch) -> str:
    """Name the files that only this candidate changes."""
    paths = sorted(patch.paths, key=lambda path: KINDS.index(kind_of(path)))
    return f"changes {first_few([visible(path) for path in paths], 2)}" if paths else ""


def lines_by_kind(patch: Patch) -> dict[Kind, Lines]:
    """Return what a candidate changes, for each kind of file."""
    lines = dict.fromkeys(KINDS, Lines())
    for pair in patch.files:
        kind = kind_of(visible(pair.path))
        before = lines[kind]
        lines[kind] = Lines(
            before.files + 1, before.added + pair.added, before.deleted + pair.deleted
        )
    return lines
