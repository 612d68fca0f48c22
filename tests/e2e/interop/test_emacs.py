"""Emacs with eglot: an older client, which names no position encoding."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.interop import sessions
from tests.e2e.interop.workload import LINE, ORIGIN, Workload, changed
from tests.server.git_repository import needs_git

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


@needs_git
@pytest.mark.skipif(not has_eglot(), reason=f"Emacs with eglot is not installed: {INSTALL}")
def test_a_whole_review_in_emacs_without_client_code(tmp_path: Path):
    work = Workload.make(tmp_path)
    config = sessions.documented("Emacs", "elisp").partition("(defun excise-add")[0]
    command = [EMACS, "-q", "--batch", "-l", str(sessions.HERE / "review.el")]
    seen = sessions.run(tmp_path, work.file, command, config, EXCISE_LINE=str(LINE))
    candidates, ada, bo = seen["pages"]
    assert "`ada`" in candidates
    assert (ada, bo) == (changed("ada"), changed("bo"))
    assert (seen["hunk"], seen["undone"]) == (changed("ada", ORIGIN), ORIGIN)
    assert seen["file"] == seen["whole"] == changed("bo", ORIGIN)
    assert seen["beside"] == "B = 2\n"
    # This client cannot delete files: nothing of a candidate that does is taken.
    assert "excise take --write" in seen["refused"]
