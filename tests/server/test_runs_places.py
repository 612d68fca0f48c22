"""`review --run` on real repositories: what runs where, how often, and what it decides."""

import os
import sys
import tempfile

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import LONG_AGO
from tests.server.git_repository import Repo, make, needs_git

from excise_server.candidates import scratch

pytestmark = [
    pytest.mark.slow,
    needs_git,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]

ORIGIN = "def f(a):\n    return a\n"
TEST = "from a import f\n\n\ndef test_f():\n    assert f(1) == 1\n"


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # a run may leave a link there
    return make(
        tmp_path, monkeypatch, a__py=ORIGIN, test_a__py=TEST, b__py="b = 1\n", poetry__lock="one\n"
    )


def worktree(repo: Repo, name: str, text: str, **files: str):
    """Add a worktree in which ``a.py`` has this text, written long ago."""
    folder = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, folder)
    for path, content in ({"a__py": text} | files).items():
        file = folder / path.replace("__", ".")
        file.write_text(content)
        os.utime(file, (LONG_AGO, LONG_AGO))
    return folder


def branch(repo: Repo, name: str, text: str) -> None:
    repo.git("checkout", "--quiet", "-b", name)
    repo.commit(f"Change f as {name}", a__py=text)
    repo.git("checkout", "--quiet", "main")


def run(repo: Repo, command: str, *more: str, code: int = 0):
    """Run a command; return the verdicts by candidate, how often it ran, and what was said."""
    ran = excise("review", "--repo", str(repo.path), "--run", command, "--format", "json", *more)
    assert ran.code == code, ran.err
    document = ran.json
    shown = {entry["label"]: entry["verdict"] for entry in document["candidates"]}
    return shown, ran.err.count(" after ") + ran.err.count("timed out"), document, ran.err


LOAD = "python3 -c 'import a, sys; print(a.f(1)); sys.exit(a.f(1) != 2)'"


def test_those_that_pass_come_first_and_what_is_printed_moves_nobody(repo: Repo):
    texts = {
        "one": ORIGIN.replace("return a", "return a + 3"),
        "two": ORIGIN.replace("return a", "return a + 3"),
        "wrong": ORIGIN.replace("return a", "return a[0]"),
        "idle": ORIGIN.replace("return a", "b = a\n    return b"),
        "good": ORIGIN.replace("return a", "c = a\n    d = c\n    return d + 1"),
    }
    for name, text in texts.items():
        worktree(repo, name, text)

    def order(*options: str) -> list[tuple[int, str]]:
        ran = excise("review", "--repo", str(repo.path), "--format", "json", *options)
        return [(entry["rank"], entry["label"]) for entry in ran.json["candidates"]]

    plain = order()
    assert plain[0][1] == "one"
    by_run = order("--run", LOAD)
    assert by_run[0] == (1, "good")
    assert [label for _, label in by_run[1:]] == [label for _, label in plain if label != "good"]
    assert order("--run", f"{LOAD}; true") == plain


def test_a_test_or_a_script_that_one_adds_moves_nobody_else(repo: Repo):
    """A law: of whatever X adds that runs, only X's own verdict can tell."""
    text = ORIGIN.replace("return a", "if a is None:\n        return 0\n    return a")
    for name in ("a1", "a2", "a3"):
        worktree(repo, name, text)
    other = text.replace("return 0", "return None")
    folder = worktree(repo, "wrong", other)
    command = "for t in test_*.py try_*.py; do test -e $t && python3 $t; done; true"

    def others() -> list[tuple[object, ...]]:
        options = ("--run", command, "--format", "json")
        ran = excise("review", "--repo", str(repo.path), *options)
        return [
            (entry["label"], entry["rank"], entry["verdict"], *entry["why"])
            for entry in ran.json["candidates"]
        ]

    before = others()
    assert before[0][0] == "a1"
    (folder / "test_more.py").write_text("print('ok')\n")
    (folder / "try_it.py").write_text("print('tried')\n")
    after = others()
    assert [(e[0], e[1], e[2]) for e in after] == [(e[0], e[1], e[2]) for e in before]
    assert [e for e in after if e[0] != "wrong"] == [e for e in before if e[0] != "wrong"]
    page = excise("review", "--repo", str(repo.path), "--run", command).out
    assert "no effect" not in page


