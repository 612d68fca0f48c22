"""Patches and mailboxes in a folder, applied to exactly the text that they were made from.

The ``index`` line of a patch names the ids of that text and of the result, and both are checked. A
patch without an ``index`` line, or one that does not apply exactly, is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from excise.patches import FilePair, Message, PatchError, apply, read
from excise.text import Revision
from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, unique_ids
from excise_server.foundation.paths import contained, list_folder, read_bytes, text_of
from excise_server.git.repository import AbsentError, Repository
from excise_server.git.worktree_files import blob_ids
from excise_server.sources.finding import Context, Found, Refused, Watch
from excise_server.sources.opening import opened

__all__ = ["MAX_PATCHES", "find"]

MAX_PATCHES = 300
"""Most files of patches that are read."""

_ENDINGS = (".patch", ".diff", ".mbox", ".eml")
_LEAST_DIGITS = 7
_ID = re.compile(rf"[0-9a-f]{{{_LEAST_DIGITS},64}}")


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find patches of the document in the folders of the settings.

    Without git (not trusted, none installed) only the saved document itself can be the text that a
    patch was made from.
    """
    if not context.settings.patches:
        return Found()
    refused: list[Refused] = []
    try:
        opened_repository = opened(context, repository)
    except SourceError as error:
        opened_repository = None
        refused.append(Refused("git", error.reason, error.hint))
    try:
        texts = _Texts.of(context, opened_repository)
    except SourceError as error:
        return Found(refused=(*refused, Refused("patches", error.reason, error.hint)))
    paths, watch = _files(context, refused)
    names = unique_ids([f"patch:{visible(os.path.basename(path))}" for path in paths])
    patched = [
        entry
        for name, path in zip(names, paths, strict=True)
        for entry in _from_file(name, path, context, texts.fresh(), refused)
    ]
    return Found(
        revisions=tuple(entry.revision for entry in patched),
        refused=tuple(refused),
        watch=tuple(watch),
        made_from=tuple((entry.revision.id, entry.base) for entry in patched),
    )


@dataclass(slots=True)
class _Texts:
    """The texts that a patch may be made from, by id, including results of earlier patches."""

    paths: frozenset[str]
    repository: Repository | None
    known: list[bytes] = field(default_factory=list)

    @classmethod
    def of(cls, context: Context, repository: Repository | None) -> _Texts:
        _, document = contained(context.document, context.folders)
        saved = read_bytes(context.document, context.folders)
        tops = [os.path.realpath(folder) for folder in context.folders]
        relative = {os.path.relpath(document, top).replace(os.sep, "/") for top in tops}
        names = {name for name in relative if not name.startswith("../")}
        if repository is not None:
            names.add(repository.path)
        # A repository may have the text with other line ends than the working tree.
        texts = list(dict.fromkeys((saved, saved.replace(b"\r\n", b"\n"))))
        return cls(frozenset(names), repository, texts)

    def fresh(self) -> _Texts:
        """Return the same without what a patch adds."""
        return replace(self, known=list(self.known))

    def touches(self, pair: FilePair) -> bool:
        return pair.old in self.paths or pair.new in self.paths

    def find(self, blob_id: str) -> bytes:
        """Return the text of an id or of its first digits.

        Raises
        ------
        SourceError
            If the id is too short to prove anything, or nothing has it.
        """
        if not blob_id.strip("0"):
            return b""
        for text in reversed(self.known):
            if any(name.startswith(blob_id) for name in blob_ids(text)):
                return text
        if self.repository is None:
            raise SourceError(f"made from blob {blob_id}, which is not the saved file")
        try:
            return self.repository.blob(blob_id).data
        except AbsentError:
            reason = f"made from the text {blob_id}, which is not in the repository"
            raise SourceError(reason) from None


@dataclass(slots=True)
class _Made:
    """A revision and the text that it was made from, as texts and as bytes."""

    revision: Revision
    base: str
    before: bytes
    after: bytes


