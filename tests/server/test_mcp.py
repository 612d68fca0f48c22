"""`excise mcp` serves a real client: four tools, read only, inside of what it was started for."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ListRootsResult, Root
from tests.server.command import excise
from tests.server.edited_worktrees import edited_worktrees
from tests.server.git_repository import needs_git
from tests.server.raw_client import serving
from tests.server.test_lsp_actions import FULL, actions

from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.mcp.app import mcp_server
from excise_server.mcp.folders import allowed_folder, root_folder
from excise_server.mcp.pages import (
    PAGE_CHARACTERS,
    candidates_page,
    cut,
    overview_text,
    review_page,
    sent,
    whole_names,
    with_hidden,
)
from excise_server.review.hunks import hunk_name

pytestmark = needs_git

EXECUTABLE = str(Path(sys.executable).with_name("excise"))
ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDITS = {"ada": ("x + 2", "x - 2"), "bo": ("x + 2", "x - 2"), "chen": ("x + 2", "2 * x")}


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return edited_worktrees(tmp_path, monkeypatch, EDITS, a__py=ORIGIN)


def asked(server, *calls, **options):
    """What a client gets for some calls, one after the other; what is callable happens between."""

    async def ask():
        answers = []
        async with Client(server, **options) as client:
            for call in calls:
                if callable(call):
                    call()
                else:
                    answers.append(await client.call_tool(*call))
        return answers

    return asyncio.run(ask())


def content(answer):
    """The value of an answer: structured, or its one text, however that is escaped."""
    (block,) = answer.content
    return answer.structured_content or json.loads(block.text)


def served(folder, *calls, **options):
    """The same from a server in this process."""
    server, tools = mcp_server([str(folder)])
    try:
        return asked(server, *calls, **options)
    finally:
        tools.worker.close()


@pytest.mark.slow
def test_a_real_client_over_the_pipe_of_the_command(repo, monkeypatch):
    monkeypatch.chdir(repo.path)
    command = StdioServerParameters(command=EXECUTABLE, args=["mcp", str(repo.path)])

    async def ask():
        async with Client(command) as client:
            tools = (await client.list_tools()).tools
            return tools, await client.call_tool("list_candidates", {})

    tools, answer = asyncio.run(ask())
    assert [tool.name for tool in tools] == [
        *("list_candidates", "review", "take", "since", "land", "cluster"),
    ]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.output_schema is None  # else each answer would be sent twice
    (task,) = content(answer)["tasks"]
    groups = {c["id"]: c["group"] for c in task["candidates"]}
    assert groups["worktree:ada"] == groups["worktree:bo"]
    assert [group["says"] for group in task["groups"]] == ["2 candidates", "1 candidate"]
    (page,) = answer.content
    assert page.text == excise().out.rstrip("\n")


@pytest.mark.slow
def test_a_review_shows_each_text_once_and_who_has_it(repo):
    whole, other, none, elsewhere = served(
        repo.path,
        ("review", {}),
        ("review", {"path": ["b.py"]}),
        ("review", {"task": 7}),
        ("review", {"folder": str(repo.path.parent)}),
    )
    (file,) = content(whole)["files"]
    (hunk,) = file["hunks"]
    assert (file["path"], hunk["lines"], hunk["origin"]) == ("a.py", "10", "    return x + 2\n")
    assert [(v["candidates"], v["text"]) for v in hunk["variants"]] == [
        (["worktree:ada", "worktree:bo"], "    return x - 2\n"),
        (["worktree:chen"], "    return 2 * x\n"),
    ]
    assert other.is_error
    assert "no changed file is called b.py; there are a.py" in other.content[0].text
    assert none.is_error
    assert "list_candidates names 1" in none.content[0].text
    assert elsewhere.is_error
    assert "outside the folders" in elsewhere.content[0].text


@pytest.mark.slow
def test_issue_verdicts_and_path_are_those_of_the_command(repo):
    (repo.path / "runs").mkdir()
    (repo.path.parent / "chen/a.py").write_text(ORIGIN.replace("x + 5", "x - 5"))
    lines = [{"candidate": name, "check": "pytest", "passed": name == "chen"} for name in EDITS]
    (repo.path / "runs/v.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\nno JSON\n")
    (repo.path / "out").symlink_to(repo.path.parent)
    (repo.path.parent / "secret.jsonl").write_text("{}")
    judged = {"verdicts": ["runs/v.jsonl"], "issue": "f2 adds too much\n\nIt does."}
    listed, shown, landed, *refused = served(
        repo.path,
        ("list_candidates", judged),
        ("review", {"path": ["*.py#10"]}),
        ("land", judged),
        ("review", {"path": ["a.py#11"]}),
        *(("land", {"verdicts": [name]}) for name in ("-", "../secret.jsonl", "out/secret.jsonl",
                                                      "/etc/passwd", "runs", "nowhere", "a\0b")),
        ("list_candidates", {"issue": " \n"}),
    )  # fmt: skip
    assert "1 task (issue f2 adds too much)" in content(listed)["says"]
    assert content(listed)["tasks"][0]["candidates"][0]["id"] == "worktree:chen"
    assert content(landed)["landed"] == ["worktree:chen"]
    assert any("line 4: not JSON" in note for note in content(landed)["notes"])
    assert shown.is_error  # a glob names files, and a hunk is of one file
    assert all(answer.is_error for answer in refused)
    reasons = ("a.py has no hunk 11; there are #10", "no such file", "outside", "outside",
               "outside", "it is a directory", "no such file", "NUL", "it is empty")  # fmt: skip
    for answer, reason in zip(refused, reasons, strict=True):
        assert reason in answer.content[0].text


@pytest.mark.slow
def test_pages_are_of_the_state_that_the_first_one_showed(repo):
    tree = repo.path.parent / "chen"
    first, turned, anew, elsewhere = served(
        repo.path,
        ("review", {}),
        lambda: (tree / "a.py").write_text(ORIGIN.replace("x + 3", "3")),
        ("review", {"page": 2}),
        ("review", {}),
        ("review", {"page": 2, "git": ["chen"]}),
    )
    digests = [content(a)["digest"] for a in (first, turned, anew, elsewhere)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[3] not in digests[:2]


@pytest.mark.slow
def test_what_is_taken_is_a_patch_for_git_and_nothing_is_written(repo):
    (review,) = served(repo.path, ("review", {}))
    digest = content(review)["digest"]
    taken, both, stale, nobody = served(
        repo.path,
        ("take", {"choices": ["worktree:ada", "a.py#10"], "digest": digest}),
        ("take", {"choices": ["worktree:ada", "worktree:chen"], "digest": digest}),
        ("take", {"choices": ["worktree:ada"], "digest": "0" * 64}),
        ("take", {"choices": ["worktree:zoe"], "digest": digest}),
    )
    assert repo.git("status", "--porcelain") == b""
    repo.git("apply", "-", stdin=content(taken)["patch"].encode())
    assert (repo.path / "a.py").read_text() == ORIGIN.replace("x + 2", "x - 2")
    assert all(answer.is_error for answer in (both, stale, nobody))
    assert "two choices conflict" in both.content[0].text
    assert "the review has changed" in stale.content[0].text
    assert "zoe" in nobody.content[0].text


@pytest.mark.slow
def test_an_agent_asks_who_is_fixing_this_already(repo):
    for name in ("ada", "chen"):
        repo.git("commit", "-qam", "f2 adds too much", cwd=repo.path.parent / name)
    patch = repo.git("diff", "main", "ada").decode().replace("x - 2", "x - 2.0")
    mine = {"git": ["ada", "chen"], "patch": patch, "title": "f2 adds two too much"}
    asked, each, bad, none, large = served(
        repo.path,
        ("cluster", mine),
        ("cluster", {"git": ["ada", "chen"]}),
        ("cluster", mine | {"patch": "no diff"}),
        ("cluster", {"git": ["nobody/*"], "patch": patch}),
        ("cluster", mine | {"patch": "x" * 2_000_001}),
    )
    found = content(asked)
    assert (found["asked"], found["among"], found["left_out"]) == (1, 2, 0)
    assert {pair["other"] for pair in found["pairs"]} == {"ada", "chen"}
    (pair, *_) = found["pairs"]
    assert pair["word"] == "likely the same issue"
    assert any("a.py:10 return x + 2" in reason for reason in pair["reasons"])
    (pair,) = content(each)["pairs"]
    assert pair["otherwise"] == "by the same author"
    assert content(none)["pairs"] == []
    assert bad.is_error
    assert large.is_error


@pytest.mark.slow
def test_roots_of_a_client_bound_what_it_may_ask(repo, tmp_path):
    async def roots(_context):
        return ListRootsResult(roots=[Root(uri=(tmp_path / "ada").as_uri())])

    (refused,) = served(
        repo.path, ("list_candidates", {}), list_roots_callback=roots, mode="legacy"
    )
    assert refused.is_error
    assert "roots that your client announced" in refused.content[0].text


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["list_candidates", "review", "take"])
def test_patches_are_in_folders_below_the_folder(repo, tool):
    (repo.path / "p").mkdir()
    (repo.path / "p" / "one.diff").write_text("no diff")
    (repo.path / "link").symlink_to(repo.path.parent)
    required = {"choices": ["worktree:ada"], "digest": "0" * 64} if tool == "take" else {}
    outside, missing = "it leads out of the workspace", "no such folder in the workspace"
    reasons = {
        outside: ("..", "p/../..", "p\\..", str(repo.path / "p"), "/"),
        missing: ("link", "nowhere", "p/one.diff", "a\0b", "~"),
    }
    calls = [
        ({"patches": [folder]}, "patches:", reason)
        for reason, folders in reasons.items()
        for folder in folders
    ]
    calls += [({"patches": wrong}, "patches", "") for wrong in ("p", [1], {})]
    answers = served(repo.path, *((tool, required | arguments) for arguments, _, _ in calls))
    for answer, (_, subject, reason) in zip(answers, calls, strict=True):
        assert answer.is_error
        assert subject in answer.content[0].text
        assert reason in answer.content[0].text
        assert "Traceback" not in answer.content[0].text
    assert repo.git("status", "--porcelain", "--", "a.py") == b""


@pytest.mark.slow
def test_a_folder_without_a_repository_is_an_answer_not_a_crash(tmp_path):
    (answer,) = served(tmp_path, ("list_candidates", {}))
    assert answer.is_error
    assert "not in a git repository" in answer.content[0].text


def test_folders_stay_inside(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "file").write_text("")
    allowed = [str(inside)]
    assert allowed_folder("", allowed, None) == str(inside)
    for asked_for in ("link", "..", "/", "file", "nowhere", "a\0b", "~", "../out"):
        with pytest.raises(SourceError):
            allowed_folder(asked_for, allowed, None)
    with pytest.raises(SourceError, match="roots"):
        allowed_folder("", allowed, [])
    assert root_folder("file:///a%20b") == "/a b"
    assert [root_folder(uri) for uri in ("https://a/b", "file://host/a", "file:///a%00", "x")] == (
        [None] * 4
    )


def entry(number):
    return {
        "id": f"worktree:candidate-{number}", "label": f"claude candidate-{number}",
        "task": 1, "group": (number - 1) % 3 + 1, "rank": number, "word": "overlaps",
        "representative": number <= 3, "conflicts": [], "beyond_git": [],
        "notes": ["binary: a.png"],
        "why": ["fewest tokens"], "tool": None, "makers": 1, "mean_similarity": 0.5,
        "edit_size": 9, "verdict": None, "checks": [], "no_op": False,
        "stub": False, "broken": [], "syntax_errors": False, "similarity": 0.5, "renamed": [],
        "other_facets": [], "names": [], "kind": "worktree", "folder": None, "branch": None,
        "commit": None, "base": None, "behind": 0, "made": None, "digest": "d", "identical": [],
        "being_written": False, "uncommitted": 0,
        "lines": {"code": {"files": 9, "added": 108, "deleted": 27}},
        "files": [
            {"kind": "code", "status": "modified", "path": f"src/module_{n}.py", "added": 12,
             "deleted": 3, "facts": []}
            for n in range(9)
        ],
    }  # fmt: skip


def groups(entries, line):
    """Return three groups of these candidates, whose edits have a changed line each."""
    return [
        {
            "members": [e["id"] for e in entries[start::3]],
            "representative": entries[start]["id"],
            "min_similarity": 1.0,
            "words": ["identical"],
            "reasons": [
                {"kind": "alone", "text": f"alone changes src/module_{n}.py", "members": []}
                for n in range(9)
            ],
            "passed": 0,
            "failed": 0,
            "undecided": 1,
            "where": [{"path": line, "function": line}] * 9,
            "names": [line] * 9,
            "places": [f"{line}#1"] * 9,
            "comments": True,
            "facets": ["tests"],
            "lines": [line] * 3,
            "edits": [
                {
                    "members": [e["id"]],
                    "words": ["identical"],
                    "other_facets": [[]],
                    "relation": "same up to names",
                    "renamed": [["s", "square"]],
                    "line": line,
                }
                for e in entries[start::3]
            ],
        }
        for start in range(3)
    ]


def overview(entries, groups, task=None, **more):
    """Return a review's document, without hunks."""
    ids = [entry["id"] for entry in entries]
    number = {
        "number": 1, "name": task, "members": ids, "shared": [], "by_issue": {},
        "disagree": False, "digest": "d", "groups": groups, "files": [],
    }  # fmt: skip
    return {
        "schema": 2, "signature": "s", "basis": "origin", "intent": "change", "threshold": 0.5,
        "linkage": "average", "repository": "/home/ada/shop", "origin": "0" * 40, "digest": "d",
        "tasks": [number], "candidates": entries, "similarity": [], "words": [],
        "relations": [], "other_tasks": [], "unchanged": [],
        "landed": [], "unknown_verdicts": [], "notes": [], "rejected": [], **more,
    }  # fmt: skip


