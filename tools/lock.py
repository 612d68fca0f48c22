"""Pin what the extension's server, CI, the action and a release install: `make lock` runs it.

Each file is pinned by its hash. The versions are those of the virtual environment, which the tests
run with; the hashes are of every file of that version, for all platforms and Pythons. uv resolves
for all of these at once, which pip cannot; it gets an environment of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from itertools import chain
from pathlib import Path

HEAD = (
    "# Made by `make lock`: the ranges of pyproject.toml at the versions that the tests run with.\n"
)
CLIENT, CI = Path("vscode-client/requirements.txt"), Path(".ci/requirements.txt")
ACTION, RELEASE = Path(".github/action.txt"), Path(".github/release.txt")
CI_GROUPS = ("dev", "docs", "interop")


def main() -> None:
    tools = Path(sys.argv[1])
    document = tomllib.loads(Path("pyproject.toml").read_text())
    groups = document["dependency-groups"]
    if not (tools / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([tools / "bin" / "pip", "install", "--quiet", *groups["lock"]], check=True)
    extras = document["project"]["optional-dependencies"].values()
    library = document["project"]["dependencies"]
    lock(tools, CLIENT, library, "--only-binary", ":all:")
    wanted = [*document["build-system"]["requires"], *library]
    lock(tools, ACTION, wanted, "--only-binary", ":all:")
    lock(tools, RELEASE, groups["release"], "--only-binary", ":all:")
    lock(tools, CI, [*wanted, *chain(*extras, *(groups[name] for name in CI_GROUPS))])


def lock(tools: Path, path: Path, wanted: list[str], *options: str) -> None:
    freeze = [sys.executable, "-m", "pip", "freeze", "--all", "--exclude-editable"]
    tested = subprocess.run(freeze, check=True, capture_output=True).stdout
    resolve = [tools / "bin" / "uv", "--quiet", "pip", "compile", "-"]
    resolve += ["--universal", "--python-version", "3.11", *options]
    resolve += ["--generate-hashes", "--no-annotate", "--no-header"]
    with tempfile.NamedTemporaryFile() as constraints:
        constraints.write(tested)
        constraints.flush()
        resolve += ["--constraints", constraints.name]
        given = "\n".join(wanted).encode()
        pinned = subprocess.run(resolve, check=True, input=given, capture_output=True).stdout
    path.write_text(HEAD + pinned.decode(), encoding="utf-8")
    print(f"{path}: {pinned.count(b'==')} packages")


if __name__ == "__main__":
    main()
