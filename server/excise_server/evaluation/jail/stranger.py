"""The stranger: guards itself, then runs a hypothesis and its tests in one module."""

from __future__ import annotations

import builtins
import os
import sys
from collections import deque
from collections.abc import Callable
from itertools import repeat
from types import CodeType, ModuleType
from typing import Any

from excise_server.evaluation.jail import privileges, seccomp
from excise_server.foundation.linux import GuardError, die_with_parent

__all__ = ["GUARDED", "PASSED", "REFUSED", "builtin_exceptions", "run"]

REPORT = 3
"""The descriptor to which the stranger writes its verdict."""

_execute: Callable[[CodeType, dict[str, Any]], Any] = exec

GUARDED, PASSED, FAILED, REFUSED = b"guarded ", b"passed ", b"failed ", b"refused "


def run(job: dict[str, Any], report: int) -> None:
    """Guard this process, run the parts, and write the result to ``report``. Never returns.

    Anything that the parts write to the report can only spoil the verdict.
    """
    os.dup2(report, REPORT)
    os.closerange(REPORT + 1, os.sysconf("SC_OPEN_MAX"))
    try:
        _guard(job)
    except (GuardError, OSError, ValueError) as error:
        os.write(REPORT, REFUSED + str(error).encode("ascii", "replace")[:200])
        os._exit(1)
    write, end = os.write, os._exit  # kept before the parts can replace them
    # While the parts run, the word is an argument that waits: neither a descriptor nor a variable.
    write(REPORT, _draw_word() + _run_parts(job["parts"]))
    end(0)


def _guard(job: dict[str, Any]) -> None:
    os.setsid()
    privileges.drop()
    die_with_parent()  # last, because becoming another user would undo it
    privileges.limit(job["memory"], job["seconds"])
    seccomp.allow_only_these()


def _draw_word() -> bytes:
    """Tell the watcher a random word, and return what repeats it."""
    word = os.urandom(16)
    os.write(REPORT, GUARDED + word)
    return PASSED + word


def _run_parts(parts: list[str]) -> bytes:
    """Run the parts, and return nothing more to report, or report an exception and end.

    A stranger reaches the frames that called it: it can change their variables and lists, and let
    them go on at the beginning of another line. So one expression, whose operands are read before,
    makes all calls, and no other line leads to a result.
    """
    write, end, kind_of = os.write, os._exit, type
    names = {id(kind): kind.__name__ for kind in builtin_exceptions()}
    ancestors = type.__dict__["__mro__"].__get__
    try:
        return b"".join(deque(map(_execute, _compiled(parts), repeat(_main_module())), maxlen=0))
    except BaseException as error:  # noqa: BLE001 - an exit is a failure too
        for kind in ancestors(kind_of(error)):
            if id(kind) in names:
                write(REPORT, FAILED + names[id(kind)].encode())
                break
        end(1)


def _compiled(parts: list[str]) -> tuple[CodeType, ...]:
    return tuple(compile(part, f"<part {index}>", "exec") for index, part in enumerate(parts))


def _main_module() -> dict[str, Any]:
    """Make the module that the parts run in, and return its variables."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__["__builtins__"] = builtins
    return module.__dict__


def builtin_exceptions() -> list[type[BaseException]]:
    """Return the exceptions of Python itself, the nearest of which a verdict names."""
    kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
    return [kind for kind in kinds if issubclass(kind, BaseException)]
