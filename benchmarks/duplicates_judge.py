"""What a second look at pairs would bring to `excise cluster`: evidence that the mean lacks.

    EXCISE_DATA=DIR python benchmarks/duplicates_judge.py

Each repository of duplicates_dev is judged by what was learned of the others: by the mean of the
three cosines, and by logistic regressions of these and of more evidence. Then: how often a pair
below "likely" whose evidence of one kind is the strongest is a duplicate. All of it is a negative
result, which docs/duplicates.md explains.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sparse
from background import DATA, Counts
from duplicates import FEW, Row, average_precision, labels, mail, nearest
from measure import rows

from excise.patches import Message, read
from excise.patches.evidence import Background, EvidenceReader, Subtokens, plain_message
from excise.patches.related import calibration

Matrix = Any
Scores = dict[str, Matrix]

FETCHED = 50
"""Nearest by the mean, of each patch, that are judged; the others keep their order behind these."""

QUEUE = 300
"""Requests whose numbers are no further apart may wait in one queue."""

RIGHT = 0.95
"""How often "likely" has to be right."""

LIKELY = calibration(with_why=True).likely
THREE = ("what", "where", "why", "silent")
QUOTED = re.compile(r"`([^`\n]{4,80})`|\"([^\"\n]{6,80})\"|'([^'\n]{6,80})'")
SUBTOKENS = Subtokens()


def main() -> int:
    by_repository: dict[str, list[Row]] = defaultdict(list)
    for row in rows(DATA):
        by_repository[row["repo"]].append(row)
    counts = Counts(rows(DATA))
    found = {name: evidence(name, own, counts) for name, own in by_repository.items()}
    every = [name for name in next(iter(found.values())) if name not in ("mean", "same", "pairs")]
    text = [name for name in every if name != "gap"]
    print("| judge | AP | pooled | nearest | P, R at a threshold of the other repositories |")
    print("|---" * 5 + "|")
    report("mean of three", found, {name: own["mean"] for name, own in found.items()})
    report("logistic of three", found, judged(found, THREE))
    report("logistic, all of texts", found, judged(found, text))
    report("logistic of three and the distance of numbers", found,
           judged(found, (*THREE, "gap")))  # fmt: skip
    near = {
        name: tuple(pairs[own["gap"][own["pairs"]] <= math.log1p(QUEUE)] for pairs in own["pairs"])
        for name, own in found.items()
    }
    same, values = (
        np.concatenate([own[kind][near[name]] for name, own in found.items()])
        for kind in ("same", "mean")
    )
    pooled = average_precision(same == 1, values)
    print(f"the mean, of requests at most {QUEUE} numbers apart: pooled {pooled:.3f}\n")
    strongest(found, [name for name in text if name != "silent"])
    return 0


# --- evidence ------------------------------------------------------------------------------------


def evidence(name: str, found: Sequence[Row], counts: Counts) -> dict[str, Matrix]:
    """Return evidence for all pairs of a repository, weighed by the words of the others."""
    background = Background(*counts.table(without=name), "bg1-without")
    reader = EvidenceReader(background)
    messages = [read(mail(row))[0] for row in found]
    bags = [reader.evidence(m.patch, m.title, m.text) for m in messages]
    kinds = {
        kind: [dict(zip(own.terms, own.weights, strict=True)) for own in column]
        for kind, column in zip(
            ("what", "where", "why"), zip(*((b.what, b.where, b.why) for b in bags), strict=True),
            strict=True,
        )
    }  # fmt: skip
    made = {kind: np.minimum(products(own), 1.0) for kind, own in kinds.items()}
    silent = np.array([not own for own in kinds["why"]])
    made["silent"] = silent[:, None] | silent
    whole, half = calibration(with_why=True), calibration(with_why=False)
    two = (made["what"] + made["where"]) / 2
    # That of three with the same probability.
    two = (half.slope * two - half.offset + whole.offset) / whole.slope
    three = (made["what"] + made["where"] + made["why"]) / 3
    titles = [
        {word: background.message(word) for word in SUBTOKENS.of(plain_message(message.title))}
        for message in messages
    ]
    lines = [changed(message) for message in messages]
    made |= {
        "title": cosines(titles, little=10.0),
        "added block, in any file": cosines([added for added, _, _ in lines]),
        "function, in any file": cosines([heads for _, heads, _ in lines]),
        "old lines, in any file": cosines([without_paths(own) for own in kinds["where"]]),
        "quoted text": cosines([quoted for _, _, quoted in lines]),
        "words without a sign": cosines([without_signs(own) for own in kinds["what"]]),
    }
    numbers = np.array([row["pr"] for row in found], dtype=float)
    made["gap"] = np.log1p(np.abs(numbers[:, None] - numbers))
    same = labels(found)
    upper = np.triu_indices(len(found), 1)
    kept = same[upper] >= 0
    return {
        **made,
        "mean": np.where(made["silent"], two, three),
        "same": same,
        "pairs": (upper[0][kept], upper[1][kept]),
    }


def changed(message: Message) -> tuple[Mapping[str, float], Mapping[str, float], dict[str, float]]:
    """Return the added lines of a patch, the words of its headings, and what it quotes."""
    added: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    texts = [message.title, plain_message(message.text)]
    for hunk in chain.from_iterable(pair.hunks for pair in message.patch.files):
        heads.update(SUBTOKENS.of(hunk.heading.decode("utf-8", "replace")))
        for line in (raw.decode("utf-8", "replace") for raw in hunk.lines if raw[:1] == b"+"):
            texts.append(line)
            bare = "".join(line[1:].split())
            added[bare] += len(bare) >= 6
    quoted = {next(filter(None, m.groups())).lower() for m in QUOTED.finditer("\n".join(texts))}
    return +added, +heads, dict.fromkeys(quoted, 1.0)


def without_paths(where: Mapping[str, float]) -> dict[str, float]:
    return {term.partition("\0")[2]: weight for term, weight in where.items() if "\0" in term}


def without_signs(what: Mapping[str, float]) -> dict[str, float]:
    return {term[1:]: weight for term, weight in what.items() if term[:1] in "+-"}


def products(bags: Sequence[Mapping[str, float]]) -> Matrix:
    terms = {term: at for at, term in enumerate(dict.fromkeys(chain.from_iterable(bags)))}
    entries = [(row, terms[t], w) for row, bag in enumerate(bags) for t, w in bag.items()]
    rows_, columns, weights = zip(*entries, strict=True) if entries else ((), (), ())
    shape = (len(bags), max(1, len(terms)))
    bag_matrix = sparse.csr_matrix((weights, (rows_, columns)), shape=shape)
    return (bag_matrix @ bag_matrix.T).toarray()


def cosines(bags: Iterable[Mapping[str, float]], little: float = 0.0) -> Matrix:
    unit = []
    for bag in bags:
        length = math.sqrt(sum(weight * weight for weight in bag.values()) + little) or 1.0
        unit.append({term: weight / length for term, weight in bag.items()})
    return products(unit)


# --- judges --------------------------------------------------------------------------------------


def logistic() -> Any:  # noqa: ANN401 - scikit-learn has no types
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def judged(found: Mapping[str, Mapping[str, Matrix]], names: Sequence[str]) -> Scores:
    """Return the score of each pair, by a judge that was fitted on the other repositories."""
    table = {}
    for name, own in found.items():
        nearest_first = np.argsort(-(own["mean"] - 2 * np.eye(len(own["mean"]))), axis=1)
        is_near = np.zeros_like(own["mean"], dtype=bool)
        np.put_along_axis(is_near, nearest_first[:, :FETCHED], True, axis=1)
        near = [pairs[(is_near | is_near.T)[own["pairs"]]] for pairs in own["pairs"]]
        features = np.stack([own[kind][tuple(near)] for kind in names], axis=1)
        table[name] = tuple(near), features, own["same"][tuple(near)] == 1
    scores = {}
    for name, own in found.items():
        others = [table[other] for other in found if other != name]
        fitted = logistic().fit(
            np.concatenate([features for _, features, _ in others]),
            np.concatenate([same for _, _, same in others]),
        )
        near, features, _ = table[name]
        values = own["mean"] - 2.0  # behind all that are fetched
        values[near] = fitted.predict_proba(features)[:, 1]
        scores[name] = np.maximum(values, values.T)
    return scores


# --- figures -------------------------------------------------------------------------------------


def report(what: str, found: Mapping[str, Mapping[str, Matrix]], scores: Scores) -> None:
    same = {name: own["same"][own["pairs"]] == 1 for name, own in found.items()}
    values = {name: scores[name][own["pairs"]] for name, own in found.items()}
    mean = np.mean([average_precision(same[n], values[n]) for n in found if same[n].sum() >= FEW])
    pooled = average_precision(*(np.concatenate([*own.values()]) for own in (same, values)))
    asked = {name: (own["same"] == 1).any(axis=1).sum() for name, own in found.items()}
    best = sum(
        asked[name] * nearest(found[name]["same"], scores[name] + 3.0)
        for name in found
        if asked[name]
    ) / sum(asked.values())
    right = said = 0
    for name in found:
        others = [[own[other] for other in found if other != name] for own in (same, values)]
        likely = values[name] >= threshold(*map(np.concatenate, others))
        right, said = right + int(same[name][likely].sum()), said + int(likely.sum())
    recall = right / sum(own.sum() for own in same.values())
    print(f"| {what} | {mean:.3f} | {pooled:.3f} | {best:.3f} | {right / said:.3f}, {recall:.3f} |")


def threshold(same: Matrix, values: Matrix) -> float:
    """Return the least score from which all above are right often enough."""
    order = np.argsort(-values)
    precision = np.cumsum(same[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(precision >= RIGHT)
    return float(values[order][enough[-1]]) if len(enough) else math.inf


def strongest(found: Mapping[str, Mapping[str, Matrix]], names: Sequence[str]) -> None:
    """Print of pairs below "likely" how many of the strongest by one evidence are duplicates."""
    tops = (10, 20, 40, 80)
    print(f"| of pairs below likely, the strongest by | {' | '.join(map(str, tops))} |")
    print("|---" * (1 + len(tops)) + "|")
    low = {name: own["mean"][own["pairs"]] < LIKELY for name, own in found.items()}
    same = np.concatenate([own["same"][own["pairs"]][low[n]] == 1 for n, own in found.items()])
    for kind in names:
        values = np.concatenate([own[kind][own["pairs"]][low[n]] for n, own in found.items()])
        best = same[np.argsort(-values, kind="stable")]
        print(f"| {kind} | {' | '.join(f'{best[:top].mean():.2f}' for top in tops)} |")


if __name__ == "__main__":
    raise SystemExit(main())
