"""The measures of the field on real model outputs (`make eval`): what docs/evaluation.md shows.

``EXCISE_DATA=DIR python benchmarks/evaluation.py [--out DIR]`` joins the labelled outputs with the
items that they belong to, evaluates each set as ``excise eval`` does, prints its table, and writes
records, documents, tables and figures to the folder (``build/evaluation``), where it goes on if it
was stopped. ``excise eval build/evaluation/octocoder.jsonl --comments drop`` gives a set alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from excise.evaluation import Measure
from excise.evaluation import measures as all_measures
from excise_server.cli.progress import progress
from excise_server.evaluation.journal import Journal
from excise_server.evaluation.plot import draw, panels
from excise_server.evaluation.resources import resources
from excise_server.evaluation.run import Document, Settings, evaluate
from excise_server.evaluation.tables import csv_text, evaluation_table, latex_text
from excise_server.foundation.forks import usable_cores
from excise_server.records.lines import read_all
from excise_server.records.outputs import read_record
from excise_server.report.documents import json_text

SETS = {
    "octocoder": ("hef_python_octocoder.jsonl", "humanevalfix_python.jsonl"),
    "python": ("hef_python_astraios.jsonl", "humanevalfix_python.jsonl"),
    "java": ("hef_java_astraios.jsonl", "humanevalfix_java.jsonl"),
    "many": ("hef_python_many_models_dev.jsonl.gz", "humanevalfix_python.jsonl"),
}
TITLES = {
    "octocoder": "HumanEvalFix Python, OctoCoder",
    "python": "HumanEvalFix Python, Astraios",
    "java": "HumanEvalFix Java, Astraios",
    "many": "HumanEvalFix Python, many models",
}
FIGURE = (
    *("es-token", "es-line", "es-nested", "sari", "diffbleu", "sanslcs-bleu"),
    *("codebleu", "bleu", "chrf", "nes", "em"),
)
"""The measures of the paper's figure 1, and `nested`."""

TESTS = ("tests", "test_setup", "import_", "entry_point")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file of JSON lines, gzipped or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        for line in file:
            yield json.loads(line)


def join(data: Path, name: str, folder: Path) -> Path:
    """Write the records of a set: the outputs, each with the item that it belongs to."""
    outputs, items = SETS[name]
    by_id = {item["id"]: item for item in rows(data / items)}
    path = folder / f"{name}.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for output in rows(data / "labelled" / outputs):
            item = by_id[output["id"]]
            record = {
                "id": output["id"],
                "language": output["language"],
                "origin": item["origin"],
                "reference": item["reference"],
                "hypothesis": output["revision"],
                "label": int(output["passed"]),
                "count": output["count"],
            }
            record |= {key: item[key] for key in TESTS if key in item}
            file.write(json.dumps(record) + "\n")
    return path


def evaluated(
    path: Path, measures: tuple[Measure, ...], resamples: int, *, prefix: bool
) -> Document:
    """Evaluate a set as the paper does: comments dropped."""
    settings = Settings(
        measures=measures,
        comments="drop",
        resamples=resamples,
        shared_prefix=prefix,
        against="sari",
        jobs=usable_cores(),
    )
    records, _ = read_all(str(path), read_record, "no record")
    signatures = {one.name: one.signature("drop") for one in measures}
    journal = Journal(str(path.with_suffix(".journal")), signatures)
    try:
        return evaluate(records, settings, progress, journal)
    finally:
        journal.close()


def write(found: Document, stem: Path, skipped: dict[str, str]) -> None:
    """Write the document and the tables of a set."""
    stem.with_suffix(".json").write_text(json_text(found | {"skipped": skipped}) + "\n")
    stem.with_suffix(".csv").write_text(csv_text(found))
    stem.with_suffix(".tex").write_text(latex_text(found) + "\n")


def show(console: Console, found: Document) -> None:
    """Print the table of a set."""
    for part in evaluation_table(found, console.width):
        console.print(part)


def main() -> int:
    """Evaluate the sets and draw them as the paper does."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sets", default=",".join(SETS), help="which, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build/evaluation"))
    parser.add_argument("--bootstrap", type=int, default=1000)
    parser.add_argument("--no-prefix", action="store_true", help="leave out prefix and figure")
    parser.add_argument("--join-only", action="store_true", help="write the records, no more")
    chosen = parser.parse_args()
    data = os.environ.get("EXCISE_DATA")
    if not data:
        print("EXCISE_DATA must name the folder that holds labelled/", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    paths = {name: join(Path(data), name, chosen.out) for name in chosen.sets.split(",")}
    if chosen.join_only:
        return 0
    every = all_measures(resources=resources())
    skipped = {one.name: why for one in every if (why := one.missing()) is not None}
    able = tuple(one for one in every if one.name not in skipped)
    console = Console(width=200)
    drawn = []
    for name, path in paths.items():
        console.print(f"\n{TITLES[name]}")
        every = evaluated(path, able, chosen.bootstrap, prefix=False)
        show(console, every)
        write(every, chosen.out / name, skipped)
        if chosen.no_prefix:
            continue
        console.print(f"\n{TITLES[name]}, with the shared prefix")
        few = tuple(one for one in able if one.name in FIGURE)
        found = evaluated(path, few, chosen.bootstrap, prefix=True)
        show(console, found)
        write(found, chosen.out / f"{name}-prefix", skipped)
        drawn += panels(found, TITLES[name], f"{TITLES[name]}, with a shared prefix")
    for name, why in skipped.items():
        console.print(f"left out: {name}: {why}", markup=False)
    if not drawn:
        return 0
    figure = chosen.out / "evaluation.png"
    draw(drawn, columns=2).savefig(figure, metadata={"Software": None})
    print(f"\nfigure: {figure}; records, documents, tables: {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
