"""Writing into a tree that is hostile, that changes meanwhile, or whose journal is damaged."""

import os
import resource
import shutil
import stat
import tempfile
import time
from pathlib import Path

import pytest
from tests.server.tree import snapshot

from excise_server.candidates import written as module
from excise_server.candidates.journal import Kept, PlannedEdit, PlannedTake, TakeJournal
from excise_server.candidates.written import opened_checkout
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.git_patch import FileEdit

ROOT = os.geteuid() == 0
LINES = [f"line {number}\n" for number in range(9)]
BASE, SAVE = "".join(LINES).encode(), b"saved by the user\n"
NAMES = ["a.txt", "b/b.txt", "b/c.txt", "d.txt"]


@pytest.fixture
def top(tmp_path):
    """A tree with a git dir, in which journals are: in memory, where no disk is waited for."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(prefix="excise-written-", dir=memory) as folder:
        yield built(Path(folder, "top"))


def built(top):
    (top / ".git").mkdir(parents=True)
    for name in NAMES:
        path = top / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(BASE)
    return top


@pytest.fixture(params=["exchange", "no exchange"])
def either(request, monkeypatch):
    """With and without the system call that exchanges two files."""
    if request.param == "no exchange":
        monkeypatch.setattr(module, "_rename_function", lambda: None)


def changed(number, word=b"NEW"):
    return BASE.replace(b"line %d" % number, word)


def edit(name, new=None, old=BASE):
    return FileEdit(name, name, Side("100644", old), Side("100644", new or changed(1)))


def created(name, data=b"made\n"):
    return FileEdit(name, name, None, Side("100644", data))


def deleted(name):
    return FileEdit(name, name, Side("100644", BASE), None)


EDITS = [edit("a.txt"), created("n/new.txt"), edit("b/b.txt"), deleted("b/c.txt"),
         FileEdit("e.txt", "d.txt", Side("100644", BASE), Side("100644", changed(2)))]  # fmt: skip


def opened(top, *, make=True, git_dir=None):
    return opened_checkout(str(top), str(git_dir or top / ".git"), None, make=make)


def write(top, edits=EDITS, stop=lambda: False, **places):
    with opened(top, **places) as checkout:
        checkout.write(edits, stop)
        return checkout.said


def undo(top):
    with opened(top, make=False) as checkout:
        return checkout.undo()[1]


def said(top):
    with opened(top, make=False) as checkout:
        return checkout.said


def at(number, act):
    """Return a `stop` that does something before the nth path is changed."""
    calls = []

    def stop():
        calls.append(None)
        if len(calls) == number:
            act()
        return False

    return stop


def forked(act):
    """Do something in a process of its own, and return how that ended."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(act() or 0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(top, number, edits=EDITS, **places):
    """Write, in a process that dies before the nth path is changed."""
    stop = at(number, lambda: os._exit(9))
    assert forked(lambda: write(top, edits, stop, **places)) == 9


def journal(top):
    return top / ".git" / "excise"


# --- paths ---

