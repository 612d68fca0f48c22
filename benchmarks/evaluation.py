"""The measures of the field on real model outputs (`make eval`): what docs/evaluation.md shows.

``EXCISE_DATA=DIR python benchmarks/evaluation.py [--out DIR]`` joins the labelled outputs with the
items that they belong to, evaluates each set as ``excise eval`` does, prints its table, and writes
records, documents, tables and figures to the folder (``build/evaluation``), where it goes on if it
was stopped. ``excise eval FILE --protocol correlation`` gives a set alone.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from measure import rows
from rich.console import Console

from excise.evaluation import MEASURES
from excise_server.cli import main as excise
from excise_server.evaluation.plot import draw, panels
from excise_server.evaluation.run import Document
from excise_server.evaluation.tables import csv_text, evaluation_table, latex_text
from excise_server.wire.documents import json_text

SETS = {
    "octocoder": ("hef_python_octocoder.jsonl", "humanevalfix_python.jsonl"),
    "python": ("hef_python_astraios.jsonl", "humanevalfix_python.jsonl"),
    "java": ("hef_java_astraios.jsonl", "humanevalfix_java.jsonl"),
    "many": ("hef_python_many_models_dev.jsonl.gz", "humanevalfix_python.jsonl"),
    "canitedit": ("canitedit_18models_dev.jsonl.gz", "canitedit_dev.jsonl"),
}
TITLES = {
    "octocoder": "HumanEvalFix Python, OctoCoder",
    "python": "HumanEvalFix Python, Astraios",
    "java": "HumanEvalFix Java, Astraios",
    "many": "HumanEvalFix Python, many models",
    "canitedit": "CanItEdit, 18 models",
}
FIGURE = (
    *("es-token-star", "es-line-star", "es-nested-star", "sari", "diffbleu", "sanslcs-bleu"),
    *("codebleu", "bleu", "chrf", "nes", "em"),
)
"""The measures of the paper's figure 1, and `nested`."""

TESTS = ("tests", "test_setup", "import_", "entry_point")


def join(name: str, folder: Path) -> Path:
    """Write the records of a set: the outputs, each with the item that it belongs to."""
    outputs, items = SETS[name]
    by_id = {item["id"]: item for item in rows(items)}
    path = folder / f"{name}.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for output in rows("labelled", outputs):
            item = by_id[output["id"]]
            record = {
                "id": output["id"],
                "language": output["language"],
                "origin": item["origin"],
                "reference": item["reference"],
                "hypothesis": output["revision"],
                "label": int(output["passed"]),
                "count": output.get("count", 1),
            }
            record |= {key: item[key] for key in TESTS if key in item}
            file.write(json.dumps(record) + "\n")
    return path


def evaluated(path: Path, resamples: int, *options: str) -> Document:
    """Return the document of the command, which evaluates a set as the paper does."""
    settings = (
        "--protocol",
        "correlation",
        "--measure",
        "comments:drop",
        "--baseline",
        "sari",
        "--bootstrap",
        str(resamples),
    )
    journal = ("--resume", str(path.with_suffix(".journal")))
    out = io.StringIO()
    with redirect_stdout(out):
        code = excise(("eval", str(path), "--format", "json", *settings, *journal, *options))
    if code not in (0, 1):  # 1: some output has no value
        raise SystemExit(code)
    document: Document = json.loads(out.getvalue())
    return document


def write_and_show(document: Document, stem: Path) -> None:
    """Write the document and the tables of a set, and print the table for people."""
    stem.with_suffix(".json").write_text(json_text(document) + "\n")
    stem.with_suffix(".csv").write_text(csv_text(document))
    stem.with_suffix(".tex").write_text(latex_text(document) + "\n")
    console = Console(width=200)
    for part in evaluation_table(document, console.width):
        console.print(part)


def main() -> int:
    """Evaluate the sets and draw them as the paper does."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sets", default=",".join(SETS), help="which, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build/evaluation"))
    parser.add_argument("--measures", default="all", help="which, separated by commas")
    parser.add_argument("--bootstrap", type=int, default=1000)
    parser.add_argument("--no-prefix", action="store_true", help="leave out prefix and figure")
    parser.add_argument("--join-only", action="store_true", help="write the records, no more")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    paths = {name: join(name, chosen.out) for name in chosen.sets.split(",")}
    if chosen.join_only:
        return 0
    drawn = []
    for name, path in paths.items():
        print(f"\n{TITLES[name]}")
        document = evaluated(path, chosen.bootstrap, "--measures", chosen.measures)
        write_and_show(document, chosen.out / name)
        if chosen.no_prefix:
            continue
        print(f"\n{TITLES[name]}, with the shared prefix")
        few = ",".join(name for name in MEASURES if name in FIGURE)
        document = evaluated(path, chosen.bootstrap, "--shared-prefix", "--measures", few)
        write_and_show(document, chosen.out / f"{name}-prefix")
        drawn += panels(document, TITLES[name], f"{TITLES[name]}, with a shared prefix")
    if not drawn:
        return 0
    figure = chosen.out / "evaluation.png"
    draw(drawn, columns=2).savefig(figure, metadata={"Software": None})
    print(f"\nfigure: {figure}; records, documents, tables: {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
