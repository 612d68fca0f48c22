"""The reports that an editor asks for, made in a worker: on a repository's candidates, and edits.

Arguments and documents are JSON of the standard library: names may hold lone surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from excise import CancelFlag, replay
from excise_server.wire import documents as d
from excise_server.wire.worker import BrokenFrameError

if TYPE_CHECKING:  # a server loads these when somebody asks
    from excise_server.git.repository import Repository
    from excise_server.sources.candidates import Candidates


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
    find, make, _ = _SURVEYS[kind]
    if find is None:
        document = make(asked, cancel)
    else:
        repository, candidates = find(asked)
        made_of = _digest(arguments, candidates)
        if made_of and made_of == kept.get(kind, (b"", b""))[0]:
            return kept[kind][1]
        cancel.check()
        document = make(asked, repository, candidates, cancel)
    sent = json.dumps(d.plain(document)).encode()
    if made_of:
        kept[kind] = made_of, sent
    return sent


def _digest(arguments: bytes, candidates: Candidates) -> bytes:
    """Return a SHA-256 of what a report is made of, or b"" if a name in it is not UTF-8."""
    try:
        return sha256(msgspec.msgpack.encode((arguments, candidates))).digest()
    except UnicodeEncodeError:
        return b""


def document_of(kind: str, data: bytes | memoryview) -> dict[str, Any]:
    """Return a report as a worker sent it.

    Raises BrokenFrameError if it has not the shape of one.
    """
    try:
        sent = json.loads(bytes(data), parse_constant=_refused)
        return dict(d.plain(msgspec.convert(sent, _SURVEYS[kind][2])))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenFrameError(f"malformed message: {error}") from error


def _review(
    asked: Mapping[str, Any], repository: Repository, candidates: Candidates, cancel: CancelFlag
) -> d.Shape:
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.report.review import review_document

    intent = asked["intent"]
    return review_document(
        compare_candidates(repository.top, candidates, intent=intent, cancel=cancel)
    )


def _take(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review
    from excise_server.report.take import take_document
    from excise_server.review.taking import choices_named

    repository, candidates = _selected(asked)
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
    newer = (
        version_named(repository, new, has_files=False) if new else newer_of(repository, old or "")
    )
    cancel.check()
    if old:
        older = version_named(repository, old, has_files=False)
    else:
        older = version_reviewed(repository, newer)
    return since_document(
        repository.top, compare_versions(repository, older, newer, asked["onto"] or "")
    )


def _land(
    asked: Mapping[str, Any], repository: Repository, candidates: Candidates, cancel: CancelFlag
) -> d.Shape:
    from excise_server.candidates.chosen import for_issue
    from excise_server.candidates.landing import land_candidates
    from excise_server.report.land import land_document

    landing = land_candidates(
        repository,
        for_issue(candidates, asked["issue"]),
        asked["candidates"],
        task=asked["task"],
        anyway=asked["anyway"],
        cancel=cancel,
    )
    return land_document(repository.top, landing, candidates.rejected)


def _candidates(
    asked: Mapping[str, Any], repository: Repository, everyone: Candidates, cancel: CancelFlag
) -> d.Shape:
    from excise_server.candidates.chosen import without
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.report.review import candidates_document

    aside = asked["aside"]
    kept, left_out = without(everyone, aside)
    compared = compare_candidates(
        repository.top, kept, batch=asked["task"], intent=asked["intent"], cancel=cancel
    )
    ids = {candidate["id"] for candidate in asked["given"]}
    return candidates_document(compared, left_out, aside, bases=asked["bases"], given=ids)


def _taken(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Shape:
    from excise_server.candidates.chosen import take_from_review, without
    from excise_server.memory.reviewed import note_taken
    from excise_server.report.take import taken_document
    from excise_server.review.mixes import BrokenMixError
    from excise_server.review.taking import Plan, Taken, choices_planned

    repository, everyone = _everyone(asked)
    candidates, _ = without(everyone, asked["aside"])
    plan = msgspec.convert(asked["plan"], Plan)
    cancel.check()
    choose = partial(choices_planned, plan)
    try:
        result = take_from_review(
            candidates, choose, digest=plan.digest or None, anyway=plan.anyway, split=plan.split
        )
    except BrokenMixError as error:
        taken = Taken((), (), (), origin=candidates.origin)
        return taken_document(repository.top, taken, error)
    note_taken(repository, candidates.found, result, "the editor")
    return taken_document(repository.top, result)


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


def _selected(asked: Mapping[str, Any]) -> tuple[Repository, Candidates]:
    """Return a repository, and those of its candidates that a request chooses."""
    from excise_server.git.repository import open_folder
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.registry import selection_asked

    repository = open_folder(asked["folder"], asked["folders"])
    return repository, find_candidates(repository, selection_asked(asked, asked["roots"]))


def _to_land(asked: Mapping[str, Any]) -> tuple[Repository, Candidates]:
    """Return a repository, and its candidates by an editor's settings or as a request chooses."""
    from excise_server.candidates.chosen import without

    if "settings" not in asked:
        return _selected(asked)
    repository, everyone = _everyone(asked)
    return repository, without(everyone, asked["aside"])[0]


def _everyone(asked: Mapping[str, Any]) -> tuple[Repository, Candidates]:
    """Return a repository, and what is found there and given by the client."""
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
    return repository, find_candidates(repository, selection, given=given)


def _replayed(asked: Mapping[str, Any], cancel: CancelFlag) -> d.Plain:
    texts = [
        replay(asked["before"], asked["current"], text, cancel=cancel).text
        for text in asked["texts"]
    ]
    return {"texts": texts}


def _refused(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_Find = Callable[[Mapping[str, Any]], tuple["Repository", "Candidates"]]

_SURVEYS: dict[str, tuple[_Find | None, Callable[..., d.Shape | d.Plain], Any]] = {
    "candidates": (_everyone, _candidates, d.CandidatesDocument),
    "review": (_selected, _review, d.ReviewDocument),
    "land": (_to_land, _land, d.LandDocument),
    "since": (None, _since, d.SinceDocument),
    "take": (None, _take, d.TakeDocument),
    "taken": (None, _taken, d.TakenDocument),
    "checked": (None, _checked, d.CheckedDocument),
    "duplicates": (None, _duplicates, d.DuplicatesDocument),
    "replayed": (None, _replayed, dict[str, list[str]]),
}
"""What finds the candidates of each report, what makes it (of them), and its shape."""
