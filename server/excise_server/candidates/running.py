"""Where a command of the user's runs for candidates, and for how many of them one run stands."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from excise_server.candidates.chosen import chosen_tasks
from excise_server.candidates.compared import compared, scored
from excise_server.candidates.scratch import MOST, scratch_copy
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, first_few, megabytes
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate
from excise_server.review.evidence import BASE, Place
from excise_server.review.git_patch import FileEdit
from excise_server.sources.candidates import Candidates
from excise_server.sources.reading import saved_target


def run_classes(
    candidates: Candidates, task: str = "", ignored: Collection[str] = ("docs",)
) -> list[list[int]]:
    """Return the indices of the candidates of each run: the first of a class is the one to run.

    A class has the same code and, but for its docs, the same bytes in all other files: tests, which
    are what runs, scripts and lock files. Of its members, one with a folder comes first, and of
    these one whose base is nearest to the target.

    Raises SourceError if no task has that name.

    - ``task``: the only task to run: its number, name or a candidate in it; empty for all.
    - ``ignored``: the kinds of files that do not count for a run.
    """
    found = candidates.found
    if len(found) < 2 and not task:
        return [[index] for index in range(len(found))]
    if task:  # tasks cost ten times as much as who has the same code
        every = compared(candidates)
        codes, (own, _, _) = every.matrix.codes, chosen_tasks(candidates, every.tasks, task)
        chosen = {candidate.id for candidate in own.found}
    else:
        codes, chosen = scored(candidates)[1].codes, {candidate.id for candidate in found}
    classes: dict[object, list[int]] = {}
    for index, (candidate, code) in enumerate(zip(found, codes, strict=True)):
        if candidate.id in chosen:
            beside = tuple(
                (path, candidate.old.get(path), candidate.new.get(path))
                for path in sorted(candidate.old.keys() | candidate.new.keys())
                if candidate.kind_of(path) not in ("code", *ignored)
            )
            classes.setdefault((code, beside), []).append(index)
    return [
        sorted(members, key=lambda index: (not _has_folder(found[index]), found[index].behind))
        for members in classes.values()
    ]


def _has_folder(candidate: Candidate) -> bool:
    return bool(candidate.folder) and os.path.isdir(candidate.folder)


def place_in_repository(
    repository: Repository,
    origin: str,
    *,
    saved: bool = False,
    brought: Mapping[str, Side] | None = None,
    say: Callable[[str], None],
) -> Place:
    """Give candidates their folders, and the target and those without one a scratch copy.

    Raises SourceError if the saved files cannot be read. The place itself raises it if there can be
    no scratch copy.

    - ``saved``: whether the target is the saved files of the checkout, and not the commit.
    - ``brought``: what is run, by path. All have a scratch copy then, in which it takes the place
      of their own tests and scripts.
    """
    of_base: dict[str, FileEdit] = {}
    if saved:
        target = saved_target(repository, origin)
        of_base = {path: FileEdit(path, path, None, side) for path, side in target.saved.items()}

    @contextmanager
    def copied(candidate: Candidate) -> Iterator[str]:
        own = {
            path: FileEdit(path, path, candidate.old.get(path), candidate.new.get(path))
            for path in candidate.old.keys() | candidate.new.keys()
            if brought is None or candidate.kind_of(path) not in ("tests", "scratch")
        }
        for path, side in (brought or {}).items():
            own[path] = FileEdit(path, path, None, side)
        edits = [*(of_base | own).values()]
        with scratch_copy(repository, origin, edits) as (folder, left_out):
            if left_out:
                paths = first_few([visible(path) for path in left_out])
                say(f"{candidate.label}: not in its scratch copy: {paths}")
            yield folder

    def place(candidate: Candidate) -> AbstractContextManager[str]:
        if brought is None and candidate is not BASE and _has_folder(candidate):
            return nullcontext(candidate.folder)
        if brought is None and candidate.folder:
            say(f"{candidate.label}: its folder is gone: it is run in a scratch copy")
        return copied(candidate)

    return place


def place_of_folders(origin: str) -> Place:
    """Give candidates that are folders these, and the target a copy of the folder they began as."""

    @contextmanager
    def copied() -> Iterator[str]:
        sizes = (
            os.lstat(os.path.join(folder, name)).st_size
            for folder, _, names in os.walk(origin)
            for name in names
        )
        try:
            total = sum(sizes)
            if total > MOST:
                limit = f"limit {MOST // 1_000_000:,} MB for --run"
                raise SourceError(f"{origin} has {megabytes(total)}, {limit}")
            with tempfile.TemporaryDirectory(
                prefix="excise-base-", ignore_cleanup_errors=True
            ) as folder:
                shutil.copytree(origin, folder, symlinks=True, dirs_exist_ok=True)
                yield folder
        except (OSError, shutil.Error) as error:
            raise SourceError(f"no scratch copy: {error}") from error

    def place(candidate: Candidate) -> AbstractContextManager[str]:
        return copied() if candidate is BASE else nullcontext(candidate.folder)

    return place
