"""`review --cross`: what candidates brought, run closed off on the target and on each same code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from tests.server.command import excise
from tests.server.git_repository import Repo, make, needs_git

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.processes.runs import closed_off
from excise_server.review.brought import MOST, brought_along
from excise_server.review.candidate import Candidate
from excise_server.review.verdicts import Verdict, match_verdicts

closed = pytest.mark.skipif(sys.platform != "linux", reason="the guards are those of Linux")
slow = [needs_git, closed, pytest.mark.slow]

ORIGIN = "def f(a):\n    return a\n"
RIGHT = ORIGIN.replace("return a", "return a + 1")
IDLE = ORIGIN.replace("return a", "b = a\n    return b")
REPRODUCE = "from m import a\nassert a.f(1) == 2, a.f(1)\nprint('fixed')\n"
TEST = "from m import a\n\n\ndef test_f():\n    assert a.f(1) == {}\n"


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Not the python of a version manager, which is a shell script that starts another.
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    repo = make(tmp_path, monkeypatch, **{"m/a__py": ORIGIN})
    for name, text in (("right", RIGHT), ("idle", IDLE)):
        branch(repo, name, text)
    return repo


def branch(repo: Repo, name: str, text: str, **files: str) -> None:
    """Make a branch on which the module has this text."""
    repo.git("checkout", "--quiet", "-b", name, "main")
    repo.commit(f"Change f as {name}", **{"m/a__py": text}, **files)
    repo.git("checkout", "--quiet", "main")


def cross(repo: Repo, *more: str, script: str = "", code: int = 0):
    """Run what all branches brought; return the evidence and the reasons of each, what was said."""
    asked = ("--repo", str(repo.path), "--git", "*", "--issue", "one task")
    ran = excise("review", *asked, f"--cross{script}", *more, "--format", "json")
    assert ran.code == code, ran.err
    document = ran.json
    return (
        {entry["label"]: entry["evidence"] for entry in document["candidates"]},
        {entry["label"]: entry["why"] for entry in document["candidates"]},
        document,
        ran.err,
    )


def outputs(repo: Repo) -> list[str]:
    """Return what each run printed, in the order of the runs."""
    logs = (repo.path.parent / "cache" / "excise" / "runs").glob("*/*.log")
    return [log.read_text() for log in sorted(logs)]


def script(repo: Repo, text: str, name: str = "try_it__py") -> None:
    """Let one more candidate, whose code is that of the right one, bring a script."""
    branch(repo, "brings", RIGHT, **{name: text})


# --- what is run, and what comes of it ---


@pytest.mark.usefixtures("repo")
class TestEvidence:
    pytestmark = slow

    def test_the_script_of_one_shows_another_without_an_effect(self, repo: Repo):
        script(repo, REPRODUCE)
        shown, why, document, err = cross(repo)
        assert shown["right"] == shown["brings"] == ["try_it.py of brings: passes"]
        assert shown["idle"] == ["try_it.py of brings: still raises AssertionError"]
        assert why["idle"][0] == "still raises AssertionError"
        assert document["candidates"][-1]["label"] == "idle"
        assert err.count(" after ") == 3  # the target, and two programs of three candidates

    def test_it_is_no_verdict_and_moves_no_score(self, repo: Repo):
        script(repo, REPRODUCE)
        _, _, document, _ = cross(repo)
        assert {entry["verdict"] for entry in document["candidates"]} == {None}
        assert not any(entry["checks"] for entry in document["candidates"])
        asked = ("--repo", str(repo.path), "--git", "*", "--issue", "one task")
        without = excise("review", *asked, "--format", "json").json
        order = [entry["id"] for entry in document["candidates"]]
        values = document["similarity"], without["similarity"]
        by_pair = [
            {
                (a["id"], b["id"]): values[side][i][j]
                for i, a in enumerate(found["candidates"])
                for j, b in enumerate(found["candidates"])
            }
            for side, found in enumerate((document, without))
        ]
        assert by_pair[0] == by_pair[1]
        assert order[-1] == "branch:idle"

    def test_a_changed_test_replaces_that_of_all_others(self, repo: Repo):
        repo.commit(**{"tests/test_a__py": TEST.format(1)})
        branch(repo, "tested", RIGHT, **{"tests/test_a__py": TEST.format(2)})
        shown, _, _, _ = cross(repo)
        name = "tests/test_a.py of tested"
        assert shown["tested"] == [f"{name}: passes"]
        assert shown["idle"] == [f"{name}: still raises AssertionError"]

    def test_tests_that_pass_on_the_origin_are_named_once_and_say_nothing(self, repo: Repo):
        branch(repo, "tested", RIGHT + "\n\nx = 1\n", test_g__py="def test_g():\n    pass\n")
        shown, why, document, _ = cross(repo)
        assert not any(shown.values())
        assert not any("no effect" in reason for reasons in why.values() for reason in reasons)
        (note,) = [note for note in document["notes"] if "test_g.py of tested" in note]
        assert "tells nobody apart" in note
        ran = excise("review", "--repo", str(repo.path), "--git", "*", "--cross")
        assert ran.out.count("test_g.py of tested: as on the target for everybody") == 1
        assert "Nothing was run" not in ran.out

    def test_one_whose_edit_breaks_makes_no_others_without_an_effect(self, repo: Repo):
        branch(repo, "breaks", ORIGIN.replace("return a", "return a[0]"))
        branch(repo, "tested", RIGHT + "\n\nx = 1\n",
               test_g__py="from m import a\n\n\ndef test_g():\n    assert a.f(1)\n")  # fmt: skip
        shown, why, _, _ = cross(repo)
        assert shown["breaks"] == ["test_g.py of tested: raises TypeError"]
        assert not any("no effect" in reason for reasons in why.values() for reason in reasons)

    def test_what_does_not_import(self, repo: Repo):
        branch(repo, "lost", "import gone\n" + RIGHT)
        script(repo, REPRODUCE)
        shown, why, _, _ = cross(repo)
        words = "does not import: ModuleNotFoundError: No module named 'gone'"
        assert shown["lost"] == [f"try_it.py of brings: {words}"]
        assert why["lost"][0] == words

    def test_the_snippet_of_the_issue_is_run_as_a_script(self, repo: Repo, tmp_path):
        snippet = tmp_path / "issue.py"
        snippet.write_text(REPRODUCE)
        script(repo, "raise KeyError\n")
        shown, _, _, _ = cross(repo, script=f"={snippet}")
        assert shown["right"] == ["issue.py: passes"]
        assert shown["idle"] == ["issue.py: still raises AssertionError"]
        ran = excise("review", "--repo", str(repo.path), "--git", "*", "--cross", "no-such-file")
        assert ran.code == 2
        assert "no-such-file" in ran.err

    def test_a_file_of_verdicts_says_the_same(self, repo: Repo):
        script(repo, REPRODUCE)
        _, _, document, err = cross(repo)
        (file,) = (repo.path.parent / "cache" / "excise" / "runs").glob("*/verdicts.jsonl")
        assert str(file) in err
        asked = ("--repo", str(repo.path), "--git", "*", "--issue", "one task")
        again = excise("review", *asked, "--verdicts", str(file), "--format", "json")
        assert again.json == document

    def test_nobody_brought_anything(self, repo: Repo):
        shown, _, _, err = cross(repo)
        assert not any(shown.values())
        assert "no script or test" in err


# --- what is run may be anything ---


@pytest.mark.usefixtures("repo")
class TestHostile:
    pytestmark = slow

    def test_a_script_that_writes_outside_of_its_folder(self, repo: Repo, tmp_path):
        victim = tmp_path / "victim"
        victim.write_text("kept")
        places = [
            str(victim),
            str(tmp_path / "new"),
            "/usr/new",
            "/new",
            "/etc/passwd",
            "/dev/shm/x",
        ]
        script(
            repo,
            f"for place in {places}:\n"
            "    try:\n        open(place, 'w').write('x')\n"
            "    except OSError as error:\n        print(type(error).__name__)\n"
            "    else:\n        print('written', place)\n"
            "open('mine', 'w').write('x')\nprint(open('mine').read())\n",
        )
        cross(repo)
        for text in outputs(repo):
            assert "written" not in text
            assert text.endswith("x\n")
        assert victim.read_text() == "kept"
        assert not (tmp_path / "new").exists()
        assert not os.path.exists("/usr/new")
        assert repo.git("status", "--porcelain") == b""

    def test_a_script_finds_no_home_no_variables_no_network_no_process(
        self, repo: Repo, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("SECRET_TOKEN", "s3cret")
        (tmp_path / "private").write_text("s3cret")
        script(
            repo,
            "import os, socket\nprint(sorted(os.environ))\n"
            f"print(os.path.exists({str(tmp_path / 'private')!r}), os.path.exists('/etc/passwd'))\n"
            "print(os.getppid(), os.path.exists('/proc/1'))\n"
            "try:\n    socket.create_connection(('127.0.0.1', 22), 1)\n"
            "except OSError as error:\n    print(type(error).__name__)\n",
        )
        cross(repo)
        for text in outputs(repo):
            assert "SECRET_TOKEN" not in text
            assert "EXCISE" not in text
            assert "False False\n" in text
            assert "False\nPermissionError\n" in text

    def test_a_script_that_waits_for_input_gets_none(self, repo: Repo):
        script(repo, "print(repr(input()))\n")
        shown, _, document, _ = cross(repo)
        assert not any(shown.values())  # all end alike
        assert all("EOFError" in text for text in outputs(repo))
        assert any("tells nobody apart" in note for note in document["notes"])

    def test_a_script_that_never_ends(self, repo: Repo):
        script(repo, "from m import a\nwhile a.f(1) == 2:\n    pass\n")
        shown, why, _, _ = cross(repo, "--timeout", "1")
        assert shown["brings"] == ["try_it.py of brings: times out"]
        assert shown["idle"] == ["try_it.py of brings: as target"]
        assert not any("no effect" in reason for reason in why["idle"])

    def test_a_script_that_prints_a_gigabyte(self, repo: Repo):
        text = "import sys\nfor _ in range(1000):\n    sys.stdout.write('x' * 1_000_000)\n"
        script(repo, text)
        _, _, _, err = cross(repo)
        assert err.count("bytes of output left out of its log") == 3
        assert all(len(text) < 2_300_000 for text in outputs(repo))

    def test_a_script_that_takes_memory_files_or_processes_without_end(self, repo: Repo):
        script(
            repo,
            "import os\nkept = []\n"
            "try:\n    kept.append(bytearray(3 << 30))\nexcept MemoryError:\n    print('memory')\n"
            "try:\n    with open('big', 'wb') as file:\n        file.truncate(1 << 30)\n"
            "except OSError as error:\n    print('file')\n"
            "try:\n    while True:\n        if not os.fork():\n            os.pause()\n"
            "except OSError:\n    print('processes')\n".replace(
                "os.pause", "__import__('signal').pause"
            ),
        )
        cross(repo, "--timeout", "30")
        assert len(outputs(repo)) == 3
        assert all(text == "memory\nfile\nprocesses\n" for text in outputs(repo))

    def test_a_program_that_is_missing(self, repo: Repo, tmp_path, monkeypatch):
        own = tmp_path / "bin"
        own.mkdir()
        for name in ("git", "sh"):
            (own / name).symlink_to(os.path.realpath(shutil.which(name)))
        monkeypatch.setenv("PATH", str(own))
        script(repo, "console.log(1)\n", name="try_it__js")
        shown, _, _, err = cross(repo)
        assert "try_it.js of brings: there is no node to run it" in err
        assert not any(shown.values())

    def test_what_one_run_does_to_its_copy_no_other_one_sees(self, repo: Repo):
        script(repo, "import os\nprint(os.listdir('.'))\nos.remove('m/a.py')\nopen('b', 'w')\n")
        cross(repo)
        assert len({*outputs(repo)}) == 1

    def test_a_link_that_was_brought_is_not_followed(self, repo: Repo, tmp_path):
        (tmp_path / "private").write_text("s3cret")
        repo.git("checkout", "--quiet", "-b", "linked", "main")
        (repo.path / "tests").mkdir(exist_ok=True)
        (repo.path / "tests" / "data").symlink_to(tmp_path / "private")
        repo.commit(try_it__py="print(open('tests/data').read())\n", **{"m/a__py": RIGHT})
        repo.git("checkout", "--quiet", "main")
        cross(repo)
        assert all("s3cret" not in text for text in outputs(repo))


@needs_git
@pytest.mark.slow
def test_folders_without_git_are_refused(tmp_path):
    for name in ("origin", "x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(name)
    ran = excise("review", "--origin", str(tmp_path / "origin"), str(tmp_path / "x"), "--cross")
    assert ran.code == 2
    assert "--cross needs a repository" in ran.err


INSIDE = """
import os, sys
from pathlib import Path
from excise_server.processes.runs import closed_off, run_in_folders
from excise_server.review.candidate import Candidate
top = Path(sys.argv[1])
(top / "a").mkdir()
(top / "a" / "note").write_text("mine")
one = Candidate("a", str(top / "a"), "", "", label="a")
command = "cat note; echo more > note; cat note; ls /etc /home; id -u"
runs = run_in_folders(command, [[one]], top / "cache", with_base=False,
                      closed=closed_off("x", "sh"), say=lambda line: print(line, file=sys.stderr))