def test_the_same_code_runs_once_unless_what_runs_differs(repo: Repo):
    text = ORIGIN.replace("return a", "return a + 1")
    worktree(repo, "one", text)
    worktree(repo, "comment", text.replace("return", "# more\n    return"))
    worktree(repo, "docs", text, README__md="# f\n")
    worktree(repo, "tested", text, test_a__py=TEST.replace("== 1", "== 2"))
    worktree(repo, "locked", text, poetry__lock="two\n")
    shown, runs, document, err = run(repo, "cat test_a.py poetry.lock a.py")
    assert runs == 4  # the target, and three classes
    assert "5 candidates in 3 classes of the same code" in err
    assert len(shown) == 5
    by_label = {entry["label"]: entry for entry in document["candidates"]}
    assert by_label["one"]["checks"] == by_label["docs"]["checks"] == by_label["comment"]["checks"]
    assert len({entry["group"] for entry in document["candidates"]}) == 1  # nobody is parted


def test_branches_and_patches_run_in_a_scratch_copy_of_the_target_with_their_edits(repo: Repo):
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 1"))
    patch = repo.path.parent / "minus.diff"
    repo.git("checkout", "--quiet", "-b", "patched")
    repo.commit(a__py=ORIGIN.replace("return a", "return a - 1"))
    patch.write_bytes(repo.git("format-patch", "--stdout", "-1", "--full-index"))
    repo.git("checkout", "--quiet", "main")
    repo.git("branch", "-D", "patched")
    repo.commit(c__py="c = 1\n")  # the branch does not have it, the target does
    where = repo.path.parent / "where"
    command = f"test -f c.py && pwd >> {where}; echo new > new.py; rm b.py; {LOAD}"
    shown, runs, _, _ = run(repo, command, "--git", "plus", "--patches", str(patch))
    assert sorted(shown.values()) == ["failed", "passed"]
    assert runs == 3
    folders = where.read_text().split()
    assert len(set(folders)) == 3
    assert not any(os.path.exists(folder) for folder in folders)
    assert str(repo.path) not in folders
    assert repo.git("status", "--porcelain") == b""  # whatever it writes is in the copies


def test_a_worktree_keeps_its_folder_and_what_git_ignores_is_there(repo: Repo):
    folder = worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    repo.write(".git/info/exclude", "built\n")
    (folder / "built").write_text("by hand\n")
    shown, _, _, _ = run(repo, "echo x > written; cat built")
    assert shown == {"ada": "passed"}
    assert (folder / "written").exists()
    assert not (repo.path / "written").exists()


def test_a_folder_that_is_gone_when_its_turn_comes(repo: Repo):
    folder = worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    command = f'test "$EXCISE_CANDIDATE" = target && rm -rf {folder}; {LOAD}'
    assert run(repo, command)[0] == {"ada": "passed"}  # in a scratch copy


def test_what_is_compared_is_what_runs(repo: Repo):
    """The target with the edits of each; of one in conflict there is no such thing."""
    plus = ORIGIN.replace("return a", "return a + 1")
    stale = worktree(repo, "stale", ORIGIN, b__py="b = 2\n")
    clash = worktree(repo, "clash", ORIGIN.replace("return a", "return a - 1"))
    repo.commit("The target mends f", a__py=plus)
    fresh = worktree(repo, "fresh", plus + "\n\ndef h():\n    return 3\n")
    where = repo.path.parent / "where"
    shown, runs, document, err = run(repo, f'echo "$EXCISE_CANDIDATE $PWD" >> {where}; {LOAD}')
    assert shown == {"stale": "passed", "fresh": "passed", "clash": "undecided"}
    assert "clash: not run: in conflict with the target (a.py)" in err
    folders = dict(line.split() for line in where.read_text().splitlines())
    assert folders.keys() == {"target", "worktree:stale", "worktree:fresh"}
    assert folders["worktree:fresh"] == str(fresh)
    assert str(stale) not in folders.values()
    assert str(clash) not in folders.values()
    assert runs == 3
    (entry,) = (entry for entry in document["candidates"] if entry["label"] == "clash")
    assert entry["checks"][0]["reason"] == "not run: in conflict with the target (a.py)"


