"""The reports that an editor asks for, made in a worker: on a repository's candidates, and edits.

Arguments and documents are JSON of the standard library: names may hold lone surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from excise import CancelFlag, replay
from excise_server.wire import documents as d
from excise_server.wire.worker import BrokenFrameError

if TYPE_CHECKING:  # a server loads these when somebody asks
    from excise_server.candidates.worktrees import Review
    from excise_server.sources.candidates import Candidates


def arguments_of(**arguments: object) -> bytes:
    """Return the arguments of a survey as they are sent."""
    return json.dumps(msgspec.to_builtins(arguments)).encode()


def survey(kind: str, arguments: bytes, cancel: CancelFlag) -> bytes:
    """Make a report.

    Raises excise_server.sources.SourceError if git fails, or no task has the name that was given.
    Raises excise.errors.Cancelled when the flag was raised.
    """
    make, _ = _SURVEYS[kind]
    return json.dumps(d.plain(make(json.loads(arguments), cancel))).encode()


def document_of(kind: str, data: bytes | memoryview) -> dict[str, Any]:
    """Return a report as a worker sent it.

    Raises BrokenFrameError if it has not the shape of one.
    """
    try:
        sent = json.loads(bytes(data), parse_constant=_refused)
        return dict(d.plain(msgspec.convert(sent, _SURVEYS[kind][1])))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenFrameError(f"malformed message: {error}") from error


def _review(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.report.review import review_document

    return review_document(_compared(asked, cancel))


def _take(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review
    from excise_server.git.repository import open_folder
    from excise_server.report.take import take_document
    from excise_server.review.taking import choices_named
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.registry import selection_asked

    repository = open_folder(asked["folder"], asked["folders"])
    selection = selection_asked(asked, asked["roots"])
    candidates = find_candidates(repository, selection)
    cancel.check()
    choose = partial(choices_named, asked["choices"], in_conflict=False)
    wanted = {name: asked[name] for name in ("digest", "anyway", "split")}
    result = take_from_review(candidates, choose, **wanted)
    return take_document(repository.top, result, None)


def _since(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.git.repository import open_folder
    from excise_server.memory.reviewed import version_reviewed
    from excise_server.report.since import since_document
    from excise_server.sources.since import compare_versions, newer_of, version_named

    repository = open_folder(asked["folder"], asked["folders"])
    old, new = asked["old"], asked["new"]
    newer = version_named(repository, new, has_files=False) if new else newer_of(repository, old)
    cancel.check()
    if old:
        older = version_named(repository, old, has_files=False)
    else:
        older = version_reviewed(repository, newer)
    return since_document(
        repository.top, compare_versions(repository, older, newer, asked["onto"] or "")
    )


def _land(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    """Put candidates together: those of an editor's settings, or those that a request chooses."""
    from excise_server.candidates.chosen import for_issue, without
    from excise_server.candidates.landing import land_candidates
    from excise_server.git.repository import open_folder
    from excise_server.report.land import land_document
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.registry import selection_asked

    repository = open_folder(asked["folder"], asked["folders"])
    if "settings" in asked:
        _, everyone = _everyone(asked)
        candidates, _ = without(everyone, asked["aside"])
    else:
        candidates = find_candidates(repository, selection_asked(asked, asked["roots"]))
    landing = land_candidates(
        repository,
        for_issue(candidates, asked["issue"]),
        asked["candidates"],
        task=asked["task"],
        anyway=asked["anyway"],
        cancel=cancel,
    )
    return land_document(repository.top, landing, candidates.rejected)


def _compared(asked: Mapping[str, Any], cancel: CancelFlag) -> Review:
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.git.repository import open_folder
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.registry import selection_asked

    selection = selection_asked(asked, asked["roots"])
    repository = open_folder(asked["folder"], asked["folders"])
    candidates = find_candidates(repository, selection)
    return compare_candidates(repository.top, candidates, intent=asked["intent"], cancel=cancel)


