"""Whole worktrees and branches as revisions of one commit: the report that everyone shows.

Each is a patch against one base, over all its files, and scored as section 8 scores patches of one
base. Command and language server show the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from excise import CancelFlag, Cluster, Ranked, ScoreMatrix
from excise._lcs import edits
from excise.agreement import SAME
from excise.clustering import DISTANCE, LINKAGE
from excise.lexical import words
from excise.patches import IGNORED, FilePair, Patch, compare_on_one_base
from excise.patches.blocks import blocks_of
from excise.patches.features import WHITESPACE_ONLY, compared
from excise.patches.same_base import SIGNATURE
from excise.preparation import PARSER_SECONDS
from excise.tokens import Vocabulary
from excise_server.cancellation import raise_if_cancelled
from excise_server.changes import LINK, SUBMODULE, Side, patch_files
from excise_server.review.batches import Batch, Member, batches
from excise_server.review.kinds import kind_of
from excise_server.review.ranked import RankedBatch, chosen_batch, rank_batches
from excise_server.sources import SourceError
from excise_server.sources.candidates import Candidate, Candidates, Choice, find_candidates
from excise_server.sources.paths import visible
from excise_server.sources.repository import Repository

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["Worktrees", "compare_candidates", "compare_worktrees"]


@dataclass(frozen=True, slots=True)
class Worktrees:
    """How far worktrees or branches agree.

    Attributes
    ----------
    top
        The top folder of the repository's working tree.
    candidates
        What was found, refused and left out, and the base.
    patches
        For each candidate what it changed, without the files that are ignored.
    values, words, contained
        Their similarities, the word for each pair, and how much of the first one's edit the second
        one has at the same place; in the order of the candidates.
    batches
        The candidates of each task, ranked and grouped by themselves, the largest batch first.
    other_batches
        Batches that were not chosen, by what is in them.
    """

    top: str
    candidates: Candidates
    patches: tuple[Patch, ...]
    values: Values
    words: tuple[tuple[str, ...], ...]
    contained: Values
    batches: tuple[RankedBatch, ...]
    threshold: float
    linkage: str
    other_batches: tuple[Batch, ...] = ()
    signature: str = SIGNATURE

    @property
    def ranking(self) -> tuple[Ranked, ...]:
        """All candidates, batch after batch."""
        return tuple(ranked for batch in self.batches for ranked in batch.ranking)

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """All groups, batch after batch."""
        return tuple(cluster for batch in self.batches for cluster in batch.clusters)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What a ranking is made of."""

    ids: tuple[str, ...]
    values: Values
    notes: tuple[tuple[str, ...], ...]
    edit_sizes: tuple[int, ...]
    no_ops: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]


def compare_worktrees(
    repository: Repository,
    choice: Choice | None = None,
    *,
    batch: str = "",
    ignored: Sequence[str] = IGNORED,
    threshold: float = DISTANCE,
    linkage: str = LINKAGE,
    cancel: CancelFlag | None = None,
) -> Worktrees:
    """Score, rank and cluster the worktrees or branches of a repository.

    Parameters
    ----------
    repository
        An opened one: only plumbing that reads is run in it.
    batch
        The only batch that is compared: its number, its task or a candidate in it. Empty: all.
    ignored
        Globs of base names or paths that are left out, unless there is nothing else.
    cancel
        Looked at between two pairs.

    Raises
    ------
    excise_server.sources.SourceError
        If git fails, or no batch has that name.
    excise.errors.Cancelled
        When the flag was raised.
    """
    candidates = find_candidates(repository, choice or Choice())
    return compare_candidates(
        repository.top, candidates, batch=batch, ignored=ignored, threshold=threshold,
        linkage=linkage, cancel=cancel,
    )  # fmt: skip


def compare_candidates(
    top: str,
    candidates: Candidates,
    *,
    batch: str = "",
    ignored: Sequence[str] = IGNORED,
    threshold: float = DISTANCE,
    linkage: str = LINKAGE,
    cancel: CancelFlag | None = None,
) -> Worktrees:
    """Score, rank and cluster what was read; the rest is as for `compare_worktrees`."""
    candidates, chosen, others = _chosen(candidates, batch)
    found = candidates.found
    whole = [Patch(patch_files(candidate.old, candidate.new)) for candidate in found]
    kept = [compared(patch, ignored) for patch in whole]
    patches = tuple(Patch(files) for files, _ in kept)
    values, words, contained = _pairs(patches, cancel)
    sizes = tuple(tuple(map(_edit_size, patch.files)) for patch in patches)
    errors = _SyntaxErrors()
    basis = _Compared(
        ids=tuple(candidate.id for candidate in found),
        values=values,
        notes=tuple(
            (
                *candidate.notes,
                *notes,
                *_left_out(all_of_it, patch),
                *_whitespace_only(patch, sum(size)),
            )
            for candidate, all_of_it, patch, (_, notes), size in zip(
                found, whole, patches, kept, sizes, strict=True
            )
        ),
        edit_sizes=tuple(map(_size_of_code, patches, sizes)),
        no_ops=tuple(not patch.files for patch in patches),
        unchanged=tuple(sum(size) == 0 for size in sizes),
        syntax_errors=tuple(
            errors.introduced(candidate, patch, cancel)
            for candidate, patch in zip(found, patches, strict=True)
        ),
    )
    return Worktrees(
        top, candidates, patches, values, words, contained,
        rank_batches(basis, chosen, threshold=threshold, linkage=linkage),
        threshold, linkage, others,
    )  # fmt: skip


