"""Whole candidates over the wire: the command's and the client's, listed, added and set aside."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.server.command import excise, ids_of
from tests.server.edited_worktrees import (
    INVALID_PARAMS,
    MINUS,
    ORIGIN,
    REQUEST_FAILED,
    client,
    client_of,
    edited_worktrees,
    server,
    surveyed,
)
from tests.server.git_repository import Repo, make, needs_git
from tests.server.raw_client import PING, RawClient, serving

from excise_server.wire.documents import CandidatesDocument

pytestmark = [needs_git, pytest.mark.slow]

__all__ = ["client", "server"]  # the fixtures


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    edits = {"ada": ("a + b", "a - b"), "bo": ("a + b", "a - b"), "cy": ("* 2", "+ a")}
    return edited_worktrees(tmp_path, monkeypatch, edits, a__py=ORIGIN, b__py="B = 1\n")


def listed(client: RawClient, repo: Repo, **more) -> dict:
    return client.call("excise/candidates", {"uri": repo.path.as_uri(), **more})


def change(path: str, text: str | None = None, **more) -> dict:
    return {"path": path, "text": text, **more}


def review(client: RawClient, repo: Repo, name: str = "a.py", **more) -> dict:
    return client.call("excise/review", {"uri": (repo.path / name).as_uri(), **more})


def reason(answer: dict) -> str:
    (rejection,) = answer["rejected"]
    assert not answer["accepted"]
    return rejection["reason"]


# --- listed --------------------------------------------------------------------------------------


def test_they_are_the_command_s_with_its_ids_and_digits(repo: Repo, client: RawClient):
    answer = listed(client, repo, git=[])
    command = excise("review", "--repo", str(repo.path), "--format", "json").json
    assert {key: answer[key] for key in command} == command
    assert ids_of(answer) == ["worktree:ada", "worktree:bo", "worktree:cy"]
    assert (answer["set_aside"], answer["bases"], answer["given"]) == ([], {}, [])
    msgspec.convert(answer, CandidatesDocument)
    file = {"uri": (repo.path / "a.py").as_uri(), "git": []}
    assert client.call("excise/candidates", file) == answer


def test_whole_worktrees_are_watched_and_news_of_them_is_told_once(repo: Repo):
    """A hundred writes in a row are one piece of news, and what tools make for themselves none."""
    watching = {"dynamicRegistration": True, "relativePatternSupport": True}
    folders = [{"uri": repo.path.as_uri(), "name": "w"}]
    with serving(
        {"workspace": {"didChangeWatchedFiles": watching}}, workspaceFolders=folders
    ) as client:
        [ada] = [c for c in listed(client, repo)["candidates"] if c["id"] == "worktree:ada"]
        tree = Path(ada["folder"])
        watched = [
            watcher["globPattern"]
            for message in client.received
            if message.get("method") == "client/registerCapability"
            for registration in message["params"]["registrations"]
            for watcher in registration["registerOptions"].get("watchers", ())
        ]
        assert {"baseUri": tree.as_uri(), "pattern": "**"} in watched
        assert {"baseUri": (repo.path / ".git").as_uri(), "pattern": "HEAD"} in watched

        def told(*paths: Path) -> list[dict]:
            """Return what is told of the worktrees until the next news after these."""
            before = len(client.received)
            for path in paths:
                changes = [{"uri": path.as_uri(), "type": 2}]
                client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
            client.call(*PING)
            if len(paths) > 1:
                client.wait(lambda m: m.get("method") == "excise/didChangeReport")
            news = client.received[before:]
            return [m["params"] for m in news if m.get("method") == "excise/didChangeReport"]

        git = repo.path / ".git"
        for no_news in (tree / "node_modules" / "x.js", git / "index.lock", git / "objects" / "a"):
            assert told(no_news) == []
        news = {"uri": repo.path.as_uri(), "version": None}
        (tree / "deep").mkdir()
        (tree / "deep" / "new.py").write_text("NEW = 1\n")
        assert told(*[tree / "deep" / "new.py"] * 100) == [news]
        [ada] = [c for c in listed(client, repo)["candidates"] if c["id"] == "worktree:ada"]
        assert "deep/new.py" in [file["path"] for file in ada["files"]]
        shutil.rmtree(tree)
        assert told(tree, tree / "a.py") == [news]
        gone = listed(client, repo)
        assert "worktree:ada" not in ids_of(gone)
        assert ["prunable" in entry["reason"] for entry in gone["rejected"]] == [True]
        assert told(git / "index", git / "HEAD") == [news]
        # A worktree may lie in a folder whose name says nothing about what is in it.
        odd = repo.path.parent / "node_modules" / "odd"
        repo.git("worktree", "add", "--quiet", "-b", "odd", odd)
        listed(client, repo)
        assert told(odd / "node_modules" / "x.js") == []
        assert told(odd / "a.py", odd / "b.py") == [news]


def test_the_client_s_own_are_among_them(repo: Repo, client: RawClient):
    client.add_candidates({"id": "gpt", "label": "GPT", "changes": [change("a.py", MINUS)]})
    answer = listed(client, repo, git=[])
    assert answer["given"] == ["gpt"]
    (entry,) = [row for row in answer["candidates"] if row["id"] == "gpt"]
    assert (entry["kind"], entry["label"], entry["names"]) == ("client", "GPT", ["gpt"])
    assert sorted(entry["identical"]) == ["worktree:ada", "worktree:bo"]
    assert [(file["path"], file["status"]) for file in entry["files"]] == [("a.py", "modified")]
    at = ids_of(answer).index
    assert answer["similarity"][at("gpt")][at("worktree:ada")] == 1.0


@pytest.mark.parametrize("kind", ["candidates", "land"])
def test_a_question_is_answered_again_from_what_was_said_until_something_changes(
    repo: Repo, kind: str
):
    kept: dict = {}

    def answer() -> bytes:
        return surveyed(repo, kind, kept)

    first = answer()
    assert answer() is first
    (repo.path.parent / "cy" / "a.py").write_text(ORIGIN.replace("* 2", "* 3"))
    changed = answer()
    assert json.loads(changed)["digest"] != json.loads(first)["digest"]
    repo.commit(c__py="C = 1\n")
    assert json.loads(answer())["origin"] != json.loads(first)["origin"]


def test_the_words_of_the_command_s_options(repo: Repo, client: RawClient):
    repo.git("checkout", "--quiet", "-b", "agent/1")
    repo.commit(a__py=ORIGIN.replace("return x", "return -x"))
    repo.git("checkout", "--quiet", "main")
    (repo.path / "runs").mkdir()
    diff = repo.git("diff", "--full-index", "main", "agent/1")
    (repo.path / "runs/r1.diff").write_bytes(diff)
    verdict = {"candidate": "r1", "check": "pytest", "passed": True}
    (repo.path / "runs/verdicts.txt").write_text(json.dumps(verdict))
    params = {
        "git": ["agent/*"], "patches": ["runs"], "onto": "main", "only": ["agent/*", "r1"],
        "base": ["agent/1=main"], "issue": "signs", "verdicts": ["runs/verdicts.txt"],
        "path": ["a.*"],
    }  # fmt: skip
    found = listed(client, repo, **params)
    options = [
        option
        for name in ("git", "only", "base", "path")
        for each in params[name]
        for option in (f"--{name}", each)
    ]
    options += ["--patches", str(repo.path / "runs"), "--onto", "main", "--issue", "signs"]
    options += ["--verdicts", str(repo.path / "runs/verdicts.txt")]
    command = excise("review", "--repo", str(repo.path), "--format", "json", *options).json
    assert {key: found[key] for key in command} == command
    assert {*ids_of(found)} == {"branch:agent/1", "patch:r1"}
    assert [entry["verdict"] for entry in found["candidates"]] == ["passed", None]


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"onto": "--output=/nowhere"}, REQUEST_FAILED, "--output"),
        ({"patches": ["nowhere"]}, REQUEST_FAILED, "no such folder in the workspace"),
        ({"patches": [".."]}, REQUEST_FAILED, "it leads out of the workspace"),
        ({"patches": ["/etc"]}, REQUEST_FAILED, "it leads out of the workspace"),
        ({"base": ["main"]}, REQUEST_FAILED, "write NAME=REV"),
        ({"base": "main"}, INVALID_PARAMS, "base"),
        ({"verdicts": ["../ada/a.py"]}, REQUEST_FAILED, "outside the workspace"),
        ({"path": ["b.py"]}, REQUEST_FAILED, "no changed file is called b.py"),
        ({"issue": "\n"}, REQUEST_FAILED, "it is empty"),
    ],
)
def test_wrong_words_are_refused(repo: Repo, client: RawClient, wrong, code, said):
    error = client.refused("excise/candidates", {"uri": repo.path.as_uri()} | wrong)
    assert error["code"] == code
    assert said in error["message"]


def test_without_trust_a_repository_or_a_folder_it_is_said(repo: Repo, tmp_path):
    method = "excise/candidates"
    plain, outside = tmp_path / "plain", tmp_path / "ada"
    plain.mkdir()
    (repo.path / "link").symlink_to(outside)
    folders = [{"uri": path.as_uri(), "name": path.name} for path in (repo.path, plain)]
    with serving(workspaceFolders=folders, initializationOptions={"trusted": False}) as client:
        error = client.refused(method, {"uri": repo.path.as_uri()})
        assert (error["code"], "not trusted" in error["message"]) == (REQUEST_FAILED, True)
    with serving(workspaceFolders=folders) as client:
        error = client.refused(method, {"uri": plain.as_uri()})
        assert (error["code"], "repository" in error["message"]) == (REQUEST_FAILED, True)
        for path in (tmp_path, outside, repo.path / "link", "/proc/self"):
            error = client.refused(method, {"uri": f"file://{path}"})
            assert error["code"] == INVALID_PARAMS
        assert client.refused(method, {"uri": "untitled:x"})["code"] == INVALID_PARAMS


# --- added ---------------------------------------------------------------------------------------


def test_a_candidate_enters_every_document_that_it_changes(repo: Repo, client: RawClient):
    changes = [change("a.py", MINUS), change("b.py"), change("new/c.py", "C = 1\n", status="A")]
    assert client.add_candidates({"id": "gpt", "changes": changes})["accepted"] == ["gpt"]
    (hunk,) = review(client, repo)["hunks"]
    assert [variant["text"] for variant in hunk["variants"]] == ["    x = a - b\n"]
    deleted = review(client, repo, "b.py")
    assert [variant["text"] for variant in deleted["hunks"][0]["variants"]] == [""]
    assert deleted["candidates"][0]["notes"] == ["it deletes the file"]
    created = review(client, repo, "new/c.py")
    assert (created["hunks"][0]["lo"], created["hunks"][0]["hi"]) == (0, 0)
    entries = listed(client, repo, git=[])["candidates"]
    (entry,) = [row for row in entries if row["id"] == "gpt"]
    assert {file["path"]: file["status"] for file in entry["files"]} == {
        "a.py": "modified",
        "b.py": "deleted",
        "new/c.py": "created",
    }


def test_a_renamed_file_is_reviewed_under_its_old_name(repo: Repo, client: RawClient):
    renamed = change("moved.py", MINUS, oldPath="a.py")
    assert client.add_candidates({"id": "gpt", "changes": [renamed]})["rejected"] == []
    answer = review(client, repo)
    assert answer["candidates"][0]["notes"] == ["renamed to moved.py"]
    assert len(answer["hunks"]) == 1
    entries = listed(client, repo, git=[])["candidates"]
    (entry,) = [row for row in entries if row["id"] == "gpt"]
    assert [file["status"] for file in entry["files"]] == ["renamed"]


@pytest.mark.parametrize("base", ["text", "commit"])
def test_what_a_candidate_started_from_is_replayed(repo: Repo, client: RawClient, base: str):
    first = repo.head()
    repo.commit(a__py="import os\n\n\n" + ORIGIN)
    own = {"base": ORIGIN} if base == "text" else {}
    whole = {"base": first[:12]} if base == "commit" else {}
    client.add_candidates({"id": "gpt", "changes": [change("a.py", MINUS, **own)], **whole})
    (hunk,) = review(client, repo)["hunks"]
    assert (hunk["lo"], hunk["variants"][0]["text"]) == (4, "    x = a - b\n")
    answer = listed(client, repo, git=[])
    at = ids_of(answer).index
    assert answer["similarity"][at("gpt")][at("worktree:ada")] == 1.0


def test_an_id_is_replaced_with_all_of_its_files(repo: Repo, client: RawClient):
    client.add_candidates(
        {"id": "gpt", "changes": [change("a.py", MINUS), change("b.py", "B = 2\n")]}
    )
    client.add_candidates({"id": "gpt", "changes": [change("b.py", "B = 3\n")]})
    uri = (repo.path / "a.py").as_uri()
    assert client.listed(uri) == []
    assert review(client, repo, "b.py")["hunks"][0]["variants"][0]["text"] == "B = 3\n"


def test_revisions_of_one_id_are_one_candidate(repo: Repo, client: RawClient):
    client.add((repo.path / "a.py").as_uri(), {"gpt": MINUS})
    client.add((repo.path / "b.py").as_uri(), {"gpt": "B = 2\n"})
    entries = listed(client, repo, git=[])["candidates"]
    (entry,) = [row for row in entries if row["id"] == "gpt"]
    assert [file["path"] for file in entry["files"]] == ["a.py", "b.py"]
    answer = client.call("excise/removeCandidates", {"ids": ["gpt", "claude", "worktree:ada"]})
    assert answer == {"removed": ["gpt"], "unknown": ["claude", "worktree:ada"]}
    assert "gpt" not in ids_of(listed(client, repo, git=[]))


def test_the_client_s_candidate_comes_before_one_that_is_found(repo: Repo, client: RawClient):
    client.add_candidates({"id": "worktree:ada", "changes": [change("b.py", "B = 2\n")]})
    answer = listed(client, repo, git=[])
    assert answer["given"] == ["worktree:ada"]
    assert [row["id"] for row in answer["rejected"]] == ["worktree:ada"]


def test_sixty_four_candidates(repo: Repo, client: RawClient):
    texts = [ORIGIN.replace("a + b", f"a + {n}") for n in range(64)]
    sent = [{"id": f"agent {n}", "changes": [change("a.py", text)]} for n, text in enumerate(texts)]
    assert len(client.add_candidates(*sent)["accepted"]) == 64
    assert len(review(client, repo)["hunks"][0]["variants"]) == 64
    assert len(listed(client, repo, git=[])["given"]) == 64
    more = [{"id": f"more {n}", "changes": [change("a.py", MINUS)]} for n in range(240)]
    answer = client.add_candidates(*more)
    assert len(answer["accepted"]) == 300 - 64
    assert {row["reason"] for row in answer["rejected"]} == {"skipped: limit 300 candidates"}


# --- not added -----------------------------------------------------------------------------------

REFUSED = {
    "no changes": {"changes": []},
    "relative": {"changes": [change("/etc/passwd", "x\n")]},
    "relative to": {"changes": [change("C:\\x.py", "x\n")]},
    "..": {"changes": [change("../ada/a.py", "x\n")]},
    "must not have empty": {"changes": [change("a//b.py", "x\n")]},
    ". or ..": {"changes": [change("./a.py", "x\n")]},
    "NUL": {"changes": [change("a\0.py", "x\n")]},
    "leads out of the workspace": {"changes": [change("link/a.py", "x\n")]},
    ".git": {"changes": [change(".git/hooks/pre-commit", "x\n")]},
    "1 to 4,096": {"changes": [change("", "x\n")]},
    "unknown revision 'nowhere'": {"changes": [change("a.py", "x\n")], "base": "nowhere"},
    "unknown revision '--output=x'": {"changes": [change("a.py", "x\n")], "base": "--output=x"},
    "does not have this file": {"changes": [change("new.py", "x\n")], "base": "HEAD"},
    "this file is changed twice": {"changes": [change("a.py", "x\n"), change("a.py", "y\n")]},
    "A, M, D or R": {"changes": [change("a.py", "x\n", status="X")]},
    "has no text": {"changes": [change("a.py", "x\n", status="D")]},
    "its status is D": {"changes": [change("a.py", status="M")]},
    "old path": {"changes": [change("a.py", "x\n", status="R")]},
    "its own name": {"changes": [change("a.py", "x\n", oldPath="a.py")]},
    "binary": {"changes": [change("a.py", "x\0\n")]},
    "limit 10 MB": {"changes": [change("a.py", "x" * 10_000_001)]},
    "limit 1,000 files": {"changes": [change(f"{n}.py", "x\n") for n in range(1001)]},
    "nothing is changed": {"changes": [change("a.py", "x\r\n", base="x\n")]},
    "no text of a folder: folder": {"changes": [change("folder", "x\n")]},
    "1 to 1000": {"id": "x" * 1001, "changes": [change("a.py", "x\n")]},
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[RawClient]:
    """One session: what is refused changes nothing."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("shared")
        repo = make(folder, patch)
        repo.commit(a__py=ORIGIN)
        (repo.path / "folder").mkdir()
        (folder / "outside").mkdir()
        (repo.path / "link").symlink_to(folder / "outside")
        with serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}]) as client:
            yield client
            assert client.listed((repo.path / "a.py").as_uri()) == []