@pytest.mark.slow
def test_eight_candidates_fit_into_two_thousand_tokens():
    entries = [entry(number) for number in range(1, 65)]
    document = overview(entries, groups(entries, "+ return total(items)"))
    seen = []
    for page in range(1, 9):
        answer = candidates_page(document, page)
        assert answer["pages"] == 8
        # Four characters a token is what the makers of models reckon with; code takes three.
        assert len(sent(answer)) < 3 * 2000
        seen += [candidate["id"] for candidate in answer["tasks"][0]["candidates"]]
    assert seen == [candidate["id"] for candidate in document["candidates"]]
    assert candidates_page(document, 99)["page"] == 8


def test_a_long_review_is_cut_between_hunks_and_a_long_hunk_says_what_is_missing():
    def hunk(lo, size):
        text = "x" * (size - 1) + "\n"
        return {"name": f"{lo + 1}", "function": "f", "origin": "a\n", "unchanged": [],
                "variants": [{"ids": ["a"], "text": text}]}  # fmt: skip

    hunks = [hunk(n, 900) for n in range(40)] + [hunk(40, 3 * PAGE_CHARACTERS)]
    file = {"path": "a.py", "changes": [], "hunks": hunks, "slots": []}
    document = {"tasks": [{"number": 1, "name": None, "digest": "d", "files": [file]}]}
    first = review_page(document, 1, (), 1)
    pages = [review_page(document, 1, (), page) for page in range(1, first["pages"] + 1)]
    names = [h["lines"] for page in pages for f in page["files"] for h in f["hunks"]]
    assert names == [h["name"] for h in hunks]
    assert max(len(sent(page)) for page in pages) <= PAGE_CHARACTERS
    last = pages[-1]["files"][-1]["hunks"][-1]
    shown = last["variants"][0]["text"].removesuffix("\n[cut]\n")
    assert last["left_out"] == 3 * PAGE_CHARACTERS - len(shown)
    assert len(shown) > PAGE_CHARACTERS // 4
    assert review_page(document, 2, (), 1) is None


