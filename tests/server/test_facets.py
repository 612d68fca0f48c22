"""What the tree tells of the files that candidates change: scripts left behind, and prose."""

import os
import re
import stat
from dataclasses import replace

import pytest
from tests.server.command import excise, ids_of
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, worktree, write

from excise_server.foundation.changes import Side, patch_files
from excise_server.foundation.inputs import UnansweredError
from excise_server.git.command import Git, GitError
from excise_server.git.repository import open_folder
from excise_server.git.search import lines_with
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import change_set
from excise_server.sources.candidates import find_candidates
from excise_server.sources.facets import with_facets
from excise_server.sources.reading import Target
from excise_server.sources.registry import selection_of

pytestmark = needs_git

TREES = {
    "go": {
        "go.mod": "module m\n", "main.go": "package main\n", "args.go": "package m\n",
        "cobra.go": "package m\n", "bash_completions.sh": "x\n", "site/build.sh": "hugo\n",
        "doc/man.go": "package doc\n", "Makefile": "all:\n\tsh site/build.sh bash_completions\n",
    },
    "c": {
        "Makefile": "SCRIPTS = git-am.sh git-bisect.sh\n", "git-am.sh": "x\n",
        "git-bisect.sh": "y\n", "builtin/add.c": "int a;\n",
        "t/t0001-init.sh": ". ./test-lib.sh\n", "t/t0002-b.sh": "x\n",
        "t/test-lib.sh": "x\n", "ci/lib.sh": "x\n", "ci/run.sh": ". ${0%/*}/lib.sh\n",
        ".github/workflows/a.yml": "run: ci/run.sh\n", "contrib/hg/push.py": "import x\n",
        "contrib/hg/README": "run push.py\n", "compat/vcbuild/find.py": "f\n",
        "compat/vcbuild/scan.py": "s\n",
    },
    "js": {
        "package.json": '{"scripts": {"build": "node tools/build.mjs"}, "main": "index.js"}\n',
        "index.js": "require('./lib/a')\n", "lib/a.js": "require('./b')\n", "lib/b.js": "1\n",
        "tools/build.mjs": "1\n", "vite.config.ts": "export default {}\n",
        "src/routes/page.ts": "1\n", "types.d.ts": "type A = 1\n",
    },
    "python": {
        "setup.py": "setup(packages=['p'])\n", "p/__init__.py": "", "p/core.py": "1\n",
        "p/migrations/0001_initial.py": "1\n", "p/migrations/0002_more.py": "1\n",
        "manage.py": "main()\n", "conftest.py": "1\n", "tests/test_core.py": "1\n",
        "scripts/release.py": "1\n", "docs/how.md": "run `scripts/release.py`\n",
        "docs/a.txt": "a\n", "docs/conf.py": "extensions = []\n", "docs/sphinx.mk": "conf.py\n",
    },
}  # fmt: skip


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch)


def created(**new):
    """Return a candidate that creates files (``a__py`` is ``a.py``)."""
    sides = {name.replace("__", "."): Side("100644", text.encode()) for name, text in new.items()}
    return Candidate("c", "", "", "", new=sides)


def facets(repo, candidate, **target):
    opened = open_folder(str(repo.path), [str(repo.path)])
    [found] = with_facets(opened, Target(repo.head(), **target), [candidate])
    return found.facets


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_no_file_of_a_tree_is_scratch_when_it_is_deleted_and_created_again(repo, tree):
    for path, text in TREES[tree].items():
        repo.write(path, text)
    repo.commit()
    opened = open_folder(str(repo.path), [str(repo.path)])
    for path, text in TREES[tree].items():
        repo.git("rm", "--quiet", "--cached", path)
        without = repo.git("write-tree").decode().strip()
        commit = repo.git("commit-tree", without, stdin=b"x").decode().strip()
        candidate = Candidate("c", "", "", "", new={path: Side("100644", text.encode())})
        [found] = with_facets(opened, Target(commit), [candidate])
        assert "scratch" not in found.facets.values(), path
        repo.git("read-tree", "HEAD")