print(os.geteuid(), (top / "a" / "note").read_text())
print(*(log.read_text() for log in runs.folder.glob("*.log")))
"""


@closed
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="the others test it then")
def test_who_is_not_root_closes_off_too():
    """In a mount namespace of its own, in which everybody may read the interpreter."""
    base = os.path.realpath(sys.base_prefix)
    user = "setpriv --reuid 1000 --regid 1000 --clear-groups"
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        os.mkdir(f"{place}/kept")
        os.mkdir(f"{place}/top")
        os.chown(f"{place}/top", 1000, 1000)
        script = (
            f'{user} "$0" -c "import excise_server, msgspec" || exit 77; {user} "$0" -c "$1" "$2"'
        )
        if base.startswith("/root/"):
            keep = f"mount --bind {base} {place}/kept; mount -t tmpfs -o mode=755 none /root"
            script = f"{keep}; mkdir -p {base}; mount --bind {place}/kept {base}; {script}"
        words = ["unshare", "--mount", "sh", "-c", script, sys.executable, INSIDE, f"{place}/top"]
        ran = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
    if ran.returncode == 77:
        pytest.skip(f"nobody else can read the interpreter or the checkout: {ran.stderr[-200:]}")
    lines = ran.stdout.split("\n")
    assert lines[0] == "1000 mine", ran.stderr
    assert lines[1] == "minemore"
    assert "65534" in lines


# --- what was brought ---


def candidate(name: str, **files: str) -> Candidate:
    new = {path.replace("__", "."): Side("100644", text.encode()) for path, text in files.items()}
    return Candidate(f"branch:{name}", "", name, "", label=name, new=new)


def test_scripts_of_the_top_folder_and_tests_with_tests_are_run():
    brought, others = brought_along([
        candidate("ada", **{
            "try_it__py": "x", "lib/helper__py": "x", "setup__py": "x", "README__md": "x",
            "tests/test_a__py": "def test_a(): 0", "tests/helper__py": "x", "test_top__py": "1",
            "tests/b.test__ts": "x",
        }),
    ])  # fmt: skip
    assert {one.name.partition(" ")[0]: one.program for one in brought} == {
        "try_it.py": "python3", "tests/test_a.py": "python3", "test_top.py": "python3",
    }  # fmt: skip
    assert [("pytest" in one.command) for one in brought] == [False, True, False]
    assert set(brought[0].files) == {
        "try_it.py", "tests/test_a.py", "tests/helper.py", "test_top.py", "tests/b.test.ts",
    }  # fmt: skip
    assert others == ["tests/b.test.ts of ada", "tests/helper.py of ada"]


def test_what_several_brought_is_run_once_and_no_more_than_so_many():
    twins = [candidate(name, try_it__py="x") for name in ("ada", "bo")]
    assert [one.name for one in brought_along(twins)[0]] == ["try_it.py of ada"]
    many = [candidate(f"c{i}", try_it__py=f"{i}") for i in range(MOST + 2)]
    brought, others = brought_along(many)
    assert len(brought) == MOST
    assert others == [f"try_it.py of c{i}" for i in (MOST, MOST + 1)]


def test_a_name_that_the_shell_would_obey_is_only_a_name():
    name = "$(touch x); a.py"
    one = Candidate(
        "b", "", "", "", label="b", new={f"tests/test_{name}": Side("100644", b"def test_a(): 0")}
    )
    ((brought,), _) = brought_along([one])
    assert brought.command.endswith(f"'./tests/test_{name}'")
    (hostile,), _ = brought_along([candidate("a\x1b[31m", try_it__sh="x")])
    assert "\x1b" not in hostile.name


@pytest.mark.parametrize("place", ["", ".local"])
def test_a_program_whose_folder_holds_more_than_programs_is_refused(place, tmp_path, monkeypatch):
    program = tmp_path / place / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("HOME", "/somewhere/else")
    assert closed_off("x", "node").programs == [str(tmp_path / place)]
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SourceError, match="programs alone"):
        closed_off("x", "node")


# --- the order ---


def evidence(candidate: str, word, check="try.py of x", detail=""):
    return Verdict(
        candidate=candidate, check=check, passed=None, brought=True, evidence=word, detail=detail
    )


@pytest.mark.parametrize(
    ("own", "other", "counts"),
    [
        ("as target", "passes", True),
        ("as target", "changed", True),
        ("as target", "raises", False),
        ("as target", "fails", False),
        ("as target", "times out", False),
        ("still raises", "passes", True),
        ("still raises", "changed", True),
        ("still raises", "raises", False),
        ("still raises", "as target", False),
        ("does not import", "as target", True),
        ("raises", "passes", False),
        ("fails", "passes", False),
        ("changed", "passes", False),
    ],
)
def test_what_counts_in_the_order(own, other, counts):
    named = [Candidate(name, "", "", "", label=name) for name in ("a", "b")]
    found = match_verdicts([evidence("a", own), evidence("b", other)], named)
    level, against = found.standing("a", ["a", "b"])
    assert level == 1  # no verdict, whatever ran
    assert bool(against) is counts
    assert found.outcome("a") is None


def test_a_name_that_the_author_alone_has_counts_against_nobody():
    named = [Candidate(name, "", "", "", label=name) for name in ("a", "b")]
    own = evidence("a", "still raises", detail="ImportError")
    found = match_verdicts([own, evidence("b", "passes")], named)
    assert found.standing("a", ["a", "b"]) == (1, "")
    check = Verdict(candidate="a", passed=False, evidence="still raises", detail="ImportError")
    assert match_verdicts([check], named).standing("a", ["a"]) == (2, "still raises ImportError")


def test_a_check_keeps_its_verdict_beside_what_was_brought():
    named = [Candidate("a", "", "", "", label="a")]
    check = Verdict(candidate="a", check="pytest", passed=True, evidence="passes")
    found = match_verdicts([check, evidence("a", "raises", detail="KeyError")], named)
    assert found.outcome("a") == "passed"
    assert found.evidence("a") == ["pytest: passes", "try.py of x: raises KeyError"]
    assert json.loads(json.dumps(found.words("a"))) == "passes"
