"""The kernels built with AddressSanitizer and UndefinedBehaviorSanitizer, and how they are run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "sanitized"
SUFFIX = "-sanitized"
NAMES = ("engines", "patches")
"""Targets that are run with them: those that spend their time in kernels."""

FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
OPTIONS = "detect_leaks=0:allocator_may_return_null=1:abort_on_error=0:exitcode=99"


def environment() -> dict[str, str] | None:
    """Build the kernels where they are not, and return what runs with them; None: cannot be had."""
    library = _library("libasan.so")
    if library is None or not sys.platform.startswith("linux"):
        return None
    _copy()
    flags = f"{os.environ.get('CFLAGS', '')} {FLAGS}"
    # A record of what was built is kept there as everywhere: only what changed is built again.
    ran = subprocess.run(
        [sys.executable, "build_backend/build_kernels.py"],
        cwd=BUILT,
        env={**os.environ, "CFLAGS": flags, "LDFLAGS": FLAGS},
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        raise RuntimeError(f"the kernels do not build with sanitizers:\n{ran.stderr[-3000:]}")
    return {
        "LD_PRELOAD": library,
        "PYTHONPATH": str(BUILT / "core"),
        "PYTHONMALLOC": "malloc",  # else most blocks would lie inside of one
        "ASAN_OPTIONS": OPTIONS,
        "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99",
    }


def _copy() -> None:
    for name in ("core", "build_backend"):
        shutil.copytree(
            ROOT / name, BUILT / name, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"),
        )  # fmt: skip
    shutil.copy2(ROOT / "pyproject.toml", BUILT)


def _library(name: str) -> str | None:
    compiler = shutil.which(os.environ.get("CC", "gcc"))
    if compiler is None:
        return None
    ran = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True)
    path = ran.stdout.strip()
    return path if ran.returncode == 0 and os.path.isabs(path) else None
