"""Write the TypeScript types of the server's answers into the VS Code client (`make schema`)."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec

from excise_server.lsp import protocol
from excise_server.report.take import TakenDocument
from excise_server.report.worktrees import CandidatesDocument, WorktreesDocument

SOURCES = Path(__file__).parents[1] / "vscode-client" / "src"
FILE = SOURCES / "protocol.ts"
HEAD = """\
// Written by `make schema` from the records of the server, as far as they are read here.
import type { Range } from "vscode-languageclient";
"""
WIDTH = 140
NO_CODE = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.S)
"""Strings and comments, whose words read no field."""
DOCUMENTS: dict[str, type[Any]] = {
    "excise/worktrees": WorktreesDocument,
    "excise/candidates": CandidatesDocument,
    "excise/take": TakenDocument,
}
"""The records of answers that the protocol leaves to the documents of commands."""
WORDS: dict[object, str] = {str: "string", int: "number", float: "number", bool: "boolean"}


def written(kind: object) -> str:
    """Return a type as TypeScript writes it."""
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list:
        inner = written(arguments[0])
        return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
    if typing.get_origin(kind) is dict:
        return f"Readonly<Record<string, {written(arguments[1])}>>"
    if isinstance(kind, types.UnionType):
        return " | ".join("null" if part is type(None) else written(part) for part in known(kind))
    return WORDS.get(kind) or getattr(kind, "__name__", "")


def known(kind: object) -> list[Any]:
    """Return the alternatives of a type, without that of a key which is left out."""
    parts = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    return [part for part in parts if part is not msgspec.UnsetType]


def rows(record: type[Any]) -> dict[str, Any]:
    """Return the types of a record's fields, by their names with `?` if they may be absent."""
    hints = typing.get_type_hints(record)
    if attrs.has(record):
        return {
            protocol.wire_name(field) + "?" * (field.default is not attrs.NOTHING): hints[
                field.name
            ]
            for field in attrs.fields(record)
        }
    return {
        name + "?" * (msgspec.UnsetType in typing.get_args(hints[name])): hints[name]
        for name in record.__struct_fields__
    }


class Client:
    """What the client's sources say of the server's answers."""

    def __init__(self) -> None:
        files = [SOURCES.parent / "excise.d.ts", *SOURCES.rglob("*.ts")]
        texts = [path.read_text("utf-8") for path in files if path != FILE]
        self.asked = {name for text in texts for name in re.findall(r'"(excise/\w+)"', text)}
        self.words = {word for text in texts for word in re.findall(r"\w+", NO_CODE.sub("", text))}

    def read(self, record: type[Any]) -> dict[str, Any]:
        """Return the fields of an answer that the client reads."""
        return {name: kind for name, kind in rows(record).items() if name.rstrip("?") in self.words}

    def records(self, kind: object) -> Iterator[type[Any]]:
        """Yield the records that a type mentions, and those that they mention."""
        if isinstance(kind, type) and kind.__module__.startswith("excise_server."):
            yield kind
            for inner in self.read(kind).values():
                yield from self.records(inner)
        for part in typing.get_args(kind):
            yield from self.records(part)

    def interface(self, record: type[Any], used: set[type[Any]]) -> str:
        """Return the declaration of a record, on one line if it fits there."""
        base = next((base for base in record.__mro__[1:] if base in used), None)
        inherited = rows(base) if base else {}
        fields = [
            f"readonly {name}: {written(kind)}"
            for name, kind in self.read(record).items()
            if name not in inherited
        ]
        extends = f"extends {base.__name__} " if base else ""
        head = f"export interface {record.__name__} {extends}"
        line = f"{head}{{ {'; '.join(fields)} }}\n"
        rest = "".join(f"  {field};\n" for field in fields)
        return line if len(line) <= WIDTH else f"{head}{{\n{rest}}}\n"


def client_types() -> str:
    """Return the text of the file: what the client asks and reads, and nothing else."""
    client = Client()
    table, used = "", set(client.records(protocol.DidChangeReportParams))
    for name, method in protocol.METHODS.items():
        if name in client.asked and method.result is not None:
            result, params = DOCUMENTS.get(name, method.result), rows(method.params)
            used.update(client.records(result))
            used.update(each for kind in params.values() for each in client.records(kind))
            fields = "; ".join(f"{field}: {written(kind)}" for field, kind in params.items())
            table += f'  "{name}": [{{ {fields} }}, {written(result)}];\n'
    records = "".join(
        client.interface(each, used) for each in sorted(used, key=lambda each: each.__name__)
    )
    methods = f"/** Params and result of each request. */\nexport interface Methods {{\n{table}}}\n"
    told = f'export const DID_CHANGE_REPORT = "{protocol.DID_CHANGE_REPORT}";\n'
    return "\n".join([HEAD, records, methods, told])


if __name__ == "__main__":
    FILE.write_text(client_types(), "utf-8")
