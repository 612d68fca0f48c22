"""One pair, one number: every command says the same digits of the same candidates."""

from __future__ import annotations

from itertools import combinations

import pytest
from tests.server.command import excise
from tests.server.git_repository import make, needs_git
from tests.server.test_candidates import BASE, committed, drift, edited
from tests.server.test_worktrees import report, worktree, write

import excise as library

pytestmark = [pytest.mark.slow, needs_git]

GUARD = "return 15 if x is None else x + 15"
NAMES = ("ada", "bo", "chen", "dana")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=BASE)
    return made


@pytest.fixture
def texts(repo):
    """Candidates that started from different commits, as texts on the target as it is now."""
    edited(repo, "ada", new=GUARD)
    drift(repo, 3)
    edited(repo, "bo", new=GUARD + "  # half")
    edited(repo, "chen", new="return 'a  b'")
    drift(repo, 2)
    edited(repo, "dana", new="return 'a b'\n")
    for name in NAMES:
        committed(repo, name)
    target = (repo.path / "a.py").read_text()
    replayed = {}
    for name in NAMES:
        base = repo.git("merge-base", "main", name).decode().strip()
        before = repo.git("show", f"{base}:a.py").decode()
        now = (repo.path.parent / name / "a.py").read_text()
        replayed[name] = library.replay(before, target, now).text
    return {"origin": target, **replayed}


@pytest.fixture
def files(texts, tmp_path):
    for name, text in texts.items():
        write(tmp_path / "texts", f"{name}.py", text)
    return {name: str(tmp_path / "texts" / f"{name}.py") for name in texts}


def pairs(document):
    """The similarity of each pair, by the names of the two."""
    ids = document.get("candidates") or document["revisions"]
    names = [id.partition(":")[2] or id.rpartition("/")[2].removesuffix(".py") for id in ids]
    return {
        frozenset((a, b)): document["similarity"][names.index(a)][names.index(b)]
        for a, b in combinations(names, 2)
    }


def test_all_doors_give_the_digits_of_the_library(repo, texts, files):
    given = [files[name] for name in NAMES]
    matrix = library.ScoreMatrix.from_texts(
        texts["origin"], {name: texts[name] for name in NAMES}, path="a.py"
    )
    expected = {
        frozenset((NAMES[i], NAMES[j])): float(matrix.values[i, j])
        for i, j in combinations(range(len(NAMES)), 2)
    }
    assert len(set(expected.values())) >= 3
    assert pairs(report(repo)) == expected
    branches = excise("cluster", "--json", "--git", "*", str(repo.path)).json
    assert pairs(branches) == expected
    origin = files["origin"]
    assert pairs(excise("matrix", "--json", origin, *given).json) == expected
    for i, j in combinations(range(len(NAMES)), 2):
        explained = excise("explain", "--json", origin, given[i], given[j]).json
        assert explained["value"] == expected[frozenset((NAMES[i], NAMES[j]))]


def test_ranks_come_from_the_same_numbers(repo, files):
    by_worktree = {entry["label"]: entry for entry in report(repo)["candidates"]}
    ranked = excise("rank", "--json", files["origin"], *(files[name] for name in NAMES)).json
    for entry in ranked["ranking"]:
        name = entry["id"].rpartition("/")[2].removesuffix(".py")
        for key in ("rank", "makers", "mean_similarity", "edit_size", "syntax_errors"):
            assert entry[key] == by_worktree[name][key], (name, key)


def test_nobody_changes_the_number_of_two_others(repo, texts):
    alone = pairs(report(repo))
    other = worktree(repo, "erin")
    write(other, "a.py", texts["origin"].replace("return x + 3", "return 3 * x"))
    write(other, "b.js", "let a = 1;\n")
    crowd = pairs(report(repo))
    assert {pair: value for pair, value in crowd.items() if "erin" not in pair} == alone