def long_review(files):
    task = {"number": 1, "name": "t" * 4000, "digest": "d" * 64, "files": files}
    return {"tasks": [task], "candidates": []}


def renamed(number, ids):
    old = f"src/{number}/" + "a" * 120
    changes = [
        {"id": name, "status": "renamed", "path": f"{old}.{name}", "facts": [], "conflict": None}
        for name in ids
    ]
    return {"path": old, "changes": changes, "hunks": [], "slots": []}


LONG = "\u202e" + "x" * 3998 + "\U000e0041"
HOSTILE = [
    "\U000e0041" * 4096,
    '"' * 4096,
    "\\" * 4096,
    "\x07\n\t" * 1400,
    "\u202e" * 4000,
    LONG,
]


def whole_review(document):
    first = review_page(document, 1, (), 1)
    return [review_page(document, 1, (), page) for page in range(1, first["pages"] + 1)]


@pytest.mark.slow
def test_nine_hundred_renames_are_pages_of_files_each_of_bounded_length():
    ids = [f"worktree:candidate-{n}" for n in range(9)]
    document = long_review([renamed(n, ids) for n in range(900)])
    first = review_page(document, 1, (), 1)
    assert 50 < first["pages"] < 200
    turned = [first, *(review_page(document, 1, (), page) for page in (2, 3, first["pages"]))]
    assert max(len(sent(with_hidden(page))) for page in turned) <= PAGE_CHARACTERS
    paths = [file["path"] for page in turned[:3] for file in page["files"]]
    assert paths == [renamed(n, ids)["path"] for n in range(len(paths))]
    assert turned[3]["files"][-1]["path"] == renamed(899, ids)["path"]
    assert first["files"][0]["facts"][-1].startswith("and 5 more facts")


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_makes_a_page_of_a_review_longer(text):
    ids = [f"{text}{n}" for n in range(60)]
    hunks = [
        {"name": "1", "function": text, "origin": text, "unchanged": ids,
         "variants": [{"ids": ids, "text": f"{text}{n}"} for n in range(60)]}
    ] * 3  # fmt: skip
    variants = [{"ids": ids, "units": [{"hunks": ["1", "2"] * 99, "names": [text] * 9}]}] * 9
    slots = [{"hunks": ["1", "2"], "variants": variants}] * 9
    file = renamed(0, ids) | {"path": text, "hunks": hunks, "slots": slots}
    pages = whole_review(long_review([file, renamed(1, ids)]) | {"rejected": []})
    assert max(len(sent(with_hidden(page))) for page in pages) <= PAGE_CHARACTERS
    shown = [hunk for page in pages for file in page["files"] for hunk in file["hunks"]]
    assert len(shown) == 3
    for hunk in shown:
        assert hunk["more_variants"] == 60 - len(hunk["variants"])
        assert hunk["left_out"] > 0


