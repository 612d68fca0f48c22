"""Both doors agree: a command with ``--onto saved``, and an open document with nothing typed.

Of random repositories with drift, for each document that a candidate changes: the same candidates,
ids, labels, texts, numbers, hunks, refusals and limits.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.server import editor_case
from tests.server.command import excise
from tests.server.git_repository import make, needs_git, reasons

from excise import ScoreMatrix
from excise.text import normalise
from excise_server.foundation.changes import patch_files
from excise_server.git import checkouts
from excise_server.git.repository import open_folder
from excise_server.review.change_sets import change_set, origin_texts
from excise_server.review.hunks import review_files
from excise_server.sources import patches
from excise_server.sources.candidates import find_candidates
from excise_server.sources.collect import collect
from excise_server.sources.registry import selection_of

pytestmark = [pytest.mark.slow, needs_git]

SEEDS = int(os.environ.get("EXCISE_TWO_DOORS", "12"))
"""How many random repositories are tried; 200 at night."""

CASES = sorted((Path(__file__).parents[1] / "cases" / "editor").glob("*"))
CASES = CASES[:: max(1, len(CASES) // SEEDS)]
"""Archives of the editor: as many as there are random repositories."""

CHOSEN = {
    "branches": ("**",), "remotes": ("**",), "requests": ("pull/*",), "patches": ("p",),
    "runs": ("r",), "conflicts": False, "files": (),
}  # fmt: skip


def code(_choice, name, count=12):
    """Return a text whose lines are its own, as those of files that are not alike."""
    ends = {"crlf": "\r\n"}.get(name.partition(".")[0], "\n")
    lines = [f"def {name[0]}{n}(a, b):{ends}    return a + {n}{ends}{ends}" for n in range(count)]
    text = "".join(lines).replace("a + 3", "'é' + a") if name == "latin.py" else "".join(lines)
    return text.encode("latin-1" if name == "latin.py" else "utf-8")


def edited(choice, data):
    lines = data.splitlines(keepends=True)
    for _ in range(choice.randrange(1, 3)):
        at = choice.randrange(len(lines))
        end = b"\r\n" if lines[at].endswith(b"\r\n") else b"\n"
        new = b"    x%d = call(%d)" % (choice.randrange(9), choice.randrange(9)) + end
        lines[at : at + choice.randrange(2)] = [new]
    return b"".join(lines)


def change(choice, folder, names):
    """Do something to some files of a working tree."""
    for name in choice.sample(names, choice.randrange(1, min(3, len(names)) + 1)):
        path = folder / name
        what = choice.choice(["edit"] * 7 + ["delete", "rename", "create", "convert", "mode"])
        if not path.exists() or what == "create":
            new = folder / f"new{choice.randrange(2)}.py"
            new.write_bytes(edited(choice, code(choice, "n.py", 4)))
        elif what == "delete":
            path.unlink()
        elif what == "rename":
            data = path.read_bytes()
            path.unlink()
            (folder / f"moved-{name}").write_bytes(edited(choice, data))
        elif what == "convert":
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        elif what == "mode":
            path.chmod(0o755)
        else:
            path.write_bytes(edited(choice, path.read_bytes()))


def random_repository(choice, tmp_path, monkeypatch):
    """Return a repository with every source that both doors can name, and drift of its target."""
    repo = make(tmp_path, monkeypatch)
    names = choice.choice([["a.py"], ["a.py", "crlf.py", "latin.py", "big.py"]])
    for name in names:
        repo.write(name, code(choice, name))
    (repo.path / "p").mkdir()
    (repo.path / "r").mkdir()
    repo.write(".gitignore", "p/\nr/\n")
    repo.commit("first")
    for number in range(choice.randrange(3, 7)):
        kind = choice.choice(("worktree", "committed", "branch", "remote", "ref", "patch", "run"))
        side = repo.path.parent / f"w{number}"
        named = ["--detach"] if choice.random() < 0.3 else ["-b", f"topic-{number}"]
        repo.git("worktree", "add", "--quiet", *named, side, "main")
        change(choice, side, names)
        repo.git("add", "--all", cwd=side)
        if kind in ("patch", "run"):
            options = choice.choice([[], ["--full-index"], ["-M"], ["--full-index", "--binary"]])
            diff = repo.git("diff", "--cached", *options, cwd=side)
            repo.write(f"{kind[0]}/{number}.{choice.choice(['diff', 'patch'])}", diff)
        elif kind != "worktree" or choice.random() < 0.5:
            repo.git("commit", "--quiet", "--allow-empty", "-m", f"edit {number}", cwd=side)
            head = repo.git("rev-parse", "HEAD", cwd=side).decode().strip()
            if kind == "remote":
                repo.git("update-ref", f"refs/remotes/origin/r{number}", head)
            elif kind == "ref":
                repo.git("update-ref", f"refs/pull/{number}/head", head)
            elif kind == "branch":
                repo.git("branch", f"agent/{number}", head)
            elif kind == "committed" and choice.random() < 0.5:
                change(choice, side, names)
        if kind not in ("worktree", "committed"):
            repo.git("worktree", "remove", "--force", side)
            repo.git("branch", "--quiet", "-D", f"topic-{number}", check=False)
        if choice.random() < 0.4:  # drift, before what starts next
            change(choice, repo.path, names)
            repo.commit(f"drift {number}")
    if choice.random() < 0.6:
        change(choice, repo.path, names)  # saved, and not committed
    return repo


def asked(repo, **settings):
    """Return what the commands say of the saved files, by the settings of an editor."""
    repository = open_folder(str(repo.path), [str(repo.path)])
    context = repo.context(**settings)
    selection = selection_of(context.settings, folders=context.folders)
    return find_candidates(repository, replace(selection, onto="saved"))


def documents(repo, candidates):
    """Return the files of the target that candidates change, and whether each has them."""
    return sorted({path for c in candidates.found for path in (*c.old, *c.new)})


def opened(repo, path):
    """Return what an editor finds that has just opened a document."""
    return collect(repo.context(path, **CHOSEN))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_both_doors_name_the_same(seed, tmp_path, monkeypatch):
    choice = Random(seed)
    repo = random_repository(choice, tmp_path, monkeypatch)
    candidates = asked(repo, **CHOSEN)
    for path in documents(repo, candidates):
        found = opened(repo, path)
        if found.target is None:
            continue  # the document itself is no text in UTF-8: an editor opens none
        same_candidates(candidates, found, path)
        if found.versions:
            same_numbers_and_hunks(candidates, found, path)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=code(None, "a.py"), b__py=code(None, "b.py"))
    return made


def test_the_command_says_what_an_editor_shows(repo):
    """A run that is stale, as it was told of: one door listed it, and the other refused it."""
    text = (repo.path / "a.py").read_text()
    repo.write("a.py", text.replace("a + 6", "6 * a"))
    repo.write("r/r1.diff", repo.git("diff", "--full-index"))
    repo.write("a.py", text.replace("a + 5", "5 * a").replace("a + 7", "7 * a"))
    repo.git("add", "a.py")
    repo.git("commit", "--quiet", "-m", "drift")
    repo.write("a.py", (repo.path / "a.py").read_text() + "saved = 1\n")
    options = ("--runs", str(repo.path / "r"), "--branches", "**", "--onto", "saved")
    told = excise("worktrees", str(repo.path), *options, "--json")
    assert told.code == 0, told.err
    [row] = told.json["ranking"]
    assert (row["id"], row["files"][0]["added"], row["files"][0]["deleted"]) == ("run:r1", 1, 1)
    found = opened(repo, "a.py")
    [version] = found.versions
    assert (version.id, version.candidate.label) == (row["id"], row["label"])
    assert version.text == found.target.replace("a + 6", "6 * a")
    assert found.target.endswith("saved = 1\n")
    shown = excise("review", "--repo", str(repo.path), *options, "--format", "json").json
    [hunk] = shown["batches"][0]["files"][0]["hunks"]
    assert hunk["origin"] == found.target.split("\n")[hunk["lo"]] + "\n"
    assert [variant["text"] for variant in hunk["variants"]] == ["    return 6 * a\n"]


def test_every_form_of_a_patch(repo):
    text = (repo.path / "a.py").read_text()
    repo.git("checkout", "--quiet", "-b", "series")
    repo.commit("one", a__py=text.replace("a + 2", "2 * a"))
    repo.commit("two", a__py=text.replace("a + 2", "2 + a"), b__py="b = 1\n")
    series = repo.git("format-patch", "--stdout", "main")
    single = repo.git("format-patch", "--stdout", "-1", "main~0..series~1", "--")
    diff = repo.git("diff", "main", "series")
    gone = repo.git("diff", "--no-renames", "main", "series", "--", "a.py")
    repo.git("checkout", "--quiet", "main")
    repo.git("branch", "--quiet", "-D", "series")
    stripped = b"\n".join(line for line in diff.split(b"\n") if not line.startswith(b"index "))
    lines = [
        {"instance_id": "x-1", "model_name_or_path": "m", "model_patch": diff.decode()},
        {"instance_id": "x-2", "model_patch": gone.decode()},
        {"instance_id": "x-3", "model_patch": "none"},
        {"instance_id": "x-4", "model_patch": diff.decode().replace("2 * a", "2 - a")[:-30]},
    ]
    files = {
        "p/series.mbox": series, "p/single.eml": single, "p/deep/plain.diff": diff,
        "p/stripped.patch": stripped, "p/broken.diff": diff.replace(b"return a + 1", b"return b"),
        "p/both.mbox": single + repo.git("format-patch", "--stdout", "-1", "HEAD"),
        "r/runs.jsonl": "\n".join(map(json.dumps, lines)).encode(), "r/single.patch": single,
    }  # fmt: skip
    for name, data in files.items():
        repo.write(name, data)
    for drifted in (text, text.replace("a + 2", "a / 2"), "import os\n" + text):
        repo.write("a.py", drifted)
        candidates = asked(repo, **CHOSEN)
        assert {"patch:series", "patch:deep/plain", "run:m/x-1"} <= {c.id for c in candidates.found}
        for path in documents(repo, candidates):
            found = opened(repo, path)
            same_candidates(candidates, found, path)
            about = {r.id: r.reason for r in candidates.rejected if r.id != "patch:broken"}
            assert about.items() <= reasons(found).items()
        assert (
            reasons(opened(repo, "a.py"))["patch:broken"] == reasons_of(candidates)["patch:broken"]
        )


def reasons_of(candidates):
    return {rejected.id: rejected.reason for rejected in candidates.rejected}


def test_the_limits_are_one(repo, monkeypatch):
    text = (repo.path / "a.py").read_text()
    for number in range(3):
        side = repo.path.parent / f"w{number}"
        repo.git("worktree", "add", "--quiet", "--detach", side)
        (side / "a.py").write_text(text.replace("a + 3", f"a - {number}"))
        diff = repo.git("diff", cwd=side)
        repo.write(f"p/{number}.diff", diff)
        repo.git("commit", "--quiet", "-am", f"{number}", cwd=side)
        repo.git("branch", f"agent/{number}", repo.git("rev-parse", "HEAD", cwd=side).strip())
        repo.git("checkout", "--quiet", "--detach", "main", cwd=side)
        (side / "a.py").write_text(text.replace("a + 4", f"a - {number}"))
    for limits in ((checkouts, "MAX_WORKTREES"), (checkouts, "MAX_REFS"), (patches, "MAX_PATCHES")):
        monkeypatch.setattr(*limits, 2)
    candidates, found = asked(repo, **CHOSEN), opened(repo, "a.py")
    same_candidates(candidates, found, "a.py")
    cut = {name: why for name, why in reasons_of(candidates).items() if "only the" in why}
    assert cut.keys() == {"worktrees", "branches", "patches"}
    assert cut.items() <= reasons(found).items()


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_cases_of_the_editor(case, repo):
    case = editor_case.read(case)
    repo.write(case.document, case.text)
    repo.commit("the document")
    head = repo.head()
    for number, text in enumerate(case.candidates.values()):
        if any("\ud800" <= character <= "\udfff" for character in text):
            continue  # no file holds half a surrogate pair
        repo.write(case.document, text)
        repo.commit(f"{number}")
        repo.git("update-ref", f"refs/heads/agent/{number}", "HEAD")
        repo.git("reset", "--quiet", "--hard", head)
    repo.write(case.document, case.text)
    candidates = asked(repo, **CHOSEN)
    found = opened(repo, case.document)
    same_candidates(candidates, found, case.document)
    if found.versions:
        same_numbers_and_hunks(candidates, found, case.document)


def same_candidates(candidates, found, path):
    versions = {version.id: version for version in found.versions}
    refused = reasons(found)
    for candidate in candidates.found:
        old, new = candidate.old.get(path), candidate.new.get(path)
        version = versions.pop(candidate.id, None)
        texts = [side.text if side is not None else None for side in (old, new)]
        if version is None:
            told = refused.get(candidate.id, "")
            # Texts are what an editor shows: bytes alone are nothing to it, nor is a link.
            assert texts[0] == texts[1] or told, (path, candidate, found)
            continue
        known = version.candidate
        for fact in ("names", "label", "commit", "base", "behind", "made", "tool", "task"):
            assert getattr(known, fact) == getattr(candidate, fact), (path, fact)
        if version.change in ("edited", "created"):
            assert version.text == texts[1], (path, candidate.id)
            assert (found.target or "") == (texts[0] or "")
        elif version.change == "deleted":
            assert (texts[1], version.text) == (None, ""), (path, candidate.id)
        else:
            assert version.text == candidate.new[version.path].text, (path, candidate.id)
        if path in candidate.conflicts and normalise(version.base or "") != found.target:
            assert candidate.conflicts[path] in known.notes, (path, candidate.id)
    assert not versions, (path, versions)
    for rejected in candidates.rejected:
        if rejected.id.partition(":")[0] not in ("patch", "run"):
            assert refused[rejected.id] == rejected.reason
    idle = {*candidates.unchanged, *candidates.landed} - refused.keys()
    assert {name for name in idle if name.partition(":")[0] not in ("patch", "run")} <= {
        *found.unchanged, *(name for v in found.versions for name in v.candidate.names),
    }  # fmt: skip


def same_numbers_and_hunks(candidates, found, path):
    versions = [v for v in found.versions if v.change in ("edited", "created")]
    ids = [version.id for version in versions]
    by_id = {candidate.id: candidate for candidate in candidates.found}
    members = [
        replace(by_id[name], old={p: s for p, s in by_id[name].old.items() if p == path},
                new={path: by_id[name].new[path]})
        for name in ids
    ]  # fmt: skip
    if not ids or any(path in by_id[name].old and not by_id[name].old[path].text for name in ids):
        return
    origin, sets = {}, {}
    for member in members:
        files = patch_files(member.old, member.new)
        origin |= origin_texts(member.old, member.new, files)
        sets[member.id] = change_set(member.old, member.new, files)
    texts = [version.text for version in versions]
    matrix = ScoreMatrix.from_texts(found.target, texts, ids=ids, path=path)
    assert matrix.values.tolist() == ScoreMatrix.from_change_sets(origin, sets).values.tolist()
    [file] = review_files(members)
    assert file.path == path
    if all(path in member.old for member in members):
        shown = review_files([
            replace(member, old={path: replace(member.old[path], data=found.target.encode())},
                    new={path: replace(member.new[path], data=version.text.encode())})
            for member, version in zip(members, versions, strict=True)
        ])  # fmt: skip
        assert [hunk.variants for hunk in file.hunks] == [hunk.variants for hunk in shown[0].hunks]
