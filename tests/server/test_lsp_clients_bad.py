"""What goes wrong in a review by standard requests: each says why, and nothing is lost."""

import shutil
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.e2e.interop.workload import LINE, ORIGIN, Workload, changed
from tests.server.git_repository import needs_git
from tests.server.raw_client import Message
from tests.server.test_lsp_clients import HELIX, Standard

from excise_server.lsp.client import file_name

pytestmark = [needs_git, pytest.mark.slow]

REQUEST_FAILED, INVALID_PARAMS = -32803, -32602
HOSTILE = "\x1b[31mred\u202eder\u200b](command:x) ../../etc/passwd"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standard]:
    made = Standard(Workload.make(tmp_path_factory.mktemp("bad")))
    with made.client:
        made.open()
        yield made
        assert made.client.exit() == 0
        assert not any("Traceback" in line for line in made.client.log), "\n".join(made.client.log)


def command(title: str, uri: str, **more: Any) -> Message:
    return {"command": f"excise.{title}", "arguments": [{"uri": uri, **more}]}


def taking(uri: str, name: str) -> Message:
    return command("take", uri, choices=[{"candidate": name}], apply=True)


def refusal(user: Standard, run: Message) -> str:
    error = user.client.refused("workspace/executeCommand", run)
    assert error["code"] == REQUEST_FAILED, error
    return error["message"]


def opened(user: Standard, uri: str, origin: str, texts: dict[str, str], **more: Any) -> None:
    user.client.open(uri, origin)
    assert not user.client.add(uri, texts)["rejected"]


def actions(user: Standard, uri: str, line: int = 0) -> list[Message]:
    at = {"line": line, "character": 0}
    params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}}
    return user.call("textDocument/codeAction", params | {"context": {"diagnostics": []}})


def status(user: Standard) -> bytes:
    return user.work.repo.git("status", "--porcelain")


def test_a_file_that_was_edited_outside_is_not_overwritten(user: Standard):
    beside = user.work.repo.path / "b.py"
    before, edits = beside.read_text(), len(user.edits)
    beside.write_text("B = 3\n")
    assert "b.py" in refusal(user, taking(user.work.uri, "worktree:bo"))
    beside.write_text(before)
    assert len(user.edits) == edits, "nothing of it is taken"


def test_a_file_that_is_in_the_way_of_a_new_one_stays(user: Standard):
    new = user.work.repo.path / "new.py"
    new.write_text("MINE = 1\n")
    said = refusal(user, taking(user.work.uri, "worktree:ada"))
    left = new.read_text()
    new.unlink()
    assert "new.py: " in said
    assert "file of this name" in said
    assert left == "MINE = 1\n"


def test_a_client_that_does_not_edit_says_why(user: Standard, monkeypatch: pytest.MonkeyPatch):
    def answer(message: Message) -> None:
        result: Any = [None] if message["method"] == "workspace/configuration" else None
        if message["method"] == "workspace/applyEdit":
            result = {"applied": False, "failureReason": "the buffer is read-only"}
        user.client.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    run = taking(user.work.uri, "worktree:ada")
    asked = user.client.request("workspace/executeCommand", run)
    while "method" in (message := user.client.wait(lambda m: "id" in m)):
        answer(message)
    assert message["id"] == asked
    assert "the buffer is read-only" in message["error"]["message"]


def test_a_client_that_opens_no_document_is_told_the_path(user: Standard):
    run = command("show", user.work.uri, hunk=1)
    asked = user.client.request("workspace/executeCommand", run)
    request = user.client.wait(lambda m: m.get("method") == "window/showDocument")
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"success": False}}
    user.client.send(answer)
    said = user.client.wait(lambda m: m.get("method") == "window/showMessage")["params"]["message"]
    assert said.startswith("Open line ")
    page = Path(said[said.index("/") :]).read_text().split("\n")
    assert page[int(said.split(" ")[2]) - 1].startswith("## Hunk 2:")
    user.client.answer(asked)


def test_an_action_of_another_server_or_version_is_not_resolved(user: Standard):
    action = {"title": "Rename", "data": {"id": 7}}
    assert user.client.refused("codeAction/resolve", action)["code"] == INVALID_PARAMS
    [mine] = [a for a in user.actions(LINE) if a["title"].startswith("Take the lines of ada")]
    stale = {**mine["data"]["params"], "version": user.version - 1}
    error = user.client.refused(
        "codeAction/resolve", mine | {"data": mine["data"] | {"params": stale}}
    )
    assert (error["code"], "has changed" in error["message"]) == (REQUEST_FAILED, True)


def test_ids_that_obey_terminals_and_fool_eyes(user: Standard):
    uri = "untitled:hostile"
    opened(user, uri, ORIGIN, {HOSTILE: changed("ada", ORIGIN), "\u202egpt": changed("bo", ORIGIN)})
    for action in actions(user, uri, LINE):
        assert not [c for c in action["title"] if unicodedata.category(c) in ("Cc", "Cf")]
    for run in (command("show", uri), command("show", uri, page="candidate", id=HOSTILE)):
        assert user.call("workspace/executeCommand", run) is None
        page = Path(unquote(urlsplit(user.shown[-1]).path))
        assert "pages" in page.parts
        assert ".." not in page.name
        assert stat.S_IMODE(page.stat().st_mode) == 0o400
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert page.read_text() == changed("ada", ORIGIN)