OUTSIDE = [
    "../x", "a/../../x", "/x", "a//x", "./x", "", ".git/hooks/post-checkout", ".GIT/config",
    "a/.git/x", ".git /x", ".git./x", "GIT~1/x", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_or_into_the_repository_is_refused(top, path):
    before = snapshot(top.parent)
    executable = Side("100755", b"#!/bin/sh\n")
    with pytest.raises(SourceError):
        write(top, [created("fine"), FileEdit(path, path, None, executable)])
    assert snapshot(top.parent) == before
    assert os.listdir(top / ".git") == ["excise"]


def test_folders_are_made_and_removed_with_their_only_file(top):
    (top / "gone" / "deep").mkdir(parents=True)
    (top / "gone" / "deep" / "a").write_bytes(BASE)
    moved = FileEdit("new/deep/c", "d.txt", Side("100644", BASE), Side("100755", b"c"))
    write(top, [deleted("gone/deep/a"), moved])
    assert not (top / "gone").exists()
    assert (top / "new" / "deep" / "c").read_text() == "c"
    assert os.access(top / "new" / "deep" / "c", os.X_OK)
    undo(top)
    assert (top / "gone" / "deep" / "a").read_bytes() == BASE
    assert not (top / "new").exists()


def test_a_link_is_replaced_and_never_followed(top, either):
    (top.parent / "secret").write_text("secret")
    (top / "link").symlink_to("../secret")
    other, text = Side("120000", b"other"), Side("100644", b"text")
    write(top, [FileEdit("link", "link", Side("120000", b"../secret"), other)])
    assert os.readlink(top / "link") == "other"
    write(top, [FileEdit("link", "link", other, text)])
    assert (top / "link").read_text() == "text"
    assert not (top / "link").is_symlink()
    assert (top.parent / "secret").read_text() == "secret"
    undo(top)
    assert os.readlink(top / "link") == "other"


# --- what happens meanwhile ---


def put_in_place(path, data=SAVE):
    new = path.with_name("editor.tmp")
    new.write_bytes(data)
    new.rename(path)


def replaced_by(make):
    def act(path):
        path.unlink()
        make(path)

    return act


IN_THE_WAY = {
    "a save": put_in_place,
    "a save in place": lambda path: path.write_bytes(SAVE),
    "a mode": lambda path: path.chmod(0o600),
    "a folder": replaced_by(lambda path: (path.mkdir(), (path / "in").write_bytes(SAVE))),
    "a link": replaced_by(lambda path: path.symlink_to("/etc/passwd")),
    "a pipe": replaced_by(os.mkfifo),
    "nothing": lambda path: path.unlink(),
    "no folder": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
@pytest.mark.parametrize(("number", "name"), [(3, "b/b.txt"), (4, "b/c.txt")])
def test_what_is_changed_before_its_turn_stays_and_all_else_is_as_it_was(
    top, either, what, number, name
):
    before = snapshot(top)
    after = {}

    def act():
        IN_THE_WAY[what](top / name)
        after.update({n: kept for n, kept in snapshot(top).items() if n.startswith("b/")})

    with pytest.raises(SourceError, match="as they were") as error:
        write(top, stop=at(number, act))
    assert name in error.value.reason
    now = snapshot(top)
    if what == "no folder":  # the other file in it had been replaced before: it comes back
        assert {n: kept for n, kept in now.items() if n[0] != "b"} == {
            n: kept for n, kept in before.items() if n[0] != "b"
        }
        return
    assert {n: kept for n, kept in now.items() if n.startswith(name)} == {
        n: kept for n, kept in after.items() if n.startswith(name)
    }
    assert {n: kept for n, kept in now.items() if not n.startswith(name)} == {
        n: kept for n, kept in before.items() if not n.startswith(name)
    }
    assert said(top) == []


def test_a_name_that_appears_is_not_overwritten(top, either):
    before = snapshot(top)
    act = at(5, lambda: put_in_place(top / "e.txt"))
    with pytest.raises(SourceError, match=r"e\.txt: a file of this name appeared"):
        write(top, stop=act)
    assert snapshot(top) == before | {"e.txt": (stat.S_IFREG | 0o644, SAVE)}


def test_a_save_over_a_new_file_stays_when_the_take_is_put_back(top, either):
    before = snapshot(top)

    def act():
        put_in_place(top / "a.txt")
        put_in_place(top / "n" / "new.txt")
        raise OSError(28, "No space left on device")

    with pytest.raises(SourceError, match="No space left") as error:
        write(top, stop=at(4, act))
    assert "a.txt, n/new.txt left as changed" in error.value.reason
    mode = stat.S_IFREG | 0o644
    assert snapshot(top) == before | {"a.txt": (mode, SAVE), "n/new.txt": (mode, SAVE)}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 7))
def test_a_killed_take_is_put_back_by_the_next_command(top, either, number):
    before = snapshot(top)
    killed(top, number)
    (message,) = said(top)
    assert "interrupted" in message
    assert "a.txt, n/new.txt, b/b.txt and 2 more" in message
    assert snapshot(top) == before
    assert said(top) == []
    write(top)
    undo(top)
    assert snapshot(top) == before


def test_a_save_between_a_kill_and_the_next_command_stays(top):
    before = snapshot(top)
    killed(top, 5)
    put_in_place(top / "b" / "b.txt")
    (message,) = said(top)
    assert "left so: b/b.txt" in message
    assert snapshot(top) == before | {"b/b.txt": (stat.S_IFREG | 0o644, SAVE)}