def _files(context: Context, refused: list[Refused]) -> tuple[list[str], list[Watch]]:
    """Return the files to read in the patch folders, and what to watch."""
    paths: dict[str, None] = {}
    watch = []
    for name in dict.fromkeys(context.settings.patches):
        try:
            if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
                raise SourceError("it leads out of the workspace: name a folder inside")
            for folder in _existing(name, context.folders):
                names = [n for n in list_folder(folder, context.folders) if n.endswith(_ENDINGS)]
                paths |= dict.fromkeys(os.path.join(folder, n) for n in names)
                watch.append(Watch(folder, f"*.{{{','.join(e[1:] for e in _ENDINGS)}}}"))
        except SourceError as error:
            refused.append(Refused(f"patches:{visible(name)}", error.reason, error.hint))
    if len(paths) > MAX_PATCHES:
        refused.append(Refused("patches", f"only the first {MAX_PATCHES} of {len(paths)} are read"))
    return list(paths)[:MAX_PATCHES], watch


def _existing(name: str, folders: Iterable[str]) -> list[str]:
    paths = [path for folder in folders if os.path.isdir(path := os.path.join(folder, name))]
    if not paths:
        raise SourceError("no such folder in the workspace")
    return paths


def _from_file(
    name: str, path: str, context: Context, texts: _Texts, refused: list[Refused]
) -> list[_Made]:
    """Return the revisions in one file; of a series on one text, only the last."""
    try:
        messages = read(read_bytes(path, context.folders))
    except SourceError as error:
        refused.append(_refused(name, error))
        return []
    revisions: list[_Made] = []
    for message in messages:
        shown = name if len(messages) == 1 else f"{name}#{message.number}"
        try:
            revision = _from_message(shown, message, texts)
        except (SourceError, PatchError) as error:
            refused.append(_refused(shown, error))
            continue
        if revision is not None:
            revisions = _chained(revisions, revision)
            texts.known.append(revision.after)
    return revisions


def _refused(name: str, error: SourceError | PatchError) -> Refused:
    if isinstance(error, SourceError):
        return Refused(name, error.reason, error.hint)
    return Refused(name, visible(str(error)))


def _chained(revisions: list[_Made], new: _Made) -> list[_Made]:
    """Add a revision, which replaces the one that it was made from."""
    for index, earlier in enumerate(revisions):
        if earlier.after == new.before:
            rest = revisions[:index] + revisions[index + 1 :]
            return [*rest, replace(new, base=earlier.base, before=earlier.before)]
    return [*revisions, new]


def _from_message(name: str, message: Message, texts: _Texts) -> _Made | None:
    """Return the revision that a message makes of the document, or None if it is about other
    files.
    """
    if message.error:
        raise SourceError(visible(message.error))
    pairs = [pair for pair in message.patch.files if texts.touches(pair)]
    if not pairs:
        return None
    if len(pairs) > 1:
        raise SourceError("it changes the file more than once")
    pair = pairs[0]
    before = _before(pair, texts)
    after = apply(pair, None if pair.old is None else before).text
    if after is None or not any(result.startswith(pair.new_blob) for result in blob_ids(after)):
        raise SourceError(f"applied, it does not give the text {pair.new_blob} that it names")
    label = message.subject or name.partition(":")[2]
    return _Made(Revision(name, text_of(after), label), text_of(before), before, after)


def _before(pair: FilePair, texts: _Texts) -> bytes:
    """Return the text that a patch was made from.

    Raises
    ------
    SourceError
        If it does not say so, or there is nothing to apply.
    """
    if {pair.old_mode, pair.new_mode} & {LINK, SUBMODULE}:
        raise SourceError("a link or a submodule, not a text file")
    if pair.new is None:
        raise SourceError("it deletes the file")
    if not (pair.hunks or pair.binary):
        raise SourceError("it changes no line of the file")
    if not pair.old_blob:
        hint = "make it with git diff, or git format-patch"
        raise SourceError("no index line, so it is unknown which text it was made from", hint=hint)
    if not (_ID.fullmatch(pair.old_blob) and _ID.fullmatch(pair.new_blob)):
        raise SourceError(f"its index line does not have {_LEAST_DIGITS} digits of both ids")
    if pair.new not in texts.paths:
        raise SourceError("it moves the file elsewhere")
    return texts.find(pair.old_blob)
