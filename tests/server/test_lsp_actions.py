"""Code actions, lenses, comparing and choices, over the real process."""

from typing import Any

import pytest
from tests.server.raw_client import Message, RawClient

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
BOTH = A.replace("a * 2", "a * 3")
REVISIONS = {"gpt": A, "claude": A, "llama": BOTH, "same": ORIGIN}
REQUEST_FAILED, INVALID_PARAMS = -32803, -32602

LITERALS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}
FULL: Message = {
    "textDocument": {"codeAction": LITERALS | {"disabledSupport": True}},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}},
    },
}


@pytest.fixture(scope="module")
def client():
    with RawClient() as client:
        client.initialize(FULL)
        yield client
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


@pytest.fixture
def uri(request: pytest.FixtureRequest):
    return f"untitled:{request.node.name}"


def actions(client: RawClient, uri: str, line: int, only: list[str] | None = None) -> Any:
    at = {"line": line, "character": 0}
    context: Message = {"diagnostics": []} | ({"only": only} if only else {})
    params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context}
    return client.call("textDocument/codeAction", params)


def edited(text: str, edits: list[Message]) -> str:
    """The text after edits, by a few lines that share nothing with the server (ASCII only)."""
    lines = text.replace("\r\n", "\n").split("\n")
    width = 2 if "\r\n" in text else 1
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + width)

    def offset(position: Message) -> int:
        return starts[position["line"]] + position["character"]

    for edit in sorted(edits, key=lambda e: -offset(e["range"]["start"])):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def edits_of(action: Message) -> list[Message]:
    return action["edit"]["documentChanges"][0]["edits"]


def test_what_is_offered_at_a_place(client: RawClient, uri: str):
    client.open(uri, ORIGIN, version=7)
    client.add(uri, REVISIONS)
    found = actions(client, uri, 1)
    assert [a["title"].split(" (rank")[0] for a in found] == [
        "Apply gpt's variant here (gpt, claude, llama: 3 of 4)",
        "Apply revision gpt",
        "Apply revision claude",
        "Apply revision llama",
    ]
    assert found[1]["title"].startswith("Apply revision gpt (rank 1 of 4, agreement 0.")
    assert [a["kind"] for a in found] == ["quickfix", *["refactor.rewrite"] * 3]
    assert not any("isPreferred" in a for a in found)
    document = found[0]["edit"]["documentChanges"][0]["textDocument"]
    assert document == {"uri": uri, "version": 7}
    note = edits_of(found[0])[0]["annotationId"]
    assert found[0]["edit"]["changeAnnotations"][note]["label"] == found[0]["title"]
    assert edited(ORIGIN, edits_of(found[0])) == A
    assert edited(ORIGIN, edits_of(found[3])) == BOTH


