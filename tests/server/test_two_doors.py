"""Both doors agree: a command with ``--onto saved``, and a language server with nothing typed.

Of random repositories with drift, for each document that a candidate changes: the same candidates,
ids, labels, texts, numbers, hunks, refusals and limits. One server answers for many repositories.
"""

import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from tests.server import editor_case, raw_client
from tests.server.git_repository import SETUP, make, needs_git
from tests.server.raw_client import RawClient

from excise import ScoreMatrix
from excise.text import normalise
from excise_server.foundation.changes import Side, patch_files
from excise_server.foundation.files import text_of
from excise_server.foundation.inputs import SourceError
from excise_server.git import checkouts
from excise_server.git.repository import open_folder
from excise_server.review.hunks import change_set, review_files
from excise_server.sources import patches
from excise_server.sources.candidates import find_candidates
from excise_server.sources.registry import selection_of

pytestmark = [pytest.mark.slow, needs_git]

SEEDS = int(os.environ.get("EXCISE_TWO_DOORS", "12"))
"""How many random repositories are tried; 200 at night."""

NO_FILE = Side("100644", b"")
CASES = sorted((Path(__file__).parents[1] / "cases" / "editor").glob("*"))
CASES = CASES[:: max(1, len(CASES) // SEEDS)]
"""Archives of the editor: as many as there are random repositories."""

CHOSEN = {
    "git": ("**", "pull/*"), "patches": ("p", "r"), "conflicts": False, "files": (),
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
    """Return the files of the target that candidates change, and that an editor can open.

    Of a file that the target deleted, edits are compared with the file that it deleted.
    """
    gone = {p for c in candidates.found for p, k in c.conflict_kinds.items() if "delete" in k}
    for path in sorted({path for c in candidates.found for path in (*c.old, *c.new)}):
        if path in gone and not (repo.path / path).exists():
            continue
        try:
            text_of((repo.path / path).read_bytes() if (repo.path / path).exists() else b"")
        except SourceError:
            continue
        yield path


class Shown:
    """What a server tells of a document that was just opened: revisions, refusals, the report."""

    def __init__(self, client, uri):
        reports = client.call("excise/review", {"uri": uri})["sources"]
        self.found = {each["id"]: each for report in reports for each in report["found"]}
        self.unchanged = [name for report in reports for name in report["unchanged"]]
        self.refused = {each["id"]: each["reason"] for r in reports for each in r["refused"]}
        self.report = client.call("excise/report", {"uri": uri}) if self.found else None
        self.target = self.content(client, uri) if self.found else None
        self.texts = {name: self.content(client, uri, id=name) for name in self.found}

    @staticmethod
    def content(client, uri, **which):
        return client.text_of(uri, which.get("id"))


class Editor:
    """A client of one server, in the workspace folder of one repository at a time."""

    def __init__(self, client):
        self.client, self.folder = client, None
        sources = {name: list(v) if isinstance(v, tuple) else v for name, v in CHOSEN.items()}
        client.initialize(workspaceFolders=[], initializationOptions={"sources": sources})

    def move(self, folder):
        folders = {"added": [folder], "removed": [self.folder]}
        event = {key: [{"uri": f.as_uri(), "name": "w"} for f in paths if f is not None]
                 for key, paths in folders.items()}  # fmt: skip
        self.client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        self.folder = folder

    def open(self, repo, name):
        """Open a document of a repository, ask everything of it, and close it again."""
        if repo.path != self.folder:
            self.move(repo.path)
        path = repo.path / name
        data = path.read_bytes() if path.exists() else b""
        language = "python" if path.suffix == ".py" else path.suffix[1:]
        self.client.open(path.as_uri(), text_of(data), language=language)
        shown = Shown(self.client, path.as_uri())
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
        return shown


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    """One server for all repositories, whose git obeys the same configuration as ours."""
    home = tmp_path_factory.mktemp("home")
    (home / "gitconfig").write_text(SETUP)
    changed = {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / "gitconfig")}
    with patch.dict(os.environ, changed), RawClient() as client:
        yield Editor(client)
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log), "\n".join(client.log)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_both_doors_name_the_same(seed, tmp_path, monkeypatch, editor):
    choice = Random(seed)
    repo = random_repository(choice, tmp_path, monkeypatch)
    candidates = asked(repo, **CHOSEN)
    for path in documents(repo, candidates):
        same(candidates, editor.open(repo, path), path)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=code(None, "a.py"), b__py=code(None, "b.py"))