def _candidates(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import without
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.report.review import candidates_document

    top, everyone = _everyone(asked)
    aside = asked["aside"]
    kept, left_out = without(everyone, aside)
    compared = compare_candidates(
        top, kept, batch=asked["task"], intent=asked["intent"], cancel=cancel
    )
    ids = {candidate["id"] for candidate in asked["given"]}
    return candidates_document(compared, left_out, aside, bases=asked["bases"], given=ids)


def _taken(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review, without
    from excise_server.git.repository import open_folder
    from excise_server.memory.reviewed import note_taken
    from excise_server.report.take import taken_document
    from excise_server.review.mixes import BrokenMixError
    from excise_server.review.taking import Plan, Taken, choices_planned

    top, everyone = _everyone(asked)
    candidates, _ = without(everyone, asked["aside"])
    plan = msgspec.convert(asked["plan"], Plan)
    cancel.check()
    choose = partial(choices_planned, plan)
    try:
        result = take_from_review(
            candidates, choose, digest=plan.digest or None, anyway=plan.anyway, split=plan.split
        )
    except BrokenMixError as error:
        return taken_document(top, Taken((), (), (), origin=candidates.origin), error)
    note_taken(
        open_folder(asked["folder"], asked["folders"]), candidates.found, result, "the editor"
    )
    return taken_document(top, result)


def _checked(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.editor.apply import ToCheck, check_edits
    from excise_server.report.take import refusal_entry
    from excise_server.wire.documents import CheckedDocument

    errors = check_edits(msgspec.convert(asked["document"], ToCheck), cancel)
    return CheckedDocument(
        refusals=[None if error is None else refusal_entry(error) for error in errors],
        mending=[
            [] if error is None else [(p.candidate, p.lo, p.hi) for p in error.pieces]
            for error in errors
        ],
    )


def _duplicates(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    """Compare a patch with the heads of a repository, or these with each other."""
    from excise.patches import read
    from excise_server.duplicates.find import Proposal, find_duplicates, proposals_of
    from excise_server.foundation.inputs import SourceError
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


def _everyone(asked: Mapping[str, Any]) -> tuple[str, Candidates]:
    """Return the top folder of a repository, and what is found there and given by the client."""
    from excise_server.git.repository import open_folder
    from excise_server.review.given import Given
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.registry import selection_of
    from excise_server.wire.sources import SourceSettings

    given = msgspec.convert(asked["given"], list[Given])
    bases = asked["bases"]
    repository = open_folder(asked["folder"], asked["folders"])
    selection = selection_of(
        msgspec.convert(asked["settings"], SourceSettings),
        tuple(bases.items()),
        folders=asked["folders"],
    )
    if (patterns := asked["git"]) is not None:
        chosen = {**selection.chosen, "git": tuple(patterns)}
        optional = chosen.keys() - {"git"}
        selection = replace(selection, worktrees=True, chosen=chosen, optional=optional)
    return repository.top, find_candidates(repository, selection, given=given)


def _replayed(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Plain:
    texts = [
        replay(asked["before"], asked["current"], text, cancel=cancel).text
        for text in asked["texts"]
    ]
    return {"texts": texts}


def _refused(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_SURVEYS: dict[str, tuple[Callable[[Mapping[str, Any], CancelFlag], d.Shape | d.Plain], Any]] = {
    "candidates": (_candidates, d.CandidatesDocument),
    "review": (_review, d.ReviewDocument),
    "since": (_since, d.SinceDocument),
    "take": (_take, d.TakeDocument),
    "land": (_land, d.LandDocument),
    "taken": (_taken, d.TakenDocument),
    "checked": (_checked, d.CheckedDocument),
    "duplicates": (_duplicates, d.DuplicatesDocument),
    "replayed": (_replayed, dict[str, list[str]]),
}
"""What makes each report, and its shape."""