def test_a_script_in_the_top_folder_or_one_of_its_own_may_be_left_behind(repo):
    repo.commit(**{"a.js": "1\n", "src/a.py": "1\n"})
    candidate = created(**{
        "reproduce.py": "print(1)\n", "debug/run-it.sh": "ls\n", "debug/x.go": "package x\n",
        "other.js": "1\n", "src/more.py": "1\n", "setup.py": "1\n", "Try.java": "class Try {}\n",
        "link.py": "reproduce2\n",
    })  # fmt: skip
    linked = {**candidate.new, "link.py": Side("120000", b"src/a.py")}
    object.__setattr__(candidate, "new", linked)
    assert facets(repo, candidate) == {"reproduce.py": "scratch", "debug/run-it.sh": "scratch"}


def test_a_script_that_was_there_is_not_left_behind(repo):
    repo.commit(**{"reproduce.py": "print(1)\n"})
    side = Side("100644", b"print(1)\n")
    changed = Candidate("c", "", "", "", old={"reproduce.py": side}, new={"reproduce.py": side})
    assert facets(repo, changed) == {}


@pytest.mark.parametrize(
    "named",
    [
        {"README.md": "see reproduce.py\n"},
        {"Makefile": "run:\n\tpython -m reproduce\n"},
        {"logo.bin": b"\0\1\n\0 reproduce\0\n"},
        {"a\nb": "reproduce\n"},
    ],
)
def test_a_script_that_any_file_names_is_code(repo, named):
    for path, text in named.items():
        repo.write(path, text)
    repo.commit()
    assert facets(repo, created(**{"reproduce.py": "1\n"})) == {}
    assert facets(repo, created(**{"reproduced.py": "1\n"})) == {"reproduced.py": "scratch"}


def test_a_script_that_the_candidate_itself_or_a_saved_file_names_is_code(repo):
    repo.commit(**{"a.c": "int a;\n"})
    named = created(**{"reproduce.py": "1\n", "Makefile": "run:\n\t./reproduce.py\n"})
    assert facets(repo, named) == {}
    alone = created(**{"reproduce.py": "reproduce()\n"})
    assert facets(repo, alone) == {"reproduce.py": "scratch"}
    saved = {"a.c": Side("100644", b"// reproduce\n")}
    assert facets(repo, alone, saved=saved) == {}
    assert facets(repo, alone, saved={"b.py": Side("100644", b"")}) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["-e.py", "--help.py", "a\nb.py", "a;ls.py", "$(ls).py", "'.py", ".*.py", "\\w.py", "é.py",
     "\udce4.py", ".py", "x" * 200 + "\n.py", ":(glob)x.py", "a b.py"],
)  # fmt: skip
def test_hostile_names_are_not_looked_for(repo, monkeypatch, name):
    repo.commit(**{"a.c": "int a;\n"})
    monkeypatch.setattr(Git, "run", lambda *_, **__: pytest.fail("git was asked"))
    candidate = Candidate("c", "", "", "", new={name: Side("100644", b"1\n")})
    [found] = with_facets(None, Target("0" * 40), [candidate])
    assert found.facets == {}


def listened(monkeypatch):
    """Return the list of git's commands from now on, but for its settings, asked once a process."""
    asked, run = [], Git.run

    def heard(self, *words, **more):
        asked.extend(words[:1] if words[0] != "config" else ())
        return run(self, *words, **more)

    monkeypatch.setattr(Git, "run", heard)
    return asked


