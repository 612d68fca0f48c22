"""A mailbox in the editor: a lens and a hover on each message."""

from __future__ import annotations

import pytest
from tests.server.raw_client import RawClient

from excise_server.mailbox import MAX_PATCHES, explain, read_mailbox, title

CODE = [f"    step_{n}(state, {n});" for n in range(8)]


def mail(subject: str, added: list[str], path: str = "src/run.c") -> str:
    """A mail whose patch adds lines after two lines of context."""
    body = "".join(f"+{line}\n" for line in added)
    return (
        "From 1234567890abcdef1234567890abcdef12345678 Mon Sep 17 00:00:00 2001\n"
        f"From: Ada <ada@example.org>\nSubject: [PATCH] {subject}\n"
        "Date: Mon, 2 Nov 2026 10:00:00 +0000\n\nWhy.\n---\n"
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
        f"@@ -10,2 +10,{2 + len(added)} @@\n int run(void) {{\n{body} }}\n-- \n2.40\n\n"
    )


FIRST = mail("run: guard", CODE[:4])
LONGER = mail("run: guard, with a test", [*CODE[:4], *CODE[4:5]])
OTHER = mail("docs: say so", ["Words that share nothing."], "docs/read.me")
AGAIN = mail("run: guard again", CODE[:4])


def titles(text: str) -> list[str]:
    mailbox = read_mailbox(text)
    return [title(mailbox, message) for message in mailbox.messages]


def test_titles_say_cluster_nearest_and_containment():
    first, longer, other, again = titles(FIRST + LONGER + OTHER + AGAIN)
    assert first == "cluster 1 of 2 · same as #4, 1.00 · the same patch"
    assert longer.startswith("cluster 1 of 2 · same as #1, 0.8")
    assert longer.endswith(" · contains it whole")
    assert other == "cluster 2 of 2 · nothing in common with the others"
    assert again == "cluster 1 of 2 · same as #1, 1.00 · the same patch"


def test_one_patch_alone_has_no_others():
    assert titles(FIRST) == ["cluster 1 of 1"]


def test_the_nearest_of_another_cluster_is_not_called_the_same():
    half = mail("run: half of it, and much else", [*CODE[:2], *(f"more_{n}();" for n in range(9))])
    _, said = titles(FIRST + half)
    assert said.startswith("cluster 2 of 2 · nearest is #1, 0.")


def test_broken_and_empty_messages_are_said():
    envelope = FIRST.partition("\n")[0] + "\n"
    cover = FIRST.partition("---\n")[0]
    assert titles(FIRST + envelope + "\n" + cover)[1:] == ["not compared: an empty message", ""]
    assert titles("") == ["not compared: an empty message"]


def test_hostile_subjects_are_printable():
    mailbox = read_mailbox(mail("<script>\x1b[31m\u202e", CODE[:2]) + FIRST)
    text = "\n".join(str(block) for block in explain(mailbox, mailbox.messages[0]))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_explanation_names_the_cluster_and_the_files():
    mailbox = read_mailbox(FIRST + LONGER + mail("moved", CODE[:4], "lib/run.c"))
    text = "\n".join(str(block) for block in explain(mailbox, mailbox.messages[0]))
    assert "#1: run: guard" in text
    assert "representative" in text
    assert "basis:edits" in text


def test_too_many_patches_are_counted_not_compared():
    mailbox = read_mailbox(FIRST * (MAX_PATCHES + 1))
    assert title(mailbox, mailbox.messages[0]) == (
        f"{MAX_PATCHES + 1} patches, limit {MAX_PATCHES} here: use excise cluster"
    )


# --- over the wire ---


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lenses_and_hovers(end: str):
    uri = "file:///nowhere/queue.mbox"
    text = (FIRST + LONGER + OTHER).replace("\n", end)
    with RawClient() as client:
        hover = {"hover": {"contentFormat": ["markdown"]}}
        client.initialize({"textDocument": hover})
        client.open(uri, text, language="plaintext")
        document = {"uri": uri}
        lenses = client.call("textDocument/codeLens", {"textDocument": document})
        lines = [lens["range"]["start"]["line"] for lens in lenses]
        size = FIRST.count("\n")
        assert lines == [0, size, size + LONGER.count("\n")]
        assert lenses[0]["command"]["command"] == ""
        assert lenses[1]["command"]["title"].endswith("contains it whole")
        where = {"textDocument": document, "position": {"line": size + 3, "character": 0}}
        shown = client.call("textDocument/hover", where)["contents"]["value"]
        assert shown.startswith("#2: run: guard, with a test")
        client.change(uri, 2, {"text": FIRST})
        [lens] = client.call("textDocument/codeLens", {"textDocument": document})
        assert lens["command"]["title"] == "cluster 1 of 1"
        client.notify("textDocument/didClose", {"textDocument": document})
        assert client.call("textDocument/codeLens", {"textDocument": document}) is None
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


def test_a_hostile_subject_is_inert_in_the_hover():
    uri = "file:///nowhere/a.patch"
    with RawClient() as client:
        client.initialize({"textDocument": {"hover": {"contentFormat": ["markdown"]}}})
        client.open(uri, mail("[x](command:y) <script> ![](http://e/i.png)", CODE[:2]) + FIRST)
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        shown = client.call("textDocument/hover", where)["contents"]["value"]
        assert "](" not in shown.replace("\\]", "")
        assert "<script" not in shown.replace("\\<", "")


def test_a_file_without_patches_has_no_lens():
    with RawClient() as client:
        client.initialize()
        client.open("file:///nowhere/a.py", FIRST)
        document = {"textDocument": {"uri": "file:///nowhere/a.py"}}
        assert client.call("textDocument/codeLens", document) is None
