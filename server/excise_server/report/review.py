"""A review as one document, which programs get and of which every page is a view (docs/json.md).

A new column of a candidate is a field of `CandidateEntry`, a line where `_candidate` fills it, and
a line in each view that shows it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypedDict

import msgspec

from excise import Cluster, Hunk, Ranked
from excise.clustering import DISTANCE, LINKAGE
from excise.text import raw_lines
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.report.documents import renamed_of
from excise_server.report.words import disagree, words_of
from excise_server.review.candidate import review_digest
from excise_server.review.decided import decided_states
from excise_server.review.groups import COMMENT
from excise_server.review.heads import Head, heads_of_hunk, qualified
from excise_server.review.hunks import ReviewedFile, hunk_name, lines_named
from excise_server.review.kinds import KINDS
from excise_server.wire import documents as d

if TYPE_CHECKING:
    from excise.patches import FilePair
    from excise_server.candidates.worktrees import Review
    from excise_server.review.candidate import Candidate
    from excise_server.review.decided import Now
    from excise_server.review.ranked import RankedTask
    from excise_server.review.relations import CandidateRelation

AROUND = 3
"""Lines of the origin that are shown before and after a hunk."""


def review_document(review: Review) -> d.ReviewDocument:
    """Return tasks with their groups and hunks, candidates, scores, and who is left out."""
    candidates, order = review.candidates, [ranked.index for ranked in review.ranking]
    ids = review.matrix.ids
    words = words_of(ids, review.matrix.word)
    entries: list[d.CandidateEntry] = []
    tasks: list[d.TaskEntry] = []
    for number, ranked in enumerate(review.tasks, start=1):
        own: dict[int, d.CandidateEntry] = {}
        for place, cluster in enumerate(ranked.clusters, start=1):
            for each in (each for each in ranked.ranking if each.index in cluster.members):
                own[each.index] = _candidate(review, ranked, cluster, each, number, place)
        entries += [own[each.index] for each in ranked.ranking]
        files = review.files[number - 1]
        members = [review.candidates.found[index] for index in own]
        shown = sorted(map(_file, files), key=lambda file: (KINDS.index(file.kind), file.path))
        task = d.TaskEntry(
            number=number,
            name=visible(ranked.task.name) or None,
            members=list(ranked.task.members),
            shared=[spelled(path) for path in ranked.task.shared],
            by_issue={name: visible(issue) for name, issue in ranked.task.named.items()},
            disagree=disagree(ranked.ranking),
            digest=review_digest(review.candidates.origin, members),
            groups=list(_groups(review, number, {entry.id: entry for entry in own.values()})),
            files=shown,
        )
        tasks.append(task)
    return d.ReviewDocument.of(
        candidates,
        review,
        basis="origin",
        threshold=DISTANCE,
        linkage=LINKAGE,
        repository=visible(review.top),
        digest=review_digest(candidates.origin, candidates.found),
        tasks=tasks,
        candidates=entries,
        similarity=[[float(review.matrix.values[i, j]) for j in order] for i in order],
        words=[[words[i][j] for j in order] for i in order],
        relations=relation_entries(review.relations),
        landed=[
            d.LandedEntry.of(
                one, id=spelled(one.id), label=spelled(one.label), commit=one.commit or None
            )
            for one in candidates.landed
        ],
        other_tasks=[list(task.members) for task in review.other_tasks],
        unknown_verdicts=list(review.verdicts.unknown),
        notes=[*candidates.notes, *review.verdicts.notes],
        rejected=list(map(d.RejectedEntry.of, candidates.rejected)),
    )


def candidates_document(
    review: Review,
    aside: Sequence[Candidate],
    states: Mapping[str, str],
    *,
    bases: Mapping[str, str],
    given: Collection[str],
    now: Now,
    changed: Sequence[str],
) -> d.CandidatesDocument:
    """Return the document of `review_document`, with the decisions about candidates.

    - ``aside``, ``states``: those that were found and left out, and by id why: ``hidden`` or
      ``rejected``.
    - ``bases``: by id the commits that were set by hand.
    - ``given``: the ids of those that came from a client.
    - ``now``: the user's files that differ from the target.
    - ``changed``: the ids of those that have changed since the user looked.
    """
    document = review_document(review)
    tasks = [[*task.members] for task in document.tasks]
    return d.CandidatesDocument.of(
        document,
        set_aside=[
            d.SetAsideEntry.of(c, label=visible(c.label), state=states[c.id]) for c in aside
        ],
        changed=list(changed),
        decided=decided_states(review.candidates.found, tasks, now),
        bases=dict(bases),
        given=[entry.id for entry in document.candidates if entry.id in given],
    )


def relation_entries(relations: Iterable[CandidateRelation]) -> list[d.RelationEntry]:
    """Return the relations of candidates as documents have them."""
    return [
        d.RelationEntry(
            first=relation.first,
            second=relation.second,
            word=relation.word,
            evidence=[
                d.EvidenceEntry(
                    word=each.word,
                    message=visible(each.message),
                    path=spelled(each.path) if each.path else None,
                    line=each.line or None,
                    by=each.by or None,
                )
                for each in relation.reasons
            ],
        )
        for relation in relations
    ]


def file_status(pair: FilePair) -> str:
    """Return what happened to a file in one word."""
    if pair.moved:
        return "renamed"
    if pair.old is None:
        return "created"
    return "deleted" if pair.new is None else "modified"


def chosen_hunks(document: d.ReviewDocument, names: Sequence[str]) -> d.ReviewDocument:
    """Return the document with only some of its files and hunks: all tasks, and the same digests.

    Raises SourceError if the file or hunk does not exist.

    - ``names``: globs of files, or hunks as ``PATH#LINES``.
    """
    files = [file for task in document.tasks for file in task.files]
    wanted: dict[str, set[tuple[int, int]] | None] = {}
    for typed in names:
        # As the document spells it: with its bytes, or as it is shown.
        name = typed if typed == visible(typed) else spelled(typed)
        matching = [file.path for file in files if fnmatchcase(file.path, name)]
        if matching:
            wanted |= dict.fromkeys(matching)
            continue
        path, lines = _file_and_lines(files, name)
        before = wanted.get(path, set())
        wanted[path] = None if lines is None or before is None else before | {lines}

    def shown(file: d.ReviewFileEntry) -> d.ReviewFileEntry | None:
        lines = wanted.get(file.path, set())
        if lines is None:
            return file
        remaining = [hunk for hunk in file.hunks if (hunk.lo, hunk.hi) in lines]
        return msgspec.structs.replace(file, hunks=remaining) if remaining else None

    tasks = [
        msgspec.structs.replace(task, files=[s for file in task.files if (s := shown(file))])
        for task in document.tasks
    ]
    return msgspec.structs.replace(document, tasks=tasks)


def _file_and_lines(
    files: Sequence[d.ReviewFileEntry], name: str
) -> tuple[str, tuple[int, int] | None]:
    """Return the file and lines of a name. A path may contain a number sign itself."""
    if any(file.path == name for file in files):
        return name, None
    path, _, lines = name.rpartition("#")
    of_path = [file for file in files if file.path == path]
    if not of_path:
        paths = list(dict.fromkeys(file.path for file in files))
        hint = f"there are {first_few(paths, 8)}" if paths else "no file is changed"
        raise SourceError(f"no changed file is called {visible(path or name)}", hint=hint)
    chosen = lines_named(lines)
    hunks = [hunk for file in of_path for hunk in file.hunks]
    if chosen is None or chosen not in {(hunk.lo, hunk.hi) for hunk in hunks}:
        hint = f"there are {first_few([f'#{hunk.name}' for hunk in hunks], 12)}"
        raise SourceError(f"{visible(path)} has no hunk {visible(lines)}", hint=hint)
    return path, chosen


# --- tasks and candidates ------------------------------------------------------------------------


def _candidate(
    review: Review,
    ranked_task: RankedTask,
    cluster: Cluster,
    ranked: Ranked,
    number: int,
    group: int,
) -> d.CandidateEntry:
    candidate, best = review.candidates.found[ranked.index], cluster.representative
    files = [
        d.FileEntry.of(
            pair,
            path=spelled(pair.path),
            kind=candidate.kind_of(pair.old or pair.path),
            status=file_status(pair),
            facts=[visible(fact) for fact in pair.facts],
            old_path=spelled(pair.old or "") if pair.moved == "rename" else msgspec.UNSET,
        )
        for pair in review.patches[ranked.index].files
    ]
    return d.CandidateEntry.of(
        ranked,
        candidate,
        label=visible(candidate.label),
        tool=candidate.tool or None,
        task=number,
        rank=ranked.rank if ranked_task.is_ranked else None,
        why=[visible(why) for why in candidate.unread or ranked.why],
        verdict=review.verdicts.outcome(candidate.id),
        checks=[d.CheckEntry.of(each) for each in review.verdicts.checks.get(candidate.id, ())],
        broken=[visible(why) for why in ranked.broken],
        group=group,
        representative=ranked.index == best,
        similarity=float(review.matrix.values[ranked.index, best]),
        word=review.matrix.word(ranked.index, best),
        renamed=renamed_of(review.matrix.level(ranked.index, best)),
        other_facets=list(review.matrix.beside(ranked.index, best)),
        folder=visible(candidate.folder) or None,
        branch=visible(candidate.branch) or None,
        commit=candidate.commit or None,
        base=candidate.base or None,
        being_written=candidate.is_written,
        conflicts=[
            d.ConflictEntry(
                path=spelled(path),
                kind=candidate.conflict_kinds.get(path, "content"),
                reason=reason,
            )
            for path, reason in candidate.conflicts.items()
        ],
        beyond_git=[
            d.BeyondGitEntry(path=spelled(path), lines=list(lines))
            for path, lines in candidate.beyond_git.items()
        ],
        lines={
            kind: d.LinesEntry(
                files=len(of_kind),
                added=sum(file.added for file in of_kind),
                deleted=sum(file.deleted for file in of_kind),
            )
            for kind in KINDS
            for of_kind in ([file for file in files if file.kind == kind],)
        },
        files=files,
    )


# --- groups --------------------------------------------------------------------------------------


def _groups(
    review: Review, number: int, entries: Mapping[str, d.CandidateEntry]
) -> Iterator[d.CandidateGroup]:
    """Yield the groups of a task: their numbers, what runs and facts say, and what tells them."""
    matrix, at = review.matrix, number - 1
    for cluster, reasons, (lines, edits) in zip(
        review.tasks[at].clusters, review.reasons[at], review.edits[at], strict=True
    ):
        members = [member for edit in edits for member in edit.members]
        counts = review.verdicts.counts(members)
        best = cluster.representative
        yield d.CandidateGroup(
            members=members,
            representative=matrix.ids[best],
            min_similarity=cluster.min_similarity,
            words=[matrix.word(matrix.ids.index(member), best) for member in members],
            reasons=reasons,
            passed=counts["passed"],
            failed=counts["failed"],
            undecided=counts["undecided"],
            lines=lines,
            edits=edits,
            **_differences(edits, members, review.files[at], entries),
        )


class _Differences(TypedDict):
    """The fields of a group about what its members differ in."""

    where: list[d.WhereEntry]
    names: list[str]
    places: list[str]
    comments: bool
    facets: list[str]


def _differences(
    edits: Sequence[d.GroupEdit],
    members: Sequence[str],
    files: Sequence[ReviewedFile],
    entries: Mapping[str, d.CandidateEntry],
) -> _Differences:
    """Return where the members of a group change something, and what they differ in."""
    code = [file for file in files if file.kind == "code"]
    code = [file for file in code if not {c.id for c in file.changes}.isdisjoint(members)]
    read = code or files
    where: Counter[tuple[str, str]] = Counter()
    names: Counter[str] = Counter()
    places: Counter[str] = Counter()
    comments = set[frozenset[str]]()
    for member in members:
        said = set[str]()
        own_names = set[str]()
        for file in read:
            changed = file.changed(member)
            functions = [qualified(_heads(file, file.hunks[index])) for index in changed]
            if any(change.id == member for change in file.changes):
                where.update(
                    list(dict.fromkeys((file.path, function) for function in functions or [""]))
                )
            places.update(
                f"{file.path}#{hunk_name(h.lo, h.hi)}" for h in map(file.hunks.__getitem__, changed)
            )
            if len(members) > 1:
                own_names |= {
                    name for hunk in file.fresh_names(member).values() for _, name in hunk.binds
                }
                for hunk in map(file.hunks.__getitem__, changed):
                    old = {line.strip() for line in raw_lines(hunk.text)}
                    own = next((text for ids, text in file.variants(hunk) if member in ids), "")
                    new = {line.strip() for line in raw_lines(own)} - old
                    said |= {line for line in new if COMMENT.match(f"+ {line}")}
        names.update(own_names)
        comments.add(frozenset(said))
    most = max(where.values(), default=0)
    kinds = Counter(
        kind for member in members for kind, of in entries[member].lines.items()
        if of.files and kind != "code"
    )  # fmt: skip
    facets = {facet for edit in edits for own in edit.other_facets for facet in own}
    facets |= {kind for kind, count in kinds.items() if code and count < len(members)}
    return _Differences(
        where=[
            d.WhereEntry(path=spelled(path), function=visible(function))
            for (path, function), count in where.most_common()
            # What one of several does besides is among what they differ in.
            if count * 2 >= most
        ],
        names=[visible(name) for name in _of_some(names, len(members))],
        places=[spelled(place) for place in _of_some(places, len(members))],
        comments=len(comments) > 1,
        facets=[kind for kind in KINDS if kind in facets],
    )


def _of_some(counts: Counter[str], everyone: int) -> list[str]:
    """Return what not everyone has, of the fewest first."""
    return sorted(
        (name for name, n in counts.items() if n < everyone), key=lambda name: (counts[name], name)
    )


def _heads(file: ReviewedFile, hunk: Hunk) -> list[Head]:
    texts = [hunk.text, *(text for _, text in file.variants(hunk))]
    return heads_of_hunk(raw_lines(file.text or ""), hunk.lo, texts)


# --- files and hunks -----------------------------------------------------------------------------


def _file(file: ReviewedFile) -> d.ReviewFileEntry:
    path = spelled(file.path)
    return d.ReviewFileEntry(
        path=path,
        kind=file.kind,
        created=file.origin is None,
        binary=file.text is None,
        mode=file.origin.mode if file.origin is not None else None,
        text=file.text if any(change.status == "deleted" for change in file.changes) else None,
        changes=[
            d.FileChangeEntry.of(
                change,
                path=spelled(change.path) if (side := change.new) is not None else None,
                mode=side.mode if side is not None else None,
                binary=hashlib.sha256(side.data).hexdigest()
                if side is not None and change.text is None
                else None,
                facts=[visible(fact) for fact in change.pair.facts],
                conflict=change.conflict or None,
            )
            for change in file.changes
        ],
        hunks=[_hunk(file, hunk) for hunk in file.hunks],
        slots=[_slot(file, slot) for slot in file.slots() if len(slot) > 1],
    )


def _slot(file: ReviewedFile, slot: tuple[int, ...]) -> d.SlotEntry:
    ids_by_texts: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for member, name in enumerate(file.ids):
        variants = [file.hunks[index].variants for index in slot]
        texts = tuple(next(n for n, v in enumerate(own) if member in v.members) for own in variants)
        if any(
            own[n].text != file.hunks[i].text
            for own, n, i in zip(variants, texts, slot, strict=True)
        ):
            ids_by_texts[texts].append(name)

    def named(indices: Iterable[int]) -> list[str]:
        return [hunk_name(file.hunks[index].lo, file.hunks[index].hi) for index in indices]

    return d.SlotEntry(
        hunks=named(slot),
        variants=[
            d.SlotVariantEntry(
                ids=ids,
                units=[
                    d.UnitEntry(hunks=named(unit.hunks), names=list(map(visible, unit.names)))
                    for unit in file.units(ids[0])
                    if not set(slot).isdisjoint(unit.hunks)
                ],
            )
            for ids in sorted(ids_by_texts.values(), key=len, reverse=True)
        ],
    )


def _hunk(file: ReviewedFile, hunk: Hunk) -> d.ReviewHunkEntry:
    lines, heads = raw_lines(file.text or ""), _heads(file, hunk)
    before = max(0, hunk.lo - AROUND)
    above = [head for head in heads if head.line < before]
    return d.ReviewHunkEntry.of(
        hunk,
        name=hunk_name(hunk.lo, hunk.hi),
        function=visible(qualified(heads)),
        head=d.HeadEntry(line=above[-1].line + 1, text=lines[above[-1].line].rstrip("\n"))
        if above and above[-1] is heads[-1]
        else None,
        before="".join(lines[before : hunk.lo]),
        origin=hunk.text,
        after="".join(lines[hunk.hi : hunk.hi + AROUND]),
        variants=[d.ReviewVariantEntry(ids=[*ids], text=text) for ids, text in file.variants(hunk)],
        unchanged=list(file.unchanged(hunk)),
    )
