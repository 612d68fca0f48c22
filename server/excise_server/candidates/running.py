"""A command of the user's, run for candidates: where, for how many one run stands, the results."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from threading import Lock

import msgspec

from excise_server.candidates.chosen import chosen_tasks
from excise_server.candidates.compared import compared, scored
from excise_server.candidates.scratch import MOST, checked_links, scratch_copy
from excise_server.foundation.escape import visible
from excise_server.foundation.files import make_private
from excise_server.foundation.inputs import SourceError, first_few, megabytes
from excise_server.git.repository import Repository
from excise_server.processes.lifetime import StopFlag
from excise_server.processes.parsers import cache_folder
from excise_server.processes.runs import JOBS, SECONDS, Ended, check_command, holder, run, run_each
from excise_server.review.candidate import Candidate
from excise_server.review.git_patch import FileEdit
from excise_server.review.verdicts import Verdict, tests_by_name
from excise_server.sources.candidates import Candidates
from excise_server.sources.reading import saved_target
from excise_server.sources.verdicts import read_tests

_KEPT_FOLDERS = 20

BASE = Candidate("target", "", "", "", label="the target")
"""The target, in the place of a candidate: what all runs are compared with."""

Place = Callable[[Candidate], AbstractContextManager[str]]
"""Gives a candidate's folder for the time of its run; raises SourceError if it has none."""

Said = Callable[[str], None]


@dataclass(slots=True)
class Runs:
    """The outcome of the runs.

    - ``folder``: the folder with the output of each run and the file of the verdicts.
    - ``verdicts``: those on candidates, in the order in which the runs ended.
    - ``interrupted``: whether the user stopped the runs. Who was not run has no verdict then.
    """

    folder: Path
    verdicts: list[Verdict] = field(default_factory=list)
    interrupted: bool = False

    @property
    def file(self) -> Path:
        """The verdicts as JSON lines, for the next call."""
        return self.folder / "verdicts.jsonl"


def run_for(
    command: str,
    classes: Sequence[Sequence[Candidate]],
    place: Place,
    *,
    jobs: int = JOBS,
    seconds: float = SECONDS,
    junit: str = "",
    say: Said,
) -> Runs:
    """Run a command on the target, and then once for each class of candidates.

    The target comes first and alone, so that no candidate can write into it.

    Raises SourceError if nothing can be run here, or the output cannot be kept.

    - ``command``: the command for the shell, as the user typed it.
    - ``classes``: candidates of which one run stands for all: the first one's.
    - ``place``: gives the first candidate of each class its folder, and `BASE` that of the target.
    - ``seconds``: the time after which a run is ended without a verdict.
    - ``junit``: the file in the folder of a run in which the command names the tests; tests of
      candidates that change tests are not compared.
    """
    check_command(command)
    runs = Runs(_new_folder())
    if not classes:
        say(f"no candidate: {command} is not run")
        return runs
    members, times = sum(map(len, classes)), len(classes)
    scope = "1 candidate" if members == 1 else f"{members} candidates"
    scope += "" if times == members else f" in {times} classes of the same code"
    scope = f"on the target and for {scope}, {jobs} at a time"
    say(f"running {command} {scope}; output in {runs.folder}")
    if weaker := holder()[1]:
        say(weaker)
    of_target: list[tuple[bool | None, dict[str, bool]]] = []
    numbers, one_at_a_time = count(1), Lock()

    def work(members: Sequence[Candidate], stop: StopFlag) -> None:
        first = members[0]
        tests: dict[str, bool] = {}
        ended: Ended | None = None
        with ExitStack() as held:
            try:
                with one_at_a_time:
                    number = next(numbers)
                    folder = held.enter_context(place(first))
                before = _stamp(folder, junit)
                ended = run(command, folder, seconds=seconds, candidate=first.id, stop=stop)
                if junit and ended.passed is not None and _stamp(folder, junit) != before:
                    tests = read_tests(folder, junit)
                elif junit and ended.passed is not None:
                    say(f"{first.label}: the command wrote no {junit}")
            except SourceError as error:
                if ended is not None:
                    say(f"{first.label}: {error}")
                ended = ended or Ended(None, f"not run: {error}")
        with one_at_a_time:
            _write_log(runs.folder, number, first, ended)
            shown = ""
            if first is BASE:
                of_target.append((ended.passed, tests))
            else:
                passed, on_target = of_target[0]
                changes_tests = any(first.kind_of(p) == "tests" for p in {*first.old, *first.new})
                shown = "" if changes_tests else tests_by_name(tests, on_target)
                ended = replace(ended, reason=shown or ended.reason)
                runs.verdicts += [_verdict(each, command, ended, passed) for each in members]
                _write_verdicts(runs, say)
            same = [other.label for other in members[1:]]
            also = f" (also for {first_few(same)})" if same else ""
            outcome = {True: "passed", False: "failed", None: ended.reason}[ended.passed]
            took = "" if ended.seconds is None else f" after {ended.seconds:.1f} s"
            say(
                f"{number}/{times + 1} {first.label}{also}: {outcome}{took}{shown and f': {shown}'}"
            )
            if ended.cut:
                say(f"{first.label}: {ended.cut:,} bytes of output left out of its log")

    runs.interrupted = run_each([[BASE]], work, 1) or run_each(classes, work, jobs)
    if runs.interrupted:
        left = times + 1 - (next(numbers) - 1)
        say(f"interrupted: {left} not run")
    _write_verdicts(runs, say)  # again, now that no run can write to it
    return runs