@pytest.mark.parametrize("word", REFUSED)
def test_what_cannot_be_taken_is_refused_with_the_reason(shared: RawClient, word: str):
    said = reason(shared.add_candidates({"id": "gpt", **REFUSED[word]}))
    assert said
    assert (word.split(": ")[-1] if "folder" in word else word) in said
    assert len(said) < 400


def test_a_candidate_is_taken_whole_or_not_at_all(repo: Repo, client: RawClient):
    answer = client.add_candidates(
        {"id": "gpt", "changes": [change("a.py", MINUS), change("../b.py", "x")]}
    )
    assert "../b.py" in reason(answer)
    uri = (repo.path / "a.py").as_uri()
    assert client.listed(uri) == []


def test_one_id_twice_in_a_request(repo: Repo, client: RawClient):
    twice = [{"id": "gpt", "changes": [change("a.py", text)]} for text in (MINUS, ORIGIN + "\n")]
    answer = client.add_candidates(*twice)
    assert (answer["accepted"], len(answer["rejected"])) == (["gpt"], 1)
    assert review(client, repo)["hunks"][0]["variants"][0]["text"] == "    x = a - b\n"


def test_without_trust_no_git_is_started_for_a_base(repo: Repo):
    with RawClient() as client:
        folders = [{"uri": repo.path.as_uri(), "name": "w"}]
        client.initialize(workspaceFolders=folders, initializationOptions={"trusted": False})
        sent = {"id": "gpt", "changes": [change("a.py", MINUS)]}
        assert "trusted" in reason(client.add_candidates(sent | {"base": "HEAD"}))
        assert client.add_candidates(sent)["accepted"] == ["gpt"]
        assert client.exit() == 0


