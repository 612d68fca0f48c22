"""Files of a working tree changed together, or not at all: what ``excise take --write`` does.

Every file is read and its new bytes are computed before any file is written. No link is followed on
the way to a file, each file is replaced atomically, and after an error all replaced files are
restored. The user's edits on other lines stay. If lines to be changed are not the target's, nothing
is written. Nothing is committed or staged.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.foundation.paths import visible
from excise_server.review.git_patch import FileEdit, git_patch
from excise_server.review.own_edits import edited_beside, is_same_file

__all__ = ["Written", "undo_patch", "write_files"]

_EXECUTABLE = "100755"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_HINT = "commit or undo that first, or apply the patch that is printed without --write"


@dataclass(frozen=True, slots=True)
class Written:
    """A file of the working tree before and after, with the earlier ``status`` from ``lstat``."""

    edit: FileEdit
    status: os.stat_result | None


def write_files(top: str, files: Sequence[FileEdit], undo: Path) -> list[Written]:
    """Make edits of the target in its working tree.

    Parameters
    ----------
    top
        The folder that paths are relative to.
    undo
        Where to save the patch that undoes the change; not created if nothing is written.

    Raises
    ------
    SourceError
        If the lines are not those of the target, a file cannot be replaced, or this system offers
        no safe way to do it. All files are then as they were.
    """
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        raise SourceError(
            "--write is not supported on this system", hint="pipe the patch into git apply"
        )
    with _Tree(top) as tree:
        plan = [tree.planned(file) for file in files]
        plan = [written for written in plan if written.edit.is_edit]
        if plan:
            _save(undo, undo_patch(plan))
            try:
                tree.replace_all(plan)
            except BaseException:
                undo.unlink()
                raise
    return plan


def undo_patch(plan: Sequence[Written]) -> bytes:
    """Return the patch from the files as they are after to those before."""
    return git_patch(
        FileEdit(edit.old_path, edit.path, edit.new, edit.old)
        for edit in (written.edit for written in plan)
    )


def _save(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, _MAKE, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SourceError(f"the undo patch cannot be saved: {error}") from error


class _Tree:
    """A working tree, open, so that no link can lead out of it."""

    def __init__(self, top: str) -> None:
        self._root = os.open(top, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))

    def __enter__(self) -> _Tree:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._root)

    def planned(self, file: FileEdit) -> Written:
        """Return the edit of a file as it is in the working tree."""
        try:
            return self._planned(file)
        except (OSError, ValueError) as error:
            name = visible(file.path)
            raise SourceError(f"{name}: {getattr(error, 'strerror', error)}") from error
        except SourceError as error:
            hint = error.hint or _HINT
            raise SourceError(f"{visible(file.path)}: {error.reason}", hint=hint) from error

    def _planned(self, file: FileEdit) -> Written:
        status, working = self._read(file.old_path)
        if file.old is None:
            if working is not None and file.new is not None and working.data == file.new.data:
                return Written(FileEdit(file.path, file.path, working, working), status)
            if status is not None:
                raise SourceError("a file of this name already exists")
            return Written(file, None)
        if working is None or status is None:
            raise SourceError("it no longer exists")
        if file.path != file.old_path and self._read(file.path)[0] is not None:
            raise SourceError("a file of this name already exists")
        after = None if file.new is None else edited_beside(file.old, file.new, working)
        if after is None and not is_same_file(working, file.old):
            raise SourceError("it has other edits, which would be lost")
        return Written(FileEdit(file.path, file.old_path, working, after), status)

    def _read(self, path: str) -> tuple[os.stat_result | None, Side | None]:
        """Return the file or link at a path, or None if there is neither."""
        try:
            with self._folder(path, make=False) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    return status, Side(LINK, os.fsencode(os.readlink(name, dir_fd=folder)))
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError("something other than a file has this name")
                if status.st_size > MAX_BYTES:
                    raise SourceError(f"it is over {MAX_BYTES // 1_000_000} MB")
                with open(os.open(name, _READ, dir_fd=folder), "rb") as file:
                    mode = _EXECUTABLE if status.st_mode & 0o100 else "100644"
                    return status, Side(mode, file.read())
        except FileNotFoundError:
            return None, None

    @contextmanager
    def _folder(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a path, component by component, following no link."""
        *folders, name = _components(path)
        inner = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=inner)
                try:
                    deeper = os.open(folder, _FOLDER, dir_fd=inner)
                except NotADirectoryError as error:
                    raise SourceError("a link or a file is where its folder would be") from error
                os.close(inner)
                inner = deeper
            yield inner, name
        finally:
            os.close(inner)

    def replace_all(self, plan: Sequence[Written]) -> None:
        """Replace all files, or restore those that were replaced if one cannot be."""
        done: list[Written] = []
        current = ""
        try:
            for written in plan:
                current = written.edit.path
                self._check_still(written)
            for written in plan:
                current = written.edit.path
                self._replace(written.edit, written.status)
                done.append(written)
        except (OSError, SourceError) as error:
            for written in reversed(done):
                edit = written.edit
                back = FileEdit(edit.old_path, edit.path, edit.new, edit.old)
                with suppress(OSError, SourceError):
                    self._replace(back, written.status)
            reason = error.reason if isinstance(error, SourceError) else error.strerror
            raise SourceError(
                f"{visible(current)}: {reason}; all files are as they were"
            ) from error

    def _check_still(self, written: Written) -> None:
        edit = written.edit
        status, working = self._read(edit.old_path)
        is_same = working == edit.old and (status is None) is (written.status is None)
        if not is_same or (edit.path != edit.old_path and self._read(edit.path)[0] is not None):
            raise SourceError("it changed meanwhile")

    def _replace(self, edit: FileEdit, status: os.stat_result | None) -> None:
        """Write the new file, and remove the old one last if it has another name."""
        if edit.new is not None:
            with self._folder(edit.path, make=True) as (folder, name):
                self._put(folder, name, edit, status)
        if edit.new is None or edit.path != edit.old_path:
            try:
                self._remove(edit.old_path)
            except BaseException:
                if edit.new is not None:
                    self._remove(edit.path)
                raise

    def _put(self, folder: int, name: str, edit: FileEdit, status: os.stat_result | None) -> None:
        assert edit.new is not None
        aside = f".excise-{secrets.token_hex(8)}"
        try:
            if edit.new.mode == LINK:
                os.symlink(os.fsdecode(edit.new.data), aside, dir_fd=folder)
            else:
                wanted = 0o777 if edit.new.mode == _EXECUTABLE else 0o666
                with open(os.open(aside, _MAKE, wanted, dir_fd=folder), "wb") as file:
                    file.write(edit.new.data)
                    if status is not None and stat.S_ISREG(status.st_mode):
                        os.fchmod(file.fileno(), _permissions(status.st_mode, edit))
                    file.flush()
                    os.fsync(file.fileno())
            os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside, dir_fd=folder)
            raise

    def _remove(self, path: str) -> None:
        """Remove a file, and the folders that are empty without it."""
        with suppress(FileNotFoundError), self._folder(path, make=False) as (folder, name):
            os.unlink(name, dir_fd=folder)
        parts = _components(path)[:-1]
        with suppress(OSError, SourceError):
            while parts:
                with self._folder("/".join(parts), make=False) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
                parts.pop()


def _components(path: str) -> list[str]:
    """Return the components of a path of a repository.

    Raises
    ------
    SourceError
        If it leads out of the tree, or into the repository itself.
    """
    parts = path.split("/")
    for part in parts:
        plain = part.casefold().rstrip(". ")
        if part in ("", ".", "..") or "\0" in part or plain in (".git", "git~1"):
            raise SourceError("no file of the working tree has such a path")
    return parts


def _permissions(mode: int, edit: FileEdit) -> int:
    """Return the permissions of a file, with those to execute it as git's mode has them."""
    plain = stat.S_IMODE(mode) & ~0o111
    if edit.new is None or edit.new.mode != _EXECUTABLE:
        return plain
    return stat.S_IMODE(mode) if mode & 0o100 else plain | ((plain & 0o444) >> 2)
