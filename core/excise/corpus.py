"""The score of a corpus: the mean, how sure it is, and the difference of two systems.

Outputs of one task depend on each other, so whole tasks are drawn when resampling: intervals by
single outputs are two to four times too narrow (docs/evaluation.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from excise.errors import OptionError
from excise.excision import Score, excision_score
from excise.reading import Content

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
_CELLS = 1_000_000
"""The number of tasks' weights that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """The mean score of a system, and the scores of which it is the mean.

    Attributes
    ----------
    values
        The score of each output, in order.
    tasks
        The task of each output, in order; outputs of one task are resampled together.
    keep, add, delete
        Means over the outputs that have such n-grams; None if no output has any.
    signature
        The signature of all scores, which names every tokeniser that ran, and the resamples.
    resamples, seed
        The number of draws of tasks, and the seed that determines them.
    counts
        How often each output occurred; empty: once.
    """

    values: tuple[float, ...] = field(repr=False)
    tasks: tuple[Hashable, ...] = field(repr=False)
    keep: float | None
    add: float | None
    delete: float | None
    signature: str
    resamples: int = RESAMPLES
    seed: int = 0
    counts: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def from_scores(
        cls,
        scores: Iterable[Score],
        tasks: Sequence[Hashable] | None = None,
        *,
        counts: Sequence[int] | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> CorpusScore:
        """Summarise scores. Without `tasks`, each score is a task of its own.

        `counts` says how often each output occurred (default: once).

        Raises
        ------
        excise.errors.OptionError
            Without any score, with another number of tasks or counts, or if the scores differ in
            more than the tokeniser, as such numbers have no mean.

        Examples
        --------
        >>> same = excision_score(origin="a b", reference="a c", hypothesis="a c")
        >>> CorpusScore.from_scores([same, same]).mean
        1.0
        """
        rows = [(s.value, s.keep, s.add, s.delete, s.signature) for s in scores]
        if not rows:
            raise OptionError("there is nothing to score")
        if resamples < 0:
            raise OptionError(f"resamples is {resamples}; it must be 0 or more")
        names = tuple(range(len(rows))) if tasks is None else tuple(tasks)
        if len(names) != len(rows):
            raise OptionError(f"{len(names)} tasks for {len(rows)} scores")
        often = () if counts is None or set(counts) <= {1} else tuple(counts)
        if counts is not None and (len(counts) != len(rows) or min(counts) < 1):
            raise OptionError(
                f"{len(counts)} counts for {len(rows)} scores; each must be 1 or more"
            )
        values, keep, add, delete, signatures = zip(*rows, strict=True)
        distinct = sorted(set(signatures))
        if len({_but_tokenisers(signature) for signature in distinct}) > 1:
            raise OptionError(
                f"scores of different signatures have no mean: {' and '.join(distinct)}"
            )
        tokenisers = sorted(
            {name for signature in distinct for name in _tokenisers(signature).split("+")}
        )
        # As in a matrix, grammars first.
        tokenisers.sort(key=lambda name: name == "lexical")
        first = distinct[0]
        joined = first.replace(f"|tok:{_tokenisers(first)}|", f"|tok:{'+'.join(tokenisers)}|")
        joined = f"{joined}|bs:{resamples}|seed:{seed}"
        parts = _mean(keep, often), _mean(add, often), _mean(delete, often)
        return cls(values, names, *parts, joined, resamples, seed, often)

    @property
    def mean(self) -> float:
        """The mean of the scores, each output as often as it occurred."""
        mean = _mean(self.values, self.counts)
        assert mean is not None
        return mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean by resampling tasks, or None with a single task."""
        if len(set(self.tasks)) < 2 or not self.resamples:
            return None
        from excise.evaluation.statistics import interval

        return interval(self._drawn(list(dict.fromkeys(self.tasks))))

    def difference(self, other: CorpusScore) -> CorpusDifference:
        """Compare with another system on the same tasks, which are drawn together for both.

        Raises
        ------
        excise.errors.OptionError
            If the tasks, the signatures or the draws of the two differ.
        """
        if set(self.tasks) != set(other.tasks):
            lone = len(set(self.tasks) ^ set(other.tasks))
            raise OptionError(f"{lone} tasks are in one of the two systems only")
        if _but_tokenisers(self.signature) != _but_tokenisers(other.signature):
            raise OptionError(f"other signatures: {self.signature} and {other.signature}")
        value = self.mean - other.mean
        order = list(dict.fromkeys(self.tasks))
        if len(order) < 2 or not self.resamples:
            return CorpusDifference(value, None, None)
        from excise.evaluation.statistics import difference

        return CorpusDifference(value, *difference(self._drawn(order), other._drawn(order)))

    def _drawn(self, order: Sequence[Hashable]) -> Floats:
        """Return the means of the resamples, which draw the same tasks for every system."""
        import numpy as np

        numbers = {task: number for number, task in enumerate(order)}
        rows = np.array([numbers[task] for task in self.tasks])
        often = np.array(self.counts or [1] * len(rows), dtype=float)
        sums = np.bincount(rows, weights=often * self.values)
        counts = np.bincount(rows, weights=often)
        chance = np.random.default_rng(self.seed)
        even = np.full(len(order), 1 / len(order))
        size = max(1, _CELLS // len(order))
        means = []
        for first in range(0, self.resamples, size):
            drawn = chance.multinomial(len(order), even, size=min(size, self.resamples - first))
            means.append((drawn @ sums) / (drawn @ counts))
        return np.concatenate(means)

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

    def __str__(self) -> str:
        """Return one line to cite: signature, mean, operations, interval and sizes."""
        parts = [
            "-" if part is None else f"{part:.2f}" for part in (self.keep, self.add, self.delete)
        ]
        bounds = self.interval
        sure = "no interval" if bounds is None else f"95 % CI {bounds[0]:.4f} to {bounds[1]:.4f}"
        sizes = f"{len(set(self.tasks)):,} tasks, {sum(self.counts) or len(self.values):,} outputs"
        return f"{self.signature} = {self.mean:.4f} {'/'.join(parts)} ({sure}; {sizes})"


@dataclass(frozen=True, slots=True)
class CorpusDifference:
    """The difference between two systems on the same tasks.

    Attributes
    ----------
    value
        The difference of the means.
    interval
        Its 95 % interval, by resampling tasks for both alike; None with a single task.
    p
        The two-sided p-value of the hypothesis that the systems do not differ.
    """

    value: float
    interval: tuple[float, float] | None
    p: float | None

    def __str__(self) -> str:
        if self.interval is None or self.p is None:
            return f"difference = {self.value:+.4f} (no interval)"
        low, high = self.interval
        return (
            f"difference = {self.value:+.4f} (95 % CI {low:+.4f} to {high:+.4f}; p = {self.p:.4f})"
        )


def corpus_score(
    *,
    origins: Sequence[Content],
    references: Sequence[Content | Sequence[Content]],
    hypotheses: Sequence[Content],
    tasks: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    granularity: str = "nested",
    lcs: str = "star",
    deletion: str = "precision",
    comments: str = "keep",
    place: str | None = None,
    language: str | None = None,
    path: str | None = None,
    timeout: float | None = None,
    strict: bool = True,
) -> CorpusScore:
    """Score the outputs of a system: the mean of `excise.excision_score`, and how sure it is.

    Parameters
    ----------
    origins, references, hypotheses
        One of each per output, as for `excise.excision_score`.
    tasks
        The task that each output answers; without tasks, each output is its own task.
    resamples, seed
        The number of draws of tasks for intervals (0: none), and the seed of the draws.
    granularity, lcs, deletion, comments, place, language, path, timeout, strict
        As for `excise.excision_score`.

    Raises
    ------
    excise.errors.OptionError
        As from `excise.excision_score`, on lists of different lengths, and without any output.
    excise.errors.ContentError
        If one of the texts is neither a string nor a sequence of hashable tokens.

    Examples
    --------
    >>> texts = {"origins": ["a b"] * 2, "references": ["a c"] * 2}
    >>> ours = corpus_score(**texts, hypotheses=["a c", "a c"])
    >>> theirs = corpus_score(**texts, hypotheses=["a c", "a d"])
    >>> ours.mean, theirs.mean, ours.difference(theirs).value
    (1.0, 0.75, 0.25)
    """
    lengths = {len(origins), len(references), len(hypotheses)}
    if len(lengths) > 1:
        raise OptionError(
            f"{len(origins)} origins, {len(references)} references, {len(hypotheses)} hypotheses"
        )
    scores = (
        excision_score(
            origin=origin,
            reference=reference,
            hypothesis=hypothesis,
            granularity=granularity,
            lcs=lcs,
            deletion=deletion,
            comments=comments,
            place=place,
            language=language,
            path=path,
            timeout=timeout,
            strict=strict,
        )
        for origin, reference, hypothesis in zip(origins, references, hypotheses, strict=True)
    )
    return CorpusScore.from_scores(scores, tasks, resamples=resamples, seed=seed)


def _mean(values: Sequence[float | None], counts: Sequence[int]) -> float | None:
    often = counts or [1] * len(values)
    defined = [(value, n) for value, n in zip(values, often, strict=True) if value is not None]
    return sum(value * n for value, n in defined) / sum(n for _, n in defined) if defined else None


def _tokenisers(signature: str) -> str:
    return signature.partition("|tok:")[2].partition("|")[0]


def _but_tokenisers(signature: str) -> str:
    return signature.replace(f"|tok:{_tokenisers(signature)}|", "|")