def test_without_a_folder_there_are_no_paths(tmp_path):
    with serving() as client:
        sent = {"candidates": [{"id": "gpt", "changes": [change("a.py", "x\n")]}]}
        assert client.refused("excise/addCandidates", sent)["code"] == INVALID_PARAMS


def test_since_is_what_the_command_says(repo: Repo, client: RawClient, tmp_path):
    old = repo.head("ada")
    asked = {"uri": repo.path.as_uri(), "old": old, "new": "ada"}
    ran = excise("since", old, "ada", "--repo", str(repo.path), "--format", "json")
    document = client.call("excise/since", asked)
    assert document.pop("page").startswith(document["summary"])
    assert document == ran.json
    assert sum(document["hunks"].values())
    for wrong in ({"old": "nowhere"}, {"new": "nowhere"}, {"onto": "nowhere"}, {"old": None}):
        refused = client.refused("excise/since", asked | wrong)
        assert refused["code"] == REQUEST_FAILED
        assert refused["message"]
    outside = {"uri": (tmp_path / "elsewhere").as_uri()}
    assert client.refused("excise/since", asked | outside)["code"] == INVALID_PARAMS
    assert client.refused("excise/since", asked | {"old": 7})["code"] == INVALID_PARAMS


# --- set aside -----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["hidden", "rejected"])
def test_what_is_set_aside_counts_nowhere(repo: Repo, client: RawClient, word: str):
    client.open((repo.path / "a.py").as_uri(), ORIGIN)
    before = review(client, repo)
    assert len(before["hunks"]) == 2
    cy = {"ids": ["worktree:cy"]}
    assert client.call("excise/setCandidates", cy | {"state": word})[word] == ["worktree:cy"]
    after = review(client, repo)
    assert [hunk["lo"] for hunk in after["hunks"]] == [before["hunks"][0]["lo"]]
    assert {row["id"]: row["state"] for row in after["candidates"]}["worktree:cy"] == word
    answer = listed(client, repo, git=[])
    assert ids_of(answer) == ["worktree:ada", "worktree:bo"]
    assert [(row["id"], row["state"]) for row in answer["set_aside"]] == [("worktree:cy", word)]
    client.call("excise/setCandidates", cy | {"state": "shown"})
    assert review(client, repo)["hunks"] == before["hunks"]
    assert listed(client, repo, git=[])["set_aside"] == []


