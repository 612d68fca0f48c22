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
    "compare": ("What `excise compare --format json` prints.", shapes.CompareDocument),
    "score-line": ("A line of `excise eval --format jsonl` for a record.", shapes.RecordLine),
    "error-line": ("A line of `excise eval --format jsonl` for any other.", shapes.ErrorLine),
    "summary": ("What `excise eval --format json` prints of scores.", shapes.SummaryDocument),
    "cluster": ("What `excise cluster --format json` prints.", shapes.ClusterDocument),
    "duplicates": (
        "What `excise cluster --like PATCH --format json` prints.",
        shapes.DuplicatesDocument,
    ),
    "candidates": ("What `excise/candidates` answers an editor.", shapes.CandidatesDocument),
    "take": ("What `excise take --format json` prints.", shapes.TakeDocument),
    "undone": ("What `excise take --undo --format json` prints.", shapes.UndoneDocument),
    "since": ("What `excise since --format json` prints.", shapes.SinceDocument),
    "land": ("What `excise land --format json` prints.", shapes.LandDocument),
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