def test_folders_that_git_ignores_are_linked_into_scratch_copies_if_named(repo: Repo):
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 1"))
    repo.write(".git/info/exclude", "deps\nbuild\n")
    for folder in ("deps", "build/made"):
        (repo.path / folder).mkdir(parents=True)
        (repo.path / folder / "there").write_text("x")
    command = "test -e deps/there && test -e build/made/there"
    assert run(repo, command, "--git", "plus")[0] == {"plus": "failed"}
    linked = ("--link", "deps", "--link", "./build/made/")
    assert run(repo, command, "--git", "plus", *linked)[0] == {"plus": "passed"}
    taken = excise(
        "take", "--repo", str(repo.path), "--git", "plus", "plus", "--run", command, *linked
    )
    assert taken.code == 0, taken.err
    assert (repo.path / "deps" / "there").exists()
    (repo.path / "d").mkdir()
    repo.commit(**{"d/x__py": "x = 1\n"})
    for name in ("d", "..", "/tmp", "none", ".git", ".", "a.py", "deps/../.."):
        ran = excise("review", "--repo", str(repo.path), "--git", "plus", "--run", "true",
                     "--link", name)  # fmt: skip
        assert ran.code == 2, name
        assert "--link " in ran.err, name
    ran = excise("review", "--repo", str(repo.path), "--link", "deps")
    assert ran.code == 2
    assert "--link needs --run" in ran.err


TESTS = """
MORE = WRITTEN
import sys
sys.path.insert(0, ".")
import a
cases = {"test_one": a.f(1) == 1, "test_none": a.f(None) == 0, "test_big": a.f(9) == 9}
report = "".join(
    f'<testcase classname="t" name="{name}">{"" if ok else "<failure/>"}</testcase>'
    for name, ok in cases.items()
)
if MORE is not None:
    open("report.xml", "w").write(f'<testsuite name="t">{report}{MORE}</testsuite>')
sys.exit(not all(cases.values()))
"""


def test_tests_are_told_by_name_against_the_target(repo: Repo):
    worktree(repo, "good", ORIGIN.replace("return a", "return a or 0"))
    worktree(repo, "worse", ORIGIN.replace("return a", "return a and a - 8"))
    worktree(repo, "idle", ORIGIN.replace("return a", "return 0 if a == 3 else a"))
    own = worktree(repo, "own", ORIGIN.replace("return a", "return 1"), test_a__py=TEST + "# x\n")
    (own / "report.xml").write_text('<testsuite name="t"><testcase name="old"/></testsuite>')
    script = repo.path.parent / "t.py"
    script.write_text(TESTS.replace("WRITTEN", '""'))
    command = f"python3 {script}"
    ran = excise("review", "--repo", str(repo.path), "--run", command, "--junit", "report.xml",
                 "--format", "json")  # fmt: skip
    checks = {e["label"]: (e["verdict"], e["checks"][0]["reason"]) for e in ran.json["candidates"]}
    assert checks == {
        "good": ("passed", "passes test_none, which fails on the target"),
        "worse": ("failed", "fails test_one, test_big, which pass on the target"),
        "idle": ("failed", "fails test_none, which fails on the target, too"),
        "own": ("failed", "exit status 1"),  # its tests are others
    }
    page = excise("review", "--repo", str(repo.path), "--run", command, "--junit", "report.xml").out
    assert "fails test_one, test_big, which pass on the target" in page
    # What no run of now wrote, or is no such file, tells nothing.
    for more in ("None", "'<!DOCTYPE x>'", "'<'"):
        script.write_text(TESTS.replace("WRITTEN", more))
        ran = excise("review", "--repo", str(repo.path), "--run", command, "--junit", "report.xml",
                     "--format", "json")  # fmt: skip
        reasons = {e["checks"][0]["reason"] for e in ran.json["candidates"]}
        assert reasons == {"", "exit status 1"}, more
    for wrong in ("/tmp/report.xml", "../report.xml"):
        ran = excise("review", "--repo", str(repo.path), "--run", "true", "--junit", wrong)
        assert ran.code == 2


