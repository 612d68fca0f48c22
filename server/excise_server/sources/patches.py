"""Patches as candidates: diffs, mails and predictions of agents, in files and folders.

A diff or a mail is in ``*.diff``, ``*.patch``, ``*.mbox`` or ``*.eml``. A line of ``*.jsonl`` has
``instance_id`` and ``model_patch``, and optionally ``model_name_or_path``, as in the benchmarks of
agents. A series is one candidate. Each patch is applied to the text that it names, or else to the
commit that candidates are replayed on.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parseaddr, parsedate_tz
from functools import partial
from typing import NamedTuple

from excise.patches import Message, Patch, PatchError, joined, parse, patch_id, postings, read
from excise.patches.series import Posted
from excise_server.foundation.escape import visible
from excise_server.foundation.files import MAX_ENTRIES, inside, read_bytes
from excise_server.foundation.inputs import Rejected, SourceError, unique_ids
from excise_server.git.checkouts import Selection, is_chosen
from excise_server.git.repository import Repository
from excise_server.records.lines import json_object
from excise_server.review.candidate import Candidate, Written
from excise_server.sources.reading import ListedCandidate
from excise_server.wire.sources import ENDINGS

MAX_PATCHES = 300
"""Most patches that are compared."""

_MAX_LINES = 200_000_000
_LINES = ".jsonl"
_IN_BODY = re.compile(r"(From|Date|Subject): ([^\n]+)\n+")


@dataclass(frozen=True, slots=True)
class _Series:
    """Patches that are one candidate; their title and task, if known, and who wrote them."""

    name: str
    patch: Patch
    title: str = ""
    task: str = ""
    written: tuple[Written, ...] = ()


def list_patches(
    repository: Repository | None, selection: Selection, origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    """Return the chosen patches as made on a commit. One that cannot be read never stops others.

    Raises SourceError if a path that was typed cannot be read, or contains no patch.
    """
    mails: list[_Mail] = []
    every = [
        series
        for path in selection.chosen.get("patches", ())
        for series in _read(path, "patches" not in selection.optional, mails, rejected)
    ]
    every += _series(mails)
    selected = []
    names = unique_ids([f"patch:{series.name}" for series in every])
    for name, series in zip(names, every, strict=True):
        title = series.title or series.name
        written = Written.together(series.written) if series.written else None
        candidate = Candidate(
            name, "", "", origin, (name,), title, task=series.task, written=written
        )
        spelled = [series.name, series.task]
        if repository is None or is_chosen(selection, repository.top, candidate, spelled):
            selected.append(ListedCandidate(candidate, patch=series.patch))
    if len(selected) > MAX_PATCHES:
        cut = f"only the first {MAX_PATCHES} of {len(selected)} are compared"
        last = f"{cut}, without {selected[MAX_PATCHES].candidate.id} and what follows"
        rejected.append(Rejected("patches", last, "choose with --only GLOB"))
    return selected[:MAX_PATCHES]


def folders_named(
    names: Sequence[str], setting: str, folders: Sequence[str], wrong: list[Rejected]
) -> tuple[str, ...]:
    """Return the existing folders of a setting that are inside the workspace."""
    existing: dict[str, None] = {}
    for name in dict.fromkeys(names):
        paths = [os.path.join(folder, name) for folder in folders]
        inner = [path for path in paths if os.path.isdir(path) and inside(path, folders)]
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            reason = "it leads out of the workspace: name a folder inside"
            wrong.append(Rejected(f"{setting}:{visible(name)}", reason))
        elif inner:
            existing |= dict.fromkeys(inner)
        else:
            wrong.append(Rejected(f"{setting}:{visible(name)}", "no such folder in the workspace"))
    return tuple(existing)


def _read(
    path: str, must_exist: bool, mails: list[_Mail], rejected: list[Rejected]
) -> Iterator[_Series]:
    """Yield the predictions below a path, and add its messages to the others."""
    try:
        top = os.path.realpath(path)
        if not os.path.exists(top):
            raise SourceError("no such file or folder", name=path)
        root = top if os.path.isdir(top) else os.path.dirname(top)
        files = sorted(_files(top))
        if not files:
            hint = f"it takes {', '.join(f'*{ending}' for ending in ENDINGS)}"
            raise SourceError("no patch in it", name=path, hint=hint)
    except SourceError as error:
        if must_exist:
            raise
        name = visible(os.path.basename(path))
        rejected.append(Rejected(f"patches:{name}", error.reason, error.hint))
        return
    for file in files:
        name, ending = os.path.splitext(os.path.relpath(file, root).replace(os.sep, "/"))
        name = visible(name)
        try:
            if ending == _LINES:
                yield from _lines(file, root, name, rejected)
            else:
                mails += _mails(read(read_bytes(file, [root])), name, file, rejected)
        except SourceError as error:
            rejected.append(Rejected(f"patch:{name}", error.reason, error.hint))


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
            if name.endswith(ENDINGS):
                yield os.path.join(folder, name)


class _Mail(NamedTuple):
    """A message, what it is called if it is alone, and its file."""

    message: Message
    name: str
    file: str


def _mails(
    messages: Sequence[Message], name: str, file: str, rejected: list[Rejected]
) -> Iterator[_Mail]:
    """Yield the messages of a file that can be read."""
    told = [m for m in messages if m.error or m.patch.files or m.series.numbered]
    if not told:
        raise SourceError("no diff in it")
    for message in messages:
        if message.error:
            shown = name if len(told) == 1 else f"{name}#{message.number}"
            rejected.append(Rejected(f"patch:{shown}", visible(message.error)))
        else:
            yield _Mail(message, name, file)


def _series(mails: Sequence[_Mail]) -> Iterator[_Series]:
    """Yield what was sent as one, in one file or in several, or is made from what precedes it.

    A series is called as the file of its first patch; several of one file have the number of that
    message behind it.
    """
    series: list[tuple[_Mail, _Series]] = []
    posted = Posted()
    mails = [m for m in mails if posted.add(m.message, partial(patch_id, m.message.patch))]
    for posting in postings([mail.message for mail in mails]):
        own = [mails[at] for at in posting.messages]
        first = next((mail for mail in own if mail.message.patch.files), None)
        if first is None:
            continue
        start = own[0] if own[0].file == first.file else first
        sent = (mail.message for mail in own if mail.message.patch.files)
        people = tuple(_written(message) for message in sent if message.author)
        made = _Series(first.name, posting.patch, visible(posting.title), written=people)
        for at, (before, earlier) in enumerate(series):
            if before.file == first.file and _continues(earlier.patch, made.patch):
                together = joined((earlier.patch, made.patch))
                more = replace(earlier, patch=together, written=(*earlier.written, *people))
                series[at] = before, more
                break
        else:
            series.append((start, made))
    files = Counter(start.file for start, _ in series)
    for start, made in series:
        is_one = files[start.file] == 1
        yield made if is_one else replace(made, name=f"{made.name}#{start.message.number}")


def _written(mail: Message) -> Written:
    """Return who wrote a mail, when, and the message of its commit, as ``git am`` reads them."""
    known = {"From": mail.author, "Date": mail.date, "Subject": mail.title}
    text = mail.text
    while match := _IN_BODY.match(text):  # of one who sends what another one wrote
        known[match[1]] = match[2].strip()
        text = text[match.end() :]
    author, address = parseaddr(known["From"].replace("\0", ""))
    day = parsedate_tz(known["Date"])
    try:
        date = "" if day is None else f"@{mktime_tz(day)} {_zone(day[9] or 0)}"
    except (ValueError, OverflowError):
        date = ""
    lines = text.strip()
    is_told = lines.startswith(known["Subject"])  # as git log prints it
    message = lines if is_told else f"{known['Subject']}\n\n{lines}"
    return Written(author or address, address, date, f"{message.strip()}\n")


def _zone(seconds: int) -> str:
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}{minutes:02}"


def _continues(earlier: Patch, later: Patch) -> bool:
    """Whether a patch was made from the result of an earlier one."""
    made = {pair.new: pair.new_blob for pair in earlier.files}
    return any(
        (blob := made.get(pair.old, "")) and pair.old_blob and blob.startswith(pair.old_blob)
        for pair in later.files
    )


def _lines(path: str, root: str, name: str, rejected: list[Rejected]) -> Iterator[_Series]:
    lines = read_bytes(path, [root], limit=_MAX_LINES).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        called = f"{name} line {number}"
        try:
            instance, maker, diff = _prediction(line)
            called = f"{visible(maker) or name}/{visible(instance)}"
            if not (patch := parse(diff)).files:
                raise SourceError("no diff in it")
            yield _Series(called, patch, task=visible(instance))
        except (SourceError, PatchError) as error:
            reason = error.reason if isinstance(error, SourceError) else str(error)
            rejected.append(Rejected(f"patch:{called}", f"line {number}: {reason}"))


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
