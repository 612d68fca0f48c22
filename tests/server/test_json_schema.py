"""docs/schema holds the JSON Schema of each document, and what is printed is valid by it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise

from excise_server.report import documents as shapes

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("docs_schema", DOCS / "schema.py")
schema = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(schema)


def test_the_files_are_those_of_the_types():
    files = {path.name: path.read_text(encoding="utf-8") for path in schema.FOLDER.iterdir()}
    assert files == schema.schema_texts(), "make schema writes them anew"


def test_every_document_has_one():
    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    printed = below(shapes.Document) - {shapes.Document, shapes.PairDocument}
    assert printed <= {document for _, document in schema.DOCUMENTS.values()}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("explain", (ORIGIN, *SUGGESTIONS[:2])),
        ("matrix", (ORIGIN, *SUGGESTIONS, "none")),
        ("rank", (ORIGIN, *SUGGESTIONS, "none")),
        ("cluster", ("--origin", ORIGIN, *SUGGESTIONS)),
    ],
)
def test_what_is_printed_is_valid(name, arguments):
    printed = excise(name, *arguments, "--json").json
    definition = json.loads((schema.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(definition).validate(printed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(definition).validate(printed | {"signature": None})
