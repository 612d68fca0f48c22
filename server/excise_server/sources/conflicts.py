"""A conflicted file: origin and both sides, from the index or else from its markers.

A marker begins a line: seven or more equal characters, as many in all four markers of a block, then
a space and a label or nothing. Markers of another size inside a block are content: git writes
longer ones into an origin that is itself the result of a merge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from excise.text import raw_lines
from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_bytes, text_of
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import sides_of
from excise_server.git.repository import Blob, Repository
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import CREATES, DELETES
from excise_server.sources import finding

_OPENING = re.compile(r"(<{7,})(?: ([^\r\n]*))?\r?\n?")
_SIZED = r"({0}{{{1}}})(?: ([^\r\n]*))?\r?\n?"
_HINT = "git checkout --conflict=diff3 FILE writes them with the origin"


@dataclass(frozen=True, slots=True)
class ConflictedFile:
    """The whole texts that a conflicted file was made of, and the labels of its sides.

    ``nested`` tells whether the origin itself contains markers.
    """

    origin: str
    first: str
    second: str
    labels: tuple[str, str]
    blocks: int
    nested: bool


@dataclass(slots=True)
class _Block:
    """One block while it is read: its first line, and the next marker."""

    line: int
    size: int
    part: int = 1
    origin: bool = False


def parse_markers(text: str) -> ConflictedFile | None:
    r"""Return the texts of a file with conflict markers, or None if it has none.

    Raises SourceError if a block names no origin (``merge`` style), is not closed, or is nested in
    another.

    >>> conflict = parse_markers("a\n<<<<<<< X\nb\n||||||| O\nc\n=======\nd\n>>>>>>> Y\ne\n")
    >>> conflict.origin, conflict.first, conflict.second, conflict.labels
    ('a\nc\ne\n', 'a\nb\ne\n', 'a\nd\ne\n', ('X', 'Y'))
    """
    # In order of the markers: the first side, the origin, the second side.
    parts: tuple[list[str], list[str], list[str]] = ([], [], [])
    labels = ["", ""]
    block: _Block | None = None
    blocks, nested = 0, False
    for number, line in enumerate(raw_lines(text), start=1):
        if block is None:
            if opening := _OPENING.fullmatch(line):
                block, blocks = _Block(number, len(opening[1])), blocks + 1
                labels[0] = labels[0] or opening[2] or ""
            else:
                for part in parts:
                    part.append(line)
            continue
        marker = _marker(line, block, number)
        if marker is None:
            nested = nested or (block.part == 2 and _OPENING.fullmatch(line) is not None)
            parts[block.part - 1].append(line)
        elif marker[0] == ">":
            labels[1] = labels[1] or marker[1]
            block = None
        else:
            block.part = 2 if marker[0] == "|" else 3
    if block is not None:
        raise SourceError(f"conflict markers: the block at line {block.line} is not closed")
    if not blocks:
        return None
    first, origin, second = ("".join(part) for part in parts)
    return ConflictedFile(origin, first, second, (labels[0], labels[1]), blocks, nested)


def marker_labels(text: str) -> tuple[str, str]:
    r"""Return the labels of the two sides in the first markers of any style, or empty.

    >>> marker_labels("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n")
    ('HEAD', 'topic')
    """
    first, second = (re.search(rf"(?m)^{sign}{{7,}} ([^\r\n]*)", text) for sign in "<>")
    return (first[1] if first else "", second[1] if second else "")


def _marker(line: str, block: _Block, number: int) -> tuple[str, str] | None:
    """Return the kind and label of a marker of the block, or None for a line of content."""
    kind = line[:1]
    if kind not in ("<", "|", "=", ">"):
        return None
    match = re.fullmatch(_SIZED.format(re.escape(kind), block.size), line)
    if match is None:
        return None
    if kind == "<":
        raise SourceError(f"conflict markers: line {number} opens a block inside another")
    if kind == "=" and block.part == 1:
        reason = (
            f"conflict markers of the merge style at line {number}: they do not contain the origin"
        )
        raise SourceError(reason, hint=_HINT)
    if {"|": 1, "=": 2, ">": 3}[kind] != block.part:
        raise SourceError(f"conflict markers: '{kind * block.size}' out of order at line {number}")
    return kind, match[2] or ""


_WORDS = ("ours", "theirs")
_FILES = ("100644", "100755")


def find(context: finding.Context, repository: Repository | SourceError | None) -> finding.Found:
    """Find the origin and both sides of a conflicted file.

    The index comes first: it holds whole files. Markers are read where the index knows of no
    conflict, or cannot be asked.
    """
    if not context.settings.conflicts:
        return finding.Found()
    watch: tuple[finding.WatchedFiles, ...] = (finding.watch_file(context.document),)
    stages: dict[int, tuple[str, str]] = {}
    git_refused: tuple[Rejected, ...] = ()
    try:
        if isinstance(repository, SourceError):
            raise repository
        if repository is not None:
            watch += (finding.watch_file(os.path.join(repository.git_dir, "index")),)
            stages = _stages(repository)
    except SourceError as error:
        git_refused = (Rejected("git", error.reason, error.hint),)
    try:
        if stages and isinstance(repository, Repository):
            answer = _from_index(repository, stages, _marked(context))
        elif os.path.lexists(context.document):
            text = text_of(read_bytes(context.document, context.folders))
            answer = _from_markers(parse_markers(text))
        else:
            answer = finding.Found()
    except SourceError as error:
        answer = finding.Found(refused=(Rejected("conflict", error.reason, error.hint),))
    return replace(answer, watch=watch, refused=(*git_refused, *answer.refused))


def _marked(context: finding.Context) -> tuple[str, str]:
    """Return the names of the sides in the markers, or "" without markers."""
    try:
        text = text_of(read_bytes(context.document, context.folders))
    except SourceError:
        return ("", "")
    return marker_labels(text)


def _stages(repository: Repository) -> dict[int, tuple[str, str]]:
    """Return the mode and blob id of each stage of a conflicted document."""
    out = repository.git.run("ls-files", "--unmerged", "-z", "--", repository.path)
    stages = {}
    for entry in out.split(b"\0")[:-1]:
        fields, _, path = entry.partition(b"\t")
        mode, blob, stage = fields.decode("ascii").split(" ")
        if os.fsdecode(path) == repository.path:
            stages[int(stage)] = (mode, blob)
    return stages


def _from_index(
    repository: Repository, stages: dict[int, tuple[str, str]], marked: Sequence[str]
) -> finding.Found:
    """Return the sides in the index. A side that is missing there deleted the file."""
    for number, (mode, _) in stages.items():
        if mode not in _FILES:
            raise SourceError(f"stage {number} is not a regular file (mode {mode})")
    blobs = dict(zip(stages, repository.blobs([b for _, b in stages.values()]), strict=True))
    origin = _text(blobs[1], 1) if 1 in blobs else None
    versions, refused = [], []
    for number, word, side, label in zip((2, 3), _WORDS, sides_of(repository), marked, strict=True):
        if number not in blobs and origin is None:
            continue  # it is not part of the conflict
        name = side.names[0] if side.names else f"conflict:{word}"
        try:
            text = _text(blobs[number], number) if number in blobs else ""
        except SourceError as error:
            refused.append(Rejected(name, error.reason, error.hint))
            continue
        change: finding.Change = "edited"
        notes: tuple[str, ...] = ()
        if number not in blobs:
            change, notes = "deleted", (DELETES,)
        elif origin is None:
            change, notes = "created", (CREATES,)
        names = (*side.names, f"conflict:{word}")
        # Its branch, else the name in the markers, else its commit.
        shown = side.branch or ("" if label == "HEAD" else label) or side.commit[:10]
        shown = _label(word, shown)
        candidate = Candidate(name, "", "", side.commit, names, label=shown, notes=notes)
        versions.append(finding.Version(candidate, text, origin, change))
    label = "neither side had the file" if origin is None else "stage 1 of the conflict"
    return finding.Found(
        origin=finding.OriginText(origin or "", "stage", label),
        versions=tuple(versions),
        refused=tuple(refused),
    )


def _label(word: str, shown: str) -> str:
    """Return the label of a side, which has no blanks."""
    return f"{visible(shown)}@{word}".replace(" ", "-") if shown else word


def _text(blob: Blob | SourceError, number: int) -> str:
    if isinstance(blob, SourceError):
        raise SourceError(f"stage {number}: {blob.reason}", hint=blob.hint)
    return text_of(blob.data)


def _from_markers(conflict: ConflictedFile | None) -> finding.Found:
    """Return the sides in the markers, whose labels may be names of branches."""
    if conflict is None:
        return finding.Found()
    notes = ["from conflict markers: what was merged outside of them counts as the origin's"]
    if conflict.nested:
        notes.append("the origin contains conflict markers of its own (several merge bases)")
    versions = []
    sides = zip(_WORDS, (conflict.first, conflict.second), conflict.labels, strict=True)
    for word, text, label in sides:
        name = f"conflict:{word}"
        names = (name, *([f"branch:{label}"] if label else []))
        candidate = Candidate(
            name, "", "", "", names, label=_label(word, label), notes=tuple(notes)
        )
        versions.append(finding.Version(candidate, text, conflict.origin))
    origin = finding.OriginText(conflict.origin, "markers", "origin of the conflict markers")
    return finding.Found(origin, tuple(versions))
