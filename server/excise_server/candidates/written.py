"""Files of a working tree changed together, or not at all: what ``excise take --write`` does.

Every file is read, and its new bytes are on disk with a journal, before any file is touched. Then
each file is exchanged for its new one, and *what came out is looked at*: if that is not what was
read, an editor saved meanwhile. Everything then goes back, and so it does after an error and a
signal. What ended the process is made good by the next command that opens the tree: until the take
is marked as done, all files are put back. Putting back goes by contents alone. A file that is
neither the earlier nor the new one is somebody's save: it stays, and nothing of it is ever removed,
here or in the journal.

No link is followed on the way to a file. The user's edits on other lines stay. If lines to be
changed are not the target's, nothing is written. Nothing is committed or staged. A file with other
names (hard links) is replaced as git does it: those keep the earlier content.

Without ``renameat2`` (or macOS's ``renameatx_np``), or on a file system that cannot exchange, a
file is moved aside, looked at, and its new one put into the empty place, which fails if somebody
was faster.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from excise_server.candidates.journal import (
    FOLDER,
    MAKE,
    Kept,
    PlannedEdit,
    PlannedTake,
    Take,
    TakeJournal,
    git_mode,
    look,
    read_file,
    sync,
)
from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.files import is_refused_by_git, make_private
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.composing import check_no_submodule, edited_beside, is_same_file
from excise_server.review.git_patch import FileEdit

_EXECUTABLE = "100755"
_HINT = "commit or undo that first, or apply the patch that is printed without --write"


class _Slot(NamedTuple):
    """One path of a take: its aside, the home of that, what it was and will be (None: no file)."""

    path: str
    aside: str
    home: int
    before: Kept | None
    after: Kept | None


def _slots(edits: Sequence[PlannedEdit]) -> Iterator[_Slot]:
    for index, edit in enumerate(edits):
        aside, other = str(2 * index), str(2 * index + 1)
        if edit.path == edit.old_path:
            yield _Slot(edit.path, aside, edit.homes[0], edit.before, edit.after)
        else:
            yield _Slot(edit.path, aside, edit.homes[0], None, edit.after)
            yield _Slot(edit.old_path, other, edit.homes[1], edit.before, None)


@contextmanager
def opened_checkout(
    top: str, git_dir: str | None, cache: Path | None, *, make: bool = True
) -> Iterator[Checkout | None]:
    """Open a working tree to write, alone, with earlier takes made good.

    Raises SourceError if another process writes into the tree, its journal cannot be used or be
    made good, or this system offers no safe way to write.

    - ``top``: the folder that paths are relative to.
    - ``git_dir``: the part of the repository that belongs to this working tree, proved to be that.
    - ``cache``: where journals of other trees are, if the user has such a folder.
    - ``make``: whether to make a journal. If not, and there is none, there is nothing to make good:
      None.
    """
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        if not make:
            yield None
            return
        raise SourceError(
            "--write is not supported on this system", hint="pipe the patch into git apply"
        )
    if git_dir is not None and (
        os.path.lexists(os.path.join(git_dir, "excise")) or os.access(git_dir, os.W_OK | os.X_OK)
    ):
        place, parts = git_dir, ["excise"]
    elif cache is not None:
        place = str(cache)
        parts = ["takes", hashlib.sha256(os.fsencode(top)).hexdigest()[:32]]
    else:
        raise SourceError("no folder for the journal", hint="set HOME or XDG_CACHE_HOME")
    try:
        if make:
            make_private(place)
        journal = TakeJournal(place, parts, make=make)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not make:
            yield None
            return
        hint = "nothing was written; set XDG_CACHE_HOME to a folder of yours"
        raise SourceError(f"the journal cannot be made: {error}", hint=hint) from error
    with ExitStack() as stack:
        stack.callback(journal.close)
        try:
            root = os.open(top, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
            stack.callback(os.close, root)
            checkout = Checkout(top, root, journal)
            checkout.make_good()
        except OSError as error:
            raise SourceError(f"the journal of takes cannot be used: {error}") from error
        yield checkout


@dataclass(slots=True)
class Checkout:
    """A working tree, open, so that no link can lead out of it, with its journal.

    - ``said``: what people have to know of earlier takes and of this one, a sentence each.
    - ``rolled_back``: the take that was interrupted and put back when the tree was opened.
    """

    _top: str
    _root: int
    _journal: TakeJournal
    said: list[str] = field(default_factory=list)
    rolled_back: PlannedTake | None = None

    def make_good(self) -> None:
        """Put back what an interrupted take changed, and tell what was written into asides late."""
        numbers = self._journal.numbers()
        for number in numbers[-1:]:
            with self._journal.take(number) as take:
                if not take.has("plan"):
                    self._discard(take)
                    numbers.pop()
                elif not take.has("done") and not take.has("back"):
                    plan = take.plan()
                    stays = self._put_back(take, plan)
                    files = first_few([visible(edit.path) for edit in plan.edits])
                    self.said.append(
                        f"the take of {plan.when} was interrupted, and has been put back: {files}"
                        + (f"; changed meanwhile, and left so: {first_few(stays)}" if stays else "")
                    )
                    self.rolled_back = plan
        for number in reversed(numbers):
            with self._journal.take(number) as take:
                if not take.has("plan"):
                    continue
                try:
                    self.said += self._late(take, take.plan())
                except SourceError as error:
                    self.said.append(str(error))
                if take.has("done"):
                    break

    # --- a take ---

    def write(
        self,
        files: Sequence[FileEdit],
        stop: Callable[[], bool] = lambda: False,
        *,
        undoes: int | None = None,
        modes: Mapping[str, int] | None = None,
    ) -> list[FileEdit]:
        """Make edits of the target in the working tree, all or none, and return them.

        Those that the tree has already are left out.

        Raises SourceError if lines are not those of the target, a file cannot be replaced or was
        saved meanwhile, or it was stopped. All files are then as they were, but for those that
        somebody saved.

        - ``stop``: asked before each file. If it says so, everything is put back.
        - ``undoes``: the number of the take that this one undoes.
        - ``modes``: the ``st_mode`` of files that are made again.
        """
        plan, problems = [], []
        for file in files:
            try:
                edit, status = self._planned(file)
                if edit.is_edit:
                    plan.append((edit, status))
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                problems.append((f"{visible(file.old_path)}: {reason}", ""))
            except SourceError as error:
                problems.append((f"{visible(file.old_path)}: {error.reason}", error.hint))
        if problems:
            reasons = "; ".join(reason for reason, _ in problems[:5])
            more = f"; and {len(problems) - 5} more files" if len(problems) > 5 else ""
            raise SourceError(f"{reasons}{more}", hint=problems[0][1] or _HINT)
        if not plan:
            return []
        with self._journal.new() as take:
            try:
                kept = self._prepare(take, plan, undoes, modes or {})
            except BaseException as error:
                with suppress(OSError, SourceError):
                    self._discard(take)
                if not isinstance(error, OSError | SourceError):
                    raise
                reason = f"the new files cannot be prepared: {_reason(error)}"
                raise SourceError(f"{reason}; nothing was written") from error
            self._make(take, kept, stop)
            with suppress(OSError, SourceError):
                self._clean(take, kept)
        self.said += [
            f"{visible(edit.old_path)} had another name (a hard link), "
            "which keeps the earlier content"
            for edit, status in plan
            if status is not None and status.st_nlink > 1
        ]
        return [edit for edit, _ in plan]

    def undo(self, stop: Callable[[], bool] = lambda: False) -> tuple[PlannedTake, list[FileEdit]]:
        """Undo the last take, beside what was edited since; return it, and what was undone.

        Raises SourceError if there is none, it was undone, or its lines have other edits since.
        Nothing is undone.
        """
        for number in reversed(self._journal.numbers()):
            with self._journal.take(number) as take:
                if not take.has("done"):
                    continue
                plan = take.plan()
                path = take.path
            if plan.undoes is not None:
                raise SourceError(f"nothing to undo: the last take was undone at {plan.when}")
            edits = [edit.reversed for edit in plan.edits]
            modes = {edit.old_path: edit.before.mode for edit in plan.edits if edit.before}
            try:
                return plan, self.write(edits, stop, undoes=number, modes=modes)
            except SourceError as error:
                hint = f"change these back first; what the files were is kept in {visible(path)}"
                hint = hint if error.hint == _HINT else error.hint
                raise SourceError(f"nothing was undone: {error.reason}", hint=hint) from error
        raise SourceError("nothing to undo: no take of this checkout is known")

    def _planned(self, file: FileEdit) -> tuple[FileEdit, os.stat_result | None]:
        """Return the edit of a file as it is in the working tree, and its earlier ``lstat``."""
        is_link = file.new is not None and file.new.mode == LINK
        if is_link and is_refused_by_git(file.path, is_link=True):
            raise SourceError("git refuses a link of such a name")
        check_no_submodule(file)
        status, working = self._read(file.old_path)
        if file.old is None:
            if working is not None and file.new is not None and working.data == file.new.data:
                return FileEdit(file.path, file.path, working, working), status
            if status is not None:
                raise SourceError("a file of this name already exists")
            return file, None
        if working is None or status is None:
            if file.new is None:
                return FileEdit(file.path, file.path, None, None), None
            raise SourceError("it no longer exists")
        if file.path != file.old_path and self._read(file.path)[0] is not None:
            becomes = visible(file.path)
            raise SourceError(f"it becomes {becomes}, and a file of this name already exists")
        after = None if file.new is None else edited_beside(file.old, file.new, working)
        if after is None and not is_same_file(working, file.old):
            raise SourceError("it has other edits, which would be lost")
        return FileEdit(file.path, file.old_path, working, after), status

    def _read(self, path: str) -> tuple[os.stat_result | None, Side | None]:
        """Return the file or link at a path, or None if there is neither."""
        try:
            with self._folder(path, make=False) as (folder, name):
                status, data = read_file(folder, name)
                return status, Side(git_mode(status.st_mode), data)
        except FileNotFoundError:
            return None, None

    @contextmanager
    def _folder(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a path, and return it with the last component."""
        *folders, name = _components(path)
        with self._opened(folders, make=make) as folder:
            yield folder, name

    @contextmanager
    def _opened(self, folders: Sequence[str], *, make: bool) -> Iterator[int]:
        """Open a folder of the tree, component by component, following no link."""
        inner = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=inner)
                try:
                    deeper = os.open(folder, FOLDER, dir_fd=inner)
                except NotADirectoryError as error:
                    raise SourceError("a link or a file is where its folder would be") from error
                os.close(inner)
                inner = deeper
            yield inner
        finally:
            os.close(inner)

    # --- preparing: the tree is not touched yet ---

    def _prepare(
        self,
        take: Take,
        plan: Sequence[tuple[FileEdit, os.stat_result | None]],
        undoes: int | None,
        modes: Mapping[str, int],
    ) -> PlannedTake:
        """Write all new files into the homes of asides, and then the plan."""
        bases: list[str] = []
        known: dict[str, int] = {}
        homes = [
            (
                self._home_of(take, edit.path, bases, known),
                self._home_of(take, edit.old_path, bases, known),
            )
            for edit, _ in plan
        ]
        if bases:
            take.save_foreign(secrets.token_hex(8), bases)
        for base in bases:
            with self._opened(_components(base) if base else [], make=False) as folder:
                name = take.foreign()[0]
                os.mkdir(name, 0o700, dir_fd=folder)
                inner = os.open(name, FOLDER, dir_fd=folder)
                try:
                    _make_ignored(inner)
                finally:
                    os.close(inner)
                sync(folder)
        edits = []
        with self._homes(take) as opened:
            for index, ((edit, status), (home, other)) in enumerate(zip(plan, homes, strict=True)):
                before = after = None
                if edit.new is not None and (own := opened[home]) is not None:
                    mode = modes.get(edit.path)
                    after = _staged(own, str(2 * index), edit.new, status, mode)
                if edit.old is not None and status is not None:
                    is_link = stat.S_ISLNK(status.st_mode)
                    mode = stat.S_IFLNK if is_link else status.st_mode
                    before = Kept(mode, edit.old.data)
                edits.append(PlannedEdit(edit.path, edit.old_path, before, after, (home, other)))
            for each in opened:
                if each is not None:
                    sync(each)
        kept = PlannedTake(time.time(), tuple(edits), undoes)
        take.save(kept)
        return kept

    def _home_of(self, take: Take, path: str, bases: list[str], known: dict[str, int]) -> int:
        """Return the index of the home of a path's aside: on the file system of its folder."""
        *folders, _ = _components(path)
        name = "/".join(folders)
        if name in known:
            return known[name]
        with ExitStack() as stack:
            chain = [(take.folder, ""), (stack.enter_context(self._opened([], make=False)), "")]
            for depth in range(len(folders)):
                try:
                    inner = stack.enter_context(self._opened(folders[: depth + 1], make=False))
                except FileNotFoundError:
                    break
                chain.append((inner, "/".join(folders[: depth + 1])))
            own = chain[-1][0]
            place = next(i for i, (folder, _) in enumerate(chain) if _is_beside(folder, own))
            base = chain[place][1]
            if place and base not in bases:
                bases.append(base)
            known[name] = bases.index(base) + 1 if place else 0
        return known[name]

    @contextmanager
    def _homes(self, take: Take) -> Iterator[list[int | None]]:
        """Open the homes of a take's asides; one whose folder is gone is None."""
        with ExitStack() as stack:
            name, bases = take.foreign()
            homes: list[int | None] = [take.folder]
            for base in bases:
                try:
                    parts = _components(base) if base else []
                    folder = stack.enter_context(self._opened([*parts, name], make=False))
                    is_ours = os.fstat(folder).st_uid == os.geteuid()
                    homes.append(folder if is_ours else None)
                except (OSError, SourceError):
                    homes.append(None)
            yield homes

    # --- doing it, and putting it back ---

    def _make(self, take: Take, plan: PlannedTake, stop: Callable[[], bool]) -> None:
        path = ""
        try:
            with self._homes(take) as homes:
                for slot in _slots(plan.edits):
                    path = ""
                    _check_not(stop)
                    path = slot.path
                    self._forward(slot, homes[slot.home])
                for slot in _slots(plan.edits):
                    # What was written into an aside after it came out: an editor had it open.
                    if slot.before is not None and (home := homes[slot.home]) is not None:
                        path = slot.path
                        kept = look(home, f"{slot.aside}.old")
                        if (look(home, slot.aside) if kept is None else kept) != slot.before:
                            raise SourceError("it was changed meanwhile")
                path = ""
                self._sync(plan, homes)
            _check_not(stop)
            take.mark("done")
        except BaseException as error:
            state = "all files are as they were"
            try:
                if stays := self._put_back(take, plan):
                    state = f"{first_few(stays)} left as changed, and all other files as they were"
            except SourceError as failure:
                state = failure.reason
            if not isinstance(error, OSError | SourceError):
                raise
            name = f"{visible(path)}: " if path else ""
            raise SourceError(f"{name}{_reason(error)}; {state}") from error

    def _forward(self, slot: _Slot, home: int | None) -> None:
        """Make one path new, or raise if what came out is not what was read: it stays out."""
        if home is None:
            raise SourceError("the folder of what is set aside has gone")
        make = slot.before is None
        try:
            with self._folder(slot.path, make=make) as (folder, name):
                if slot.before is None:
                    _move(home, slot.aside, folder, name)
                    return
                came_out = slot.aside
                aside, exchanged = slot.aside, False
                if slot.after is not None:
                    exchanged = _renamed(home, aside, folder, name, "EXCHANGE")
                if not exchanged:
                    came_out = f"{slot.aside}.old" if slot.after is not None else slot.aside
                    _move(folder, name, home, came_out)
                if look(home, came_out) != slot.before:
                    raise SourceError("it was changed meanwhile")
                if slot.after is not None and not exchanged:
                    _move(home, slot.aside, folder, name)
        except FileExistsError as error:
            raise SourceError("a file of this name appeared meanwhile") from error
        except FileNotFoundError as error:
            raise SourceError("it no longer exists") from error

    def _put_back(self, take: Take, plan: PlannedTake) -> list[str]:
        """Make all paths old again, mark it, and return those that are somebody's save, and stay.

        Where some cannot be put back, it raises, and the next command tries again.
        """
        problems, stays = [], []
        with self._homes(take) as homes:
            for slot in reversed([*_slots(plan.edits)]):
                try:
                    self._backward(slot, homes[slot.home])
                    if self._look(slot.path) != slot.before:
                        stays.append(visible(slot.path))
                except (OSError, SourceError) as error:
                    problems.append(f"{visible(slot.path)}: {_reason(error)}")
            if not problems:
                try:
                    self._sync(plan, homes)
                except OSError as error:
                    problems.append(_reason(error))
            if problems:
                raise SourceError(
                    f"not all files could be put back ({first_few(problems)}); the next excise "
                    f"take tries again, and nothing is lost: it is in {visible(take.path)}"
                )
        with suppress(OSError):  # a full disk: the next command does this again, and finds it done
            take.mark("back")
        for edit in plan.edits:
            if edit.before is None or edit.path != edit.old_path:
                self._remove_empty(edit.path)
        return stays[::-1]

    def _look(self, path: str) -> Kept | None:
        try:
            with self._folder(path, make=False) as (folder, name):
                return look(folder, name)
        except FileNotFoundError:
            return None

    def _backward(self, slot: _Slot, home: int | None) -> None:
        """Make one path old again, whatever was done of it, unless it is somebody's save by now."""
        if home is None:
            return
        aside, old = slot.aside, f"{slot.aside}.old"
        try:
            with self._folder(slot.path, make=False) as (folder, name):
                for each in (aside, old):  # a move by links was interrupted between them
                    _unlink_same(home, each, folder, name)
                moved = look(home, old)
                if (slot.before is None or moved is not None) and look(home, aside) is None:
                    _take_back(folder, name, home, aside, slot.after)
                if moved is not None:
                    _move_if_free(home, old, folder, name)
                elif slot.after is None:
                    _move_if_free(home, aside, folder, name)
                elif slot.before is not None:
                    _swap_back(home, aside, folder, name, slot.after)
        except FileNotFoundError:
            came_out = look(home, old) or look(home, aside)
            if slot.before is None or came_out is None or came_out == slot.after:
                return
            # Somebody has removed the folder, in which the file was to be old again.
            with self._folder(slot.path, make=True) as (folder, name):
                which = old if look(home, old) is not None else aside
                _move_if_free(home, which, folder, name)

    def _sync(self, plan: PlannedTake, homes: Sequence[int | None]) -> None:
        """Have the names in all folders of a plan on disk."""
        folders: set[tuple[str, ...]] = {()}
        for slot in _slots(plan.edits):
            *parts, _ = _components(slot.path)
            while tuple(parts) not in folders:
                folders.add(tuple(parts))
                parts.pop()
        for names in sorted(folders):
            with suppress(FileNotFoundError, SourceError), self._opened(names, make=False) as inner:
                sync(inner)
        for home in homes:
            if home is not None:
                sync(home)

    # --- afterwards ---

    def _late(self, take: Take, plan: PlannedTake) -> Iterator[str]:
        """Tell which asides have other bytes than they should: what was written late, or saved."""
        token, bases = take.foreign()
        with self._homes(take) as homes:
            for slot in _slots(plan.edits):
                home = homes[slot.home]
                known = [side.data for side in (slot.before, slot.after) if side is not None]
                for name in (slot.aside, f"{slot.aside}.old"):
                    kept = None if home is None else look(home, name)
                    if kept is None or (kept.mode != -1 and kept.data in known):
                        continue
                    place = take.path
                    if slot.home:
                        place = os.path.join(self._top, bases[slot.home - 1], token)
                    yield (
                        f"{visible(slot.path)}: what was saved or written into it while it was "
                        f"replaced, or later, is in {visible(os.path.join(place, name))}"
                    )

    def _clean(self, take: Take, plan: PlannedTake) -> None:
        """Remove the folders that are empty without their files, and takes that nobody needs."""
        for edit in plan.edits:
            if edit.after is None or edit.path != edit.old_path:
                self._remove_empty(edit.old_path)
        for number in self._journal.numbers():
            if number != take.number:
                with suppress(OSError, SourceError), self._journal.take(number) as other:
                    if other.is_old and not (
                        other.has("plan") and any(self._late(other, other.plan()))
                    ):
                        self._discard(other)

    def _remove_empty(self, path: str) -> None:
        """Remove the folders of a path that are empty."""
        parts = _components(path)[:-1]
        with suppress(OSError, SourceError):
            while parts:
                with self._opened(parts[:-1], make=False) as folder:
                    os.rmdir(parts[-1], dir_fd=folder)
                parts.pop()

    def _discard(self, take: Take) -> None:
        with self._homes(take) as homes:
            for home in homes[1:]:
                for name in [] if home is None else os.listdir(home):
                    os.unlink(name, dir_fd=home)
        name, bases = take.foreign()
        for base in bases:
            parts = _components(base) if base else []
            with suppress(OSError, SourceError), self._opened(parts, make=False) as folder:
                os.rmdir(name, dir_fd=folder)
        self._journal.remove(take)


