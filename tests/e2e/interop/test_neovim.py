"""Neovim's own client: it counts columns in UTF-8."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.interop import sessions

pytestmark = pytest.mark.slow

INSTALL = "pip install '.[interop]'"
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