@pytest.mark.parametrize("name", ["", "..", "/", "a/../../b", "\x00\x1b", "é" * 200, "x" * 500])
def test_no_name_leaves_the_folder_of_pages(name: str):
    made = file_name(name)
    assert made == Path(made).name
    assert 0 < len(made) <= 80
    assert made.isascii()


def test_a_hunk_of_five_thousand_lines(user: Standard):
    uri = "untitled:long"
    long = "".join(f"y{n} = {n}\n" for n in range(5000))
    opened(user, uri, ORIGIN, {"ada": f"{ORIGIN}{long}", "bo": changed("bo", ORIGIN)})
    last = ORIGIN.count("\n") - 1
    hover = {"textDocument": {"uri": uri}, "position": {"line": last, "character": 0}}
    assert len(user.call("textDocument/hover", hover)["contents"]["value"]) < 2000
    assert user.call("workspace/executeCommand", command("show", uri)) is None
    assert "y4999 = 4999" in user.page()
    [take] = [a for a in actions(user, uri, last) if a["title"].startswith("Take the lines of ada")]
    [change] = user.call("codeAction/resolve", take)["edit"]["documentChanges"]
    assert change["edits"][0]["newText"] == long


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "vscode-notebook-cell:/w/n.ipynb#W0sZmlsZQ%3D%3D", "x-y:a/b.py"]
)
def test_a_document_without_a_file_has_a_review_and_no_repository(user: Standard, uri: str):
    opened(user, uri, ORIGIN, {"ada": changed("ada", ORIGIN)})
    titles = [action["title"] for action in actions(user, uri, LINE)]
    assert titles[0] == "Take the lines of ada here"
    assert not [t for t in titles if "repository" in t or "all files" in t]
    assert user.call("workspace/executeCommand", command("show", uri)) is None
    assert "## Hunk 1" in user.page()
    for run in (command("show", uri, page="candidates"), taking(uri, "ada")):
        error = user.client.refused("workspace/executeCommand", run)
        assert "workspace" in error["message"]


def test_a_folder_that_is_not_on_this_machine(tmp_path: Path):
    """A virtual workspace: what clients add is reviewed, and nothing is looked for."""
    from tests.server.raw_client import RawClient

    with RawClient() as client:
        folders = [{"uri": "vscode-vfs://github/x/y", "name": "y"}]
        client.initialize(HELIX, workspaceFolders=folders)
        uri = "vscode-vfs://github/x/y/a.py"
        client.open(uri, ORIGIN)
        client.add(uri, {"ada": changed("ada", ORIGIN)})
        assert len(client.call("excise/review", {"uri": uri})["hunks"]) == 1
        error = client.refused("workspace/executeCommand", command("show", uri, page="candidates"))
        assert error["message"] == "not a file or folder of the workspace"
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


def test_a_worktree_that_is_removed_while_it_is_shown(user: Standard):
    [show] = [a for a in user.actions(0) if a["title"] == "Show this file as chen has it"]
    shutil.rmtree(user.work.repo.path.parent / "trees" / "chen")
    run = {key: show["command"][key] for key in ("command", "arguments")}
    assert user.call("workspace/executeCommand", run) is None
    assert user.page() == changed("chen", ORIGIN), "its edits, on a page"
    said = refusal(user, taking(user.work.uri, "worktree:chen"))
    assert "chen" in said


def test_a_conflict_is_a_question_to_a_client_that_can_be_asked(tmp_path: Path):
    work = Workload.make(tmp_path)
    work.repo.commit(a__py=ORIGIN.replace("x + 2", "x + 2 + 0"))
    can = HELIX | {"window": HELIX["window"] | {"showMessage": {"messageActionItem": {}}}}
    user = Standard(work, can)
    with user.client as client:
        user.open()
        run = taking(work.uri, "worktree:ada")
        for choice, taken in (("Cancel", False), ("Take it with conflict markers", True)):
            asked = client.request("workspace/executeCommand", run)
            message = client.wait(lambda m: m.get("method") == "window/showMessageRequest")
            assert "a.py" in message["params"]["message"]
            assert "--conflicts" not in message["params"]["message"]
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"title": choice}}
            client.send(answer)
            while "method" in (message := client.wait(lambda m: "id" in m)):
                user.answer(message)
            assert message["id"] == asked
            assert ("result" in message, len(user.edits)) == (taken, int(taken))
        assert client.exit() == 0


def test_a_server_that_is_killed_while_taking_leaves_the_files_and_the_next_one_goes_on(
    tmp_path: Path,
):
    work = Workload.make(tmp_path)
    user = Standard(work)
    with user.client as client:
        user.open()
        run = taking(work.uri, "worktree:ada")
        client.request("workspace/executeCommand", run)
        client.wait(lambda m: m.get("method") == "workspace/applyEdit")
        client.process.kill()
    assert status(user) == b""
    again = Standard(work)
    with again.client as client:
        again.open()
        again.choose("Take all files from ada")
        assert len(again.edits) == 1
        assert client.exit() == 0
