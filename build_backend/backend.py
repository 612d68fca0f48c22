"""setuptools' build backend, with one clear sentence when the compiled core cannot be built."""

from __future__ import annotations

import sys
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
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

REASON = (
    "excise: the compiled core could not be built; a C compiler and the headers of this Python "
    "are needed (Debian: apt-get install gcc python3-dev), or install a ready-made wheel."
)


def _explained(build: Any, *args: Any) -> Any:
    try:
        return build(*args)
    except BaseException as error:
        if type(error).__name__ in {"CompileError", "LinkError", "CCompilerError", "SystemExit"}:
            sys.stderr.write(f"\n{REASON}\n")
        raise


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> Any:
    return _explained(build_meta.build_wheel, directory, settings, metadata)


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> Any:
    return _explained(build_meta.build_editable, directory, settings, metadata)


def build_sdist(directory: str, settings: Any = None) -> Any:
    return build_meta.build_sdist(directory, settings)
