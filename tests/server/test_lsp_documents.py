"""Documents and revisions, open and not open, in all encodings: what each message changes."""

import hashlib
import os
import re
from pathlib import Path

import pytest
from tests.server.raw_client import RawClient, serving

pytestmark = pytest.mark.slow

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
B = ORIGIN.replace("a * 2", "a * 3")
REQUEST_FAILED, CANCELLED, INVALID_PARAMS = -32803, -32800, -32602


@pytest.fixture(scope="module")
def client():
    """One session for all tests that need no other: documents do not mix."""
    with RawClient() as client:
        client.initialize()
        yield client
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)


@pytest.fixture
def uri(request: pytest.FixtureRequest):
    """A document of the test's own."""
    return f"untitled:{request.node.name}"


def report(client: RawClient, uri: str):
    return client.call("excise/report", {"uri": uri})


def span(start: tuple[int, int], end: tuple[int, int]):
    return {
        "start": {"line": start[0], "character": start[1]},
        "end": {"line": end[0], "character": end[1]},
    }


def insert(line: int, character: int, text: str):
    return {"range": span((line, character), (line, character)), "text": text}


# --- revisions ---


def test_a_reused_id_replaces(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, {"a": A, "b": B})
    assert client.add(uri, {"a": B}) == {"accepted": ["a"], "rejected": []}
    found = report(client, uri)
    assert [r["id"] for r in found["revisions"]] == ["a", "b"]
    assert found["similarity"] == [[1.0, 1.0], [1.0, 1.0]]
    assert [r["range"]["start"]["line"] for r in found["hunks"]] == [6]


