"""A user namespace, and a root that holds the interpreter's files alone."""

from __future__ import annotations

import os
import zoneinfo
from collections.abc import Iterable

from excise_server.foundation.linux import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUTS,
    enter_user_namespace,
    libc,
    mount,
    mount_attributes,
    pivot,
    require,
)

__all__ = ["NOBODY", "OF_RUN", "enter", "new_root", "work_folder"]

NOBODY = 65534
"""User and group of the stranger, inside."""

OF_RUN = NEWPID | NEWNS | NEWIPC | NEWNET
"""The namespaces that every run has of its own."""

ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

_ROOT = "/proc"
"""The folder in which the new root is composed, which every Linux has."""

_WORK = "/tmp"  # noqa: S108 - of the new root
"""The one folder that a stranger may write to, its own in each run."""


def enter() -> None:
    """Enter a user namespace of its own, with its mounts and name of the machine.

    Root maps itself, for the mounts, and nobody, for the stranger, because limits of processes do
    not apply to root. Any other user has only one id to map, and becomes nobody inside.
    """
    own = {"uid": os.geteuid(), "gid": os.getegid()}
    enter_user_namespace(
        dict.fromkeys(own, f"0 0 1\n{NOBODY} {NOBODY} 1"),
        {kind: f"{NOBODY} {number} 1" for kind, number in own.items()},
    )
    require("files", libc.unshare(NEWNS))
    require("name of the machine", libc.unshare(NEWUTS) or libc.sethostname(b"sandbox", 7))


def new_root(library: Iterable[str]) -> None:
    """Replace the root by one of the given folders, read-only, ``/dev/null``, an empty ``/tmp``."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", _ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for folder in _outermost([*library, *zoneinfo.TZPATH]):
        os.makedirs(_ROOT + folder, exist_ok=True)
        mount(folder, _ROOT + folder, None, MS_BIND | MS_REC)
        for packages in ("site-packages", "dist-packages"):
            if os.path.isdir(hidden := f"{_ROOT}{folder}/{packages}"):
                mount("tmpfs", hidden, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755")
    os.makedirs(_ROOT + _WORK, exist_ok=True)
    os.makedirs(f"{_ROOT}/dev", exist_ok=True)
    os.close(os.open(_ROOT + os.devnull, os.O_CREAT))
    mount_attributes(_ROOT, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    # The only device, which the program has as its standard streams anyway.
    mount(os.devnull, _ROOT + os.devnull, None, MS_BIND)
    mount_attributes(_ROOT + os.devnull, ATTR_RDONLY | ATTR_NOSUID)
    os.chdir(_ROOT)
    pivot()


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that exist, without those inside others."""
    real = {os.path.abspath(folder) for folder in folders if os.path.isdir(folder)} - {"/"}
    return sorted(
        folder for folder in real if not any(folder.startswith(f"{outer}/") for outer in real)
    )


def work_folder() -> None:
    """Mount an empty folder that the stranger may write to, and go there."""
    options = f"size=16m,nr_inodes=1k,mode=700,uid={NOBODY},gid={NOBODY}"
    mount("tmpfs", _WORK, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
    os.chdir(_WORK)