def test_git_is_asked_once_for_all_candidates(repo, monkeypatch):
    repo.commit(**{"a.c": "int a;\n"})
    opened = open_folder(str(repo.path), [str(repo.path)])
    asked = listened(monkeypatch)
    candidates = [created(**{f"try_{n}.py": "1\n", f"d{n}/see.sh": "1\n"}) for n in range(20)]
    found = with_facets(opened, Target(repo.head()), candidates)
    assert all(set(candidate.facets.values()) == {"scratch"} for candidate in found)
    assert sorted(asked) == ["grep", "ls-tree"]
    asked.clear()
    assert with_facets(opened, Target(repo.head()), [created(**{"x.go": ""})])[0].facets == {}
    assert asked == []


def test_git_is_not_asked_of_a_name_that_a_file_has_which_is_read_already(repo, monkeypatch):
    commit = repo.commit(**{"a.c": "int reproduce;\n", "b.c": "int b;\n"})
    opened = open_folder(str(repo.path), [str(repo.path)])
    asked = listened(monkeypatch)

    script = created(**{"reproduce.py": "1\n"})
    text, of_target = b"int reproduce;\n", repo.head(f"{commit}:a.c")
    for path, blob, mode, expected in (
        ("a.c", of_target, "100644", (["ls-tree"], {})),
        ("b.c", of_target, "100644", (["ls-tree", "grep"], {})),  # another text than the target's
        ("a.c", of_target, "120000", (["ls-tree", "grep"], {})),
        ("reproduce.py", of_target, "100644", (["ls-tree", "grep"], {})),
    ):
        other = Candidate("d", "", "", "", old={path: Side(mode, text, blob)})
        asked.clear()
        [found, _] = with_facets(opened, Target(commit), [script, other])
        assert (asked, found.facets) == expected
    gone = repo.commit(**{"a.c": "int a;\n"})  # the text that was read is no longer the target's
    other = Candidate("d", "", "", "", old={"a.c": Side("100644", text, of_target)})
    [found, _] = with_facets(opened, Target(gone), [script, other])
    assert found.facets == {"reproduce.py": "scratch"}


def test_where_git_cannot_tell_every_file_is_code(repo, monkeypatch):
    repo.commit(**{"a.c": "int a;\n"})
    script = created(**{"reproduce.py": "1\n"})
    assert facets(repo, script) == {"reproduce.py": "scratch"}

    def fails(error):
        def run(self, *words, **more):
            if words[0] == "grep":
                raise error
            return original(self, *words, **more)

        return run

    original = Git.run
    monkeypatch.setattr(Git, "run", fails(GitError("git grep printed over 110 MB: stopped")))
    assert facets(repo, script) == {}
    monkeypatch.setattr(Git, "run", fails(UnansweredError("git grep took over 60 s: stopped")))
    with pytest.raises(UnansweredError):  # no answer depends on the load of the machine
        facets(repo, script)
    monkeypatch.setattr(Git, "run", original)
    words = {f"word{n}" for n in range(501)}
    opened = open_folder(str(repo.path), [str(repo.path)])
    assert lines_with(opened, repo.head(), words) is None
    assert lines_with(opened, repo.head(), set(sorted(words)[:500])) == []


def test_an_object_that_is_missing_makes_every_script_code(repo):
    commit = repo.commit(**{"a.c": "int a;\n", "b.c": "int b;\n"})
    blob = repo.git("rev-parse", f"{commit}:a.c").decode().strip()
    path = repo.path / ".git" / "objects" / blob[:2] / blob[2:]
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    path.unlink()
    assert facets(repo, created(**{"reproduce.py": "1\n"})) == {}


