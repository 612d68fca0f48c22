"""Patches as candidates: diffs, mails and predictions of agents, in files and folders.

A diff or a mail is in ``*.diff``, ``*.patch``, ``*.mbox`` or ``*.eml``. A line of ``*.jsonl`` has
``instance_id`` and ``model_patch``, and optionally ``model_name_or_path``, as in the benchmarks of
agents. A series is one candidate. Each patch is applied to the text that it names, or else to the
commit that candidates are replayed on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parseaddr, parsedate_tz

from excise.patches import Message, Patch, PatchError, parse, postings, read
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
    named = [
        (f"patch:{series.name}", series)
        for path in selection.chosen.get("patches", ())
        for series in _read(path, "patches" not in selection.optional, rejected)
    ]
    selected = []
    for name, (_, series) in zip(unique_ids([name for name, _ in named]), named, strict=True):
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


def _read(path: str, must_exist: bool, rejected: list[Rejected]) -> Iterator[_Series]:
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
                yield from _mails(read(read_bytes(file, [root])), name, rejected)
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


def _mails(messages: Sequence[Message], name: str, rejected: list[Rejected]) -> Iterator[_Series]:
    """Yield the series of a file: what was sent as one, or is made from what precedes it."""
    good = [message for message in messages if not message.error]
    series: dict[int, _Series] = {}
    for posting in postings(good):
        patch, number = posting.patch, good[posting.messages[0]].number
        mails = [good[index] for index in posting.messages]
        written = tuple(_written(mail) for mail in mails if mail.author and mail.patch.files)
        earlier = next((n for n, own in series.items() if _continues(own.patch, patch)), None)
        if earlier is not None:
            own = series[earlier]
            series[earlier] = replace(
                own,
                patch=Patch((*own.patch.files, *patch.files)),
                written=(*own.written, *written),
            )
        elif patch.files:
            series[number] = _Series(name, patch, visible(posting.title), written=written)
    bad = [message for message in messages if message.error]
    if not (series or bad):
        raise SourceError("no diff in it")
    is_one = len(series) + len(bad) == 1
    for message in bad:
        shown = name if is_one else f"{name}#{message.number}"
        rejected.append(Rejected(f"patch:{shown}", visible(message.error)))
    for number, own in series.items():
        yield own if is_one else replace(own, name=f"{name}#{number}")


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
