"""``excise cluster`` on patches: files, mailboxes, folders and standard input."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.server.command import excise

from excise.patches import Pool, group, read
from excise_server.wire.documents import ClusterDocument

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
    ran = excise("cluster", "-", "--format", "json", "-v", stdin=COVER + ONE + OTHER + AGAIN)
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
    ("sent", "newest", "count"),
    [
        (ONE + OTHER + AGAIN, {"-#1": "-#3"}, 1),
        (ONE + SECOND + OTHER + AGAIN + LATER, {"-#1": "-#4", "-#2": "-#5"}, 1),
    ],
)
def test_what_has_a_newer_version_does_not_count(sent, newest, count):
    found = excise("cluster", "-", "--format", "json", stdin=sent).json
    replaced = {e["id"]: e["replaced_by"] for e in found["patches"] if e["replaced_by"]}
    assert replaced == newest
    firsts = {e["id"]: e["version_of"] for e in found["patches"] if e["version_of"]}
    assert firsts == {new: old for old, new in newest.items()}
    (issue,) = found["issues"]
    assert sorted(issue["members"]) == sorted({*newest, *newest.values()})
    assert (issue["count"], issue["otherwise"]) == (count, "versions of one series")
    text = excise("cluster", "-", stdin=sent).out
    for new in newest.values():
        assert f"#{new[2:]} (v2 of #{firsts[new][2:]})" in text


def test_versions_of_patches_are_those_with_their_edits_through_all_versions():
    def patch(prefix, path, more=""):
        old, name = f"{path[0]}_call(one, two, three);", path[0]
        new = f"{old} finish_{name}({name}, {name}_length);{more}"
        return mail(f"[PATCH{prefix}] {path}: change", old, new, path=path)

    a, b, c = "a.c", "b.c", "c.c"
    sent = [
        *(patch(f" {n}/3", path) for n, path in enumerate((a, b, c), start=1)),
        *(patch(f" v2 {n}/2", path) for n, path in enumerate((c, a), start=1)),  # no b, no cover
        *(patch(f" v3 {n}/3", path, " more();") for n, path in enumerate((b, a, c), start=1)),
    ]
    found = excise("cluster", "-", "--format", "json", stdin="".join(sent)).json
    entries = {entry["id"]: entry for entry in found["patches"]}
    assert {name: e["version_of"] for name, e in entries.items() if e["version_of"]} == {
        "-#4": "-#3", "-#5": "-#1", "-#6": "-#2", "-#7": "-#1", "-#8": "-#3",
    }  # fmt: skip
    assert {name: e["replaced_by"] for name, e in entries.items() if e["replaced_by"]} == {
        "-#1": "-#7", "-#2": "-#6", "-#3": "-#8", "-#4": "-#8", "-#5": "-#7",
    }  # fmt: skip
    assert not any(entry["not_in"] for entry in entries.values())
    found = excise("cluster", "-", "--format", "json", stdin="".join(sent[:5])).json
    assert {e["id"]: e["not_in"] for e in found["patches"] if e["not_in"]} == {"-#2": 2}
    # What is in a newer patch as a part has that as its newer version.
    both = patch(" v2 1/1", a) + patch(" v2 1/1", b).partition("\n\n")[2]
    found = excise("cluster", "-", "--format", "json", stdin="".join([*sent[:2], both])).json
    assert {e["id"]: e["replaced_by"] for e in found["patches"]} == {
        "-#1": "-#3", "-#2": "-#3", "-#3": "",
    }  # fmt: skip


def test_a_page_shows_the_hunk_in_which_members_differ_and_names_all_of_them():
    sent = [mail(f"[PATCH] copy {n}", "a = g(b, c);", "a = f(b, c);") for n in range(30)]
    sent += [mail("[PATCH] other", "a = g(b, c);", "a = f(b, d);")]
    for arguments in ((), ("-v",), ("-v", "--format", "markdown")):
        page = excise("cluster", "-", *arguments, stdin="".join(sent)).out
        assert all(re.search(rf"#{n}\b", page) for n in range(1, 32)), page
        shown = [line.strip() for line in page.splitlines() if line.strip()[:1] in "<>"]
        expected = ["< +a = f(b, c);", "> +a = f(b, d);"] if arguments else []
        assert [line for line in shown if line] == expected
        assert "where" not in page.partition("All numbers")[0]


def test_what_was_sent_twice_has_the_same_newer_version():
    again = AGAIN.replace("new", "newer")
    found = excise("cluster", "-", "--format", "json", stdin=ONE + ONE + AGAIN + again).json
    entries = {entry["id"]: entry for entry in found["patches"]}
    assert [entries[name]["version_of"] for name in ("-#3", "-#4")] == ["-#1"] * 2
    assert entries["-#1"]["replaced_by"] == entries["-#2"]["replaced_by"] != ""


@pytest.mark.parametrize("others", [0, 1, 146])
def test_a_pair_has_one_number_whatever_lies_beside_it(others):
    blob = "diff --git a/x.c b/x.c\nindex 1234567..{} 100644\n--- a/x.c"
    pair = [text.replace("--- a/x.c", blob.format(new)) for text, new in ((ONE, 2), (AGAIN, 3))]
    beside = "".join(mail(f"o {n}", f"b{n};", f"f(b{n});", path=f"{n}.c") for n in range(others))
    ran = excise("cluster", "-", "--format", "json", "-v", stdin="".join(pair) + beside)
    [*known] = [value for i, j, value in ran.json["scores"] if {i, j} == {"-#1", "-#2"}]
    assert (known, ran.json["basis"]) == ([39 / 49], "edits")


def pool_of(text, **options):
    pool = Pool(**options)
    for message in read(text.encode()):
        pool.add(message.patch)
    return pool


def test_lock_files_do_not_count_and_the_library_has_a_choice():
    assert len(group(pool_of(ONE + AGAIN), threshold=0.1)) == 2
    lock = mail("lock", "1", "2", path="Cargo.lock")
    edit = ONE.replace("-- \n2.40.1\n", lock[lock.index("--- a/") :])
    ran = excise("cluster", "-", "--format", "json", "-v", stdin=ONE + edit)
    assert ran.json["scores"] == [["-#1", "-#2", 1.0]]
    assert pool_of(ONE + edit).score(0, 1) == 1.0
    assert pool_of(ONE + edit, ignored=()).score(0, 1) < 1


@pytest.mark.slow
def test_empty_input_and_ten_thousand_empty_messages():
    assert excise("cluster", "-", stdin="").code == 1
    ran = excise("cluster", "-", "--format", "json", stdin=(FROM + "\n") * 10_000)
    assert ran.json["clusters"] == []


@pytest.mark.parametrize("arguments", [("-v",), ()])
def test_every_key_is_described(arguments):
    sent = COVER + ONE + SECOND + AGAIN
    found = excise("cluster", "-", "--format", "json", *arguments, stdin=sent).json
    keys = {*found, *found["clusters"][0], *found["patches"][0], *found["issues"][0]} - {"schema"}
    assert keys <= set(re.findall(r"`(\w+)`", DOCS))
    read = msgspec.convert(found, ClusterDocument)
    assert json.loads(msgspec.json.encode(read)) == found


def test_a_mail_of_two_lists_counts_once(tmp_path):
    one = mail("[PATCH] x", "a = g(b, c);", "a = f(b, c);", more="Message-ID: <1@a>\n")
    for name in ("list.mbox", "other.mbox"):
        (tmp_path / name).write_text(one.replace("\n---", f"List-Id: <{name}>\n\n---"))
    for more in ((), ("--state", str(tmp_path / "queue.state"))):
        found = excise("cluster", str(tmp_path), *more, "--format", "json").json
        assert [entry["id"] for entry in found["patches"]] == ["list.mbox"]
    found = excise("cluster", str(tmp_path), "--format", "json").json
    assert "sent to several lists, or twice, and counted once: 1" in found["about"]


def test_the_hunk_in_which_two_differ_is_cut_around_what_differs():
    old = " ".join(f"w{number}" for number in range(200))
    sent = [mail("[PATCH] x", "old;", old.replace("w150", own)) for own in ("this", "that")]
    page = excise("cluster", "-", "-v", stdin="".join(sent)).out
    assert {"this", "that"} <= set(page.split())
    assert "w20" not in page.split()


@pytest.mark.parametrize(("total", "words"), [("2", "for another part"), ("1", "in another file")])
def test_files_that_are_alike_in_one_series_are_parts(total, words):
    lines = ["same(context, of, both);", "more(of, it);", "old = call(one, two, three);"]
    new = ["same(context, of, both);", "more(of, it);", "old = call(one, two, four);"]

    def patch(place, path):
        diff = f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n"
        diff += "".join(f" {line}\n" for line in lines[:2]) + f"-{lines[2]}\n+{new[2]}\n"
        return f"{mail(f'[PATCH {place}/{total}] {path}').partition('-- ')[0]}{diff}-- \n2.40.1\n\n"

    sent = patch(1, "gx.c") + patch(2 if total == "2" else 1, "g12.c")
    assert f"overlaps, {words}" in excise("cluster", "-", stdin=sent).out