def test_an_id_twice_in_one_request_counts_once(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    records = [{"id": "a", "text": A}, {"id": "a", "text": B}]
    params = {"uri": uri, "revisions": records}
    assert client.call("excise/addRevisions", params)["accepted"] == ["a"]
    assert report(client, uri)["hunks"][0]["variants"][0]["text"] == "    return a * 3\n"


def test_what_cannot_be_scored_is_rejected_with_the_reason(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    answer = client.add(
        uri, {"big": "x" * 10_000_001, "nul": "a\0b", "half": "\ud800", "": A, "ok": A}
    )
    assert answer["accepted"] == ["ok"]
    reasons = {r["id"]: r["reason"] for r in answer["rejected"]}
    assert list(reasons) == ["big", "nul", "half", ""]
    assert "10.000001" in reasons["big"]
    assert "1000" in reasons[""]


def test_the_limit_of_revisions_is_stated(client: RawClient, uri: str):
    client.open(uri, "x = 0\n")
    answer = client.add(uri, {f"r{n}": f"x = {n % 7}\n" for n in range(302)})
    assert len(answer["accepted"]) == 300
    assert [r["id"] for r in answer["rejected"]] == ["r300", "r301"]
    assert all("300" in r["reason"] for r in answer["rejected"])
    assert client.add(uri, {"r0": "x = 9\n"})["accepted"] == ["r0"]


def test_a_hundred_revisions(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    texts = {f"r{n}": ORIGIN.replace("a + b", f"a + {n % 9}") for n in range(100)}
    client.add(uri, texts | {"r7": "\x1b[31m`x`\n" * 3})
    file, place = client.diagnostics(uri)
    assert len(file["data"]["similarity"]) == 100
    assert (place["data"]["compared"], len(place["data"]["pairs"])) == (50, 45)
    found = report(client, uri)
    assert len(found["similarity"]) == 100
    assert sorted(r["rank"] for r in found["revisions"])[0] == 1
    hover = client.call(
        "textDocument/hover",
        {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}},
    )
    assert len(hover["contents"]["value"]) < 100_000


def test_the_base_of_revisions_is_checked(client: RawClient, uri: str):
    client.open(uri, "\ufeffx = 0\r\n", version=4)
    digest = hashlib.sha256(b"x = 0\n").hexdigest()
    for base in ({"version": 4}, {"hash": digest.upper()}, {"version": 4, "hash": digest}, {}):
        assert client.add(uri, {"a": "x = 1\n"}, base=base)["accepted"] == ["a"]
    stale = client.add(uri, {"b": "x = 2\n", "c": "x = 3\n"}, base={"version": 3})
    assert stale["accepted"] == []
    assert [r["id"] for r in stale["rejected"]] == ["b", "c"]
    assert {"3", "4"} <= set(re.findall(r"\d+", stale["rejected"][0]["reason"]))
    other = client.add(uri, {"b": "x = 2\n"}, base={"hash": "0" * 64})
    assert "hash" in other["rejected"][0]["reason"]
    closed = client.add("untitled:other", {"b": "x"}, base={"version": 1})
    assert "not open" in closed["rejected"][0]["reason"]


def test_removing_and_listing(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.call(
        "excise/addRevisions",
        {"uri": uri, "revisions": [{"id": "a", "text": A, "label": "Ann"}, {"id": "b", "text": B}]},
    )
    assert client.listed(uri) == [{"id": "a", "label": "Ann"}, {"id": "b", "label": ""}]
    removed = client.call("excise/removeCandidates", {"uri": uri, "ids": ["a", "x", "a"]})
    assert removed == {"removed": ["a"], "unknown": ["x"]}
    assert [r["id"] for r in report(client, uri)["revisions"]] == ["b"]


def test_a_single_revision_and_none(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    empty = report(client, uri)
    assert (empty["revisions"], empty["similarity"], empty["clusters"]) == ([], [], [])
    assert "tok:python@" in empty["signature"]
    client.add(uri, {"a": A})
    found = report(client, uri)
    assert found["similarity"] == [[1.0]]
    assert found["revisions"][0]["meanSimilarity"] is None
    assert found["hunks"][0]["es"] is None
    assert found["hunks"][0]["pairs"] == []


@pytest.mark.parametrize(
    ("origin", "revisions"),
    [
        ("", {"a": "x\n", "b": ""}),
        ("x", {"a": "x\n", "b": "x\r\n", "c": "\ufeffx"}),
        ("x = (\n", {"a": "x = )\n", "b": "def\n"}),
        ("\n\n\n", {"a": "\n", "b": "\n \n\n"}),
        ("x" * 300_000, {"a": "x" * 300_001}),
    ],
)
def test_odd_texts(client: RawClient, uri: str, origin: str, revisions: dict[str, str]):
    client.open(uri, origin)
    client.add(uri, revisions)
    found = report(client, uri)
    assert [r["id"] for r in found["revisions"]] == list(revisions)
    for hunk in found["hunks"]:
        assert sorted(i for v in hunk["variants"] for i in v["ids"]) == sorted(revisions)


# --- documents that are not open ---


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    """A session in a workspace folder with everything in it that must not be read."""
    folder = tmp_path_factory.mktemp("around")
    inside = folder / "w s %41"
    (inside / "folder").mkdir(parents=True)
    (inside / "app.py").write_bytes(b"\xef\xbb\xbfx = 0\r\ny = 1\r\n")
    (folder / "secret.py").write_text("x = 0\n")
    (inside / "leaves.py").symlink_to(folder / "secret.py")
    os.mkfifo(inside / "pipe")
    (inside / "latin.py").write_bytes(b"caf\xe9")
    (inside / "binary.py").write_bytes(b"a\0b")
    with serving(workspaceFolders=[{"uri": inside.as_uri(), "name": "ws"}]) as client:
        yield client, folder


def test_a_file_of_the_workspace_need_not_be_open(workspace: tuple[RawClient, Path]):
    client, folder = workspace
    uri = (folder / "w s %41" / "app.py").as_uri()
    assert client.refused("excise/report", {"uri": uri})["code"] == INVALID_PARAMS
    client.add(uri, {"a": "x = 0\ny = 2\n", "same": "x = 0\ny = 1\n"})
    _, place = client.diagnostics(uri)
    assert place["range"] == span((1, 0), (1, 5))
    published = next(m for m in client.received if "diagnostics" in m.get("params", {}))
    assert "version" not in published["params"]
    found = report(client, uri)
    assert found["version"] is None
    assert [r["noOp"] for r in found["revisions"]] == [False, True]


def test_the_text_of_the_editor_wins_over_the_disk(workspace: tuple[RawClient, Path]):
    client, folder = workspace
    uri = (folder / "w s %41" / "app.py").as_uri()
    client.add(uri, {"a": "x = 5\n"})
    client.open(uri, "x = 5\n")
    assert report(client, uri)["revisions"][0]["noOp"] is True
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert report(client, uri)["revisions"][0]["noOp"] is True  # the review stays what it was
    client.call("excise/removeCandidates", {"uri": uri, "ids": ["a", "same"]})
    client.add(uri, {"a": "x = 5\n"})
    assert report(client, uri)["revisions"][0]["noOp"] is False


@pytest.mark.parametrize("spelling", ["%61pp.py", "./app.py", "folder/../app.py"])
def test_other_spellings_of_a_path(workspace: tuple[RawClient, Path], spelling: str):
    client, folder = workspace
    uri = f"{(folder / 'w s %41').as_uri()}/{spelling}"
    client.add(uri, {"a": "x = 0\ny = 2\n"})
    assert report(client, uri)["hunks"][0]["range"] == span((1, 0), (2, 0))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../secret.py", "outside the workspace folders"),
        ("leaves.py", "outside the workspace folders"),
        ("pipe", "named pipe"),
        ("folder", "directory"),
        ("latin.py", "not utf-8"),
        ("binary.py", "NUL"),
        ("missing.py", "no such file"),
        ("%00", "not a file on this machine"),
    ],
)
def test_what_is_not_read_says_why_and_waits(
    workspace: tuple[RawClient, Path], name: str, reason: str
):
    client, folder = workspace
    uri = f"{(folder / 'w s %41').as_uri()}/{name}"
    assert client.add(uri, {"a": "x = 1\n"})["accepted"] == ["a"]
    error = client.refused("excise/report", {"uri": uri})
    assert error["code"] == REQUEST_FAILED
    assert reason in error["message"]
    assert str(folder) not in error["message"]
    client.open(uri, "x = 0\n")
    assert report(client, uri)["hunks"][0]["variants"][0]["text"] == "x = 1\n"


@pytest.mark.parametrize(
    "uri", ["untitled:x", "git:/etc/passwd", "http://h/x", "file://host/x", "x", "file://["]
)
def test_no_scheme_but_file_is_read(workspace: tuple[RawClient, Path], uri: str):
    client, _ = workspace
    client.add(uri, {"a": "x = 1\n"})
    assert "not a file on this machine" in client.refused("excise/report", {"uri": uri})["message"]


def test_a_root_without_folders_is_the_workspace(tmp_path: Path):
    (tmp_path / "app.py").write_text("x = 0\n")
    with serving(rootUri=tmp_path.as_uri()) as client:
        uri = (tmp_path / "app.py").as_uri()
        client.add(uri, {"a": "x = 1\n"})
        assert report(client, uri)["version"] is None


def test_opening_by_another_spelling_takes_the_old_diagnostics_away(
    workspace: tuple[RawClient, Path],
):
    client, folder = workspace
    (folder / "w s %41" / "two.py").write_text("x = 0\n")
    uri = (folder / "w s %41" / "two.py").as_uri()
    other = uri.replace("two.py", "%74wo.py")
    client.add(uri, {"a": "x = 1\n"})
    assert len(client.diagnostics(uri)) == 2
    client.open(other, "x = 0\n")
    assert client.diagnostics(uri) == []
    assert len(client.diagnostics(other, 1)) == 2


def test_a_folder_added_later_counts(workspace: tuple[RawClient, Path]):
    client, folder = workspace
    (folder / "later").mkdir()
    (folder / "later" / "x.py").write_text("x = 0\n")
    uri = (folder / "later" / "x.py").as_uri()
    event = {"added": [{"uri": (folder / "later").as_uri(), "name": "later"}], "removed": []}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    client.add(uri, {"a": "x = 1\n"})
    assert report(client, uri)["version"] is None


# --- the buffer ---


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 7), ("utf-16", 5), ("utf-32", 4)])
def test_positions_in_every_encoding(uri: str, encoding: str, column: int):
    with serving({"general": {"positionEncodings": [encoding]}}) as client:
        client.open(uri, 'x="😋"\nk\ny="😋"')
        client.add(uri, {"a": 'x="😋"\nk\ny="😋!"', "b": 'x="😋?"\nk\ny="😋"'})
        ranges = [d["range"] for d in client.diagnostics(uri, 1)]
        assert ranges == [span((0, 0), (0, column + 1)), span((0, 0), (0, column + 1)), ranges[2]]
        assert ranges[2] == span((2, 0), (2, column + 1))
        found = report(client, uri)
        assert found["hunks"][1]["range"] == span((2, 0), (2, column + 1))
        client.change(uri, 2, insert(2, column, "!"))
        found = report(client, uri)
        assert found["hunks"][1]["range"] == span((2, 0), (2, column + 2))
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        client.call("excise/startAgain", {"uri": uri})
        assert [r["noOp"] for r in report(client, uri)["revisions"]] == [True, False]