def test_when_everyone_is_hidden_nothing_is_shown(repo: Repo, client: RawClient):
    uri = (repo.path / "a.py").as_uri()
    client.open(uri, ORIGIN)
    ids = [row["id"] for row in review(client, repo)["candidates"]]
    client.call("excise/setCandidates", {"ids": ids, "state": "hidden"})
    assert client.diagnostics(uri) == []
    answer = review(client, repo)
    assert (answer["hunks"], answer["next"], answer["pinned"]) == ([], None, True)
    wrong = {"ids": [""], "state": "hidden"}
    assert client.refused("excise/setCandidates", wrong)["code"] == INVALID_PARAMS
    assert client.call("excise/setCandidates", {"ids": ids, "state": "shown"})["hidden"] == []
    assert len(review(client, repo)["hunks"]) == 2


def test_a_base_that_is_set_replays_again(repo: Repo, client: RawClient, tmp_path):
    (tmp_path / "dana").mkdir()
    first = repo.head()
    second = repo.commit(a__py=ORIGIN.replace("* 2", "* 3"))
    repo.git("worktree", "add", "--quiet", "-b", "dana", tmp_path / "dana")
    (tmp_path / "dana" / "a.py").write_text(MINUS.replace("* 2", "* 3"))
    os.utime(tmp_path / "dana" / "a.py", (1_600_000_000, 1_600_000_000))
    uri = (repo.path / "a.py").as_uri()
    client.open(uri, (repo.path / "a.py").read_text())

    def texts() -> list[str]:
        hunks = review(client, repo)["hunks"]
        return [v["text"] for h in hunks for v in h["variants"] if "worktree:dana" in v["ids"]]

    assert texts()[0] == "    x = a - b\n"
    own = listed(client, repo, git=[])
    params = {"uri": repo.path.as_uri(), "ids": ["worktree:dana"], "base": first[:10]}
    assert client.call("excise/setCandidates", params)["commit"] == first
    assert listed(client, repo, git=[])["bases"] == {"worktree:dana": first}
    (entry,) = [
        row for row in listed(client, repo, git=[])["candidates"] if row["id"] == "worktree:dana"
    ]
    assert entry["base"] == first != second
    client.call("excise/setCandidates", params | {"base": ""})
    assert listed(client, repo, git=[]) == own
    params["base"] = "--output=/nowhere"
    assert client.refused("excise/setCandidates", params)["code"] == REQUEST_FAILED
    client.add_candidates({"id": "gpt", "changes": [change("a.py", MINUS)]})
    refused = client.refused("excise/setCandidates", params | {"ids": ["gpt"]})
    assert "the client added it" in refused["message"]


