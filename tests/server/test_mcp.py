"""`excise mcp` serves a real client: four tools, read only, inside of what it was started for."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ListRootsResult, Root
from tests.server.git_repository import make, needs_git

from excise_server.mcp.app import mcp_server
from excise_server.mcp.folders import FolderError, allowed_folder, root_folder
from excise_server.mcp.pages import PAGE_CHARACTERS, candidates_page, review_page

EXECUTABLE = str(Path(sys.executable).with_name("excise"))
ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDITS = {"ada": ("x + 2", "x - 2"), "bo": ("x + 2", "x - 2"), "chen": ("x + 2", "2 * x")}


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=ORIGIN)
    for name, (old, new) in EDITS.items():
        tree = tmp_path / name
        made.git("worktree", "add", "--quiet", "-b", name, tree)
        (tree / "a.py").write_text(ORIGIN.replace(old, new))
    return made


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


def served(folder, *calls, **options):
    """The same from a server in this process."""
    server, tools = mcp_server([str(folder)])
    try:
        return asked(server, *calls, **options)
    finally:
        tools.crew.close()


@pytest.mark.slow
@needs_git
def test_a_real_client_over_the_pipe_of_the_command(repo):
    command = StdioServerParameters(command=EXECUTABLE, args=["mcp", str(repo.path)])

    async def ask():
        async with Client(command) as client:
            tools = (await client.list_tools()).tools
            return tools, await client.call_tool("list_candidates", {})

    tools, answer = asyncio.run(ask())
    assert [tool.name for tool in tools] == [
        *("list_candidates", "review", "take", "find_duplicates"),
    ]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.output_schema["properties"]
    (batch,) = answer.structured_content["batches"]
    groups = {c["id"]: c["group"] for c in batch["candidates"]}
    assert groups["worktree:ada"] == groups["worktree:bo"]
    assert [group["size"] for group in batch["groups"]] == [2, 1]
    assert json.loads(answer.content[0].text) == answer.structured_content


@pytest.mark.slow
@needs_git
def test_a_review_shows_each_text_once_and_who_has_it(repo):
    whole, other, none, elsewhere = served(
        repo.path,
        ("review", {}),
        ("review", {"path": "b.py"}),
        ("review", {"batch": 7}),
        ("review", {"folder": str(repo.path.parent)}),
    )
    (file,) = whole.structured_content["files"]
    (hunk,) = file["hunks"]
    assert (file["path"], hunk["lines"], hunk["origin"]) == ("a.py", "10", "    return x + 2\n")
    assert [(v["candidates"], v["text"]) for v in hunk["variants"]] == [
        (["worktree:ada", "worktree:bo"], "    return x - 2\n"),
        (["worktree:chen"], "    return 2 * x\n"),
    ]
    assert other.structured_content["files"] == []
    assert none.is_error
    assert "list_candidates names 1" in none.content[0].text
    assert elsewhere.is_error
    assert "outside the folders" in elsewhere.content[0].text


@pytest.mark.slow
@needs_git
def test_pages_are_of_the_state_that_the_first_one_showed(repo):
    tree = repo.path.parent / "chen"
    first, turned, anew, elsewhere = served(
        repo.path,
        ("review", {}),
        lambda: (tree / "a.py").write_text(ORIGIN.replace("x + 3", "3")),
        ("review", {"page": 2}),
        ("review", {}),
        ("review", {"page": 2, "branches": ["chen"]}),
    )
    digests = [a.structured_content["digest"] for a in (first, turned, anew, elsewhere)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[3] not in digests[:2]


@pytest.mark.slow
@needs_git
def test_what_is_taken_is_a_patch_for_git_and_nothing_is_written(repo):
    (review,) = served(repo.path, ("review", {}))
    digest = review.structured_content["digest"]
    taken, both, stale, nobody = served(
        repo.path,
        ("take", {"choices": ["worktree:ada", "a.py#10"], "digest": digest}),
        ("take", {"choices": ["worktree:ada", "worktree:chen"], "digest": digest}),
        ("take", {"choices": ["worktree:ada"], "digest": "0" * 64}),
        ("take", {"choices": ["worktree:zoe"], "digest": digest}),
    )
    assert repo.git("status", "--porcelain") == b""
    repo.git("apply", "-", stdin=taken.structured_content["patch"].encode())
    assert (repo.path / "a.py").read_text() == ORIGIN.replace("x + 2", "x - 2")
    assert all(answer.is_error for answer in (both, stale, nobody))
    assert "overlap" in both.content[0].text
    assert "the review has changed" in stale.content[0].text
    assert "zoe" in nobody.content[0].text


@pytest.mark.slow
@needs_git
def test_an_agent_asks_who_is_fixing_this_already(repo):
    for name in ("ada", "chen"):
        repo.git("commit", "-qam", "f2 adds too much", cwd=repo.path.parent / name)
    patch = repo.git("diff", "main", "ada").decode().replace("x - 2", "x - 2.0")
    mine = {"branches": ["ada", "chen"], "patch": patch, "title": "f2 adds two too much"}
    asked, each, bad, none, large = served(
        repo.path,
        ("find_duplicates", mine),
        ("find_duplicates", {"branches": ["ada", "chen"]}),
        ("find_duplicates", mine | {"patch": "no diff"}),
        ("find_duplicates", {"branches": ["nobody/*"], "patch": patch}),
        ("find_duplicates", mine | {"patch": "x" * 2_000_001}),
    )
    found = asked.structured_content
    assert (found["asked"], found["among"], found["left_out"]) == (1, 2, 0)
    assert {pair["other"] for pair in found["pairs"]} == {"ada", "chen"}
    (pair, *_) = found["pairs"]
    assert pair["word"] == "likely the same issue"
    assert any("a.py:10 return x + 2" in reason for reason in pair["reasons"])
    (pair,) = each.structured_content["pairs"]
    assert pair["otherwise"] == "another of this author's"
    assert none.structured_content["pairs"] == []
    assert bad.is_error
    assert large.is_error


@pytest.mark.slow
@needs_git
def test_roots_of_a_client_bound_what_it_may_ask(repo, tmp_path):
    async def roots(_context):
        return ListRootsResult(roots=[Root(uri=(tmp_path / "ada").as_uri())])

    (refused,) = served(
        repo.path, ("list_candidates", {}), list_roots_callback=roots, mode="legacy"
    )
    assert refused.is_error
    assert "roots that your client announced" in refused.content[0].text


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
        with pytest.raises(FolderError):
            allowed_folder(asked_for, allowed, None)
    with pytest.raises(FolderError, match="roots"):
        allowed_folder("", allowed, [])
    assert root_folder("file:///a%20b") == "/a b"
    assert [root_folder(uri) for uri in ("https://a/b", "file://host/a", "file:///a%00", "x")] == (
        [None] * 4
    )


def entry(number):
    return {
        "id": f"worktree:candidate-{number}", "label": f"claude candidate-{number}",
        "batch": 1, "cluster": number % 3 + 1, "rank": number, "word": "overlaps",
        "representative": number <= 3, "conflicts": [], "notes": ["binary: a.png"],
        "files": [
            {"status": "modified", "path": f"src/module_{n}.py", "added": 12, "deleted": 3}
            for n in range(9)
        ],
    }  # fmt: skip


def test_eight_candidates_fit_into_two_thousand_tokens():
    document = {
        "repository": "/home/ada/shop", "origin": "0" * 40, "unchanged": [], "rejected": [],
        "ranking": [entry(number) for number in range(1, 65)],
        "clusters": [
            {
                "members": [entry(n)["id"] for n in range(number, 65, 3)],
                "representative": entry(number)["id"],
                "reasons": [
                    {"kind": "alone", "text": f"alone changes src/module_{n}.py", "members": []}
                    for n in range(9)
                ],
            }
            for number in (3, 1, 2)
        ],
        "batches": [{"number": 1, "task": None, "members": [""] * 64}],
    }  # fmt: skip
    seen = []
    for page in range(1, 9):
        answer = candidates_page(document, page)
        assert answer.pages == 8
        # Four characters a token is what the makers of models reckon with; code takes three.
        assert len(answer.model_dump_json()) < 3 * 2000
        seen += [candidate.id for candidate in answer.batches[0].candidates]
    assert seen == [candidate["id"] for candidate in document["ranking"]]
    assert candidates_page(document, 99).page == 8


def test_a_long_review_is_cut_between_hunks_and_a_long_hunk_says_what_is_missing():
    def hunk(lo, size):
        text = "x" * (size - 1) + "\n"
        return {"name": f"{lo + 1}", "origin": "a\n", "unchanged": [],
                "variants": [{"ids": ["a"], "text": text}]}  # fmt: skip

    hunks = [hunk(n, 900) for n in range(40)] + [hunk(40, 3 * PAGE_CHARACTERS)]
    file = {"path": "a.py", "changes": [], "hunks": hunks}
    document = {"batches": [{"number": 1, "task": None, "digest": "d", "files": [file]}]}
    first = review_page(document, 1, "", 1)
    pages = [review_page(document, 1, "", page) for page in range(1, first.pages + 1)]
    names = [h.lines for page in pages for f in page.files for h in f.hunks]
    assert names == [h["name"] for h in hunks]
    assert max(len(page.model_dump_json()) for page in pages) < 2 * PAGE_CHARACTERS
    last = pages[-1].files[-1].hunks[-1]
    assert last.left_out == 3 * PAGE_CHARACTERS - PAGE_CHARACTERS // 2
    assert review_page(document, 2, "", 1) is None


def test_without_the_extra_it_says_what_to_install():
    hidden = (
        "import sys; sys.modules['mcp'] = None\n"
        "from excise_server.cli import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "the extra mcp" in done.stderr
    assert "Traceback" not in done.stderr
