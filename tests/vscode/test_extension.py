"""The VS Code extension, in a real VS Code: its own test runs, one test of ours for each.

Where Node, a browser or the registry is missing they are skipped by name; with
EXCISE_VSCODE=required (`make test-vscode`, CI) they fail instead.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

# One worker runs them, one after the other: they share the package, and a browser wants a core.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("vscode")]

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "vscode-client"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 900
"""Seconds after which a run is given up; each has a shorter deadline of its own."""


def without(what: str, install: str) -> NoReturn:
    """Skip a test by the name of what it needs, or fail where that must be there."""
    reason = f"{what}; {install}"
    if os.environ.get("EXCISE_VSCODE") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def node_version() -> tuple[int, ...]:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return (0,)
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in said.strip().removeprefix("v").split(".") if part.isdigit())


def run(*command: str) -> int:
    """Run a program of the extension; what it prints is shown when the test fails."""
    environment = os.environ | {"VENV": sys.prefix}
    return subprocess.run(
        command, cwd=CLIENT, env=environment, timeout=TIMEOUT, check=False
    ).returncode


@pytest.fixture(scope="session")
def packages() -> None:
    """The Node packages that the lock file names."""
    if node_version() < (20,):
        without("Node 20 or newer with npm is not installed", "see https://nodejs.org")
    if run("make", "--no-print-directory", "-C", str(ROOT), "vscode-client/node_modules/.ready"):
        without("the Node packages cannot be installed", "connect once, then: make test-vscode")


@pytest.fixture(scope="session")
def editor(packages: None) -> None:
    """A browser, VS Code's server, and the extension as users get it."""
    if not os.environ.get("EXCISE_CHROMIUM") and not any(map(shutil.which, BROWSERS)):
        without("no Chromium is installed", "Debian: apt-get install chromium")
    if run("node", "scripts/run.mjs", "install"):
        without("VS Code's server cannot be installed", "connect once, then: make test-vscode")
    assert run("node", "scripts/run.mjs", "vsix") == 0


@pytest.mark.usefixtures("packages")
def test_pure_functions_of_the_extension():
    assert run("npm", "run", "--silent", "test:unit") == 0


@pytest.mark.usefixtures("editor")
def test_in_the_extension_host():
    assert run("node", "scripts/run.mjs", "test-host") == 0


@pytest.mark.usefixtures("editor")
def test_in_the_browser():
    assert run("node", "scripts/run.mjs", "test-browser") == 0
