"""Every source of one document, asked in turn: one answer, with one origin and unique ids.

Candidates of the repository are those of the commands, with the same ids and labels, and each is
compared by its own edits, replayed on the text that the session has as origin, or will have.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from excise.text import normalise
from excise_server.foundation.changes import LINK, SUBMODULE, Side, renamed_files
from excise_server.foundation.escape import visible
from excise_server.foundation.file_bytes import blob_ids
from excise_server.foundation.files import contained, read_bytes, text_of
from excise_server.foundation.inputs import Rejected, SourceError, UnansweredError, unique_ids
from excise_server.git.checkouts import Selection
from excise_server.git.command import NoRepositoryError
from excise_server.git.repository import Repository, open_folder
from excise_server.review.candidate import Candidate, in_order
from excise_server.review.replayed import CREATES, DELETES, replay_files
from excise_server.sources.beside import find_origin
from excise_server.sources.candidates import find_in_file, labelled
from excise_server.sources.composed import composed
from excise_server.sources.finding import (
    Change,
    Context,
    Found,
    OriginText,
    Version,
    WatchedFiles,
    watch_file,
)
from excise_server.sources.patches import list_patches
from excise_server.sources.reading import Read, ReplayedCandidate, Target
from excise_server.sources.registry import Find, finders, selection_of
from excise_server.wire.sources import SOURCES, SourceSettings

LANDED = "the origin has its edits already"
UNLIKE = "the branch has another text now: this is the one that is merged"

_HINTS = {
    "choose with --only GLOB": "choose with the setting sources.git",
    "name the commit it started from with --base NAME=REV": "",
}
"""The hints of the commands, and their replacements in an editor."""


def open_repository(context: Context) -> Repository | None:
    """Return the repository of a document, or None if it is in no repository.

    Raises SourceError if the workspace is not trusted, the document is outside, git refuses the
    repository, or the repository and the working tree do not name each other.
    """
    _, document = contained(context.document, context.folders)
    if not context.trusted:
        raise SourceError("git is never started in a workspace that is not trusted")
    try:
        repository = open_folder(os.path.dirname(document), context.folders)
    except NoRepositoryError:
        return None
    path = os.path.relpath(document, repository.top).replace(os.sep, "/")
    if path.startswith("../"):
        raise SourceError("the repository is not used: its working tree is elsewhere")
    return replace(repository, path=path)


def collect(context: Context) -> Found:
    """Ask every source that is switched on.

    The origin is that of a conflict, or else a ``.orig`` file, or else the text that the setting
    names, or that it named when the review of the document began. The function reads files and
    starts git: call it from a worker, never from the event loop of a server.
    """
    refused: list[Rejected] = []
    repository: Repository | SourceError | None
    try:
        repository = open_repository(context)
    except (SourceError, UnansweredError) as error:
        repository = SourceError(error.reason, hint=error.hint)
        refused.append(_refused(error))
    finds = (*finders(), find_origin)  # the text that the user chose is the last resort
    conflict, *others = (_answer(find, context, repository) for find in finds)
    origin = next((answer.origin for answer in (conflict, *others) if answer.origin), None)
    target = _target(origin, context)
    listed = _candidates(context, repository, target)
    answers = (conflict, *others, listed)
    versions = _with_sides(
        conflict.versions, [version for answer in (*others, listed) for version in answer.versions]
    )
    names = unique_ids([version.id for version in versions])
    side_names = {name for side in conflict.versions for name in side.candidate.names}
    return Found(
        origin,
        tuple(
            replace(version, candidate=replace(version.candidate, id=name))
            for version, name in zip(versions, names, strict=True)
        ),
        tuple(dict.fromkeys(chain(refused, *(answer.refused for answer in answers)))),
        tuple(dict.fromkeys(watch for answer in answers for watch in answer.watch)),
        target,
        tuple(name for name in listed.unchanged if name not in side_names),
    )


def _answer(find: Find, context: Context, repository: Repository | SourceError | None) -> Found:
    """Return what a source finds: nothing if git was given up, and the reason."""
    try:
        return find(context, repository)
    except UnansweredError as error:
        return Found(refused=(_refused(error),))


def _refused(error: SourceError | UnansweredError) -> Rejected:
    return Rejected("git", error.reason, error.hint)


def _target(origin: OriginText | None, context: Context) -> str | None:
    """Return the text that the session has as origin, or will have."""
    if origin is not None and not origin.can_be_pinned:
        return normalise(origin.text)
    if context.pinned is not None:
        return normalise(context.pinned)
    if context.saved is not None and (origin is None or origin.kind == "saved"):
        return normalise(context.saved)
    return None if origin is None else normalise(origin.text)


# --- the candidates of the repository ------------------------------------------------------------


def _candidates(
    context: Context, repository: Repository | SourceError | None, target: str | None
) -> Found:
    """Return the document's versions by the candidates of its repository."""
    try:
        contained(context.document, context.folders)
    except SourceError as error:
        return Found(refused=(_refused(error),))
    wrong: list[Rejected] = []
    selection = selection_of(context.settings, context.bases, wrong, context.folders)
    if not (selection.worktrees or any(selection.chosen.values())):
        return Found(refused=tuple(wrong))
    watch = [
        WatchedFiles(path, pattern)
        for name, paths in selection.chosen.items()
        if SOURCES[name].has_folders
        for path in paths
        for pattern in SOURCES[name].watch
    ]
    answer = Found()
    try:
        if isinstance(repository, Repository):
            answer = _of_repository(context, repository, selection, target)
        elif watch:
            answer = _without_git(context, selection, target)
    except (SourceError, UnansweredError) as error:
        wrong.append(_refused(error))
    refused = [
        replace(refusal, hint=_HINTS.get(refusal.hint, refusal.hint)) for refusal in answer.refused
    ]
    return replace(answer, refused=(*wrong, *refused), watch=(*answer.watch, *watch))


