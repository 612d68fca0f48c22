"""Check wheels: `python tools/wheel_checks.py dist`, which `make check-wheel` runs.

abi3audit looks for symbols beyond the limited API that the file name promises, check-wheel-contents
for stray files. Then each Python that is here installs the wheel for its platform into a new
environment with a space and a letter beyond ASCII in its path, and uses it; one that is too old has
to be refused. Those that are not here are named untried.
"""

from __future__ import annotations

import glob
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REFUSED, OFFERED = ("3.10",), ("3.11", "3.12", "3.13", "3.14")
PROGRAM = """
import excise
score = excise.similarity(origin="a b", a="a c", b="a d")
assert score.value == 0.5, score
assert excise.ScoreMatrix.from_texts("a", {"x": "b", "y": "b"}).values.min() == 1
print(excise.__version__)
"""


def main() -> None:
    wheels = sorted(Path(sys.argv[1]).glob("excise-*.whl"))
    if not wheels:
        sys.exit(f"excise: no wheel in {sys.argv[1]}; run: make dist")
    for wheel in wheels:
        check("abi3audit", "--strict", str(wheel))
        # W009: two packages on purpose, the library and its shell.
        check("check-wheel-contents", "--ignore", "W009", str(wheel))
    mine = [wheel for wheel in wheels if fits(wheel)]
    for version in (*REFUSED, *OFFERED):
        if (python := find(version)) is None:
            print(f"Python {version}: not here, untried")
        elif mine:
            install(python, mine[0].resolve(), version)


def check(tool: str, *arguments: str) -> None:
    program = Path(sys.executable).with_name(tool)
    command = [str(program if program.exists() else tool), *arguments]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"excise: {tool} found something in {arguments[-1]}")


def fits(wheel: Path) -> bool:
    """Tell whether pip would install a wheel here."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
    return not subprocess.run([*pip, wheel], check=False, stderr=subprocess.DEVNULL).returncode


def find(version: str) -> str | None:
    """Return the Python of a version that runs here, also one of pyenv that is not active."""
    places = [shutil.which(f"python{version}")]
    places += sorted(glob.glob(str(Path.home() / f".pyenv/versions/{version}.*/bin/python")))
    for place in filter(None, places):
        asked = [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, check=False, capture_output=True, text=True)
        if done.stdout.strip() == version:
            return place
    return None


def install(python: str, wheel: Path, version: str) -> None:
    with tempfile.TemporaryDirectory(prefix="a folder of Zoë ") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        own = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pip = [own, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel]
        done = subprocess.run(pip, check=False, capture_output=True, text=True)
        if version in REFUSED:
            if not done.returncode or "not a supported wheel" not in done.stderr:
                sys.exit(f"excise: Python {version} was not refused: {done.stderr}")
            print(f"Python {version}: refused")
            return
        if done.returncode:
            sys.exit(f"excise: Python {version} cannot install {wheel}: {done.stderr}")
        run = [own, "-I", "-c", PROGRAM]
        said = subprocess.run(run, check=True, capture_output=True, text=True, cwd=folder).stdout
        print(f"Python {version}: excise {said.strip()} works")


if __name__ == "__main__":
    main()
