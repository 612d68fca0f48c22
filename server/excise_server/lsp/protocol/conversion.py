"""The custom methods' types to and from JSON."""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from excise_server.lsp.protocol.methods import METHODS

__all__ = ["message_type", "register", "wire_name"]

_PACKAGE = __name__.rpartition(".")[0]


def wire_name(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field on the wire.

    >>> from excise_server.lsp.protocol import DidChangeReportParams
    >>> [wire_name(field) for field in attrs.fields(DidChangeReportParams)]
    ['uri', 'version']
    """
    if (name := field.metadata.get("wire")) is not None:
        return str(name)
    first, *rest = field.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def register(converter: Converter) -> None:
    """Teach the converter our types."""
    converter.register_structure_hook_factory(
        _is_ours,
        lambda cls: make_dict_structure_fn(cls, converter, **_renames(cls)),
    )
    converter.register_unstructure_hook_factory(
        _is_ours,
        lambda cls: make_dict_unstructure_fn(cls, converter, **_renames(cls)),
    )


@cache
def message_type(name: str) -> type[Any] | None:
    """Return the class of a whole message of one of our methods, as pygls requires.

    It is made when the first such message comes: initialize waits for none of them.
    """
    method = METHODS.get(name)
    if method is None:
        return None
    fields: dict[str, Any] = {
        "method": attrs.field(type=str),
        "jsonrpc": attrs.field(type=str),
        "params": attrs.field(type=method.params),
    }
    if method.result is not None:
        fields = {"id": attrs.field()} | fields
    return attrs.make_class(name.title().replace("/", ""), fields)


def _is_ours(cls: type[Any]) -> bool:
    return attrs.has(cls) and cls.__module__.startswith(_PACKAGE)


def _renames(cls: type[Any]) -> dict[str, Any]:
    return {field.name: override(rename=wire_name(field)) for field in attrs.fields(cls)}
