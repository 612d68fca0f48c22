"""Folders of runs: diffs or lines of predictions by agents, to be applied to a commit.

A diff is ``NAME.diff`` or ``NAME.patch``. A line of ``NAME.jsonl`` has ``instance_id`` and
``model_patch``, and optionally ``model_name_or_path``, as in the benchmarks of agents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from excise.patches import Patch, PatchError, parse
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.foundation.paths import read_bytes
from excise_server.records.lines import json_object

__all__ = ["MAX_ENTRIES", "GivenPatch", "find_patches"]

MAX_ENTRIES = 10_000
"""Most files of one folder that are read."""

_MAX_LINES = 200_000_000
_DIFFS = (".diff", ".patch")
_LINES = ".jsonl"


@dataclass(frozen=True, slots=True)
class GivenPatch:
    """A patch, its name, and its task (empty if not known)."""

    name: str
    patch: Patch
    task: str = ""


def find_patches(paths: Sequence[str]) -> tuple[list[GivenPatch], list[Rejected]]:
    """Read the patches of files and folders. One that cannot be read never stops the others.

    Raises
    ------
    SourceError
        If a path that was given cannot be read, or holds no patch.
    """
    patches: list[GivenPatch] = []
    rejected: list[Rejected] = []
    for path in paths:
        before = len(patches) + len(rejected)
        top = os.path.realpath(path)
        if not os.path.exists(top):
            raise SourceError("no such file or folder", name=path)
        root = top if os.path.isdir(top) else os.path.dirname(top)
        for file in sorted(_files(top)):
            name, ending = os.path.splitext(os.path.relpath(file, root).replace(os.sep, "/"))
            try:
                if ending == _LINES:
                    lines = _lines(file, root, visible(name), rejected)
                    patches += lines
                else:
                    data = read_bytes(file, [root])
                    patches.append(GivenPatch(visible(name), _parsed(data)))
            except SourceError as error:
                rejected.append(Rejected(f"patch:{visible(name)}", error.reason, error.hint))
        if len(patches) + len(rejected) == before:
            hint = "it takes *.diff, *.patch and *.jsonl"
            raise SourceError("no patch in it", name=path, hint=hint)
    return patches, rejected


def _files(top: str) -> Iterator[str]:
    if not os.path.isdir(top):
        yield top
        return
    count = 0
    for folder, _, names in os.walk(top):
        for name in names:
            count += 1
            if count > MAX_ENTRIES:
                raise SourceError(f"over {MAX_ENTRIES:,} files in it", name=visible(top))
            if name.endswith((*_DIFFS, _LINES)):
                yield os.path.join(folder, name)


def _parsed(data: bytes) -> Patch:
    try:
        patch = parse(data)
    except PatchError as error:
        raise SourceError(str(error)) from error
    if not patch.files:
        raise SourceError("no diff in it")
    return patch


def _lines(path: str, root: str, name: str, rejected: list[Rejected]) -> Iterator[GivenPatch]:
    """Yield the predictions of a file of JSON lines."""
    lines = read_bytes(path, [root], limit=_MAX_LINES).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        called = f"{name} line {number}"
        try:
            instance, maker, diff = _prediction(line)
            called = f"{visible(maker) or name}/{visible(instance)}"
            yield GivenPatch(called, _parsed(diff), visible(instance))
        except SourceError as error:
            rejected.append(Rejected(f"patch:{called}", f"line {number}: {error.reason}"))


def _prediction(line: bytes) -> tuple[str, str, bytes]:
    """Return the instance, the maker's name and the diff of a line."""
    record = json_object(line)
    instance, diff = record.get("instance_id"), record.get("model_patch")
    maker = record.get("model_name_or_path") or ""
    if not (isinstance(instance, str) and instance and isinstance(maker, str)):
        raise SourceError("instance_id is missing, or a name is not a text")
    if not isinstance(diff, str):
        raise SourceError("model_patch is missing, or not a text")
    try:
        instance.encode()
        maker.encode()
        return instance, maker, diff.encode()
    except UnicodeEncodeError as error:
        raise SourceError("not Unicode text: a lone surrogate") from error