@pytest.mark.parametrize(
    "drift", [("a + 0", "a + 0"), ("a + 2", "a / 2"), ("def a0", "import os\n\ndef a0")]
)
def test_every_form_of_a_patch(repo, editor, drift):
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
    repo.write("a.py", text.replace(*drift))
    candidates = asked(repo, **CHOSEN)
    assert {"patch:series", "patch:deep/plain", "patch:m/x-1"} <= {c.id for c in candidates.found}
    for path in documents(repo, candidates):
        found = editor.open(repo, path)
        same(candidates, found, path)
        about = {r.id: r.reason for r in candidates.rejected if r.id != "patch:broken"}
        assert about.items() <= found.refused.items()
        if path == "a.py":
            assert found.refused["patch:broken"] == reasons_of(candidates)["patch:broken"]


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
    limits = ((checkouts, "MAX_WORKTREES"), (checkouts, "MAX_REFS"), (patches, "MAX_PATCHES"))
    for limit in limits:
        monkeypatch.setattr(*limit, 2)
    code = [f"import {module.__name__} as m; m.{name} = 2" for module, name in limits]
    code += ["import runpy", "runpy.run_module('excise_server', run_name='__main__')"]
    monkeypatch.setattr(raw_client, "MODULE", ["-c", "\n".join(code)])
    candidates = asked(repo, **CHOSEN)
    with RawClient() as client:
        found = Editor(client).open(repo, "a.py")
    same(candidates, found, "a.py")
    cut = {name: why for name, why in reasons_of(candidates).items() if "only the" in why}
    assert cut.keys() == {"worktrees", "git", "patches"}
    assert cut.items() <= found.refused.items()


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_cases_of_the_editor(case, repo, editor):
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
    same(candidates, editor.open(repo, case.document), case.document)


def same(candidates, found, path):
    shown, refused = dict(found.found), found.refused
    for candidate in candidates.found:
        old, new = candidate.old.get(path), candidate.new.get(path)
        version = shown.pop(candidate.id, None)
        texts = [side.text if side is not None else None for side in (old, new)]
        if version is None:
            # Texts are what an editor shows: bytes alone are nothing to it, nor is a link.
            assert texts[0] == texts[1] or refused.get(candidate.id), (path, candidate, refused)
            continue
        text = found.texts[candidate.id]
        assert version["label"] == candidate.label
        assert found.target == normalise(texts[0] or "")
        if texts[1] is not None:
            assert text == normalise(texts[1]), (path, candidate.id)
        else:  # deleted, or renamed
            others = {normalise(side.text) for side in candidate.new.values() if side.text}
            assert text in {"", *others}, (path, candidate.id)
    assert not shown, (path, shown)
    for rejected in candidates.rejected:
        if rejected.id.partition(":")[0] not in ("patch", "run"):
            assert refused[rejected.id] == rejected.reason
    idle = {*candidates.unchanged, *(one.id for one in candidates.landed)} - refused.keys()
    idle = {name for name in idle if name.partition(":")[0] not in ("patch", "run")}
    assert idle <= {*found.unchanged, *found.found}
    if found.report is not None:
        same_numbers_and_hunks(candidates, found, path)


def same_numbers_and_hunks(candidates, found, path):
    """Compare the report with the command's matrix and hunks of the same changes of one file."""
    ids = [entry["id"] for entry in found.report["revisions"]]
    by_id = {candidate.id: candidate for candidate in candidates.found}
    members = [
        replace(by_id[name], old={p: s for p, s in by_id[name].old.items() if p == path},
                new={path: by_id[name].new[path]})
        for name in ids if path in by_id[name].new
    ]  # fmt: skip
    if len(members) != len(ids) or any(not m.old.get(path, NO_FILE).text for m in members):
        return
    origin, sets = {}, {}
    for member in members:
        files = patch_files(member.old, member.new)
        texts, sets[member.id] = change_set(member.old, member.new, files)
        origin |= texts
    matrix = ScoreMatrix.from_change_sets(origin, sets)
    assert matrix.values.tolist() == found.report["similarity"]
    facts = [sets[name].facts for name in ids]
    for i, j in product(range(len(ids)), repeat=2):
        if facts[i] == facts[j]:  # an editor shows the texts, and no modes
            assert matrix.word(i, j) == found.report["words"][i][j], (path, ids[i], ids[j])
    [file] = review_files(members)
    assert file.path == path
    assert [
        {(variant["text"], *sorted(variant["ids"])) for variant in hunk["variants"]}
        for hunk in found.report["hunks"]
    ] == [
        {(v.text, *sorted(file.ids[member] for member in v.members)) for v in hunk.variants}
        for hunk in file.hunks
    ]
