"""Neovim's own client: it counts columns in UTF-8."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.interop import sessions
from tests.e2e.interop.workload import LINE, ORIGIN, Workload, changed
from tests.server.git_repository import needs_git

pytestmark = pytest.mark.slow

INSTALL = "pip install --group interop (pip 25.1 or newer)"
# The wheel puts it beside the interpreter, which need not be on the PATH.
PLACES = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
NVIM = shutil.which("nvim", path=PLACES)


def is_new_enough() -> bool:
    if NVIM is None:
        return False
    said = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, *_ = said.removeprefix("NVIM v").split(".")
    return (int(major), int(minor)) >= (0, 11)


@pytest.mark.skipif(not is_new_enough(), reason=f"Neovim 0.11 is not installed: {INSTALL}")
def test_a_session_in_neovim(tmp_path: Path):
    work = sessions.Workspace.make(tmp_path)
    script = str(sessions.HERE / "neovim.lua")
    config = sessions.documented("Neovim", "lua")
    seen = work.run([NVIM, "--headless", "--clean", "-l", script], config)
    assert seen["encoding"] == "utf-8"
    sessions.check(seen, sessions.expected(work), work)


@needs_git
@pytest.mark.skipif(not is_new_enough(), reason=f"Neovim 0.11 is not installed: {INSTALL}")
def test_a_whole_review_in_neovim_without_client_code(tmp_path: Path):
    work = Workload.make(tmp_path)
    config = sessions.documented("Neovim", "lua").partition("-- :ExciseAdd")[0]
    command = [NVIM, "--headless", "--clean", "-l", str(sessions.HERE / "review.lua")]
    seen = sessions.run(tmp_path, work.file, command, config, EXCISE_LINE=str(LINE))
    candidates, ada, bo = seen["pages"]
    assert "`ada`" in candidates["text"]
    assert (ada["text"], bo["text"]) == (changed("ada"), changed("bo"))
    assert seen["hunk"] == seen["whole"] == changed("ada", ORIGIN)
    assert seen["undone"] == ORIGIN
    assert seen["file"] == changed("bo", ORIGIN)
    assert (seen["created"], seen["deleted"]) == ("NEW = 1\n", True)
    # Another Neovim, another server: what was decided is decided.
    again = sessions.run(tmp_path, work.file, command, config, EXCISE_AGAIN="1")
    assert (len(seen["marks"]), len(again["marks"])) == (2, 1)
