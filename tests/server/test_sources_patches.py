"""Patches, mailboxes and runs: applied to the text they name, or else to the target's."""

import pytest
from tests.server.git_repository import made_from, make, needs_git, notes, reasons, texts

from excise_server.foundation.file_bytes import blob_ids
from excise_server.sources import patches
from excise_server.sources.collect import collect

pytestmark = needs_git

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
CHANGED = TEXT.replace("line 10\n", "ten\n")
AGAIN = CHANGED.replace("line 3\n", "three\n")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch, a__py=TEXT)
    (made.path / "p").mkdir()
    return made


def change(repo, name, *versions, start="main"):
    """Commit versions on a branch that is gone again; only its commits stay in the repository."""
    repo.git("checkout", "--quiet", "--detach", start)
    for number, text in enumerate(versions, start=1):
        repo.write("a.py", text)
        repo.git("commit", "--quiet", "-am", f"{name} {number}")
    head = repo.head()
    repo.git("checkout", "--quiet", "main")
    return head


def ask(repo, **settings):
    chosen = {"worktrees": False, "git": (), "patches": ("p",)} | settings
    return collect(repo.context(**chosen))


def test_a_patch_of_the_saved_text(repo):
    head = change(repo, "ten", CHANGED)
    repo.write("p/1.patch", repo.git("diff", "main", head))
    for trusted in (True, False):
        found = ask(repo, trusted=trusted)
        assert texts(found) == {"patch:1": CHANGED}
        assert found.revisions[0].label == "1"
        assert made_from(found) == {"patch:1": TEXT}
    assert ask(repo).watch[-1].pattern == "**/*.{patch,diff,mbox,eml,jsonl}"
    assert ask(repo, patches=()).revisions == ()


def test_a_series_whose_steps_the_repository_does_not_have(repo, tmp_path, monkeypatch):
    other = make(tmp_path, monkeypatch, "other")
    other.commit(a__py=TEXT)
    head = change(other, "step", CHANGED, AGAIN)
    repo.write("p/series.mbox", other.git("format-patch", "--stdout", f"main..{head}"))
    for trusted in (True, False):
        assert texts(ask(repo, trusted=trusted)) == {"patch:series": AGAIN}


def test_alternatives_in_a_mailbox_are_revisions_each(repo):
    boxes = [
        repo.git("format-patch", "-1", "--stdout", change(repo, "one", CHANGED)),
        repo.git("format-patch", "-1", "--stdout", change(repo, "two", TEXT + "end\n")),
    ]
    repo.write("p/both.mbox", b"".join(boxes))
    assert texts(ask(repo)) == {"patch:both#1": CHANGED, "patch:both#2": TEXT + "end\n"}


def test_patches_of_other_files_say_nothing(repo):
    repo.write("b.py", "b\n")
    repo.commit("b")
    repo.git("checkout", "--quiet", "--detach")
    repo.commit(b__py="bb\n", sub__a__py="no\n")
    repo.write("p/1.patch", repo.git("diff", "main", "HEAD"))
    repo.git("checkout", "--quiet", "main")
    repo.write("p/readme.patch", "no patch at all\n")
    repo.write("p/notes.txt", "no patch at all\n")
    found = ask(repo)
    assert (found.revisions, reasons(found)) == ((), {"patch:readme": "no diff in it"})


def test_a_document_below_the_top_and_a_strange_name(repo):
    for name in ("src/ä b.py", 'src/q"uo\\te.py', "src/tab\there.py"):
        repo.write(name, TEXT)
        repo.commit(name)
        repo.write(name, CHANGED)
        repo.write("p/1.patch", repo.git("diff", "HEAD", "--", name))
        repo.write(name, TEXT)
        asked = {"worktrees": False, "git": (), "patches": ("p",)}
        assert texts(collect(repo.context(name, **asked))) == {"patch:1": CHANGED}
        folder = (str(repo.path / "src"), str(repo.path))
        context = repo.context(name, folders=folder, trusted=False, patches=("p",))
        assert texts(collect(context)) == {"patch:1": CHANGED}


def test_renames_creation_and_deletion(repo):
    repo.git("checkout", "--quiet", "--detach")
    repo.git("mv", "a.py", "b.py")
    repo.write("b.py", CHANGED)
    repo.git("commit", "--quiet", "-am", "moved")
    moved = repo.head()
    away = repo.git("diff", "-M", "main", moved)
    back = repo.git("diff", "-M", moved, "main")
    gone = repo.git("diff", "--no-renames", "main", moved, "--", "a.py")
    born = repo.git("diff", "--no-renames", moved, "main", "--", "a.py")
    repo.git("checkout", "--quiet", "main")
    for name, diff in {"away": away, "back": back, "gone": gone, "born": born}.items():
        repo.write(f"p/{name}.patch", diff)
    found = ask(repo)
    assert texts(found) == {"patch:away": CHANGED, "patch:gone": ""}
    said = {"patch:away": ["renamed to b.py"], "patch:gone": ["it deletes the file"]}
    assert notes(found) == said
    landed = "the origin has its edits already"
    assert reasons(found) == {"patch:back": landed, "patch:born": landed}


def test_line_ends_of_the_disk_and_of_the_repository(repo):
    repo.write("p/1.patch", repo.git("diff", "main", change(repo, "ten", CHANGED)))
    repo.write("a.py", TEXT.replace("\n", "\r\n"))
    assert texts(ask(repo, trusted=False)) == {"patch:1": CHANGED}


def test_paths_that_leave_the_folder_name_no_document(repo):
    diff = repo.git("diff", "main", change(repo, "ten", CHANGED))
    around = b"../%b/a.py" % bytes(repo.path.name, "utf-8")
    for number, path in enumerate((around, bytes(repo.path / "a.py"), b".git/a.py")):
        repo.write(
            f"p/{number}.patch",
            diff.replace(b"a/a.py", b"a/" + path).replace(b"b/a.py", b"b/" + path),
        )
    found = ask(repo)
    assert (found.revisions, found.refused) == ((), ())


def test_folders_outside_are_refused(repo, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1.patch").write_bytes(repo.git("diff", "main", change(repo, "t", CHANGED)))
    (repo.path / "link").symlink_to(tmp_path / "out")
    (repo.path / "p" / "1.patch").symlink_to(tmp_path / "out" / "1.patch")
    names = ("../out", str(tmp_path / "out"), "link", "none", "p")
    found = ask(repo, patches=names)
    assert found.revisions == ()
    assert reasons(found) == {
        "patches:../out": "it leads out of the workspace: name a folder inside",
        f"patches:{tmp_path / 'out'}": "it leads out of the workspace: name a folder inside",
        "patches:link": "no such folder in the workspace",
        "patches:none": "no such folder in the workspace",
        "patch:1": "outside the workspace folders",
    }


def test_the_number_of_patches_is_limited_and_names_are_unique(repo, monkeypatch):
    diff = repo.git("diff", "main", change(repo, "ten", CHANGED))
    for name in ("p/1.patch", "q/1.patch", "q/2.patch"):
        repo.write(name, diff)
    monkeypatch.setattr(patches, "MAX_PATCHES", 2)
    found = ask(repo, patches=("p", "q"))
    assert list(texts(found)) == ["patch:1", "patch:1#2"]
    reason = "only the first 2 of 3 are compared, without patch:2 and what follows"
    assert reasons(found) == {"patches": reason}


def test_ids_are_those_of_git():
    assert blob_ids(b"hi\n")[0] == "45b983be36b73c0788dc9cbcb76cbb80fc7bb057"
    assert len(blob_ids(b"hi\n")[1]) == 64