def _of_repository(
    context: Context, repository: Repository, selection: Selection, target: str | None
) -> Found:
    head, path = repository.head(), repository.path
    if head is None:
        watch = _watch(context.settings, repository, (), ())
        return Found(refused=(Rejected("git", "no commits yet"),), watch=watch)
    refused: list[Rejected] = []
    changes, asked = find_in_file(
        repository,
        selection,
        _target_of(head, path, context, target, repository.top),
        path,
        context.begun,
        refused,
    )
    versions, unchanged = [], []
    for each in changes:
        try:
            version = _version(each, path, target)
        except SourceError as error:
            refused.append(Rejected(each.read.candidate.id, error.reason, error.hint))
            continue
        if version is not None:
            versions.append(version)
        elif each.read.candidate.kind != "patch":
            unchanged.append(each.read.candidate.id)
    named = labelled(repository, [version.candidate for version in versions])
    files = [version.file for version in versions if version.file]
    return Found(
        versions=tuple(
            replace(version, candidate=candidate)
            for version, candidate in zip(versions, named, strict=True)
        ),
        refused=tuple(refused),
        watch=_watch(context.settings, repository, asked, files),
        unchanged=tuple(unchanged),
    )


def _target_of(commit: str, path: str, context: Context, text: str | None, top: str) -> Target:
    """Return a commit in which one file has another text, and others are as they are saved."""
    if text is None:
        return Target(commit)
    has_file = bool(text) or os.path.lexists(context.document)
    side = Side("100644", text.encode()) if has_file else None
    folder = top if context.settings.origin == "saved" else ""
    return Target(commit, {path: side}, is_text=True, folder=folder)


def _version(each: ReplayedCandidate, path: str, target: str | None) -> Version | None:
    """Return what a candidate makes of the file of the target, or None if it does not change it.

    Raises SourceError if that cannot be compared, or the target has it already.
    """
    read, files = each.read, each.files
    sides = read.sides
    home = next((old for old, new in each.moves.items() if new == path), path)
    if reason := sides.refused.get(home) or each.unread.get(home):
        raise SourceError(reason)
    renames = renamed_files(sides.old, sides.new)
    before, after = sides.old.get(home), sides.new.get(home)
    moved_to = next((new for new, old in renames.items() if old == home), "")
    moved_from = renames.get(home, "")
    change: Change = "edited"
    place, other, notes = path, "", list(read.candidate.notes)
    if before is not None and after is not None:
        now, then = files.old.get(path), files.new.get(path)
        has_one_text = now is not None and then is not None and now.text == then.text
        if before.text == after.text is not None and (has_one_text or home in files.landed):
            return None  # an editor shows texts, not their bytes
    elif before is not None and moved_to:
        after = sides.new[moved_to]
        if moved_to != path:
            change, place, other = "renamed", moved_to, moved_to
            notes.append(f"renamed to {visible(moved_to)}")
    elif before is not None:
        change = "deleted"
        notes.append(DELETES)
    elif after is not None:
        change, other = "created", moved_from
        notes.append(f"renamed from {visible(moved_from)}" if moved_from else CREATES)
    else:
        return None
    if any(side is not None and side.mode in (LINK, SUBMODULE) for side in (before, after)):
        raise SourceError("a link or a submodule, not a text file")
    text, own_text = _text(files.new.get(place)), _text(after)
    is_idle = text == target and change in ("edited", "created")
    if is_idle or {home, moved_to, path}.intersection(files.landed):
        raise SourceError(LANDED)
    notes += [reason for changed, reason in files.conflicts.items() if changed in (place, home)]
    notes += [note for changed, note in files.notes if changed in (place, home)]
    folder, own_path = read.candidate.folder, moved_to or home
    return Version(
        replace(read.candidate, notes=tuple(dict.fromkeys(notes))),
        text,
        None if before is None else _text(before),
        change,
        visible(other),
        os.path.join(folder, *own_path.split("/")) if folder and after is not None else "",
        own_text if own_text != text else None,
    )


