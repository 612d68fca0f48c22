"""The command, in this process or in its own; tests never fake any part of it."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from excise_server.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "inventory"
ORIGIN = str(EXAMPLES / "inventory.py")
NAMES = ("ada", "bo", "chen", "dana", "eli")
SUGGESTIONS = [str(EXAMPLES / f"inventory.py.suggestion-{name}") for name in NAMES]


@dataclass(frozen=True)
class Ran:
    """What a run of the command left."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.split("\n") if line]


def excise(*arguments: str, stdin: bytes | str | dict = b"") -> Ran:
    """Run the command in this process, on streams of its own."""
    streams = _stream(_bytes(stdin)), _stream(), _stream()
    with (
        patch.object(sys, "stdin", streams[0]),
        patch.object(sys, "stdout", streams[1]),
        patch.object(sys, "stderr", streams[2]),
    ):
        code = main(arguments)
    return Ran(code, *(_written(stream) for stream in streams[1:]))


def ids_of(found: dict) -> list[str]:
    """Return the ids of the candidates of a review, in their order."""
    return [entry["id"] for entry in found["candidates"]]


def spawn(*arguments: str, stdin: bytes = b"", **options) -> subprocess.CompletedProcess[bytes]:
    """Run the command in its own process."""
    return subprocess.run(
        command_line(*arguments), input=stdin, capture_output=True, timeout=120, **options
    )


def command_line(*arguments: str) -> list[str]:
    """Return the command as its entry point runs it, by this interpreter."""
    code = "import sys; from excise_server.cli import main; sys.exit(main())"
    return [sys.executable, "-c", code, *arguments]


def plain_environment(**more: str) -> dict[str, str]:
    """Return the environment without what changes how things look."""
    looks = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "COLORTERM", "TTY_COMPATIBLE"}
    return {key: value for key, value in os.environ.items() if key not in looks} | more


def document(origin: str, language: str | None = None, **texts: str) -> dict:
    """Return the document that the commands read from standard input."""
    revisions = [{"id": name, "text": text} for name, text in texts.items()]
    return {"origin": origin, "language": language, "revisions": revisions}


def one_line(ran: Ran, *parts: str, code: int = 2) -> None:
    """Check that a refusal is one line on standard error with these parts, and nothing else."""
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.count("\n") == 1, ran.err
    assert ran.err.startswith("excise: ")
    for part in parts:
        assert part in ran.err


def _bytes(value: bytes | str | dict) -> bytes:
    if isinstance(value, dict):
        value = json.dumps(value)
    return value.encode() if isinstance(value, str) else value


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
