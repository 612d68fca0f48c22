"""The settings of a client: in initializationOptions, and later as the section `excise`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from lsprotocol import types as t

from excise.ranking import INTENT, INTENTS
from excise_server.wire.sources import CHOICES, SourceSettings

logger = logging.getLogger(__name__)

SECTION = "excise"

COMMAND = "excise.show"
"""The command in whose place lenses and menus may run the client's own."""

_SEVERITIES: dict[str, t.DiagnosticSeverity | None] = {
    "off": None,
    "error": t.DiagnosticSeverity.Error,
    "warning": t.DiagnosticSeverity.Warning,
    "information": t.DiagnosticSeverity.Information,
    "hint": t.DiagnosticSeverity.Hint,
}

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices, with their defaults. Those of the sources are `SourceChoices`.

    Without a ``severity`` there are no diagnostics. ``client_commands`` are the client's own
    commands by the names of ours. With ``virtual_documents``, it opens URIs of revisions by itself.
    With ``standard_navigation``, hunks are symbols, and variants implementations.
    """

    severity: t.DiagnosticSeverity | None = t.DiagnosticSeverity.Information
    intent: str = INTENT
    client_commands: Mapping[str, str] = field(default_factory=dict)
    virtual_documents: bool = False
    standard_navigation: bool = False


@dataclass(frozen=True, slots=True)
class SourceChoices:
    """The sources to ask, and under which conditions.

    - ``buffer``: whether the editor's text is another revision, and not only the result of the
      review.
    - ``trusted``: whether git may be started.
    """

    settings: SourceSettings = field(default_factory=SourceSettings)
    buffer: bool = False
    trusted: bool = True


def settings_of(options: object) -> Settings:
    """Read the options of a client. An invalid one is logged and keeps its default.

    >>> settings_of({"diagnostics": {"severity": "hint"}, "intent": "tidy"}).severity.name
    'Hint'
    >>> settings_of(None) == Settings()
    True
    """
    if options is not None and not isinstance(options, dict):
        logger.warning("the options must be an object")
    for name in (isinstance(options, dict) and options.get("clientCommands")) or ():
        if name != COMMAND:
            logger.warning("clientCommands.%s is not used any more: name %s", name, COMMAND)
    severity = _option(options, "diagnostics.severity", "information", _SEVERITIES)
    return Settings(
        severity=_SEVERITIES[severity],
        intent=_option(options, "intent", INTENT, INTENTS),
        client_commands=_option(options, "clientCommands", dict[str, str]()),
        virtual_documents=_option(options, "virtualDocuments", False),
        standard_navigation=_option(options, "standardNavigation", False),
    )


def source_choices_of(options: object) -> SourceChoices:
    """Read the choices of sources in the same way: each field of `SourceSettings` is an option.

    ``true`` is a source's default, ``false`` is off. What is a list of patterns
    or names may also be one of these.

    >>> source_choices_of({"sources": {"git": ["agent/*"], "files": False}}).settings.git
    ('agent/*',)
    >>> source_choices_of({"origin": "head", "trusted": False}).trusted
    False
    """
    chosen: dict[str, Any] = {
        each.name: _option(options, f"sources.{each.name}", each.default)
        for each in fields(SourceSettings)
        if each.name != "origin"
    }
    for pattern in chosen["git"]:
        if pattern.startswith("kept/"):
            logger.warning("sources.git: nothing is kept any more; refs/excise/%s has it", pattern)
    origin = _option(options, "origin", SourceSettings().origin, CHOICES)
    is_untrusted = isinstance(options, dict) and options.get("trusted") is False
    return SourceChoices(
        settings=SourceSettings(origin, **chosen),
        buffer=_option(options, "sources.buffer", False),
        trusted=not is_untrusted,
    )


def _option(options: object, name: str, default: V, words: Collection[str] = ()) -> V:
    """Return an option of the type of its default.

    A text is one of the ``words``. Whatever else a client sends is logged without its value, which
    may be long.
    """
    given: Any = options
    for part in name.split("."):
        given = given.get(part) if isinstance(given, dict) else None
    taken: Any = None
    match default, given:
        case (_, None):
            return default
        case (bool(), bool()):
            taken = given
        case (str(), str()) if given in words:
            taken = given
        case (tuple(), bool()):
            taken = default if given else ()
        case (tuple(), [*items]) if all(isinstance(item, str) for item in items):
            taken = tuple(items)
        case (dict(), dict()):
            taken = {key: value for key, value in given.items() if isinstance(value, str)}
            for key in given.keys() - taken.keys():
                logger.warning("%s.%s must be a string", name, key)
    if taken is None:
        logger.warning("%s must be %s", name, _wanted(default, words))
    return default if taken is None else taken


def _wanted(default: object, words: Collection[str]) -> str:
    match default:
        case bool():
            return "true or false"
        case str():
            return f"one of {', '.join(words)}"
        case tuple():
            return "true, false or a list of strings"
    return "an object"


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
