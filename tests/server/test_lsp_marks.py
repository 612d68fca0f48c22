"""Marks in a file: how many, how severe, what they send, and where none is while somebody types."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from lsprotocol import types as t
from tests.server.raw_client import Message, RawClient, serving

from excise_server.editor.document import document_key
from excise_server.lsp.publishing import TypedLines

pytestmark = pytest.mark.slow

LINES = [f"x{n} = {n}\n" for n in range(3000)]
ORIGIN = "".join(LINES)
INFORMATION, HINT = 3, 4


@pytest.fixture(scope="module")
def client() -> Iterator[RawClient]:
    with serving(workspaceFolders=[]) as client:
        yield client


def opened(client: RawClient, name: str, text: str, revisions: dict[str, str]) -> str:
    uri = f"file:///marks/{name}.py"
    client.open(uri, text)
    assert not client.add(uri, revisions)["rejected"]
    return uri


def edited(**lines: str) -> str:
    """The origin with other texts on some lines: ``l7="x7 = 0"``."""
    made = list(LINES)
    for name, text in lines.items():
        made[int(name[1:])] = f"{text}\n"
    return "".join(made)


def every(step: int, first: int, value: str) -> str:
    return edited(**{f"l{at}": f"x{at} = {value}" for at in range(first, 3000, step)})


def hunks(found: list[Message]) -> list[Message]:
    return [d for d in found if d["code"] == "hunk"]


def key(line: int, column: int, text: str) -> Message:
    where = {"line": line, "character": column}
    return {"range": {"start": where, "end": where}, "text": text}


def test_of_many_hunks_the_first_are_marks_and_the_others_hints(client: RawClient):
    uri = opened(client, "severe", ORIGIN, {"ada": every(100, 50, "y"), "bo": ORIGIN})
    file, *marks = client.diagnostics(uri, 1)
    assert (file["code"], file["severity"]) == ("ranking", INFORMATION)
    assert [d["severity"] for d in marks] == [INFORMATION] * 20 + [HINT] * 4
    assert len([file, *marks]) == 25
    assert {d["message"].split(",")[0] for d in marks} == {"only ada makes this change"}


@pytest.mark.parametrize("count", [8, 9])
def test_every_pair_is_in_the_message_or_in_the_data(client: RawClient, count: int):
    names = [f"c{n}" for n in range(count)]
    texts = {name: edited(**{f"l{at}": f"x{at} = y"}) for at, name in enumerate(names)}
    file, *_ = client.diagnostics(opened(client, f"pairs{count}", ORIGIN, texts), 1)
    total = count * (count - 1) // 2
    listed = [line for line in file["message"].split("\n") if line.startswith("ES ")]
    assert len(listed) == 28, "all of eight, the nearest of more"
    assert (f"nearest of {total} pairs" in file["message"]) is (count == 9)
    assert [len(row) for row in file["data"]["similarity"]] == [count] * count
    assert file["message"].startswith(f"{count} candidates in ")


def test_many_revisions_have_marks_before_their_scores(client: RawClient):
    texts = {f"c{n}": every(150, 5, f"y{n % 4}") for n in range(20)}
    uri = opened(client, "early", ORIGIN, texts)

    def marks() -> list[Message]:
        message = client.wait(lambda m: m.get("params", {}).get("uri") == uri)
        assert message["method"] == "textDocument/publishDiagnostics"
        return message["params"]["diagnostics"]

    early, (file, *late) = marks(), marks()
    assert file["code"] == "ranking"
    assert [d["range"] for d in early] == [d["range"] for d in late]
    assert all(d["message"].startswith(e["message"]) for d, e in zip(late, early, strict=True))
    assert not any("ES" in d["message"] or "pairs" in d["data"] for d in early)
    assert [d["data"]["index"] for d in early] == list(range(20))


def test_a_key_sends_little(client: RawClient):
    """Twenty candidates of 3,000 lines that differ in 200 places: at most 50 kB a key."""
    texts = {f"c{n}": every(15, 5, f"y{n % 4}") for n in range(20)}
    uri = opened(client, "large", ORIGIN, texts)
    assert len(hunks(client.diagnostics(uri, 1))) == 24
    client.change(uri, 2, key(1001, 0, "#"))
    found = client.diagnostics(uri, 2)
    assert len(json.dumps(found, separators=(",", ":"))) <= 50_000


def test_no_mark_is_on_the_line_that_is_typed_until_the_keyboard_rests(client: RawClient):
    uri = opened(client, "typed", ORIGIN, {"ada": edited(l7="x7 = y", l9="x9 = y")})
    assert [d["range"]["start"]["line"] for d in hunks(client.diagnostics(uri, 1))] == [7, 9]
    client.change(uri, 2, key(7, 0, "#"))
    client.change(uri, 3, {"range": span(7, 0, 7, 1), "text": ""})
    assert [d["range"]["start"]["line"] for d in hunks(client.diagnostics(uri, 3))] == [9]
    lenses = client.call("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert [lens["range"]["start"]["line"] for lens in lenses] == [0, 9]
    # Nothing is typed any more: the mark comes back by itself.
    assert [d["range"]["start"]["line"] for d in hunks(client.diagnostics(uri, 3))] == [7, 9]
    lenses = client.call("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert [lens["range"]["start"]["line"] for lens in lenses] == [0, 7, 9]


def test_a_save_ends_typing_and_a_large_edit_is_none(client: RawClient):
    uri = opened(client, "saved", ORIGIN, {"ada": edited(l7="x7 = y")})
    client.diagnostics(uri, 1)
    client.change(uri, 2, key(7, 0, "#"))
    client.change(uri, 3, {"range": span(7, 0, 7, 1), "text": ""})
    assert not hunks(client.diagnostics(uri, 3))
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert len(hunks(client.diagnostics(uri, 3))) == 1
    client.change(uri, 4, {"range": span(3, 0, 8, 0), "text": "".join(LINES[3:8])})
    assert len(hunks(client.diagnostics(uri, 4))) == 1


def test_a_large_edit_ends_typing_while_a_mark_is_held():
    """The analysis of that edit publishes the mark; nothing else has to, later."""
    uri, where = "file:///marks/large.py", t.Range(t.Position(7, 0), t.Position(7, 0))

    async def typed() -> None:
        rested: list[str] = []
        lines = TypedLines(rested.append)
        lines.note(uri, [t.TextDocumentContentChangePartial(where, "#")])
        assert lines.holds(document_key(uri), where)
        lines.note(uri, [t.TextDocumentContentChangePartial(where, "a\nb\nc\n")])
        assert not lines.holds(document_key(uri), where)
        lines.rest(uri)
        assert rested == []
        lines.note(uri, [t.TextDocumentContentChangePartial(where, "#")])
        assert lines.holds(document_key(uri), where)
        lines.rest(uri)
        assert rested == [document_key(uri)]
        lines.forget(uri)

    asyncio.run(typed())


def test_with_every_hunk_decided_the_scores_stay(client: RawClient):
    uri = opened(client, "decided", ORIGIN, {"ada": edited(l7="x7 = y"), "bo": edited(l7="x7 = z")})
    client.diagnostics(uri, 1)
    client.change(uri, 2, {"text": edited(l7="x7 = y")})
    [file] = client.diagnostics(uri, 2)
    assert "1 of 1 hunk decided" in file["message"]
    assert "ES " in file["message"]


def span(line: int, column: int, last: int, end: int) -> Message:
    return {
        "start": {"line": line, "character": column},
        "end": {"line": last, "character": end},
    }
