"""Names and labels of candidates: a table of layouts, awkward names, and laws."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise_server.foundation.escape import printable
from excise_server.review.names import Roots, Traces, labels, name_of, parts_of, signed_by

ROOTS = Roots(home="/home/ada", codex_home="/opt/codex")
REPOSITORY = "/src/httpx"
HOME = "/home/ada"
EMDASH = f"{HOME}/emdash/worktrees/httpx-0ceb29c5"
UZI = f"{HOME}/.local/share/uzi/worktrees"
SQUAD = f"{HOME}/.claude-squad/worktrees"
OPENCODE = f"{HOME}/.local/share/opencode/worktree"
KANBAN = "/private/var/folders/_w/x0/T/vibe-kanban/worktrees"

LAYOUTS = [
    # tool, label, task, folder, branch, remote
    ("Claude Code", "claude-fix", "", "/src/httpx/.claude/worktrees/fix", "worktree-fix", ""),
    ("Claude Code", "claude-fix", "", "", "worktree-fix", ""),
    ("Claude Code", "claude-retry-a1B2", "", "", "", "origin/claude/retry-a1B2"),
    ("Codex", "codex-5f3a", "", "/opt/codex/worktrees/5f3a/httpx", "", ""),
    ("Codex", "codex-5f3a", "", f"{HOME}/.codex/worktrees/5f3a/httpx", "", ""),
    ("Codex", "codex-fix", "", "", "codex/fix", ""),
    ("Cursor", "cursor-Ab3dE", "", f"{HOME}/.cursor/worktrees/httpx/Ab3dE", "", ""),
    ("Cursor", "cursor-fix-9f65", "", "", "", "origin/cursor/fix-9f65"),
    ("Copilot", "copilot-fix", "", "/src/httpx.worktrees/fix", "copilot/fix", ""),
    ("Copilot", "copilot-2026-03", "", "/src/httpx.worktrees/copilot-worktree-2026-03", "", ""),
    ("Copilot", "copilot-x", "", f"{HOME}/copilot-worktrees/httpx/x", "copilot-worktree-9", ""),
    ("Copilot", "copilot-fix-1", "", "", "", "origin/copilot/fix-1"),
    ("Kilo", "kilo-red-fox", "", "/src/httpx/.kilo/worktrees/red-fox", "red-fox", ""),
    ("Kilo", "kilo-red-fox", "", "/src/httpx/.kilocode/worktrees/red-fox", "red-fox", ""),
    ("Qwen Code", "qwen-fix", "", "/src/httpx/.qwen/worktrees/fix", "worktree/fix", ""),
    ("Qwen Code", "qwen-agent-1a2b3c4", "", "", "agent-1a2b3c4", ""),
    ("emdash", "emdash-fix-wp0to", "fix", f"{EMDASH}/emdash/fix-wp0to", "emdash/fix-wp0to", ""),
    ("emdash", "emdash-page", "", f"{EMDASH}/ada/page", "ada/page", ""),
    ("emdash", "emdash-fix-i8ghw", "fix", "", "emdash/fix-i8ghw", ""),
    ("vibe-kanban", "vibe-tests", "tests", f"{KANBAN}/ccad-tests/httpx", "vk/ccad-tests", ""),
    ("vibe-kanban", "vibe-fix", "fix", "/tmp/vibe-kanban/worktrees/76ff-fix", "vk/76ff-fix", ""),
    ("vibe-kanban", "vibe-17ff-", "", "/tmp/vibe-kanban/worktrees/17ff-/httpx", "", ""),
    ("Claude Squad", "ada/post3", "", f"{SQUAD}/ada/post3_188b99c4", "ada/post3", ""),
    ("Claude Squad", "overseer", "", f"{SQUAD}/overseer_18736107", "", ""),
    ("uzi", "sarah", "", f"{UZI}/sarah-httpx-ab-17", "sarah-httpx-ab-17", ""),
    ("container-use", "container-fancy-mallard", "", "", "", "container-use/fancy-mallard"),
    ("Conductor", "tokyo", "", f"{HOME}/conductor/workspaces/httpx/tokyo", "ada/fix", ""),
    ("Conductor", "tokyo", "", "/src/httpx/.conductor/tokyo", "ada/fix", ""),
    ("opencode", "reef", "", f"{OPENCODE}/0ff1ce/reef", "opencode/reef", ""),
    ("worktrunk", "feature/retry", "", "/src/httpx.feature-retry", "feature/retry", ""),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "label", "task", "folder", "branch", "remote"), LAYOUTS)
def test_a_known_layout_names_tool_and_candidate(tool, label, task, folder, branch, remote):
    traces = Traces(folder=folder, branch=branch, remote=remote, repository=REPOSITORY)
    name = name_of(traces, ROOTS)
    assert (name.tool, name.task, labels([traces], ROOTS)) == (tool, task, (label,))


def test_every_tool_of_the_design_is_in_the_table():
    tools = {tool for tool, *_ in LAYOUTS}
    assert len(tools) >= 13


UNKNOWN = [
    # label, folder, branch
    ("my-fix", "/src/httpx.worktrees/my-fix", "my-fix"),  # VS Code, made by hand
    ("main", "/src/httpx.old", "main"),  # beside the repository, but of another branch
    ("main", "/tmp/httpx", "main"),  # a clone
    ("httpx", "/tmp/httpx", ""),
    ("httpx", "/tmp/httpx///", ""),
    ("xyz", "/opt/other/worktrees/xyz", ""),
    ("main", "/srv/worktrees/12ab/conductor", "main"),
    ("ada/fix", f"{HOME}/x", "ada/fix"),
]


@pytest.mark.parametrize(("label", "folder", "branch"), UNKNOWN)
def test_an_unknown_layout_is_called_by_branch_or_by_the_last_part(label, folder, branch):
    traces = Traces(folder=folder, branch=branch, repository=REPOSITORY)
    assert name_of(traces, ROOTS).tool == ""
    assert labels([traces], ROOTS) == (label,)


def at(folder="", branch="", **more):
    return Traces(folder=folder, branch=branch, repository=REPOSITORY, **more)


CLAUDE = "Co-Authored-By: Claude Opus 4.5 <noreply@anthropic.com>"
CODEX = "Co-Authored-By: Codex <noreply@openai.com>"
LONG = "x" * 4000

AWKWARD = {
    "two worktrees of one name": ([at("/r/a/w"), at("/r/b/w")], ["a/w", "b/w"]),
    "a third needs less": (
        [at("/r/a/x/w"), at("/r/b/x/w"), at("/r/c/y/w")],
        ["a/x/w", "b/x/w", "y/w"],
    ),
    "an end that is all of another": ([at("/w"), at("/a/w")], ["/w", "/a/w"]),
    "an end that is a branch": (
        [at("/q/r/a/w"), at("/q/r/b/w"), at(branch="a/w")],
        ["r/a/w", "b/w", "a/w@heads/a/w"],
    ),
    "trailing slashes": ([at("/r/a/w/"), at("/r/b/w//")], ["a/w", "b/w"]),
    "equal but for case": (
        [at("/src/httpx/.claude/worktrees/Fix"), at("/src/httpx/.claude/worktrees/fix")],
        ["claude-Fix", "claude-fix"],
    ),
    "Windows paths": (
        [at(r"C:\src\a\httpx"), at(r"C:\src\b\httpx"), at(r"C:\src\httpx\.claude\worktrees\fix")],
        [r"a\httpx", r"b\httpx", "claude-fix"],
    ),
    "a Windows share": (
        [at("\\\\host\\src\\w"), at("\\\\host\\bak\\w\\")],
        ["src\\w", "bak\\w"],
    ),
    "a Windows drive with slashes": ([at("D:/a/w"), at("D:/b/w")], ["a/w", "b/w"]),
    "a backslash in a POSIX name": ([at("/a/x\\w"), at("/a/w")], ["x\\w", "w"]),
    "Codex' worktree is called as the project": (
        [at("/opt/codex/worktrees/5f3a/httpx"), at("/tmp/httpx"), at("/src/httpx", "main")],
        ["codex-5f3a", "httpx", "main"],
    ),
    "a branch and a folder of one name": (
        [at("/r/a/fix", "topic"), at("/r/b/topic")],
        ["fix", "b/topic"],
    ),
    "clones on one branch": (
        [at("/tmp/one", "main"), at("/tmp/two", "main"), at("/tmp/two/sub", "next")],
        ["one", "two", "next"],
    ),
    "one branch, two tools": (
        [at("/a/x", "fix", trailers=(CLAUDE,)), at("/b/x", "fix", trailers=(CODEX,))],
        ["claude-fix", "codex-fix"],
    ),
    "one tool and name in two repositories": (
        [at("/r/a/.claude/worktrees/fix"), at("/r/b/.claude/worktrees/fix")],
        ["claude-fix@a/.claude/worktrees/fix", "claude-fix@b/.claude/worktrees/fix"],
    ),
    "one vibe task, two attempts": (
        [at("/t/vibe-kanban/worktrees/01ab-fix/r"), at("/t/vibe-kanban/worktrees/02cd-fix/r")],
        ["vibe-01ab-fix", "vibe-02cd-fix"],
    ),
    "one uzi agent, twice": (
        [
            at("/h/.local/share/uzi/worktrees/sarah-httpx-ab-1"),
            at("/h/.local/share/uzi/worktrees/sarah-httpx-ab-2"),
        ],
        ["sarah-httpx-ab-1", "sarah-httpx-ab-2"],
    ),
    "a local branch called as a remote ref": (
        [at(branch="origin/fix"), Traces(remote="origin/fix")],
        ["origin/fix@heads/origin/fix", "origin/fix@remotes/origin/fix"],
    ),
    "two patches of one subject": (
        [at(given="[PATCH] fix"), at(given="[PATCH] fix", commit="0123456789abcdef")],
        ["[PATCH]-fix", "[PATCH]-fix-0123456789"],
    ),
    "nothing known": (
        [at(), at(), at(commit="0123456789abcdef")],
        ["unnamed", "unnamed#2", "0123456789"],
    ),
    "a number that is a name": (
        [at(given="a"), at(given="a"), at(given="a#2")],
        ["a", "a#3", "a#2"],
    ),
    "blanks": ([at("/a/ "), at("  "), at(branch="\t")], ["/a/", "unnamed", "unnamed@heads/\t"]),
    "a control character and its escape": (
        [at("/r/a/\x1b[2J"), at("/r/b/\\x1b[2J")],
        ["a/\x1b[2J", "b/\\x1b[2J"],
    ),
    "bidirectional marks": ([at("/a/w\u202e"), at("/a/w")], ["w\u202e", "w"]),
    "line ends": (
        [at("/a/w\n"), at("/a/w\\n"), at("/a/w")],
        ["w\n@/a/w\n", "w\\n@/a/w\\n#2", "w"],
    ),
    "very long": ([at(f"/a/{LONG}a"), at(f"/a/{LONG}b")], [f"{LONG}a", f"{LONG}b"]),
    "not UTF-8": ([at("/a/w\udce4"), at("/a/w\udcf6")], ["w\udce4", "w\udcf6"]),
}  # fmt: skip


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_names_are_told_apart(case):
    candidates, expected = AWKWARD[case]
    assert list(labels(candidates, ROOTS, printable)) == expected


def test_a_home_that_is_not_known_is_recognised():
    for home in ("/home/eve", "/Users/eve", "/root", "C:\\Users\\eve"):
        slash = "\\" if "\\" in home else "/"
        folder = slash.join((home, "conductor", "workspaces", "httpx", "tokyo"))
        assert name_of(at(folder)).tool == "Conductor"
    assert name_of(at("/home/eve/conductor/workspaces/httpx/tokyo"), ROOTS).tool == ""
    assert name_of(at("/srv/conductor/workspaces/httpx/tokyo")).tool == ""


def test_windows_homes_are_compared_without_regard_to_case():
    roots = Roots(home=r"c:\users\Eve", codex_home=r"D:\Codex")
    assert name_of(at(r"C:\Users\eve\emdash\worktrees\r-1\fix-abcde"), roots).task == "fix"
    assert labels([at(r"d:\codex\worktrees\5f3a\httpx")], roots) == ("codex-5f3a",)


@pytest.mark.parametrize(
    ("trailers", "tool"),
    [
        ((CLAUDE,), "Claude Code"),
        (("co-authored-by:Claude<noreply@anthropic.com>",), "Claude Code"),
        (("Co-Authored-By: Claude Monet <claude@example.org>",), None),
        (("Co-Authored-By: Claude <claude@anthropic.com.example.org>",), None),
        (("Signed-off-by: Claude <noreply@anthropic.com>",), None),
        (("Co-Authored-By: Cursor <cursoragent@cursor.com>",), "Cursor"),
        (("Co-Authored-By: Copilot <1+Copilot@users.noreply.github.com>",), "Copilot"),
        (("Assisted-by: Claude:claude-opus-4 coccinelle",), "Claude Code"),
        (("Assisted-by: GitHub Copilot",), "Copilot"),
        (("Assisted-by: Claudette",), None),
        (("Assisted-by: amp-lover",), None),
        ((CLAUDE, CODEX, CODEX), "Codex"),
        ((CODEX, CLAUDE), "Claude Code"),
        (("", ":", "Co-Authored-By", "Assisted-by: \n<>"), None),
        ((), None),
    ],
)
def test_trailers_name_the_tool(trailers, tool):
    signature = signed_by(trailers)
    assert (signature.tool if signature else None) == tool


def test_a_layout_goes_before_trailers():
    traces = at("/src/httpx/.kilo/worktrees/fix", trailers=(CLAUDE,))
    assert name_of(traces).tool == "Kilo"


# Few parts and characters, so that names meet often.
PART = st.sampled_from(
    ["w", "W", "fix", ".claude", "worktrees", "httpx", "httpx.fix", ".codex", "ab", "ab-fix", " "]
) | st.text(st.sampled_from("a\n\x1b\u202e\\x1bn "), max_size=4)
FOLDER = st.lists(PART, max_size=5).map(lambda parts: "/" + "/".join(parts)) | st.lists(
    PART, max_size=3
).map(lambda parts: "C:\\" + "\\".join(parts))
TRACES = st.builds(
    Traces,
    folder=st.just("") | FOLDER,
    branch=st.sampled_from(["", "main", "worktree-fix", "vk/ab-fix", "fix", "httpx"]),
    remote=st.sampled_from(["", "", "origin/fix", "container-use/fix"]),
    commit=st.sampled_from(["", "0" * 40, "1" * 40]),
    given=st.sampled_from(["", "", "fix"]),
    repository=st.sampled_from(["", "/httpx", REPOSITORY]),
    trailers=st.sampled_from([(), (CLAUDE,)]),
)
REVIEW = st.lists(TRACES, max_size=8)


def look(label):
    return " ".join(printable(label).split())


@given(REVIEW)
def test_no_two_labels_are_equal_nor_look_alike(candidates):
    found = labels(candidates, ROOTS, printable)
    assert len(found) == len(candidates)
    assert all(label and printable(label).split() == [printable(label)] for label in found)
    assert len({look(label) for label in found}) == len(found)


@given(REVIEW, st.randoms())
def test_labels_do_not_depend_on_the_order(candidates, random):
    unique = list(dict.fromkeys(candidates))
    shuffled = random.sample(unique, len(unique))
    before = dict(zip(unique, labels(unique, ROOTS, printable), strict=True))
    after = dict(zip(shuffled, labels(shuffled, ROOTS, printable), strict=True))
    numbered = re.compile(r"#\d+\Z")
    for traces in unique:
        assert numbered.sub("", before[traces]) == numbered.sub("", after[traces])


@given(st.lists(FOLDER, min_size=1, max_size=8, unique=True))
def test_a_path_is_never_cut_inside_a_part(folders):
    found = labels([Traces(folder=folder) for folder in folders], None, printable)
    for folder, label in zip(folders, found, strict=True):
        if name_of(Traces(folder=folder)).tool:
            continue
        label = re.sub(r"#\d+\Z", "", label)
        place = label.partition("@")[2] or label
        parts = parts_of(folder)
        ends = {mark.join(parts[-n:]) for n in range(1, len(parts)) for mark in "/\\"}
        whole = {*ends, *parts, folder, folder.rstrip("/"), folder.rstrip("\\"), "unnamed"}
        assert place in {re.sub(" +", "-", text.strip(" ")) for text in whole}