def survey(count, *, unchanged=(), rejected=(), **more):
    entries = [entry(number) | more for number in range(1, count + 1)]
    return overview(
        entries,
        groups(entries, more.get("id", "x")),
        task="t" * 4000,
        repository="/home" * 1000,
        unchanged=list(unchanged),
        rejected=list(rejected),
    )


def whole_list(document):
    first = candidates_page(document, 1)
    return [candidates_page(document, page) for page in range(1, first["pages"] + 1)]


@pytest.mark.slow
def test_all_unchanged_and_rejected_candidates_are_on_some_page_and_the_first_says_on_which():
    unchanged = [f"worktree:{n}" for n in range(500)]
    rejected = [{"id": f"r{n}", "reason": "why " * 100} for n in range(100)]
    pages = whole_list(survey(20, unchanged=unchanged, rejected=rejected))
    assert max(len(sent(with_hidden(page))) for page in pages) <= PAGE_CHARACTERS
    assert [name for page in pages for name in page["unchanged"]] == unchanged
    assert [r.split(":")[0] for page in pages for r in page["rejected"]] == [
        f"r{n}" for n in range(100)
    ]
    for kind, line in zip(("candidates", "unchanged", "rejected"), pages[0]["more"], strict=True):
        number = int(line.rpartition(" ")[2])
        assert f"more {kind}" in line
        on_page = pages[number - 1]
        assert on_page["tasks" if kind == "candidates" else kind]
    assert pages[-1]["more"] == []


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_label_id_path_or_note_makes_a_page_of_candidates_longer(text):
    files = [
        {"kind": "code", "status": "modified", "path": text, "added": 1, "deleted": 1, "facts": []}
    ] * 900
    conflicts = [{"path": text, "kind": text, "reason": text}] * 90
    more = {"id": text, "label": text, "notes": [text] * 50, "files": files, "conflicts": conflicts}
    rejected = [{"id": text, "reason": text}] * 9
    document = survey(9, unchanged=[text] * 9, rejected=rejected, **more)
    pages = whole_list(document)
    assert max(len(sent(page)) for page in pages) <= PAGE_CHARACTERS
    said = overview_text(document)
    assert 1 < len(said) <= PAGE_CHARACTERS
    assert printable(said.replace("\n", "")) == said.replace("\n", "")
    assert sum(len(task["candidates"]) for page in pages for task in page["tasks"]) == 9
    candidate = pages[0]["tasks"][0]["candidates"][0]
    assert candidate["files"][-1] == "and 894 more files: see review"


