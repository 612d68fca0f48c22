"""The state of a queue: what it remembers, what it survives, and what it refuses."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import zlib
from contextlib import closing
from random import Random

import pytest
from tests.server.command import command_line, excise, one_line
from tests.server.test_cli_patches import AGAIN, COVER, FROM, ONE, OTHER, mail

from excise.patches import Pool, group, read
from excise_server.queue.state import State

WORDS = [f"w{at}" for at in range(60)]


def mails(count, seed=0, versions=3):
    """Return so many mails, a few versions of each idea, in files that ideas share."""
    draw = Random(seed)
    found = []
    for at in range(count // versions + 1):
        lines = [" ".join(draw.choices(WORDS, k=6)) for _ in range(8)]
        for version in range(1, versions + 1):
            lines[draw.randrange(8)] = " ".join(draw.choices(WORDS, k=6))
            found.append(
                mail(f"[PATCH v{version}] idea {seed}.{at}", *lines, path=f"d/f{at % 9}.c")
            )
    return found[:count]


def known(state, *arguments, stdin="", code=0):
    ran = excise("cluster", "--state", str(state), "--format", "json", *arguments, stdin=stdin)
    assert ran.code == code, ran.err
    return ran.json


def subjects(found):
    """Return the groups by what nothing renames."""
    names = {entry["id"]: entry["subject"] for entry in found["patches"]}
    return {frozenset(names[name] for name in cluster["members"]) for cluster in found["clusters"]}


def comparable(found):
    """Return a document without what a state adds."""
    return {key: value for key, value in found.items() if key not in ("new", "about")}


def test_it_remembers(tmp_path):
    state = tmp_path / "queue.state"
    first = known(state, "-", stdin=COVER + ONE + OTHER)
    assert first["new"] == ["-#2", "-#3"]
    second = known(state, "-", stdin=AGAIN)
    assert second["new"] == ["-"]
    assert [cluster["members"] for cluster in second["clusters"]] == [["-#2", "-"], ["-#3"]]
    assert known(state)["clusters"] == second["clusters"]
    assert known(state)["new"] == []
    assert known(state)["covers"] == [{"id": "-#1", "subject": "[PATCH 0/2] x: two things"}]
    assert "seen before and not read again: 2" in known(state, "-", stdin=ONE + AGAIN)["about"]


def odd_mails(seed):
    """Return versions of ideas that meet in every way: by name, by context, by patch-id, or not."""
    draw = Random(seed)
    found = []
    for at in range(12):
        context = "".join(f" context of {at} {draw.choice(WORDS)}\n" for _ in range(6))
        old, new = (" ".join(draw.choices(WORDS, k=5)) for _ in range(2))
        for path in ("d/one.c", f"e/moved{at}.c", "f/one.c"):
            more = " ".join(draw.choices(WORDS, k=draw.randrange(3)))
            diff = f"--- a/{path}\n+++ b/{path}\n@@ -1,7 +1,7 @@\n{context}-{old}\n+{new} {more}\n"
            found.append(f"{FROM}Subject: {at} {path}\n\n---\n{diff}-- \n2\n\n")
        found.append(mail(f"white {at}", "a b", "a  b" + " " * (at % 3), path=f"w{at % 2}.c"))
        found.append(draw.choice(found))
        mode = f"diff --git a/m{at % 4} b/m{at % 4}\nold mode 100644\nnew mode 100755\n"
        found.append(f"{FROM}Subject: mode {at}\n\n---\n{mode}-- \n2\n\n")
    draw.shuffle(found)
    return [
        text.replace("\n\n---", f"\nMessage-ID: <{n}@x>\n\n---", 1) for n, text in enumerate(found)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_new_patches_join_as_if_all_had_come_at_once(tmp_path, seed):
    sent = odd_mails(seed)
    draw = Random(seed)
    box = tmp_path / "all.mbox"
    state = tmp_path / "queue.state"
    # A file of one message has an id without a number.
    stop = 2
    while stop < len(sent):
        stop += draw.randrange(10, 25)
        box.write_text("".join(sent[:stop]))
        piecewise = known(state, str(box))
        at_once = excise("cluster", str(box), "--format", "json").json
        assert comparable(piecewise) == comparable(at_once)
        opened = State(str(state))
        entries = opened.entries
        opened.close()
        for threshold in (0.3, 0.9):
            for linkage in ("average", "single"):
                kept, whole = Pool(), Pool()
                for entry in entries:
                    kept.add_read(entry.message.patch, entry.edits, entry.ids)
                for message in read("".join(sent[:stop]).encode()):
                    whole.add(message.patch)
                asked = {"threshold": threshold, "linkage": linkage}
                assert group(kept, **asked) == group(whole, **asked)


def test_what_is_kept_of_changes_is_checked(tmp_path):
    state = tmp_path / "queue.state"
    known(state, "-", stdin=ONE + OTHER)
    asked = ("cluster", "--state", str(state))
    assert excise(*asked).code == 0
    for data in (b"", b"nonsense", zlib.compress(b"[1, 2]"), zlib.compress(b"{"),
                 zlib.compress(b'[{"a": 0}, {}, [], [], {}, false]')):  # fmt: skip
        with sqlite3.connect(state) as database:
            database.execute("UPDATE changes SET counts = ?", (data,))
        database.close()
        one_line(excise(*asked), "a damaged state")
    with sqlite3.connect(state) as database:
        database.execute("DELETE FROM changes")
    database.close()
    one_line(excise(*asked), "nothing is kept of")


def related(*arguments):
    ran = excise("cluster", *map(str, arguments), "--format", "json")
    assert ran.code == 0, ran.err
    return {frozenset((p["new"], p["other"])): (p["mean"], p["word"]) for p in ran.json["pairs"]}


def test_duplicates_of_a_queue_are_those_of_its_mails(tmp_path):
    """Kept counts and a whole reading give the same bits, a series is one proposal in both."""
    first, rest = tmp_path / "a.mbox", tmp_path / "b.mbox"
    sent = mails(12, seed=4)
    first.write_text("".join(sent[:7]) + COVER + ONE)
    rest.write_text("".join(sent[7:]) + OTHER)
    state = tmp_path / "queue.state"
    related("--state", state, first)
    added = related("--state", state, rest)
    everything = related(first, rest)
    assert added == everything != {}
    assert related("--state", state) == everything
    assert related("--state", state, rest) == added, "known mails are compared, too"
    likes = [
        excise("cluster", "--like", str(tmp_path / "like.patch"), *asked, "--format", "json").json
        for asked in (("--state", str(state)), (str(first), str(rest)))
        if (tmp_path / "like.patch").write_text(sent[3].replace("idea", "thought"))
    ]
    assert likes[0]["pairs"] == likes[1]["pairs"] != []
    assert known(state)["new"] == []


def test_people_see_what_moved(tmp_path):
    state = tmp_path / "queue.state"
    excise("cluster", "-", "--state", str(state), stdin=ONE + OTHER * 2)
    same = OTHER.replace("y: stop", "y: halt")
    ran = excise("cluster", "-", "--state", str(state), stdin=AGAIN + same)
    head, new, *_ = ran.out.split("\n")
    assert head == "4 patches: 4 in 2 groups"
    assert new == "2 new: -#1#2, -#2#2"
    ran = excise("cluster", "-", "--state", str(state), stdin=AGAIN.replace("new", "newer"))
    lines = ran.out.split("\n")
    assert lines[1].startswith("1 new: -")
    assert "(new, v2 of" in ran.out
    assert ran.out.index("x: use f") < ran.out.index("y: stop"), "what is new comes first"
    assert "1 new, 5 in all" in " ".join(ran.out.split())


def test_the_same_id_again_is_another_message(tmp_path):
    state = tmp_path / "queue.state"
    for text in (ONE, OTHER, AGAIN):
        known(state, "-", stdin=text)
    found = known(state)
    assert [entry["id"] for entry in found["patches"]] == ["-", "-#3", "-#2"]


def test_what_cannot_be_read_is_told_each_time_and_not_kept(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "merge.diff").write_text("diff --cc x\n@@@ -1 -1 +1 @@@\n")
    (folder / "README").write_text("no patch\n")
    (folder / "packed.patch").write_bytes(b"PK\x03\x04\0\0")
    (folder / "one.patch").write_text(ONE)
    state = tmp_path / "queue.state"
    for _ in range(2):
        found = known(state, str(folder), code=1)
        assert sorted(rejected["id"] for rejected in found["rejected"]) == [
            "merge.diff",
            "packed.patch",
        ]
        assert len(found["patches"]) == 1


@pytest.mark.parametrize(
    "content", [b"", b"notes of mine\n", b"SQLite format 3\0" + bytes(200), b"\0" * 5000]
)
def test_a_file_that_is_no_state_is_left_alone(tmp_path, content):
    file = tmp_path / "mine"
    file.write_bytes(content)
    before = file.stat()
    one_line(
        excise("cluster", "-", "--state", str(file), stdin=ONE),
        "not the state of a patch queue",
    )
    assert file.read_bytes() == content
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_another_database_is_left_alone(tmp_path):
    file = tmp_path / "contacts.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE pieces (name TEXT)")
    database.close()
    before = file.read_bytes()
    one_line(excise("cluster", "-", "--state", str(file), stdin=ONE), "not the state")
    assert file.read_bytes() == before


def test_places_where_no_file_can_be(tmp_path):
    one_line(excise("cluster", "-", "--state", str(tmp_path), stdin=ONE), "not a regular file")
    missing = str(tmp_path / "no" / "state")
    assert "cannot read" in excise("cluster", "-", "--state", missing, stdin=ONE).err
    os.mkfifo(tmp_path / "pipe")
    one_line(excise("cluster", "-", "--state", str(tmp_path / "pipe"), stdin=ONE), "not a regular")


def test_a_damaged_state_says_so(tmp_path):
    state = tmp_path / "queue.state"
    known(state, "-", stdin="".join(mails(40)))
    data = bytearray(state.read_bytes())
    draw = Random(5)
    for _ in range(20):
        damaged = bytearray(data)
        for _ in range(40):
            damaged[draw.randrange(100, len(data))] = draw.randrange(256)
        state.write_bytes(damaged)
        ran = excise("cluster", "-", "--state", str(state), stdin=ONE)
        assert ran.code in (0, 2), ran.err
        assert "internal error" not in ran.err
        for rest in tmp_path.glob("queue.state-*"):
            rest.unlink()


def test_features_that_point_nowhere_never_reach_a_kernel(tmp_path):
    state = tmp_path / "queue.state"
    known(state, "-", stdin=ONE + OTHER)
    with sqlite3.connect(state) as database:
        database.execute("UPDATE features SET blocks = (SELECT tokens FROM features LIMIT 1)")
    database.close()
    found = known(state)
    assert "read anew" in found["about"][-1]
    assert len(found["patches"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE facts SET value = '[\"another\"]' WHERE name = 'made by'",
        "DROP TABLE features",
        "DROP TABLE words",
        "DELETE FROM facts",
        "ALTER TABLE features ADD COLUMN more TEXT",
    ],
)
def test_another_version_is_made_anew(tmp_path, change):
    state = tmp_path / "queue.state"
    before = known(state, "-", stdin="".join(mails(20)) + COVER)
    with sqlite3.connect(state) as database:
        database.execute(change)
    database.close()
    after = known(state, "-", stdin=ONE)
    if "ALTER" not in change and "DELETE" not in change:
        assert any("read anew" in line for line in after["about"])
    assert subjects(after) - {frozenset({"[PATCH 1/2] x: use f"})} == subjects(before)
    assert not any("read anew" in line for line in known(state)["about"])


def test_other_ignored_paths_are_made_anew(tmp_path):
    state = tmp_path / "queue.state"
    lock = mail("lock", "1", "2", path="Cargo.lock")
    both = ONE.replace("-- \n2.40.1\n", lock[lock.index("--- a/") :])
    found = known(state, "-", "-v", stdin=both + ONE)
    assert found["scores"][0][2] == 1.0
    with closing(State(str(state), ())) as opened:
        pool = Pool(ignored=())
        for entry in opened.entries:
            pool.add_read(entry.message.patch, entry.edits, entry.ids)
        assert pool.score(0, 1) < 1.0
        assert "read anew" in opened.rebuilt
    assert "read anew" in "\n".join(known(state)["about"])


def test_options_that_do_not_go_together(tmp_path):
    state = str(tmp_path / "queue.state")
    assert excise("cluster", "--git", "a..b", "--state", state).code == 2
    (issue,) = known(state, "-", stdin=ONE + AGAIN)["issues"]
    assert (issue["members"], issue["count"]) == (["-#1", "-#2"], 1)


def moment(folder):
    """Return when the files of the state last changed."""
    found = []
    for path in folder.glob("queue.state*"):
        try:
            found.append((path.name, path.stat().st_mtime_ns))
        except FileNotFoundError:
            continue
    return sorted(found)


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """A process that dies leaves the state as it was after one of its batches."""
    box = tmp_path / "all.mbox"
    box.write_text("".join(mails(400, seed=11)))
    state = tmp_path / "queue.state"
    draw = Random(1)
    # Small batches, so that there are many moments to die at.
    code = (
        "import sys, excise_server.queue.state as known\n"
        "known.BATCH = 5\n"
        "from excise_server.cli import main; sys.exit(main())"
    )
    line = [sys.executable, "-c", code, "cluster", str(box), "--state", str(state)]
    kills = 0
    while kills < 8:
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Killed when the files of the state changed so often, wherever the process then is.
        changes, last, seen = draw.randrange(1, 24), None, 0
        while process.poll() is None and seen < changes:
            now = moment(tmp_path)
            seen += now != last
            last = now
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.send_signal(signal.SIGKILL)
        kills += 1
        process.wait()
        if state.exists():
            found = sqlite3.connect(state)
            assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            pieces = found.execute("SELECT count(*) FROM pieces").fetchone()[0]
            assert found.execute("SELECT count(*) FROM features").fetchone()[0] == pieces
            assert pieces % 5 == 0
            found.close()
    assert kills >= 3, f"only {kills} processes were killed while they worked"
    whole = known(tmp_path / "whole.state", str(box))
    found = known(state, str(box))
    assert comparable(found) == comparable(whole)
    assert not list(tmp_path.glob("queue.state-*"))


@pytest.mark.slow
def test_two_processes_at_once(tmp_path):
    """Both write to one state; each message is there once, and both see whole groups."""
    state = tmp_path / "queue.state"
    sent = mails(200, seed=2)
    parts = [sent[:120], sent[80:]]
    processes = []
    for at, part in enumerate(parts):
        box = tmp_path / f"{at}.mbox"
        box.write_text("".join(part))
        line = command_line("cluster", str(box), "--state", str(state), "--format", "json")
        processes.append(
            subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    found = known(state)
    box = tmp_path / "all.mbox"
    box.write_text("".join(sent))
    at_once = excise("cluster", str(box), "--format", "json").json
    assert len(found["patches"]) == 200
    assert subjects(found) == subjects(at_once)


def test_a_state_in_use_says_so(tmp_path, monkeypatch):
    state = tmp_path / "queue.state"
    known(state, "-", stdin=ONE)
    monkeypatch.setattr("excise_server.queue.state.WAIT", 0.05)
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ran = excise("cluster", "-", "--state", str(state), stdin=OTHER)
    assert ran.code == 2
    assert "another excise process is writing to it" in ran.err
    other.execute("ROLLBACK")
    other.close()
    assert len(known(state, "-", stdin=OTHER)["patches"]) == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_that_must_not_be_written(tmp_path):
    state = tmp_path / "queue.state"
    known(state, "-", stdin=ONE)
    state.chmod(stat.S_IRUSR)
    ran = excise("cluster", "-", "--state", str(state), stdin=OTHER)
    assert ran.code == 2
    assert "readonly" in ran.err
