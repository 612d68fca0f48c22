"""What is decided outlives the server: over real worktrees, with servers that are killed."""

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import surveyed
from tests.server.git_repository import needs_git
from tests.server.process_tree import wait_until
from tests.server.raw_client import RawClient
from tests.server.test_lsp_review import ORIGIN, Review, repo

from excise_server.editor.document import CandidateDecision, Remembered
from excise_server.lsp.remembering import NOT_KEPT
from excise_server.memory.reviews import DAYS, Reviews, Store
from excise_server.sources.finding import Context

pytestmark = [pytest.mark.slow, needs_git]

__all__ = ["repo"]  # the five worktrees


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """A cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "excise"


@contextmanager
def served(folder: Path, path: Path | None = None, *, text: str | None = None, **options):
    """A session in a folder with a document open; the server is killed at the end."""
    with RawClient() as client:
        review = Review(client, folder, **options)
        path = path or folder / "a.py"
        review.version, review.path = 1, path
        review.shown = path.read_text() if text is None else text
        review.uri = review.open(path, review.shown)
        yield review
        client.process.kill()
        client.process.wait()
        review.log = list(client.log)


def decided(review: Review) -> dict:
    return review.client.call("excise/review", {"uri": review.uri})


def files(cache: Path) -> list[Path]:
    # SQLite's journal stands beside a file whose server was killed in the middle of a write.
    return sorted(p for p in (cache / "reviews").iterdir() if not p.name.endswith("-journal"))


def test_a_review_goes_on_after_the_server_was_killed(repo):
    with served(repo.path) as review:
        before = review.state()
        review.type("x + 2", "x - 2")
        review.save()
        assert review.state() == before
        first = decided(review)
        assert (first["decided"], first["undecided"]) == (1, 1)
    repo.commit("what was accepted")
    with served(repo.path) as review:
        assert review.state() == before
        again = decided(review)
        assert (again["origin"], again["decided"]) == (first["origin"], 1)


def test_what_was_decided_without_an_edit_is_remembered(repo):
    with served(repo.path) as review:
        review.state()
        uri = review.uri
        params = {"uri": uri, "hunk": 1, "version": 1}
        assert review.client.call("excise/decide", params)["decided"] == 1
        review.client.call("excise/setCandidates", {"ids": ["worktree:erin"], "state": "hidden"})
        review.client.call("excise/setCandidates", {"ids": ["worktree:gone"], "state": "rejected"})
        base = repo.head("HEAD~1")
        params = {"uri": repo.path.as_uri(), "ids": ["worktree:chen"], "base": "HEAD~1"}
        assert review.client.call("excise/setCandidates", params)["commit"] == base
        first = decided(review)
    with served(repo.path) as review:
        again = decided(review)
        assert again["hunks"] == first["hunks"]
        assert again["candidates"] == first["candidates"]
        answer = review.client.call("excise/candidates", {"uri": repo.path.as_uri()})
        assert answer["bases"] == {"worktree:chen": base}
        assert [entry["id"] for entry in answer["set_aside"]] == ["worktree:erin"]
        shown = review.client.call(
            "excise/setCandidates", {"ids": ["worktree:erin"], "state": "shown"}
        )
        assert shown == {"hidden": [], "rejected": ["worktree:gone"], "commit": None}
    with served(repo.path) as review:
        assert {row["state"] for row in decided(review)["candidates"]} == {"shown"}


def test_a_review_that_starts_again_is_another(repo):
    with served(repo.path) as review:
        review.state()
        review.type("x + 2", "x - 2")
        review.save()
        review.client.call("excise/startAgain", {"uri": review.uri})
        after = review.state()
        decided(review)
    with served(repo.path) as review:
        assert review.state() == after


def test_what_a_client_puts_back_goes_on_and_what_it_makes_anew_begins(tmp_path):
    path = tmp_path / "ws" / "a.py"
    path.parent.mkdir()
    path.write_text(ORIGIN)
    proposal = ORIGIN.replace("x + 2", "x - 2")
    with served(path.parent, path) as review:
        review.client.add(review.uri, {"gpt": proposal})
        first = decided(review)
        review.type("def f0", "# mine\ndef f0")
        review.save()
        assert decided(review)["hunks"][0]["variants"] == first["hunks"][0]["variants"]
    with served(path.parent, path) as review:
        review.ids(review.uri)  # the sources have answered: nothing is found
        review.client.add(review.uri, {"gpt": proposal})
        assert decided(review)["origin"] == first["origin"]
    with served(path.parent, path) as review:
        anew = path.read_text().replace("x + 6", "x - 6")
        review.client.add(review.uri, {"gpt": anew})
        again = decided(review)
        assert again["origin"] != first["origin"]
        assert [hunk["text"] for hunk in again["hunks"]] == ["    return x + 6\n"]


def test_the_last_revision_takes_what_is_remembered_with_it(tmp_path):
    path = tmp_path / "ws" / "a.py"
    path.parent.mkdir()
    path.write_text(ORIGIN)
    with served(path.parent, path) as review:
        for _ in range(2):
            review.client.add(review.uri, {"gpt": ORIGIN.replace("x + 2", "x - 2")})
            first = decided(review)
            review.client.call("excise/removeCandidates", {"uri": review.uri, "ids": ["gpt"]})
            assert decided(review)["pinned"] is False
            review.type("def f0", "# mine\ndef f0")
            review.save()
    with served(path.parent, path) as review:
        review.client.add(review.uri, {"gpt": ORIGIN.replace("x + 2", "x - 2")})
        assert decided(review)["origin"] != first["origin"]


def test_two_servers_on_one_workspace_lose_nothing(repo):
    with served(repo.path) as one, served(repo.path) as other:
        for number in range(20):
            for review, name in ((one, "one"), (other, "other")):
                hidden = {"ids": [f"{name} {number}"], "state": "hidden"}
                review.client.request("excise/setCandidates", hidden)
        one.client.call("excise/setCandidates", {"ids": ["one last"], "state": "hidden"})
        other.client.call("excise/setCandidates", {"ids": ["other last"], "state": "rejected"})
        # What had to wait for the other's lock, which the user was told, goes with the next one.
        one.client.call("excise/setCandidates", {"ids": ["one after that"], "state": "hidden"})
        other.client.call("excise/setCandidates", {"ids": ["other after that"], "state": "hidden"})
    with served(repo.path) as review:
        aside = review.client.call("excise/setCandidates", {"ids": [], "state": "hidden"})
        assert len(aside["hidden"]) == 43
        assert aside["rejected"] == ["other last"]
        review.state()


def test_what_is_kept_is_the_users_alone_and_no_text_that_git_has(repo, cache, tmp_path):
    with served(repo.path) as review:
        review.state()
        decided(review)
    (file,) = files(cache)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    with sqlite3.connect(file) as connection:
        (row,) = connection.execute("select path, commit_id, blob_path, text from pins")
    assert row == ("a.py", repo.head(), "a.py", "")
    saved = "# saved\n" + (repo.path / "a.py").read_text()
    (repo.path / "a.py").write_text(saved)
    (repo.path / "a.py").rename(repo.path / "b.py")  # another document
    (repo.path / "b.py").rename(repo.path / "a.py")
    with served(repo.path) as review:
        review.state()
        review.client.call("excise/startAgain", {"uri": review.uri})
        review.state()
        decided(review)
    with sqlite3.connect(file) as connection:
        (row,) = connection.execute("select commit_id, text from pins")
    assert row == ("", saved)


def test_a_commit_that_is_gone_is_said_once(repo):
    repo.commit(a__py=(repo.path / "a.py").read_text() + "# of no worktree\n")
    with served(repo.path) as review:
        review.state()
        first = decided(review)
    head = repo.head()
    text = (repo.path / "a.py").read_text()
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("update-ref", "-d", "ORIG_HEAD", check=False)
    repo.git("gc", "--quiet", "--prune=now")
    assert b"missing" in repo.git("cat-file", "--batch-check", stdin=f"{head}\n".encode())
    (repo.path / "a.py").write_text("# other\n" + text)
    with served(repo.path) as review:
        assert len(review.state()["revisions"]) == 5
        assert decided(review)["origin"] != first["origin"]
    assert sum("origin is gone" in line for line in review.log) == 1


def spoiled(file: Path, damage: str, elsewhere: Path) -> None:
    """Put something in place of the file of a review."""
    data = file.read_bytes()
    if damage == "text":
        file.write_bytes(b"no database\n" * 1000)
    elif damage == "middle":
        file.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    elif damage == "newer":
        with sqlite3.connect(file) as connection:
            connection.execute("pragma user_version = 99")
    else:
        file.unlink()
        if damage == "pipe":
            os.mkfifo(file)
        elif damage == "link":
            elsewhere.write_bytes(data)
            file.symlink_to(elsewhere)
        else:
            file.mkdir()


@pytest.mark.parametrize("damage", ["text", "middle", "empty folder", "link", "pipe", "newer"])
def test_a_file_that_cannot_be_used_is_said_once(tmp_path, cache, caplog, damage):
    """What is in the way stays, and the review goes on."""
    (tmp_path / "a.py").write_text("a = 1\n")
    elsewhere, folders = tmp_path / "elsewhere", (str(tmp_path),)
    document, review = Context(str(tmp_path / "a.py"), folders), Remembered("a = 1\n")
    Reviews(cache).keep(document, review)
    (file,) = files(cache)
    data = file.read_bytes()
    spoiled(file, damage, elsewhere)
    reviews = Reviews(cache)
    for _ in range(2):
        # Only what can be put aside is made anew, and what damage left alone may still be read.
        assert reviews.recall(document) in (None, review)
        assert reviews.choices(folders).keys() <= {"worktree:ada"}
        reviews.choose(folders, {"worktree:ada": CandidateDecision("hidden", None)})
        reviews.keep(document, review)
    said = [r for r in caplog.records if "the saved decisions of reviews" in r.getMessage()]
    assert len(said) == len({r.getMessage() for r in said}) <= 2  # reading, and writing
    assert said
    if damage == "newer":
        with sqlite3.connect(file) as connection:
            assert connection.execute("pragma user_version").fetchone() == (99,)
    if damage == "link":
        assert elsewhere.read_bytes() == data
    if damage in ("text", "middle"):
        again = Reviews(cache)
        assert again.choices(folders).keys() == {"worktree:ada"}
        assert again.recall(document) == review


@pytest.mark.parametrize("kind", ["file", "no home"])
def test_a_cache_that_cannot_be_written_is_said_once(repo, tmp_path, monkeypatch, kind):
    (tmp_path / "cache").write_text("no folder")
    if kind == "no home":
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setenv("HOME", str(tmp_path / "cache"))
    with served(repo.path) as review:
        before = review.state()
        review.client.call("excise/setCandidates", {"ids": ["worktree:ada"], "state": "hidden"})
        review.client.call("excise/setCandidates", {"ids": ["worktree:bo"], "state": "hidden"})
        decided(review)
        review.client.call(
            "excise/setCandidates", {"ids": ["worktree:ada", "worktree:bo"], "state": "shown"}
        )
        assert review.state() == before
    said = [line for line in review.log if "the saved decisions of reviews" in line]
    assert len(said) == 1
    assert "cannot be written" in said[0]


def test_without_trust_nothing_is_read_by_git(repo):
    with served(repo.path) as review:
        review.state()
        first = decided(review)
    with served(repo.path, trusted=False) as review:
        review.client.add(review.uri, {"gpt": ORIGIN})
        decided(review)
    with served(repo.path) as review:
        assert decided(review)["origin"] == first["origin"]


# --- the files themselves ------------------------------------------------------------------------


def test_after_thirty_days_it_is_forgotten(tmp_path, cache):
    clock = [1_700_000_000.0]
    store = Store(cache, str(tmp_path), clock=lambda: clock[0])
    insert = "insert or replace into choices values (?, 'hidden', '', ?)"
    for day, name in ((0, "first"), (DAYS, "second"), (DAYS + 1, "third")):
        clock[0] = 1_700_000_000 + day * 86_400
        store.write([(insert, [(name, store.now)])])
    assert store.read("select id from choices order by id") == [("second",), ("third",)]
    old = store.path.with_name(f"{'0' * 32}.sqlite3")
    old.write_bytes(b"")
    os.utime(old, (clock[0] - (DAYS + 1) * 86_400,) * 2)
    store.write([])
    assert not old.exists()
    assert store.path.exists()


@contextmanager
def locked(file: Path):
    """Another process' lock: it neither reads nor lets read."""
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("begin exclusive")
    try:
        yield
    finally:
        other.close()


