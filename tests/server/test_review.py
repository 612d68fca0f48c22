"""`excise review` over real worktrees: complete, short, and exact enough to rebuild them."""

import random

import msgspec
import pytest
from tests.server.command import excise, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_review_hunks import applied
from tests.server.test_worktrees import worktree, write

from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_folder
from excise_server.sources.candidates import find_candidates
from excise_server.wire.documents import ReviewDocument

pytestmark = [pytest.mark.slow, needs_git]

FUNCTIONS = [
    f"def f{n}(x):\n    # What the caller gives is {n} less than what it gets.\n"
    f"    checked = check(x)\n    log(checked)\n    return checked + {n}\n\n\n"
    for n in range(12)
]
BASE = "".join(FUNCTIONS)
GUARD = ("    return checked + 7\n", "    if checked is None:\n        return 7\n"
         "    return checked + 7\n")  # fmt: skip


def begun(folder, monkeypatch):
    made = make(folder, monkeypatch)
    made.commit(a__py=BASE, b__txt="one\ntwo\n", data__bin=b"\0\1", gone__py="x = 1\ny = 2\n")
    return made


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return begun(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Six worktrees that started at different commits, and do what candidates can do.

    Tests only read them.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield six_worktrees(begun(tmp_path_factory.mktemp("six"), monkeypatch))


def six_worktrees(repo):
    edits = [
        [GUARD],
        [GUARD],
        [GUARD, ("check(x)", "check(x, strict=True)")],
        [("    return checked + 7\n", "    return checked + 7 if checked else 7\n")],
        [GUARD, ("    log(checked)\n", "")],
        [("    return checked + 7\n", "    return (checked or 0) + 7\n")],
    ]
    for number, own in enumerate(edits):
        path = worktree(repo, f"c{number}")
        text = (path / "a.py").read_text()
        for old, new in own:
            assert old in text
            text = text.replace(old, new, 1)
        write(path, "a.py", text)
        repo.commit(f"drift {number}", **{f"new{number}__py": f"n = {number}\n"})
        drift = (repo.path / "a.py").read_text()
        drift = drift.replace(f"checked + {11 - number % 3}\n", f"checked - {11 - number}\n")
        repo.commit(f"more drift {number}", a__py=drift)
    folder = repo.path.parent
    write(folder / "c1", "test_a.py", "from a import f7\n\n\ndef test_f7():\n    assert f7(None)\n")
    write(folder / "c2", "test_a.py", "import a\n")
    (folder / "c2" / "gone.py").unlink()
    (folder / "c3" / "b.txt").rename(folder / "c3" / "b2.txt")
    write(folder / "c3", "b2.txt", "one\nzwei\n")
    write(folder / "c4", "data.bin", b"\0\2")
    (folder / "c5" / "gone.py").chmod(0o755)
    return repo


def reviewed(repo, *arguments, code=0):
    ran = excise("review", "--repo", str(repo.path), "--format", "json", *arguments)
    assert ran.code == code, ran.err
    document = msgspec.convert(ran.json, ReviewDocument)
    assert msgspec.to_builtins(document) == ran.json
    return document


def page(repo, *arguments):
    ran = excise("review", "--repo", str(repo.path), *arguments)
    assert ran.code == 0, ran.err
    return ran.out


def origin_files(repo, document):
    """Return mode and data of every file of the origin."""
    listed = repo.git("ls-tree", "-r", "-z", document.origin).decode().split("\0")[:-1]
    files = {}
    for entry in listed:
        meta, path = entry.split("\t")
        mode, _, blob = meta.split(" ")
        files[path] = (mode, repo.git("cat-file", "blob", blob))
    return files


def tree(origin, document, name):
    """Return the files of a candidate, made of the origin's and the document alone."""
    files = dict(origin)
    rng = random.Random(name)
    for task in document.tasks:
        for file in task.files:
            for change in (c for c in file.changes if c.id == name):
                old = files.pop(file.path, (None, b""))[1]
                if change.status == "deleted":
                    continue
                if change.binary:
                    files[change.path] = (change.mode, change.binary)
                    continue
                chosen = [
                    (hunk.lo, hunk.hi, variant.text)
                    for hunk in file.hunks
                    for variant in hunk.variants
                    if name in variant.ids
                ]
                rng.shuffle(chosen)
                files[change.path] = (change.mode, applied(old.decode(), chosen).encode())
    return files


def test_every_candidate_can_be_rebuilt_from_the_document(six):
    document = reviewed(six)
    origin = origin_files(six, document)
    found = find_candidates(open_folder(str(six.path), [str(six.path)]), Selection())
    assert len(found.found) == 6
    statuses = {c.status for t in document.tasks for f in t.files for c in f.changes}
    assert statuses == {"created", "deleted", "renamed", "modified"}
    for candidate in found.found:
        expected = dict(origin)
        for path in candidate.old.keys() - candidate.new.keys():
            del expected[path]
        for path, side in candidate.new.items():
            expected[path] = (side.mode, side.data)
        rebuilt = tree(origin, document, candidate.id)
        if candidate.id == "worktree:c4":
            data = rebuilt.pop("data.bin")[1]
            assert len(data) == 64
            assert expected.pop("data.bin")[1] == b"\0\2"
        assert rebuilt == expected


def git_diffs(repo):
    """Return what `git diff` says of each worktree against what it started from."""
    for number in range(6):
        folder = repo.path.parent / f"c{number}"
        repo.git("add", "--all", cwd=folder)
        yield repo.git("diff", "--cached", "--find-renames", "HEAD", cwd=folder).decode()


def test_the_page_is_shorter_than_the_diffs_and_shows_every_line_that_differs(six):
    assert len(page(six).splitlines()) <= 15
    text = page(six, "--path", "*")
    diffs = list(git_diffs(six))
    assert len(text) < sum(map(len, diffs))
    differing = {
        line[1:].strip()
        for diff in diffs
        for line in diff.split("\n")
        if line[:1] in "+-" and not line.startswith(("+++", "---"))
    }
    assert len(differing) > 12
    for line in differing:
        assert line in text, line
    for said in ("renames it to b2.txt: c3", "deletes the file: c2", "mode 100644 to 100755: c5",
                 "binary, SHA-256 ", "4 of 6: c0, c1, c4, c2"):  # fmt: skip
        assert said in text


def folders(tmp_path, texts):
    """Make plain folders with one file each, and the one that all began as; return the options."""
    for name, text in {"base": BASE, **texts}.items():
        (tmp_path / name).mkdir()
        write(tmp_path / name, "a.py", text)
    return ["--origin", str(tmp_path / "base"), *(str(tmp_path / name) for name in texts)]


def of_folders(options, *more):
    ran = excise("review", *options, *more)
    assert ran.code == 0, ran.err
    return ran


def test_against_a_candidate(six):
    text = page(six, "--against", "c0")
    assert "#56+" not in text.replace("#56+, 4 of 6: c0, c1, c2, c4", "")
    one_line(
        excise("review", "--repo", str(six.path), "--against", "x"), "no candidate is called x"
    )


def test_only_what_was_chosen(six):
    document = reviewed(six, "c0", "c3")
    assert {c.label for c in document.candidates} == {"c0", "c3"}
    assert document.digest != reviewed(six).digest


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        (["nobody"], "no candidate is called nobody"),
        (["--path", "a.py#900"], "a.py has no hunk 900"),
        (["--path", "none.py"], "no changed file is called none.py"),
        (["--path", "*.rs"], "no changed file is called *.rs"),
        (["--path", "b.txt", "--path", "a.py#900"], "a.py has no hunk 900"),
        (["--task", "9"], "no task is called 9"),
    ],
)
def test_what_does_not_exist(repo, wrong, parts):
    worktree(repo, "ada", a__py=BASE.replace(*GUARD), b__txt="two\n")
    one_line(excise("review", "--repo", str(repo.path), *wrong), parts)