def test_what_an_editor_writes_late_is_kept_and_named_until_it_is_dealt_with(top):
    with open(top / "a.txt", "r+b") as editor:
        write(top)
        editor.write(SAVE)
    for _ in range(2):
        (message,) = said(top)
        aside = Path(message.rpartition(" is in ")[2])
        assert message.startswith("a.txt: ")
        assert aside.read_bytes().startswith(SAVE)
    undo(top)  # the bytes of before are in the plan
    assert (top / "a.txt").read_bytes() == BASE
    old = time.time() - 40 * 86400
    os.utime(journal(top) / "1", (old, old))
    write(top, [edit("a.txt")])
    assert aside.read_bytes().startswith(SAVE)


def test_old_takes_are_removed_after_another_one_and_thirty_days(top):
    for number in range(3):
        write(top, [edit("a.txt", changed(number + 1), changed(number) if number else BASE)])
    assert sorted(os.listdir(journal(top))) == ["1", "2", "3", "lock"]
    old = time.time() - 31 * 86400
    for number in "23":
        os.utime(journal(top) / number, (old, old))
    write(top, [edit("b/b.txt")])
    assert sorted(os.listdir(journal(top))) == ["1", "4", "lock"]


def test_two_takes_exclude_each_other_by_name(top):
    before = snapshot(top)

    def other():
        with pytest.raises(SourceError, match=f"process {os.getppid()}"):
            write(top, [edit("b/c.txt")])

    write(top, stop=at(2, lambda: forked(other) == 0 or pytest.fail("both wrote")))
    undo(top)
    assert snapshot(top) == before


@pytest.mark.parametrize("limit", [0, 100, 1000])
def test_a_disk_without_room_leaves_all_as_it_was(top, limit):
    before = snapshot(top)

    def act():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(SourceError, match="nothing was written" if limit else ""):
            write(top, [edit("a.txt", BASE * 10), created("big.txt", BASE * 100)])

    assert forked(act) == 0
    assert snapshot(top) == before
    assert said(top) == []
    assert os.listdir(journal(top)) == ["lock"]


# --- kinds of files and folders ---


def test_permissions_stay_and_come_back(top):
    for name, mode in (("a.txt", 0o440), ("b/c.txt", 0o604), ("d.txt", 0o600)):
        (top / name).chmod(mode)
    before = snapshot(top)
    write(top)
    assert stat.S_IMODE((top / "a.txt").stat().st_mode) == 0o440
    assert stat.S_IMODE((top / "e.txt").stat().st_mode) == 0o600
    undo(top)
    assert snapshot(top) == before


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_the_owner_stays(top):
    os.chown(top / "a.txt", 1234, 2345)
    write(top)
    status = (top / "a.txt").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_other_names_of_a_file_keep_what_it_was_and_that_is_said(top):
    os.link(top / "a.txt", top.parent / "other")
    assert any("a.txt had another name" in message for message in write(top))
    assert (top.parent / "other").read_bytes() == BASE
    assert (top / "a.txt").read_bytes() == changed(1)


@pytest.mark.skipif(not ROOT, reason="root alone can become somebody else")
def test_a_folder_that_may_not_be_written_leaves_all_as_it_was(top):
    for folder, folders, names in os.walk(top.parent):
        for name in (".", *folders, *names):
            os.chown(os.path.join(folder, name), 65534, 65534)
    (top / "b").chmod(0o555)
    before = snapshot(top)

    def act():
        os.chdir("/")
        outer = os.open(top.parent, os.O_RDONLY)  # the folders above are root's alone
        os.fchdir(outer)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with pytest.raises(SourceError, match=r"^b/b\.txt: Permission denied; all files"):
            write(Path("top"), [edit("a.txt"), edit("b/b.txt")])

    assert forked(act) == 0
    assert snapshot(top) == before


@pytest.fixture
def elsewhere(top, tmp_path):
    """A git dir that is not on the file system of its tree."""
    if tmp_path.stat().st_dev == top.stat().st_dev:
        pytest.skip("there is no second file system here")
    return tmp_path