# --- decided -------------------------------------------------------------------------------------


def test_every_kind_of_decision(repo: Repo, client: RawClient):
    uri = (repo.path / "a.py").as_uri()
    client.open(uri, ORIGIN)
    answer = review(client, repo)
    assert (answer["decided"], answer["undecided"], answer["next"]) == (0, 2, 0)
    version = 1

    def after(text: str) -> dict:
        nonlocal version
        version += 1
        client.change(uri, version, {"text": text})
        return review(client, repo)

    answer = after(MINUS)
    first = answer["hunks"][0]
    assert (first["decision"], first["variant"], first["decided"]) == ("variant", 0, True)
    assert (answer["decided"], answer["next"]) == (1, 1)
    answer = after(ORIGIN.replace("a + b", "a ** b"))
    assert answer["hunks"][0]["decision"] == "edited"
    answer = after(ORIGIN)
    assert answer["hunks"][0]["decision"] == "origin"
    params = {"uri": uri, "hunk": 0, "version": version, "state": answer["state"]}
    assert client.call("excise/decide", params) == {"decided": 1, "undecided": 1}
    answer = review(client, repo)
    assert (answer["hunks"][0]["decision"], answer["hunks"][0]["decided"]) == ("origin", True)
    assert review(client, repo, after=1)["next"] == 1
    assert client.call("excise/decide", params | {"decided": False})["decided"] == 0
    assert client.refused("excise/decide", params | {"version": 1})["code"] == REQUEST_FAILED
    assert client.refused("excise/decide", params | {"hunk": 9})["code"] == INVALID_PARAMS


