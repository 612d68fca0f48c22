"""Clients that pull diagnostics, and what they are told to ask for again."""

from pathlib import Path

import pytest
from tests.server.edited_worktrees import edited_worktrees
from tests.server.git_repository import needs_git
from tests.server.raw_client import Message, RawClient

pytestmark = pytest.mark.slow

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
B = ORIGIN.replace("a * 2", "a * 3")
PULLS = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
URI = "file:///nowhere/app.py"


def pull(client: RawClient, uri: str = URI, before: str | None = None) -> Message:
    params = {"textDocument": {"uri": uri}, "previousResultId": before}
    return client.call("textDocument/diagnostic", params)


def asked(client: RawClient, method: str) -> Message:
    """Wait for a request of the server, and answer it."""
    message = client.wait(lambda m: m.get("method") == method)
    client.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
    return message


def test_who_pulls_is_not_pushed():
    with RawClient() as client:
        result = client.initialize(PULLS)
        assert result["capabilities"]["diagnosticProvider"]["identifier"] == "excise"
        client.open(URI, ORIGIN)
        assert pull(client) == {"kind": "full", "items": []}
        client.add(URI, {"a": A, "b": B})
        asked(client, "workspace/diagnostic/refresh")
        full = pull(client)
        assert full["kind"] == "full"
        assert [d["code"] for d in full["items"]] == ["ranking", "hunk", "hunk"]
        again = pull(client, before=full["resultId"])
        assert again == {"kind": "unchanged", "resultId": full["resultId"]}
        client.change(URI, 2, {"text": "\n" + ORIGIN})
        moved = pull(client, before=full["resultId"])
        assert [d["range"]["start"]["line"] for d in moved["items"]] == [0, 2, 7]
        client.call("excise/removeCandidates", {"uri": URI, "ids": ["a", "b"]})
        asked(client, "workspace/diagnostic/refresh")
        assert pull(client)["items"] == []
        assert client.exit() == 0
        methods = {m.get("method") for m in client.received}
        assert "textDocument/publishDiagnostics" not in methods


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"textDocument": {"diagnostic": {}}},
        {"workspace": {"diagnostics": {"refreshSupport": True}}},
    ],
)
def test_who_cannot_be_told_to_ask_again_is_pushed(capabilities: Message):
    with RawClient() as client:
        result = client.initialize(capabilities)
        assert "diagnosticProvider" not in result["capabilities"]
        client.open(URI, ORIGIN)
        client.add(URI, {"a": A, "b": B})
        assert len(client.diagnostics(URI, 1)) == 3
        assert client.refused("textDocument/diagnostic", {})["code"] == -32601


def test_an_unknown_document_has_none():
    with RawClient() as client:
        client.initialize(PULLS)
        assert pull(client, "untitled:never-opened") == {"kind": "full", "items": []}
        assert client.refused("textDocument/diagnostic", {"x": 1})["code"] == -32602


def test_the_first_pull_waits_for_what_the_sources_find(tmp_path: Path):
    file = tmp_path / "app.py"
    file.write_text(ORIGIN)
    (tmp_path / "app.py.suggestion-1").write_text(A)
    with RawClient() as client:
        folders = [{"uri": tmp_path.as_uri(), "name": "w"}]
        client.initialize(PULLS, workspaceFolders=folders)
        client.open(file.as_uri(), ORIGIN)
        assert [d["code"] for d in pull(client, file.as_uri())["items"]] == ["ranking", "hunk"]


def test_lenses_and_texts_are_refreshed():
    capabilities = {
        "workspace": {"codeLens": {"refreshSupport": True}, "textDocumentContent": {}},
    }
    with RawClient() as client:
        client.initialize(capabilities)
        client.open(URI, ORIGIN)
        client.add(URI, {"a": A})
        asked(client, "workspace/codeLens/refresh")
        [candidate] = client.call("excise/review", {"uri": URI})["candidates"]
        texts = {"uri": candidate["uri"]}
        assert client.call("workspace/textDocumentContent", texts) == {"text": A}
        client.add(URI, {"a": B})
        refreshed = asked(client, "workspace/textDocumentContent/refresh")
        assert refreshed["params"] == texts
        assert client.call("workspace/textDocumentContent", texts) == {"text": B}


def test_a_client_that_refuses_to_refresh_is_left_alone():
    capabilities = {"workspace": {"codeLens": {"refreshSupport": True}}}
    with RawClient() as client:
        client.initialize(capabilities)
        client.open(URI, ORIGIN)
        client.add(URI, {"a": A})
        message = client.wait(lambda m: m.get("method") == "workspace/codeLens/refresh")
        error = {"code": -32601, "message": "no"}
        client.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        assert len(client.call("excise/report", {"uri": URI})["revisions"]) == 1
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


