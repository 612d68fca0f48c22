"""Facts that distinguish a group of candidates, found in their texts, not judgements. Pure.

`kinds` distinguishes code from tests, docs and generated files. Facts about names in Python come
from Python's own parser, which runs nothing (`excise.facts`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from excise.facts import EditFacts
from excise.patches import FilePair
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import FileChange, ReviewedFile, hunk_name
from excise_server.review.kinds import KINDS, Kind
from excise_server.review.replayed import DELETED, MOVED
from excise_server.wire.documents import ReasonEntry

ReasonKind = Literal[
    "checks", "made-for", "conflict", "broken", "bytes", "no-code", "comments-only", "unread-names",
    "alone", "tests", "deletes",
]  # fmt: skip
REASONS: tuple[ReasonKind, ...] = get_args(ReasonKind)
"""The kinds of reasons, in the order in which they are shown."""

_KIND_WORDS: dict[Kind, str] = {
    "scratch": "scripts that it leaves behind",
    "generated": "generated files",
}

MANY_LINES = 10
"""The fewest deleted lines of code for a remark that a candidate deletes more than it adds."""


Said = tuple[ReasonKind, str]
Facts = Mapping[str, EditFacts]


class _Touched(NamedTuple):
    """The change of a file by a candidate, and the kind of the file."""

    file: ReviewedFile
    change: FileChange
    kind: Kind


def group_reasons(
    candidates: Sequence[Candidate],
    groups: Sequence[Sequence[str]],
    files: Sequence[ReviewedFile],
    broken: Mapping[str, Sequence[str]],
    facts: Mapping[str, Facts],
    said: Mapping[str, Sequence[FilePair]] | None = None,
) -> list[list[ReasonEntry]]:
    """Return the facts about each group of a task, each a phrase that follows "it".

    - ``broken``: by id, what each breaks, as phrases.
    - ``facts``: by candidate and path, the facts about its texts.
    - ``said``: by id, the changes of each as they are said (`Candidate.said`), if known.
    """
    files = sorted(files, key=lambda file: (KINDS.index(file.kind), file.path))
    # The facts about files of code that have a text before and after.
    of_texts: dict[str, dict[str, EditFacts]] = defaultdict(dict)
    touched: dict[str, list[_Touched]] = defaultdict(list)  # by candidate, code first
    for file in files:
        for change in file.changes:
            touched[change.id].append(_Touched(file, change, change.kind))
            known = facts.get(change.id, {}).get(file.path)
            has_texts = file.text is not None and change.text is not None
            if file.kind == "code" and known is not None and has_texts:
                of_texts[change.id][file.path] = known
    stated = {}
    for candidate in candidates:
        changes = [each.change.pair for each in touched[candidate.id]]
        if said is None:
            pairs = list(candidate.said(changes))
        else:
            own = {pair.path: pair for pair in said[candidate.id]}
            pairs = [own.get(pair.path, pair) for pair in changes]
        stated[candidate.id] = [
            *_state(candidate, broken.get(candidate.id, ())),
            *_bytes(pairs),
            *_code(candidate, touched[candidate.id], of_texts[candidate.id]),
            *_tests(candidate, pairs),
            *_deletes(candidate, pairs),
        ]
    alone = _alone(files) if len(groups) > 1 else {}
    return [_reasons(members, stated, alone.get(frozenset(members), ())) for members in groups]


def _reasons(
    members: Sequence[str], stated: Mapping[str, Iterable[Said]], alone: Sequence[str]
) -> list[ReasonEntry]:
    ids: dict[Said, list[str]] = defaultdict(list)
    for name in members:
        for fact in stated[name]:
            ids[fact].append(name)
    if alone:
        ids["alone", f"alone changes {first_few(alone)}"] = list(members)
    ordered = sorted(ids.items(), key=lambda item: (REASONS.index(item[0][0]), -len(item[1])))
    return [
        ReasonEntry(kind=kind, text=visible(text), members=who) for (kind, text), who in ordered
    ]


def _alone(files: Sequence[ReviewedFile]) -> Mapping[frozenset[str], list[str]]:
    """Name the files and hunks that only these candidates change, by candidate."""
    places: dict[frozenset[str], list[str]] = defaultdict(list)
    for file in files:
        touching = frozenset(change.id for change in file.changes)
        places[touching].append(file.path)
        for hunk in file.hunks:
            changing = frozenset(name for ids, _ in file.variants(hunk) for name in ids)
            if changing != touching:
                places[changing].append(f"{file.path}#{hunk_name(hunk.lo, hunk.hi)}")
    return places


def _state(candidate: Candidate, broken: Sequence[str]) -> Iterator[Said]:
    branch, revision = candidate.made_for
    if branch:
        yield "made-for", f"made for {branch}: --onto {revision}"
    if candidate.conflicts:
        yield "conflict", f"conflicts with the target{''.join(_conflicts(candidate.conflicts))}"
    if broken:
        yield "broken", first_few(broken)


def _conflicts(conflicts: Mapping[str, str]) -> Iterator[str]:
    """Yield where a candidate conflicts with the target, and what is to be known of that."""
    is_first = True
    for word, reason in (("which deleted", DELETED), ("which renamed the folder of", MOVED)):
        if paths := sorted(path for path, own in conflicts.items() if own == reason):
            is_first = False
            yield f", {word} {first_few(paths)}"
    if paths := sorted(path for path, own in conflicts.items() if own not in (DELETED, MOVED)):
        yield f"{'' if is_first else ', and'} in {first_few(paths)}"


def _bytes(pairs: Sequence[FilePair]) -> Iterator[Said]:
    """Yield what its lines do not show: encodings, line ends, submodules, invisible characters."""
    paths: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        for fact in pair.beside:
            paths[fact].append(pair.old or pair.path)
    for fact, where in paths.items():
        yield "bytes", fact if "submodule " in fact else f"{fact} ({first_few(where)})"


def _code(candidate: Candidate, touched: Sequence[_Touched], of_texts: Facts) -> Iterator[Said]:
    """Yield what the edits of code amount to: nothing, or names that are never read."""
    changes = [(file, change) for file, change, kind in touched if kind == "code"]
    if not changes:
        kinds = {kind for _, _, kind in touched}
        if candidate.conflicts:
            kinds = {candidate.kind_of(path) for sides in candidate.own for path in sides}
        if "code" in kinds:
            return  # that is in the target already
        names = " and ".join(_KIND_WORDS.get(kind, kind) for kind in KINDS if kind in kinds)
        yield "no-code", f"changes no code, only {names or 'nothing'}"
        return
    known_facts = [
        of_texts.get(file.path)
        if c.status == "modified" and c.pair.facts == c.pair.beside and c.pair.hunks
        else None
        for file, c in changes
    ]
    if all(facts is not None and facts.same_program for facts in known_facts):
        yield "comments-only", "changes no code but comments, docstrings or white space"
        return
    unread = [
        (name, file.path)
        for file, change in changes
        if file.origin is not None
        for name in of_texts.get(file.path, EditFacts()).unread
        if not _is_read_elsewhere(name, file, touched)
    ]
    if unread:
        only = all(facts is not None and facts.is_stub for facts in known_facts)
        names = first_few([f"{name} ({path})" for name, path in unread])
        adds = "only adds" if only else "adds"
        yield "unread-names", f"{adds} names that are never read: {names}"


def _is_read_elsewhere(name: str, file: ReviewedFile, touched: Sequence[_Touched]) -> bool:
    """Whether another file of the candidate has the word."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return any(
        other_file.file is not file and word.search(other_file.change.text or "")
        for other_file in touched
    )


def _tests(candidate: Candidate, pairs: Sequence[FilePair]) -> Iterator[Said]:
    tests = [p for p in pairs if candidate.kind_of(p.old or p.path) == "tests"]
    if created := [pair.path for pair in tests if pair.old is None]:
        yield "tests", f"adds tests: {first_few(created)}"
    if edited := [pair.old for pair in tests if pair.old and pair.new and pair.added]:
        yield "tests", f"changes tests: {first_few(edited)}"
    if deleted := [pair.path for pair in tests if pair.new is None]:
        yield "tests", f"deletes tests: {first_few(deleted)}"


def _deletes(candidate: Candidate, pairs: Sequence[FilePair]) -> Iterator[Said]:
    changes = [p for p in pairs if candidate.kind_of(p.old or p.path) == "code"]
    added, deleted = sum(c.added for c in changes), sum(c.deleted for c in changes)
    lines = f"{deleted:,} line{'' if deleted == 1 else 's'} of code"
    if deleted and not added:
        yield "deletes", f"only deletes {lines}"
    elif deleted >= MANY_LINES and deleted > added:
        yield "deletes", f"deletes {lines} and adds {added:,}"
