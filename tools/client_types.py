"""Write the TypeScript types of the server's answers into the VS Code client (`make schema`)."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import msgspec

from excise_server.wire import lsp as p
from excise_server.wire.documents import (
    CandidatesDocument,
    LandedDocument,
    SinceAnswer,
    TakenDocument,
)

SOURCES = Path(__file__).parents[1] / "vscode-client" / "src"
FILE = SOURCES / "protocol.ts"
HEAD = """\
// Written by `make schema` from the records of the server, as far as they are read here.
import type { Range } from "vscode-languageclient";
"""
WIDTH = 140
SMALL = 100
"""Fewer characters than these have the fields of a record that is written where it is used."""
NO_CODE = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.S)
"""Strings and comments, whose words read no field."""
DOCUMENTS: dict[str, type[Any]] = {
    "excise/candidates": CandidatesDocument,
    "excise/take": TakenDocument,
    "excise/land": LandedDocument,
    "excise/since": SinceAnswer,
}
"""The records of answers that the protocol leaves to the documents of commands."""
UNIONS = (types.UnionType, typing.Union)
"""What `|` makes: the second beside a literal."""
WORDS: dict[object, str] = {str: "string", int: "number", float: "number", bool: "boolean"}


def known(kind: object) -> list[Any]:
    """Return the alternatives of a type, without that of a key which is left out."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in UNIONS else (kind,)
    return [part for part in parts if part is not msgspec.UnsetType]


def rows(record: type[Any]) -> dict[str, Any]:
    """Return the types of a record's fields, by their names with `?` if they may be absent."""
    hints = typing.get_type_hints(record)
    sent = issubclass(
        record, p.ProtocolRecord
    )  # others are answers, which have their defaults, too
    return {
        field.encode_name
        + "?" * (field.default is msgspec.UNSET or (sent and not field.required)): hints[field.name]
        for field in msgspec.structs.fields(record)
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

    def written(self, kind: object) -> str:
        """Return a type as TypeScript writes it."""
        arguments = typing.get_args(kind)
        if typing.get_origin(kind) is list:
            inner = self.written(arguments[0])
            several = " " in inner and not inner.startswith("{")
            return f"readonly ({inner})[]" if several else f"readonly {inner}[]"
        if typing.get_origin(kind) is dict:
            return f"Readonly<Record<string, {self.written(arguments[1])}>>"
        if typing.get_origin(kind) is typing.Literal:
            return " | ".join(f'"{word}"' for word in arguments)
        if typing.get_origin(kind) in UNIONS:
            parts = ("null" if part is type(None) else self.written(part) for part in known(kind))
            return " | ".join(parts)
        return WORDS.get(kind) or self.inlined(kind) or getattr(kind, "__name__", "")

    def inlined(self, kind: object) -> str:
        """Return a small record whose name the client does not use, or an empty string."""
        if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
            return ""
        fields = "; ".join(self.fields(kind))
        return f"{{ {fields} }}" if kind.__name__ not in self.words and len(fields) < SMALL else ""

    def fields(self, record: type[Any], inherited: Container[str] = ()) -> list[str]:
        """Return the declarations of the fields that a record adds to those that it inherits."""
        return [
            f"readonly {name}: {self.written(kind)}"
            for name, kind in self.read(record).items()
            if name not in inherited
        ]

    def interface(self, record: type[Any], declared: Container[type[Any]]) -> str:
        """Return the declaration of a record, on one line if it fits there."""
        base = next((base for base in record.__mro__[1:] if base in declared), None)
        fields = self.fields(record, rows(base) if base else ())
        extends = f"extends {base.__name__} " if base else ""
        head = f"export interface {record.__name__} {extends}"
        line = f"{head}{{ {'; '.join(fields)} }}\n"
        rest = "".join(f"  {field};\n" for field in fields)
        return line if len(line) <= WIDTH else f"{head}{{\n{rest}}}\n"


def client_types() -> str:
    """Return the text of the file: what the client asks and reads, and nothing else."""
    client = Client()
    table, used = "", set(client.records(p.DidChangeReportParams))
    for name, method in p.METHODS.items():
        if name in client.asked and method.result is not None:
            result, params = DOCUMENTS.get(name, method.result), rows(method.params)
            used.update(client.records(result))
            used.update(each for kind in params.values() for each in client.records(kind))
            fields = "; ".join(f"{field}: {client.written(kind)}" for field, kind in params.items())
            table += f'  "{name}": [{{ {fields} }}, {client.written(result)}];\n'
    declared = sorted(
        (each for each in used if not client.inlined(each)), key=lambda each: each.__name__
    )
    records = "".join(client.interface(each, declared) for each in declared)
    methods = f"/** Params and result of each request. */\nexport interface Methods {{\n{table}}}\n"
    told = f'export const DID_CHANGE_REPORT = "{p.DID_CHANGE_REPORT}";\n'
    return "\n".join([HEAD, records, methods, told])


if __name__ == "__main__":
    FILE.write_text(client_types(), "utf-8")
