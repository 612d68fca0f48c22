"""Vim with ALE: it has no say in encodings, and none of the client's newer capabilities."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.interop import sessions

pytestmark = pytest.mark.slow

INSTALL = "Debian: apt-get install vim vim-ale"
VIM = shutil.which("vim")
ALE = Path(os.environ.get("EXCISE_ALE", "/usr/share/vim-ale"))


def has_ale() -> bool:
    if VIM is None or not (ALE / "plugin" / "ale.vim").exists():
        return False
    said = subprocess.run([VIM, "--version"], capture_output=True, text=True, check=False).stdout
    return "+channel" in said


@pytest.mark.skipif(not has_ale(), reason=f"Vim with ALE is not installed: {INSTALL}")
def test_a_session_in_vim_with_ale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXCISE_ALE", str(ALE))
    work = sessions.Workspace.make(tmp_path)
    script = str(sessions.HERE / "ale.vim")
    config = sessions.documented("Vim with ALE", "vim")
    seen = work.run([VIM, "-u", "NONE", "-T", "dumb", "--not-a-term", "-S", script], config)
    sessions.check(seen, sessions.expected(work), work)