def test_asides_are_in_the_tree_where_the_git_dir_is_on_another_file_system(top, elsewhere):
    before = snapshot(top)
    write(top, git_dir=elsewhere)
    (home,) = [path for path in top.iterdir() if path.name.startswith(".excise-")]
    assert (home / ".gitignore").read_text() == "*\n"
    assert (home / "0").read_bytes() == BASE
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    with opened(top, git_dir=elsewhere) as checkout:
        checkout.undo()
    now = {name: kept for name, kept in snapshot(top).items() if not name.startswith(".excise-")}
    assert now == before
    old = time.time() - 31 * 86400
    for number in "12":
        os.utime(elsewhere / "excise" / number, (old, old))
    write(top, [edit("a.txt")], git_dir=elsewhere)
    assert sum(path.name.startswith(".excise-") for path in top.iterdir()) == 1


def test_a_killed_take_whose_asides_are_in_the_tree_is_put_back(top, elsewhere):
    before = snapshot(top)
    killed(top, 3, git_dir=elsewhere)
    with opened(top, git_dir=elsewhere) as checkout:
        assert "interrupted" in checkout.said[0]
    now = {name: kept for name, kept in snapshot(top).items() if not name.startswith(".excise-")}
    assert now == before


# --- undo ---


def test_undo_keeps_what_was_edited_since(top):
    write(top)
    (top / "a.txt").write_bytes(changed(1).replace(b"line 7", b"mine"))
    undo(top)
    assert (top / "a.txt").read_bytes() == BASE.replace(b"line 7", b"mine")


def test_undo_with_edits_on_the_same_lines_names_them_all_and_undoes_nothing(top):
    write(top)
    (top / "a.txt").write_bytes(changed(1).replace(b"NEW", b"mine"))
    (top / "n" / "new.txt").write_bytes(b"more\n")
    before = snapshot(top)
    with pytest.raises(SourceError, match="nothing was undone") as error:
        undo(top)
    for part in ("a.txt: line 2", "n/new.txt: it has other edits"):
        assert part in error.value.reason
    assert str(journal(top)) in error.value.hint
    assert snapshot(top) == before


def test_a_second_undo_is_refused_and_so_is_one_of_nothing(top):
    with pytest.raises(SourceError, match="no take"), opened(top) as checkout:
        checkout.undo()
    write(top)
    undo(top)
    before = snapshot(top)
    with pytest.raises(SourceError, match="was undone at"):
        undo(top)
    assert snapshot(top) == before


def test_undo_of_what_was_partly_deleted_by_hand(top):
    write(top, [created("new.txt"), edit("a.txt")])
    (top / "new.txt").unlink()
    assert [written.path for written in undo(top)] == ["a.txt"]
    assert (top / "a.txt").read_bytes() == BASE


