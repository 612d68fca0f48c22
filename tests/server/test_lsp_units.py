"""Hunks that belong together, and what the decisions break, over the real process."""

from typing import Any

import pytest
from tests.server.raw_client import Message, RawClient, serving
from tests.server.test_lsp_actions import FULL, REQUEST_FAILED, actions

pytestmark = pytest.mark.slow

ORIGIN = """\
import os


def connect(url):
    return open(url)


def order(sku):
    return send(sku)


def cancel(number):
    return drop(number)
"""
IMPORT = "import os\nimport login\n"
ADA = (
    ORIGIN.replace("import os\n", IMPORT)
    .replace("open(url)", "open(url, login.user)")
    .replace("drop(number)", "drop(number, login.user)")
)
BO = (
    ORIGIN.replace("open(url)", "open(url, user())")
    .replace("send(sku)", "send(sku, 1)")
    .replace("drop(number)\n", "drop(number)\n\n\ndef user():\n    return os.getlogin()\n")
)
PULLS: Message = {
    "textDocument": {"diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


@pytest.fixture(scope="module")
def client():
    with serving(FULL) as client:
        yield client


@pytest.fixture
def uri(client: RawClient, request: pytest.FixtureRequest):
    uri = f"untitled:{request.node.name}.py"
    client.open(uri, ORIGIN)
    client.add(uri, {"ada": ADA, "bo": BO})
    return uri


def review(client: RawClient, uri: str) -> Any:
    return client.call("excise/review", {"uri": uri})


def params(client: RawClient, uri: str, new: str, version: int = 1, **more: Any) -> Message:
    """Return the params that take the variant in which some text is."""
    [(hunk, variant)] = [
        (number, at)
        for number, hunk in enumerate(review(client, uri)["hunks"])
        for at, variant in enumerate(hunk["variants"])
        if new in variant["text"] and new not in hunk["text"]
    ]
    return {"uri": uri, "hunk": hunk, "variant": variant, "version": version} | more


def taken(client: RawClient, text: str, asked: Message) -> str:
    """Return the text after the one edit that a request makes the client do."""
    edit, result = client.edited("excise/apply", asked)
    assert result["applied"] is True
    [document] = edit["edit"]["documentChanges"]
    lines = text.split("\n")
    for one in reversed(document["edits"]):
        start, end = one["range"]["start"], one["range"]["end"]
        assert start["character"] == end["character"] == 0
        lines[start["line"] : end["line"]] = one["newText"].split("\n")[:-1]
    return "\n".join(lines)


def messages(client: RawClient, uri: str) -> list[str]:
    return [problem["message"] for problem in review(client, uri)["problems"]]


def test_a_variant_comes_with_what_belongs_with_it_or_alone(client: RawClient, uri: str):
    said = review(client, uri)
    units = {
        tuple(unit["hunks"]): unit["words"] for hunk in said["hunks"] for unit in hunk["units"]
    }
    assert units == {
        (): "",
        (0, 1, 3): "3 hunks that belong together: login",
        (1, 3): "2 hunks that belong together: user",
    }
    assert all(len(hunk["units"]) == len(hunk["variants"]) for hunk in said["hunks"])
    for new in ("import login", "login.user)"):
        for hunk in (0, 1, 3):
            if new in str(said["hunks"][hunk]["variants"]):
                numbers = [new in v["text"] for v in said["hunks"][hunk]["variants"]]
                asked = {"uri": uri, "hunk": hunk, "variant": numbers.index(True), "version": 1}
                assert taken(client, ORIGIN, asked) == ADA
    alone = params(client, uri, "import login", split=True)
    assert taken(client, ORIGIN, alone) == ORIGIN.replace("import os\n", IMPORT)
    no_unit = params(client, uri, "sku, 1")
    assert taken(client, ORIGIN, no_unit) == ORIGIN.replace("send(sku)", "send(sku, 1)")


def test_menus_offer_both(client: RawClient, uri: str):
    offered = actions(client, uri, 4, ["refactor.rewrite.excise.variant"])
    assert [action["title"] for action in offered] == [
        "Take the lines of ada here and in 2 hunks that belong with it (1 of 2)",
        "Take the lines of ada here alone (1 of 2)",
        "Take the lines of bo here and in 1 hunk that belongs with it (1 of 2)",
        "Take the lines of bo here alone (1 of 2)",
    ]
    # what would be broken is a command, which says so
    assert ["edit" in action for action in offered] == [True, False, True, False]


def test_taking_another_way_takes_all_of_it(client: RawClient, uri: str):
    """Hunks of one place are one decision: nothing of the first way is left behind."""
    whole = taken(client, ORIGIN, params(client, uri, "user())"))
    client.change(uri, 2, {"text": whole})
    assert taken(client, whole, params(client, uri, "url, login.user", 2)) == ADA
    # what is partly there already is completed
    partly = ORIGIN.replace("import os\n", IMPORT)
    client.change(uri, 3, {"text": partly})
    assert taken(client, partly, params(client, uri, "url, login.user", 3)) == ADA


@pytest.mark.parametrize("how", ["by hand", "kept", "another"])
def test_a_decision_for_a_hunk_that_belongs_with_it_is_not_overwritten(
    client: RawClient, uri: str, how: str
):
    version, text = 2, ORIGIN
    if how == "by hand":
        text = ORIGIN.replace("drop(number)", "keep(number)")
    elif how == "another":
        text = ORIGIN.replace("drop(number)", "drop(number, login.user)")
    client.change(uri, version, {"text": text})
    if how == "kept":
        client.call("excise/decide", {"uri": uri, "hunk": 3, "version": version})
    asked = params(client, uri, "url, user()", version)
    error = client.refused("excise/apply", asked)
    assert error["code"] == REQUEST_FAILED
    assert "line 13, which belongs with it, is decided otherwise" in error["message"]
    assert "take this hunk alone" in error["message"]
    alone = taken(client, text, asked | {"split": True, "anyway": True})
    assert alone == text.replace("open(url)", "open(url, user())")


def test_what_the_decisions_break_is_said_until_it_is_mended(client: RawClient, uri: str):
    assert messages(client, uri) == []
    broken = ORIGIN.replace("open(url)", "open(url, login.user)")
    wanted = "uses login, which nothing defines (ada)"
    cases = [
        (broken, [wanted]),
        ("# typed above\n" + broken, [wanted]),  # the line moves
        (broken.replace("import os", "import os, login"), []),  # mended by hand
        (ADA, []),
        (ORIGIN.replace("sku)\n", "skku)\n"), []),  # typed, and nobody's decision
        (broken.replace("send(sku)", "send(skku)"), [wanted]),
        (ORIGIN, []),
    ]
    for version, (text, expected) in enumerate(cases, start=2):
        client.change(uri, version, {"text": text})
        said = review(client, uri)
        assert [problem["message"] for problem in said["problems"]] == expected, text
        for problem in said["problems"]:
            assert "login.user" in text.split("\n")[problem["range"]["start"]["line"]]
            assert "login.user" in str(said["hunks"][problem["hunk"]]["variants"])


def test_lines_that_use_what_was_taken_away_name_who_took_it(client: RawClient, uri: str):
    uri, origin = f"{uri}x.py", "A = 1\n\n\ndef f():\n    return A\n\n\ndef g():\n    x = 1\n"
    client.open(uri, origin)
    client.add(uri, {"eli": origin.replace("A", "B"), "flo": origin.replace("x = 1", "x = 2")})
    client.change(uri, 2, {"text": origin.replace("A = 1", "B = 1")})
    said = review(client, uri)
    [problem] = said["problems"]
    assert problem["message"] == "uses A, which nothing defines (eli)"
    assert (problem["range"]["start"]["line"], problem["hunk"]) == (4, 0)


def test_warnings_are_diagnostics_pushed_or_pulled(uri: str):
    broken = ORIGIN.replace("open(url)", "open(url, login.user)")
    for pulls in (False, True):
        with serving(FULL | PULLS if pulls else FULL) as client:
            client.open(uri, ORIGIN)
            client.add(uri, {"ada": ADA, "bo": BO})
            client.change(uri, 2, {"text": broken})
            review(client, uri)
            if pulls:
                document = {"textDocument": {"uri": uri}}
                found = client.call("textDocument/diagnostic", document)["items"]
                assert "workspace/diagnostic/refresh" in str(client.received)
            else:  # sent before the answer
                method = "textDocument/publishDiagnostics"
                sent = [m["params"] for m in client.received if m.get("method") == method]
                found = sent[-1]["diagnostics"]
            [warning] = [d for d in found if d["code"] == "mix"]
            assert (warning["severity"], warning["range"]["start"]["line"]) == (2, 4)
            assert "uses login" in warning["message"]
            assert warning["data"] == {"hunk": 1}


def test_typing_beside_a_sound_mix_brings_no_warning(client: RawClient, uri: str):
    sound = ORIGIN.replace("send(sku)", "send(sku, 1)")
    client.change(uri, 2, {"text": sound})
    assert messages(client, uri) == []
    for version, typed in enumerate(("x", "xy", "xyz = ("), start=3):
        client.change(
            uri, version, {"text": sound.replace("import os\n", f"import os\n\n{typed}\n")}
        )
        assert messages(client, uri) == []
    client.change(uri, 6, {"text": BO})  # what somebody wrote as a whole is no mix
    assert messages(client, uri) == []


def test_with_another_origin_other_hunks_belong_together(client: RawClient, uri: str):
    """What was taken and saved is no decision any more once the review starts again."""
    half = ORIGIN.replace("import os\n", IMPORT).replace("open(url)", "open(url, login.user)")
    client.change(uri, 2, {"text": half})
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert messages(client, uri) == []
    assert client.call("excise/startAgain", {"uri": uri}) == {"started": True}
    # the origin binds what ada's last hunk uses: it is alone
    assert not any(unit["hunks"] for hunk in review(client, uri)["hunks"] for unit in hunk["units"])
    assert taken(client, half, params(client, uri, "number, login.user", 2)) == ADA


def test_candidates_that_go_take_their_problems_with_them(client: RawClient, uri: str):
    client.change(uri, 2, {"text": ORIGIN.replace("open(url)", "open(url, login.user)")})
    assert len(messages(client, uri)) == 1
    client.call("excise/removeCandidates", {"uri": uri, "ids": ["ada"]})
    assert messages(client, uri) == []
    asked = {"uri": uri, "hunk": 0, "variant": 9, "version": 2, "split": True}
    assert client.refused("excise/apply", asked)["code"] != REQUEST_FAILED
    assert client.refused("excise/apply", asked | {"split": 1})["code"] == -32602