def _chosen(
    candidates: Candidates, name: str
) -> tuple[Candidates, tuple[Batch, ...], tuple[Batch, ...]]:
    """Return the candidates of the batch that was chosen, its batches, and all other batches."""
    every = batches(map(_member, candidates.found))
    if not name:
        return candidates, every, ()
    names = [
        (label, candidate.id)
        for candidate in candidates.found
        for label in (candidate.label, candidate.branch, candidate.id.partition(":")[2])
    ]
    batch = chosen_batch(every, name, names)
    if batch is None:
        count = f"there are {len(every)}" if len(every) != 1 else "there is one"
        hint = f"{count}: name a batch by its number, its task or a candidate in it"
        raise SourceError(f"no batch is called {visible(name)}", hint=hint)
    kept = tuple(c for c in candidates.found if c.id in batch.members)
    others = tuple(other for other in every if other != batch)
    return replace(candidates, found=kept), (batch,), others


def _member(candidate: Candidate) -> Member:
    return Member(
        id=candidate.id,
        paths=tuple(sorted(candidate.old.keys() | candidate.new.keys())),
        base=candidate.base,
        made=candidate.made,
        tool=candidate.tool,
        task=candidate.task,
    )


def _pairs(
    patches: Sequence[Patch], cancel: CancelFlag | None
) -> tuple[Values, tuple[tuple[str, ...], ...], Values]:
    """Return the scores, words and contained shares of all pairs."""
    import numpy as np

    count = len(patches)
    values, contained = np.eye(count), np.ones((count, count))
    words = [[SAME] * count for _ in range(count)]
    for i, j in combinations(range(count), 2):
        raise_if_cancelled(cancel)
        likeness = compare_on_one_base(patches[i], patches[j])
        values[i, j] = values[j, i] = likeness.value
        contained[i, j], contained[j, i] = likeness.contained_in_b, likeness.contained_in_a
        words[i][j] = words[j][i] = likeness.word
    values.flags.writeable = contained.flags.writeable = False
    return values, tuple(map(tuple, words)), contained


def _size_of_code(patch: Patch, sizes: Sequence[int]) -> int:
    """Return how many tokens of code are deleted and inserted; without any code, of everything."""
    of_code = [
        size
        for pair, size in zip(patch.files, sizes, strict=True)
        if kind_of(visible(pair.path)) == "code"
    ]
    return sum(of_code) if of_code else sum(sizes)


def _edit_size(pair: FilePair) -> int:
    """Return how many tokens of a file are deleted and inserted."""
    lines, tokens, size = Vocabulary(), Vocabulary(), 0
    for block in blocks_of(pair, lines):
        o, a = (tokens.intern(words("\n".join(part))) for part in (block.old, block.new))
        flat = edits(o, a)
        size += sum(flat[1::4]) - sum(flat[::4]) + sum(flat[3::4]) - sum(flat[2::4])
    return size


def _left_out(whole: Patch, patch: Patch) -> tuple[str, ...]:
    """Say which files count for nothing, as they are ignored."""
    gone = [path for path in whole.paths if path not in set(patch.paths)]
    if not gone:
        return ()
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    return (f"ignored: {', '.join(map(visible, gone[:3]))}{more}",)


def _whitespace_only(patch: Patch, size: int) -> tuple[str, ...]:
    text = any(pair.hunks for pair in patch.files)
    return (WHITESPACE_ONLY,) if text and size == 0 else ()


class _SyntaxErrors:
    """Which changed files a grammar reads without errors before, and with errors after."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes, bytes], bool] = {}

    def introduced(self, candidate: Candidate, patch: Patch, cancel: CancelFlag | None) -> bool:
        return any(self._file(candidate, pair, cancel) for pair in patch.files)

    def _file(self, candidate: Candidate, pair: FilePair, cancel: CancelFlag | None) -> bool:
        new = candidate.new.get(pair.path)
        if new is None or not pair.hunks or new.mode in (LINK, SUBMODULE):
            return False
        old = candidate.old.get(pair.old or "", Side("", b""))
        key = pair.path, old.data, new.data
        if key not in self._known:
            raise_if_cancelled(cancel)
            texts = old.text or "", new.text or ""
            matrix = ScoreMatrix.from_texts(
                texts[0], [texts[1]], path=pair.path, timeout=PARSER_SECONDS
            )
            self._known[key] = matrix.syntax_errors[0]
        return self._known[key]
