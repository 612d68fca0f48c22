"""Files of a folder, written and read back with their modes."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from excise_server.foundation.changes import LINK, Side


def snapshot(top: Path) -> dict[str, tuple[int, bytes | None]]:
    """Return every file below a folder, but those of a repository, with its mode and bytes.

    Of a link the bytes are where it leads; what is neither has none.
    """
    files = {}
    for folder, folders, names in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            path = Path(folder, name)
            mode, data = path.lstat().st_mode, None
            if stat.S_ISLNK(mode):
                data = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(mode):
                data = path.read_bytes()
            if name != ".git":
                files[str(path.relative_to(top))] = mode, data
    return files


def build(top: Path, files: Iterable[tuple[str, Side | None]]) -> None:
    """Write files, and links, into a folder."""
    for name, side in files:
        if side is not None:
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if side.mode == LINK:
                path.symlink_to(os.fsdecode(side.data))
            else:
                path.write_bytes(side.data)
