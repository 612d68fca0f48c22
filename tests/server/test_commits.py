"""The commits of a range as patches: one number by both doors, whatever stands in a repository."""

import os
import random
import re
from itertools import combinations

import pytest
from tests.server.command import excise
from tests.server.git_repository import make, needs_git

from excise.patches import Pool, read
from excise.patches.identity import text_id
from excise_server.foundation.inputs import UnansweredError
from excise_server.git import command
from excise_server.git.repository import open_folder
from excise_server.sources import commits
from excise_server.sources.commits import read_commits

pytestmark = [pytest.mark.slow, needs_git]

_FROM = re.compile(rb"^From ([0-9a-f]{40}) Mon Sep 17 00:00:00 2001$", re.MULTILINE)
HEADINGS = (
    b"static int pull(struct conn *c)",
    b"def pull(self, n):",
    b"int\tpush(void)\r",
    b"_f" + b"x" * 200 + b"()",
    "größe(Ärger)".encode(),
    b"caf\xe9(x)",
    b"\xe9t\xe9(x)",
    b"$var = 1",
    b"}",
    b"1 no heading",
    b" indented()",
    b"",
    b"x" * 79 + "é(y)".encode(),
)
BODY = (b"    if (a) {", b"        b(a);", b"    }", b"", b"    return a;", b"\tc = d\r", b"  \xff")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch)


def mails(repo, name, **env):
    """Return the patches of a range by the name of the commit, as git sends them."""
    out = repo.git("format-patch", "--stdout", name, **env)
    return {
        head.decode()[:12]: message
        for head, message in zip(_FROM.findall(out), read(out), strict=True)
    }


def opened(repo):
    return open_folder(str(repo.path), [str(repo.path)])


def assert_one_number(repo, name):
    """Compare a range by both doors, bit for bit."""
    sent, queue = mails(repo, name), read_commits(opened(repo), name)
    ours = {member.id: member.message.patch for member in queue.patches}
    assert not queue.rejected
    theirs = {name: m.patch for name, m in sent.items() if m.patch.files}
    assert ours.keys() == theirs.keys()
    assert {name: text_id(patch) for name, patch in ours.items()} == {
        name: text_id(patch) for name, patch in theirs.items()
    }
    pools = Pool(), Pool()
    for name in ours:
        pools[0].add(ours[name])
        pools[1].add(theirs[name])
    for i, j in combinations(range(len(ours)), 2):
        assert pools[0].compare(i, j) == pools[1].compare(i, j)
    return queue


def edited(choice, lines):
    lines = list(lines)
    for _ in range(choice.randrange(1, 4)):
        at = choice.randrange(len(lines) + 1)
        lines[at : at + choice.randrange(3)] = choice.choices((*BODY, *HEADINGS), k=2)
    return lines


@pytest.mark.parametrize("seed", range(6))
def test_random_histories_have_one_number_by_both_doors(repo, seed):
    choice = random.Random(seed)
    files = {
        name: [
            line for _ in range(9) for line in (choice.choice(HEADINGS), *choice.sample(BODY, 5))
        ]
        for name in ("a.c", "b.py", "d/e f\t.go")
    }
    root = repo.commit(root__txt="x\n")
    for number in range(12):
        for name in choice.sample(sorted(files), min(2, len(files))):
            files[name] = edited(choice, files[name])
        if choice.randrange(4) == 0:
            old = choice.choice(sorted(files))
            (repo.path / old).unlink(missing_ok=True)
            files[f"moved-{number}"] = files.pop(old)
        for name, lines in files.items():
            end = b"" if number % 5 == 4 else b"\n"
            repo.write(name, b"\n".join(lines) + end)
        if number == 3:
            repo.write("data.bin", bytes(choice.randrange(256) for _ in range(5000)))
        if number == 5:
            repo.write("data.bin", b"\0" * 6000)
            os.symlink("a.c", repo.path / "link")
        if number == 6:
            os.chmod(repo.path / "root.txt", 0o755)
        if number == 7:
            repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--message", f"Größe {number}")
        if number == 9:
            repo.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    repo.git("checkout", "--quiet", "-b", "side", "HEAD~3")
    repo.commit(side__txt="s\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-edit", "side")
    queue = assert_one_number(repo, f"{root}..HEAD")
    assert len(queue.covers) == 2  # the merge, and the commit without changes


def test_attributes_give_headings_by_both_doors(repo):
    body = "class Reader:\n    def pull(self):\n" + "".join(
        f"        a{n} = {n}\n" for n in range(20)
    )
    repo.commit(_gitattributes="*.py diff=python\n", a__py=body)
    (repo.path / "_gitattributes").rename(repo.path / ".gitattributes")
    repo.commit(a__py=body.replace("a15", "b15"))
    repo.commit(a__py=body.replace("a15", "c15"))
    queue = assert_one_number(repo, "HEAD~2..HEAD")
    headings = {h.heading for m in queue.patches for f in m.message.patch.files for h in f.hunks}
    assert b"def pull(self):" in headings


