"""The settings of a client: in initializationOptions, and later as the section `excise`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lsprotocol import types as t

from excise.ranking import INTENT, INTENTS
from excise.signature import COMMENTS, GRANULARITIES, LCS, Options
from excise_server.editor.findings import MAX_HUNKS

__all__ = ["SECTION", "Settings", "merged", "settings_of"]

logger = logging.getLogger(__name__)

SECTION = "excise"

_SEVERITIES = {
    "error": t.DiagnosticSeverity.Error,
    "warning": t.DiagnosticSeverity.Warning,
    "information": t.DiagnosticSeverity.Information,
    "hint": t.DiagnosticSeverity.Hint,
}

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices, with their defaults. Those of the sources are in `source_settings`.

    ``client_commands`` are the client's own commands by the names of ours. With
    ``virtual_documents``, it opens URIs of revisions by itself. With ``standard_navigation``, hunks
    are symbols, and variants implementations.
    """

    severity: t.DiagnosticSeverity = t.DiagnosticSeverity.Information
    diagnostics: bool = True
    max_per_file: int = MAX_HUNKS
    options: Options = field(default_factory=Options)
    intent: str = INTENT
    client_commands: Mapping[str, str] = field(default_factory=dict)
    virtual_documents: bool = False
    standard_navigation: bool = False


def settings_of(options: object) -> Settings:
    """Read the options of a client. An invalid one is logged and keeps its default.

    >>> settings_of({"diagnostics": {"severity": "hint"}, "lcs": "paper"}).severity.name
    'Hint'
    >>> settings_of(None) == Settings()
    True
    """
    top = _Section(options)
    shown = _Section(top.given("diagnostics", dict, {}), "diagnostics.")
    return Settings(
        severity=_SEVERITIES[shown.choice("severity", _SEVERITIES, "information")],
        diagnostics=shown.given("enable", bool, True),
        max_per_file=shown.count("maxPerFile", MAX_HUNKS),
        options=Options(
            granularity=top.choice("granularity", GRANULARITIES, Options().granularity),
            lcs=top.choice("lcs", LCS, Options().lcs),
            comments=top.choice("comments", COMMENTS, Options().comments),
        ),
        intent=top.choice("intent", INTENTS, INTENT),
        client_commands=top.mapping("clientCommands", str),
        virtual_documents=top.given("virtualDocuments", bool, False),
        standard_navigation=top.given("standardNavigation", bool, False),
    )


def merged(base: object, over: object) -> object:
    """Lay some options over others; null leaves an option as it is.

    >>> merged({"a": 1, "b": {"c": 2}}, {"a": None, "b": {"d": 3}})
    {'a': 1, 'b': {'c': 2, 'd': 3}}
    """
    if over is None:
        return base
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return base | {key: merged(base.get(key), value) for key, value in over.items()}


class _Section:
    """Options by name. Unusable ones are logged without their values, which may be long."""

    def __init__(self, options: object, prefix: str = "") -> None:
        """Take the options of a client; anything except an object has none."""
        if options is not None and not isinstance(options, dict):
            logger.warning("the options must be an object")
        self._options: dict[str, Any] = options if isinstance(options, dict) else {}
        self._prefix = prefix

    def given(self, name: str, kind: type[V], default: V) -> V:
        """Return an option of a type."""
        value = self._options.get(name)
        if value is None:
            return default
        if type(value) is not kind:
            logger.warning("%s%s must be of type %s", self._prefix, name, kind.__name__)
            return default
        return value

    def choice(self, name: str, allowed: Collection[str], default: str) -> str:
        """Return an option that is one of some words."""
        value = self._options.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in allowed:
            logger.warning("%s%s must be one of %s", self._prefix, name, ", ".join(allowed))
            return default
        return value

    def count(self, name: str, most: int) -> int:
        """Return a number from 0 to the most, which is the default."""
        value = self.given(name, int, most)
        if 0 <= value <= most:
            return value
        logger.warning("%s%s must be from 0 to %d", self._prefix, name, most)
        return most

    def mapping(self, name: str, kind: type[V]) -> dict[str, V]:
        """Return an option that maps names to values of a type, without those of others."""
        section = _Section(self.given(name, dict, {}), f"{self._prefix}{name}.")
        values = {str(key): section.given(key, kind, None) for key in section._options}
        return {key: value for key, value in values.items() if value is not None}