def test_a_save_with_text_makes_that_text_the_origin(client: RawClient, uri: str):
    client.open(uri, "x = 0\n")
    client.add(uri, {"a": "x = 1\n"})
    saved = {"textDocument": {"uri": uri}, "text": "x = 1\n"}
    client.notify("textDocument/didSave", saved)
    assert report(client, uri)["revisions"][0]["noOp"] is False  # until the review starts again
    client.call("excise/startAgain", {"uri": uri})
    assert report(client, uri)["revisions"][0]["noOp"] is True


def test_a_document_over_the_limit_says_so(client: RawClient, uri: str):
    client.open(uri, "x" * 10_000_001)
    client.add(uri, {"a": "x\n"})
    error = client.refused("excise/report", {"uri": uri})
    assert error["code"] == REQUEST_FAILED
    assert "10.000001" in error["message"]


def test_after_a_storm_of_edits_come_the_last_versions_diagnostics_and_no_older(
    client: RawClient, uri: str
):
    client.open(uri, ORIGIN)
    client.add(uri, {"a": A, "b": B})
    client.diagnostics(uri, 1)
    last = 1_001
    for version in range(2, last + 1):
        client.change(uri, version, insert(0, 0, "#\n"))
    found = client.diagnostics(uri, last)
    assert len(found) == 3  # the ranking, and both hunks below what was typed
    assert found[1]["range"]["start"]["line"] == last
    assert report(client, uri)["version"] == last
    versions = [
        m["params"]["version"]
        for m in client.received
        if m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
    ]
    assert versions == sorted(versions)
    assert versions.count(last) == 1