def test_configuration_of_the_user_changes_no_number(repo):
    repo.commit(a__c="int f(void)\n" + "a\n" * 30)
    repo.commit(a__c="int f(void)\n" + "a\n" * 12 + "b\n\n" + "a\n" * 17)
    repo.commit(b__c="int f(void)\n" + "a\n" * 12 + "b\n\n" + "a\n" * 17)
    expected = mails(repo, "HEAD~2..HEAD")
    for name, value in (
        ("diff.noprefix", "true"), ("diff.context", "9"), ("diff.algorithm", "patience"),
        ("diff.renames", "false"), ("diff.suppressBlankEmpty", "true"), ("diff.external", "false"),
        ("color.ui", "always"), ("diff.interHunkContext", "99"), ("diff.mnemonicPrefix", "true"),
    ):  # fmt: skip
        repo.git("config", name, value)
    queue = read_commits(opened(repo), "HEAD~2..HEAD")
    ours = {member.id: text_id(member.message.patch) for member in queue.patches}
    assert ours == {name: text_id(m.patch) for name, m in expected.items()}


def test_nothing_that_a_repository_configures_is_run(repo, tmp_path):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    trap.chmod(0o755)
    repo.write(".gitattributes", "* diff=evil filter=evil\n")
    repo.commit(a__c="one\n")
    repo.commit(a__c="two\n")
    for name in ("diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
                 "filter.evil.smudge", "filter.evil.process", "core.fsmonitor",
                 "diff.external", "core.pager"):  # fmt: skip
        repo.git("config", name, str(trap))
    (repo.path / "a.c").write_text("three\n")
    queue = read_commits(opened(repo), "HEAD~1..HEAD")
    assert [f.added for m in queue.patches for f in m.message.patch.files] == [1]
    assert not (tmp_path / "ran").exists()


def test_commits_over_a_limit_are_refused_by_name_and_change_no_others(repo, monkeypatch):
    monkeypatch.setattr(commits, "MAX_BYTES", 100_000)
    monkeypatch.setattr(commits, "MAX_COMMIT", 250_000)
    repo.commit(a__c="a\n")
    repo.commit(a__c="b\n")
    repo.commit(big__txt="x" * 100_001)
    repo.commit(**{f"part{n}__txt": str(n) * 90_000 for n in range(3)})
    queue = read_commits(opened(repo), "HEAD~3..HEAD")
    assert len(queue.patches) == 1
    reasons = [rejected.reason for rejected in queue.rejected]
    assert reasons == [
        "big.txt: 0.1 MB, limit 10 MB",
        "0.3 MB in the files that it changes, limit 0 MB",
    ]


def test_a_line_of_a_megabyte(repo):
    repo.commit(a__c="a" * 1_000_000 + "\n")
    repo.commit(a__c="a" * 1_000_000 + "b\n")
    assert_one_number(repo, "HEAD~1..HEAD")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("HEAD..HEAD", "it contains no commits"),
        ("nothing..HEAD", "is not a range of commits"),
        ("--all..HEAD", "is not a range of commits"),
        ("..", "it contains no commits"),
        ("HEAD..HEAD\n--all", "is not a range of commits"),
    ],
)
def test_a_range_that_names_nothing(repo, name, reason):
    repo.commit(a__c="a\n")
    ran = excise("cluster", f"--git={name}", "--repo", str(repo.path))
    assert ran.code == 2
    assert reason in ran.err


def test_a_commit_of_a_partial_clone_is_refused_by_name(repo):
    repo.commit(a__c="a\n")
    repo.commit(b__c="b\n")
    blob = repo.git("rev-parse", "HEAD:b.c").decode().strip()
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    queue = read_commits(opened(repo), "HEAD~1..HEAD")
    assert [r.reason for r in queue.rejected] == ["b.c: its content is not in this clone"]


def test_a_shallow_clone_has_the_numbers_of_git(repo, tmp_path):
    for n in range(5):
        repo.commit(a__c="x\n" * n)
    repo.git("clone", "--quiet", "--depth=3", f"file://{repo.path}", str(tmp_path / "shallow"))
    whole = read_commits(opened(repo), "HEAD~2..HEAD")
    shallow = open_folder(str(tmp_path / "shallow"), [str(tmp_path)])
    assert read_commits(shallow, "HEAD~2..HEAD") == whole


