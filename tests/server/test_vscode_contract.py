"""The server's protocol and the VS Code client's say the same, name by name and type by type."""

import re
import types
import typing
from pathlib import Path

import attrs
import pytest

from excise_server.lsp import protocol
from excise_server.lsp.standard import STANDARD

CLIENT = Path(__file__).parents[2] / "vscode-client" / "src"
WORDS = {str: "string", int: "number", float: "number", bool: "boolean"}


def client_protocol() -> str:
    """The client's mirror of the protocol, all files in one."""
    files = sorted((CLIENT / "protocol").glob("*.ts"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def mirrored() -> dict[str, dict[str, str]]:
    """The client's interfaces: name to field (with `?` if optional) to type."""
    found: dict[str, dict[str, str]] = {}
    text = client_protocol()
    for name, body in re.findall(r"^export interface (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        rows = re.findall(r"^  readonly (\w+\??): (.*);$", body, re.M)
        assert len(rows) == body.count("\n") or name == "Methods", body
        found[name] = dict(rows)
    return found


def classes() -> dict[str, type]:
    """Every class of the protocol."""
    return {
        name: kind
        for name, kind in vars(protocol).items()
        if isinstance(kind, type) and attrs.has(kind)
    }


def written(kind: object) -> str:
    """A type as TypeScript writes it."""
    if typing.get_origin(kind) is list:
        inner = written(typing.get_args(kind)[0])
        return f"readonly ({inner})[]" if inner.startswith("readonly") else f"readonly {inner}[]"
    if isinstance(kind, types.UnionType):
        inner_kind = next(a for a in typing.get_args(kind) if a is not type(None))
        return f"{written(inner_kind)} | null"
    assert isinstance(kind, type)
    return WORDS.get(kind) or kind.__name__


def test_the_client_mirrors_exactly_our_classes():
    assert sorted(mirrored().keys() - {"Methods"}) == sorted(classes())


@pytest.mark.parametrize("name", sorted(classes()))
def test_fields_and_types(name: str):
    kind = classes()[name]
    hints = typing.get_type_hints(kind)
    expected = {}
    for field in attrs.fields(kind):
        may_be_absent = field.default is not attrs.NOTHING
        row = protocol.wire_name(field) + ("?" if may_be_absent else "")
        expected[row] = written(hints[field.name])
    assert mirrored()[name] == expected


def test_methods():
    text = client_protocol()
    rows = re.findall(r'^  "(excise/\w+)": \[(\w+), (\w+)\];$', text, re.M)
    named = {method: (params, result) for method, params, result in rows}
    assert list(named) == [m for m, kind in protocol.METHODS.items() if kind.result is not None]
    for method, (params, result) in named.items():
        kinds = protocol.METHODS[method]
        assert params == kinds.params.__name__
        # The document of a command has its own page, and its own type in the client.
        assert kinds.result is dict or result == kinds.result.__name__, method


def test_notifications():
    text = client_protocol()
    silent = [method for method, kind in protocol.METHODS.items() if kind.result is None]
    assert re.findall(r'^export const \w+ = "(excise/\w+)";$', text, re.M) == silent


def test_the_client_has_none_of_the_servers_commands():
    """The language client registers those of the server; a second one keeps it from starting."""
    manifest = (CLIENT.parent / "package.json").read_text(encoding="utf-8")
    ours = set(re.findall(r'"command": "(excise[.\w]+)"', manifest))
    assert len(ours) > 10
    assert ours.isdisjoint(protocol.COMMANDS)
    assert ours.isdisjoint(STANDARD)
