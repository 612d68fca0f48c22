"""Build the single folder for host programs without Python: `make folder`, into dist/folder/excise.

PyInstaller puts the wheel, an interpreter and all that both need into one folder, for the platform
that it runs on. Nothing is downloaded when it runs, and nothing has to be installed beside it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# What is imported by name: grammars, kernels by one another, and every room by a command.
BY_NAME = ("excise", "excise_server")
GRAMMARS = ("tree_sitter_c_sharp", "tree_sitter_embedded_template", "tree_sitter_yaml")


def main() -> None:
    """Build it, and print its size."""
    into = Path(sys.argv[1]).resolve()
    options = ["--collect-all", "tree_sitter_language_pack"]
    for package in BY_NAME:
        options += ["--collect-submodules", package, "--collect-data", package]
    for package in GRAMMARS:
        options += ["--collect-submodules", package]
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR"]
        command += ["--onedir", "--name", "excise", "--distpath", str(into), *options]
        command += ["--workpath", work, "--specpath", work, str(HERE / "launcher.py")]
        # Elsewhere, so that it is the installed wheel that is packed and not the sources here.
        subprocess.run(command, check=True, cwd=work)
    size = sum(file.stat().st_size for file in into.rglob("*") if file.is_file())
    print(f"{into / 'excise'}: {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
