"""Folders of runs, named in a setting: diffs or predictions of agents, applied to HEAD.

A run need not name the text that it was made from: that is HEAD, as for the option ``--patches``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from excise.patches import PatchError, apply
from excise.text import Revision
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, unique_ids
from excise_server.foundation.paths import inside, text_of
from excise_server.git.repository import AbsentError, Repository
from excise_server.sources.finding import Context, Found, Refused, Watch
from excise_server.sources.opening import opened
from excise_server.sources.runs import GivenPatch, find_patches

__all__ = ["find", "read_runs", "run_folders"]

MAX_RUNS = 300
"""Most runs that are read for one document."""


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find the versions of the document from the runs in the folders of the setting."""
    if not context.settings.runs:
        return Found()
    refused: list[Refused] = []
    folders = run_folders(context.settings.runs, context.folders, refused)
    watch = tuple(Watch(folder, "**/*.{diff,patch,jsonl}") for folder in folders)
    try:
        opened_repository = opened(context, repository)
        if opened_repository is None:
            raise SourceError("not in a git repository")
        head = opened_repository.head()
        if head is None:
            raise SourceError("no commit yet")
        base = _base(opened_repository, head)
    except SourceError as error:
        return Found(refused=(*refused, Refused("runs", error.reason, error.hint)), watch=watch)
    revisions, made_from, base_text = [], [], text_of(base or b"")
    runs = read_runs(folders, refused)
    ids = unique_ids([f"run:{run.name}" for run in runs])
    if len(runs) > MAX_RUNS:
        refused.append(Refused("runs", f"only the first {MAX_RUNS} of {len(runs)} are read"))
    for name, run in list(zip(ids, runs, strict=True))[:MAX_RUNS]:
        try:
            text = _text(run, opened_repository.path, base)
        except (SourceError, PatchError) as error:
            reason = error.reason if isinstance(error, SourceError) else str(error)
            refused.append(Refused(name, visible(reason)))
            continue
        if text is not None:
            revisions.append(Revision(name, text, run.name))
            made_from.append((name, base_text))
    return Found(
        revisions=tuple(revisions),
        refused=tuple(refused),
        watch=watch,
        made_from=tuple(made_from),
    )


def run_folders(
    names: Sequence[str], folders: Sequence[str], wrong: list[Refused] | None = None
) -> tuple[str, ...]:
    """Return the existing folders of a setting that are inside the workspace."""
    existing: dict[str, None] = {}
    for name in dict.fromkeys(names):
        paths = [os.path.join(folder, name) for folder in folders]
        inside_workspace = [path for path in paths if os.path.isdir(path) and inside(path, folders)]
        existing |= dict.fromkeys(inside_workspace)
        if not inside_workspace and wrong is not None:
            wrong.append(Refused(f"runs:{visible(name)}", "no such folder in the workspace"))
    return tuple(existing)


def read_runs(folders: Sequence[str], refused: list[Refused]) -> list[GivenPatch]:
    """Read the runs of folders. One without runs does not stop the others."""
    runs: list[GivenPatch] = []
    for folder in folders:
        try:
            patches, unreadable = find_patches([folder])
        except SourceError as error:
            name = visible(os.path.basename(folder))
            refused.append(Refused(f"runs:{name}", error.reason, error.hint))
            continue
        runs += patches
        refused += unreadable
    return runs


def _base(repository: Repository, head: str) -> bytes | None:
    try:
        return repository.blob(f"{head}:{repository.path}").data
    except AbsentError:
        return None


def _text(run: GivenPatch, path: str, base: bytes | None) -> str | None:
    """Return a run's version of a document, or None if it is about other files."""
    pairs = [pair for pair in run.patch.files if path in (pair.old, pair.new)]
    if not pairs:
        return None
    if len(pairs) > 1:
        raise SourceError("it changes the file more than once")
    pair = pairs[0]
    if pair.new is None:
        raise SourceError("it deletes the file")
    after = apply(pair, None if pair.old is None else base).text
    if after is None:
        raise SourceError("it deletes the file")
    return text_of(after)