def test_git_that_hangs_is_an_error_by_name_and_no_shorter_answer(repo, tmp_path, monkeypatch):
    """The second question about patches hangs: nothing is grouped, and nothing is left out."""
    for n in range(3):
        repo.commit(a__c=f"{n}\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" --binary "*) exec sleep 60;; esac\n'
        f'exec {command.find_git()} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(command, "SECONDS", 0.5)
    with pytest.raises(UnansweredError, match=r"git diff-tree took over 0\.5 s: stopped"):
        read_commits(opened(repo), "HEAD~2..HEAD")


def test_the_time_that_git_takes_in_all_is_nobodys_business(repo, monkeypatch):
    """2,000 commits are answered by a clock that runs a thousand times as fast between calls."""
    script = b"".join(
        b"commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 1\nc\n%s"
        b"M 100644 inline f\ndata %d\n%d\n"
        % (n, b"", len(str(n)) + 1, n)
        + (b"M 100644 inline g%d\ndata 2\nx\n" % n)
        for n in range(1, 2002)
    )
    repo.git("fast-import", "--quiet", stdin=script)
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(command.time, "monotonic", clock)
    monkeypatch.setattr(command, "SECONDS", 10_000.0)
    queue = read_commits(opened(repo), "main~2000..main")
    assert (len(queue.patches), queue.rejected, queue.notes) == (2000, (), ())
    assert now[0] > 60


@pytest.fixture
def bare(repo, tmp_path):
    """A bare clone of a repository with two commits of one guard, and three branches."""
    body = "int f(void)\n{\n" + "    x();\n" * 9 + "}\n"
    repo.commit(a__c=body, b__c=body.replace("f", "g"))
    for name in ("one", "two", "three"):
        repo.git("checkout", "--quiet", "-b", f"agent/{name}", "main")
        repo.commit(f"x: fix {name}", a__c=body.replace("    x();\n}", f"    y({name});\n}}"))
    repo.git("checkout", "--quiet", "main")
    repo.commit(a__c=body.replace("    x();\n}", "    z();\n}"))
    repo.commit(b__c=body.replace("f", "g").replace("    x();\n}", "    z();\n}"))
    path = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(path))
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("cluster", "--format", "json", "-v", "--git", "main~2..main"),
        ("cluster", "--format", "json", "-v", "--git", "agent/*"),
        ("cluster", "--format", "json", "--git", "agent/*", "--like", "agent/two"),
    ],
)
def test_a_bare_repository_gives_the_same_answer(repo, bare, arguments, monkeypatch):
    found = excise(*arguments, "--repo", str(bare))
    assert (found.code, found.err) == (0, "")
    assert found.json.get("scores") or found.json["among"] == 2
    expected = excise(*arguments, "--repo", str(repo.path))
    assert expected.json == found.json
    monkeypatch.chdir(bare)
    assert excise(*arguments).out == found.out


def test_a_bare_repository_has_no_worktrees_to_compare(bare):
    ran = excise("review", "--repo", str(bare))
    assert (ran.code, "in a bare repository, which has no working tree" in ran.err) == (2, True)


def test_a_hostile_bare_repository_runs_nothing(repo, bare, tmp_path):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "diff.external", "diff.evil.textconv",
                 "core.hooksPath", "credential.helper", "core.alternateRefsCommand"):  # fmt: skip
        repo.git("config", name, str(trap), cwd=bare)
    (bare / "info/attributes").write_text("* diff=evil\n")
    repo.git("config", "remote.origin.promisor", "true", cwd=bare)
    repo.git("config", "remote.origin.url", f"ext::{trap}", cwd=bare)
    assert excise("cluster", "--git", "main~2..main", "--repo", str(bare)).code == 0
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_that_says_it_is_none_is_refused(repo, bare):
    repo.git("config", "core.bare", "false", cwd=bare)
    ran = excise("cluster", "--git", "main~2..main", "--repo", str(bare))
    assert ran.code == 2


def test_a_bare_repository_that_names_a_worktree_is_read_for_its_commits_alone(
    repo, bare, tmp_path
):
    before = excise("cluster", "--git", "main~2..main", "--format", "json", "--repo", str(bare))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/.gitattributes").write_text("* -diff\n")
    repo.git("config", "core.worktree", str(tmp_path / "elsewhere"), cwd=bare)
    after = excise("cluster", "--git", "main~2..main", "--format", "json", "--repo", str(bare))
    assert (after.code, after.out) == (0, before.out)


def test_a_folder_of_a_bare_repository_is_not_one(repo, bare):
    ran = excise("cluster", "--git", "main~2..main", "--repo", str(bare / "refs"))
    assert ran.code == 2


@pytest.mark.parametrize("name", ["commondir", "objects/info/alternates", "HEAD", "config"])
def test_a_pipe_in_a_bare_repository_is_refused(bare, name):
    (bare / name).unlink(missing_ok=True)
    os.mkfifo(bare / name)
    ran = excise("cluster", "--git", "main~2..main", "--repo", str(bare))
    assert ran.code == 2
    assert "is not a file" in ran.err


def test_a_bare_repository_that_leads_to_another_one_is_refused(repo, bare):
    (bare / "commondir").write_text(f"{repo.path}/.git\n")
    ran = excise("cluster", "--git", "main~2..main", "--repo", str(bare))
    assert ran.code == 2
