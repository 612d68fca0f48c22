"""Clients that know only the standard protocol: a whole review by what the server offers them.

The client has the capabilities that Helix announces. The same workload is run by Neovim and by
Emacs in tests/e2e/interop.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.e2e.interop.workload import LINE, ORIGIN, Workload, changed
from tests.server.git_repository import needs_git
from tests.server.raw_client import Message, RawClient

pytestmark = [needs_git, pytest.mark.slow]

HELIX: Message = {
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {
                "codeActionKind": {"valueSet": ["", "quickfix", "source"]}
            },
            "dataSupport": True,
            "disabledSupport": True,
            "isPreferredSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2]}, "versionSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "executeCommand": {"dynamicRegistration": False},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "abort",
        },
        "workspaceFolders": True,
    },
}


class Standard:
    """A user of a client without a line of code for this server."""

    def __init__(self, work: Workload, capabilities: Message = HELIX) -> None:
        self.work, self.client = work, RawClient()
        folders = [{"uri": work.repo.path.as_uri(), "name": "project"}]
        self.capabilities = self.client.initialize(
            capabilities,
            workspaceFolders=folders,
            initializationOptions={"standardNavigation": True},
        )
        self.version = 0
        self.shown: list[str] = []
        self.edits: list[Message] = []

    def call(self, method: str, params: Message) -> Any:
        """Send a request, and answer what the server asks meanwhile, as Helix does."""
        asked = self.client.request(method, params)
        while True:
            message = self.client.wait(lambda m: "id" in m)
            if "method" not in message:
                assert message["id"] == asked
                assert "error" not in message, message
                return message["result"]
            self.answer(message)

    def answer(self, message: Message) -> None:
        result: Any = None
        if message["method"] == "workspace/configuration":
            result = [None] * len(message["params"]["items"])
        elif message["method"] == "window/showDocument":
            self.shown.append(message["params"]["uri"])
            result = {"success": True}
        elif message["method"] == "workspace/applyEdit":
            self.edits.append(message["params"]["edit"])
            result = {"applied": True}
        self.client.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def open(self) -> None:
        self.version += 1
        self.client.open(self.work.uri, self.work.file.read_text(), self.version)
        self.call("excise/review", {"uri": self.work.uri})  # waits; nothing of it is used

    def actions(self, line: int, *only: str) -> list[Message]:
        at = {"line": line, "character": 0}
        context: Message = {"diagnostics": [], "triggerKind": 1}
        if only:
            context["only"] = list(only)
        params = {"textDocument": {"uri": self.work.uri}, "context": context}
        return self.call("textDocument/codeAction", params | {"range": {"start": at, "end": at}})

    def choose(self, title: str, line: int = 0, *only: str) -> Message:
        """Do as a user does who picks a title in the menu; return the edit, if it has one."""
        actions = self.actions(line, *only)
        [action] = [a for a in actions if a["title"].startswith(title)]
        if "command" in action:
            run = {key: action["command"][key] for key in ("command", "arguments")}
            assert self.call("workspace/executeCommand", run) is None, "it must not end in JSON"
            return {}
        assert "edit" not in action, "it is resolved lazily"
        return self.call("codeAction/resolve", action)["edit"]

    def page(self) -> str:
        """The text of the document that was shown last."""
        return Path(unquote(urlsplit(self.shown[-1]).path)).read_text()


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standard]:
    folder = tmp_path_factory.mktemp("standard")
    user = Standard(Workload.make(folder))
    with user.client:
        user.open()
        yield user
        assert user.client.exit() == 0
        assert not any("Traceback" in line for line in user.client.log)


def changes(edit: Message) -> dict[str, list[str]]:
    """What is done to each file, by its name."""
    done: dict[str, list[str]] = {}
    for change in edit["documentChanges"]:
        uri = change.get("uri") or change["textDocument"]["uri"]
        texts = [e["newText"] for e in change.get("edits", [])]
        done.setdefault(uri.rpartition("/")[2], []).extend(texts or [change.get("kind", "")])
    return done


def test_the_candidates_are_listed_on_a_page(standard: Standard):
    standard.choose("Compare the candidates of this repository")
    page = standard.page()
    assert page.startswith("# 3 candidates, 2 tasks, 3 groups")
    for name in ("ada", "bo", "chen"):
        assert name in page
    assert "deletes old\\.py, adds new\\.py" in page, page


def test_two_variants_are_looked_at(standard: Standard):
    for name in ("ada", "bo"):
        standard.choose(f"Show this file as {name} has it")
        assert standard.page() == changed(name)
    standard.choose("Show the hunks of this file side by side")
    page = standard.page()
    assert "## Hunk 1: line 13, undecided" in page
    first, second = page.split("## Hunk ")[1:3]
    assert "both" not in first
    assert first.index("return x + 2") < first.index("return x - 2")
    assert "**bo, chen** (2 of 3)" in second


def test_hunks_are_symbols_and_lead_to_each_candidate_s_own_file(standard: Standard):
    document = {"textDocument": {"uri": standard.work.uri}}
    hunks = standard.call("textDocument/documentSymbol", document)
    assert [h["location"]["range"]["start"]["line"] for h in hunks] == [LINE, LINE + 16]
    assert [h["name"].partition(",")[0] for h in hunks][1] == "2 of 3 make this change"
    at = {"position": {"line": LINE, "character": 0}}
    for place in standard.call("textDocument/implementation", document | at):
        path = Path(unquote(urlsplit(place["uri"]).path))
        line = path.read_text().split("\n")[place["range"]["start"]["line"]]
        assert (path.parent.name, line) in [("ada", "    return x - 2"), ("bo", "    return 2 * x")]
    everyone = standard.call("workspace/symbol", {"query": ""})
    assert sorted(symbol["name"] for symbol in everyone) == ["ada", "bo", "chen"]
    [ada] = standard.call("workspace/symbol", {"query": "ADA"})
    assert ada["location"]["range"]["start"]["line"] == LINE


def test_one_hunk_is_taken(standard: Standard):
    edit = standard.choose("Take the lines of ada here", LINE)
    [change] = edit["documentChanges"]
    assert change["textDocument"] == {"uri": standard.work.uri, "version": standard.version}
    assert [e["newText"] for e in change["edits"]] == ["    return x - 2\n"]
    assert not [a for a in standard.actions(LINE + 3) if "here" in a["title"]]


def test_a_whole_file_and_a_whole_candidate_are_taken(standard: Standard):
    edit = standard.choose("Take this file from bo")
    assert changes(edit) == {"a.py": ["    return 2 * x\n", "    return 6 * x\n"]}
    standard.choose("Take all files from ada")
    assert changes(standard.edits[-1]) == {
        "a.py": ["    return x - 2\n"],
        "new.py": ["create", "NEW = 1\n"],
        "old.py": ["delete"],
    }


def test_after_undo_everything_is_offered_again(standard: Standard):
    user = standard
    user.version += 1
    user.client.change(user.work.uri, user.version, {"text": changed("ada", ORIGIN)})
    assert not [a for a in user.actions(LINE) if a["title"].startswith("Take the lines of ada")]
    user.version += 1
    user.client.change(user.work.uri, user.version, {"text": ORIGIN})
    assert [a for a in user.actions(LINE) if a["title"].startswith("Take the lines of ada")]
