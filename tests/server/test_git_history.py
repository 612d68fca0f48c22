"""Questions about many commits at once: the answers of git to each alone, in fewer processes."""

import random
import re
from collections import Counter

import pytest
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import report

from excise_server.git import history
from excise_server.git.checkouts import Selection
from excise_server.git.command import Git
from excise_server.git.history import History, Start, ask_own_commits, merge_bases, own_commits
from excise_server.git.repository import Blob, open_folder
from excise_server.sources.candidates import find_candidates

pytestmark = [pytest.mark.slow, needs_git]

TRAILER = "Co-authored-by"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch)


@pytest.fixture
def asked(monkeypatch):
    """What git is asked from now on."""
    asked, run = [], Git.run
    monkeypatch.setattr(
        Git, "run", lambda self, *words, **more: asked.append(words) or run(self, *words, **more)
    )
    return asked


def opened(repo):
    return open_folder(str(repo.path), [str(repo.path)])


def random_history(repo, choice, commits, *, times):
    """Make commits with up to three parents each, some without any, and return their ids."""
    stream = []
    for number in range(1, commits + 1):
        before = range(max(1, number - 9), number)
        count = choice.choice((0, *[1] * 33, *[2] * 8, 3))
        parents = choice.sample(before, min(len(before), count))
        stream.append(f"commit refs/heads/c{number}\nmark :{number}\n")
        stream.append(f"committer A <a@b> {times(number)} +0000\n")
        message = f"Fix #{number % 7}\n\n{TRAILER}: A{number} <a@b>\n"
        stream.append(f"data {len(message)}\n{message}")
        words = ("from", "merge", "merge")[: len(parents)]
        stream += [f"{word} :{parent}\n" for word, parent in zip(words, parents, strict=True)]
    repo.git("fast-import", "--quiet", "--force", stdin="".join(stream).encode())
    return [repo.head(f"c{number}") for number in range(1, commits + 1)]


def by_git(repo, target, commit):
    """What git says of a start, each by a command of its own."""
    bases = repo.git("merge-base", "--all", target, commit, check=False).decode().split()
    if not bases:
        return bases, None, ()
    behind = int(repo.git("rev-list", "--count", f"{bases[0]}..{target}"))
    notes = ("several merge bases: the first one is used",) if len(bases) > 1 else ()
    text = repo.git("log", "--format=%ct%n%B", f"{bases[0]}..{commit}").decode()
    return bases, Start(bases[0], behind, notes), tuple(re.findall(f"{TRAILER}: .*", text))