def test_only_the_base_times_out(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    command = 'test "$EXCISE_CANDIDATE" = target && sleep 300; true'
    assert run(repo, command, "--timeout", "0.5")[0] == {"ada": "passed"}


def test_where_all_pass_or_all_fail_and_the_target_too_it_is_said_once(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "bo", ORIGIN.replace("return a", "return a + 2"))
    passing = "true passes on the target, too: passing tells nobody apart"
    failing = "false fails on the target, too: failing tells nobody apart"
    for command, said, named in (("true", passing, ()), ("false", failing, ("ada", "bo"))):
        ran = excise("review", *named, "--repo", str(repo.path), "--run", command)
        assert ran.code == 0
        assert ran.out.count(said) == 1, ran.out


def test_the_saved_files_are_the_target_if_candidates_are_replayed_onto_them(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    repo.write("b.py", "b = 2\n")
    repo.write("new.py", "n = 1\n")
    (log,) = _logs(repo, "cat b.py new.py", "--onto", "saved")
    assert log == b"b = 2\nn = 1\n"
    (log,) = _logs(repo, "cat b.py; ls")
    assert log == b"b = 1\na.py\nb.py\npoetry.lock\ntest_a.py\n"


def _logs(repo: Repo, command: str, *more: str) -> list[bytes]:
    """Return the output of the target's run."""
    run(repo, command, *more)
    folders = (repo.path.parent / "cache" / "excise" / "runs").iterdir()
    newest = max(folders, key=lambda folder: folder.stat().st_mtime_ns)  # two may have one second
    return [log.read_bytes() for log in newest.glob("001-the-target.log")]


def test_folders_without_git_are_compared_with_a_copy_of_their_origin(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in (("origin", ORIGIN), ("x", ORIGIN.replace("return a", "return a + 1"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    (tmp_path / "origin" / "link").symlink_to("/etc/hostname")
    origin, folder = str(tmp_path / "origin"), str(tmp_path / "x")
    command = f"echo x >> written; {LOAD}"
    ran = excise("review", "--origin", origin, folder, "--run", command, "--format", "json")
    assert ran.json["candidates"][0]["verdict"] == "passed", ran.err
    assert not (tmp_path / "origin" / "written").exists()
    assert (tmp_path / "x" / "written").exists()
    os.mkfifo(tmp_path / "origin" / "pipe")
    ran = excise("review", "--origin", origin, folder, "--run", "true", "--format", "json")
    assert "the target: not run: no scratch copy" in ran.err
    assert ran.json["candidates"][0]["verdict"] == "passed"


@pytest.mark.parametrize(
    "harm",
    [
        'rm -rf "$PWD"',
        'd="$PWD"; cd /; rm -rf "$d"; ln -s {victim} "$d"',
        "mkdir -p a/b; touch a/b/c; chmod 0 a/b a",
        "ln -s {victim} link; mkfifo pipe",
    ],
)
def test_whatever_becomes_of_a_scratch_copy_nothing_else_is_removed(repo: Repo, tmp_path, harm):
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 1"))
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").write_text("x")
    command = f"{LOAD}; code=$?; {harm.format(victim=victim)}; exit $code"
    shown, _, _, _ = run(repo, command, "--git", "plus")
    assert shown == {"plus": "passed"}
    assert (victim / "kept").exists()


def test_files_that_became_folders_and_back(repo: Repo):
    repo.commit(**{"d/x__py": "x = 1\n", "e": "e\n"})
    repo.git("checkout", "--quiet", "-b", "moved")
    for name in ("d/x.py", "e"):
        (repo.path / name).unlink()
    (repo.path / "d").rmdir()
    repo.commit(**{"d": "now a file\n", "e/y__py": "y = 1\n", "run__sh": "echo run\n"})
    (repo.path / "run.sh").chmod(0o755)
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    shown, _, _, _ = run(repo, "cat d; test -e d/x.py || cat e/y.py; ./run.sh", "--git", "moved")
    assert shown == {"moved": "passed"}


def test_a_target_too_large_to_copy_costs_the_base_its_outcome_alone(repo: Repo, monkeypatch):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 2"))
    monkeypatch.setattr(scratch, "MOST", 10)
    shown, _, document, err = run(repo, "true", "--git", "plus")
    assert shown == {"ada": "passed", "plus": "undecided"}
    assert "the target: not run: the target has" in err
    reasons = {e["label"]: e["checks"][0].get("reason") for e in document["candidates"]}
    assert reasons["plus"].startswith("not run: the target has")


def test_verdicts_of_a_file_say_and_order_the_same(repo: Repo):
    worktree(repo, "good", ORIGIN.replace("return a", "return a + 3"))
    worktree(repo, "idle", ORIGIN.replace("return a", "b = a\n    return b"))
    _, _, document, _ = run(repo, f"{LOAD}; true")
    (file,) = (repo.path.parent / "cache" / "excise" / "runs").glob("*/verdicts.jsonl")
    again = excise(
        "review", "--repo", str(repo.path), "--verdicts", str(file), "--format", "json"
    ).json
    assert again == document
    assert not [*repo.path.parent.glob("*/__pycache__")]
