"""``excise cluster`` on patches: files, mailboxes, folders and standard input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.server.command import SUGGESTIONS, excise, one_line

from excise_server.report.patches import PatchDocument

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


def test_a_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.patch").write_text(ONE)
    (tmp_path / "all.mbox").write_text(ONE + OTHER)
    (tmp_path / "README").write_text("nothing\n")
    (tmp_path / "packed.zip").write_bytes(b"PK\x03\x04\0\0")
    (tmp_path / "merge.diff").write_text("diff --cc x\n@@@ -1 -1 +1 @@@\n")
    ran = excise("cluster", str(tmp_path), "--json")
    assert ran.code == 1
    members = [cluster["members"] for cluster in ran.json["clusters"]]
    assert members == [["all.mbox#1", "sub/one.patch"], ["all.mbox#2"]]
    assert ran.json["rejected"] == [
        {"id": "merge.diff", "reason": "line 1: a combined diff (of a merge) cannot be read"}
    ]
    assert "other files, not patches: 2" in excise("cluster", str(tmp_path)).out


def test_newest():
    ran = excise("cluster", "-", "--json", "--newest", stdin=ONE + OTHER + AGAIN)
    assert [cluster["members"] for cluster in ran.json["clusters"]] == [["-#2"], ["-#3"]]
    assert ran.json["notes"]["-#1"] == ["left out: there is a newer version of its series"]


SECOND = mail("[PATCH 2/2] x: call it", "h(1);", "h(2);", path="z.c")
LATER = mail("[PATCH v2 2/2] x: call it", "h(1);", "h(2);", path="z.c")


def test_a_series_is_one_patch():
    sent = COVER + ONE + SECOND + OTHER + AGAIN + LATER
    found = excise("cluster", "-", "--json", "--series", stdin=sent).json
    assert [cluster["members"] for cluster in found["clusters"]] == [["-#1", "-#5"], ["-#4"]]
    first, second = found["patches"][:2]
    assert first["messages"] == ["-#1", "-#2", "-#3"]
    assert second["messages"] == ["-#5", "-#6"]
    assert first["files"] == ["x.c", "z.c"]
    assert "messages" not in found["patches"][2]
    assert found["covers"] == []
    alone = excise("cluster", "-", "--json", "--series", stdin=SECOND + OTHER).json
    assert alone["notes"]["-#1"] == ["of its series these are not here: 1"]
    sent = ONE + SECOND + OTHER + AGAIN + LATER
    both = excise("cluster", "-", "--json", "--series", "--newest", stdin=sent).json
    assert [cluster["members"] for cluster in both["clusters"]] == [["-#3"], ["-#4"]]


def test_the_basis_is_said():
    blob = "index 1234567..{} 100644\n--- a/x.c"
    shown = [
        text.replace("--- a/x.c", "diff --git a/x.c b/x.c\n" + blob.format(new))
        for text, new in ((ONE, "2345678"), (AGAIN, "3456789"))
    ]
    assert excise("cluster", "-", "--json", stdin="".join(shown)).json["basis"] == "edits"


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


def test_the_same_message_twice_and_a_patch_against_itself():
    twice = mail("x", "a", "b", more="Message-ID: <1@x>\n") * 2
    found = excise("cluster", "-", "--json", stdin=twice).json
    assert found["notes"] == {"-#2": ["duplicate Message-ID"]}
    assert found["clusters"][0]["min_similarity"] == 1


def test_hostile_texts_are_inert():
    hostile = mail("=?utf-8?q?=1B[31m<script>=E2=80=AE?=", "a", "b", path="a\x1b[1m.c")
    ran = excise("cluster", "-", stdin=hostile)
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert "\\x1b[31m<script>\\u202e" in ran.out.replace("\n", "")
    assert "\x1b" not in excise("cluster", "-", "--csv", stdin=hostile).out


def test_csv_runs_no_formula():
    ran = excise("cluster", "-", "--csv", stdin=mail("=1+2", "a", "b") + OTHER)
    rows = list(csv.DictReader(ran.out.split("\n")))
    assert [row["subject"] for row in rows] == ["'=1+2", "[PATCH] y: stop"]


def test_refusals():
    assert "Name patches" in excise("cluster").err
    assert "--comments drop needs whole files" in excise("cluster", "-", "--comments", "drop").err
    assert "--csv: for patches alone" in excise("cluster", "--origin", *SUGGESTIONS, "--csv").err
    one_line(excise("cluster", "/no/such/file"), "no such file")


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
