"""One pair, one number: every command says the same digits of the same candidates."""

import re
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
    return make(tmp_path, monkeypatch, a__py=BASE)


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
    if "candidates" in document:
        names = [candidate["label"] for candidate in document["candidates"]]
        values = document["similarity"]
    else:
        names = [id.rpartition("/")[2].removesuffix(".py") for id in document["revisions"]]
        values = document["matrix"]["similarity"]
    return {
        frozenset((a, b)): values[names.index(a)][names.index(b)] for a, b in combinations(names, 2)
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
    origin = files["origin"]
    assert pairs(excise("compare", "--format", "json", origin, *given).json) == expected
    for i, j in combinations(range(len(NAMES)), 2):
        explained = excise(
            "compare", "--format", "json", "--explain", origin, given[i], given[j]
        ).json
        assert explained["explained"]["value"] == expected[frozenset((NAMES[i], NAMES[j]))]


@pytest.fixture
def doors(repo, tmp_path):
    """Three fixes of one function and one of another, by every door through which patches come."""
    text = "def total(items):\n    subtotal = sum(items)\n    return subtotal\n\n\n"
    text += "def count(items):\n    return len(items)\n"
    base = repo.commit("the start", shop__py=text)
    new = {
        "ada": text.replace("return subtotal", "return max(subtotal, 0)"),
        "bo": text.replace("return subtotal", "return max(subtotal,  0)"),
        "chen": text.replace("return sub", "if subtotal < 0:\n        return 0\n    return sub", 1),
        "dana": text.replace("return len(items)", "return len(items or ())"),
    }  # fmt: skip
    commits = {}
    for name, content in new.items():
        repo.git("checkout", "--quiet", "-b", f"agent/{name}", base)
        title = f"total: never negative ({name})\n\nThe subtotal of a refund is below zero."
        commits[repo.commit(title, shop__py=content)[:12]] = name
        mail = repo.git("format-patch", "--stdout", "-1", "HEAD")
        (tmp_path / "mails").mkdir(exist_ok=True)
        (tmp_path / "mails" / f"{name}.patch").write_bytes(mail)
        (tmp_path / "diffs").mkdir(exist_ok=True)
        diff = repo.git("diff", base, "HEAD")
        (tmp_path / "diffs" / f"{name}.diff").write_bytes(diff)
    repo.git("checkout", "--quiet", "main")
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    ranges = [part for name in new for part in ("--git", f"{base}..agent/{name}")]
    mbox = b"".join((tmp_path / "mails" / f"{name}.patch").read_bytes() for name in new)
    (tmp_path / "all.mbox").write_bytes(mbox)
    bare = ("--repo", str(tmp_path / "bare.git"))
    asked = {
        "mails": [str(tmp_path / "mails")],
        "a mailbox": [str(tmp_path / "all.mbox")],
        "heads": ["--git", "agent/*", "--repo", str(repo.path)],
        "commits": [*ranges, "--repo", str(repo.path)],
        "heads of a bare one": ["--git", "agent/*", *bare],
        "commits of a bare one": [*ranges, *bare],
        "a state": ["--state", str(tmp_path / "queue.state"), str(tmp_path / "mails")],
        "files": [str(tmp_path / "diffs")],
    }
    return asked, commits


def test_a_pair_of_patches_has_one_number_and_one_word_by_every_door(doors):
    asked, commits = doors

    def told(arguments):
        found = excise("cluster", *arguments, "--format", "json", "-v").json
        names = {e["id"]: who for e in found["patches"] for who in NAMES
                 if who in (e["id"].removesuffix(".patch").removesuffix(".diff").rpartition("/")[2],
                            commits.get(e["id"]))
                 or f"({who})" in e["subject"]}  # fmt: skip
        scores = {frozenset(map(names.get, pair)): value for *pair, value in found["scores"]}
        edits = {
            frozenset(map(names.get, (p["new"], p["other"]))): p["same_edit"]
            for p in found["pairs"]
        }
        related = {
            frozenset(map(names.get, (p["new"], p["other"]))): (p["what"], p["where"], p["why"])
            for p in found["pairs"]
        }
        first = [names[c["representative"]] for c in found["clusters"]]
        words = {
            (frozenset((first[e["cluster"] - 1], names[e["id"]])), e["word"])
            for e in found["patches"]
            if e["word"]
        }
        groups = {frozenset(map(names.get, c["members"])) for c in found["clusters"]}
        return scores, words, groups, edits, related

    by_door = {door: told(arguments) for door, arguments in asked.items()}
    expected = by_door.pop("mails")
    assert expected[0][frozenset(("ada", "bo"))] == 1.0
    assert (frozenset(("ada", "bo")), "same code") in expected[1]
    assert len(set(expected[0].values())) >= 3
    files = by_door.pop("files")  # which have no messages, and are related by two cosines
    assert files[:3] == expected[:3]
    assert by_door == dict.fromkeys(by_door, expected)


def test_ranks_come_from_the_same_numbers(repo, files):
    by_worktree = {entry["label"]: entry for entry in report(repo)["candidates"]}
    ranked = excise(
        "compare", "--format", "json", files["origin"], *(files[name] for name in NAMES)
    ).json
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


@pytest.fixture
def ring(repo, tmp_path):
    """Five patches, four of which are each as near to two others, as mails and as branches."""
    functions = [f"int f{at}(void)\n{{\n\treturn {at};\n}}\n\n" for at in range(8)]
    base = repo.commit("the start", x__c="".join(functions))
    own = {"a": (1, 3), "b": (3, 5), "c": (5, 7), "d": (7, 1), "e": (0,)}
    for name, chosen in own.items():
        repo.git("checkout", "--quiet", "-b", f"agent/{name}", base)
        text = "".join(each.replace("return", "x = y;\n\treturn") if at in chosen else each
                       for at, each in enumerate(functions))  # fmt: skip
        repo.commit(f"x: set it ({name})", x__c=text)
        (tmp_path / f"{name}.patch").write_bytes(repo.git("format-patch", "--stdout", "-1", "HEAD"))
    repo.git("checkout", "--quiet", "main")
    return tmp_path, repo.path, base


def shown(found):
    """Return the groups, the clusters and what is said of pairs, by names that are one letter."""
    name = {e["id"]: re.search(r"\((\w)\)", e["subject"])[1] for e in found["patches"]}
    pairs = {
        frozenset((name[p["new"]], name[p["other"]])): (p["word"], p["level"], p["probability"])
        for p in found["pairs"]
    }
    issues, clusters = (
        {frozenset(map(name.get, each["members"])) for each in found[key]}
        for key in ("issues", "clusters")
    )
    return issues, clusters, pairs


@pytest.mark.parametrize("door", ["mails", "heads", "commits"])
def test_tied_candidates_are_grouped_alike_in_every_order(ring, door):
    folder, path, base = ring

    def grouped(order):
        if door == "mails":
            return excise("cluster", *(str(folder / f"{name}.patch") for name in order),
                          "--format", "json").json  # fmt: skip
        ranged = f"{base}..agent/" if door == "commits" else "agent/"
        asked = [part for name in order for part in ("--git", f"{ranged}{name}")]
        return excise("cluster", *asked, "--repo", str(path), "--format", "json").json

    expected = shown(grouped("abcde"))
    assert {len(each) for each in expected[1]} == {1, 2}, expected  # the ring is cut in two
    for order in ("bcdae", "edcba", "cadeb"):
        assert shown(grouped(order)) == expected
    # What is said of two does not depend on a third.
    for pair in ("ab", "ac", "bd", "ae"):
        alone = shown(grouped(pair))[2]
        assert alone == {two: said for two, said in expected[2].items() if two == frozenset(pair)}