def test_cancelled_requests_are_answered_and_the_others_too(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, {f"r{n}": ORIGIN.replace("a + b", f"a + {n}") for n in range(40)})
    ids = [client.request("excise/report", {"uri": uri}) for _ in range(10)]
    for msg_id in ids[:9]:
        client.notify("$/cancelRequest", {"id": msg_id})
    answers = {}
    while len(answers) < 10:
        message = client.wait(lambda m: m.get("id") in ids)
        answers[message["id"]] = message
    assert {answers[i].get("error", {}).get("code") for i in ids[:9]} == {CANCELLED}
    assert answers[ids[9]]["result"]["version"] == 1


def test_shutdown_answers_those_who_still_wait(uri: str):
    with RawClient() as client:
        client.initialize()
        client.open(uri, ORIGIN)
        client.add(uri, {f"r{n}": ORIGIN.replace("a + b", f"a + {n}") for n in range(40)})
        waiting = client.request("excise/report", {"uri": uri})
        done = client.request("shutdown")
        answers = [client.wait(lambda m: m.get("id") in (waiting, done)) for _ in range(2)]
        answers.sort(key=lambda m: m["id"])
        assert answers[0]["error"]["code"] == CANCELLED
        assert answers[1]["result"] is None
        assert client.exit(shutdown=False) == 0


def test_closing_a_document_without_a_file_clears_its_diagnostics(client: RawClient, uri: str):
    client.open(uri, ORIGIN)
    client.add(uri, {"a": A})
    assert client.diagnostics(uri)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.diagnostics(uri) == []
    assert client.refused("excise/report", {"uri": uri})["code"] == REQUEST_FAILED
    client.open(uri, ORIGIN)
    assert len(client.diagnostics(uri)) == 2
