"""A review stays what it was: over real worktrees, through the real server.

Typing, saving, committing to the target, and accepting hunks change no candidate's score, group or
order; only the user starts again.
"""

from __future__ import annotations

import pytest
from tests.server.git_repository import make, needs_git
from tests.server.raw_client import RawClient
from tests.server.test_lsp_sources import Session

pytestmark = [pytest.mark.slow, needs_git]

ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDITS = {
    "ada": {"x + 2": "x - 2"},
    "bo": {"x + 2": "x - 2"},
    "chen": {"x + 2": "x - 2", "x + 6": "6 * x"},
    "dana": {"x + 6": "x * 6"},
    "erin": {"x + 2": "2 * x", "x + 6": "6 * x"},
}


@pytest.fixture
def client():
    with RawClient() as client:
        yield client
        assert client.exit() == 0


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=ORIGIN)
    for number, (name, edits) in enumerate(EDITS.items()):
        tree = tmp_path / name
        made.git("worktree", "add", "--quiet", "-b", name, tree)
        text = (tree / "a.py").read_text()
        for old, new in edits.items():
            assert old in text
            text = text.replace(old, new)
        (tree / "a.py").write_text(text)
        if number < 3:  # each started from another commit
            now = (made.path / "a.py").read_text()
            made.commit(a__py=now.replace(f"x + {number + 3}\n", f"x + {number + 3} + 0\n"))
    return made


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
            and message["params"]["version"] == self.version
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
    found = Review(client, repo.path)
    found.shown = (repo.path / "a.py").read_text()
    return found


def test_five_worktrees_are_compared_by_their_own_edits(review, repo):
    state = review.begin(repo.path / "a.py")
    names = [revision["id"].partition(":")[2] for revision in state["revisions"]]
    assert sorted(names) == sorted(EDITS)
    assert len(state["hunks"]) == 2  # nothing of what the target did since
    row = {name: state["similarity"][names.index(name)] for name in names}
    assert row["ada"][names.index("bo")] == 1.0


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
    assert labels["remote:container-use/pushed"] == "container pushed"


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


def test_a_file_that_only_candidates_have(review, odd):
    (odd.path.parent / "gone" / "new.py").write_text("created = 1\n")
    uri = review.open(odd.path / "new.py", "")
    assert review.ids(uri) == ["worktree:gone", "worktree:moved"]
    revisions = review.report(uri)["revisions"]
    assert [r["notes"] for r in revisions] == [["it creates the file"], ["renamed from a.py"]]


def test_a_document_without_a_file_has_no_sources_and_one_outside_says_so(review, odd, tmp_path):
    review.client.open("untitled:Untitled-1", "x = 1\n")
    assert review.ids("untitled:Untitled-1") == []
    (tmp_path / "outside.py").write_text("x = 1\n")
    uri = review.open(tmp_path / "outside.py")
    assert review.ids(uri) == []
    reason = review.sources(uri)["document"]["refused"][0]["reason"]
    assert reason.startswith("outside the workspace folders")


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


def test_without_a_review_there_is_nothing_to_start_again(client, tmp_path):
    (tmp_path / "a.py").write_text(ORIGIN)
    session = Session(client, tmp_path)
    uri = session.open(tmp_path / "a.py")
    assert client.call("excise/startAgain", {"uri": uri}) == {"started": False}
    assert client.call("excise/startAgain", {"uri": "file:///nowhere.py"}) == {"started": False}


def test_the_last_revision_takes_the_pin_with_it(client, tmp_path):
    (tmp_path / "a.py").write_text(ORIGIN)
    session = Session(client, tmp_path)
    uri = session.open(tmp_path / "a.py")
    client.add(uri, {"x": ORIGIN.replace("x + 2", "x - 2")})
    client.change(uri, 2, {"text": "# mine\n" + ORIGIN})
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    client.call("excise/removeRevisions", {"uri": uri, "ids": ["x"]})
    client.add(uri, {"x": ORIGIN.replace("x + 2", "x - 2")})
    hunks = session.report(uri)["hunks"]
    assert hunks[0]["variants"][0]["text"] == ""  # the saved line is one that x lacks
