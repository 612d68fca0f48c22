"""A review stays what it was: over real worktrees, through the real server.

Typing, saving, committing to the target, and accepting hunks change no candidate's score, group or
order, in any order of events; only the user starts again.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
from queue import SimpleQueue

import pytest
from lsprotocol import types as t
from tests.server.git_repository import make, needs_git
from tests.server.process_tree import DEADLINE
from tests.server.raw_client import PING, RawClient, serving
from tests.server.test_lsp_sources import Session

from excise.text import Revision
from excise_server.lsp.app import create_server
from excise_server.lsp.candidates import start_again
from excise_server.lsp.to_proto import TextBuffer
from excise_server.processes.parsers import Quarantine
from excise_server.wire.lsp import StartAgainParams
from excise_server.workers.worker import Worker

pytestmark = [pytest.mark.slow, needs_git]

ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDITS = {
    "ada": {"x + 2": "x - 2"},
    "bo": {"x + 2": "x - 2"},
    "chen": {"x + 2": "x - 2", "x + 6": "6 * x"},
    "dana": {"x + 6": "x * 6"},
    "erin": {"x + 2": "2 * x", "x + 6": "6 * x"},
}
AGENTS = {f"agent-{number}": {"x + 1\n": "1 + x\n"} for number in range(5)}


@pytest.fixture(scope="module")
def server():
    with serving(workspaceFolders=[]) as client:
        yield client


@pytest.fixture
def client(server, tmp_path):
    (tmp_path / "work").mkdir()
    with server.in_folder(tmp_path / "work") as client:
        yield client


def worktrees(tmp_path, monkeypatch, edits):
    """Worktrees with some edits, the first of which started from other commits of the target."""
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=ORIGIN)
    for number, (name, own) in enumerate(edits.items()):
        tree = worktree(made, name)
        for old, new in own.items():
            change(tree / "a.py", old, new)
        os.utime(tree / "a.py", (1_600_000_000, 1_600_000_000))
        if number < 3:
            change(made.path / "a.py", f"x + {number + 3}\n", f"x + {number + 3} + 0\n")
            made.commit()
    return made


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return worktrees(tmp_path, monkeypatch, EDITS)


class Review(Session):
    def begin(self, path):
        self.version = 1
        self.path = path
        self.uri = self.open(path)
        self.ids(self.uri)
        return self.state()

    def state(self):
        """Everything about the candidates, and nothing about where they are in the buffer."""
        self.sources(self.uri)
        report = self.report(self.uri)
        hunks = [{key: hunk[key] for key in hunk if key != "range"} for hunk in report["hunks"]]
        whole = ("signature", "revisions", "similarity", "clusters", "words")
        return {key: report[key] for key in whole} | {"hunks": hunks}

    def published(self):
        """The diagnostics that came last: always before the report of the same version."""
        return [
            message["params"]["diagnostics"]
            for message in self.client.received
            if message.get("method") == "textDocument/publishDiagnostics"
            and (message["params"]["uri"], message["params"].get("version"))
            == (self.uri, self.version)
        ][-1]

    def marks(self):
        return [d["message"] for d in self.published() if d["code"] == "hunk"]

    def type(self, old, new):
        self.version += 1
        text = self.shown.replace(old, new, 1)
        assert text != self.shown
        self.shown = text
        self.client.change(self.uri, self.version, {"text": text})

    def save(self):
        self.path.write_text(self.shown)
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.uri}})
        self.touched(self.path)


@pytest.fixture
def review(client, repo):
    found = Review(client)
    found.shown = (repo.path / "a.py").read_text()
    return found


def test_hunks_are_said_in_words(review, repo, client):
    review.begin(repo.path / "a.py")

    def first_hunk():
        answer = client.call("excise/review", {"uri": review.uri})
        assert sorted(each["name"] for each in answer["candidates"]) == sorted(EDITS)
        return answer["hunks"][0]

    hunk = first_hunk()
    assert hunk["where"] == f"line {hunk['hi']}"
    change = "3 of 5 make one change, another makes another, 1 leaves it as it is"
    assert (hunk["words"], hunk["outcome"]) == (change, "")
    review.type("x + 2", "x - 2")
    review.state()
    hunk = first_hunk()
    assert (hunk["words"], hunk["outcome"]) == (change, "as ada and 2 more")


def test_nothing_that_happens_in_a_review_changes_it(review, repo):
    before = review.begin(repo.path / "a.py")
    review.type("def f0", "# mine\ndef f0")
    assert review.state() == before
    review.save()
    assert review.state() == before
    review.type("x + 2", "x - 2")  # a part is accepted
    assert review.state() == before
    review.save()
    assert review.state() == before
    repo.commit("what was accepted")
    review.touched(repo.path / ".git" / "HEAD")
    assert review.state() == before
    text = review.shown.replace("def f7", "import os\n\n\ndef f7")
    repo.commit(a__py=text)
    review.touched(repo.path / "a.py", repo.path / ".git" / "HEAD")
    assert review.state() == before


@pytest.fixture
def odd(repo):
    """The same, and who deletes the file, moves it with an edit, pushed it, and is stacked."""
    (worktree(repo, "gone") / "a.py").unlink()
    moved = worktree(repo, "moved")
    repo.git("mv", "a.py", "new.py", cwd=moved)
    change(moved / "new.py", "x + 2", "x - 2")
    pushed = worktree(repo, "pushed", "--detach")
    change(pushed / "a.py", "x + 6", "6 * x")
    repo.git("commit", "--quiet", "-am", "pushed", cwd=pushed)
    commit = repo.git("rev-parse", "HEAD", cwd=pushed).decode().strip()
    repo.git("update-ref", "refs/remotes/container-use/pushed", commit)
    repo.git("worktree", "remove", pushed)
    change(worktree(repo, "stacked", "ada") / "a.py", "x + 6", "6 * x")
    return repo


def worktree(repo, name, *start):
    path = repo.path.parent / name
    branch = [] if "--detach" in start else ["-b", name]
    repo.git("worktree", "add", "--quiet", *branch, path, *start)
    return path


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_who_deletes_or_moves_the_file_is_in_the_review_of_its_document(review, odd):
    state = review.begin(odd.path / "a.py")
    notes = {r["id"]: r["notes"] for r in state["revisions"] if r["notes"]}
    assert notes == {
        "worktree:gone": ["it deletes the file"],
        "worktree:moved": ["renamed to new.py"],
    }
    assert len(state["hunks"]) == 2  # who deletes the file does not make one hunk of them all
    having = {name for h in state["hunks"] for v in h["variants"] for name in v["ids"]}
    assert having == {r["id"] for r in state["revisions"]} - {"worktree:gone"}
    (file,) = [d for d in review.published() if d["code"] != "hunk"]
    assert "1 deletes the file" in file["message"]
    labels = {r["id"]: r["label"] for r in state["revisions"]}
    assert labels["remote:container-use/pushed"] == "container-pushed"


def test_nothing_that_happens_changes_who_deletes_moves_or_is_merged(review, odd):
    ada = odd.path.parent / "ada"
    odd.git("commit", "--quiet", "-am", "ada", cwd=ada)
    before = review.begin(odd.path / "a.py")
    review.type("x + 2", "x - 2")
    review.save()
    assert review.state() == before
    odd.commit("what was accepted")
    review.touched(odd.path / ".git" / "HEAD")
    assert review.state() == before
    odd.git("merge", "--quiet", "-X", "ours", "--no-edit", "ada")
    review.touched(odd.path / ".git" / "refs" / "heads" / "main", odd.path / "a.py")
    assert review.state() == before


def test_a_decided_hunk_carries_no_mark(review, repo):
    review.begin(repo.path / "a.py")
    assert len(review.marks()) == 2
    review.type("x + 6", "6 * x")
    review.state()
    assert len(review.marks()) == 1
    (file,) = [d for d in review.published() if d["code"] != "hunk"]
    assert "1 of 2 hunks decided" in file["message"]
    review.type("6 * x", "x + 6")
    review.state()
    assert len(review.marks()) == 2


def test_a_review_starts_again_when_the_user_says_so(review, repo):
    before = review.begin(repo.path / "a.py")
    review.type("x + 2", "x - 2")
    review.save()
    assert review.state() == before
    assert review.client.call("excise/startAgain", {"uri": review.uri}) == {"started": True}
    after = review.state()
    names = [revision["id"].partition(":")[2] for revision in after["revisions"]]
    assert sorted(names) == ["chen", "dana", "erin"]  # ada's and bo's edits have landed
    refused = {
        refusal["id"]: refusal["reason"]
        for report in review.sources(review.uri).values()
        for refusal in report["refused"]
    }
    assert refused["worktree:ada"] == "the origin has its edits already"


def test_who_types_does_not_wait_for_a_review_that_starts_again(client, tmp_path):
    """The texts of the client are replayed in a worker, and so is what arrives meanwhile."""
    path = tmp_path / "work" / "a.py"
    path.write_text(ORIGIN)
    session = Session(client)
    uri = session.open(path)
    client.add(uri, {"x": ORIGIN.replace("x + 2", "x - 2")})
    client.change(uri, 2, {"text": "# mine\n" + ORIGIN})
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    starting = client.request("excise/startAgain", {"uri": uri})
    late = {"id": "late", "text": ORIGIN.replace("x + 3", "x - 3")}
    adding = client.request("excise/addRevisions", {"uri": uri, "revisions": [late]})
    trivial = client.request(*PING)
    answers = [client.wait(lambda message: "method" not in message) for _ in range(3)]
    assert [answer["id"] for answer in answers] == [adding, trivial, starting]
    assert answers[-1]["result"] == {"started": True}
    texts = {name: client.text_of(uri, name) for name in ("x", "late")}
    assert texts == {
        "x": "# mine\n" + ORIGIN.replace("x + 2", "x - 2"),
        "late": "# mine\n" + ORIGIN.replace("x + 3", "x - 3"),
    }


class OneOriginNeverDone(Worker):
    """A worker that replays on one origin for ever, until it is stopped."""

    def __init__(self, endless: str) -> None:
        super().__init__(Quarantine(None))
        self._endless = endless
        self.asked: SimpleQueue[str] = SimpleQueue()

    def replay(self, before, current, texts, cancel):
        self.asked.put(current)
        if current == self._endless:
            stopped = threading.Event()
            cancel.listen(stopped.set)
            stopped.wait(DEADLINE)
            cancel.check()
        return super().replay(before, current, texts, cancel)


def test_a_newer_origin_ends_what_is_replayed_on_the_one_before(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    uri, origins = "untitled:a.py", ["# one\n" + ORIGIN, "# two\n" + ORIGIN]

    async def session():
        server = create_server()
        next(server.protocol.lsp_initialize(t.InitializeParams(t.ClientCapabilities())))
        worker = server.pool.first = OneOriginNeverDone(origins[0])
        try:
            server.session.open(uri, TextBuffer(ORIGIN, server.encoding), 1, "python")
            server.session.add(uri, [Revision("x", ORIGIN.replace("x + 2", "x - 2"))])
            params, starting = StartAgainParams(uri), []
            for origin in origins:
                server.session.find(uri).buffer.replace(origin)
                server.session.save(uri)
                starting.append(asyncio.create_task(start_again(server, params)))
                assert await asyncio.to_thread(worker.asked.get, timeout=DEADLINE) == origin
            results = await asyncio.wait_for(asyncio.gather(*starting), DEADLINE)
            assert [result.started for result in results] == [True, True]
            document = server.session.find(uri)
            text = document.revisions["x"].revision.text
            assert (document.pinned, text) == (origins[1], origins[1].replace("x + 2", "x - 2"))
        finally:
            server.close(DEADLINE)

    asyncio.run(session())


def test_without_a_review_there_is_nothing_to_start_again(client, tmp_path):
    path = tmp_path / "work" / "a.py"
    path.write_text(ORIGIN)
    session = Session(client)
    uri = session.open(path)
    assert client.call("excise/startAgain", {"uri": uri}) == {"started": False}
    assert client.call("excise/startAgain", {"uri": "file:///nowhere.py"}) == {"started": False}


def test_a_commit_of_the_target_is_nobody_s_edit(client, tmp_path, monkeypatch):
    repo = worktrees(tmp_path, monkeypatch, AGENTS)
    text = (repo.path / "a.py").read_text()
    repo.commit(a__py="import os\n\n\n" + text)
    review = Review(client)
    review.shown = (repo.path / "a.py").read_text()
    state = review.begin(repo.path / "a.py")
    assert [hunk["variants"][0]["text"] for hunk in state["hunks"]] == ["    return 1 + x\n"]
    repo.commit(a__py="import sys\nimport os\n\n\n" + text)
    review.touched(repo.path / "a.py", repo.path / ".git" / "HEAD")
    assert review.state() == state
    messages = [mark["message"] for mark in review.published()]
    assert not any("import" in message for message in messages)


# --- any order of events ---

STEPS = 14


class Walk:
    """A user at work in a document, in an editor whose server may go at any time.

    Keys, saves, commits to the target, hunks accepted and taken back, documents closed, servers
    killed are drawn from a seed.
    """

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
        self.client.call("excise/setCandidates", {"ids": [name], "state": "hidden"})
        self.client.call("excise/setCandidates", {"ids": [name], "state": "shown"})

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
