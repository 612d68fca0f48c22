"""Code actions, lenses, comparing and choices, over the real process.

What they say and what they do to a text is expected by the archives of tests/cases/editor.
"""

import re
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.server.raw_client import Message, RawClient, serving

from excise_server.lsp.actions import MAX_EDITS
from excise_server.lsp.to_proto import virtual_uri

pytestmark = pytest.mark.slow

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
    with serving(FULL) as client:
        yield client


@pytest.fixture
def uri(request: pytest.FixtureRequest):
    return f"untitled:{request.node.name}"


def actions(client: RawClient, uri: str, line: int, only: list[str] | None = None) -> Any:
    at = {"line": line, "character": 0}
    context: Message = {"diagnostics": []} | ({"only": only} if only else {})
    params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context}
    return client.call("textDocument/codeAction", params)


def test_candidates_are_offered_on_every_line_and_variants_on_theirs(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    assert actions(client, uri, 1) is None
    client.add(uri, REVISIONS)
    variant, candidate = (f"refactor.rewrite.excise.{name}" for name in ("variant", "candidate"))
    show = "source.excise.show"
    for line in (0, 3):
        assert [a["kind"] for a in actions(client, uri, line)] == [candidate] * 3 + [show]
    assert [a["kind"] for a in actions(client, uri, 1, ["quickfix"])] == ["quickfix"]
    assert {a["kind"] for a in actions(client, uri, 1, ["refactor"])} == {variant, candidate}
    assert [a["kind"] for a in actions(client, uri, 1, [variant])] == [variant]
    assert [a["kind"] for a in actions(client, uri, 1, ["source"])] == [show]
    assert actions(client, uri, 1, ["source.organizeImports"]) is None
    assert actions(client, "untitled:nobody", 0) is None


def test_of_many_candidates_the_last_are_commands(client: RawClient, uri: str):
    """An edit for each of 300 candidates would be computed for every menu that is opened."""
    client.open(uri, ORIGIN)
    client.add(uri, {f"c{n:02}": A.replace("a - b", f"a - {n}") for n in range(MAX_EDITS + 3)})
    found = actions(client, uri, 3, ["refactor.rewrite.excise.candidate"])
    assert ["edit" in action for action in found] == [True] * MAX_EDITS + [False] * 3
    last = found[-1]["command"]
    edit, result = client.edited("workspace/executeCommand", last)
    assert result["applied"] is True
    [change] = edit["edit"]["documentChanges"][0]["edits"]
    taken = last["arguments"][0]["id"].removeprefix("c")
    assert change["newText"] == f"    x = a - {int(taken)}\n"


@pytest.mark.parametrize(("line", "variants"), [(1, 6), (3, 0)])
def test_a_menu_has_eight_entries_and_the_last_one_leads_to_the_rest(
    uri: str, line: int, variants: int
):
    """Twelve candidates in twelve variants: a client that can ask is asked for the others."""
    with serving(FULL | {"window": {"showMessage": {}}}) as client:
        client.open(uri, ORIGIN)
        client.add(uri, {f"c{n:02}": A.replace("a - b", f"a - {n}") for n in range(12)})
        offered = actions(client, uri, line)
        assert len(offered) == 8
        kinds = [action["kind"].rpartition(".")[2] for action in offered]
        assert kinds == ["variant"] * variants + ["candidate"] * (8 - variants)
        assert [only["title"] for only in actions(client, uri, line, ["source"])] == [
            "Show the hunks of this file side by side"
        ]
        *shown, last = [action["title"] for action in offered]
        command = {name: offered[-1]["command"][name] for name in ("command", "arguments")}
        assert command["arguments"][0].pop("only") is None  # Neovim drops it, too
        assert last == offered[-1]["command"]["title"] == "More of the candidates..."

        def chosen(title: str | None) -> int:
            running = client.request("workspace/executeCommand", command)
            asking = client.wait(lambda m: m.get("method") == "window/showMessageRequest")
            titles = [item["title"] for item in asking["params"]["actions"]]
            assert not {*titles} & {*shown}
            assert [title for title in titles if " c11 " in title]
            assert "Show the hunks of this file side by side" in titles
            result = None if title is None else {"title": title}
            client.send({"jsonrpc": "2.0", "id": asking["id"], "result": result})
            return running

        assert client.answer(chosen(None))["result"] is None
        assert client.answer(chosen("no such title"))["result"] is None
        running = chosen("Take this file from c11 (in a group of 12)")
        edit = client.wait(lambda m: m.get("method") == "workspace/applyEdit")
        assert "a - 11" in edit["params"]["edit"]["documentChanges"][0]["edits"][0]["newText"]
        client.send({"jsonrpc": "2.0", "id": edit["id"], "result": {"applied": True}})
        assert client.answer(running)["result"] is None
        client.change(uri, 2, {"text": A})
        error = client.refused("workspace/executeCommand", command)
        assert "open the menu again" in error["message"]
        wrong = command | {"arguments": [{"uri": uri, "page": "actions"}]}
        assert client.refused("workspace/executeCommand", wrong)["code"] == INVALID_PARAMS


def test_what_is_stale_or_unknown_is_refused(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, REVISIONS)
    params = {"uri": uri, "id": "gpt", "version": 1}
    state = client.call("excise/report", {"uri": uri})["state"]
    client.add(uri, {"gpt": BOTH})
    error = client.refused("excise/apply", params | {"state": state})
    assert error["code"] == REQUEST_FAILED
    unknown = client.refused("excise/apply", params | {"id": "x"})
    assert unknown["code"] == INVALID_PARAMS
    same = client.call("excise/apply", params | {"id": "same"})
    assert same["applied"] is False
    assert same["reason"]
    for hunk, variant in ((9, 0), (0, 9), (-1, 0)):
        wrong = {"uri": uri, "hunk": hunk, "variant": variant, "version": 1}
        assert client.refused("excise/apply", wrong)["code"] == INVALID_PARAMS
    client.change(uri, 2, {"text": A})
    error = client.refused("excise/apply", wrong | {"hunk": 0, "variant": 0})
    assert error["code"] == REQUEST_FAILED
    assert {"1", "2"} <= set(re.findall(r"\d+", error["message"]))  # both versions


def test_a_hunk_that_lacks_a_name_is_refused_with_data_unless_it_is_wanted(
    client: RawClient, uri: str
):
    """The message is a sentence; what a client acts on is in the data."""
    client.open(uri, ORIGIN)
    whole = "import re\n\n\n" + ORIGIN.replace("a * 2", "re.sub(a, a)")
    client.add(uri, {"gpt": whole, "claude": A})
    report = client.call("excise/review", {"uri": uri})
    [uses] = [n for n, h in enumerate(report["hunks"]) if "re.sub" in str(h["variants"])]
    [binds] = [n for n, h in enumerate(report["hunks"]) if "import re" in str(h["variants"])]
    [number] = [n for n, v in enumerate(report["hunks"][uses]["variants"]) if "re." in v["text"]]
    params = {"uri": uri, "hunk": uses, "variant": number, "version": 1, "split": True}
    error = client.refused("excise/apply", params)
    assert error["code"] == REQUEST_FAILED
    assert "uses re" in error["message"]
    assert "(gpt)" in error["message"]
    assert error["data"]["kind"] == "brokenMix"
    [finding] = error["data"]["findings"]
    assert (finding["line"], finding["kind"], finding["name"]) == (7, "name", "re")
    # in the menu it is a command, which says the same: an edit would be made without a word
    offered = actions(client, uri, 6, ["refactor.rewrite.excise.variant"])
    whole_unit, action = [action for action in offered if "gpt" in action["title"]]
    assert "edit" in whole_unit
    assert "edit" not in action
    again = client.request("workspace/executeCommand", action["command"] | {"title": None})
    assert client.answer(again)["error"]["message"] == error["message"]
    for wanted in (
        params | {"anyway": True},
        params | {"hunk": binds, "variant": 0},  # an import that nobody uses yet is no error
        {"uri": uri, "id": "gpt", "version": 1},
    ):
        result = client.edited("excise/apply", wanted)[1]
        assert result["applied"] is True
        # taken all the same, or whole: nothing was checked
        is_mix = wanted.get("hunk") == binds
        assert result["checked"] == ("parses, and no name is missing" if is_mix else "")
    # with the import in the buffer the hunk is fine, and so is what was broken before
    client.change(uri, 2, {"text": "import re\n\n\n" + ORIGIN})
    _, result = client.edited("excise/apply", params | {"version": 2})
    assert result["applied"] is True


def test_a_client_without_code_of_ours_is_asked_whether_it_wants_a_broken_mix(uri: str):
    asks = FULL | {"window": {"showMessage": {}}}
    with serving(asks) as client:
        client.open(uri, ORIGIN)
        client.add(uri, {"gpt": "import re\n\n\n" + ORIGIN.replace("a * 2", "re.sub(a, a)")})
        params = {"uri": uri, "hunk": 1, "variant": 0, "version": 1, "split": True}
        for title in (None, "Cancel", "Take it all the same"):
            asked = client.request("excise/apply", params)
            message = client.wait(lambda m: m.get("method") == "window/showMessageRequest")
            assert "uses re" in message["params"]["message"]
            result = None if title is None else {"title": title}
            client.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            if title != "Take it all the same":
                assert client.answer(asked)["error"]["code"] == REQUEST_FAILED
        edit = client.wait(lambda m: m.get("method") == "workspace/applyEdit")
        client.send({"jsonrpc": "2.0", "id": edit["id"], "result": {"applied": True}})
        assert client.answer(asked)["result"]["applied"] is True


def test_the_commands_of_lenses_can_be_run(client: RawClient, uri: str):
    params = {"textDocument": {"uri": uri}}
    assert client.call("textDocument/codeLens", params) is None
    client.open(uri, ORIGIN)
    client.add(uri, REVISIONS)
    first, *hunks = client.call("textDocument/codeLens", params)
    for lens, where in ((first, "Open /"), (hunks[1], "Open line ")):
        before = len(client.received)
        asked = client.request("workspace/executeCommand", lens["command"] | {"title": None})
        message = client.wait(lambda m: m.get("method") == "window/showMessage")["params"]
        assert client.answer(asked)["result"] is None
        assert message["message"].startswith(where)
        assert len(client.received) - before == 2
        page = Path(message["message"][message["message"].index("/") :])
        assert stat.S_IMODE(page.stat().st_mode) == 0o400
        assert "x = a - b" in page.read_text()


def test_comparing_and_the_texts(client: RawClient, uri: str):
    client.open(uri, ORIGIN.replace("\n", "\r\n"))
    client.add(uri, REVISIONS | {"x/ü &%": BOTH})
    found = client.call("excise/review", {"uri": uri})
    texts = {candidate["id"]: candidate["uri"] for candidate in found["candidates"]}
    assert len(texts) == 5
    both = ((found["originUri"], ORIGIN), (texts["x/ü &%"], BOTH), (texts["llama"], BOTH))
    for address, text in both:
        assert address.startswith("excise-revision:/")
        content = client.call("workspace/textDocumentContent", {"uri": address})
        assert content == {"text": text}
    gone = virtual_uri(uri, "nobody")
    for wrong in (gone, "excise-revision:/x?!!", "file:///etc/passwd"):
        error = client.refused("workspace/textDocumentContent", {"uri": wrong})
        assert error["code"] == INVALID_PARAMS


def test_the_client_may_have_its_own_commands(uri: str):
    with serving(initializationOptions={"clientCommands": {"excise.show": "my.show"}}) as client:
        client.open(uri, ORIGIN)
        client.add(uri, REVISIONS)
        params = {"textDocument": {"uri": uri}}
        lenses = client.call("textDocument/codeLens", params)
        assert {lens["command"]["command"] for lens in lenses} == {"my.show"}


def test_choices_that_come_later(uri: str):
    """Pushed by the client: scored and shown anew, nonsense logged and left."""
    with RawClient() as client:
        client.initialize(initializationOptions={"diagnostics": {"severity": "hint"}})
        client.open(uri, ORIGIN)
        client.add(uri, REVISIONS)
        assert {d["severity"] for d in client.diagnostics(uri, 1)} == {4}

        def choose(**options: object) -> None:
            settings = {"settings": {"excise": options}}
            client.notify("workspace/didChangeConfiguration", settings)

        choose(diagnostics={"severity": "warning"}, lcs="paper")
        assert {d["severity"] for d in client.diagnostics(uri, 1)} == {2}
        assert "|lcs:star|" in client.call("excise/report", {"uri": uri})["signature"]
        seen = len(client.received)
        choose(intent="x", diagnostics={"severity": "loud"})
        assert {d["severity"] for d in client.diagnostics(uri, 1)} == {3}
        assert not any("error" in m for m in client.received[seen:])
        choose(diagnostics={"severity": "off"})
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
        assert "intent must be one of " in log
        assert "diagnostics.severity must be one of off, error, warning" in log
        assert "Traceback" not in log


def test_a_client_that_answers_is_asked(uri: str):
    can = {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
    can |= {"textDocumentContent": {"dynamicRegistration": True}}
    with serving({"workspace": can}) as client:
        names = []
        for _ in range(2):
            asked = client.wait(lambda m: m.get("method") == "client/registerCapability")
            names += [r["method"] for r in asked["params"]["registrations"]]
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
        assert names == ["workspace/textDocumentContent", "workspace/didChangeConfiguration"]
        for intent in ("fix", "change"):
            asked = client.wait(lambda m: m.get("method") == "workspace/configuration")
            assert asked["params"]["items"] == [{"section": "excise"}]
            answer = [{"intent": intent, "origin": None}]
            client.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
            client.open(uri, ORIGIN)
            client.add(uri, REVISIONS)
            at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            told = client.call("textDocument/hover", at)["contents"]["value"]
            assert f"Order: intent {intent} " in told
            client.notify("workspace/didChangeConfiguration", {"settings": None})


def test_the_origin_of_a_document_without_revisions_is_whole(client: RawClient):
    client.open("file:///alone.py", "a = 1\nb = 2\n")
    assert client.text_of("file:///alone.py") == "a = 1\nb = 2\n"
