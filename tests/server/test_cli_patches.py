"""``excise cluster`` on patches: files, mailboxes, folders and standard input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.server.command import excise

from excise_server.wire.documents import PatchDocument

DOCS = (Path(__file__).parents[2] / "docs" / "patches.md").read_text(encoding="utf-8")
FROM = "From 0123456789 Mon Sep 17 00:00:00 2001\n"


def mail(subject, *changed, path="x.c", author="A <a@b>", more=""):
    old = "".join(f"-{line}\n" for line in changed[::2])
    new = "".join(f"+{line}\n" for line in changed[1::2])
    n = len(changed) // 2
    head = f"{FROM}From: {author}\nSubject: {subject}\n{more}\n---\n"
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -1,{n} +1,{n} @@\n{old}{new}" if changed else ""
    return f"{head}{diff}-- \n2.40.1\n\n"


ONE = mail("[PATCH 1/2] x: use f", "a = g(b, c);", "a = f(b, c);")
AGAIN = mail("[PATCH v2 1/2] x: use f", "a = g(b, c);", "a = f(b, c); /* new */")
OTHER = mail("[PATCH] y: stop", "return 1;", "return 0;", path="y.c")
COVER = mail("[PATCH 0/2] x: two things")


def test_a_mailbox_on_standard_input():
    ran = excise("cluster", "-", "--json", "--scores", stdin=COVER + ONE + OTHER + AGAIN)
    assert ran.code == 0, ran.err
    found = ran.json
    assert [cluster["members"] for cluster in found["clusters"]] == [["-#2", "-#4"], ["-#3"]]
    assert (found["basis"], found["linkage"], found["threshold"]) == ("edits", "complete", 0.55)
    assert found["covers"] == [{"id": "-#1", "subject": "[PATCH 0/2] x: two things"}]
    [(i, j, value)] = found["scores"]
    assert (i, j) == ("-#2", "-#4")
    assert 0.45 < value < 1
    assert found["clusters"][0]["min_similarity"] == value
    again = found["patches"][1]
    assert (again["id"], again["version"], again["index"], again["contains"]) == ("-#4", 2, 1, 1.0)


SECOND = mail("[PATCH 2/2] x: call it", "h(1);", "h(2);", path="z.c")
LATER = mail("[PATCH v2 2/2] x: call it", "h(1);", "h(2);", path="z.c")


@pytest.mark.parametrize(
    ("options", "sent", "clusters", "left_out"),
    [
        ((), ONE + OTHER + AGAIN, [["-#2"], ["-#3"]], ["-#1"]),
        (("--series",), ONE + SECOND + OTHER + AGAIN + LATER, [["-#3"], ["-#4"]], ["-#1", "-#2"]),
    ],
)
def test_newest_leaves_out_what_has_a_newer_version(options, sent, clusters, left_out):
    found = excise("cluster", "-", "--json", "--newest", *options, stdin=sent).json
    assert [cluster["members"] for cluster in found["clusters"]] == clusters
    said = ["left out: its series has a newer version"]
    assert found["notes"] == dict.fromkeys(left_out, said)


@pytest.mark.parametrize("others", [0, 1, 146])
def test_a_pair_has_one_number_whatever_lies_beside_it(others):
    blob = "diff --git a/x.c b/x.c\nindex 1234567..{} 100644\n--- a/x.c"
    pair = [text.replace("--- a/x.c", blob.format(new)) for text, new in ((ONE, 2), (AGAIN, 3))]
    beside = "".join(mail(f"o {n}", f"b{n};", f"f(b{n});", path=f"{n}.c") for n in range(others))
    ran = excise("cluster", "-", "--json", "--scores", stdin="".join(pair) + beside)
    [*known] = [value for i, j, value in ran.json["scores"] if {i, j} == {"-#1", "-#2"}]
    assert (known, ran.json["basis"]) == ([39 / 49], "edits")


def test_options_reach_the_groups():
    ran = excise("cluster", "-", "--json", "--threshold", "0.1", stdin=ONE + AGAIN)
    assert len(ran.json["clusters"]) == 2
    lock = mail("lock", "1", "2", path="Cargo.lock")
    edit = ONE.replace("-- \n2.40.1\n", lock[lock.index("--- a/") :])
    ran = excise("cluster", "-", "--json", "--scores", stdin=ONE + edit)
    assert ran.json["scores"] == [["-#1", "-#2", 1.0]]
    ran = excise("cluster", "-", "--json", "--scores", "--ignore-path", "", stdin=ONE + edit)
    assert ran.json["scores"][0][2] < 1


@pytest.mark.slow
def test_empty_input_and_ten_thousand_empty_messages():
    assert excise("cluster", "-", stdin="").code == 1
    ran = excise("cluster", "-", "--json", stdin=(FROM + "\n") * 10_000)
    assert ran.json["clusters"] == []


@pytest.mark.parametrize("arguments", [("--json", "--scores"), ("--json", "--series")])
def test_every_key_is_described(arguments):
    found = excise("cluster", "-", *arguments, stdin=COVER + ONE + SECOND + AGAIN).json
    keys = {*found, *found["clusters"][0], *found["patches"][0]} - {"schema"}
    assert keys <= set(re.findall(r"`(\w+)`", DOCS))
    read = msgspec.convert(found, PatchDocument)
    assert json.loads(msgspec.json.encode(read)) == found
