"""Patches, mailboxes and runs: applied to the text they name, or else to the target's."""

from __future__ import annotations

import pytest
from tests.server.git_repository import made_from, make, needs_git, notes, reasons, texts

from excise_server.foundation.file_bytes import blob_ids
from excise_server.sources import patches
from excise_server.sources.collect import collect

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


@needs_git
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


@needs_git
def test_a_patch_of_an_older_text_applies_to_that(repo):
    head = change(repo, "ten", CHANGED)
    repo.write("p/1.diff", repo.git("diff", "main", head))
    repo.commit(a__py="all new\n")
    found = ask(repo)
    assert texts(found)["patch:1"] == CHANGED
    assert notes(found) == {"patch:1": ["the target changed these lines, too"]}
    assert "hunk 1 does not apply" in reasons(ask(repo, trusted=False))["patch:1"]


@needs_git
def test_a_patch_of_a_text_that_nobody_has(repo, tmp_path, monkeypatch):
    other = make(tmp_path, monkeypatch, "other")
    other.commit(a__py=TEXT + "more\n")
    head = change(other, "ten", CHANGED + "more\n")
    repo.write("p/1.patch", other.git("diff", "main", head))
    assert texts(ask(repo)) == {"patch:1": CHANGED}
    repo.commit(a__py=CHANGED.replace("line 12", "twelve"))
    assert "hunk 1 does not apply" in reasons(ask(repo))["patch:1"]


@needs_git
def test_a_series_in_a_mailbox_is_one_revision(repo):
    head = change(repo, "step", CHANGED, AGAIN)
    repo.write("p/series.mbox", repo.git("format-patch", "--stdout", f"main..{head}"))
    found = ask(repo)
    assert texts(found) == {"patch:series": AGAIN}
    assert found.versions[0].candidate.given == "step 1"
    assert made_from(found) == {"patch:series": TEXT}
    repo.write("p/series.mbox", repo.git("format-patch", "-N", "--stdout", f"main..{head}"))
    assert texts(ask(repo)) == {"patch:series": AGAIN}  # the second is made from the first


@needs_git
def test_a_series_whose_steps_the_repository_does_not_have(repo, tmp_path, monkeypatch):
    other = make(tmp_path, monkeypatch, "other")
    other.commit(a__py=TEXT)
    head = change(other, "step", CHANGED, AGAIN)
    repo.write("p/series.mbox", other.git("format-patch", "--stdout", f"main..{head}"))
    for trusted in (True, False):
        assert texts(ask(repo, trusted=trusted)) == {"patch:series": AGAIN}


@needs_git
def test_alternatives_in_a_mailbox_are_revisions_each(repo):
    boxes = [
        repo.git("format-patch", "-1", "--stdout", change(repo, "one", CHANGED)),
        repo.git("format-patch", "-1", "--stdout", change(repo, "two", TEXT + "end\n")),
    ]
    repo.write("p/both.mbox", b"".join(boxes))
    assert texts(ask(repo)) == {"patch:both#1": CHANGED, "patch:both#2": TEXT + "end\n"}


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize(
    "options", [(), ("--attach",), ("--inline",), ("--full-index", "-U0"), ("--no-prefix",)]
)
@pytest.mark.parametrize("ending", ["1.eml", "1.patch", "1.mbox"])
def test_the_forms_of_format_patch(repo, options, ending):
    text = CHANGED + "größe – 漢\n"
    head = change(repo, "Größe", text)
    mail = repo.git("format-patch", "-1", "--stdout", *options, head)
    repo.write(f"p/{ending}", mail)
    found = ask(repo)
    assert texts(found) == {"patch:1": text}
    assert found.versions[0].candidate.given == "Größe 1"


@needs_git
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


@needs_git
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


@needs_git
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


@needs_git
def test_line_ends_of_the_disk_and_of_the_repository(repo):
    repo.write("p/1.patch", repo.git("diff", "main", change(repo, "ten", CHANGED)))
    repo.write("a.py", TEXT.replace("\n", "\r\n"))
    assert texts(ask(repo, trusted=False)) == {"patch:1": CHANGED}


def broken(diff: bytes) -> dict[str, tuple[bytes, str]]:
    """Return spoilt patches of TEXT to CHANGED, with what is said of them, if they are refused."""
    old, new = (blob_ids(text.encode())[0][:7] for text in (TEXT, CHANGED))
    index = f"index {old}..{new} 100644\n".encode()
    assert index in diff
    return {
        "context": (diff.replace(b" line 8\n", b" line 88\n"), "line 8 has another text"),
        "space": (diff.replace(b" line 8\n", b" line 8 \n"), "line 8 has another text"),
        "end": (diff.replace(b" line 8\n", b" line 8\r\n"), "line 8 has another line end"),
        "no end": (
            diff.replace(b"+ten\n", b"+ten\n\\ No newline at end of file\n"),
            "a line without a line end would not be the last one",
        ),
        "short": (diff.replace(b" line 13\n", b""), "the hunk ends a line short"),
        "long": (diff + b"+more\n", "the hunk goes on beyond its count"),
        "cut": (diff[:-12], "ends a line short"),
        # Without the name of a text that is known, the target's is taken, as by the commands.
        "no index": (diff.replace(index, b""), ""),
        "few digits": (diff.replace(index, b"index %b..abcdef\n" % old.encode()), ""),
        "no id": (diff.replace(old.encode(), b"HEAD:a.py"), ""),
        "other result": (diff.replace(new.encode(), b"abcdef1"), ""),
        "twice": (diff + diff, "hunk 1 does not apply"),
        "binary": (
            diff[: diff.index(b"--- a/")] + b"Binary files a/a.py and b/a.py differ\n",
            "",  # the repository has the result
        ),
        "link": (diff.replace(b" 100644\n", b" 120000\n"), "a link or a submodule"),
        "merge": (b"diff --cc a.py\nindex 1,2..3\n", "a combined diff (of a merge) cannot be read"),
    }


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize(
    "case",
    sorted(
        broken(
            b"index %b..%b 100644\n--- a/"
            % tuple(blob_ids(t.encode())[0][:7].encode() for t in (TEXT, CHANGED))
        )
    ),
)
def test_what_does_not_apply_is_refused(repo, case):
    diff = repo.git("diff", "--abbrev=7", "main", change(repo, "ten", CHANGED))
    spoilt, reason = broken(diff)[case]
    assert spoilt != diff
    repo.write("p/bad.patch", spoilt)
    repo.write("p/good.patch", diff)
    found = ask(repo)
    assert texts(found) == {"patch:good": CHANGED} | ({} if reason else {"patch:bad": CHANGED})
    assert reason in reasons(found).get("patch:bad", "")


@needs_git
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


@needs_git
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


@needs_git
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
