"""Make or renew the virtual environment of a clone: `python3 tools/environment.py .venv READY`.

make runs it when pyproject.toml is newer than the file READY, which remembers what was installed:
an edit that asks for no other package costs nothing. Python 3.7 can read this, and be told that it
is too old.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 11)
LOCK = ".ci/requirements.txt"


def main() -> None:
    venv, ready = map(Path, sys.argv[1:])
    check_machine()
    if os.environ.get("EXCISE_LOCKED") and not Path(LOCK).exists():
        stop(f"EXCISE_LOCKED asks for the packages of {LOCK}, which only a git clone has; unset it")
    python = venv / "bin" / "python"
    wanted = json.dumps(requirements(Path("pyproject.toml")), indent=1)
    if not (python.exists() and ready.exists() and ready.read_text(encoding="utf-8") == wanted):
        make(venv, python)
    ready.write_text(wanted, encoding="utf-8")


def check_machine() -> None:
    """Say in one sentence what the machine lacks."""
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:3]))
        stop(f"excise needs Python 3.11 or newer; this is {version}. Try: make PYTHON=python3.12")
    compiler = os.environ.get("CC", "cc").split()[0]
    if shutil.which(compiler) is None:
        stop(f"excise needs a C compiler; {compiler} is missing (Debian: apt-get install gcc)")


def requirements(pyproject: Path) -> dict[str, object]:
    """Return what the environment is made from, as pyproject.toml has it."""
    import tomllib

    document = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = document["project"]
    return {
        "python": sys.version,
        "build": document["build-system"]["requires"],
        "dependencies": project["dependencies"],
        "extras": project["optional-dependencies"],
        "dev": document["dependency-groups"]["dev"],
        "scripts": project["scripts"],
        "version": project["version"],
        "locked": bool(os.environ.get("EXCISE_LOCKED")) and Path(LOCK).read_text(encoding="utf-8"),
    }


def make(venv: Path, python: Path) -> None:
    """Install everything; the kernels are built in place, and only those that changed."""
    if not python.exists() and subprocess.run([sys.executable, "-m", "venv", venv]).returncode:
        stop("excise needs the venv module (Debian: apt-get install python3-venv)")
    print(f"Installing and building into {venv} (about a minute the first time)", flush=True)
    if os.environ.get("EXCISE_LOCKED"):
        make_locked(python)
        return
    wanted = requirements(Path("pyproject.toml"))
    install(python, *wanted["build"])
    # The build requirements are here: make needs them too, to build a kernel that was edited.
    editable = f".[{','.join(wanted['extras'])}]"
    install(python, "--no-build-isolation", "--editable", editable, *wanted["dev"])


def make_locked(python: Path) -> None:
    """Install the very files that `make lock` pinned, as CI does."""
    from itertools import pairwise

    lines = Path(LOCK).read_text(encoding="utf-8").split("\n")
    starts = [at for at, line in enumerate(lines) if line[:1].isalpha()] + [len(lines)]
    blocks = ["\n".join(lines[lo:hi]) for lo, hi in pairwise(starts)]
    # What comes as a source distribution is built with these, and not with what an index has today.
    first = [block for block in blocks if block.startswith(("setuptools==", "cython=="))]
    for pinned in (first, blocks):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(pinned))
            file.flush()
            install(python, "--no-build-isolation", "--require-hashes", "--requirement", file.name)
    install(python, "--no-build-isolation", "--no-deps", "--editable", ".")


def install(python: Path, *what: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, *what]).returncode:
        stop(
            "the packages could not be installed; pip says why above. The first time needs the "
            "package index; afterwards everything works without a network."
        )


def stop(message: str) -> None:
    sys.exit(f"excise: {message}")


if __name__ == "__main__":
    main()