def test_nothing_is_offered_elsewhere(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    assert actions(client, uri, 1) is None
    client.add(uri, REVISIONS)
    assert actions(client, uri, 3) is None
    assert len(actions(client, uri, 0)) == 3
    assert [a["kind"] for a in actions(client, uri, 1, ["quickfix"])] == ["quickfix"]
    assert {a["kind"] for a in actions(client, uri, 1, ["refactor"])} == {"refactor.rewrite"}
    assert actions(client, uri, 1, ["source"]) is None
    assert actions(client, "untitled:nobody", 0) is None


def test_the_menu_holds_five_revisions(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, {f"r{n}": ORIGIN.replace("a + b", f"a + {n}") for n in range(9)})
    assert len(actions(client, uri, 0)) == 5


def test_unsaved_edits_and_line_ends_stay(client: RawClient, uri: str):
    buffer = ("# mine\n" + ORIGIN.replace("return x", "return x  # mine")).replace("\n", "\r\n")
    client.open(uri, ORIGIN.replace("\n", "\r\n"))
    client.add(uri, {"a": BOTH})
    client.change(uri, 2, {"text": buffer})
    revision = actions(client, uri, 0)[-1]
    assert revision["title"].startswith("Apply revision a (")
    assert edited(buffer, edits_of(revision)) == (
        buffer.replace("a * 2", "a * 3").replace("a + b", "a - b")
    )


def test_clients_without_literals_get_commands(uri: str):
    with RawClient() as client:
        client.initialize({"workspace": {"applyEdit": True}})
        client.open(uri, ORIGIN, version=3)
        client.add(uri, REVISIONS)
        variant, revision, *_ = actions(client, uri, 1)
        assert variant["command"] == "excise.applyVariant"
        assert revision["command"] == "excise.applyRevision"
        for command, expected in ((variant, A), (revision, A)):
            asked = client.request(
                "workspace/executeCommand",
                {"command": command["command"], "arguments": command["arguments"]},
            )
            request = client.wait(lambda m: m.get("method") == "workspace/applyEdit")
            edits = request["params"]["edit"]["changes"][uri]
            assert edited(ORIGIN, edits) == expected
            client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": True}})
            assert client.answer(asked)["result"] == {"applied": True, "reason": ""}
        client.change(uri, 4, {"text": A})
        late = {"command": variant["command"], "arguments": variant["arguments"]}
        error = client.refused("workspace/executeCommand", late)
        assert error["code"] == REQUEST_FAILED
        assert error["message"] == "the document moved on: version 3, but it is 4"
        assert client.exit() == 0


def test_what_is_stale_or_unknown_is_refused(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, REVISIONS)
    params = {"uri": uri, "id": "gpt", "version": 1}
    state = client.call("excise/report", {"uri": uri})["state"]
    client.add(uri, {"gpt": BOTH})
    error = client.refused("excise/applyRevision", params | {"state": state})
    assert (error["code"], error["message"]) == (
        REQUEST_FAILED,
        "the revisions have changed meanwhile",
    )
    unknown = client.refused("excise/applyRevision", params | {"id": "x"})
    assert unknown["code"] == INVALID_PARAMS
    same = client.call("excise/applyRevision", params | {"id": "same"})
    assert same == {"applied": False, "reason": "it is applied already"}
    for place, variant in ((9, 0), (0, 9), (-1, 0)):
        wrong = {"uri": uri, "place": place, "variant": variant, "version": 1}
        assert client.refused("excise/applyVariant", wrong)["code"] == INVALID_PARAMS


def test_an_action_that_would_destroy_edits_is_disabled(client: RawClient, uri: str):
    client.open(uri, "1\n2\n3\n4\n")
    client.add(uri, {"buffer": "1\n2a\n3\n4\n"})
    client.change(uri, 2, {"text": "1\nmine\nmine too\n4\n"})
    variant, revision = actions(client, uri, 1)
    for action in (variant, revision):
        assert "reach into a place from outside" in action["disabled"]["reason"]
        assert "edit" not in action


def test_lenses(client: RawClient, uri: str):
    params = {"textDocument": {"uri": uri}}
    assert client.call("textDocument/codeLens", params) is None
    client.open(uri, ORIGIN)
    client.add(uri, REVISIONS)
    first, *places = client.call("textDocument/codeLens", params)
    title = first["command"]["title"]
    assert title.startswith("#1 of 4: gpt, claude · cluster 1 of ")
    assert " · ES 0." in title
    assert [lens["command"]["title"] for lens in places] == [
        "2 variants · 3 of 4 agree",
        "2 variants · 3 of 4 agree",
    ]
    assert [lens["range"]["start"]["line"] for lens in (first, *places)] == [0, 1, 6]
    run = [
        client.call("workspace/executeCommand", lens["command"] | {"title": None})
        for lens in (first, places[1])
    ]
    assert run[0]["changes"][0]["label"].endswith(" gpt")
    assert run[1]["region"]["range"]["start"]["line"] == 6


def test_comparing_and_the_texts(client: RawClient, uri: str):
    client.open(uri, ORIGIN.replace("\n", "\r\n"))
    client.add(uri, REVISIONS | {"x/ü &%": BOTH})
    found = client.call("excise/compare", {"uri": uri, "ids": ["x/ü &%"]})["changes"]
    assert len(found) == 1
    for address, text in ((found[0]["original"], ORIGIN), (found[0]["modified"], BOTH)):
        assert address.startswith("excise-revision:/")
        content = client.call("workspace/textDocumentContent", {"uri": address})
        assert content == {"text": text}
    assert len(client.call("excise/compare", {"uri": uri})["changes"]) == 5
    content = client.call("excise/revisionContent", {"uri": uri, "id": "llama"})
    assert content == {"text": BOTH}
    assert client.call("excise/revisionContent", {"uri": uri})["text"] == ORIGIN
    wrong = [
        ("excise/compare", {"uri": uri, "ids": ["nobody"]}),
        ("excise/revisionContent", {"uri": uri, "id": "nobody"}),
        ("excise/showPlace", {"uri": uri, "place": 99}),
        ("workspace/textDocumentContent", {"uri": "excise-revision:/x?!!"}),
        ("workspace/textDocumentContent", {"uri": "file:///etc/passwd"}),
    ]
    for method, params in wrong:
        assert client.refused(method, params)["code"] == INVALID_PARAMS


def test_the_client_may_have_its_own_commands(uri: str):
    with RawClient() as client:
        client.initialize(
            initializationOptions={"clientCommands": {"excise.compare": "my.compare"}}
        )
        client.open(uri, ORIGIN)
        client.add(uri, REVISIONS)
        params = {"textDocument": {"uri": uri}}
        lenses = client.call("textDocument/codeLens", params)
        assert [lens["command"]["command"] for lens in lenses[:2]] == [
            "my.compare",
            "excise.showPlace",
        ]
        assert client.exit() == 0


def test_choices_that_come_later(uri: str):
    """Pushed by the client: scored and shown anew, nonsense logged and left."""
    with RawClient() as client:
        client.initialize(initializationOptions={"granularity": "line"})
        client.open(uri, ORIGIN)
        client.add(uri, REVISIONS)
        assert "|gran:line|" in client.call("excise/report", {"uri": uri})["signature"]

        def choose(**options: object) -> None:
            settings = {"settings": {"excise": options}}
            client.notify("workspace/didChangeConfiguration", settings)

        choose(lcs="paper", diagnostics={"maxPerFile": 1, "severity": "hint"})
        signature = client.call("excise/report", {"uri": uri})["signature"]
        assert "|gran:line|lcs:paper|" in signature
        seen = len(client.received)
        choose(granularity=7, comments="x", diagnostics={"enable": "no", "maxPerFile": -1}, lcs=[])
        assert "|gran:nested|lcs:star|" in client.call("excise/report", {"uri": uri})["signature"]
        assert not any("error" in m for m in client.received[seen:])
        choose(diagnostics={"enable": False})
        found = client.wait(
            lambda m: (
                m.get("method") == "textDocument/publishDiagnostics"
                and not m["params"]["diagnostics"]
            )
        )
        assert found["params"]["uri"] == uri
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.notify("workspace/didChangeConfiguration", {"settings": {"excise": 5}})
        assert client.call("excise/report", {"uri": uri})["state"] > 0
        assert client.exit() == 0
        log = "".join(client.log)
        assert "granularity must be one of nested, line, token" in log
        assert "diagnostics.enable must be of type bool" in log
        assert "Traceback" not in log


def test_a_client_that_answers_is_asked(uri: str):
    can = {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
    can |= {"textDocumentContent": {"dynamicRegistration": True}}
    with RawClient() as client:
        client.initialize({"workspace": can})
        names = []
        for _ in range(2):
            asked = client.wait(lambda m: m.get("method") == "client/registerCapability")
            names += [r["method"] for r in asked["params"]["registrations"]]
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
        assert names == ["workspace/textDocumentContent", "workspace/didChangeConfiguration"]
        for granularity in ("line", "token"):
            asked = client.wait(lambda m: m.get("method") == "workspace/configuration")
            assert asked["params"]["items"] == [{"section": "excise"}]
            answer = [{"granularity": granularity, "lcs": None}]
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
            client.open(uri, ORIGIN)
            client.add(uri, REVISIONS)
            signature = client.call("excise/report", {"uri": uri})["signature"]
            assert f"|gran:{granularity}|" in signature
            client.notify("workspace/didChangeConfiguration", {"settings": None})
        assert client.exit() == 0


def test_the_origin_of_a_document_without_revisions_is_whole(client: RawClient):
    client.open("file:///alone.py", "a = 1\nb = 2\n")
    content = client.call("excise/revisionContent", {"uri": "file:///alone.py"})
    assert content == {"text": "a = 1\nb = 2\n"}
