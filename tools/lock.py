"""Pin what the server of the VS Code extension needs, each file by its hash: `make lock` runs it.

The versions are those of the virtual environment, which the tests run with; the hashes are of every
wheel of that version, for all platforms and Pythons. uv resolves for all of these at once, which
pip cannot; it gets an environment of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

LOCK = Path("vscode-client/requirements.txt")
HEAD = (
    "# Made by `make lock`: the ranges of pyproject.toml at the versions that the tests run with.\n"
)


def main() -> None:
    tools = Path(sys.argv[1])
    if not (tools / "bin" / "uv").exists():
        groups = tomllib.loads(Path("pyproject.toml").read_text())["dependency-groups"]
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([tools / "bin" / "pip", "install", "--quiet", *groups["lock"]], check=True)
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    tested = subprocess.run(freeze, check=True, capture_output=True).stdout
    resolve = [tools / "bin" / "uv", "--quiet", "pip", "compile", "pyproject.toml"]
    resolve += ["--universal", "--python-version", "3.11", "--only-binary", ":all:"]
    resolve += ["--generate-hashes", "--no-annotate", "--no-header", "--constraints", "-"]
    pinned = subprocess.run(resolve, check=True, input=tested, capture_output=True).stdout
    LOCK.write_text(HEAD + pinned.decode(), encoding="utf-8")
    print(f"{LOCK}: {pinned.count(b'==')} packages")


if __name__ == "__main__":
    main()
