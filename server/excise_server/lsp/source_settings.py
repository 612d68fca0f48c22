"""The sources that a client switches on, its origin, and whether the workspace is trusted."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from excise_server.sources.finding import CHOICES, OriginChoice, SourceSettings

__all__ = ["SourceChoices", "source_choices_of"]

logger = logging.getLogger(__name__)

_DEFAULTS = SourceSettings()

ALL_REQUESTS = ("pull/*", "merge-requests/*")
"""The meaning of ``true`` for requests, which are off by default."""


@dataclass(frozen=True, slots=True)
class SourceChoices:
    """The sources to ask, and under which conditions.

    Attributes
    ----------
    settings : SourceSettings
        The settings of the sources themselves.
    buffer : bool
        Whether the editor's text is another revision, and not only the result of the review.
    trusted : bool
        Whether git may be started.
    """

    settings: SourceSettings = field(default_factory=SourceSettings)
    buffer: bool = False
    trusted: bool = True


def source_choices_of(options: object) -> SourceChoices:
    """Read the choices. An invalid one is logged and keeps its default.

    ``true`` is a source's default (for requests: all), ``false`` is off. ``branches``, ``remotes``,
    ``requests`` and ``files`` also take a list of patterns, ``patches`` and ``runs`` one of names.

    >>> source_choices_of({"sources": {"branches": ["agent/*"], "files": False}}).settings.branches
    ('agent/*',)
    >>> source_choices_of({"origin": "head", "trusted": False}).trusted
    False
    """
    if not isinstance(options, dict):
        return SourceChoices()
    value = options.get("sources")
    sources: dict[str, Any] = value if isinstance(value, dict) else {}
    settings = SourceSettings(
        origin=_origin(options.get("origin")),
        worktrees=_switch(sources, "worktrees", _DEFAULTS.worktrees),
        branches=_patterns(sources, "branches", _DEFAULTS.branches),
        remotes=_patterns(sources, "remotes", _DEFAULTS.remotes),
        requests=_patterns(sources, "requests", _DEFAULTS.requests, all_of_them=ALL_REQUESTS),
        conflicts=_switch(sources, "conflicts", _DEFAULTS.conflicts),
        files=_patterns(sources, "files", _DEFAULTS.files),
        patches=_patterns(sources, "patches", _DEFAULTS.patches),
        runs=_patterns(sources, "runs", _DEFAULTS.runs),
    )
    return SourceChoices(
        settings, _switch(sources, "buffer", False), options.get("trusted") is not False
    )


def _origin(value: object) -> OriginChoice:
    for choice in CHOICES:
        if value == choice:
            return choice
    if value == "mergeBase":
        logger.warning(
            "origin: mergeBase is gone; each candidate is compared by its own edits since its own "
            "base, and the saved file is the origin"
        )
    elif value is not None:
        logger.warning("origin must be one of %s", ", ".join(CHOICES))
    return _DEFAULTS.origin


def _switch(sources: dict[str, Any], name: str, default: bool) -> bool:
    value = sources.get(name)
    if value is not None and not isinstance(value, bool):
        logger.warning("sources.%s must be true or false", name)
    return value if isinstance(value, bool) else default


def _patterns(
    sources: dict[str, Any],
    name: str,
    default: tuple[str, ...],
    all_of_them: tuple[str, ...] = (),
) -> tuple[str, ...]:
    match sources.get(name):
        case None:
            return default
        case True:
            return all_of_them or default
        case False:
            return ()
        case [*items] if all(isinstance(item, str) for item in items):
            return tuple(items)
    logger.warning("sources.%s must be true, false or a list of strings", name)
    return default
