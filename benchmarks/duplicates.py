"""Figures of `excise cluster`: which patches are one issue, beside a peer in the same run.

    EXCISE_DATA=DIR python benchmarks/duplicates.py [SCORES.jsonl]   also writes every pair's score
    EXCISE_DATA=DIR python benchmarks/duplicates.py time [N]         times of N patches
    EXCISE_DATA=DIR python benchmarks/duplicates.py mined FILE...    the rows of `mined.py`

Each repository of duplicates_dev becomes mails, which are compared with a table of words that was
made without that repository. docs/duplicates.md explains the figures.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from background import DATA, Counts
from measure import rows, timed

from excise.clustering import labels as cluster_labels
from excise.patches import read
from excise.patches.evidence import Background, EvidenceReader
from excise.patches.related import RELATED_DISTANCE, RELATED_LINKAGE, RelatedPool, calibration
from excise_server.duplicates.find import find_duplicates, proposals_of

FEW = 8
"""Pairs that a repository must have to count in a mean over repositories."""

BEST = 5
"""Nearest of each patch, over which probabilities are judged."""

Row = dict[str, Any]
Matrix = Any


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["time"]:
        times(int(arguments[1]) if len(arguments) > 1 else 10_000)
        return 0
    if arguments[:1] == ["mined"]:
        of_mined(arguments[1:])
        return 0
    by_repository: dict[str, list[Row]] = defaultdict(list)
    for row in rows(DATA):
        by_repository[row["repo"]].append(row)
    counts = Counts(rows(DATA))
    related: dict[str, Matrix] = {}
    silent: dict[str, Matrix] = {}
    for name, found in by_repository.items():
        related[name], silent[name] = compared(name, found, counts)
    if arguments:
        with open(arguments[0], "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in score_lines(by_repository, related))
    print("| score | AP | pooled | nearest | likely P, R | possibly P, R | groups P, R | ECE |")
    print("|---" * 8 + "|")
    report("related", by_repository, related, with_why=True, groups=True)
    report("without messages", by_repository, silent, with_why=False)
    peer = {name: tf_idf(found) for name, found in by_repository.items()}
    report("peer: TF-IDF of changed words", by_repository, peer)
    by_name(by_repository, related)
    return 0


def of_mined(files: Sequence[str]) -> None:
    """Print the figures of each file of rows, of a repository that the table of words lacks."""
    counts = Counts(rows(DATA))
    by_repository, related = dict[str, list[Row]](), dict[str, Matrix]()
    for file in files:
        with open(file, encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        name = found[0]["repo"]
        by_repository[name] = found
        related[name], _ = compared(name, found, counts)
    by_name(by_repository, related)


def by_name(by_repository: Mapping[str, Sequence[Row]], scores: Mapping[str, Matrix]) -> None:
    """Print the figures of each repository, right ones and pairs as counts."""
    worth = calibration(with_why=True)
    print(
        "\n| repository | rows | pairs | AP | nearest | likely: right, of those said | possibly |"
    )
    print("|---" * 7 + "|")
    for name, found in by_repository.items():
        judged = labels(found)
        same, said = flat(judged, scores[name])
        if not same.any():
            continue
        cells = [f"{len(found)} | {same.sum()} | {average_precision(same, said):.3f}"]
        cells.append(f"{nearest(judged, scores[name]):.3f}")
        for least in (worth.likely, worth.possibly):
            shown = said >= worth.probability(least) - 1e-12
            cells.append(f"{same[shown].sum()}, {shown.sum()}")
        print(f"| {name} | {' | '.join(cells)} |")


def score_lines(
    by_repository: Mapping[str, Sequence[Row]], scores: Mapping[str, Matrix]
) -> Iterator[str]:
    """Yield a line of JSON a pair: the repository, both numbers, the score."""
    for name, found in by_repository.items():
        for i, j in zip(*np.triu_indices(len(found), 1), strict=True):
            pair = {"a": found[i]["pr"], "b": found[j]["pr"], "score": scores[name][i, j]}
            yield json.dumps({"repo": name, **pair})


# --- scores --------------------------------------------------------------------------------------


def mail(row: Row) -> bytes:
    who = row["author_hash"]
    subject = " ".join(row["subject"].split())
    head = f"From: {who} <{who}@example.com>\nSubject: {subject}\n\n{row['message']}\n---\n\n"
    return (head + row["diff"]).encode("utf-8", "surrogatepass")


def compared(name: str, found: Sequence[Row], counts: Counts) -> tuple[Matrix, Matrix]:
    """Return the probability of every pair, with and without messages."""
    changes, messages = counts.table(without=name)
    background = Background(changes, messages, "bg1-without")
    proposals = [
        proposal
        for row in found
        for proposal in proposals_of([(f"{row['pr']}.patch", read(mail(row))[0])])
    ]
    numbers = {f"{row['pr']}.patch": at for at, row in enumerate(found)}
    matrices = []
    for with_why in (True, False):
        values = np.zeros((len(found), len(found)))
        duplicates = find_duplicates(
            proposals, least="none", top=0, with_why=with_why, background=background
        )
        for pair in duplicates.pairs:
            i, j = (numbers[proposals[at].id] for at in (pair.new, pair.other))
            values[i, j] = values[j, i] = pair.relation.probability
        matrices.append(values)
    return matrices[0], matrices[1]


def tf_idf(found: Sequence[Row]) -> Matrix:
    """Return cosines of the words of changed lines, weighted over the repository itself."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def words(text: str) -> list[str]:
        lines = [line for line in text.split("\n") if re.match(r"[+-](?![+-]{2})", line)]
        return re.findall(r"\w+", "\n".join(lines))

    vectors = TfidfVectorizer(analyzer=words, sublinear_tf=True).fit_transform(
        [row["diff"] for row in found]
    )
    return (vectors @ vectors.T).toarray()


