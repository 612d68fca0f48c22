"""A real server process that shows one case after the other to a client, as an editor would."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import category
from urllib.parse import quote

from tests.server import editor_view as view
from tests.server.editor_case import HIDDEN, Case, Expectation
from tests.server.markdown import ACTIVE, kinds, parsed
from tests.server.raw_client import Message, RawClient

from excise.text import normalise
from excise_server.lsp.actions import MORE_TITLE

ENCODINGS = {"rich": "utf-16", "plain": "utf-8"}

CAPABILITIES: dict[str, Message] = {
    # As VS Code: Markdown, edits with labels, actions that can be disabled.
    "rich": {
        "textDocument": {
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                "disabledSupport": True,
            },
        },
        "workspace": {
            "applyEdit": True,
            "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}},
        },
    },
    # As a small client: plain text first, commands for actions, other units. It follows links, too.
    "plain": {
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {
            "hover": {"contentFormat": ["plaintext", "markdown"]},
            "publishDiagnostics": {"relatedInformation": True},
        },
        "workspace": {"applyEdit": True},
    },
}

# Nothing of a workspace is run; the client opens texts that stand in no file.
OPTIONS = {"trusted": False, "virtualDocuments": True}
OWN_COMMANDS = {"excise.show": "excise.show"}
"""Those of the rich client, as VS Code has its own."""

SHOWING = ("excise.show", "excise.take", "excise.startAgain")


class EditorSession:
    """A server and its client; documents do not mix, so a session serves many cases."""

    def __init__(self, kind: str, workspace: Path) -> None:
        self._kind, self._workspace = kind, workspace
        self._settings: dict[str, Any] = {}
        self.client = RawClient()
        self.client.initialize(
            CAPABILITIES[kind],
            workspaceFolders=[{"uri": workspace.as_uri(), "name": "workspace"}],
            initializationOptions=OPTIONS
            | ({"clientCommands": OWN_COMMANDS} if kind == "rich" else {}),
        )

    def end(self) -> None:
        """End the server, which must end well."""
        with self.client:
            assert self.client.exit() == 0
            self._check_quiet()

    def results(self, case: Case) -> dict[str, str]:
        """Return what the client is told of a case, by the name of the expectation."""
        seen = len(self.client.received)
        self._choose(case.settings)
        uri = self._opened(case)
        page = view.Page(case.shown, ENCODINGS[self._kind], uri.rpartition("/")[0])
        rejected = self._add(uri, case)
        if case.buffer is not None:
            self.client.change(uri, 2, {"text": case.buffer})
        shown = _Shown(self.client, case, uri, page, rejected, seen)
        results = {wanted.name: shown.result(wanted) for wanted in case.expectations}
        assert rejected == [] or "rejected" in results, f"not taken, and not expected: {rejected}"
        self.client.call("excise/removeCandidates", {"uri": uri, "ids": list(case.candidates)})
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self._check_quiet(seen)
        return results

    def _check_quiet(self, seen: int = 0) -> None:
        """Nothing was logged, and no message put before the user."""
        popups = [m for m in self.client.received[seen:] if "window/show" in m.get("method", "")]
        assert popups == [], popups
        assert self.client.log == [], "".join(self.client.log)

    def _choose(self, settings: dict[str, Any]) -> None:
        """Tell the settings of a case, where they are others than those of the last."""
        if settings == self._settings:
            return
        section: Message = {}
        for name, value in settings.items():
            *groups, last = name.split(".")
            inner = section
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[last] = value
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"excise": section}})
        self._settings = settings

    def _opened(self, case: Case) -> str:
        """Open the document; return its URI."""
        uri = f"file:///nowhere/{case.name}/{quote(case.document)}"
        if case.saved:
            folder = self._workspace / case.name
            folder.mkdir(exist_ok=True)
            for name, text in {case.document: case.text, **case.beside}.items():
                (folder / name).write_bytes(text.encode())
            uri = (folder / case.document).as_uri()
        self.client.open(uri, case.text, language=case.language)
        return uri

    def _add(self, uri: str, case: Case) -> list[Message]:
        if not case.candidates:
            return []
        records = [
            {"id": name, "text": text, "label": case.labels.get(name, "")}
            for name, text in case.candidates.items()
        ]
        params = {"uri": uri, "revisions": records}
        return self.client.call("excise/addRevisions", params)["rejected"]


class _Shown:
    """What a server tells of one document, once it has seen the newest version."""

    def __init__(
        self,
        client: RawClient,
        case: Case,
        uri: str,
        page: view.Page,
        rejected: list[Message],
        seen: int,
    ) -> None:
        self._client, self._case, self._uri, self._page = client, case, uri, page
        self._rejected = rejected
        self._report = client.call("excise/report", {"uri": uri})  # waits for the newest version
        self._version = 1 if case.buffer is None else 2
        assert self._report["version"] == self._version, self._report["version"]
        self._published = [
            m["params"]
            for m in client.received[seen:]
            if m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
        ]

    def result(self, wanted: Expectation) -> str:
        """Return one thing that is told."""
        tell: Callable[..., str] = getattr(self, wanted.kind)
        return tell(*(wanted.position or ()))

    def rejected(self) -> str:
        return view.rejected(self._page, self._rejected)

    def diagnostics(self) -> str:
        found: list[Message] = []
        if self._published:
            version = self._published[-1]["version"]
            assert version == self._version, f"diagnostics of version {version} came last"
            found = self._published[-1]["diagnostics"]
        for diagnostic in found:
            printable(diagnostic["message"])
        return view.diagnostics(self._page, found)

    def lenses(self) -> str:
        found = self._ask("textDocument/codeLens")
        for lens in found or ():
            printable(lens["command"]["title"])
        return view.lenses(self._page, found)

    def report(self) -> str:
        return view.report(self._page, self._report)

    def hover(self, line: int, column: int) -> str:
        position = {"line": line, "character": column}
        self._page.offset(position)
        found = self._ask("textDocument/hover", position=position)
        if found is not None:
            printable(found["contents"]["value"])
            if found["contents"]["kind"] == "markdown":
                inert(found["contents"]["value"])
        return view.hover(self._page, found)

    def actions(self, line: int, column: int) -> str:
        position = {"line": line, "character": column}
        self._page.offset(position)
        found = self._ask(
            "textDocument/codeAction",
            range={"start": position, "end": position},
            context={"diagnostics": []},
        )
        return "\n\n".join("\n".join(self._action(action)) for action in found or ())

    def _ask(self, method: str, **more: object) -> Any:
        return self._client.call(method, {"textDocument": {"uri": self._uri}} | more)

    def _action(self, action: Message) -> Iterator[str]:
        """Tell what an action is called and what it does to the text."""
        printable(action["title"])
        kind = action.get("kind") or action["command"]
        yield f"{kind}: {view.visible(action['title'])}"
        if "disabled" in action:
            assert "edit" not in action, "a disabled action must do nothing"
            yield f"  disabled: {view.visible(action['disabled']['reason'])}"
            return
        assert "isPreferred" not in action, "the order is advice, not a promise"
        if kind in SHOWING or action["title"] == MORE_TITLE:
            return  # it shows a page, or changes what is compared: test_lsp_clients.py
        if action["title"].endswith(" (blocked: show why)"):
            yield f"  refused: {view.visible(self._refusal(action))}"
            return
        edits = self._edits(action)
        for edit in edits:
            yield from self._page.replaced(edit)
        (argument,) = action.get("arguments") or [{}]
        whole = kind == "refactor.rewrite.excise.candidate" or argument.get("id")
        if whole and self._case.buffer is None and self._case.candidates:
            texts = map(normalise, self._case.candidates.values())
            assert normalise(self._page.edited(edits)) in texts, "no candidate says this"

    def _edits(self, action: Message) -> list[Message]:
        """Return the edits of an action, or those that its command makes the client do."""
        if "edit" in action:
            return self._annotated(action["edit"], action["title"])
        return self._commanded(action["command"] if "kind" in action else action)

    def _annotated(self, edit: Message, title: str) -> list[Message]:
        """Return the edits of the document, which are versioned and say what they are of."""
        [document] = edit["documentChanges"]
        edited = {"uri": self._uri, "version": self._version}
        assert document["textDocument"] == edited, document["textDocument"]
        for change in document["edits"]:
            label = edit["changeAnnotations"][change["annotationId"]]["label"]
            assert label == title, label
        return document["edits"]

    def _refusal(self, command: Message) -> str:
        params = {"command": command["command"], "arguments": command["arguments"]}
        return self._client.refused("workspace/executeCommand", params)["message"]

    def _commanded(self, command: Message) -> list[Message]:
        params = {"command": command["command"], "arguments": command["arguments"]}
        done, result = self._client.edited("workspace/executeCommand", params)
        assert result["applied"], result
        assert done["label"] == command["title"], done["label"]
        if "documentChanges" in done["edit"]:
            return self._annotated(done["edit"], done["label"])
        [(uri, edits)] = done["edit"]["changes"].items()
        assert uri == self._uri, uri
        return edits


# --- what holds whatever an archive expects ---


def printable(text: str) -> None:
    """A text of ours obeys no terminal and fools no eye."""
    hidden = [c for c in text if category(c) in HIDDEN and c not in "\n\t"]
    assert hidden == [], f"{hidden!r} in {text!r}"


def inert(markdown: str) -> None:
    """Markdown of ours is text, tables and code."""
    assert not kinds(markdown) & ACTIVE, kinds(markdown) & ACTIVE
    for token in parsed(markdown):
        if token.type == "inline":
            active = re.search(r"\w:[^\s:\\]|(?<!\\)[\[<]", token.content)
            assert not active, f"a link in the making: {token.content}"
        if token.type == "fence" and token.map is not None:
            start, end = token.map
            assert end - start == token.content.count("\n") + 2, "a fence that is never closed"
