"""The protocol ``simplification``: what pairs of texts do by words, and how their splits differ.

After "The Role of Text Simplification Operations in Evaluation" (Vásquez-Rodríguez, Shardlow,
Przybyła, Ananiadou 2021): words in lower case, Wagner and Fischer's distance on them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import RenderableType
from rich.text import Text

from excise_server.evaluation.run import Document, Progress
from excise_server.evaluation.tables import Report, left_out, plain_table
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import read_all

CELLS = 25_000_000
"""Largest table of the distance: 100 MB."""

Floats = npt.NDArray[np.float64]


class WordOperations(NamedTuple):
    """How many words were inserted, deleted, replaced and moved.

    A move is a word that is deleted in one place and inserted in another; it is neither counted as
    a deletion nor as an insertion. ``change`` is the distance (a move has two of it) over the words
    of the longer text, in per cent: 0 for equal texts, 100 where no word stayed.
    """

    insert: int
    delete: int
    replace: int
    move: int
    change: float


OPERATIONS = WordOperations._fields[:4]


class SimplificationPair(NamedTuple):
    """A line of the data, the split that it is in, and its operations."""

    value: Mapping[str, Any]
    split: str
    operations: WordOperations


def simplification(
    data: str,
    progress: Progress,
    *,
    drop_poor: float = 0.0,
    split: str = "keep",
    attempts: int = 10_000,
    seed: int = 0,
    bins: int = 20,
    out: str | None = None,
) -> Report:
    """Count what the pairs of a file do and compare their splits, dealt anew if asked."""
    with progress("Comparing", None) as advance:
        pairs, bad = read_all(data, _pair, "no pair to analyse", advance)
    kept = [
        pairs[index]
        for index in without_poor([pair.operations.change for pair in pairs], drop_poor)
    ]
    if not kept:
        raise SourceError("no pair is left", name=data, hint="drop fewer")
    spread = None
    if split != "keep":
        with progress("Dealing", None):
            counts = [pair.operations[:3] for pair in kept]
            sizes = Counter(pair.split for pair in kept)
            attempts = 1 if split == "random" else attempts
            names, found = most_even_split(counts, sizes, seed, attempts=attempts, rule=split)
        spread = None if split == "random" else found
        kept = [pair._replace(split=name) for pair, name in zip(kept, names, strict=True)]
    lines = (json.dumps({**pair.value, "split": pair.split}) + "\n" for pair in kept)
    document = {
        "schema": 1,
        **_compared(kept, bins),
        "dropped": len(pairs) - len(kept),
        "spread": spread,
        "rejected": [{"line": line.number, "reason": line.reason} for line in bad],
    }
    files = {out: "".join(lines)} if out is not None else {}
    return Report(document, _shown(document), left_out(bad), bool(bad), files)


def _pair(_: int, value: Mapping[str, Any]) -> SimplificationPair:
    before, after, split = value.get("before"), value.get("after"), value.get("split", "all")
    if not (isinstance(before, str) and isinstance(after, str) and isinstance(split, str)):
        raise SourceError("'before', 'after' and 'split' are not all strings")
    return SimplificationPair(value, split, edit_operations(before, after))


def _compared(pairs: Sequence[SimplificationPair], bins: int) -> Document:
    by_split: dict[str, list[WordOperations]] = {}
    for pair in pairs:
        by_split.setdefault(pair.split, []).append(pair.operations)
    changes = {name: [done.change for done in every] for name, every in by_split.items()}
    edges = _edges([change for every in changes.values() for change in every], bins)
    splits = {
        name: {
            "n": len(every),
            "change": sum(changes[name]) / len(every),
            **{kind: sum(getattr(done, kind) for done in every) for kind in OPERATIONS},
            "histogram": np.histogram(changes[name], edges)[0].tolist(),
        }
        for name, every in by_split.items()
    }
    divergences: list[Document] = [
        {"split": a, "from": b, **divergence(changes[a], changes[b], bins=bins)._asdict()}
        for a in changes
        for b in changes
        if a != b
    ]
    for row in divergences:  # JSON has no infinity
        row["kl"] = row["kl"] if row["kl"] != inf else None
    return {"splits": splits, "bins": edges.tolist(), "divergences": divergences}


def _shown(document: Document) -> Iterator[RenderableType]:
    table = plain_table("split", "pairs", "change %", *OPERATIONS)
    for name, row in document["splits"].items():
        counts = [f"{row[kind]:,}" for kind in OPERATIONS]
        table.add_row(printable(name), f"{row['n']:,}", f"{row['change']:.1f}", *counts)
    yield table
    for row in document["divergences"]:
        kl = "infinite" if row["kl"] is None else f"{row['kl']:.3f}"
        names = f"{printable(row['split'])} from {printable(row['from'])}"
        yield Text(
            f"{names}: KL {kl}, Jensen-Shannon {row['js']:.3f} ({row['distance']:.3f} rooted)"
        )
    if document["dropped"]:
        yield Text(f"{document['dropped']:,} poorly aligned pairs left out")
    if document["spread"] is not None:
        yield Text(f"spread of the operations over the splits: {document['spread']:.4f}")


# --- the operations of a pair --------------------------------------------------------------------


def edit_operations(before: str, after: str) -> WordOperations:
    """Return the operations that turn one text into another, word by word.

    If they have so many that the table would not fit (`CELLS`), it raises `SourceError`.
    """
    a, b = before.lower().split(), after.lower().split()
    inserted, deleted, replaced = _steps(a, b)
    distance = len(inserted) + len(deleted) + replaced
    moved = (Counter(inserted) & Counter(deleted)).total()
    longer = max(len(a), len(b))
    return WordOperations(
        len(inserted) - moved,
        len(deleted) - moved,
        replaced,
        moved,
        100 * (distance / longer) if longer else 0.0,
    )


def _steps(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Walk back through the table: replace or keep before deleting, delete before inserting."""
    table = _table(a, b)
    inserted, deleted, replaced = [], [], 0
    i, j = len(a), len(b)
    while i or j:
        distance = table[i, j]
        if i and j and distance == table[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            replaced += a[i] != b[j]
        elif i and distance == table[i - 1, j] + 1:
            i -= 1
            deleted.append(a[i])
        else:
            j -= 1
            inserted.append(b[j])
    return inserted, deleted, replaced


def _table(a: Sequence[str], b: Sequence[str]) -> npt.NDArray[np.int32]:
    if (len(a) + 1) * (len(b) + 1) > CELLS:
        raise SourceError(f"texts of {len(a):,} and {len(b):,} words are too long to compare")
    numbers: dict[str, int] = {}
    x, y = (np.array([numbers.setdefault(w, len(numbers)) for w in words]) for words in (a, b))
    columns = np.arange(len(b) + 1, dtype=np.int32)
    table = np.empty((len(a) + 1, len(b) + 1), dtype=np.int32)
    table[0] = columns
    for i in range(len(a)):
        row = table[i] + 1
        row[1:] = np.minimum(row[1:], table[i, :-1] + (y != x[i]))
        # Coming from the left costs one a step: a running minimum with a slope.
        table[i + 1] = np.minimum.accumulate(row - columns) + columns
    return table


# --- splits beside each other --------------------------------------------------------------------


class Divergence(NamedTuple):
    """How far one distribution is from another.

    ``kl`` (Kullback-Leibler, nats) is infinite where the first has what the second lacks;
    ``js`` (Jensen-Shannon, nats, at most ln 2) never is; ``distance`` is its square root.
    """

    kl: float
    js: float
    distance: float


def divergence(values: Sequence[float], others: Sequence[float], *, bins: int = 20) -> Divergence:
    """Compare two samples, of which none is empty, by histograms over the same bins.

    (The published code bins each by edges of its own, so that its bins do not mean the same.)

    The bins are of equal width, from the least value of both to the largest.
    """
    edges = _edges([*values, *others], bins)
    p, q = (np.histogram(side, edges)[0] for side in (values, others))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    js = max(0.0, (_kl(p, middle) + _kl(q, middle)) / 2)
    return Divergence(_kl(p, q), js, sqrt(js))


def _edges(values: Sequence[float], bins: int) -> Floats:
    """Return the edges of bins of equal width, from the least value to the largest."""
    return np.histogram_bin_edges(np.asarray(values, dtype=float), bins=bins)


def _kl(p: Floats, q: Floats) -> float:
    positive = p > 0
    if (q[positive] == 0).any():
        return inf
    return max(0.0, float((p[positive] * np.log(p[positive] / q[positive])).sum()))


def without_poor(changes: Sequence[float], percent: float) -> tuple[int, ...]:
    """Return the indices of the pairs without the ``percent`` that changed most.

    The number left out is that share of all, rounded down. Of equal changes, later ones go first.
    """
    if not 0 <= percent <= 100:
        raise SourceError(f"percent is {percent}; it must be from 0 to 100")
    order = np.argsort(np.asarray(changes, dtype=float), kind="stable")
    count = len(order) - int(len(order) * percent / 100)
    return tuple(sorted(int(index) for index in order[:count]))


def most_even_split(
    counts: npt.ArrayLike,
    sizes: Mapping[str, int],
    seed: int,
    *,
    attempts: int = 10_000,
    rule: str = "stratified",
) -> tuple[list[str], float]:
    """Return the subset of each pair in the random split, of many, with the most equal operations.

    The counts have shape (pairs, operations). The spread, which is returned with the split, is the
    standard deviation over subsets of the mean number of each operation, divided by its mean over
    all pairs, summed over operations. By the rules ``even-train`` and ``even-rest`` it is the
    deviation between the mean numbers of the operations in the largest subset, or in the others.
    """
    table = np.asarray(counts, dtype=float)
    is_train = np.array(list(sizes.values())) == max(sizes.values())
    chosen = is_train if rule == "even-train" or is_train.all() else ~is_train
    if by_subset := rule not in ("even-train", "even-rest"):
        scale = table.mean(axis=0)
        table = table / np.where(scale > 0, scale, 1.0)
    chance = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes.values()])[:-1]
    lengths = np.maximum(np.array(list(sizes.values())), 1)[:, np.newaxis]
    best, spread = np.arange(len(table)), inf
    for _ in range(max(1, attempts)):
        order = chance.permutation(len(table))
        means = np.add.reduceat(table[order], starts, axis=0) / lengths
        spreads = means.std(axis=0) if by_subset else means[chosen].std(axis=1)
        candidate_spread = float(spreads.sum())
        if candidate_spread < spread:
            best, spread = order, candidate_spread
    names = [name for name, size in sizes.items() for _ in range(size)]
    by_pair = dict(zip(best.tolist(), names, strict=True))
    return [by_pair[pair] for pair in range(len(names))], spread
