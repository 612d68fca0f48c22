"""Emacs with eglot: an older client, which names no position encoding."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.interop import sessions

pytestmark = pytest.mark.slow

INSTALL = "Debian: apt-get install emacs-nox elpa-eglot"
EMACS = shutil.which("emacs")


def has_eglot() -> bool:
    if EMACS is None:
        return False
    # -q, not -Q: Debian's packages are put on the load path by its site file.
    command = [EMACS, "-q", "--batch", "--eval", "(require 'eglot)"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason=f"Emacs with eglot is not installed: {INSTALL}")
def test_a_session_in_emacs(tmp_path: Path):
    work = sessions.Workspace.make(tmp_path)
    script = str(sessions.HERE / "emacs.el")
    config = sessions.documented("Emacs", "elisp")
    seen = work.run([EMACS, "-q", "--batch", "-l", script], config)
    sessions.check(seen, sessions.expected(work), work)
