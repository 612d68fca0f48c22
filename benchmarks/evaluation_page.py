"""The tables of docs/evaluation.md, as Markdown, from the documents that `make eval` wrote.

    python benchmarks/evaluation_page.py [build/evaluation]

Measures stand in the order of the second set (of the only set, where a table has one).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from excise_server.evaluation.run import Document
from excise_server.evaluation.tables import between, order, short

THREE = {"octocoder": "OctoCoder, Python", "python": "Astraios, Python", "java": "Astraios, Java"}
ALONE = {"many": "Many models", "canitedit": "CanItEdit"}
BY_PREFIX = (
    *("es-token-star", "es-line-star", "es-nested-star", "diffbleu", "sanslcs-bleu", "em"),
    *("sari", "bleu", "chrf", "nes"),
)
BESIDE_SARI = (
    *("es-line-star", "es-nested-star", "es-token-star", "pes-line", "pes-nested"),
    *("pes-token", "em-diff", "diffbleu"),
)
GRANULARITIES = "es-line-star", "es-token-star", "es-nested-star"


def main(arguments: Sequence[str]) -> None:
    """Print every table under the heading that it stands below."""
    folder = Path(arguments[0] if arguments else "build/evaluation")
    plain = {name: read(folder, name) for name in (*THREE, *ALONE)}
    prefixed = {name: read(folder, f"{name}-prefix") for name in plain}
    for name, found in plain.items():
        changed = found["n_changed"] / found["n"]
        print(f"{name}: {found['n']:,} outputs, {found['distinct']:,} distinct,", end=" ")
        print(f"{found['tasks']} tasks, {changed:.0%} with B ≠ O")
    three = [plain[name] for name in THREE]
    heads = [[title, "by task", "B ≠ O"] for title in THREE.values()]
    show("Our figure 1", heads, (row(n, three, correlations) for n in order(three[1]["measures"])))
    heads = [[title, "moved"] for title in THREE.values()]
    sets = [prefixed[name] for name in THREE]
    show("With the shared prefix", heads, (row(n, sets, moved) for n in BY_PREFIX))
    for key, title in ALONE.items():
        found = plain[key]
        ordered = order(found["measures"])
        heads = [["r", "by task", "B ≠ O"]]
        show(title, heads, (row(name, [found], correlations) for name in ordered))
        heads = [["with the prefix", "moved"]]
        names = [name for name in ordered if name in BY_PREFIX]
        show(f"{title}, prefix", heads, (row(name, [prefixed[key]], moved) for name in names))
    heads = [[title, "p", "p by task"] for title in (*THREE.values(), *ALONE.values())]
    show("Beside SARI", heads, (row(n, plain.values(), difference) for n in BESIDE_SARI))
    names = [*GRANULARITIES, "pes-line", "pes-token", "pes-nested"]
    head = [[name] for name in names]
    rows = ([name, *(points(found["measures"][n]) for n in names)] for name, found in plain.items())
    show("Against another implementation", head, rows)


def read(folder: Path, name: str) -> Document:
    """Return the document of a set."""
    found: Document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def row(name: str, sets: Iterable[Document], cells: Any) -> list[str]:  # noqa: ANN401
    """Return a line of a table: a measure, and its cells for each set."""
    found = [cell for one in sets for cell in cells(one["measures"][name], one["distinct"])]
    return [f"`{name}`", *found]


def correlations(entry: Document, _distinct: int) -> list[str]:
    """Return r with its interval, the interval by task, r of outputs that differ."""
    every = f"{short(entry['pearson'])} {between(entry['ci'])}"
    return [every, between(entry["ci_task"]), short(entry["pearson_changed"])]


def moved(entry: Document, distinct: int) -> list[str]:
    """Return r without and with the prefix, and how many outputs changed their value."""
    prefix = entry["prefix"]
    both = f"{short(entry['pearson'])} to {short(prefix['pearson'])}"
    return [both, f"{prefix['moved']:,} of {distinct:,}"]


def difference(entry: Document, _distinct: int) -> list[str]:
    """Return the difference of r from SARI's, its interval by task, and both p."""
    found = entry["difference"]
    both = f"{short(found['value'])} {between(found['ci_task'])}"
    return [both, short(found["p"]), short(found["p_task"])]


def points(entry: Document) -> str:
    """Return r of all outputs, of distinct ones, of distinct ones that differ."""
    keys = "pearson", "pearson_distinct", "pearson_distinct_changed"
    return " / ".join(short(entry[key], 4) for key in keys)


def show(title: str, heads: Iterable[Sequence[str]], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    columns = [column for head in heads for column in head]
    print(f"\n## {title}\n\n| measure | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
