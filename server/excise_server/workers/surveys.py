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
from excise_server.workers.messages import BrokenFrameError

if TYPE_CHECKING:  # a server loads these when somebody asks
    from excise_server.candidates.worktrees import Review
    from excise_server.report.documents import Plain, Shape
    from excise_server.sources.candidates import Candidates

__all__ = ["arguments_of", "document_of", "survey"]


def arguments_of(**arguments: object) -> bytes:
    """Return the arguments of a survey as they are sent."""
    return json.dumps(msgspec.to_builtins(arguments)).encode()


def survey(kind: str, arguments: bytes, cancel: CancelFlag) -> bytes:
    """Make a report.

    Raises
    ------
    excise_server.sources.SourceError
        If git fails, or no batch has the name that was given.
    excise.errors.Cancelled
        When the flag was raised.
    """
    from excise_server.report.documents import plain

    asked = json.loads(arguments)
    return json.dumps(plain(_SURVEYS[kind](asked, cancel))).encode()


def document_of(kind: str, data: bytes | memoryview) -> dict[str, Any]:
    """Return a report as a worker sent it.

    Raises
    ------
    BrokenFrameError
        If it has not the shape of one.
    """
    from excise_server.report.documents import plain
    from excise_server.report.duplicates import DuplicatesDocument
    from excise_server.report.review import ReviewDocument
    from excise_server.report.take import CheckedDocument, TakeDocument, TakenDocument
    from excise_server.report.worktrees import CandidatesDocument, WorktreesDocument

    shapes: dict[str, Any] = {
        "worktrees": WorktreesDocument,
        "candidates": CandidatesDocument,
        "review": ReviewDocument,
        "take": TakeDocument,
        "taken": TakenDocument,
        "checked": CheckedDocument,
        "duplicates": DuplicatesDocument,
        "replayed": dict[str, list[str]],
    }
    try:
        shape = msgspec.convert(json.loads(bytes(data), parse_constant=_refused), shapes[kind])
        return dict(plain(shape))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenFrameError(f"malformed message: {error}") from error


