"""The two host programs of docs/hosts.md, each run as it stands there."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import edited_worktrees
from tests.server.git_repository import Repo, needs_git

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / "examples" / "hosts"
MODULES = ROOT / "vscode-client" / "node_modules"
ESBUILD = MODULES / ".bin" / "esbuild"
ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n"


def can_remount() -> bool:
    """Whether this user may give a process mounts of its own."""
    tried = ["unshare", "--mount", "mount", "--bind", "/", "/"]
    try:
        return not subprocess.run(tried, capture_output=True, check=False).returncode
    except OSError:
        return False


pytestmark = [needs_git, pytest.mark.slow]


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    edits = {"ada": ("a + b", "a - b"), "bo": ("a + b", "b + a")}
    return edited_worktrees(tmp_path, monkeypatch, edits, a__py=ORIGIN)


@pytest.fixture(params=["python", "typescript"])
def host(request, tmp_path) -> list[str]:
    """How to start a host program."""
    if request.param == "python":
        return [sys.executable, str(HOSTS / "host.py")]
    if not ESBUILD.exists():
        pytest.skip("no packages of npm in vscode-client")
    made = tmp_path / "host.js"
    command = [ESBUILD, HOSTS / "host.ts", "--bundle", "--platform=node", f"--outfile={made}"]
    environment = os.environ | {"NODE_PATH": str(MODULES)}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return ["node", str(made)]


def ask(host: list[str], repo: Repo, method: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [*host, str(repo.path), method]
    return subprocess.run(
        command, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=120
    )


def test_a_client_is_a_page_of_code():
    for client in HOSTS.iterdir():
        assert len(client.read_text().split("\n")) < 60, client


def test_a_host_gets_the_documents_of_the_commands(host: list[str], repo: Repo):
    at_repo = "--repo", str(repo.path), "--format", "json"
    review = excise("review", *at_repo).json
    answer = json.loads(ask(host, repo, "candidates").stdout)
    assert answer["candidates"] == review["candidates"]
    assert answer["tasks"] == review["tasks"]
    answer = json.loads(ask(host, repo, "land").stdout)
    assert answer.pop("page").startswith("None of 2 candidates lands")
    assert answer.pop("contents") == []  # what an editor would write
    assert answer == excise("land", *at_repo).json


def test_a_refusal_is_a_sentence_for_people(host: list[str], repo: Repo):
    refused = ask(host, repo, "since")
    assert refused.returncode != 0
    assert "nothing is known of what you looked at of main; name OLD" in refused.stderr
    repo.git("checkout", "--quiet", "--orphan", "empty")
    refused = ask(host, repo, "candidates")
    assert refused.returncode != 0
    assert "no commits yet: nothing to replay candidates onto" in refused.stderr


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b'Content-Length: 400\r\n\r\n{"jsonrpc": "2.0", "id": 1, "meth',
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_a_host_that_leaves_in_the_middle_leaves_no_server(sent: bytes):
    command = [sys.executable, "-m", "excise_server", "--stdio"]
    subprocess.run(command, input=sent, capture_output=True, timeout=60)


@pytest.mark.skipif(not can_remount(), reason="no mount namespaces here")
def test_a_read_only_repository_without_a_home_is_reviewed_and_stays_as_it_is(repo: Repo):
    """What would write says that it cannot, and that it wrote nothing."""
    top, folder = shlex.quote(str(repo.path.parent)), shlex.quote(str(repo.path))
    mounted = f"mount --bind {top} {top} && mount -o remount,ro,bind {top} && cd {folder} && "
    nowhere = {"HOME": "/proc/nope", "XDG_CACHE_HOME": "/proc/nope"}

    def shut(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = shlex.join([str(Path(sys.executable).with_name("excise")), *arguments])
        command = ["unshare", "--mount", "sh", "-c", mounted + line]
        environment = os.environ | nowhere
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    reviewed = shut("review", "--format", "json")
    assert (reviewed.returncode, reviewed.stderr) == (0, "")
    assert len(json.loads(reviewed.stdout)["candidates"]) == 2
    for asked in (["take", "ada", "--write"], ["land", "ada", "--write"]):
        refused = shut(*asked)
        assert refused.returncode == 2
        assert "the journal cannot be made" in refused.stderr
        assert "nothing was written; set XDG_CACHE_HOME" in refused.stderr