def test_a_foreign_lock_is_said_and_what_was_decided_meanwhile_is_written_later(repo, cache):
    with served(repo.path) as review:
        before = decided(review)
        review.client.call("excise/setCandidates", {"ids": ["worktree:ada"], "state": "hidden"})
    (file,) = files(cache)
    with served(repo.path) as review:
        with locked(file):
            answer = review.client.call(
                "excise/setCandidates", {"ids": ["worktree:bo"], "state": "hidden"}
            )
            assert "worktree:bo" in answer["hidden"]
            (told,) = [
                message["params"]["message"]
                for message in review.client.received
                if message.get("method") == "window/showMessage"
            ]
            assert told == NOT_KEPT
        answer = review.client.call(
            "excise/setCandidates", {"ids": ["worktree:chen"], "state": "rejected"}
        )
        assert set(answer["hidden"]) == {"worktree:ada", "worktree:bo"}
        said = [line for line in review.client.log if "the saved decisions of reviews" in line]
    assert len(said) <= 2
    with served(repo.path) as review:
        states = {c["id"]: c["state"] for c in decided(review)["candidates"]}
        assert states["worktree:ada"] == states["worktree:bo"] == "hidden"
        assert states["worktree:chen"] == "rejected"
        assert decided(review)["origin"] == before["origin"]


