"""Names are refused as git refuses them, and what was not read is never called unchanged."""

import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.command import excise
from tests.server.git_repository import Repo, make, needs_git

from excise_server.candidates.written import opened_checkout
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import path_spelled, spelled
from excise_server.foundation.file_bytes import SHA1_DIGITS
from excise_server.foundation.files import is_refused_by_git
from excise_server.foundation.inputs import SourceError
from excise_server.git.worktree import Folder
from excise_server.review.git_patch import FileEdit

pytestmark = needs_git

PIECES = [
    ".git", "git~1", ".GIT", ".gitmodules", "gitmod~1", "gitmod~5", "gi7eba~1", "gi7eb~12",
    "~1234567", "GI7EBA~9", ".gi", "git", "t", "modules", "mod", ".", "..", "/", "\\", ":", " ",
    "\u200c", "\ufeff", "\u202e", "\u206a", "\u200b", "~", "1", "0", "a", "::$INDEX_ALLOCATION",
    "aux", "con", "\udcff", "\udce2\udc80", "\uffff", "\U000e0041", "\t", "\n", "\u0131", "K",
]  # fmt: skip
LINK, FILE = "120000", "100644"


def overlooked(path: str) -> bool:
    """Git does not look at what follows a backslash that begins a component; we do."""
    return path.startswith("\\") or "/\\" in path


@pytest.mark.slow
def test_the_verdict_on_a_name_is_that_of_git(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch)
    repo.git("config", "core.protectHFS", "true")
    repo.git("config", "core.protectNTFS", "true")
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    random_pieces = random.Random(1)
    names = {
        "".join(random_pieces.choices(PIECES, k=random_pieces.randint(1, 4))) for _ in range(1200)
    }
    names |= {name[:2] + "\u200d" + name[2:] for name in PIECES}
    verdicts = []
    for name in sorted(names):
        for mode in (LINK, FILE):
            (repo.path / ".git" / "index").unlink(missing_ok=True)
            repo.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}", check=False)
            is_refused = not (repo.path / ".git" / "index").exists()
            ours = is_refused_by_git(name, is_link=mode == LINK)
            verdicts.append(is_refused)
            assert ours == is_refused or (ours and overlooked(name)), (mode, name)
    assert 150 < sum(verdicts) < len(verdicts) - 150


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        (".g\u200cit/hooks/post-checkout", FILE),
        (".git::$INDEX_ALLOCATION/config", FILE),
        (".git.../config", FILE),
        ("a\\.git\\config", FILE),
        ("a\\git~1 \\config", FILE),
        (".gitmodules", LINK),
        ("GITMOD~1", LINK),
        (".git\u206amodules", LINK),
    ],
)
def test_nothing_is_written_by_a_name_that_git_refuses(tmp_path, path, mode):
    top = tmp_path / "top"
    top.mkdir()
    edit = FileEdit(path, path, None, Side(mode, b"x"))
    with opened_checkout(str(top), None, tmp_path / "cache") as checkout:
        assert checkout is not None
        with pytest.raises(SourceError):
            checkout.write([edit])
    assert list(top.iterdir()) == []


@given(st.lists(st.sampled_from([b"\\", b"x", b"e4", b"\xe4", b"\xc3\xa4", b"5c", b"/", b'"'])))
def test_a_path_follows_from_its_spelling(pieces):
    path = os.fsdecode(b"".join(pieces))
    spelling = spelled(path)
    assert path_spelled(spelling) == path
    spelling.encode()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="its file names are Unicode")
