"""docs/json.md is the contract: its examples run, and it names every key that is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise

from excise_server.report import documents as shapes
from excise_server.report.duplicates import DuplicatesDocument, RelatedGroupsDocument
from excise_server.report.review import ReviewDocument
from excise_server.report.take import TakeDocument
from excise_server.report.worktrees import WorktreesDocument

DOCS = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
EXAMPLES = [block.strip() for block in re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)]


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        (
            shapes.ScoreDocument,
            ("score", "--origin", ORIGIN, "--reference", ORIGIN, "--hypothesis", SUGGESTIONS[0]),
        ),
        (shapes.ExplainDocument, ("explain", ORIGIN, *SUGGESTIONS[:2])),
        (shapes.MatrixDocument, ("matrix", ORIGIN, *SUGGESTIONS, "none")),
        (shapes.RankDocument, ("rank", ORIGIN, *SUGGESTIONS, "none")),
        (shapes.ClusterDocument, ("cluster", "--origin", ORIGIN, *SUGGESTIONS, "none")),
    ],
)
def test_what_is_printed_has_its_shape_exactly(shape, arguments):
    printed = excise(*arguments, "--json").json
    read = msgspec.convert(printed, shape)
    assert msgspec.to_builtins(read) == printed
    assert read.schema == shapes.SCHEMA


@pytest.mark.parametrize(
    "shape",
    [
        *(shapes.ScoreDocument, shapes.ExplainDocument, shapes.MatrixDocument),
        *(shapes.RankDocument, shapes.ClusterDocument, shapes.RecordLine, shapes.ErrorLine),
        shapes.SummaryDocument,
        *(WorktreesDocument, ReviewDocument, TakeDocument, DuplicatesDocument),
        RelatedGroupsDocument,
    ],
)
def test_every_key_is_described(shape):
    described = set(re.findall(r"`(\w+)`", DOCS))
    definitions = msgspec.json.schema(shape)["$defs"].values()
    assert {key for each in definitions for key in each["properties"]} - {"schema"} <= described


def test_the_examples_are_what_happens():
    document, record, lines, _ = EXAMPLES
    ran = excise("matrix", "-", "--json", stdin=document)
    assert ran.json["revisions"] == ["a", "b"]
    ran = excise("score", "--jsonl", "-", stdin=f"{record}\n]")
    assert ran.lines == [json.loads(line) for line in lines.split("\n")]


def test_the_exit_codes_are_those_of_the_help():
    documented = set(re.findall(r"^\| (\d+) \|", DOCS, re.MULTILINE))
    assert documented == set(re.findall(r"^ +(\d+)  ", excise("--help").out, re.MULTILINE))