def _check_not(stop: Callable[[], bool]) -> None:
    if stop():
        raise SourceError("interrupted")


def _reason(error: OSError | SourceError) -> str:
    return error.reason if isinstance(error, SourceError) else error.strerror or str(error)


# --- single files: `home` and `aside`, `folder` and `name` are a folder and a name in it ---


def _staged(
    home: int, aside: str, new: Side, status: os.stat_result | None, mode: int | None
) -> Kept:
    """Write what a file will be, with owner, group and permissions of what it is."""
    if new.mode == LINK:
        os.symlink(os.fsdecode(new.data), aside, dir_fd=home)
        return Kept(stat.S_IFLNK, new.data)
    wanted = 0o777 if new.mode == _EXECUTABLE else 0o666
    with open(os.open(aside, MAKE, wanted, dir_fd=home), "wb") as file:
        file.write(new.data)
        if status is not None and stat.S_ISREG(status.st_mode):
            mode, own = status.st_mode, os.fstat(file.fileno())
            if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
                with suppress(OSError):  # only root can, and a member of the group
                    os.fchown(file.fileno(), status.st_uid, status.st_gid)
        if mode is not None and stat.S_ISREG(mode):
            os.fchmod(file.fileno(), _permissions(mode, new))
        file.flush()
        os.fsync(file.fileno())
        return Kept(os.fstat(file.fileno()).st_mode, new.data)