def test_who_cannot_be_read_is_named(repo):
    worktree(repo, "ada", a__py=BASE.replace(*GUARD))
    gone = worktree(repo, "gone")
    (gone / ".git").write_text("gitdir: /nowhere\n")
    for form in ("text", "markdown", "html", "json"):
        ran = excise("review", "--repo", str(repo.path), "--format", form)
        assert ran.code == 1
        assert "left out: cannot read gone: " in ran.err
        assert ("gone" if form == "json" else "1 left out") in ran.out
        assert "gone" in excise("review", "--repo", str(repo.path), "--format", form, "-v").out


def test_plain_folders(tmp_path):
    options = folders(tmp_path, {"ada": BASE.replace(*GUARD), "bo": BASE + "x = 1\n"})
    assert of_folders(options).out.startswith("2 candidates, 2 tasks: nobody competes; ")
    options += ["--issue", "7"]
    assert of_folders(options).out.startswith("2 candidates, 1 task (issue 7), ")
    assert "a.py: both change it\n" in of_folders(options, "--path", "*").out
    assert "drop the options about git" in excise("review", *options, "--onto", "x").err
    assert "needs the folders" in excise("review", *options[:2]).err


def test_the_page_in_a_file(repo, tmp_path):
    worktree(repo, "ada", a__py=BASE.replace(*GUARD))
    assert page(repo, "--output", str(tmp_path / "page.txt")) == ""
    assert (tmp_path / "page.txt").read_text() == page(repo)
