"""docs/lsp-extensions.md and wire/lsp.py say the same, name by name and type by type."""

import re
import types
import typing
from pathlib import Path

import msgspec
import pytest

from excise_server.wire import documents
from excise_server.wire import lsp as p
from excise_server.wire.documents import CandidatesDocument, ReviewDocument, SetAsideEntry

DOCUMENT = Path(__file__).parents[2] / "docs" / "lsp-extensions.md"
WORDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def documented() -> dict[str, dict[str, str]]:
    """The tables of the document: class name to field to type."""
    found: dict[str, dict[str, str]] = {}
    current = ""
    for line in DOCUMENT.read_text(encoding="utf-8").split("\n"):
        if name := re.match(r"(?:Params: |Result: )?`([A-Z]\w+)`", line):
            current = name[1]
            found[current] = {}
        elif line.startswith(("#", "Result: `dict`")):
            current = ""
        elif current and (row := re.match(r"\| `(\w+)` \| ((?:\\\||[^|])+) \|", line)):
            found[current][row[1]] = row[2].strip().replace("\\|", "|")
    return found


def written(kind: object, *, absent: bool) -> str:
    """A type as the document writes it."""
    if typing.get_origin(kind) is list:
        return f"{written(typing.get_args(kind)[0], absent=False)}[]"
    if typing.get_origin(kind) is typing.Literal:
        return "string"
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        inner = next(a for a in typing.get_args(kind) if a is not type(None))
        return written(inner, absent=False) + ("?" if absent else " | null")
    return WORDS.get(kind) or kind.__name__


def classes() -> dict[str, type]:
    """Every class that is reached from the methods."""
    found: dict[str, type] = {}
    todo = [kind for method in p.METHODS.values() for kind in method if kind is not None]
    todo.append(p.DidChangeReportParams)
    while todo:
        kind = todo.pop()
        if isinstance(kind, type) and kind.__module__ in (p.__name__, documents.__name__):
            found[kind.__name__] = kind
            todo += [
                inner for hint in typing.get_type_hints(kind).values() for inner in parts(hint)
            ]
    return found


def parts(hint: object) -> list[type]:
    arguments = typing.get_args(hint)
    return [p for a in arguments for p in parts(a)] if arguments else [hint]


def test_the_document_describes_exactly_our_classes():
    assert sorted(documented()) == sorted(classes())


@pytest.mark.parametrize("name", sorted(classes()))
def test_fields_and_types(name: str):
    kind = classes()[name]
    hints = typing.get_type_hints(kind)
    sent_by_client = name.endswith("Params") and name != "DidChangeReportParams"
    inside_params = ("Base", "RevisionText", "CandidateText", "ChangeText", "TakeChoice")
    optional = sent_by_client or name in inside_params
    expected = {
        field.encode_name: written(hints[field.name], absent=optional)
        for field in msgspec.structs.fields(kind)
    }
    assert documented()[name] == expected


def test_methods_and_commands():
    text = DOCUMENT.read_text(encoding="utf-8")
    methods = re.findall(r"^## `(excise/\w+)`$", text, re.MULTILINE)
    assert methods == [*p.METHODS, p.DID_CHANGE_REPORT]
    assert len(p.METHODS) <= 15
    assert len(re.findall(r"^\| `excise/\w+` \| stable \|", text, re.MULTILINE)) == 10
    commands = text.split("## Commands")[1].split("\n## ")[0]
    assert re.findall(r"`(excise\.\w+)`", commands) == list(p.COMMANDS)
    for method, (params, result) in p.METHODS.items():
        section = text.split(f"## `{method}`")[1].split("\n## ")[0]
        assert f"Params: `{params.__name__}`" in section
        assert (f"Result: `{result.__name__}`" if result else "Result: null") in section


def test_what_candidates_have_beside_the_commands_document():
    section = (
        DOCUMENT.read_text(encoding="utf-8").split("## `excise/candidates`")[1].split("\n## ")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \|", section.split("Result: ")[1], re.MULTILINE)
    own = CandidatesDocument.__struct_fields__
    assert rows == [name for name in own if name not in ReviewDocument.__struct_fields__]
    assert all(f"`{name}`" in section for name in SetAsideEntry.__struct_fields__)