def test_the_report_is_told_of_without_diagnostics():
    with RawClient() as client:
        client.initialize(initializationOptions={"diagnostics": {"severity": "off"}})
        client.open(URI, ORIGIN)

        def told(message: Message) -> bool:
            return message.get("method") == "excise/didChangeReport"

        client.add(URI, {"a": A})
        assert client.wait(told)["params"] == {"uri": URI, "version": 1}
        client.call("excise/removeCandidates", {"uri": URI, "ids": ["a"]})
        assert client.wait(told)["params"] == {"uri": URI, "version": 1}
        client.add(URI, {"a": A})
        client.wait(told)
        assert client.exit() == 0
        methods = {m.get("method") for m in client.received}
        assert "textDocument/publishDiagnostics" not in methods


# --- where the variants stand ---

RELATED = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}


def test_a_place_links_to_files_that_have_its_variants(tmp_path: Path):
    file, other = tmp_path / "app.py", tmp_path / "app.py.suggestion-1"
    file.write_text(ORIGIN)
    other.write_text("import os\n" + A)
    with RawClient() as client:
        folders = [{"uri": tmp_path.as_uri(), "name": "w"}]
        client.initialize(RELATED, workspaceFolders=folders)
        client.open(file.as_uri(), ORIGIN)
        _, first, second = client.diagnostics(file.as_uri())
        [link] = second["relatedInformation"]
        assert link["location"]["uri"] == other.as_uri()
        assert link["location"]["range"]["start"] == {"line": 2, "character": 0}
        assert link["location"]["range"]["end"] == {"line": 3, "character": 0}
        assert first["relatedInformation"][0]["location"]["range"]["end"]["line"] == 1
        report = client.call("excise/report", {"uri": file.as_uri()})
        assert [r["file"] for r in report["revisions"]] == [other.as_uri()]


@needs_git
def test_in_a_worktree_that_drifted_links_name_the_lines_of_its_own_file(tmp_path, monkeypatch):
    """The candidate is replayed on today's origin; its file is still that of long ago."""
    names = [f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8)]
    start = "".join(names)
    repo = edited_worktrees(tmp_path, monkeypatch, {"ada": ("x + 5", "x - 5")}, a__py=start)
    today = "import os\n\n\n" + start.replace("x + 1\n", "x + 1  # one\n    # two\n")
    repo.commit(a__py=today)
    wanted = (tmp_path / "ada/a.py").read_text().split("\n").index("    return x - 5")
    uri = (repo.path / "a.py").as_uri()
    with RawClient() as client:
        client.initialize(
            RELATED,
            workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}],
            initializationOptions={"standardNavigation": True},
        )
        client.open(uri, today)
        _, hunk = client.diagnostics(uri)
        line = hunk["range"]["start"]["line"]
        assert line == wanted + 4
        [link] = hunk["relatedInformation"]
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}
        [place] = client.call("textDocument/implementation", at)
        for location in (link["location"], place):
            assert location["uri"] == (tmp_path / "ada/a.py").as_uri()
            assert location["range"]["start"] == {"line": wanted, "character": 0}


@pytest.mark.parametrize("opens", [True, False])
def test_a_place_links_to_virtual_documents_only_where_they_can_be_opened(opens: bool):
    with RawClient() as client:
        client.initialize(RELATED, initializationOptions={"virtualDocuments": opens})
        client.open(URI, ORIGIN)
        client.add(URI, {"a": A, "b": A, "c": ORIGIN})
        _, place = client.diagnostics(URI)
        if not opens:
            assert "relatedInformation" not in place
            return
        [link] = place["relatedInformation"]
        assert link["location"]["uri"].startswith("excise-revision:/a/app.py?")


# --- nothing to show, at once ---


def test_a_look_at_a_document_without_revisions_does_not_wait_for_the_worker():
    with RawClient() as client:
        # A parser that takes long keeps the worker busy; the other document has no revisions.
        client.initialize()
        slow = "".join(f"def f{n}(a):\n    return [x < {n} for x in a]\n" for n in range(1500))
        client.open("file:///nowhere/slow.svelte", slow, language="svelte")
        client.add("file:///nowhere/slow.svelte", {"a": slow.replace("< 7 ", "> 7 ")})
        busy = client.request("excise/report", {"uri": "file:///nowhere/slow.svelte"})
        client.open(URI, ORIGIN)
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        assert client.call("textDocument/hover", where) is None
        assert client.call("textDocument/codeLens", {"textDocument": {"uri": URI}}) is None
        answered = [m.get("id") for m in client.received if "method" not in m]
        assert busy not in answered
        client.notify("$/cancelRequest", {"id": busy})
        assert client.answer(busy)["error"]["code"] == -32800


def test_a_changed_severity_is_asked_for_again():
    capabilities = PULLS | {"workspace": PULLS["workspace"] | {"configuration": False}}
    with RawClient() as client:
        client.initialize(capabilities)
        client.open(URI, ORIGIN)
        client.add(URI, {"a": A, "b": B})
        asked(client, "workspace/diagnostic/refresh")
        assert {d["severity"] for d in pull(client)["items"]} == {3}
        settings = {"excise": {"diagnostics": {"severity": "warning"}}}
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        asked(client, "workspace/diagnostic/refresh")
        assert {d["severity"] for d in pull(client)["items"]} == {2}
