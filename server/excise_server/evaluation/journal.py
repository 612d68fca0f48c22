"""The journal of a run: values are written as they are computed, so that a killed run can go on.

Lines of JSON. ``{"excise-eval-journal": 1, "measures": {name: signature}}`` begins each run; every
other line holds the values of one output, ``{"k": key, "c": changed, "v": {name: value},
"s": {name: signature}}`` (``s``: only those that are not as in the line before).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import IO, Any

from excise_server.evaluation.scoring import OutputValues
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError

_MARK = "excise-eval-journal"
_VERSION = 1
_HINT = "name another file, or one that does not exist yet"


class Journal:
    """Values of earlier runs, by key, to which new ones are appended.

    Those of measures that have other signatures in this run are ignored.
    """

    def __init__(self, path: str, signatures: Mapping[str, str]) -> None:
        """Read the file, if there is one, or raise `SourceError` if it is not a journal."""
        self.known: dict[str, OutputValues] = {}
        self.outdated: set[str] = set()
        self._signatures = dict(signatures)
        self._last: dict[str, str] = {}
        try:
            whole = self._read(path)
            self._file: IO[str] = open(path, "a", encoding="ascii", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise file_error(path, error).named(path) from error
        if not whole:  # a kill cut the last line off, and the next one shall be complete
            self._file.write("\n")
        self._write({_MARK: _VERSION, "measures": self._signatures})

    def add(self, output: OutputValues) -> None:
        """Write the values of an output to the file, so that they survive a kill from now on."""
        changed = {n: s for n, s in output.signatures.items() if self._last.get(n) != s}
        self._last |= changed
        line: dict[str, Any] = {"k": output.key, "c": output.changed, "v": output.values}
        self._write(line | ({"s": changed} if changed else {}))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _read(self, path: str) -> bool:
        """Return whether the last line is whole."""
        if not os.path.exists(path):
            return True
        current: set[str] = set()
        line = b"\n"
        with open(path, "rb") as file:
            for number, line in enumerate(file):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    value = None  # the last line of a run that was killed
                is_object = isinstance(value, dict)
                if number == 0 and not (is_object and _MARK in value):
                    raise SourceError("no journal of excise eval", name=path, hint=_HINT)
                if is_object and _MARK in value:
                    current = self._begin(value, path)
                elif is_object:
                    self._take(value, current)
        return line.endswith(b"\n")

    def _begin(self, value: Mapping[str, Any], path: str) -> set[str]:
        """Return the measures of a run whose values can be used."""
        if value[_MARK] != _VERSION:
            raise SourceError(f"a journal of version {value[_MARK]}", name=path, hint=_HINT)
        self._last = {}
        known = {name for name in value.get("measures", {}) if name in self._signatures}
        current = {name for name in known if self._signatures[name] == value["measures"][name]}
        self.outdated |= known - current
        return current

    def _take(self, value: Mapping[str, Any], current: set[str]) -> None:
        try:
            self._last |= value.get("s", {})
            scored = self.known.setdefault(value["k"], OutputValues(value["k"]))
            scored.changed = value["c"]
            values = {name: float(value["v"][name]) for name in value["v"] if name in current}
        except (KeyError, TypeError, ValueError, AttributeError):
            return
        scored.values |= values
        scored.signatures |= {name: self._last.get(name, self._signatures[name]) for name in values}