def test_invisible_characters_are_escaped_and_counted_and_the_value_stays():
    file = {
        "path": "a\u200b.py",
        "changes": [],
        "slots": [],
        "hunks": [
            {
                "name": "1",
                "function": "",
                "origin": "a\n",
                "unchanged": [],
                "variants": [
                    {"ids": ["worktree:x\u2066"], "text": "\tb = '\u202e\U000e0041\U000e0042'\n"}
                ],
            }
        ],
    }
    (page,) = whole_review(long_review([file]))
    answer = with_hidden(page)
    assert not set(sent(answer)) & set("\u200b\u2066\u202e\U000e0041\U000e0042")
    assert answer["hidden"].startswith("5 invisible characters")
    value = json.loads(sent(answer))["files"][0]
    assert value["path"] == "a\u200b.py"
    assert value["hunks"][0]["variants"][0]["text"] == "\tb = '\u202e\U000e0041\U000e0042'\n"
    assert with_hidden(review_page(long_review([]), 1, (), 1))["hidden"] == ""


def test_long_ids_and_paths_that_are_shown_cut_can_be_chosen():
    name, path = "branch:" + "a" * 500, "src/" + "b" * 4092
    document = long_review([renamed(1, ["x"]) | {"path": path}])
    document["candidates"] = [{"id": name}, {"id": "branch:short"}]
    shown = [cut(name), "branch:short", f"{cut(path)}#1-2", cut(path), "other.py#3"]
    assert shown[0] != name
    assert whole_names(document, shown) == [name, "branch:short", f"{path}#1-2", path, "other.py#3"]


