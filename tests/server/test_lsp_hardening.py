"""What breaks servers built on stock pygls, and what breaks any: loads, deaths, hostile texts.

Every defect of pygls 2.1.1 that was found, and the test that fails where it is present:

| defect | tests |
|---|---|
| lines by `str.splitlines`: text desyncs next to form feed, U+0085, U+2028 | `test_lines_are_those_of_the_protocol`, `test_edits_do_what_the_model_does`, `test_a_server_process_holds_what_the_model_holds` |
| a column past the end of the last line inserts too early | `test_a_column_past_the_end_of_the_last_line` |
| custom params are a namedtuple, and keys that are no identifiers are renamed | `test_ids_that_are_no_identifiers_stay_what_they_are` |
| a nested object with a key "jsonrpc" is taken for a message | `test_a_key_jsonrpc_inside_params_is_only_a_key` |
| invalid or missing params are not answered | `test_bad_params_are_refused_with_the_reason`, `test_missing_params_are_refused` |
| a request before initialize or after shutdown | `test_before_initialize`, `test_after_shutdown` |
| an exception in a handler sends its traceback | `test_an_exception_in_a_handler_shows_nothing_private` |
| an error in a notification is a popup | `test_a_bad_notification_disturbs_nobody` |
| any path of any scheme is read from disk | `test_no_scheme_but_file_is_read`, `test_what_is_not_read_says_why_and_waits` |
| the command line rejects `--stdio` | `test_the_command_line_takes_what_clients_pass` |
| two clients of one port get each other's answers | `test_one_client_is_served_and_a_second_refused` |
| a threaded handler cannot be cancelled and delays the exit | `test_cancelled_requests_are_answered_and_the_others_too`, `test_it_ends_in_the_middle_of_the_work` |
| the thread pool hosts the blocking reader, and writers take no lock | `test_answers_stay_whole_when_all_is_written_at_once` |
| a response to a request that nobody waits for is a popup | `test_an_answer_to_nothing_is_ignored`, `test_a_client_that_refuses_to_watch` |
| each edit splits the whole text again | `test_many_edits_of_a_long_document_in_one_notification` |
| the import takes as long as a session | `test_starting_imports_nothing_that_scoring_needs` |
| `content-length` in lower case is not read | `test_headers_in_any_case_and_order` |
| exit without shutdown ends with 0 | `test_an_end_without_shutdown_is_an_error` |
| `print` corrupts the stream | `test_what_writes_to_standard_output_does_not_reach_the_client` |
"""  # noqa: E501 a table

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.process_tree import DEADLINE
from tests.server.raw_client import RawClient, serving

pytestmark = pytest.mark.slow

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
LONG = "".join(f"x{n} = {n}\n" for n in range(5_000))
URI = "untitled:hardening"


@pytest.fixture
def client():
    with RawClient() as client:
        yield client
        if client.process.poll() is None:
            assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


def report(client: RawClient, uri: str = URI):
    return client.call("excise/report", {"uri": uri})


def point(line: int, character: int) -> dict:
    return {"line": line, "character": character}


def many(count: int) -> dict[str, str]:
    return {f"r{n}": LONG.replace(f"x{40 * n} = ", f"y{40 * n} = 1 + ") for n in range(count)}


def test_the_table_above_names_tests_that_there_are():
    tests = "".join(p.read_text(encoding="utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", __doc__)
    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in tests] == []


# --- one test per defect that has none elsewhere ---


def test_a_column_past_the_end_of_the_last_line(client):
    client.initialize(initializationOptions={"sources": {"buffer": True}})
    client.open(URI, "abc\ndef")
    edit = {"range": {"start": point(1, 99), "end": point(1, 99)}, "text": "X"}
    client.change(URI, 2, edit)
    client.add(URI, {"a": "nothing alike\n"})
    texts = [v["text"] for r in report(client)["hunks"] for v in r["variants"]]
    assert "abc\ndefX" in texts


def test_ids_that_are_no_identifiers_stay_what_they_are(client):
    client.initialize()
    client.open(URI, ORIGIN)
    ids = ["class", "/a/b.py", "0", "_0", "def", "a b", "id", "count"]
    client.add(URI, dict.fromkeys(ids, A), **{"/a/b.py": 1, "class": 2})
    assert [revision["id"] for revision in client.listed(URI)] == ids


def test_answers_stay_whole_when_all_is_written_at_once(client):
    client.initialize()
    for number in range(3):
        client.open(f"{URI}{number}", ORIGIN)
        client.add(f"{URI}{number}", many(8))
    ids = [
        client.request(method, {"uri": f"{URI}{number}"})
        for number in range(3)
        for method in ("excise/report", "excise/review") * 6
    ]
    while ids:
        ids.remove(client.wait(lambda m: "method" not in m)["id"])  # every frame could be read


