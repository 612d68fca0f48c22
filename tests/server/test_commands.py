"""The front: ten commands, few options, one meaning for each, and one grammar of candidates."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from tests.server.command import excise, one_line, spawn
from tests.server.git_repository import make, needs_git

from excise_server.cli import COMMANDS
from excise_server.cli import excise as group
from excise_server.version import VERSION

pytestmark = needs_git

ROOT = Path(__file__).parents[2]
TEN = ("review", "take", "land", "since", "cluster", "compare", "eval", "serve", "mcp", "demo")

CANDIDATES = "review take land"
ALLOWED = {
    "--git": f"{CANDIDATES} cluster",
    "--patches": f"{CANDIDATES} since",
    "--origin": CANDIDATES,
    "--repo": f"{CANDIDATES} since cluster",
    "--onto": f"{CANDIDATES} since cluster",
    "--base": CANDIDATES,
    "--only": CANDIDATES,
    "--path": "review since",
    "--issue": CANDIDATES,
    "--intent": "review compare",
    "--verdicts": "review land",
    "--run": CANDIDATES,
    "--link": CANDIDATES,
    "--junit": "review",
    "--timeout": f"{CANDIDATES} eval",
    "--task": CANDIDATES,
    "--format": f"{CANDIDATES} since cluster compare eval",
    "--output": "review land since cluster compare eval",
    "--verbose": "review land since cluster",
    "--against": "review",
    "--plan": "take",
    "--digest": "take",
    "--split": "take",
    "--anyway": "take land",
    "--write": "take land",
    "--undo": "take",
    "--conflicts": "take",
    "--branch": "land",
    "--reviewed": "since",
    "--mark": "since",
    "--like": "cluster",
    "--state": "cluster",
    "--pulls": "cluster",
    "--explain": "compare",
    "--clusters": "compare",
    "--measure": "compare eval",
    "--language": "compare eval",
    "--encoding": "compare",
    "--tcp": "serve",
    "--stdio": "serve",
}
"""Every option outside of `eval`, and the commands that have it."""

OF_EVAL = (
    *("--protocol", "--measures", "--bootstrap", "--cluster-by", "--shared-prefix", "--seed"),
    *("--resume", "--execute", "--records", "--baseline", "--plot", "--predictions"),
    *("--references", "--drop-poor", "--splits"),
)


def options(name: str) -> dict[str, click.Option]:
    """Return the options of a command by their long names, from click's own table."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return {
        max(parameter.opts, key=len): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }


def test_there_are_ten_commands():
    assert tuple(COMMANDS) == TEN


def test_the_plugin_for_agents_starts_a_command_that_there_is():
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert (plugin["name"], plugin["version"]) == ("excise", VERSION)
    [server] = plugin["mcpServers"].values()
    assert server == {"command": "excise", "args": ["mcp"]}
    assert server["args"][0] in COMMANDS
    [skill] = (ROOT / plugin["skills"]).iterdir()
    text = (skill / "SKILL.md").read_text("utf-8")
    assert re.findall(r"^name: (.*)$", text, re.MULTILINE) == [skill.name]
    [description] = re.findall(r"^description: (.*)$", text, re.MULTILINE)
    assert len(description) <= 1024  # as the format has it
    named = set(re.findall(r"`([a-z_]+)`", text.partition("# ")[2]))
    tools = {"list_candidates", "review", "take", "land", "since", "cluster"}
    arguments = {"excise", "git", "issue", "intent", "task", "digest", "verdicts"}
    assert tools <= named <= tools | arguments


def test_at_most_forty_options_and_fifteen_of_eval():
    assert {option for name in TEN if name != "eval" for option in options(name)} == set(ALLOWED)
    assert len(ALLOWED) <= 40
    assert len(OF_EVAL) <= 15


@pytest.mark.parametrize("name", TEN)
def test_a_command_has_exactly_the_options_that_it_should_have(name):
    mine = {option for option, commands in ALLOWED.items() if name in commands.split()}
    assert set(options(name)) == mine | set(OF_EVAL if name == "eval" else ())


def test_one_name_has_one_help():
    said: dict[str, set[str]] = {}
    for name in COMMANDS:
        for option, parameter in options(name).items():
            if option not in ("--format", "--write", "--anyway"):  # other formats, other results
                text = re.sub(r"\s*\[default: .*\]", "", parameter.help or "")
                said.setdefault(option, set()).add(text)
    assert {option: texts for option, texts in said.items() if len(texts) > 1} == {}


# --- demo, and a first look at anything ----------------------------------------------------------


@pytest.mark.slow
def test_the_demo_is_the_same_anywhere_and_stays(tmp_path):
    heads = []
    for name in ("one", "two"):
        ran = spawn("demo", name, cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert f"cd {name}/shop".encode() in ran.stdout
        git = ["git", "-C", str(tmp_path / name / "shop"), "rev-parse", "--all"]
        heads.append(subprocess.run(git, capture_output=True, check=True).stdout)
    assert heads[0] == heads[1] != b""
    shop = tmp_path / "one" / "shop"
    listed = ["git", "-C", str(shop), "worktree", "list"]
    assert subprocess.run(listed, capture_output=True, check=True).stdout.count(b"\n") == 9
    for line in re.findall(r"^  excise(.*?)(?:  .*|\|.*)?$", spawn_text(ran), re.MULTILINE):
        told = spawn(*shlex.split(line), cwd=shop)
        assert told.returncode == 0, line
        assert (told.stderr == b"") == ("--run" not in line), line  # which tells of each run
        assert b"codex-3fa9" in told.stdout or b"prices.py" in told.stdout


def spawn_text(ran: subprocess.CompletedProcess[bytes]) -> str:
    return ran.stdout.decode()


def test_a_folder_that_is_not_empty_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("mine\n")
    (tmp_path / "file").write_text("mine\n")
    for name in ("full", "file"):
        one_line(excise("demo", name), "it is not an empty folder", "name a new folder")
    one_line(excise("demo", "file/below"), "file/below")
    one_line(excise("demo", "a\0b"), "null")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "file", "full"]


