"""Write the JSON Schema of what the commands print into docs/schema (`make schema`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from excise_server.wire import documents as shapes

FOLDER = Path(__file__).parent / "schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS: dict[str, tuple[str, type[shapes.Shape]]] = {
    "score": ("What `excise score --json` prints.", shapes.ScoreDocument),
    "score-line": ("A line of `excise score --jsonl` for a scored record.", shapes.RecordLine),
    "error-line": ("A line of `excise score --jsonl` for any other record.", shapes.ErrorLine),
    "summary": ("What `excise score --jsonl --summary --json` prints.", shapes.SummaryDocument),
    "explain": ("What `excise explain --json` prints.", shapes.ExplainDocument),
    "matrix": ("What `excise matrix --json` prints.", shapes.MatrixDocument),
    "rank": ("What `excise rank --json` prints.", shapes.RankDocument),
    "cluster": ("What `excise cluster --origin --json` prints.", shapes.ClusterDocument),
    "patches": ("What `excise cluster --json` prints for patches.", shapes.PatchDocument),
    "duplicates": ("What `excise duplicates --format json` prints.", shapes.DuplicatesDocument),
    "related": ("What `excise cluster --related --json` prints.", shapes.RelatedGroupsDocument),
    "candidates": ("What `excise/candidates` answers an editor.", shapes.CandidatesDocument),
    "take": ("What `excise take --json` prints.", shapes.TakeDocument),
    "land": ("What `excise land --format json` prints.", shapes.LandDocument),
    "undone": ("What `excise take --undo --json` prints.", shapes.UndoneDocument),
    "review": ("What `excise review --format json` prints.", shapes.ReviewDocument),
}


def schema_of(title: str, document: type[shapes.Shape]) -> dict[str, Any]:
    """Return the JSON Schema of a document; keys that are not in it may come with any release."""
    return {"$schema": DIALECT, "title": title} | msgspec.json.schema(document)


def schema_texts() -> dict[str, str]:
    """Return the text of each file by its name."""
    return {
        f"{name}.json": json.dumps(schema_of(*described), indent=2) + "\n"
        for name, described in DOCUMENTS.items()
    }


def main() -> None:
    """Write all files, and remove those of documents that are gone."""
    FOLDER.mkdir(exist_ok=True)
    texts = schema_texts()
    for path in FOLDER.glob("*.json"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