def _make_ignored(folder: int) -> None:
    """Have git show nothing of a folder: it gets the whole ``.gitignore`` at once, where it can."""
    flags, name = os.O_WRONLY | getattr(os, "O_TMPFILE", 0), "."
    if not hasattr(os, "O_TMPFILE"):
        flags, name = MAKE, ".gitignore"
    file = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        os.write(file, b"*\n")
        os.fsync(file)
        if name == ".":
            os.link(f"/proc/self/fd/{file}", ".gitignore", dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(file)


def _take_back(folder: int, name: str, home: int, aside: str, after: Kept | None) -> None:
    """Move our new file out of the tree, unless it is somebody's by now."""
    if after is None or look(folder, name) != after:
        return
    _move(folder, name, home, aside)
    if look(home, aside) != after:
        _move_if_free(home, aside, folder, name)


def _swap_back(home: int, aside: str, folder: int, name: str, after: Kept) -> None:
    """Exchange our new file for what came out, unless the new one is somebody's by now.

    Whatever comes out unexpectedly was saved in that moment, and is newer than what it was replaced
    by: it goes back, until the file is the newest of all.
    """
    kept, expected = look(home, aside), after
    if kept is None or kept == after:
        return
    if (now := look(folder, name)) is None:
        _move_if_free(home, aside, folder, name)
    elif now == after:
        while _renamed(home, aside, folder, name, "EXCHANGE"):
            if (came_out := look(home, aside)) is None or came_out == expected:
                return
            kept, expected = came_out, kept
        raise SourceError("this file system cannot exchange two files")


def _move_if_free(home: int, aside: str, folder: int, name: str) -> None:
    """Move a file from aside into the tree, unless there is one, or none aside."""
    with suppress(FileExistsError, FileNotFoundError):
        _move(home, aside, folder, name)


def _unlink_same(home: int, aside: str, folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        ours = os.stat(aside, dir_fd=home, follow_symlinks=False)
        if os.path.samestat(ours, os.stat(name, dir_fd=folder, follow_symlinks=False)):
            os.unlink(aside, dir_fd=home)


def _move(source: int, old: str, target: int, new: str) -> None:
    """Move a file to a name that must be free, or else raise `FileExistsError`."""
    if not _renamed(source, old, target, new, "NOREPLACE"):
        os.link(old, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        os.unlink(old, dir_fd=source)


def _renamed(source: int, old: str, target: int, new: str, how: str) -> bool:
    """Exchange two files, or move one; return False if the system or the file system cannot."""
    known = _rename_function()
    if known is None:
        return False
    function, flags = known
    if function(source, os.fsencode(old), target, os.fsencode(new), flags[how]) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), new)


@lru_cache
def _rename_function() -> tuple[Callable[..., int], dict[str, int]] | None:
    """Return the call that moves without replacing, and exchanges, with its flags."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        function, flags = "renameatx_np", {"EXCHANGE": 2, "NOREPLACE": 4}
    else:
        function, flags = "renameat2", {"EXCHANGE": 2, "NOREPLACE": 1}
    call = getattr(library, function, None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p] * 2 + [ctypes.c_uint]
    return call, flags


def _is_beside(home: int, folder: int) -> bool:
    """Whether a file can be moved from one folder to the other: not from one mount to another.

    Linux compares mounts before it looks for the file, so moving one that does not exist tells, and
    changes nothing. Elsewhere the numbers of the devices tell.
    """
    if os.fstat(home).st_dev != os.fstat(folder).st_dev:
        return False
    name = f".excise-{secrets.token_hex(8)}"
    try:
        os.rename(name, name, src_dir_fd=home, dst_dir_fd=folder)
    except OSError as error:
        return error.errno != errno.EXDEV
    return True


def _components(path: str) -> list[str]:
    """Return the components of a path, unless it leads out of the tree or into the repository."""
    if is_refused_by_git(path):
        raise SourceError("no file of the working tree has such a path")
    return path.split("/")


def _permissions(mode: int, new: Side) -> int:
    """Return the permissions of a file, with those to execute it as git's mode has them."""
    plain = stat.S_IMODE(mode) & ~0o111
    if new.mode != _EXECUTABLE:
        return plain
    return stat.S_IMODE(mode) if mode & 0o100 else plain | ((plain & 0o444) >> 2)
