"""Every request is answered as the specification says, over a real process and plain JSON-RPC."""

import json

import pytest
from tests.server.raw_client import PING, RawClient, serving

from excise_server.wire.lsp import COMMANDS, SCHEMA

pytestmark = pytest.mark.slow

URI = "untitled:Untitled-1"
PARSE, INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED = -32002
BAD_PARAMS = [
    ("excise/addRevisions", None),
    ("excise/addRevisions", {}),
    ("excise/addRevisions", []),
    ("excise/addRevisions", 7),
    ("excise/addRevisions", {"uri": URI}),
    ("excise/addRevisions", {"uri": 5, "revisions": []}),
    ("excise/addRevisions", {"uri": None, "revisions": []}),
    ("excise/addRevisions", {"uri": URI, "revisions": "text"}),
    ("excise/addRevisions", {"uri": URI, "revisions": {"id": "a", "text": "b"}}),
    ("excise/addRevisions", {"uri": URI, "revisions": [{"id": "a"}]}),
    ("excise/addRevisions", {"uri": URI, "revisions": [{"id": "a", "text": None}]}),
    ("excise/addRevisions", {"uri": URI, "revisions": [{"id": 1, "text": "b"}]}),
    ("excise/addRevisions", {"uri": URI, "revisions": [None]}),
    ("excise/addRevisions", {"uri": URI, "revisions": [], "base": {"version": "3"}}),
    ("excise/removeCandidates", {"uri": URI}),
    ("excise/removeCandidates", {"uri": URI, "ids": [1]}),
    ("excise/setCandidates", {"ids": ["a"], "state": "gone"}),
    ("excise/setCandidates", {"ids": ["a"], "base": "HEAD"}),
    ("excise/report", {}),
    ("excise/report", {"uri": ["x"]}),
    ("excise/report", {"uri": "file:///nobody/knows.py"}),
    ("textDocument/hover", {}),
    ("textDocument/hover", {"textDocument": {"uri": URI}}),
    (
        "textDocument/hover",
        {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}},
    ),
    (
        "textDocument/hover",
        {"textDocument": {"uri": URI}, "position": {"line": "1", "character": 2.5}},
    ),
    ("workspace/executeCommand", {}),
    ("workspace/executeCommand", {"command": "no.such.command"}),
    ("workspace/executeCommand", {"command": "excise.show"}),
    ("workspace/executeCommand", {"command": "excise.show", "arguments": [{}, {}]}),
    ("workspace/executeCommand", {"command": "excise.show", "arguments": [{"uri": 7}]}),
]


@pytest.fixture(scope="module")
def session():
    """One initialised session: what a bad request must not do is disturb the next."""
    with serving() as client:
        yield client


@pytest.mark.parametrize(("method", "params"), BAD_PARAMS)
def test_bad_params_are_refused_with_the_reason(session: RawClient, method: str, params: object):
    error = session.refused(method, params)
    assert error["code"] == INVALID_PARAMS
    assert 0 < len(error["message"]) < 400
    assert "data" not in error
    assert session.call(*PING) == {"removed": [], "unknown": []}