def test_nothing_that_the_repository_names_is_run(repo, tmp_path):
    trap = tmp_path / "ran"
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\ntouch {trap}\ncat "$1"\n')
    program.chmod(0o755)
    repo.commit(**{"a.c": "int a;\n", ".gitattributes": "* diff=x filter=x\n"})
    for key, value in {
        "diff.x.textconv": program, "filter.x.smudge": program, "filter.x.clean": program,
        "core.pager": program, "pager.grep": program, "alias.grep": f"!{program}",
        "core.fsmonitor": program, "grep.fallbackToNoIndex": "true", "grep.patternType": "perl",
        "grep.column": "true", "grep.lineNumber": "true", "color.ui": "always",
        "color.grep": "always", "grep.fullName": "true", "submodule.recurse": "true",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    named = created(**{"a.py": "1\n", "int.sh": "1\n", "reproduce.js": "1\n"})
    assert facets(repo, named) == {"reproduce.js": "scratch"}
    assert not trap.exists()


def test_a_text_is_prose_unless_code_names_it(repo):
    repo.commit(**{
        "docs/topics/models.txt": "Models\n", "docs/words.txt": "a\nb\n", "notes.txt": "x\n",
        "data/list.txt": "x\n", "requirements.txt": "x\n",
        "src/a.py": "open('words.txt'), models\n",
        "index.rst": "see models.txt and notes.txt\n",
    })  # fmt: skip
    old = {
        path: Side("100644", b"")
        for path in ("docs/topics/models.txt", "docs/words.txt", "notes.txt", "data/list.txt",
                     "requirements.txt")
    }  # fmt: skip
    candidate = Candidate("c", "", "", "", old=old, new=old)
    assert facets(repo, candidate) == {"docs/topics/models.txt": "docs", "notes.txt": "docs"}
    repo.write("CMakeLists.txt", "file(READ notes.txt x)\n")
    repo.commit()
    assert facets(repo, candidate) == {"docs/topics/models.txt": "docs"}


@pytest.mark.parametrize(
    ("before", "after", "facet"),
    [
        ("tests/test_a.py", "tests/test_b.py", {"tests/test_a.py": "tests"}),
        ("tests/test_a.py", "src/a.py", {}),
        ("src/a.py", "tests/test_a.py", {}),
    ],
)
def test_a_file_that_becomes_code_or_was_code_is_code(before, after, facet):
    side = Side("100644", b"one = 1\n")
    old, new = {before: side}, {after: side}
    assert change_set(old, new, patch_files(old, new))[1].facets == facet


def test_other_line_ends_and_ignored_files_are_no_identical_change_sets():
    old = {"a.py": Side("100644", b"one = 1\ntwo = 2\n")}
    data = b"one = 1\ntwo = 3\n"
    news = [
        {"a.py": Side("100644", data)},
        {"a.py": Side("100644", data)},
        {"a.py": Side("100644", data.replace(b"\n", b"\r\n"))},
        {"a.py": Side("100644", data), "yarn.lock": Side("100644", b"")},
    ]
    pairs = [[p for p in patch_files(old, new) if p.path == "a.py"] for new in news]
    sets = [change_set(old, new, own)[1] for new, own in zip(news, pairs, strict=True)]
    first, same, *others = sets
    assert first == same
    assert [replace(own, digest="") == replace(first, digest="") for own in others] == [True, True]
    assert first.digest not in [own.digest for own in others]


def test_a_link_is_code_wherever_it_leads():
    new = {"tests/test_a.py": Side("120000", b"../a.py")}
    assert change_set({}, new, patch_files({}, new))[1].facets == {}


CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return f(x)\n"
FIXED = CODE.replace("x + 1", "x + 2")


def reviewed(repo, candidates, *options):
    """Return the report about candidates, by name: the files that each writes."""
    for name, files in candidates.items():
        path = worktree(repo, name)
        for file, text in files.items():
            (path / file).parent.mkdir(exist_ok=True)
            write(path, file, text)
    return report(repo, *options)


def test_candidates_without_code_are_last_and_have_no_vote(repo):
    repo.commit(a__py=CODE, b__md="b\n")
    found = reviewed(repo, {
        "ada": {"a.py": FIXED},
        "bob": {"a.py": FIXED.replace("x + 2", "(x + 2)"), "tests/test_a.py": "assert f(1) == 3\n"},
        "cy": {"a.py": CODE.replace("x + 1", "x - 1")},
        "dee": {"debug/reproduce.py": "print(1)\n"},
        "eve": {"tests/test_a.py": "assert f(1) == 3\n", "debug/reproduce.py": "print(1)\n"},
        "fay": {"b.md": "better\n"},
    })  # fmt: skip
    assert len(found["tasks"]) == 1
    rows = by_id(found)
    assert {rows[name]["rank"] for name in ("ada", "bob")} == {1, 2}
    assert rows["cy"]["rank"] == 3
    assert min(rows[name]["rank"] for name in ("dee", "eve", "fay")) == 4
    assert rows["ada"]["why"][0] == rows["bob"]["why"][0] == "2 of 3 make this edit"
    assert rows["dee"]["why"] == ["leaves a script: debug/reproduce.py"]
    assert rows["eve"]["why"] == ["changes tests only, and leaves a script: debug/reproduce.py"]
    assert rows["fay"]["why"] == ["changes docs only"]
    assert rows["eve"]["lines"]["scratch"] == {"files": 1, "added": 1, "deleted": 0}
    kinds = {file["path"]: file["kind"] for file in rows["eve"]["files"]}
    assert kinds == {"tests/test_a.py": "tests", "debug/reproduce.py": "scratch"}
    ids = ids_of(found)
    words = found["words"]
    ada, bob = ids.index("worktree:ada"), ids.index("worktree:bob")
    assert words[ada][bob] == "same code"
    for group in found["tasks"][0]["groups"]:
        members = {name.partition(":")[2] for name in group["members"]}
        assert members <= {"ada", "bob", "cy"} or members <= {"dee", "eve", "fay"}
    page = excise("review", "--repo", str(repo.path)).out
    assert re.search(r"^   2 the same code: ada, bob \(.*tests.*\)$", page, re.MULTILINE), page


def test_if_nobody_changes_code_what_they_change_is_their_code(repo):
    repo.commit(a__py=CODE, b__md="b\n", tests__py="1\n")
    repo.write("tests/test_a.py", "assert f(1)\n")
    repo.commit()
    found = reviewed(repo, {
        "ada": {"tests/test_a.py": "assert f(1) == 2\n"},
        "bob": {"tests/test_a.py": "assert f(1) == 2\n"},
        "cy": {"tests/test_a.py": "assert f(1) == (\n"},
    })  # fmt: skip
    rows = by_id(found)
    assert rows["ada"]["why"] == rows["bob"]["why"] == ["2 of 3 make this edit"]
    assert [rows[name]["rank"] for name in ("ada", "bob", "cy")] == [1, 1, 3]
    assert rows["cy"]["why"][0].startswith("broken: ")


def test_both_doors_and_patches_know_scripts(repo):
    """A worktree, the same edit as a patch, and a run: what is scratch in one is so in all."""
    repo.commit(a__py=CODE, **{".gitignore": "p/\n"})
    path = worktree(repo, "ada")
    write(path, "a.py", FIXED)
    (path / "debug").mkdir()
    write(path, "debug/try.sh", "ls\n")
    repo.git("add", "--all", cwd=path)
    repo.write("p/one.diff", repo.git("diff", "--cached", "--full-index", cwd=path))
    opened = open_folder(str(repo.path), [str(repo.path)])
    context = repo.context(patches=("p",))
    selection = selection_of(context.settings, folders=context.folders)
    found = find_candidates(opened, selection).found
    assert {candidate.kind for candidate in found} == {"worktree", "patch"}
    assert [candidate.facets for candidate in found] == [{"debug/try.sh": "scratch"}] * 2
    patches = ("--patches", str(repo.path / "p"), "--format", "json")
    for entry in excise("review", "--repo", str(repo.path), *patches).json["candidates"]:
        kinds = {file["path"]: file["kind"] for file in entry["files"]}
        assert kinds == {"a.py": "code", "debug/try.sh": "scratch"}