def test_a_lock_that_stays_is_waited_for_once(tmp_path, cache, monkeypatch):
    reviews, folders = Reviews(cache), (str(tmp_path),)
    document = Context(str(tmp_path / "a.py"), folders)
    first = Remembered("x = 1\n", {}, {"ada": "voice"})
    reviews.keep(document, first)
    (file,) = files(cache)
    waits = []
    connect = sqlite3.connect

    def counted(path, *, timeout, **options):
        waits.append(timeout)
        return connect(path, timeout=timeout, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    with connect(file, isolation_level=None) as other:
        other.execute("begin exclusive")
        for number in range(20):
            assert reviews.recall(document) is None
            reviews.choose(folders, {f"worktree:{number}": CandidateDecision("hidden", None)})
            assert not reviews.catch_up()
        reviews.keep(document, Remembered("y = 1\n", {}, {}))
        other.execute("rollback")
    assert sum(waits) <= 1
    assert len(waits) > 20
    assert reviews.catch_up()
    assert len(Reviews(cache).choices(folders)) == 20
    # A review that could not be read is not replaced by the one that began without it.
    assert Reviews(cache).recall(document) == first


def test_what_is_half_written_is_not_there(tmp_path, cache):
    store = Store(cache, str(tmp_path))

    def interrupted() -> Iterator[tuple[int]]:
        yield (store.now,)
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        store.write([("insert into choices values ('a', 'hidden', '', ?)", interrupted())])
    assert store.read("select * from choices") == []


def test_rows_of_others_are_not_believed(tmp_path, cache, caplog):
    (tmp_path / "a.py").write_text("a = 1\n")
    folders = (str(tmp_path),)
    document = Context(str(tmp_path / "a.py"), folders, trusted=True)
    reviews = Reviews(cache)
    review = Remembered("a = 1\n", {(0, 1): frozenset({"ab"})}, {"x": ""})
    reviews.keep(document, review)
    assert reviews.recall(document) == review
    (file,) = files(cache)
    for column, value in (("kept", "[7]"), ("kept", "{"), ("voices", "[]"), ("commit_id", "--x")):
        reviews.keep(document, review)
        with sqlite3.connect(file) as connection:
            connection.execute(f"update pins set {column} = ?", (value,))
        connection.close()
        assert reviews.recall(document) is None
    for path in ("/etc/passwd", str(tmp_path / "a\udcff.py")):
        assert reviews.recall(Context(path, folders, trusted=True)) is None


def test_the_innermost_folder_remembers(tmp_path, cache):
    inner = tmp_path / "inner"
    inner.mkdir()
    reviews, document = Reviews(cache), str(inner / "a.py")
    review = Remembered("a = 1\n")
    reviews.keep(Context(document, (str(tmp_path), str(inner))), review)
    assert reviews.recall(Context(document, (str(inner),))) == review
    assert reviews.recall(Context(document, (str(tmp_path),))) is None


def test_a_decision_counts_as_looked_at_and_carries_over_what_did_not_change(repo):
    dana = next(repo.path.parent.rglob("dana/a.py"))
    asked = {"uri": repo.path.as_uri(), "new": "dana"}
    with served(repo.path) as review:
        review.state()
        assert "nothing is known" in review.client.refused("excise/since", asked)["message"]
        params = {"uri": review.uri, "hunk": 1, "version": 1}
        assert review.client.call("excise/decide", params)["decided"] == 1
        ask = review.client.request
        wait_until(lambda: "result" in review.client.answer(ask("excise/since", asked)))
        document = review.client.call("excise/since", asked)
        assert document["old"]["door"] == "the editor"
        assert {word: n for word, n in document["hunks"].items() if n} == {"same": 1}

    def changed() -> list[str]:
        return json.loads(surveyed(repo))["changed"]

    def change(old: str, new: str) -> None:
        dana.write_text(dana.read_text().replace(old, new))
        os.utime(dana, (1_600_000_000 + len(new), 1_600_000_000 + len(new)))

    assert changed() == []
    repo.commit("what conflicts with that", a__py=ORIGIN.replace("x + 6", "x + 66"))
    assert changed() == []
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    change("x + 1\n", "1 + x\n")  # another hunk
    assert ["dana" in name for name in changed()] == [True]
    with served(repo.path) as review:
        review.state()
        hunks = decided(review)["hunks"]
        assert [hunk["outcome"] for hunk in hunks] == ["", "", "kept"]
    change("x * 6", "x ** 6")
    with served(repo.path) as review:
        review.state()
        hunk = decided(review)["hunks"][2]
        assert (hunk["decided"], hunk["outcome"][:13]) == (False, "changed since")
        (file,) = review.client.call("excise/since", asked)["files"]
        assert sorted(hunk["status"] for hunk in file["hunks"]) == ["changed", "new"]
        review.client.call("excise/decide", {"uri": review.uri, "hunk": 2, "version": 1})
        assert decided(review)["hunks"][2]["outcome"] == "kept"
        undo = {"uri": review.uri, "hunk": 2, "version": 1, "decided": False}
        review.client.call("excise/decide", undo)
        assert decided(review)["hunks"][2]["outcome"] == ""


@pytest.mark.parametrize("onto", [None, "saved"])
def test_what_has_landed_of_a_candidate_meanwhile_is_no_change_of_it(repo, onto):
    chen = next(repo.path.parent.rglob("chen/a.py"))
    assert excise("since", "--repo", str(repo.path), "chen", "--mark").code == 0

    def changed(text: str, own: str) -> list[str]:
        """Return who has changed, with a text of the target and one of the candidate."""
        if onto:
            (repo.path / "a.py").write_text(text)
        else:
            repo.commit(a__py=text)
        chen.write_text(own)
        answer = json.loads(surveyed(repo, onto=onto))
        assert "chen" in [entry["label"] for entry in answer["candidates"]]
        return [name.partition(":")[2] for name in answer["changed"]]

    both = ORIGIN.replace("x + 2", "x - 2").replace("x + 6", "6 * x")
    half = ORIGIN.replace("x + 2", "x - 2")
    assert changed("import os\n" + half, both) == []
    assert changed(half.replace("x + 6", "x - 6"), both) == []  # and the rest is in conflict
    assert changed(half, both.replace("x + 1\n", "1 + x\n")) == ["chen"]
    assert changed(half, both.replace("6 * x", "x * 6")) == ["chen"]
    assert changed(ORIGIN, half) == ["chen"]  # it dropped what has not landed