def _verdict(candidate: Candidate, command: str, ended: Ended, on_target: bool | None) -> Verdict:
    return Verdict(
        candidate=candidate.id,
        check=command,
        passed=ended.passed,
        seconds=ended.seconds,
        reason=ended.reason,
        digest=candidate.digest,
        base_passed=on_target,
    )


def _stamp(folder: str, path: str) -> tuple[int, ...]:
    """Return what changes when a file is written: one of a former run tells nothing of this one."""
    try:
        stat = os.lstat(os.path.join(folder, path))
    except OSError:
        return ()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _write_log(folder: Path, number: int, candidate: Candidate, ended: Ended) -> None:
    """Write the output of a run to a file of a name that any system takes."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", candidate.label).strip(".-")[:60] or "candidate"
    cut = f"[excise: {ended.cut:,} bytes left out]\n" if ended.cut else ""
    with suppress(OSError):
        make_private(folder)  # a run may have removed it
        (folder / f"{number:03}-{plain}.log").write_bytes(cut.encode() + ended.output)


def _write_verdicts(runs: Runs, say: Said) -> None:
    """Replace the file of the verdicts: a run may have changed the existing one."""
    try:
        make_private(runs.folder)
        descriptor, written = tempfile.mkstemp(suffix=".jsonl", dir=runs.folder)
        with open(descriptor, "wb") as file:
            file.writelines(msgspec.json.encode(verdict) + b"\n" for verdict in runs.verdicts)
        os.replace(written, runs.file)
    except OSError as error:
        say(f"{runs.file} cannot be written: {error.strerror}")


def _new_folder() -> Path:
    """Make the folder of this call, and remove the oldest of former ones."""
    if (cache := cache_folder()) is None:
        raise SourceError("no cache folder for the output", hint="set HOME or XDG_CACHE_HOME")
    top = cache / "runs"
    try:
        make_private(top)
        former = sorted(path for path in top.iterdir() if path.is_dir() and not path.is_symlink())
        for old in former[: max(0, len(former) - _KEPT_FOLDERS + 1)]:
            with suppress(OSError):  # not empty: it contains files that we never make
                for path in old.iterdir():
                    if path.suffix in (".log", ".jsonl"):
                        path.unlink()
                old.rmdir()
        return Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=top))
    except OSError as error:
        raise SourceError(f"no folder for the output: {error}") from error


def run_classes(candidates: Candidates, task: str = "") -> list[list[int]]:
    """Return the indices of the candidates of each run: the first of a class is the one to run.

    A class has the same code and, but for its docs, the same bytes in all other files: tests, which
    are what runs, scripts and lock files. Of its members, one that runs where it lies comes first.
    Whoever is in conflict stands for nobody.

    Raises SourceError if no task has that name.

    - ``task``: the only task to run: its number, name or a candidate in it; empty for all.
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
                if candidate.kind_of(path) not in ("code", "docs")
            )
            alone = candidate.id if candidate.conflicts else ""
            classes.setdefault((code, beside, alone), []).append(index)
    return [
        sorted(members, key=lambda index: not lies_there(found[index], candidates.origin))
        for members in classes.values()
    ]


def lies_there(candidate: Candidate, origin: str) -> bool:
    """Whether the folder of a candidate has what is compared: the target with its edits."""
    is_on_target = not candidate.base or candidate.base == origin
    return is_on_target and bool(candidate.folder) and os.path.isdir(candidate.folder)


def place_in_repository(
    repository: Repository,
    origin: str,
    *,
    saved: bool = False,
    links: Sequence[str] = (),
    say: Callable[[str], None],
) -> Place:
    """Give candidates a folder with what is compared: the target with their edits.

    A worktree that started from the target lies there already. For all others, and the target, it
    is a scratch copy. Raises SourceError if the saved files cannot be read, or a link is none. The
    place itself raises it of a candidate in conflict, or if there can be no copy.

    - ``saved``: whether the target is the saved files of the checkout, and not the commit.
    - ``links``: the folders of the checkout that copies have, too.
    """
    of_base: dict[str, FileEdit] = {}
    linked = checked_links(repository, origin, links)
    if saved:
        target = saved_target(repository, origin)
        of_base = {path: FileEdit(path, path, None, side) for path, side in target.saved.items()}

    @contextmanager
    def place(candidate: Candidate) -> Iterator[str]:
        if candidate.conflicts:
            paths = first_few([visible(path) for path in candidate.conflicts])
            raise SourceError(f"in conflict with the target ({paths})")
        if not of_base and lies_there(candidate, origin):
            yield candidate.folder
            return
        own = {
            path: FileEdit(path, path, candidate.old.get(path), candidate.new.get(path))
            for path in candidate.old.keys() | candidate.new.keys()
        }
        edits = [*(of_base | own).values()]
        with scratch_copy(repository, origin, edits, linked) as (folder, left_out):
            if left_out:
                paths = first_few([visible(path) for path in left_out])
                say(f"{candidate.label}: not in its scratch copy: {paths}")
            yield folder

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
