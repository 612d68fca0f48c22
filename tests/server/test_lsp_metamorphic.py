"""What happens in a review, in any order, changes no candidate: real worktrees, the real server.

A walk is drawn from a seed: keys, saves, commits to the target, hunks accepted and taken back,
documents closed, servers killed. After every step each score, group and order is what it was.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.server.git_repository import make, needs_git
from tests.server.raw_client import RawClient
from tests.server.test_lsp_review import EDITS, ORIGIN, Review, repo

pytestmark = [pytest.mark.slow, needs_git]

__all__ = ["repo"]  # the five worktrees

STEPS = 14


class Walk:
    """A user at work in a document, in an editor whose server may go at any time."""

    def __init__(self, repo, seed: int) -> None:
        self.repo, self.random = repo, random.Random(seed)
        self.path = repo.path / "a.py"
        self.text = self.path.read_text()
        self.steps: list[str] = []
        self.start()

    def start(self) -> None:
        self.client = RawClient().__enter__()
        self.review = Review(self.client, self.repo.path)
        self.open()

    def open(self) -> None:
        self.review.version, self.review.path = 1, self.path
        self.review.uri = self.review.open(self.path, self.text)
        self.review.shown = self.text

    def state(self) -> dict:
        state = self.review.state()
        answer = self.client.call("excise/review", {"uri": self.review.uri})
        self.hunks = answer["hunks"]
        assert answer["decided"] + answer["undecided"] == len(self.hunks)
        return {**state, "origin": answer["origin"], "candidates": answer["candidates"]}

    def show(self, text: str) -> None:
        self.text = self.review.shown = text
        self.review.version += 1
        self.client.change(self.review.uri, self.review.version, {"text": text})

    # --- what may happen ---

    def type(self) -> None:
        lines = self.text.split("\n")
        at = self.random.randrange(len(lines))
        lines.insert(at, f"# typed {self.random.random()}")
        self.show("\n".join(lines))

    def save(self) -> None:
        self.path.write_text(self.text)
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.review.uri}})
        self.review.touched(self.path)

    def commit(self) -> None:
        self.repo.commit("the user's", **{f"other{len(self.steps)}__py": "X = 1\n"})
        self.review.touched(self.repo.path / ".git" / "HEAD")

    def accept(self) -> None:
        number = self.random.random()
        self.put(lambda h: h["variants"][int(number * len(h["variants"]))]["text"])

    def take_back(self) -> None:
        self.put(lambda hunk: hunk["text"])

    def put(self, text_of) -> None:
        """Have one of the texts of a hunk, where the server says that it is."""
        hunk = self.random.choice(self.hunks)
        start, end = hunk["range"]["start"], hunk["range"]["end"]
        self.review.version += 1
        edit = {"range": {"start": start, "end": end}, "text": text_of(hunk)}
        self.client.change(self.review.uri, self.review.version, edit)
        lines = self.text.splitlines(keepends=True)  # these texts have no other line ends
        before, after = lines[: start["line"]], lines[end["line"] :]
        self.text = self.review.shown = "".join([*before, text_of(hunk), *after])

    def hide_and_show(self) -> None:
        name = f"worktree:{self.random.choice(sorted(EDITS))}"
        self.client.call("excise/hide", {"ids": [name]})
        self.client.call("excise/hide", {"ids": [name], "hidden": False})

    def decide(self) -> None:
        params = {"uri": self.review.uri, "version": self.review.version}
        self.client.call(
            "excise/decide", {**params, "hunk": self.random.randrange(len(self.hunks))}
        )

    def close(self) -> None:
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.review.uri}})
        self.text = self.path.read_text()
        self.open()

    def kill(self) -> None:
        self.end()
        self.start()  # the editor has kept the unsaved text, as editors do

    def end(self) -> None:
        self.client.process.kill()
        self.client.__exit__()


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_events_changes_a_candidate(repo, seed):
    walk = Walk(repo, seed)
    try:
        before = walk.state()
        events = [
            *(walk.type, walk.save, walk.commit, walk.accept, walk.accept, walk.take_back),
            *(walk.hide_and_show, walk.decide, walk.close, walk.kill),
        ]
        for _ in range(STEPS):
            event = walk.random.choice(events)
            walk.steps.append(event.__name__)
            event()
            assert walk.state() == before, walk.steps
    finally:
        walk.end()


@pytest.fixture
def client():
    with RawClient() as client:
        yield client
        assert client.exit() == 0


def agents(tmp_path, monkeypatch, count: int, edit: tuple[str, str]):
    """Worktrees with one edit, each from another commit of the target."""
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=ORIGIN)
    for number in range(count):
        tree = tmp_path / f"agent-{number}"
        made.git("worktree", "add", "--quiet", "-b", f"try-{number}", tree)
        (tree / "a.py").write_text((tree / "a.py").read_text().replace(*edit))
        os.utime(tree / "a.py", (1_600_000_000, 1_600_000_000))
        now = (made.path / "a.py").read_text()
        made.commit(a__py=now.replace(f"x + {number + 3}\n", f"x + {number + 3} + 0\n"))
    return made


def test_five_identical_agents_are_five_voices(client, tmp_path, monkeypatch):
    repo = agents(tmp_path, monkeypatch, 5, ("x + 1\n", "1 + x\n"))
    review = Review(client, repo.path)
    state = review.begin(repo.path / "a.py")
    (hunk,) = state["hunks"]
    assert (hunk["agree"], len(hunk["variants"])) == (5, 1)
    assert state["similarity"] == [[1.0] * 5] * 5
    assert [len(cluster["members"]) for cluster in state["clusters"]] == [5]
    answer = client.call("excise/candidates", {"uri": repo.path.as_uri()})
    assert [len(entry["identical"]) for entry in answer["ranking"]] == [4] * 5
    assert len(answer["batches"][0]["members"]) == 5


def test_a_commit_of_the_target_is_nobody_s_edit(client, tmp_path, monkeypatch):
    repo = agents(tmp_path, monkeypatch, 5, ("x + 1\n", "1 + x\n"))
    text = (repo.path / "a.py").read_text()
    repo.commit(a__py="import os\n\n\n" + text)
    review = Review(client, repo.path)
    review.shown = (repo.path / "a.py").read_text()
    state = review.begin(repo.path / "a.py")
    assert [hunk["variants"][0]["text"] for hunk in state["hunks"]] == ["    return 1 + x\n"]
    repo.commit(a__py="import sys\nimport os\n\n\n" + text)
    review.touched(repo.path / "a.py", repo.path / ".git" / "HEAD")
    assert review.state() == state
    messages = [mark["message"] for mark in review.published()]
    assert not any("import" in message for message in messages)


def test_a_key_parses_no_text_and_scores_no_pair(client, repo):
    review = Review(client, repo.path)
    review.shown = (repo.path / "a.py").read_text()
    before = review.begin(repo.path / "a.py")
    done = client.call("excise/counters", {})
    assert done["parses"] >= len(EDITS)
    assert done["pairs"] >= len(EDITS) * (len(EDITS) - 1) // 2
    for number in range(20):
        review.type("def f0", f"# {number}\ndef f0")
        assert review.state() == before
    review.save()
    review.type("x + 2", "x - 2")
    assert review.state() == before
    assert client.call("excise/counters", {}) == done
    client.call("excise/hide", {"ids": ["worktree:erin"]})
    assert review.state() != before
    assert client.call("excise/counters", {})["pairs"] > done["pairs"]


def test_the_file_s_scores_stay_when_every_hunk_is_decided(client, repo):
    review = Review(client, repo.path)
    review.shown = (repo.path / "a.py").read_text()
    review.begin(repo.path / "a.py")
    review.type("x + 2", "x - 2")
    review.type("x + 6", "6 * x")
    review.state()
    (file,) = review.published()
    assert file["code"] == "ranking"
    assert "2 of 2 hunks decided" in file["message"]
    assert len(file["data"]["similarity"]) == len(EDITS)
    assert file["message"].count("ES ") >= len(EDITS) * (len(EDITS) - 1) // 2