def test_paths_that_are_not_utf8_are_reviewed_planned_and_written_as_their_bytes(
    tmp_path, monkeypatch
):
    repo = make(tmp_path, monkeypatch)
    names = [b"caf\xe9.py", rb"caf\xe9.py", b'\xff\n"x\xe2\x80\x8d', b"plain.py"]
    for name in names:
        (repo.path / os.fsdecode(name)).write_text("x = 1\ny = 2\n")
    repo.commit()
    tree = edited(repo, "ada", tmp_path)
    for name in names:
        (tree / os.fsdecode(name)).write_text(f"x = 1\ny = {len(name)}\n")
    (tree / "a.py").unlink()
    folder = ["--repo", str(repo.path)]
    ran = excise("review", *folder, "--format", "json")
    assert ran.code == 0, ran.err
    review = ran.json
    [task] = review["tasks"]
    paths = [file["path"] for file in task["files"]]
    assert sorted(os.fsencode(path_spelled(path)) for path in paths) == sorted(names)
    for spelling in paths:
        shown = excise("review", *folder, "--path", f"{spelling}#2", "--format", "json").json
        assert [file["path"] for file in shown["tasks"][0]["files"]] == [spelling]
    first, *others = paths
    choices = [{"candidate": "worktree:ada", "path": path, "hunk": "2"} for path in others]
    plan = json.dumps({"digest": review["digest"], "choices": choices})
    taken = excise("take", *folder, "--plan", "-", "--write", "--format", "json", stdin=plan)
    assert {file["path"] for file in taken.json["files"]} == set(others)
    assert excise("take", *folder, "ada", f"{first}#2", "--write").code == 0
    for name in names:
        text = (repo.path / os.fsdecode(name)).read_text()
        assert text == (tree / os.fsdecode(name)).read_text()


def edited(repo: Repo, name: str, folder: Path) -> Path:
    tree = folder / name
    repo.git("worktree", "add", "--quiet", "-b", name, tree)
    (tree / "a.py").write_text("x = 1\ny = 22\n")
    return tree


@pytest.mark.slow
@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm")
def test_candidates_below_dev_shm_are_read(tmp_path, monkeypatch):
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        repo = make(folder, monkeypatch)
        repo.commit(a__py="x = 1\ny = 2\n")
        edited(repo, "ada", folder)
        [entry] = excise("review", "--repo", str(repo.path), "--format", "json").json["candidates"]
        assert [file["path"] for file in entry["files"]] == ["a.py"]
        ran = excise("review", "--origin", str(repo.path), str(folder / "ada"), "--format", "json")
        assert [file["path"] for file in ran.json["candidates"][0]["files"]] == ["a.py"]
        assert excise("take", "--repo", str(repo.path), "ada", "--write").code == 0
        assert (repo.path / "a.py").read_text() == "x = 1\ny = 22\n"
    finally:
        shutil.rmtree(folder)


def test_a_folder_of_which_nothing_is_read_is_not_unchanged(tmp_path):
    for name in ("origin", "ada", "bo"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b.py").write_text("b = 1\n")
    (tmp_path / "origin" / "a.py").write_text("a = 1\n")
    os.mkfifo(tmp_path / "ada" / "a.py")
    (tmp_path / "bo" / "a.py").write_text("a = 1\n")
    folders = [str(tmp_path / name) for name in ("origin", "ada", "bo")]
    answer = excise("review", "--origin", *folders, "--format", "json").json
    assert answer["unchanged"] == ["folder:bo"]
    [rejected] = answer["rejected"]
    assert rejected["id"] == "folder:ada"
    assert "a.py" in rejected["reason"]


def test_a_file_that_the_system_refuses_to_show_is_not_deleted(tmp_path):
    folder = Folder(str(tmp_path), SHA1_DIGITS)
    (tmp_path / "file").touch()
    assert folder.file("gone") is None
    assert folder.file("file/below") is None
    too_long = folder.file("x" * 4096)
    assert too_long is not None
    assert "too long" in too_long.refused


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="needs root to drop it")
def test_an_unreadable_folder_of_a_worktree_is_named(monkeypatch):
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        repo = make(folder, monkeypatch)
        repo.commit(a__py="x = 1\ny = 2\n", **{"deep/b__py": "b = 1\n"})
        tree = edited(repo, "ada", folder)
        hidden = tree / "new"
        hidden.mkdir()
        (hidden / "c.py").write_text("c = 1\n")
        for closed in (hidden, tree / "deep"):
            closed.chmod(0)
        repo.git("config", "--global", "safe.directory", "*")
        os.seteuid(65534)
        try:
            [entry] = excise("review", "--repo", str(repo.path), "--format", "json").json[
                "candidates"
            ]
        finally:
            os.seteuid(0)
        assert [file["path"] for file in entry["files"]] == ["a.py"]
        notes = " ".join(entry["notes"])
        assert "'new/'" in notes
        assert "deep/b.py: permission denied" in notes
    finally:
        shutil.rmtree(folder)
