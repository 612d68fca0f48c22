"""What a client may choose when it starts the server (initializationOptions)."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from lsprotocol import types as t

__all__ = ["Settings", "settings_of"]

logger = logging.getLogger(__name__)

_SEVERITIES = {
    "error": t.DiagnosticSeverity.Error,
    "warning": t.DiagnosticSeverity.Warning,
    "information": t.DiagnosticSeverity.Information,
    "hint": t.DiagnosticSeverity.Hint,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices, with their defaults."""

    severity: t.DiagnosticSeverity = t.DiagnosticSeverity.Information


def settings_of(options: object) -> Settings:
    """Read ``{"diagnostics": {"severity": "hint"}}``; what is not understood is logged and left.

    >>> settings_of({"diagnostics": {"severity": "hint"}}).severity.name
    'Hint'
    >>> settings_of(None).severity.name
    'Information'
    """
    diagnostics = options.get("diagnostics") if isinstance(options, dict) else None
    severity = diagnostics.get("severity") if isinstance(diagnostics, dict) else None
    if severity is None:
        return Settings()
    found = _SEVERITIES.get(severity) if isinstance(severity, str) else None
    if found is None:
        logger.warning("diagnostics.severity must be one of %s", ", ".join(_SEVERITIES))
        return Settings()
    return Settings(severity=found)
