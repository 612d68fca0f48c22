"""Evaluate the measures on real model outputs (`make eval`): the tables and figure of
docs/evaluation.md.

``EXCISE_DATA=DIR python benchmarks/evaluation.py [--sets NAMES] [--out DIR] [options of eval]``
joins the labelled outputs with the items that they belong to, in a temporary folder, and calls
``excise eval`` on each set. ``--out DIR`` keeps the joined records, the tables as CSV and the
figures there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from excise_server.cli import main as excise

SETS = {
    "octocoder": ("hef_python_octocoder.jsonl", "humanevalfix_python.jsonl"),
    "python": ("hef_python_astraios.jsonl", "humanevalfix_python.jsonl"),
    "java": ("hef_java_astraios.jsonl", "humanevalfix_java.jsonl"),
    "many": ("hef_python_many_models_dev.jsonl.gz", "humanevalfix_python.jsonl"),
}
OPTIONS = ("--comments", "drop", "--shared-prefix", "--against", "sari")
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


def main() -> int:
    """Evaluate the sets; whatever is not ours is handed on to ``excise eval``."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sets", default=",".join(SETS), help="which, separated by commas")
    parser.add_argument("--out", type=Path, help="folder that keeps records, tables and figures")
    parser.add_argument("--join-only", action="store_true", help="write the records, no more")
    ours, theirs = parser.parse_known_args()
    data = os.environ.get("EXCISE_DATA")
    if not data:
        print("EXCISE_DATA must name the folder that holds labelled/", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = ours.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ours.sets.split(","):
            records = join(Path(data), name, folder)
            if ours.join_only:
                continue
            print(f"\n{name}: {SETS[name][0]}\n", flush=True)
            figure = folder / f"{name}.png"
            code = excise(["eval", str(records), *OPTIONS, *theirs, "--plot", str(figure)])
            if code:
                return code
            if not ours.out:
                shutil.copy(figure, f"evaluation-{name}.png")
                print(f"\nfigure: evaluation-{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
