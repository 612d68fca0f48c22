"""setuptools' build_ext for our kernels: one set of flags, and only what changed is built again.

`python build_backend/build_kernels.py` builds in place; make calls it. setuptools compares dates,
and a checkout or a rebase makes new dates for the same text, so here contents are compared: a
record beside the other build output holds what each kernel was made from (Cython knows: its .pyx
file and every .pxd file behind it) and a digest of that. A wheel is always built whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import sysconfig
import warnings
from pathlib import Path
from typing import Any

import Cython
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# One wheel for every CPython from 3.11 on.
MACROS = [("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")]
# The interpreter's own flags have -g, which makes a kernel four times as large and a quarter slower
# to compile. A .pxd file with C of its own is included by kernels that do not use all of it.
GNU_COMPILE_ARGS = ["-O3", "-g0", "-Wno-unused-function"]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "freethreading_compatible": True,
}
RECORD = Path("build") / "kernels.json"


class BuildKernels(build_ext):
    def finalize_options(self) -> None:
        for kernel in self.distribution.ext_modules or []:
            kernel.py_limited_api = True
            kernel.define_macros = [*kernel.define_macros, *MACROS]
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        # In place the names of functions stay, for whoever counts instructions or looks for leaks.
        self.strip = not self.inplace  # setuptools clears `inplace` while it builds
        if not self.inplace:
            super().run()
            return
        recorded = read_record()
        for name in recorded.keys() - {kernel.name for kernel in self.extensions}:
            Path(recorded.pop(name)["file"]).unlink(missing_ok=True)
        self.extensions = [k for k in self.extensions if is_stale(recorded.get(k.name))]
        self.force = True
        sources = {kernel.name: dependencies(kernel) for kernel in self.extensions}
        super().run()
        for name, paths in sources.items():
            file = os.path.relpath(self.get_ext_fullpath(name))
            recorded[name] = {"file": file, "sources": paths, "digest": digest(paths)}
            print(f"built {name}")
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(recorded, indent=1), encoding="utf-8")

    def build_extensions(self) -> None:
        translated = cythonize(
            self.extensions,
            build_dir=self.build_temp,  # C goes there, never beside the sources
            compiler_directives=DIRECTIVES,
            force=self.force,
            nthreads=self.parallel if len(self.extensions) > 1 else 0,
            quiet=True,
        )
        c_sources = {kernel.name: kernel.sources for kernel in translated}
        gnu = self.compiler.compiler_type != "msvc"
        for kernel in self.extensions:
            kernel.sources = c_sources[kernel.name]
            kernel.extra_compile_args = [*kernel.extra_compile_args, *(GNU_COMPILE_ARGS * gnu)]
            kernel.extra_link_args = [*kernel.extra_link_args, *(["-s"] * (gnu and self.strip))]
        super().build_extensions()


def is_stale(built: dict[str, Any] | None) -> bool:
    """Return whether a kernel was never built here, or from something else than is there now."""
    if built is None or not Path(built["file"]).is_file():
        return True
    return digest(built["sources"]) != built["digest"]


def dependencies(kernel: Extension) -> list[str]:
    """Return the files of this project that a kernel is made from, and this one."""
    here, tree = Path.cwd(), create_dependency_tree()
    paths = {Path(path).resolve() for pyx in kernel.sources for path in tree.all_dependencies(pyx)}
    ours = {path for path in paths if path.is_relative_to(here / "core")}
    return sorted(str(path.relative_to(here)) for path in ours | {Path(__file__).resolve()})


def digest(sources: list[str]) -> str | None:
    """Return a digest of these files and of the tools that read them; None if a file is gone."""
    tools = [Cython.__version__, sysconfig.get_platform()]
    tools += [str(sysconfig.get_config_var(name)) for name in ("CC", "CFLAGS", "LDSHARED")]
    tools += [os.environ.get(name, "") for name in ("CC", "CFLAGS", "LDFLAGS")]
    total = hashlib.sha256("\0".join(tools).encode())
    for path in map(Path, sources):
        if not path.is_file():
            return None
        total.update(f"\0{path}\0".encode() + path.read_bytes())
    return total.hexdigest()


def read_record() -> dict[str, dict[str, Any]]:
    """Return of each kernel built in place its file, what it was made from, and their digest."""
    try:
        recorded: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return recorded


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message=".*is still \\*experimental\\*")
    setup(script_args=["-q", "build_ext", "--inplace"])
