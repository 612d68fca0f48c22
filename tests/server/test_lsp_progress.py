"""Work that takes long is shown, and stops when the user has had enough."""

from collections.abc import Iterator

import pytest
from tests.server.raw_client import PING, Message, RawClient

pytestmark = pytest.mark.slow

URI = "file:///nowhere/slow.svelte"
SHOWS = {"window": {"workDoneProgress": True}}
REQUEST_FAILED = -32803
# Python is hard work for this grammar: a minute, and it never gets there.
SLOW = "".join(f"def f{n}(a):\n    return [x < {n} for x in a]\n" for n in range(3000))


@pytest.fixture
def client() -> Iterator[RawClient]:
    with RawClient() as client:
        client.initialize(SHOWS)
        client.open(URI, SLOW, language="svelte")
        client.add(URI, {"a": SLOW.replace("< 7 ", "> 7 "), "b": SLOW.replace("< 8 ", "> 8 ")})
        yield client


def shown(client: RawClient) -> str:
    """Wait until the work is shown; return its token."""
    message = client.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    client.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
    return message["params"]["token"]


def progress(client: RawClient, kind: str) -> Message:
    def wanted(message: Message) -> bool:
        is_progress = message.get("method") == "$/progress"
        return is_progress and message["params"]["value"]["kind"] == kind

    return client.wait(wanted)["params"]


def test_long_work_is_shown_and_can_be_stopped(client: RawClient):
    token = shown(client)
    begun = progress(client, "begin")
    assert begun["token"] == token
    assert begun["value"]["cancellable"]
    assert "slow.svelte" in begun["value"]["message"]
    waiting = client.request("excise/report", {"uri": URI})
    client.notify("window/workDoneProgress/cancel", {"token": token})
    assert progress(client, "end")["token"] == token
    answer = client.answer(waiting)
    assert answer["error"]["code"] == REQUEST_FAILED
    assert "stopped on request" in answer["error"]["message"]
    assert client.exit() == 0
    assert not any("Traceback" in line for line in client.log)


def test_the_next_change_starts_it_again(client: RawClient):
    client.notify("window/workDoneProgress/cancel", {"token": shown(client)})
    small = "<p>{a}</p>\n"
    client.change(URI, 2, {"text": small})
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}, "text": small})
    client.call("excise/startAgain", {"uri": URI})
    client.add(URI, {"a": small.replace("a", "b"), "b": small})
    report = client.call("excise/report", {"uri": URI})
    assert [r["noOp"] for r in report["revisions"]] == [False, True]


def test_any_value_may_come_in_place_of_a_token():
    tokens = [{}, [], None, [{}], "x" * 1_000_000, 10**30, 1.5, True]
    with RawClient() as client:
        client.initialize()
        for params in [*({"token": token} for token in tokens), {}, [], None, "token"]:
            client.notify("window/workDoneProgress/cancel", params)
        client.open(URI, "<p>a</p>\n")
        assert client.call("excise/report", {"uri": URI})["revisions"] == []
        assert client.exit() == 0
        log = "".join(client.log)
    assert "Traceback" not in log
    assert len(log) < 10_000


def test_typing_on_keeps_one_progress(client: RawClient):
    token = shown(client)
    progress(client, "begin")
    for version in range(2, 6):
        edit = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        client.change(URI, version, {"range": edit, "text": "x"})
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    client.call(*PING)
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert progress(client, "end")["token"] == token
    created = [m for m in client.received if m.get("method") == "window/workDoneProgress/create"]
    assert len(created) == 1


def test_a_document_without_revisions_is_no_work():
    with RawClient() as client:
        # The worker still loads what scoring needs, which may take longer than half a second.
        client.initialize(SHOWS)
        client.open(URI, SLOW, language="svelte")
        assert client.call("excise/report", {"uri": URI})["revisions"] == []
        assert client.exit() == 0
        methods = {m.get("method") for m in client.received}
        assert "window/workDoneProgress/create" not in methods


def test_a_client_without_progress_is_not_asked():
    with RawClient() as client:
        client.initialize()
        client.open(URI, SLOW, language="svelte")
        client.add(URI, {"a": SLOW.replace("< 7 ", "> 7 ")})
        waiting = client.request("excise/report", {"uri": URI})
        client.call(*PING)
        client.notify("$/cancelRequest", {"id": waiting})
        assert client.answer(waiting)["error"]["code"] == -32800
        assert client.exit() == 0
        assert not any(str(m.get("method")).startswith("window/") for m in client.received)
