"""A mailbox in the editor: a lens and a hover on each message.

What they say is expected by the archives tests/cases/editor/mailbox*.txt.
"""

from __future__ import annotations

import re

import pytest
from tests.server.raw_client import RawClient
from tests.server.test_cli_duplicates import PATCHES

from excise_server.editor.findings import Line
from excise_server.editor.mailbox import MAX_PATCHES, explain, read_mailbox, title

pytestmark = pytest.mark.slow

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


def titles(text: str) -> list[str]:
    mailbox = read_mailbox(text)
    return [title(mailbox, message) for message in mailbox.messages]


def test_too_many_patches_are_counted_not_compared():
    mailbox = read_mailbox(FIRST * (MAX_PATCHES + 1))
    said = title(mailbox, mailbox.messages[0])
    assert {f"{MAX_PATCHES + 1}", f"{MAX_PATCHES}"} <= set(re.findall(r"\d+", said))


def queue(*authors: str) -> str:
    """Two mails of some authors that mend one thing in two ways."""
    separator = "From 1234567890abcdef1234567890abcdef12345678 Mon Sep 17 00:00:00 2001\n"
    mails = (PATCHES["1.patch"], PATCHES["2.patch"])
    return "".join(
        f"{separator}{mail.replace(first, author)}\n"
        for mail, first, author in zip(mails, ("ada", "bo"), authors, strict=True)
    )


def test_what_may_be_about_one_issue_is_said_beside_the_edit():
    first, second = titles(queue("ada", "bo"))
    assert first.startswith("cluster 1 of 2 · ")
    assert first.endswith(" · likely the same issue as #2")
    assert second.endswith(" · likely the same issue as #1")
    mailbox = read_mailbox(queue("ada", "bo"))
    explained = [b.text for b in explain(mailbox, mailbox.messages[0]) if isinstance(b, Line)]
    [said] = [line for line in explained if line.startswith("Likely")]
    assert re.fullmatch(
        r"Likely the same issue as #2: what \.\d\d, where .*, why \.\d\d", said.replace("0.", ".")
    )


def test_patches_of_one_author_or_of_one_edit_are_not_called_one_issue():
    assert not any("issue" in line for line in titles(queue("ada", "ada")))
    assert not any("issue" in line for line in titles(FIRST + FIRST))


# --- over the wire ---


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lenses_and_hovers(end: str):
    uri = "file:///nowhere/queue.mbox"
    text = FIRST + LONGER + OTHER
    with RawClient() as client:
        hover = {"hover": {"contentFormat": ["markdown"]}}
        client.initialize({"textDocument": hover})
        client.open(uri, text.replace("\n", end), language="plaintext")
        document = {"uri": uri}
        lenses = client.call("textDocument/codeLens", {"textDocument": document})
        lines = [lens["range"]["start"]["line"] for lens in lenses]
        size = FIRST.count("\n")
        assert lines == [0, size, size + LONGER.count("\n")]
        assert lenses[0]["command"]["command"] == ""
        assert [lens["command"]["title"] for lens in lenses] == titles(text)
        where = {"textDocument": document, "position": {"line": size + 3, "character": 0}}
        shown = client.call("textDocument/hover", where)["contents"]["value"]
        assert "run: guard, with a test" in shown.split("\n")[0]
        client.change(uri, 2, {"text": FIRST})
        [lens] = client.call("textDocument/codeLens", {"textDocument": document})
        assert [lens["command"]["title"]] == titles(FIRST)
        client.notify("textDocument/didClose", {"textDocument": document})
        assert client.call("textDocument/codeLens", {"textDocument": document}) is None
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)