def _text(side: Side | None) -> str:
    if side is None:
        return ""
    return text_of(side.data) if side.text is None else side.text


def _watch(
    settings: SourceSettings,
    repository: Repository,
    candidates: Sequence[Candidate],
    files: Sequence[str],
) -> tuple[WatchedFiles, ...]:
    """Return the files that change with HEAD, a ref or the worktrees, and the file in each."""
    watch = [watch_file(os.path.join(repository.git_dir, "HEAD"))]
    watch += [
        WatchedFiles(repository.common, pattern)
        for name, source in SOURCES.items()
        if getattr(settings, name) and not source.has_folders
        for pattern in source.watch
    ]
    tops = [candidate.folder for candidate in candidates if candidate.folder]
    paths = [os.path.join(top, *repository.path.split("/")) for top in tops]
    return (*watch, *map(watch_file, dict.fromkeys((*paths, *files))))


def _without_git(context: Context, selection: Selection, target: str | None) -> Found:
    """Return what patches make of the saved document, where git is not asked."""
    _, document = contained(context.document, context.folders)
    data = read_bytes(context.document, context.folders)
    tops = [os.path.realpath(folder) for folder in context.folders]
    paths = [os.path.relpath(document, top).replace(os.sep, "/") for top in tops]
    refused: list[Rejected] = []
    versions = []
    for entry in list_patches(None, selection, "", refused):
        patch, candidate = entry.patch, entry.candidate
        about = [pair for pair in (patch.files if patch else ()) if {pair.old, pair.new} & {*paths}]
        if patch is None or not about:
            continue
        # A repository may have the text with other line ends than the working tree.
        other = data.replace(b"\r\n", b"\n")
        named = any(n.startswith(about[0].old_blob or "-") for n in blob_ids(other))
        side = Side("100644", other if named else data)

        def base(_path: str, side: Side = side) -> Side | None:
            return side

        try:
            sides = composed(replace(patch, files=tuple(about)), {}, base)
            path = about[0].path
            read = Read(candidate, sides)
            now = _target_of("", path, context, target, "").saved
            files = replay_files(sides.old, sides.new, now, {})
            version = _version(ReplayedCandidate(read, files), path, target)
        except SourceError as error:
            refused.append(Rejected(candidate.id, error.reason))
            continue
        if version is not None:
            label = candidate.id.partition(":")[2]
            versions.append(replace(version, candidate=replace(candidate, label=label)))
    return Found(versions=tuple(versions), refused=tuple(refused))


# --- the sides of a conflict ---------------------------------------------------------------------


def _with_sides(sides: Iterable[Version], versions: list[Version]) -> list[Version]:
    """Return the versions of all sources, in which each side of a conflict counts once.

    A side with the same text as a candidate of one of its names is that candidate, at the place of
    the side. If the texts differ (because a worktree has uncommitted edits), both stay, with a note
    on the side. A branch without changes of its own may also be a side.
    """
    shown = []
    for side in sides:
        own = side.candidate
        same = next((v for v in versions if {*v.candidate.names} & {*own.names}), None)
        if same is None:
            shown.append(side)
        elif _is_same(side, same):
            versions.remove(same)
            word = own.label.rpartition("@")[2]
            candidate = replace(
                same.candidate,
                label=f"{same.candidate.label}@{word}",
                names=in_order([*same.candidate.names, *own.names]),
                notes=tuple(dict.fromkeys((*own.notes, *same.candidate.notes))),
            )
            shown.append(replace(same, candidate=candidate, text=side.text, base=side.base))
        else:
            name = next(name for name in own.names if name.startswith("conflict:"))
            candidate = replace(own, id=name, names=(name,), notes=(*own.notes, UNLIKE))
            shown.append(replace(side, candidate=candidate))
    return [*shown, *versions]


def _is_same(side: Version, version: Version) -> bool:
    own_text = version.text if version.own_text is None else version.own_text
    is_deletion = (side.change == "deleted", version.change == "deleted")
    return is_deletion[0] == is_deletion[1] and normalise(side.text) == normalise(own_text)
