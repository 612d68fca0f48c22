"""docs/json.md and docs/schema are the contract: output is valid, and every key is described."""

import importlib.util
import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise

from excise_server.wire import documents as shapes

DOCS = Path(__file__).parents[2] / "docs"
QUEUE = DOCS.parent / "examples" / "queue.mbox"
PAGE = (DOCS / "json.md").read_text(encoding="utf-8")
EXAMPLES = [block.strip() for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]

SPEC = importlib.util.spec_from_file_location("docs_schema", DOCS / "schema.py")
schema = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(schema)


def test_the_files_are_those_of_the_types():
    files = {path.name: path.read_text(encoding="utf-8") for path in schema.FOLDER.iterdir()}
    assert files == schema.schema_texts(), "make schema writes them anew"


def test_every_document_has_one():
    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    printed = below(shapes.Document) - {shapes.Document}
    assert printed <= {document for _, document in schema.DOCUMENTS.values()}


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        (shapes.CompareDocument, ("compare", ORIGIN, *SUGGESTIONS, "none")),
        (shapes.CompareDocument, ("compare", ORIGIN, *SUGGESTIONS, "none", "--clusters")),
        (shapes.CompareDocument, ("compare", ORIGIN, *SUGGESTIONS[:2], "--explain")),
        (shapes.CompareDocument, ("compare", ORIGIN, *SUGGESTIONS[:2], "--measure", "del:p")),
        (shapes.ClusterDocument, ("cluster", str(QUEUE))),
    ],
)
def test_what_is_printed_has_its_shape_exactly(shape, arguments):
    printed = excise(*arguments, "--format", "json").json
    read = msgspec.convert(printed, shape)
    assert msgspec.to_builtins(read) == printed
    assert read.schema == shapes.SCHEMA
    (name,) = (name for name, (_, document) in schema.DOCUMENTS.items() if document is shape)
    definition = json.loads((schema.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(definition).validate(printed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(definition).validate(printed | {"signature": None})


@pytest.mark.parametrize(
    "shape",
    [
        *(shapes.CompareDocument, shapes.RecordLine, shapes.ErrorLine),
        shapes.SummaryDocument,
        *(shapes.ReviewDocument, shapes.TakeDocument),
        shapes.DuplicatesDocument,
    ],
)
def test_every_key_is_described(shape):
    described = set(re.findall(r"`(\w+)`", PAGE))
    definitions = msgspec.json.schema(shape)["$defs"].values()
    assert {key for each in definitions for key in each["properties"]} - {"schema"} <= described


def test_the_examples_are_what_happens():
    document, record, lines, _ = EXAMPLES
    ran = excise("compare", "-", "--format", "json", stdin=document)
    assert ran.json["revisions"] == ["a", "b"]
    ran = excise("eval", "-", "--format", "jsonl", stdin=f"{record}\n]")
    assert ran.lines == [json.loads(line) for line in lines.split("\n")]


def test_the_exit_codes_are_those_of_the_help():
    documented = set(re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE))
    assert documented == set(re.findall(r"^ +(\d+)  ", excise("--help").out, re.MULTILINE))