# --- figures -------------------------------------------------------------------------------------


def labels(found: Sequence[Row]) -> Matrix:
    """Return for each pair: 1 one issue, 0 another one, -1 left out."""
    same = np.full((len(found), len(found)), -1)
    for i, a in enumerate(found):
        for j, b in enumerate(found[:i]):
            issue = a["issue"] == b["issue"]
            out = a["author_hash"] == b["author_hash"] or b["pr"] in a["stacked"]
            if not (out or (issue and (a["backport"] or b["backport"]))):
                same[i, j] = same[j, i] = issue
    return same


def flat(same: Matrix, values: Matrix) -> tuple[Matrix, Matrix]:
    upper = np.triu_indices(len(same), 1)
    kept = same[upper] >= 0
    return same[upper][kept] == 1, values[upper][kept]


def average_precision(same: Matrix, values: Matrix) -> float:
    """Return the average precision; equal values are one step."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(same, values))


def precision(same: Matrix, values: Matrix) -> float:
    return average_precision(*flat(same, values))


def nearest(same: Matrix, values: Matrix) -> float:
    """Return how often the nearest one of those that have a duplicate is one."""
    asked = np.flatnonzero((same == 1).any(axis=1))
    shown = np.where(same >= 0, values, -1.0)
    best = shown[asked].argmax(axis=1)
    return float(np.mean((same[asked, best] == 1) & (shown[asked, best] > 0)))


def report(
    what: str,
    by_repository: Mapping[str, Sequence[Row]],
    scores: Mapping[str, Matrix],
    *,
    with_why: bool | None = None,
    groups: bool = False,
) -> None:
    judged = {name: labels(found) for name, found in by_repository.items()}
    many = [name for name, same in judged.items() if np.triu(same == 1).sum() >= FEW]
    pairs = [flat(judged[name], scores[name]) for name in judged]
    same, values = (np.concatenate(part) for part in zip(*pairs, strict=True))
    cells = [
        f"{np.mean([precision(judged[name], scores[name]) for name in many]):.3f}",
        f"{average_precision(same, values):.3f}",
        f"{np.mean([nearest(judged[name], scores[name]) for name in many]):.3f}",
    ]
    if with_why is not None:
        worth = calibration(with_why=with_why)
        for least in (worth.likely, worth.possibly):
            said = values >= worth.probability(least) - 1e-12
            cells.append(f"{same[said].mean():.3f}, {same[said].sum() / same.sum():.3f}")
    cells += ["", ""] if with_why is None else []
    cells.append("{:.3f}, {:.3f}".format(*grouped(judged, scores)) if groups else "")
    cells.append("" if with_why is None else f"{calibration_error(judged, scores):.3f}")
    print(f"| {what} | {' | '.join(cells)} |")


def grouped(judged: Mapping[str, Matrix], scores: Mapping[str, Matrix]) -> tuple[float, float]:
    """Return precision and recall of the pairs that are put together; means from probabilities."""
    worth = calibration(with_why=True)
    right = wrong = every = 0
    for name, same in judged.items():
        odds = np.log(np.clip(scores[name], 1e-12, 1 - 1e-12))
        odds -= np.log(1 - np.clip(scores[name], 1e-12, 1 - 1e-12))
        means = np.clip((odds + worth.offset) / worth.slope, 0, 1)
        np.fill_diagonal(means, 1.0)
        found = np.array(cluster_labels(1.0 - means, RELATED_DISTANCE, RELATED_LINKAGE))
        together, kept = flat(same, found[:, None] == found[None, :])
        right += int((kept & together).sum())
        wrong += int((kept & ~together).sum())
        every += int(together.sum())
    return right / (right + wrong), right / every


def calibration_error(judged: Mapping[str, Matrix], scores: Mapping[str, Matrix]) -> float:
    """Return the mean distance of probability and share, over the nearest of each patch."""
    near: set[tuple[str, int, int]] = set()
    for name, same in judged.items():
        shown = np.where(same >= 0, scores[name], -1.0)
        for i, row in enumerate(shown):
            near |= {(name, min(i, j), max(i, j)) for j in np.argsort(-row, kind="stable")[:BEST]
                     if same[i, j] >= 0}  # fmt: skip
    said = np.array([scores[name][i, j] for name, i, j in sorted(near)])
    right = np.array([judged[name][i, j] == 1 for name, i, j in sorted(near)])
    tenths = np.minimum((said * 10).astype(int), 9)
    parts = [(tenths == tenth) for tenth in range(10) if (tenths == tenth).any()]
    return float(sum(abs(said[p].mean() - right[p].mean()) * p.mean() for p in parts))


# --- time ----------------------------------------------------------------------------------------


def times(n: int) -> None:
    """Print what reading, indexing and asking cost; copies differ by three of their words."""
    mails = list(copies([mail(row) for row in rows(DATA)], n))
    print(f"{n:,} patches, {sum(map(len, mails)) / 1e6:.0f} MB, seconds of the processor:")
    messages, parsing = timed(lambda: [read(data)[0] for data in mails])
    reader, pool = EvidenceReader(), RelatedPool()

    def index() -> None:
        for message in messages:
            pool.add(reader.evidence(message.patch, message.title, message.text))
        pool.neighbours(pool.evidence[0])

    _, indexing = timed(index)
    queries = range(0, n, max(1, n // 200))
    _, asking = timed(lambda: [pool.neighbours(pool.evidence[at], 0.5) for at in queries])
    query = asking / len(queries) * 1e3
    print(f"  read {parsing:.1f}, indexed {indexing:.1f}, a query {query:.1f} ms")
    clusters, grouping = timed(pool.groups)
    print(f"  grouped {grouping:.1f}, {len(clusters):,} groups")


def copies(mails: Sequence[bytes], n: int) -> Iterator[bytes]:
    choose = random.Random(7)
    for at in range(n):
        data = mails[at % len(mails)]
        if at >= len(mails):
            words = Counter(re.findall(rb"\b[a-z]{5,12}\b", data)).most_common(60)
            for word, _ in choose.sample(words, min(3, len(words))):
                data = data.replace(word, b"%s%d" % (word, at))
        yield data


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
