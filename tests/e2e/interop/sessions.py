"""What the three clients have in common: a workspace, the documented configuration, the checks.

An editor runs a script that drives its own client and writes down what its user would see. The
same session over plain JSON-RPC says what the server sent; both must agree.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.server.raw_client import RawClient

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
DOCUMENT = ROOT / "docs" / "editors.md"
EXAMPLE = ROOT / "examples" / "inventory"
MARK = "# Two customers can be promised"
"""Stands on the line where the five revisions differ; hovers and actions are asked for there."""

TIMEOUT = 240
"""Seconds after which an editor is given up; no test waits that long for a pass."""

CAPABILITIES = {
    "textDocument": {
        "hover": {"contentFormat": ["plaintext"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}
        },
    },
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}

Seen = dict[str, Any]


def documented(heading: str, language: str) -> str:
    """Return the first block of code in a language under a heading of docs/editors.md."""
    section = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    block = re.search(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert block, f"docs/editors.md has no {language} block under {heading}"
    return block[1]


@dataclass(frozen=True)
class Workspace:
    """A folder with a copy of the example, its revisions elsewhere, and what the server says."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Workspace:
        for name in ("project", "revisions", "home"):
            (folder / name).mkdir()
        work = cls(folder)
        work.file.write_bytes((EXAMPLE / "inventory.py").read_bytes())
        for path in EXAMPLE.glob("inventory.py.suggestion-*"):
            (folder / "revisions" / f"{path.name.rpartition('-')[2]}.py").write_bytes(
                path.read_bytes()
            )
        return work

    @property
    def file(self) -> Path:
        return self.folder / "project" / "inventory.py"

    @property
    def revisions(self) -> list[Path]:
        return sorted((self.folder / "revisions").iterdir())

    @property
    def line(self) -> int:
        """The line of MARK, counted from 0."""
        lines = self.file.read_text(encoding="utf-8").split("\n")
        return next(at for at, line in enumerate(lines) if MARK in line)

    def run(self, command: list[str], config: str) -> Seen:
        """Run an editor's script; return what it saw."""
        revisions, line = str(self.folder / "revisions" / "*.py"), str(self.line)
        return run(
            self.folder, self.file, command, config, EXCISE_REVISIONS=revisions, EXCISE_LINE=line
        )


def run(folder: Path, file: Path, command: list[str], config: str, **more: str) -> Seen:
    """Run an editor's script on a file of a workspace; return what it saw."""
    (folder / "config").write_text(config, encoding="utf-8")
    seen = folder / "seen.json"
    seen.unlink(missing_ok=True)
    python3(folder / "bin")
    environment = _environment(folder) | {
        "EXCISE_CONFIG": str(folder / "config"), "EXCISE_FILE": str(file), "EXCISE_SEEN": str(seen)
    }  # fmt: skip
    keyboard, keys = os.pipe()  # nobody types, and it does not end: Vim would
    try:
        found = subprocess.run(
            command,
            cwd=file.parent,
            env=environment | more,
            stdin=keyboard,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    finally:
        os.close(keyboard)
        os.close(keys)
    output = found.stdout.decode(errors="replace")
    if (why := seen.with_suffix(".why")).exists():  # Vim has no standard error to tell it on
        output += why.read_text(encoding="utf-8")
    assert seen.exists(), f"the editor ended with {found.returncode}:\n{output}"
    result = json.loads(seen.read_bytes())
    assert found.returncode == 0, (result, output)
    return result


def python3(folder: Path) -> None:
    """Have the documented configurations start the tests' interpreter as "python3"."""
    folder.mkdir(exist_ok=True)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)


def _environment(folder: Path) -> dict[str, str]:
    home = str(folder / "home")
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return (
        {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        | dict.fromkeys(names, home)
        | {
            "HOME": home,
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TERM": "dumb",
        }
    )


@dataclass(frozen=True)
class Expected:
    """What the server sends in such a session, and every text that an action may leave behind."""

    diagnostics: list[dict[str, Any]]
    offers_actions: bool
    texts: set[str]


def expected(work: Workspace) -> Expected:
    """Hold the session over plain JSON-RPC."""
    uri, text = work.file.as_uri(), work.file.read_text(encoding="utf-8")
    revisions = {path.name: path.read_text(encoding="utf-8") for path in work.revisions}
    with RawClient() as client:
        initialized = client.initialize(CAPABILITIES, rootUri=work.file.parent.as_uri())
        client.open(uri, text)
        assert client.add(uri, revisions)["accepted"] == list(revisions)
        diagnostics = client.diagnostics(uri)
        hunks = client.call("excise/report", {"uri": uri})["hunks"]
        client.exit()
    texts = set(revisions.values())
    for hunk in hunks:
        first, last = hunk["range"]["start"]["line"], hunk["range"]["end"]["line"]
        lines = [line + "\n" for line in text.split("\n")[:-1]]
        before, after = "".join(lines[:first]), "".join(lines[last:])
        texts |= {before + variant["text"] + after for variant in hunk["variants"]}
    return Expected(
        diagnostics, bool(initialized["capabilities"].get("codeActionProvider")), texts - {text}
    )


def check(seen: Seen, wanted: Expected, work: Workspace) -> None:
    """Compare what an editor's user sees with what the server sent."""
    assert seen["accepted"] == [path.name for path in work.revisions]
    assert len(seen["accepted"]) == 5
    assert {d["source"] for d in seen["diagnostics"]} == {"excise"}
    shown = sorted((d["line"], d["message"]) for d in seen["diagnostics"])
    sent = sorted((d["range"]["start"]["line"], d["message"]) for d in wanted.diagnostics)
    assert shown == sent
    assert any(line == work.line for line, _ in shown)
    assert "bo.py" in seen["hover"].replace("\\", "")  # Markdown's escapes, where they are kept
    check_action(seen, wanted, work)


def check_action(seen: Seen, wanted: Expected, work: Workspace) -> None:
    """One action was applied, and left a revision or one variant of it in the buffer."""
    assert wanted.offers_actions
    assert seen["offersActions"]
    assert seen["action"], "the editor was offered no action"
    assert seen["text"] != work.file.read_text(encoding="utf-8")
    assert seen["text"] in wanted.texts, seen["action"]


def missing(client: str, install: str) -> pytest.MarkDecorator:
    """Skip a test by the name of the client that it needs."""
    return pytest.mark.skip(reason=f"{client} is not installed; {install}")