TIMES = {
    "rising": lambda number: 1_700_000_000 + number * 60,
    "equal": lambda number: 1_700_000_000 + number // 6,
    "as in rebased branches": lambda number: 1_700_000_000 + number * 60 - number % 5 * 200,
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("seed", range(6))
def test_all_at_once_is_each_alone(repo, asked, seed, times):
    """Criss-cross merges, several bases, none, heads that the target has, several roots."""
    choice = random.Random(seed)
    commits = random_history(repo, choice, 60, times=times)
    target, heads = commits[-choice.randrange(1, 12)], choice.sample(commits, 24)
    repository = opened(repo)
    of_target = History(repository, target)
    asked.clear()
    of_target.ask_together(heads)
    assert [words[0] for words in asked] == ["rev-parse", "rev-list", "rev-list"]
    expected = {head: by_git(repo, target, head) for head in heads}
    for head, (bases, start, _) in expected.items():
        assert list(merge_bases(repository, target, head)) == bases
        assert len(asked) == 3
        assert head == target or merge_bases.known(repository, target, head) is not None
        if start is None:
            assert of_target.own_base(head) is None
    for head, (_, start, _) in expected.items():
        if start is not None:
            assert of_target.own_base(head) == start
    own = [(start.base, head) for head, (_, start, _) in expected.items() if start]
    ask_own_commits(repository, target, own)
    assert sum(own_commits.known(repository, *pair) is not None for pair in own) > 2
    for base, head in own:
        assert own_commits(repository, base, head).trailers == expected[head][2]


def test_the_random_histories_have_what_is_hard(repo):
    """So that the test above is not one of simple histories."""
    found = set()
    for seed in range(6):
        choice = random.Random(seed)
        commits = random_history(repo, choice, 60, times=TIMES["rising"])
        target, heads = commits[-choice.randrange(1, 12)], choice.sample(commits, 24)
        for head in heads:
            bases, start, _ = by_git(repo, target, head)
            found |= {min(len(bases), 2), "ahead" if start and start.base == target else ""}
            found |= {"merged"} if bases == [head] else set()
    assert found >= {0, 1, 2, "merged"}


def test_git_is_asked_as_often_for_many_branches_as_for_three(repo, asked):
    repo.commit(**{f"f{number}__py": "x = 1\n" for number in range(12)})
    for number in range(12):
        repo.git("checkout", "--quiet", "-b", f"b{number}", "main")
        repo.commit(f"Fix #{number}", **{f"f{number}__py": f"x = {number + 2}\n"})
        repo.git("checkout", "--quiet", "main")
        repo.commit("meanwhile", meanwhile__py=f"y = {number}\n")
    counts = []
    for patterns in (("b0", "b5", "b11"), tuple(f"b{number}" for number in range(12))):
        history.merge_bases._kept.clear()
        history._commits_between._kept.clear()
        history.own_commits._kept.clear()
        repository = opened(repo)
        asked.clear()
        found = find_candidates(repository, Selection(chosen={"git": patterns}))
        # git's version and settings are asked once a process.
        commands = (words[0] for words in asked)
        counts.append(sorted(word for word in commands if word not in ("config", "version")))
    assert [candidate.behind for candidate in found.found] == [*range(1, 13)]
    assert [candidate.issues for candidate in found.found] == [
        (f"#{n}",) for n in range(11, -1, -1)
    ]
    # What is kept of the target is not asked again; nothing is asked once a branch.
    assert not Counter(counts[1]) - Counter(counts[0])


def test_what_git_cannot_tell_of_one_costs_that_alone(repo):
    repo.commit(a__py="a = 1\n")
    for name in ("ada", "bo", "cleo"):
        repo.git("checkout", "--quiet", "-b", name, "main")
        repo.commit("lost")
        repo.commit(f"Fix #{len(name)}", **{f"{name}__py": "x = 1\n"})
    lost = repo.head("bo^")
    (repo.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    repo.git("checkout", "--quiet", "main")
    found = find_candidates(opened(repo), Selection(chosen={"git": ("ada", "bo", "cleo")}))
    issues = {candidate.id: candidate.issues for candidate in found.found}
    assert issues == {"branch:ada": ("#3",), "branch:cleo": ("#4",)}
    assert [rejected.id for rejected in found.rejected] == ["branch:bo"]


def test_what_is_too_much_together_is_asked_one_by_one(repo, asked, monkeypatch):
    repo.commit(a__py="a = 1\n")
    for name in ("ada", "bo"):
        repo.git("checkout", "--quiet", "-b", name, "main")
        repo.commit(f"Fix #{len(name)}\n\n{'long ' * 20_000}", **{f"{name}__py": "x = 1\n"})
    repo.git("checkout", "--quiet", "main")
    monkeypatch.setattr("excise_server.git.command.MAX_OUTPUT", 150_000)
    found = find_candidates(opened(repo), Selection(chosen={"git": ("ada", "bo")}))
    issues = {candidate.id: candidate.issues for candidate in found.found}
    assert issues == {"branch:ada": ("#3",), "branch:bo": ("#2",)}
    assert sum("%B" in "".join(words) for words in asked) == 1 + 2


@pytest.mark.parametrize("time", ["", " x", " -5 +0000"])
def test_a_commit_without_a_time_is_read(repo, time):
    first = repo.commit(a__py="a = 1\n")
    repo.write("b.py", "b = 1\n")
    repo.git("add", "--all")
    tree = repo.git("write-tree").decode().strip()
    text = f"tree {tree}\nparent {first}\nauthor A <a@b>{time}\ncommitter A <a@b>{time}\n\nFix #3\n"
    options = ("-t", "commit", "-w", "--literally", "--stdin")
    commit = repo.git("hash-object", *options, stdin=text.encode()).decode().strip()
    repo.git("reset", "--quiet", "--hard")
    assert report(repo, "--git", commit)["candidates"]
    [candidate] = find_candidates(opened(repo), Selection(chosen={"git": (commit,)})).found
    assert (candidate.issues, candidate.made) == (("#3",), 0)


def test_groups_of_blobs_have_their_own_limits_and_each_blob_is_read_once(repo, asked, monkeypatch):
    monkeypatch.setattr("excise_server.git.repository._MAX_TOTAL", 100)
    texts = {f"{size}.txt": str(number) * size for number, size in enumerate((60, 50, 40, 30, 20))}
    repo.commit(**texts)
    repository = opened(repo)
    ids = {name: repo.head(f"HEAD:{name}") for name in texts}
    groups = [
        [ids["60.txt"], ids["40.txt"]],
        [ids["60.txt"], ids["50.txt"], ids["20.txt"]],
        [],
        [ids["30.txt"], ids["60.txt"], "0" * 40],
    ]
    asked.clear()
    found = repository.grouped_blobs(groups)
    assert [words[1] for words in asked] == ["--batch-check", "--batch", "--batch"]
    alone = [repository.blobs(names) for names in groups]
    assert [list(map(str, answers)) for answers in found] == [list(map(str, a)) for a in alone]
    sizes = [[len(getattr(answer, "data", "")) for answer in answers] for answers in found]
    assert sizes == [[60, 40], [60, 0, 0], [], [30, 60, 0]]
    assert all(
        a.data.decode() in texts.values()
        for answers in found
        for a in answers
        if isinstance(a, Blob)
    )
