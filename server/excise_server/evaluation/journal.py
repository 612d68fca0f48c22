"""The journal of a run: values are written as they are computed, so that a killed run can go on.

Lines of JSON. ``{"excise-eval-journal": 1, "measures": {name: signature}}`` begins each run; every
other line holds the values of one output, ``{"k": key, "c": changed, "v": {name: value},
"s": {name: signature}}`` (``s``: only those that are not as in the line before).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from excise_server.evaluation.scoring import Scored
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError

__all__ = ["Journal"]

_MARK = "excise-eval-journal"
_VERSION = 1
_REFUSED = "no journal of excise eval"
_HINT = "name another file, or one that does not exist yet"


class Journal:
    """Values of earlier runs, by key, to which new ones are appended.

    Parameters
    ----------
    path
        The file, which need not exist.
    signatures
        The signatures of the measures of this run. Values under other signatures are ignored.
    """

    def __init__(self, path: str, signatures: Mapping[str, str]) -> None:
        """Read the file, or refuse it if it is not a journal.

        Raises
        ------
        SourceError
            If the file cannot be read or written, or is not a journal.
        """
        self.known: dict[str, Scored] = {}
        self.outdated: set[str] = set()
        self._signatures = dict(signatures)
        self._last: dict[str, str] = {}
        try:
            self._read(Path(path))
            self._file: IO[str] = open(path, "a", encoding="ascii", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise file_error(path, error).named(path) from error
        self._write({_MARK: _VERSION, "measures": self._signatures})

    def add(self, scored: Iterable[Scored]) -> None:
        """Write values to the file, so that they survive a kill from now on."""
        for output in scored:
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

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        current: set[str] = set()
        with open(path, "rb") as file:
            for number, line in enumerate(file):
                value = _parsed(line)
                if number == 0 and (value is None or _MARK not in value):
                    raise SourceError(_REFUSED, name=str(path), hint=_HINT)
                if value is None:
                    continue  # the last line of a run that was killed
                if _MARK in value:
                    current = self._begin(value, path)
                else:
                    self._take(value, current)
        self._end_line(path)

    def _begin(self, value: Mapping[str, Any], path: Path) -> set[str]:
        if value[_MARK] != _VERSION:
            raise SourceError(f"a journal of version {value[_MARK]}", name=str(path), hint=_HINT)
        self._last = {}
        signatures = value.get("measures", {})
        current = {
            name for name, signed in signatures.items() if self._signatures.get(name) == signed
        }
        self.outdated |= {name for name in signatures if name in self._signatures} - current
        return current

    def _take(self, value: Mapping[str, Any], current: set[str]) -> None:
        try:
            self._last |= value.get("s", {})
            scored = self.known.setdefault(value["k"], Scored(value["k"]))
            scored.changed = value["c"]
            current_values = {
                name: float(number) for name, number in value["v"].items() if name in current
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            return
        scored.values |= current_values
        scored.signatures |= {
            name: self._last.get(name, self._signatures[name]) for name in current_values
        }

    @staticmethod
    def _end_line(path: Path) -> None:
        """End a line that a kill cut off, so that the next line is complete."""
        with open(path, "rb+") as file:
            file.seek(0, 2)
            if not file.tell():
                return
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
