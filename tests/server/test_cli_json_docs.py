"""docs/json.md is the contract: its examples run, and it names every key that is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise

DOCS = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
EXAMPLES = [block.strip() for block in re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)]


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key != "notes":
                yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--origin", ORIGIN, "--reference", ORIGIN, "--hypothesis", SUGGESTIONS[0]),
        ("explain", ORIGIN, *SUGGESTIONS[:2]),
        ("matrix", ORIGIN, *SUGGESTIONS, "none"),
        ("rank", ORIGIN, *SUGGESTIONS, "none"),
        ("cluster", "--origin", ORIGIN, *SUGGESTIONS, "none"),
    ],
)
def test_every_key_is_described(arguments):
    printed = set(keys(excise(*arguments, "--json").json)) - {"schema"}
    described = set(re.findall(r"`(\w+)`", DOCS))
    assert printed <= described


def test_the_examples_are_what_happens():
    document, record, lines, _ = EXAMPLES
    ran = excise("matrix", "-", "--json", stdin=document)
    assert ran.json["revisions"] == ["a", "b"]
    ran = excise("score", "--jsonl", "-", stdin=f"{record}\n]")
    assert ran.lines == [json.loads(line) for line in lines.split("\n")]


def test_the_exit_codes_are_those_of_the_help():
    documented = set(re.findall(r"^\| (\d+) \|", DOCS, re.MULTILINE))
    assert documented == set(re.findall(r"^ +(\d+)  ", excise("--help").out, re.MULTILINE))
