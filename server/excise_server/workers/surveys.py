"""The reports that an editor asks for, made in a worker: on a repository's candidates, and edits.

Arguments and documents are JSON of the standard library: names may hold lone surrogates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from excise import CancelFlag
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.wire import documents as d
from excise_server.wire.worker import BrokenFrameError

if TYPE_CHECKING:  # a server loads these when somebody asks
    from excise_server.candidates.worktrees import Review
    from excise_server.git.repository import Repository
    from excise_server.review.candidate import Candidate
    from excise_server.review.decided import Now
    from excise_server.review.verdicts import Verdict
    from excise_server.sources.candidates import Candidates

    Found = tuple[
        Repository, Candidates, tuple[Candidate, ...], list[Verdict], list[str], Now, list[str]
    ]


def arguments_of(**arguments: object) -> bytes:
    """Return the arguments of a survey as they are sent."""
    return json.dumps(msgspec.to_builtins(arguments)).encode()


def survey(
    kind: str, arguments: bytes, cancel: CancelFlag, kept: dict[str, tuple[bytes, bytes]]
) -> bytes:
    """Make a report, or return the last one if nothing that it was made of has changed.

    Raises excise_server.sources.SourceError if git fails, or no task has the name that was given.
    Raises excise.errors.Cancelled when the flag was raised.

    - ``kept``: the last report of each kind, after the digest of what it was made of. It is kept up
      to date here.
    """
    asked, made_of = json.loads(arguments), b""
    document: d.Shape | d.Plain
    if kind in _OF_CANDIDATES:
        found = _found(asked, for_view=kind == "candidates")
        made_of = _digest(arguments, found)
        if made_of and made_of == kept.get(kind, (b"", b""))[0]:
            return kept[kind][1]
        cancel.check()
        document = _OF_CANDIDATES[kind][0](asked, found, cancel)
    else:
        document = _SURVEYS[kind][0](asked, cancel)
    sent = json.dumps(d.plain(document)).encode()
    if made_of:
        kept[kind] = made_of, sent
    return sent


def _digest(arguments: bytes, found: Found) -> bytes:
    """Return a SHA-256 of what a report is made of, or b"" if a name in it is not UTF-8."""
    try:
        return sha256(msgspec.msgpack.encode((arguments, *found[1:]))).digest()
    except UnicodeEncodeError:
        return b""


def document_of(kind: str, data: bytes | memoryview) -> dict[str, Any]:
    """Return a report as a worker sent it.

    Raises BrokenFrameError if it has not the shape of one.
    """
    try:
        sent = json.loads(bytes(data), parse_constant=_refused)
        return dict(d.plain(msgspec.convert(sent, {**_OF_CANDIDATES, **_SURVEYS}[kind][1])))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenFrameError(f"malformed message: {error}") from error


def _review(asked: Mapping[str, Any], found: Found, cancel: CancelFlag) -> d.Shape:
    from excise_server.report.review import chosen_hunks, review_document

    document = review_document(_compared(asked, found, cancel))
    return chosen_hunks(document, asked["path"]) if asked.get("path") else document


def _take(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review
    from excise_server.report.take import take_document
    from excise_server.review.taking import choices_named

    repository, candidates, *_ = _found(asked)
    cancel.check()
    choose = partial(choices_named, asked["choices"], in_conflict=False)
    wanted = {name: asked[name] for name in ("digest", "anyway", "split")}
    result = take_from_review(candidates, choose, **wanted)
    return take_document(repository.top, result, None)


def _since(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.git.repository import open_folder
    from excise_server.memory.reviewed import version_reviewed
    from excise_server.report.blocks import terminal
    from excise_server.report.since import since_blocks, since_document
    from excise_server.report.tables import plain_text
    from excise_server.sources.since import compare_versions, newer_of, version_named

    repository = open_folder(asked["folder"], asked["folders"])
    old, new = asked["old"], asked["new"]
    newer = (
        version_named(repository, new, has_files=False) if new else newer_of(repository, old or "")
    )
    cancel.check()
    if old:
        older = version_named(repository, old, has_files=False)
    else:
        older = version_reviewed(repository, newer)
    compared = compare_versions(repository, older, newer, asked["onto"] or "")
    if asked["path"]:
        compared = replace(compared, since=compared.since.of(asked["path"]))
    document = since_document(repository.top, compared)
    page = plain_text(partial(terminal, since_blocks(document, is_whole=True)))
    return d.SinceAnswer.of(document, page=page)


def _land(asked: Mapping[str, Any], found: Found, cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.landing import land_candidates
    from excise_server.report.blocks import terminal, words
    from excise_server.report.land import land_blocks, land_document
    from excise_server.report.tables import plain_text
    from excise_server.report.take import taken_document

    repository, candidates, _, verdicts, bad, *_ = found
    landing = land_candidates(
        repository,
        candidates,
        asked["candidates"] or (),
        task=asked.get("task") or "",
        verdicts=verdicts,
        anyway=asked["anyway"] is True,
        cancel=cancel,
    )
    document = land_document(repository.top, landing, candidates.rejected, notes=bad)
    most = len(document.landed) + len(document.left_out) + len(document.undecided)
    blocks = [*land_blocks(document, most + len(document.notes) + 1)]
    if document.landed:  # not the commands by which a terminal goes on
        changes = [words(f"{file.status}: {file.path}", depth=1) for file in document.files]
        blocks[-1:] = [words("what changes in your files"), *changes]
    contents = taken_document(repository.top, landing.taken).contents
    return d.LandedDocument.of(
        document, page=plain_text(partial(terminal, blocks)), contents=contents
    )


def _candidates(asked: Mapping[str, Any], found: Found, cancel: CancelFlag) -> d.Shape:
    from excise_server.report.review import candidates_document, chosen_hunks

    ids = {candidate["id"] for candidate in asked["given"]}
    document = candidates_document(
        _compared(asked, found, cancel), found[2], asked["aside"], bases=asked["bases"], given=ids,
        now=found[5], changed=found[6],
    )  # fmt: skip
    return chosen_hunks(document, asked["path"]) if asked["path"] else document


def _compared(asked: Mapping[str, Any], found: Found, cancel: CancelFlag) -> Review:
    from excise_server.candidates.worktrees import compare_candidates

    repository, candidates, _, verdicts, bad, *_ = found
    return compare_candidates(
        repository.top,
        replace(candidates, notes=(*candidates.notes, *bad)),
        task=asked.get("task") or "",
        intent=asked["intent"],
        verdicts=verdicts,
        cancel=cancel,
    )


def _taken(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review
    from excise_server.memory.reviewed import note_taken
    from excise_server.report.take import taken_document
    from excise_server.review.mixes import BrokenMixError
    from excise_server.review.taking import Plan, Taken, choices_planned

    repository, candidates, *_ = _found(asked)
    plan = msgspec.convert(asked["plan"], Plan)
    cancel.check()
    choose = partial(choices_planned, plan)
    try:
        result = take_from_review(
            candidates, choose, digest=plan.digest or None, anyway=plan.anyway, split=plan.split
        )
    except BrokenMixError as error:
        return taken_document(repository.top, Taken((), (), (), origin=candidates.origin), error)
    note_taken(repository, candidates.found, result, "the editor")
    return taken_document(repository.top, result)


def _finish(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.finishing import finish_document

    repository, candidates, *_ = _found(asked)
    cancel.check()
    return finish_document(repository, candidates.found, _in_repository(repository, asked))


def _decided(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    """Remember candidates as looked at; what no repository has cannot be asked about later."""
    from excise_server.git.repository import open_folder
    from excise_server.memory.reviewed import note_decided

    repository = open_folder(asked["folder"], asked["folders"])
    noted = note_decided(repository, asked["ids"], "the editor", cancel)
    return d.NotedDocument(noted=noted)


def _checked(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.editor.apply import ToCheck, check_edits
    from excise_server.report.take import refusal_entry
    from excise_server.wire.documents import CheckedDocument

    errors = check_edits(msgspec.convert(asked["document"], ToCheck), cancel)
    return CheckedDocument(
        refusals=[None if isinstance(error, str) else refusal_entry(error) for error in errors],
        said=[error if isinstance(error, str) else "" for error in errors],
    )


def _duplicates(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    """Compare a patch with the heads of a repository, or these with each other."""
    from excise.patches import read
    from excise_server.duplicates.find import Proposal, find_duplicates, proposals_of
    from excise_server.git.repository import open_folder
    from excise_server.report.cluster import duplicates_document
    from excise_server.sources.requests import read_requests

    repository = open_folder(asked["folder"], asked["folders"])
    heads = read_requests(repository, asked["git"], asked["onto"])
    cancel.check()
    if not asked["patch"]:
        duplicates = find_duplicates(heads.proposals)
        return duplicates_document(duplicates, heads.rejected, heads.notes)
    messages = read(asked["patch"].encode("utf-8", "replace"))
    own = proposals_of([("patch", message) for message in messages])
    if not own:
        raise SourceError(messages[0].error or "it contains no diff", name="the patch")
    title, text = asked["title"] or own[0].title, asked["message"] or own[0].text
    proposal = Proposal("patch", title, text, own[0].author, own[0].patch, own[0].parts)
    # Without heads there is nothing to compare with, and nothing is found.
    duplicates = find_duplicates([proposal], heads.proposals)
    return duplicates_document(duplicates, heads.rejected, heads.notes)


def _found(asked: Mapping[str, Any], *, for_view: bool = False) -> Found:
    """Return what a request chooses.

    That is a repository, its candidates, those that are set aside, what tests said of them, why
    lines of that were left out, and with ``for_view`` the user's files, and who has changed since
    the user looked.

    A request of an editor has its settings, which hold for what it does not choose, what the client
    gave, and what the user set aside.
    """
    from excise_server.candidates.chosen import for_issue, without
    from excise_server.git.repository import open_folder
    from excise_server.review.given import Given
    from excise_server.sources.candidates import SAVED, find_candidates
    from excise_server.sources.registry import selection_asked, selection_of
    from excise_server.sources.verdicts import read_verdicts
    from excise_server.wire.sources import CHOSEN, SourceSettings

    repository = open_folder(asked["folder"], asked["folders"])
    selection = selection_asked(asked, asked["roots"])
    given = list[Given]()
    if "settings" in asked:
        settings = msgspec.convert(asked["settings"], SourceSettings)
        own = selection_of(settings, tuple(asked["bases"].items()), folders=asked["folders"])
        typed = {name for name in CHOSEN if asked.get(name) is not None}
        selection = replace(
            selection,
            worktrees=own.worktrees or bool(typed),
            chosen={**own.chosen, **{name: selection.chosen[name] for name in typed}},
            optional=own.chosen.keys() - typed,
            remembered=own.remembered,
        )
        given = msgspec.convert(asked["given"], list[Given])
    candidates = find_candidates(repository, selection, given=given)
    kept, aside = without(candidates, asked.get("aside") or {})
    judged = read_verdicts(asked.get("verdicts") or (), asked["roots"])
    now, changed = dict[str, Side | None](), list[str]()
    if for_view:
        from excise_server.memory.reviewed import changed_since_reviewed
        from excise_server.sources.reading import Target, saved_target

        # The user's files that differ from the target, as the editor shows them.
        with suppress(SourceError):  # files in conflict: nothing is known of them
            now |= saved_target(repository, candidates.origin).saved
        for path, text in _in_repository(repository, asked).items():
            before = now.get(path)
            mode = "100644" if before is None else before.mode
            now[path] = Side(mode, text.encode("utf-8", "surrogatepass"))
        target = Target(kept.origin)
        if selection.onto == SAVED:
            target = saved_target(repository, kept.origin)
        changed = changed_since_reviewed(repository, target, kept.found)
    return repository, for_issue(kept, asked.get("issue") or ""), aside, *judged, now, changed


def _in_repository(repository: Repository, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that an editor has not saved, by their paths in the repository."""
    start = repository.top + os.sep
    return {
        path.removeprefix(start).replace(os.sep, "/"): text
        for path, text in asked["unsaved"].items()
        if path.startswith(start)
    }


def _refused(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_OF_CANDIDATES: dict[
    str, tuple[Callable[[Mapping[str, Any], Found, CancelFlag], d.Shape], type[d.Shape]]
] = {
    "candidates": (_candidates, d.CandidatesDocument),
    "review": (_review, d.ReviewDocument),
    "land": (_land, d.LandedDocument),
}
_SURVEYS: dict[str, tuple[Callable[[Mapping[str, Any], CancelFlag], d.Shape], Any]] = {
    "since": (_since, d.SinceAnswer),
    "take": (_take, d.TakeDocument),
    "taken": (_taken, d.TakenDocument),
    "finish": (_finish, d.FinishDocument),
    "decided": (_decided, d.NotedDocument),
    "checked": (_checked, d.CheckedDocument),
    "duplicates": (_duplicates, d.DuplicatesDocument),
}
"""What makes each report, and its shape: those above of what `_found` finds."""