def test_a_client_that_refuses_to_watch(client, tmp_path):
    (tmp_path / "a.py").write_text(ORIGIN)
    watched = {"dynamicRegistration": True}
    folders = [{"uri": tmp_path.as_uri(), "name": "ws"}]
    client.initialize({"workspace": {"didChangeWatchedFiles": watched}}, workspaceFolders=folders)
    client.open((tmp_path / "a.py").as_uri(), ORIGIN)
    asked = client.wait(lambda m: m.get("method") == "client/registerCapability")
    error = {"code": -32601, "message": "no"}
    client.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
    assert client.call("excise/review", {"uri": (tmp_path / "a.py").as_uri()})["comparedWith"]
    patterns = [
        w["globPattern"]
        for r in asked["params"]["registrations"]
        for w in r["registerOptions"]["watchers"]
    ]
    assert all(isinstance(p, str) and p.startswith(tmp_path.as_posix()) for p in patterns)
    assert not [m for m in client.received if m.get("method") == "window/showMessage"]


def test_many_edits_of_a_long_document_in_one_notification(client):
    client.initialize(initializationOptions={"sources": {"buffer": False}})
    text = "line\n" * 100_000
    client.open(URI, text)
    edits = [
        {"range": {"start": point(n * 900, 4), "end": point(n * 900, 4)}, "text": "\u2028"}
        for n in range(100)
    ]
    client.change(URI, 2, *edits)
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    lines = text.split("\n")
    for n in range(100):
        lines[n * 900] += "\u2028"
    client.add(URI, {"same": "\n".join(lines)})
    assert report(client)["revisions"][0]["noOp"]


def test_starting_imports_nothing_that_scoring_needs():
    code = "import sys, excise_server.lsp.app; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(ran.stdout.split())
    assert "excise_server.lsp.server" in loaded
    assert not loaded & {
        "sklearn",
        "scipy",
        "tree_sitter",
        "tree_sitter_language_pack",
        "excise_server.sources.collect",
        "excise_server.git.command",
    }


# --- loads ---


def test_an_origin_that_is_deleted_while_it_is_scored(client, tmp_path):
    path = tmp_path / "a.py"
    path.write_text(LONG)
    client.initialize(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "ws"}])
    client.open(path.as_uri(), LONG)
    client.add(path.as_uri(), many(10))
    waiting = client.request("excise/report", {"uri": path.as_uri()})
    path.unlink()
    changes = {"changes": [{"uri": path.as_uri(), "type": 3}]}
    client.notify("workspace/didChangeWatchedFiles", changes)
    assert len(client.answer(waiting)["result"]["revisions"]) == 10
    client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    assert "no such file" in client.refused("excise/report", {"uri": path.as_uri()})["message"]


def test_candidates_that_are_closed_while_they_are_scored(client):
    client.initialize()
    client.open(URI, LONG)
    client.add(URI, many(30))
    waiting = client.request("excise/report", {"uri": URI})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    ended = client.wait(lambda m: m.get("id") == waiting)
    assert "result" in ended or "error" in ended, ended
    # Open again, it has them still, and is scored as if nothing had happened.
    client.open(URI, LONG)
    found = client.call("excise/report", {"uri": URI})["revisions"]
    assert {revision["id"] for revision in found} == set(many(30))


# --- deaths ---


@pytest.mark.parametrize("how", ["end of input", "half a frame", "exit"])
def test_it_ends_in_the_middle_of_the_work(how):
    with RawClient() as client:
        client.initialize()
        client.open(URI, LONG)
        client.add(URI, many(100))
        client.request("excise/report", {"uri": URI})
        if how == "exit":
            assert client.exit(shutdown=False) == 1
            return
        if how == "half a frame":
            client.send_bytes(b"Content-Length: 100\r\n\r\n{")
        client.process.stdin.close()
        assert client.process.wait(timeout=DEADLINE) == 1


def test_half_a_surrogate_pair_in_a_uri_or_id_leaves_no_trace_in_the_log(tmp_path):
    folders = [{"uri": tmp_path.as_uri() + name, "name": "x"} for name in ("", "/\ud801")]
    with serving(workspaceFolders=folders, initializationOptions={"trusted": True}) as client:
        for name in ("/\ud800.py", "/%ED%A0%80.py"):
            uri = tmp_path.as_uri() + name
            client.open(uri, "x = 1\n")
            client.add(uri, {"a\ud800": "x = 2\n"})
            revisions = client.call("excise/report", {"uri": uri})["revisions"]
            assert [revision["id"] for revision in revisions] == ["a\ud800"]
    assert client.log == []