def test_missing_params_are_refused(session: RawClient):
    session.send({"jsonrpc": "2.0", "id": "no-params", "method": "excise/report"})
    assert session.answer("no-params")["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize("method", ["textDocument/documentSymbol", "no/such", "$/whatever", ""])
def test_an_unknown_method_is_not_found_quietly(session: RawClient, method: str):
    seen, logged = len(session.received), len(session.log)
    assert session.refused(method, {})["code"] == NOT_FOUND
    assert len(session.received) == seen + 1
    assert len(session.log) == logged


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/didChange", {"textDocument": {"uri": "x", "version": 1}}),
        (
            "textDocument/didChange",
            {"textDocument": {"uri": "unknown:x", "version": 1}, "contentChanges": []},
        ),
        ("textDocument/didOpen", {}),
        ("textDocument/didOpen", None),
        ("textDocument/didClose", {"textDocument": {"uri": "unknown:x"}}),
        ("textDocument/didSave", {"textDocument": {"uri": "unknown:x"}}),
        ("$/cancelRequest", {"id": 12345}),
        ("$/cancelRequest", None),
        ("$/cancelRequest", {"id": [1]}),
        ("$/setTrace", {"value": "nonsense"}),
        ("no/suchNotification", {}),
    ],
)
def test_a_bad_notification_disturbs_nobody(session: RawClient, method: str, params: object):
    seen = len(session.received)
    session.notify(method, params)
    session.call(*PING)
    assert len(session.received) == seen + 1  # no popup, no other message


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", PARSE),
        (b"", PARSE),
        (b"\xff\xfe", PARSE),
        (b"[" * 100_000, PARSE),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b'{"id": 1.5, "jsonrpc": "2.0", "method": "shutdown"}', INVALID_REQUEST),
        (b'{"id": null, "jsonrpc": "2.0", "method": "shutdown"}', INVALID_REQUEST),
        (b'{"id": [], "jsonrpc": "2.0", "method": "shutdown"}', INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_answered_without_an_id(session: RawClient, body: bytes, code: int):
    session.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert session.answer(None)["error"]["code"] == code


def test_what_left_is_refused_and_named_in_the_log():
    """A client of an earlier release: methods, commands and options."""
    left = ("addText", "keep", "hide", "counters")
    options = {"clientCommands": {"excise.compare": "my.compare"}, "sources": {"git": ["kept/**"]}}
    with serving(initializationOptions=options) as client:
        for name in left:
            error = client.refused(f"excise/{name}", {"uri": URI})
            assert error["code"] == NOT_FOUND
            run = {"command": f"excise.{name}", "arguments": [{"uri": URI}]}
            assert client.refused("workspace/executeCommand", run)["code"] == INVALID_PARAMS
    for name in left:
        assert [f"excise/{name}" in line for line in client.log].count(True) == 1
        assert [f"excise.{name}" in line for line in client.log].count(True) == 1
    log = "".join(client.log)
    assert "clientCommands.excise.compare is not used any more: name excise.show" in log
    assert "refs/excise/kept/** has it" in log
    assert len(client.log) == 2 * len(left) + 2


def test_a_message_of_another_json_rpc_is_refused(session: RawClient):
    for message in ({"id": 901, "method": "shutdown"}, {"id": 901, "jsonrpc": "2.0", "method": 1}):
        session.send(message)
        assert session.answer(901)["error"]["code"] == INVALID_REQUEST


def test_a_key_jsonrpc_inside_params_is_only_a_key(session: RawClient):
    params = {"uri": URI, "extra": {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}}
    assert session.call(PING[0], PING[1] | params) == {"removed": [], "unknown": []}


def test_initialize_twice_is_refused(session: RawClient):
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    assert session.refused("initialize", params)["code"] == INVALID_REQUEST


def test_an_id_that_is_still_in_use_is_refused():
    with serving() as client:
        client.open(URI, "x = 0\n")
        client.add(URI, {"a": "x = 1\n"})
        message = {"jsonrpc": "2.0", "id": "twice", "method": "excise/report"}
        for _ in range(2):
            client.send(message | {"params": {"uri": URI}})
        answers = [client.answer("twice") for _ in range(2)]
        assert answers[0]["error"]["code"] == INVALID_REQUEST
        assert answers[1]["result"]["version"] == 1


def test_before_initialize():
    with RawClient() as client:
        for method in ("textDocument/hover", "excise/report", "shutdown", "no/such"):
            assert client.refused(method, {})["code"] == NOT_INITIALIZED
        client.notify("textDocument/didOpen", {})
        client.notify("initialized", {})
        assert client.refused("initialize", {"capabilities": 3})["code"] == INVALID_PARAMS
        assert client.initialize()["serverInfo"]["name"] == "excise"
        assert client.exit() == 0


def test_after_shutdown():
    with RawClient() as client:
        client.initialize()
        client.call("shutdown")
        for method in ("textDocument/hover", "excise/report", "shutdown", "initialize", "no/such"):
            assert client.refused(method, {})["code"] == INVALID_REQUEST
        client.open(URI, "x\n")
        assert client.exit(shutdown=False) == 0


def test_garbage_between_messages_is_answered(session: RawClient):
    session.send_bytes(b"GET / HTTP/1.1\r\n\r\n")
    assert session.answer(None)["error"]["code"] == PARSE
    assert session.call(*PING) == {"removed": [], "unknown": []}


def test_an_answer_to_nothing_is_ignored(session: RawClient):
    session.send({"jsonrpc": "2.0", "id": 77, "result": None})
    session.send({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}})
    assert session.call(*PING) == {"removed": [], "unknown": []}