def test_lines_of_several_variants_are_mixed(client: RawClient, repo: Repo):
    uri = (repo.path / "b.py").as_uri()
    client.open(uri, "a = 1\nb = 1\nc = 1\n")
    client.add(uri, {"x": "a = 2\nb = 2\nc = 1\n", "y": "a = 3\nb = 3\nc = 1\n"})
    client.change(uri, 2, {"text": "a = 2\nb = 3\nc = 1\n"})
    (hunk,) = review(client, repo, "b.py")["hunks"]
    assert (hunk["decision"], hunk["variant"], hunk["decided"]) == ("mixed", None, True)


def test_a_document_without_a_file_has_a_review(client: RawClient, repo: Repo):
    client.open("untitled:Untitled-1", ORIGIN)
    client.add("untitled:Untitled-1", {"gpt": MINUS})
    answer = client.call("excise/review", {"uri": "untitled:Untitled-1"})
    assert (answer["pinned"], answer["undecided"], answer["hunks"][0]["marks"]) == (True, 1, None)
    (hunk,) = client.call("excise/review", {"uri": "untitled:Untitled-1", "marks": True})["hunks"]
    for variant, marks in zip(hunk["variants"], hunk["marks"], strict=True):
        assert [hunk["text"][lo:hi] for lo, hi in marks["lost"]] == ["+"]
        assert [variant["text"][lo:hi] for lo, hi in marks["own"]] == ["-"]
    assert "gpt" not in ids_of(listed(client, repo, git=[]))
    unknown = client.refused("excise/review", {"uri": "untitled:nothing"})
    assert unknown["code"] == INVALID_PARAMS