def _worktrees(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.report.worktrees import worktrees_document

    return worktrees_document(_compared(asked, cancel))


def _review(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.report.review import review_document

    return review_document(_compared(asked, cancel))


def _take(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.candidates.take import take_from_review
    from excise_server.git.repository import open_folder
    from excise_server.git.worktree_files import SHA256_DIGITS
    from excise_server.report.take import take_document
    from excise_server.review.taking import choices_named
    from excise_server.sources.candidates import Selection, find_candidates

    repository = open_folder(asked["folder"], asked["folders"])
    selection = Selection(branches=tuple(asked["branches"]), onto=asked["base"])
    candidates = find_candidates(repository, selection)
    cancel.check()
    choose = partial(choices_named, asked["choices"], in_conflict=False)
    sha256 = len(candidates.origin) == SHA256_DIGITS
    result = take_from_review(
        candidates, choose, digest=asked["digest"], anyway=asked["anyway"], sha256=sha256
    )
    return take_document(repository.top, result, None)


def _compared(asked: Mapping[str, Any], cancel: CancelFlag) -> Review:
    from excise_server.candidates.worktrees import compare_worktrees
    from excise_server.git.repository import open_folder
    from excise_server.sources.candidates import Selection

    selection = Selection(branches=tuple(asked["branches"]), onto=asked["base"])
    repository = open_folder(asked["folder"], asked["folders"])
    return compare_worktrees(repository, selection, intent=asked["intent"], cancel=cancel)


def _candidates(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.candidates.chosen import without
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.report.worktrees import candidates_document

    top, everyone = _everyone(asked)
    aside = asked["aside"]
    kept, left_out = without(everyone, aside)
    compared = compare_candidates(
        top, kept, batch=asked["batch"], intent=asked["intent"], cancel=cancel
    )
    ids = {candidate["id"] for candidate in asked["given"]}
    return candidates_document(compared, left_out, aside, bases=asked["bases"], given=ids)


def _taken(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.candidates.chosen import without
    from excise_server.candidates.take import take_from_review
    from excise_server.git.worktree_files import SHA256_DIGITS
    from excise_server.report.take import refused_document, taken_document
    from excise_server.review.mixes import BrokenMixError
    from excise_server.review.taking import Plan, choices_planned

    top, everyone = _everyone(asked)
    candidates, _ = without(everyone, asked["aside"])
    plan = msgspec.convert(asked["plan"], Plan)
    cancel.check()
    sha256 = len(candidates.origin) == SHA256_DIGITS
    choose = partial(choices_planned, plan)
    try:
        result = take_from_review(
            candidates, choose, digest=plan.digest or None, anyway=plan.anyway, sha256=sha256
        )
    except BrokenMixError as error:
        return refused_document(top, candidates.origin, error)
    return taken_document(top, result)


def _checked(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    from excise_server.editor.apply import ToCheck, check_edits
    from excise_server.report.take import CheckedDocument, refusal_entry

    errors = check_edits(msgspec.convert(asked["document"], ToCheck), cancel)
    return CheckedDocument(
        refusals=[None if error is None else refusal_entry(error) for error in errors]
    )


def _replayed(asked: Mapping[str, Any], cancel: CancelFlag) -> Plain:
    texts = []
    for text in asked["texts"]:
        cancel.check()
        texts.append(replay(asked["before"], asked["current"], text).text)
    return {"texts": texts}


def _duplicates(asked: Mapping[str, Any], cancel: CancelFlag) -> Shape:
    """Compare a patch with the heads of a repository, or these with each other."""
    from excise.patches import read
    from excise_server.duplicates.find import find_duplicates
    from excise_server.duplicates.proposals import Proposal, proposals_of
    from excise_server.foundation.inputs import SourceError
    from excise_server.git.repository import open_folder
    from excise_server.report.duplicates import duplicates_document
    from excise_server.sources.requests import read_requests

    repository = open_folder(asked["folder"], asked["folders"])
    heads = read_requests(repository, asked["branches"], asked["base"])
    cancel.check()
    if not asked["patch"]:
        found = find_duplicates(heads.proposals)
        return duplicates_document(found, heads.rejected, heads.notes)
    messages = read(asked["patch"].encode("utf-8", "replace"))
    own = proposals_of([("patch", message) for message in messages])
    if not own:
        raise SourceError(messages[0].error or "it holds no diff", name="the patch")
    title, text = asked["title"] or own[0].title, asked["message"] or own[0].text
    one = Proposal("patch", title, text, own[0].author, own[0].patch, own[0].parts)
    # Without heads there is nothing to compare with, and nothing is found.
    found = find_duplicates([one], heads.proposals)
    return duplicates_document(found, heads.rejected, heads.notes)


def _everyone(asked: Mapping[str, Any]) -> tuple[str, Candidates]:
    """Return the top folder of a repository, and what is found there and given by the client."""
    from excise_server.git.repository import open_folder
    from excise_server.review.given import Given
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.finding import SourceSettings
    from excise_server.sources.registry import selection_of

    given = msgspec.convert(asked["given"], list[Given])
    bases = asked["bases"]
    repository = open_folder(asked["folder"], asked["folders"])
    selection = selection_of(
        msgspec.convert(asked["settings"], SourceSettings),
        tuple(bases.items()),
        folders=asked["folders"],
    )
    if (branches := asked["branches"]) is not None:
        chosen = tuple(branches)
        selection = replace(selection, worktrees=True, branches=chosen, typed=("branches",))
    return repository.top, find_candidates(repository, selection, given=given)


def _refused(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_SURVEYS: dict[str, Callable[[Mapping[str, Any], CancelFlag], Shape | Plain]] = {
    "worktrees": _worktrees,
    "candidates": _candidates,
    "review": _review,
    "take": _take,
    "taken": _taken,
    "checked": _checked,
    "duplicates": _duplicates,
    "replayed": _replayed,
}
