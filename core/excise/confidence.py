"""How often the first pick of an order was right when revisions agreed as much as these.

No model runs. There is a table of a few rows for each measured kind, made offline by isotonic
regression (`make calibration`; docs/confidence.md has the sets, and the accuracy on each).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from excise.ranking import Ranked, Regime

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "CALIBRATIONS",
    "Calibration",
    "Confidence",
    "Kind",
    "Level",
    "Row",
    "confidence",
    "kind_of",
]

Level = Literal["strong", "some", "none"]
Kind = Literal["function", "files"]

STRONG = 0.7
"""The lower end of the interval from which confidence is strong."""

FUNCTION_LINES = 50
"""Lines of a file up to which it is little more than a function: the longest that was measured has
43."""

SOME = 0.5
"""The lower end from which there is some: surely more often right than wrong."""


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements from one agreement up to that of the next row.

    ``share`` of the first picks was right; ``low`` and ``high`` are its 95 % interval.
    """

    agreement: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A table for one kind of task, with its source.

    ``tiny`` says for which orders it holds: those with a tiny edit (`Regime.SMALL_EDIT`), those
    without, or all (None).
    """

    kind: Kind
    tiny: bool | None
    sets: str
    date: str
    rows: tuple[Row, ...]

    def fits(self, kind: Kind, regime: Regime) -> bool:
        """Whether the table holds for such an order."""
        tiny = regime is Regime.SMALL_EDIT
        return self.kind == kind and self.tiny in (None, tiny)


_FIXES = "HumanEvalFix in Python, even items, outputs of 81 runs of models and agents"
_PATCHES = "SWE-bench Lite, 148 instances, patches of agents"

CALIBRATIONS: tuple[Calibration, ...] = (
    Calibration(
        "function",
        True,
        _FIXES,
        "2026-11-22",
        (
            Row(0.0, 0.74, 0.63, 0.83),
            Row(0.25, 0.82, 0.71, 0.91),
            Row(0.4, 0.88, 0.78, 0.95),
            Row(0.6, 0.94, 0.85, 0.99),
            Row(0.8, 0.95, 0.88, 0.99),
        ),
    ),
    Calibration(
        "function",
        False,
        _FIXES,
        "2026-11-22",
        (
            Row(0.0, 0.31, 0.22, 0.41),
            Row(0.4, 0.64, 0.36, 0.85),
            Row(0.8, 0.87, 0.46, 1.0),
        ),
    ),
    Calibration(
        "files",
        None,
        _PATCHES,
        "2026-11-22",
        (
            Row(0.0, 0.18, 0.12, 0.23),
            Row(0.1, 0.25, 0.16, 0.38),
            Row(0.25, 0.34, 0.21, 0.53),
            Row(0.4, 0.63, 0.35, 0.84),
            Row(0.8, 0.96, 0.87, 1.0),
        ),
    ),
)
"""The tables that `make calibration` prints, which reports any difference."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How far the agreement of the first pick can be trusted.

    Attributes
    ----------
    level
        ``strong``, ``some`` or ``none``.
    agreement
        Mean similarity of the first revision to the voices of others; None without a statement.
    share, low, high
        The share of such first picks that were right, and its 95 % interval; None without a
        statement.
    reason
        The reason for this level, as a phrase for people.
    calibration
        The table behind it, or None.
    """

    level: Level
    agreement: float | None
    share: float | None
    low: float | None
    high: float | None
    reason: str
    calibration: Calibration | None

    @classmethod
    def none(cls, reason: str) -> Confidence:
        """Return a confidence of level ``none`` with the reason."""
        return cls("none", None, None, None, None, reason, None)


def confidence(
    ranking: Sequence[Ranked],
    kind: Kind | None = None,
    *,
    voices: Mapping[str, str] | None = None,
    values: npt.NDArray[np.float64] | None = None,
) -> Confidence:
    """Estimate how often the first of an order is right, by how much the others agree with it.

    Parameters
    ----------
    ranking
        The result of `excise.rank`.
    kind
        What was revised: ``function`` (one file with little more than a function) or ``files`` (a
        change of a repository). None: another kind, for which nothing is known.
    voices
        By id, the tool or model that made a revision, if that is known. Revisions of one voice
        count as one, and not at all for each other, because they share their mistakes. By default,
        every revision is its own voice.
    values
        The similarities that the order was made from; required with `voices`.

    Returns
    -------
    Confidence
        The estimate, with the level ``none`` and a reason if nothing was measured.

    Examples
    --------
    >>> from excise import ScoreMatrix, rank
    >>> matrix = ScoreMatrix.from_texts("a b", ["a c", "a c", "a c"])
    >>> confidence(rank(matrix)).level
    'none'
    >>> confidence(rank(matrix), "function").level
    'strong'
    """
    if len(ranking) < 2:
        return Confidence.none("as there are no others to agree with")
    if kind is None:
        return Confidence.none("as this kind of task was not measured")
    first = [ranked for ranked in ranking if ranked.rank == 1]
    if any(ranked.no_op or ranked.stub or ranked.broken for ranked in first):
        return Confidence.none("as the first is not a whole edit")
    agreement = _agreement(first, ranking, voices, values)
    if agreement is None:
        return Confidence.none("as all are of one tool or model, and share its mistakes")
    [calibration] = [table for table in CALIBRATIONS if table.fits(kind, first[0].regime)]
    row = [table for table in calibration.rows if table.agreement <= agreement][-1]
    level: Level = "strong" if row.low >= STRONG else "some" if row.low >= SOME else "none"
    reason = f"{row.low:.2f} to {row.high:.2f} of such first picks were right"
    return Confidence(level, agreement, row.share, row.low, row.high, reason, calibration)


def kind_of(origin: str) -> Kind | None:
    """Return the kind of task for a single file: ``function`` if it is short, or else None."""
    return "function" if origin.rstrip().count("\n") < FUNCTION_LINES else None


def _agreement(
    first: Sequence[Ranked],
    ranking: Sequence[Ranked],
    voices: Mapping[str, str] | None,
    values: npt.NDArray[np.float64] | None,
) -> float | None:
    """Return the best mean similarity of a first revision to voices that are not its own."""
    if voices is None:
        return first[0].agreement
    if values is None:
        raise ValueError("voices need the similarities that the order was made of")
    means = []
    for ranked in first:
        by_voice: dict[str, list[float]] = defaultdict(list)
        for peer in ranking:
            voice = voices.get(peer.id, f"\0{peer.id}")
            if voice != voices.get(ranked.id, f"\0{ranked.id}"):
                by_voice[voice].append(float(values[ranked.index, peer.index]))
        # Sums of sorted terms, so that no number depends on the order of the revisions.
        of_voices = sorted(
            sum(sorted(similarities)) / len(similarities) for similarities in by_voice.values()
        )
        if of_voices:
            means.append(sum(of_voices) / len(of_voices))
    return max(means, default=None)
