"""Plain folders as candidates, without git."""

import os
import shutil

import pytest
from tests.server.command import excise, ids_of, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, write

BASE = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDIT = BASE.replace("return x + 3", "return 3 if x is None else x + 3")


@pytest.fixture
def origin(tmp_path):
    folder = tmp_path / "origin"
    write(folder, "a.py", BASE)
    write(folder, "in/b.txt", "one\n")
    return folder


def copied(origin, name):
    shutil.copytree(origin, origin.parent / name, symlinks=True)
    return origin.parent / name


def compared(origin, *folders, options=(), code=0):
    ran = excise(
        "review", "--origin", str(origin), *map(str, folders), "--format", "json", *options
    )
    assert ran.code == code, ran.err
    return ran.json


def test_folders_are_compared_with_their_origin(origin):
    ada, bo, chen, dana = (copied(origin, name) for name in ("ada", "bo", "chen", "dana"))
    write(ada, "a.py", EDIT)
    write(bo, "a.py", EDIT)
    write(chen, "in/c.txt", "made\n")
    (chen / "in" / "b.txt").unlink()
    (chen / "a.py").rename(chen / "renamed.py")
    eli = copied(origin, "eli")
    write(eli, "a.py", EDIT.replace("\n", "\r\n"))
    found = compared(origin, ada, bo, chen, dana, eli)
    entries = by_id(found)
    assert ids_of(found) == ["folder:ada", "folder:bo", "folder:eli", "folder:chen"]
    assert found["unchanged"] == ["folder:dana"]
    assert entries["ada"]["identical"] == ["folder:bo"]
    assert entries["eli"]["identical"] == []
    assert entries["eli"]["files"][0]["facts"] == ["converts line ends from LF to CRLF"]
    assert [(f["path"], f["status"]) for f in entries["chen"]["files"]] == [
        ("in/b.txt", "deleted"), ("in/c.txt", "created"), ("renamed.py", "renamed"),
    ]  # fmt: skip
    for key in ("base", "commit", "branch"):
        assert entries["ada"][key] is None
    assert entries["ada"]["kind"] == "folder"
    assert entries["ada"]["folder"] == str(ada)
    only = compared(origin, ada, bo, chen, options=["--only", "b*"])
    assert ids_of(only) == ["folder:bo"]


@needs_git
@pytest.mark.slow
def test_a_folder_has_the_numbers_of_the_same_worktree(origin, tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, "repo")
    shutil.copytree(origin, repo.path, dirs_exist_ok=True)
    repo.commit()
    for name, text in (("ada", EDIT), ("bo", EDIT.replace("3 if", "4 if")), ("chen", BASE[::-1])):
        path = repo.path.parent / name
        repo.git("worktree", "add", "--quiet", "--detach", path)
        write(path, "a.py", text)
    by_git = report(repo)
    folders = [repo.path.parent / name for name in ("ada", "bo", "chen")]
    plain = compared(repo.path, *folders)
    for key in ("similarity", "words"):
        assert str(plain[key]) == str(by_git[key]).replace("worktree:", "folder:")
    digests = [[entry["digest"] for entry in found["candidates"]] for found in (plain, by_git)]
    assert digests[0] == digests[1]
    assert plain["origin"] != by_git["origin"]


def test_the_digest_of_an_origin_is_of_all_its_files(origin):
    ada = copied(origin, "ada")
    write(ada, "a.py", EDIT)
    first = compared(origin, ada)["origin"]
    write(origin, "in/b.txt", "two\n")
    assert compared(origin, ada)["origin"] != first
    write(origin, "in/b.txt", "one\n")
    assert compared(origin, ada)["origin"] == first


def test_odd_files_are_named_and_links_not_followed(origin, monkeypatch):
    secret = origin.parent / "secret.txt"
    secret.write_text("s3cret\n")
    ada = copied(origin, "ada")
    write(ada, "a.py", EDIT)
    (ada / "link.txt").symlink_to(secret)
    (ada / "loop").symlink_to(ada)
    os.mkfifo(ada / "pipe")
    write(ada, "blob.bin", b"\0" * 100)
    monkeypatch.setattr("excise_server.sources.folders.MAX_BYTES", 1_000)
    write(ada, "large.txt", "x\n" * 1_000)
    ran = excise("review", "--origin", str(origin), str(ada), "--format", "json")
    assert "s3cret" not in ran.out
    [entry] = ran.json["candidates"]
    assert {f["path"]: f["facts"] for f in entry["files"]}["blob.bin"] == ["created", "binary"]
    assert {f["path"] for f in entry["files"]} == {"a.py", "link.txt", "loop", "blob.bin"}
    assert "pipe: not a regular file, not compared" in entry["notes"]
    assert any(note.startswith("large.txt: ") for note in entry["notes"])


def test_folders_inside_of_each_other_and_what_git_keeps(origin):
    """Copies are often made inside of the origin; they are no part of it."""
    ada = copied(origin, "ada")
    shutil.move(ada, origin / "copies-ada")
    ada = origin / "copies-ada"
    write(ada, "a.py", EDIT)
    write(ada, ".git/config", "[x]\n")
    write(origin, "sub/.git", "gitdir: elsewhere\n")
    [entry] = compared(origin, ada)["candidates"]
    assert [file["path"] for file in entry["files"]] == ["a.py"]


def test_what_is_not_a_folder_costs_itself_alone(origin):
    ada = copied(origin, "ada")
    write(ada, "a.py", EDIT)
    found = compared(origin, ada, origin.parent / "none", ada / "a.py", code=1)
    assert ids_of(found) == ["folder:ada"]
    assert [rejected["reason"] for rejected in found["rejected"]] == [
        "no such folder", "not a folder",
    ]  # fmt: skip
    one_line(excise("review", "--origin", str(origin / "none"), str(ada)), "no such folder")
    for wrong in (["--git", "x"], ["--onto", "HEAD"], ["--patches", "p"]):
        assert "options about git" in excise("review", "--origin", ".", str(ada), *wrong).err
    assert "--origin needs the folders" in excise("review", "--origin", str(origin)).err
    assert "--origin DIR" in excise("review", "--repo", str(ada), str(origin)).err


def test_equal_names_in_other_folders(origin):
    for name in ("one", "two"):
        (origin.parent / name).mkdir()
        write(copied(origin, f"{name}/work"), "a.py", EDIT)
    folders = [origin.parent / name / "work" for name in ("one", "two")]
    found = compared(origin, *folders, folders[0])
    assert ids_of(found) == ["folder:work", "folder:work#2"]
    assert {entry["label"] for entry in found["candidates"]} == {"one/work", "two/work"}


def test_who_is_still_being_written(origin):
    ada = copied(origin, "ada")
    (ada / "a.py").write_text(EDIT)
    assert compared(origin, ada)["candidates"][0]["being_written"]
    os.utime(ada / "a.py", (1_600_000_000, 1_600_000_000))
    assert not compared(origin, ada)["candidates"][0]["being_written"]