@pytest.mark.slow
def test_pages_that_are_no_pages_are_answers(repo):
    calls = [-1, 0, 10**30, "two", None, [1], 1.5, True, 99]
    answers = served(repo.path, *(("list_candidates", {"page": page}) for page in calls))
    refused = [answer.is_error for answer in answers]
    assert refused == [True, True, False, True, True, True, True, False, False]
    assert content(answers[-1])["page"] == 1
    for answer in answers:
        assert "Traceback" not in answer.content[0].text


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["stdin", "both"])
def test_a_client_that_goes_away_before_its_answer_leaves_no_error(repo, closed):
    def line(**message):
        return json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n"

    server = subprocess.Popen(
        [EXECUTABLE, "mcp", str(repo.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }  # fmt: skip
    server.stdin.write(line(id=1, method="initialize", params=hello))
    server.stdin.flush()
    assert b"result" in server.stdout.readline()
    server.stdin.write(line(method="notifications/initialized"))
    call = {"name": "review", "arguments": {}}
    server.stdin.write(line(id=2, method="tools/call", params=call) * 3)
    server.stdin.flush()
    if closed == "both":
        server.stdout.close()
    server.stdin.close()
    server.stdin = None
    if closed == "both":
        server.stdout = None
    _, errors = server.communicate(timeout=60)
    assert server.returncode in (0, 141), errors
    assert b"Traceback" not in errors
    assert b"internal error" not in errors


def test_without_the_extra_it_says_what_to_install():
    hidden = (
        "import sys; sys.modules['mcp'] = None\n"
        "from excise_server.cli import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "pip install '.[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


# --- one mix, every door --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "path", "origin", "binds", "uses", "hunk", "finding"),
    [
        ("python", "a.py", ORIGIN, ("def f0", "import zlib\n\n\ndef f0"),
         ("x + 2", "zlib.crc32(x)"), "10", (10, "name", "zlib")),
        ("c", "a.c", "int a;\n\nint b;\n\nint c;\n", ("int a;", "int f() {"), ("int c;", "}"),
         "1", (1, "syntax", "")),  # the brace of the edit that nothing closes
    ],
)  # fmt: skip
def test_every_door_says_the_same_of_a_broken_mix(
    repo, language, path, origin, binds, uses, hunk, finding
):
    """The command, a plan, MCP, `excise/take`, the hunk editor's request and the menu's action."""
    repo.commit(**{path.replace(".", "__"): origin})
    whole = origin.replace(*binds).replace(*uses)
    repo.git("worktree", "add", "--quiet", "--detach", repo.path.parent / "zoe")
    (repo.path.parent / "zoe" / path).write_text(whole)
    choices = ["zoe", f"{path}#{hunk}"]
    command = ["take", "--repo", str(repo.path), "--split"]
    ran = excise(*command, *choices)
    (review,) = served(repo.path, ("review", {}))
    digest = content(review)["digest"]
    chosen = {"candidate": "worktree:zoe", "path": path, "hunk": hunk}
    plan = {"digest": digest, "choices": [chosen], "split": True}
    planned = excise("take", "--repo", str(repo.path), "--plan", "-", stdin=plan)
    mix = {"choices": choices, "digest": digest, "split": True}
    refused, taken = served(repo.path, ("take", mix), ("take", mix | {"anyway": True}))
    with serving(FULL, workspaceFolders=[]) as server, server.in_folder(repo.path) as client:
        whole_take = {"uri": repo.path.as_uri(), "choices": [chosen], "split": True}
        errors = [client.refused("excise/take", whole_take)]
        over_lsp = client.call("excise/take", whole_take | {"anyway": True})
    assert {error["data"]["kind"] for error in errors} == {"brokenMix"}
    anyway = excise(*command, *choices, "--anyway").out
    assert anyway == content(taken)["patch"] == over_lsp["patch"] != ""
    with serving(FULL) as client:
        uri = f"untitled:{path}"
        client.open(uri, origin, language=language)
        client.add(uri, {"zoe": whole})
        hunks = client.call("excise/review", {"uri": uri})["hunks"]
        [index] = [n for n, each in enumerate(hunks) if hunk_name(each["lo"], each["hi"]) == hunk]
        variant = {"uri": uri, "hunk": index, "variant": 0, "version": 1, "split": True}
        errors.append(client.refused("excise/apply", variant))
        offered = actions(client, uri, hunks[index]["lo"], ["refactor.rewrite.excise.variant"])
        *_, action = [each for each in offered if "zoe" in each["title"]]  # the hunk alone
        assert "edit" not in action
        asked = client.request("workspace/executeCommand", action["command"] | {"title": None})
        errors.append(client.answer(asked)["error"])
    findings = [error["data"]["findings"] for error in errors]
    assert findings[1:] == findings[:1] * (len(errors) - 1)
    [said] = findings[0]
    line, kind, name = finding
    assert (said["path"], said["line"], said["kind"], said["candidate"]) == (
        path,
        line,
        kind,
        "zoe",
    )
    assert not name or said["name"] == name
    sentence = f"the mix is broken: {path}:{line}: {said['message']} (zoe)"
    assert (ran.code, planned.code, refused.is_error) == (1, 1, True)
    texts = [ran.err, planned.err, refused.content[0].text, *(e["message"] for e in errors)]
    assert all(sentence in text for text in texts)
    assert repo.git("status", "--porcelain") == b""


@pytest.mark.slow
def test_since_has_the_lines_to_review_and_marks_nothing(repo):
    old = repo.head("ada")
    folder = next(
        Path(line.split()[0])
        for line in repo.git("worktree", "list").decode().split("\n")
        if "[ada]" in line
    )
    file = next(path for path in folder.iterdir() if path.suffix == ".py")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines, *(f"added_{n} = '\u202e{'x' * 900}'\n" for n in range(60))]))
    changed, unknown, unread, outside = served(
        repo.path,
        ("since", {"old": old, "new": "ada"}),
        ("since", {"old": "nowhere"}),
        ("since", {"new": "ada"}),
        ("since", {"old": "/etc/passwd", "new": "-"}),
    )
    answer = content(changed)
    document = excise("since", old, "ada", "--repo", str(repo.path), "--format", "json").json
    for key in ("summary", "hunks", "patches", "onto"):
        assert answer[key] == document[key]
    assert answer["pages"] == 1
    assert {change["status"] for change in answer["changes"]} <= {"new", "changed"}
    assert len(changed.content[0].text) <= 12_000
    assert answer["hidden"]
    for refused in (unknown, unread, outside):
        assert refused.is_error
        assert "--reviewed" in refused.content[0].text