@pytest.fixture
def shop(tmp_path):
    from excise_server.processes.example import build

    return build(tmp_path)


@pytest.mark.slow
def test_who_writes_names_a_candidate_whole_and_who_reads_may_shorten_it(shop, monkeypatch):
    monkeypatch.chdir(shop)
    assert excise("take", "codex-3fa9").code == 0
    for name in ("3fa9", "codex-3", "o-code", "zzz"):
        one_line(excise("take", name), f"no candidate is called {name}", code=2)
    assert excise("review", "codex-3").out == excise("review", "codex-3fa9").out != ""
    one_line(excise("review", "codex-3fa8"), "no candidate is called", "did you mean codex-3fa9")
    assert (
        excise("review", "--against", "codex-3").out
        == excise("review", "--against", "codex-3fa9").out
    )
    entries = excise("review", "--format", "json").json["candidates"]
    assert len(entries) == 6
    assert " " not in "".join(entry["label"] for entry in entries)


@pytest.mark.slow
def test_the_number_of_a_request_is_whole(shop, monkeypatch):
    monkeypatch.chdir(shop)
    head = subprocess.run(
        ["git", "rev-parse", "mina/no-code"], capture_output=True, check=True, text=True
    ).stdout.strip()
    for number in (7571, 757):
        commit = ["git", "commit-tree", f"{head}^{{tree}}", "-p", "HEAD~1", "-m", str(number)]
        env = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a")
        env |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b")
        made = subprocess.run(commit, capture_output=True, check=True, text=True, env=env)
        ref = ["git", "update-ref", f"refs/pull/{number}/head", made.stdout.strip()]
        subprocess.run(ref, check=True)
    for name in ("#757", "#7571", "pull/7571"):
        ran = excise("take", "--git", "pull/*", name)
        assert (ran.code, "diff --git" in ran.out) == (0, True), ran.err
    one_line(excise("take", "--git", "pull/*", "75"), "no candidate is called 75", code=2)


@pytest.mark.slow
def test_an_issue_is_a_file_or_a_text(shop, monkeypatch, tmp_path):
    monkeypatch.chdir(shop)

    def issues(value):
        document = excise("review", "--issue", value, "--format", "json").json
        return {issue for task in document["tasks"] for issue in task["by_issue"].values()}

    (tmp_path / "issue.md").write_text("\n# total() fails without a code\n\nIt raises.\n")
    assert excise("review", "--issue", str(tmp_path / "issue.md")).code == 0
    assert excise("review", "--issue", "total() fails without a code").code == 0
    assert excise("review", "--issue", "x" * 1_000_000).code == 0
    (tmp_path / "empty.md").write_text("\n")
    (tmp_path / "binary.md").write_bytes(b"a\0")
    for value, reason in (
        ("no/such/file", "there is no file 'no/such/file'"),
        ("issue.md", "there is no file 'issue.md'"),
        (str(tmp_path / "empty.md"), "it is empty"),
        (str(tmp_path / "binary.md"), "binary"),
        (str(tmp_path), "it is a directory"),
    ):
        ran = excise("review", "--issue", value)
        assert ran.code == 2
        assert reason in ran.err


@pytest.mark.slow
def test_without_candidates_it_says_what_it_looked_for(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    monkeypatch.chdir(tmp_path)
    one_line(excise(), "not in a git repository", "name a folder")
    subprocess.run([*git, "init", "--quiet"], check=True)
    one_line(excise(), "no commits yet", "commit something first")
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True)
    ran = excise()
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.rstrip("\n").split("\n")
    assert len(lines) == 3
    assert lines[1] == "Looked for other worktrees of this repository."
    assert "--git 'agent/*'" in lines[2]
    ran = excise("--git", "no/*")
    assert ran.code == 1
    assert "--git no/*" in ran.out
    assert "none matches no/*" in ran.err


@pytest.mark.slow
def test_a_name_that_is_no_worktree_may_be_a_branch_or_a_request(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, a__py="x = 1\n")
    repo.git("checkout", "--quiet", "-b", "agent/one")
    repo.commit(a__py="x = 2\n")
    repo.git("update-ref", "refs/pull/7/head", "agent/one")
    repo.git("checkout", "--quiet", "main")
    for name in ("agent/one", "#7"):
        shown = excise("review", "--repo", str(repo.path), name)
        assert (shown.code, "x = 2" in shown.out) == (0, True), shown.err
        taken = excise("take", "--repo", str(repo.path), name)
        assert (taken.code, "+x = 2" in taken.out) == (0, True), taken.err
        landed = excise("land", "--repo", str(repo.path), name)
        assert (landed.code, "+x = 2" in landed.out) == (0, True), landed.err
    missing = excise("review", "--repo", str(repo.path), "agent/two")
    assert missing.code == 2
    assert "no candidate is called agent/two; there is none: name branches by --git" in missing.err
