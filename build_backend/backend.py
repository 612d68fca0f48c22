"""setuptools' build backend, from clean folders, with a clear sentence where it cannot build.

pip starts it, for a clone as for the source distribution. What it lacks is said for people: pip
shows what is written here, and a traceback would help nobody.
"""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

NEEDED = {"setuptools": (77,), "cython": (3, 3)}
NO_TOOLS = (
    "excise: {name} {version} or newer is needed to build it, and here it is {has}. pip fetches it "
    "from the package index by itself, except with --no-build-isolation: then install it first, "
    "pip install 'setuptools>=77,<90' 'cython>=3.3,<3.4'"
)
NO_COMPILER = (
    "excise: the compiled core could not be built; a C compiler and the headers of this Python "
    "are needed (Debian: apt-get install gcc python3-dev), or install a ready-made wheel."
)
COMPILER_ERRORS = {"CompileError", "LinkError", "CCompilerError", "PlatformError", "SystemExit"}


def check_tools() -> None:
    """pip does not do it without build isolation."""
    for name, version in NEEDED.items():
        try:
            has = metadata.version(name)
        except metadata.PackageNotFoundError:
            has = "missing"
        numbers = tuple(int(part) for part in has.split(".")[:2] if part.isdigit())
        if numbers < version:
            sys.exit(NO_TOOLS.format(name=name, version=".".join(map(str, version)), has=has))


check_tools()

from setuptools import build_meta  # noqa: E402
from setuptools.build_meta import (  # noqa: E402
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> Any:
    forget_earlier_builds()
    return explained(build_meta.build_wheel, directory, settings, metadata)


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> Any:
    return explained(build_meta.build_editable, directory, settings, metadata)


def build_sdist(directory: str, settings: Any = None) -> Any:
    forget_earlier_builds()
    return build_meta.build_sdist(directory, settings)


def forget_earlier_builds() -> None:
    """Remove modules and lists of files that were there once: setuptools would pack them again."""
    for folder in (*Path("build").glob("lib*"), *Path("build").glob("bdist*")):
        shutil.rmtree(folder)
    Path("excise.egg-info", "SOURCES.txt").unlink(missing_ok=True)


def explained(build: Any, *args: Any) -> Any:
    try:
        return build(*args)
    except BaseException as error:
        if type(error).__name__ in COMPILER_ERRORS:
            sys.stderr.write(f"\n{NO_COMPILER}\n")
        raise