@pytest.mark.parametrize("is_initialized", [True, False])
@pytest.mark.parametrize("end", ["exit", "stream"])
def test_an_end_without_shutdown_is_an_error(is_initialized: bool, end: str):
    with RawClient() as client:
        if is_initialized:
            client.initialize()
        if end == "exit":
            assert client.exit(shutdown=False) == 1
        else:
            client.process.stdin.close()
            assert client.process.wait(timeout=60) == 1


def test_capabilities_name_what_there_is():
    with RawClient() as client:
        found = client.initialize()["capabilities"]
        assert found["textDocumentSync"] == {
            "openClose": True,
            "change": 2,
            "save": {"includeText": False},
        }
        assert found["hoverProvider"]
        assert found["positionEncoding"] == "utf-16"
        assert sorted(found["executeCommandProvider"]["commands"]) == sorted(COMMANDS)
        rewrite = "refactor.rewrite.excise"
        kinds = ["quickfix", f"{rewrite}.variant", f"{rewrite}.candidate"]
        kinds += [f"source.excise.{name}" for name in ("show", "take", "start")]
        assert found["codeActionProvider"]["codeActionKinds"] == kinds
        assert "codeLensProvider" in found
        assert found["experimental"] == {"excise": {"version": SCHEMA}}
        assert client.exit() == 0


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32"], "utf-32"),
        (["utf-16"], "utf-16"),
        (["utf-7", "utf-32"], "utf-32"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
    ],
)
def test_the_position_encoding_is_negotiated(offered: list[str], chosen: str):
    with RawClient() as client:
        result = client.initialize({"general": {"positionEncodings": offered}})
        assert result["capabilities"]["positionEncoding"] == chosen
        assert client.exit() == 0


def test_an_exception_in_a_handler_shows_nothing_private(monkeypatch: pytest.MonkeyPatch):
    """The session is real; only its hover is made to fail, in the server's own process."""
    code = (
        "from excise_server.lsp import app\n"
        "async def hover(ls, params): raise RuntimeError('secret ' + __file__)\n"
        "def did_open(ls, params): raise RuntimeError('secret')\n"
        "app.HANDLERS['textDocument/hover'] = hover\n"
        "app.HANDLERS['textDocument/didOpen'] = did_open\n"
        "__file__ = '/a/private/path.py'\n"
        "app.serve_stdio()\n"
    )
    monkeypatch.setattr("tests.server.raw_client.MODULE", ["-c", code])
    with RawClient() as client:
        client.initialize()
        client.open(URI, "x\n")
        position = {"line": 0, "character": 0}
        error = client.refused(
            "textDocument/hover", {"textDocument": {"uri": URI}, "position": position}
        )
        assert error["code"] == -32603
        assert "secret" not in json.dumps(client.received)
        assert "Traceback" not in json.dumps(client.received)
        assert client.exit() == 0
        assert any("secret" in line for line in client.log)


def test_what_writes_to_standard_output_does_not_reach_the_client(
    monkeypatch: pytest.MonkeyPatch,
):
    code = (
        "import os; from excise_server.lsp import app\n"
        "def did_open(ls, params): print('stray'); os.write(1, b'stray')\n"
        "app.HANDLERS['textDocument/didOpen'] = did_open\n"
        "app.serve_stdio()\n"
    )
    monkeypatch.setattr("tests.server.raw_client.MODULE", ["-c", code])
    with RawClient() as client:
        client.initialize()
        client.open(URI, "x\n")
        assert client.call(*PING) == {"removed": [], "unknown": []}
        assert client.exit() == 0
        assert "stray" in "".join(client.log)


def test_the_command_line_takes_what_clients_pass():
    with RawClient("--stdio", "--clientProcessId=1") as client:
        client.initialize()
        assert client.exit() == 0