# --- taken ---------------------------------------------------------------------------------------


def taken(client: RawClient, repo: Repo, *choices: dict, **more) -> dict:
    return client.call("excise/take", {"uri": repo.path.as_uri(), "choices": choices, **more})


def after(entry: dict, text: str) -> str:
    """Return what the edits make of a text of lines that end with a line feed."""
    lines = text.splitlines(keepends=True)  # test data: no other line ends
    for edit in reversed(entry["edits"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["character"] == end["character"] == 0
        lines[start["line"] : end["line"]] = [edit["newText"]]
    return "".join(lines)


def test_what_is_taken_is_the_command_s_patch_and_edits_of_the_editor_s_text(
    repo: Repo, client: RawClient
):
    """One session: a candidate, two hunks of two, open and edited, created, deleted, refused."""
    repo.git("-C", repo.path.parent / "ada", "rm", "--quiet", "b.py")
    (repo.path.parent / "ada" / "c.py").write_text("C = 1\n")
    answer = taken(client, repo, {"candidate": "worktree:ada"})
    command = excise("take", "worktree:ada", "--repo", str(repo.path), "--format", "json").json
    assert {key: answer[key] for key in command} == command
    by_path = {entry["path"]: entry for entry in answer["contents"]}
    assert [by_path[name]["status"] for name in ("a.py", "b.py", "c.py")] == [
        "modified", "deleted", "created",
    ]  # fmt: skip
    assert after(by_path["a.py"], ORIGIN) == MINUS
    assert (by_path["b.py"]["new"], by_path["c.py"]["old"]) == (None, None)
    assert not any(entry["problem"] for entry in answer["contents"])

    uri = (repo.path / "a.py").as_uri()
    own = "OWN = 1\n\n\n" + ORIGIN
    client.open(uri, own, version=7)
    hunks = [
        {"candidate": "worktree:ada", "path": "a.py", "hunk": "2"},
        {"candidate": "worktree:cy", "path": "a.py", "hunk": "7"},
    ]
    (entry,) = taken(client, repo, *hunks)["contents"]
    assert entry["version"] == 7
    assert after(entry, own) == "OWN = 1\n\n\n" + MINUS.replace("* 2", "+ a")

    (repo.path / "c.py").write_text("mine\n")
    entries = taken(client, repo, {"candidate": "worktree:ada"})["contents"]
    assert {e["path"]: e["problem"] for e in entries if e["problem"]} == {
        "c.py": "a file of this name already exists"
    }
    (repo.path / "b.py").write_text("B = 2\n")
    entries = taken(client, repo, {"candidate": "worktree:ada"})["contents"]
    assert "other edits" in next(e["problem"] for e in entries if e["path"] == "b.py")

    for choice, why in (
        ({"candidate": "nobody"}, "no candidate is called nobody"),
        ({"candidate": "worktree:ada", "path": "a.py", "hunk": "7"}, "a.py#7"),
    ):
        params = {"uri": repo.path.as_uri(), "choices": [choice]}
        error = client.refused("excise/take", params)
        assert (error["code"], why in error["message"]) == (REQUEST_FAILED, True)
    params = {"uri": repo.path.as_uri(), "choices": [{"candidate": "worktree:ada"}], "digest": "0"}
    assert "the review has changed" in client.refused("excise/take", params)["message"]


def test_a_file_that_three_editors_have_not_saved_is_taken_into_the_text_of_each(
    repo: Repo, client: RawClient
):
    uri = (repo.path / "a.py").as_uri()
    with client_of(repo) as second, client_of(repo) as third:
        for number, editor in enumerate((client, second, third)):
            own = f"{ORIGIN}\n\nOWN = {number}\n"
            editor.open(uri, ORIGIN, version=number)
            editor.change(uri, 10 + number, {"text": own})
            (entry,) = taken(editor, repo, {"candidate": "worktree:ada"})["contents"]
            assert entry["version"] == 10 + number
            assert after(entry, own) == own.replace(ORIGIN, MINUS)
    assert (repo.path / "a.py").read_text() == ORIGIN