def test_undo_of_a_rename_keeps_what_was_edited_under_the_new_name(top):
    write(top)
    (top / "e.txt").write_bytes(changed(2).replace(b"line 7", b"mine"))
    undo(top)
    assert (top / "d.txt").read_bytes() == BASE.replace(b"line 7", b"mine")
    assert not (top / "e.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 7))
def test_an_undo_that_was_killed_is_put_back_and_can_be_done_again(top, number):
    before = snapshot(top)
    write(top)
    after = snapshot(top)
    with opened(top) as checkout:
        assert forked(lambda: checkout.undo(at(number, lambda: os._exit(9)))) == 9
    assert "interrupted" in said(top)[0]
    assert snapshot(top) == after
    undo(top)
    assert snapshot(top) == before


def test_a_take_that_was_put_back_does_not_stand_before_the_one_that_is_done(top):
    before = snapshot(top)
    write(top)
    with pytest.raises(SourceError, match="interrupted; all files are as they were"):
        write(top, [edit("a.txt", changed(2), changed(1))], stop=lambda: True)
    undo(top)
    assert snapshot(top) == before


def test_names_that_are_no_text_are_written_and_come_back(top):
    name = os.fsdecode(b"b/\xff\n\xc3\xa9 \x1b[1m.txt")
    (top / name).write_bytes(BASE)
    before = snapshot(top)
    killed(top, 2, [edit(name), edit("d.txt")])
    assert "\\xff" in said(top)[0]
    write(top, [edit(name)])
    assert (top / name).read_bytes() == changed(1)
    undo(top)
    assert snapshot(top) == before


# --- journals that are not ours, not whole, or not here ---


@pytest.mark.parametrize("name", ["lock", "1/plan", "1/done"])
def test_a_pipe_in_the_journal_is_not_waited_for(top, name):
    killed(top, 4)
    before = snapshot(top)
    path = journal(top) / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    if name == "1/done":  # that is a mark all the same
        assert said(top) == []
    else:
        with pytest.raises(SourceError, match=r"locked|is not a file"):
            said(top)
    assert snapshot(top) == before


def spoil(path, how):
    data = path.read_bytes()
    if how == "damaged":
        data = data[:-200] + b"X" + data[-199:]
    elif how == "truncated":
        data = data[: len(data) // 2]
    elif how == "empty":
        data = b""
    elif how == "another version":
        data = b"\x92\x03" + data[2:]
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["damaged", "truncated", "empty", "another version"])
def test_a_journal_that_cannot_be_read_is_refused_with_the_way_out(top, how):
    killed(top, 4)
    spoil(journal(top) / "1" / "plan", how)
    between = snapshot(top)
    with pytest.raises(SourceError, match="journal of take 1 cannot be used") as error:
        said(top)
    assert ("version 3" in error.value.reason) is (how == "another version")
    assert str(journal(top) / "1") in error.value.hint
    assert snapshot(top) == between
    assert (journal(top) / "1" / "0").read_bytes() == BASE


def test_a_damaged_journal_of_a_take_that_is_done_stops_its_undo_alone(top):
    write(top)
    spoil(journal(top) / "1" / "plan", "damaged")
    with pytest.raises(SourceError, match="plan is damaged"):
        undo(top)
    assert any(
        "plan is damaged" in message
        for message in write(top, [edit("a.txt", changed(2), changed(1))])
    )
    undo(top)
    assert (top / "a.txt").read_bytes() == changed(1)


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", ".git/config", "b/../../outside"])
def test_a_journal_that_names_paths_outside_of_the_tree_is_refused(top, path):
    outside = top.parent / "outside"
    outside.write_bytes(BASE)
    kept = TakeJournal(str(top / ".git"), ["excise"], make=True)
    with kept.new() as take:
        sides = Kept(stat.S_IFREG | 0o644, b"forged"), Kept(stat.S_IFREG | 0o644, BASE)
        take.save(PlannedTake(0.0, (PlannedEdit(path, path, *sides),)))
        (journal(top) / "1" / "0").write_bytes(b"forged")
    kept.close()
    with pytest.raises(SourceError, match="leads out of the tree"):
        said(top)
    assert outside.read_bytes() == BASE


def test_a_link_in_place_of_the_journal_is_refused(top):
    (top.parent / "theirs").mkdir()
    journal(top).symlink_to(top.parent / "theirs")
    with pytest.raises(SourceError, match="cannot be used"):
        write(top)
    assert os.listdir(top.parent / "theirs") == []


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_a_journal_of_another_user_is_refused(top):
    killed(top, 4)
    between = snapshot(top)
    os.chown(journal(top), 1234, 1234)
    with pytest.raises(SourceError, match="is of user 1234"):
        said(top)
    os.chown(journal(top), 0, 0)
    os.chown(journal(top) / "1", 1234, 1234)
    with pytest.raises(SourceError, match="is of user 1234"):
        said(top)
    assert snapshot(top) == between


def test_a_journal_that_others_may_write_is_refused(top):
    write(top)
    journal(top).chmod(0o777)
    with pytest.raises(SourceError, match="is not private"):
        undo(top)


def test_a_repository_that_was_moved_or_copied_takes_its_journal_along(top):
    before = snapshot(top)
    killed(top, 4)
    moved = top.rename(top.with_name("moved"))
    copy = top.with_name("copy")
    shutil.copytree(moved, copy, symlinks=True)
    for each in (moved, copy):
        assert "interrupted" in said(each)[0]
        assert snapshot(each) == before


def test_a_tree_without_git_has_its_journal_in_the_cache(top):
    shutil.rmtree(top / ".git")
    before = snapshot(top)
    cache = top.parent / "cache" / "excise"
    with opened_checkout(str(top), None, cache) as checkout:
        checkout.write(EDITS)
    assert stat.S_IMODE((cache / "takes").stat().st_mode) == 0o700
    with opened_checkout(str(top), None, cache, make=False) as checkout:
        checkout.undo()
    assert snapshot(top) == before
    with pytest.raises(SourceError, match="HOME"), opened_checkout(str(top), None, None):
        pass


def test_nothing_is_made_to_look_for_a_take(top):
    with opened(top, make=False) as checkout:
        assert checkout is None
    assert os.listdir(top / ".git") == []
