"""Which of many patches are one issue and which the same edit: the document, and its views as text.

An issue stands for its patches, an edit for those of a cluster, and the patch to read is marked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from msgspec import UNSET
from rich.console import Console, RenderableType
from rich.text import Text

from excise import Cluster
from excise.agreement import SAME, WORDS
from excise.components import components
from excise.patches import DISTANCE, LINKAGE, Patch, Pool, differences, versions
from excise.patches.differences import BlockSide
from excise_server.candidates.whole import LANDED, WholePatches
from excise_server.duplicates.find import BUMPS, LEVEL_WORDS, Duplicates
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, first_few
from excise_server.processes.forks import Map
from excise_server.queue.reading import Queue
from excise_server.report import blocks as b
from excise_server.report.blocks import Cell, HunkOf, PageBlock, markdown, split, terminal, words
from excise_server.report.documents import group_entry
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.report.tables import UNWRAPPED
from excise_server.report.words import digits, plural
from excise_server.review.versions import SeriesPatch, partners
from excise_server.wire import documents as d

# --- the document ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grouped:
    """Patches, their clusters by edits, and what they are about.

    ``patch_of`` gives a patch with its hunks. ``duplicates`` are the pairs of the proposals that
    the patches make, and ``issues`` the groups of these. ``whole`` has what whole files tell, or is
    None if none are known. Of a watched queue ``new`` are the ids
    that came with this call (else None). ``about`` says what is to be known of the input, and
    ``map`` is for work by the thousand.
    """

    queue: Queue
    pool: Pool
    clusters: tuple[Cluster, ...]
    patch_of: Callable[[int], Patch]
    duplicates: Duplicates
    issues: tuple[Cluster, ...]
    new: frozenset[str] | None = None
    about: tuple[str, ...] = ()
    whole: WholePatches | None = None
    map: Map = map

    def same(self, a: str, b: str) -> str:
        """Return in which sense two patches are the same program, if whole files tell it."""
        return "" if self.whole is None else self.whole.word(a, b)


NO_FILES = "same code needs whole files: --repo DIR, if the patches apply to it"

TOGETHER = 500
"""The number of patches that one process compares at a time."""


def cluster_document(grouped: Grouped, *, scores: bool) -> d.ClusterDocument:
    """Return the issues in order, the clusters, the largest first, and facts about each patch."""
    pool, queue = grouped.pool, grouped.queue
    ids = [member.id for member in queue.patches]
    notes: dict[str, list[str]] = defaultdict(list)
    pairs = zip(ids, pool.notes, strict=True)
    pool_notes = ((name, note) for name, of_patch in pairs for note in of_patch)
    for name, note in chain(pool_notes, queue.notes):
        notes[name].append(note)
    patches = list(_patches(grouped, _versions(grouped)))
    scored = pool.near(0.0) if scores else ()
    about = list(grouped.about)
    about += [f"other files, not patches: {queue.others:,}"] if queue.others else []
    if queue.again:
        about.append(f"sent to several lists, or twice, and counted once: {queue.again:,}")
    whole = grouped.whole
    replaced = {entry.id for entry in patches if entry.replaced_by or entry.not_in}
    issues = _issues(grouped, replaced)
    if whole is not None:
        about += whole.notes
        landed = [name for name, reason in whole.unread.items() if reason == LANDED]
        about += [f"not compared, as {LANDED}: {first_few(landed)}"] if landed else []
        for name, reason in whole.unread.items():
            if reason != LANDED:
                notes[name].append(f"whole files not compared: {reason}")
    elif issues:
        about.append(NO_FILES)
    return d.ClusterDocument(
        signature=pool.signature,
        basis=pool.basis,
        threshold=DISTANCE,
        linkage=LINKAGE,
        related=grouped.duplicates.signature,
        issues=issues,
        clusters=[group_entry(cluster, ids) for cluster in grouped.clusters],
        patches=patches,
        pairs=list(pair_entries(grouped.duplicates, grouped.same)),
        proposals=proposal_entries(grouped.duplicates),
        covers=[d.CoverEntry(id=m.id, subject=m.message.subject) for m in queue.covers],
        notes=dict(notes),
        about=about,
        rejected=list(map(d.RejectedEntry.of, queue.rejected)),
        new=UNSET if grouped.new is None else [name for name in ids if name in grouped.new],
        scores=[(ids[i], ids[j], value) for i, j, value in scored if value > 0]
        if scores
        else UNSET,
    )


class _Versions(NamedTuple):
    """By id the first version of a patch, the newest one, and the version without it."""

    first: dict[str, str]
    newest: dict[str, str]
    not_in: dict[str, int]


def _versions(grouped: Grouped) -> _Versions:
    """Follow the patches of series through all their versions, by what they change."""
    queue, pool, sent = grouped.queue, grouped.pool, grouped.queue.sent
    number_of = {member.id: index for index, member in enumerate(queue.patches)}
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    not_in: dict[str, int] = {}
    doubles: list[tuple[str, str]] = []  # what was sent again under one version

    def entries(names: Sequence[str]) -> list[SeriesPatch]:
        return [
            SeriesPatch(
                place,
                queue.patches[index].message.title,
                partial(grouped.patch_of, index),
                pool.ids(index).edit,
            )
            for place, name in enumerate(names, start=1)
            for index in (number_of[name],)
        ]

    for series in versions([member.message for member in sent]):
        if series[0].version == series[-1].version:
            continue
        last: list[str] = []  # the newest version of each patch so far, dropped ones too
        for version, sent_again in groupby(series, key=attrgetter("version")):
            base, last, edits = last, [], dict[str, str]()
            for posting in sent_again:
                names = [sent[at].id for at in posting.messages]
                own = [name for name in names if name in number_of]
                found = partners(entries(base), entries(own))
                for n, o in found.pairs.items():
                    before[own[n]], after[base[o]] = base[o], own[n]
                for n, (o, *_) in found.split.items():
                    before[own[n]] = base[o]
                for o, (n, *_) in found.squashed.items():
                    after[base[o]] = own[n]
                new = {pool.ids(number_of[name]).edit: name for name in own}
                last += [name for name in own if pool.ids(number_of[name]).edit not in edits]
                edits = new | edits
                doubles += [(name, edits[edit]) for edit, name in new.items()]
            for name in base:
                if name not in after:
                    not_in.setdefault(name, version)
                    last.append(name)
                else:
                    not_in.pop(name, None)
    for name, other in doubles:
        if other in after:
            after.setdefault(name, after[other])
        elif other in not_in:
            not_in.setdefault(name, not_in[other])
    return _Versions(_ends(before), _ends(after), not_in)


def _ends(following: Mapping[str, str]) -> dict[str, str]:
    """Return where the ways end that begin at the keys."""
    ends: dict[str, str] = {}
    for name in following:
        way = [name]
        while way[-1] in following and way[-1] not in ends:
            way.append(following[way[-1]])
        ends.update(dict.fromkeys(way[:-1], ends.get(way[-1], way[-1])))
    return ends


def _patches(grouped: Grouped, versions: _Versions) -> Iterator[d.PatchEntry]:
    """Yield the patches, cluster by cluster, representatives first."""
    queue, pool = grouped.queue, grouped.pool
    pairs = [
        (place, cluster.representative, member)
        for place, cluster in enumerate(grouped.clusters, start=1)
        for member in sorted(cluster.members, key=cluster.representative.__ne__)
    ]
    sent = {
        name: at for at, each in enumerate(grouped.duplicates.proposals) for name in each.messages
    }
    parts = [pairs[start : start + TOGETHER] for start in range(0, len(pairs), TOGETHER)]
    alikes = chain.from_iterable(grouped.map(partial(_alikes, pool), parts))
    for (place, best, index), values in zip(pairs, alikes, strict=True):
        message, name = queue.patches[index].message, queue.patches[index].id
        alike = {"for_another_part": False, **dict(zip(_ALIKE, values, strict=True))}
        if best != index and (same := grouped.same(queue.patches[best].id, name)):
            alike["word"] = same
        if alike["in_another_file"]:  # a series has a file under one name only
            alike["for_another_part"] = sent[queue.patches[best].id] == sent[name]
        yield d.PatchEntry.of(
            message.series,
            message,
            **alike,
            id=name,
            cluster=place,
            patch_id=pool.patch_id(index),
            version_of=versions.first.get(name, ""),
            replaced_by=versions.newest.get(name, ""),
            not_in=versions.not_in.get(name, 0),
            files=list(message.patch.paths),
            facts=[f"{p.path}: {fact}" for p in message.patch.files for fact in p.facts],
        )


_ALIKE = ("similarity", "contains", "contained", "word", "anchored", "anywhere", "in_another_file")
"""What a patch has in common with the representative of its cluster, in plain values."""


def _alikes(pool: Pool, pairs: Sequence[tuple[int, int, int]]) -> list[tuple[object, ...]]:
    """Return for each pair what `_ALIKE` names; of a representative with itself, only the score."""
    found: list[tuple[object, ...]] = []
    for _, representative, member in pairs:
        if representative == member:
            found.append((1.0, *[None] * 6))
            continue
        likeness = pool.likeness(representative, member)
        shares = likeness.shares
        found.append(
            (
                likeness.value, float(shares.a_in_b), float(shares.b_in_a), likeness.word,
                float(shares.anchored), float(shares.anywhere), likeness.in_another_file,
            )
        )  # fmt: skip
    return found


def _issues(grouped: Grouped, replaced: set[str]) -> list[d.IssueEntry]:
    """Return what is not alone: the surest and largest issues first, explained ones last.

    A cluster is in one issue, that of its representative.
    """
    patches, proposals = grouped.queue.patches, grouped.duplicates.proposals
    number = {member.id: index for index, member in enumerate(patches)}
    proposal_of = {
        number[name]: at
        for at, proposal in enumerate(proposals)
        for name in proposal.messages
        if name in number
    }
    issue_of = {member: at for at, issue in enumerate(grouped.issues) for member in issue.members}
    of_patch = {
        patches[member].id: issue_of[proposal_of[cluster.representative]]
        for cluster in grouped.clusters
        for member in cluster.members
    }
    # For each issue the one in which its patches are shown: those with the same code together.
    same = [] if grouped.whole is None else grouped.whole.same_code()
    edges = [edge for names in same for edge in pairwise([of_patch[name] for name in names])]
    joined = {issue: own[0] for own in components(len(grouped.issues), edges) for issue in own}
    clusters: dict[int, list[int]] = defaultdict(list)
    for place, cluster in enumerate(grouped.clusters):
        clusters[joined[of_patch[patches[cluster.representative].id]]].append(place)
    pairs = {frozenset((pair.new, pair.other)): pair for pair in grouped.duplicates.pairs}
    issues = []
    for at, places in clusters.items():
        members = [index for place in places for index in grouped.clusters[place].members]
        senders = list(dict.fromkeys(proposal_of[index] for index in members))
        if len(senders) == 1 and len(places) == len(members):
            continue
        first = grouped.clusters[places[0]].representative
        issue = grouped.issues[at]
        beside = [
            pairs[key]
            for other in issue.members
            if other in senders and (key := frozenset((issue.representative, other))) in pairs
        ]
        looked_at = [pair for pair in beside if not pair.otherwise]
        surest = max(
            looked_at or beside,
            key=lambda pair: (bool(pair.closes), pair.relation.probability),
            default=None,
        )
        explained = "" if looked_at or surest is None else surest.otherwise
        counted = {proposal_of[i] for i in members if patches[i].id not in replaced}
        if len(counted) == 1 < len(senders):
            explained = "versions of one series"
        word = LEVEL_WORDS["likely"] if beside else "similar edits"
        if explained == BUMPS:
            word = explained
        if all(
            grouped.pool.ids(first).code == grouped.pool.ids(index).code
            or grouped.same(patches[first].id, patches[index].id) in SAME[:2]
            for index in members
        ):
            word = "the same code"
        issues.append(
            d.IssueEntry.of(
                members=[patches[index].id for index in members],
                clusters=[place + 1 for place in places],
                representative=patches[first].id,
                count=len(counted),
                word=word,
                probability=min((pair.relation.probability for pair in beside), default=None),
                otherwise=explained,
                reasons=None if surest is None else surest.reasons,
            )
        )
    return sorted(
        issues,
        key=lambda issue: (
            bool(issue.otherwise),
            issue.probability is None,
            -issue.count,
            -(issue.probability or 0.0),
        ),
    )


def duplicates_document(
    duplicates: Duplicates, rejected: Iterable[Rejected] = (), notes: Sequence[str] = ()
) -> d.DuplicatesDocument:
    """Return the pairs, and the proposals that are in question or in some pair."""
    return d.DuplicatesDocument(
        signature=duplicates.signature,
        asked=duplicates.asked,
        among=len(duplicates.proposals) - duplicates.asked,
        pairs=list(pair_entries(duplicates)),
        proposals=proposal_entries(duplicates),
        notes=list(notes),
        rejected=list(map(d.RejectedEntry.of, rejected)),
    )


def proposal_entries(duplicates: Duplicates) -> list[d.ProposalEntry]:
    """Return the proposals that are in some pair."""
    shown = sorted({index for pair in duplicates.pairs for index in (pair.new, pair.other)})
    return [d.ProposalEntry.of(duplicates.proposals[index]) for index in shown]


def pair_entries(
    duplicates: Duplicates, same: Callable[[str, str], str] = lambda a, b: ""
) -> Iterator[d.DuplicatePair]:
    """Yield the pairs, in their order.

    - ``same``: in which sense two are the same program by their whole files, if that is known.
    """
    for pair in duplicates.pairs:
        new, other = (duplicates.proposals[number].id for number in (pair.new, pair.other))
        if (likeness := pair.likeness) is None:
            edits = None
        else:
            word = same(new, other) or likeness.word
            pair = replace(pair, is_same_edit=pair.is_same_edit or word in SAME)
            edits = d.SameEditEntry.of(pair, word=word, similarity=likeness.value)
        yield d.DuplicatePair.of(pair, pair.relation, new=new, other=other, same_edit=edits)


# --- what every page says -------------------------------------------------------------------------


class EditLines(NamedTuple):
    """A cluster on a page: the patch to read, what the others are to it, and each.

    ``numbers`` are what it is to the representative of the issue, if it is another one. ``each``
    has the names of the others, their titles, what they are to it, in numbers, and their ids.
    """

    name: str
    title: str
    numbers: str
    others: tuple[tuple[str, tuple[str, ...]], ...]
    each: tuple[tuple[str, str, str, str], ...]
    id: str


class IssueLines(NamedTuple):
    """An issue on a page: what it is, what its surest pair shares, and its edits."""

    head: str
    evidence: str
    edits: tuple[EditLines, ...]


def head_line(document: d.ClusterDocument) -> str:
    """Return how many patches there are, and how many are together."""
    together = sum(len(issue.members) for issue in document.issues)
    total = len(document.patches)
    if not total:
        return "no patches"
    if not document.issues:
        return f"{plural(total, 'patch')}: no two are alike"
    alone = f", {total - together:,} alone" if total > together else ""
    return (
        f"{plural(total, 'patch')}: {together:,} in {plural(len(document.issues), 'group')}{alone}"
    )


def _new(document: d.ClusterDocument) -> list[str]:
    """Return what came with this call, if anything was there before."""
    new = document.new or []
    return new if len(new) < len(document.patches) else []


def issue_lines(document: d.ClusterDocument) -> list[IssueLines]:
    """Return the issues in order, those with something new first, their texts as they came."""
    members: dict[int, list[d.PatchEntry]] = defaultdict(list)
    for entry in document.patches:
        members[entry.cluster].append(entry)
    pairs = {frozenset((pair.new, pair.other)): pair for pair in document.pairs}
    new = set(_new(document))
    lines = []
    for issue in sorted(document.issues, key=lambda issue: new.isdisjoint(issue.members)):
        edits = [_edit(members[number], issue, pairs, new) for number in issue.clusters]
        evidence, reasons = "", issue.reasons
        if reasons is not None:
            closes = [f"both close {', '.join(reasons.closes)}"] if reasons.closes else []
            where = [f"{line.path}:{line.line}  {line.text}" for line in reasons.where[:1]]
            evidence = "   ".join([*closes, *where, *reasons.what[:1]]) or ", ".join(reasons.why)
        lines.append(
            IssueLines(
                f"{plural(len(issue.members), 'patch')}, "
                f"{plural(len(issue.clusters), 'cluster')}: {explained(issue)}",
                evidence,
                tuple(edits),
            )
        )
    return lines


def _edit(
    members: Sequence[d.PatchEntry],
    issue: d.IssueEntry,
    pairs: Mapping[frozenset[str], d.DuplicatePair],
    new: set[str],
) -> EditLines:
    """Return the lines of a cluster."""
    first, *rest = members
    by_word: dict[str, list[str]] = defaultdict(list)
    each = []
    for entry in rest:
        where = ", in another file" if entry.in_another_file else ""
        word = f"{entry.word}{', for another part' if entry.for_another_part else where}"
        numbers = [f"{word} {digits(entry.similarity)}"]
        pair = pairs.get(frozenset((first.id, entry.id)))
        facts = _facts(entry, first.id, new)
        name = _short(entry.id, first.id)
        explanation = [] if pair is None else [explained(pair)]
        each.append((name, _title(entry), "  ".join([*numbers, *explanation, *facts]), entry.id))
        if pair is not None and pair.otherwise not in ("", issue.otherwise) and not facts:
            facts.append(pair.otherwise)
        by_word[word].append(f"{name} ({', '.join(facts)})" if facts else name)
    is_beside = all(entry.id != issue.representative for entry in members)
    pair = pairs.get(frozenset((first.id, issue.representative))) if is_beside else None
    facts = _facts(first, first.id, new)

    def place(word: str) -> int:
        return WORDS.index(word.partition(",")[0].partition(" (")[0])

    return EditLines(
        f"{first.id} ({', '.join(facts)})" if facts else first.id,
        _title(first),
        "  ".join(_related(pair)),
        tuple((word, tuple(by_word[word])) for word in sorted(by_word, key=place)),
        tuple(each),
        first.id,
    )


def explained(entry: d.DuplicatePair | d.IssueEntry) -> str:
    """Return the word for patches, and what else explains them."""
    is_said = entry.otherwise in ("", entry.word)
    return entry.word if is_said else f"{entry.word} ({entry.otherwise})"


def _title(entry: d.PatchEntry) -> str:
    return entry.title or entry.subject


def _facts(entry: d.PatchEntry, beside: str, new: set[str]) -> list[str]:
    """Return what else a patch is: new, or another version."""
    facts = ["new"] if entry.id in new else []
    if entry.version_of:
        facts.append(f"v{entry.version} of {_short(entry.version_of, beside)}")
    elif entry.replaced_by:
        facts.append(f"newer: {_short(entry.replaced_by, beside)}")
    if entry.not_in:
        facts.append(f"dropped in v{entry.not_in}")
    return facts


def _related(pair: d.DuplicatePair | None) -> list[str]:
    if pair is None:
        return []
    return [f"{explained(pair)}  {numbers_of(pair)}"]


def _short(name: str, beside: str) -> str:
    """Return the id of a message next to one of the same mailbox: its number is enough."""
    stem, hash_sign, number = name.rpartition("#")
    return f"#{number}" if hash_sign and stem and beside.startswith(f"{stem}#") else name


def numbers_of(pair: d.DuplicatePair) -> str:
    """Return the numbers of a pair: ``what .32  where .81  why .48  (edits alike .13)``."""
    shown = cosines(pair.what, pair.where, pair.why)
    if pair.same_edit is None:
        return shown
    return f"{shown}  (edits alike {digits(pair.same_edit.similarity).replace('0.', '.', 1)})"


def cosines(what: float, where: float, why: float | None) -> str:
    """Return the three cosines of a pair, or two without a message.

    >>> cosines(0.32, 0.81, None)
    'what .32  where .81'
    """
    shown = (("what", what), ("where", where), ("why", why))
    return "  ".join(
        f"{name} {digits(value).removeprefix('0')}" for name, value in shown if value is not None
    )


def more_lines(document: d.ClusterDocument, *, verbose: bool) -> list[str]:
    """Return what is beside the issues: who is alone, what is only possible, and notes."""
    together = {name for issue in document.issues for name in issue.members}
    alone = [entry for entry in document.patches if entry.id not in together]
    group_of = {name: at for at, issue in enumerate(document.issues) for name in issue.members}
    weaker = [
        pair
        for pair in document.pairs
        if pair.level == "possibly" and not pair.otherwise
        and (pair.new not in group_of or group_of[pair.new] != group_of.get(pair.other))
    ]  # fmt: skip
    if verbose:
        lines = [f"alone: {entry.id}  {_title(entry)}" for entry in alone]
        lines += [
            f"possibly the same issue: {p.new} and {p.other}  {numbers_of(p)}" for p in weaker
        ]
        lines += [f"no diff: {cover.id}  {cover.subject}" for cover in document.covers]
        lines += [f"{name}: {note}" for name, notes in document.notes.items() for note in notes]
        how = f"{document.linkage} linkage, distance {document.threshold:g}"
        return [*lines, *document.about, f"clusters: basis {document.basis}, {how}"]
    lines = []
    if weaker:
        lines.append(f"possibly the same issue: {plural(len(weaker), 'more pair')}")
    if document.covers:
        lines.append(f"without a diff, not compared: {plural(len(document.covers), 'message')}")
    if notes := sum(map(len, document.notes.values())):
        lines.append(f"what was odd: {plural(notes, 'note')}")
    lines = ["; ".join([*lines, "-v lists them"])] if lines else []
    return [*document.about, *lines]


def hunk_of(grouped: Grouped) -> HunkOf:
    """Return what finds the hunk in which two patches differ, when a page shows them."""
    number_of = {member.id: index for index, member in enumerate(grouped.queue.patches)}

    def hunk(first: str, other: str) -> list[PageBlock]:
        one, two = number_of[first], number_of[other]
        pool = grouped.pool
        found = differences(
            grouped.patch_of(one), grouped.patch_of(two),
            ignored=pool.ignored, renamed=pool.rescued(one, two),
        )  # fmt: skip
        for difference in found.differing:
            old, new = (_signed(side) for side in (difference.a, difference.b))
            if (side := difference.b or difference.a) is None:
                continue
            about = f" ({side.heading})" if side.heading else ""
            if shown := b.differing(f"{visible(side.path)}, line {side.line:,}{about}", old, new):
                return shown
        return []

    return hunk


def _signed(side: BlockSide | None) -> list[str]:
    if side is None:
        return []
    return [*(f"-{line}" for line in side.old), *(f"+{line}" for line in side.new)]


Values = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns the similarities of the first of some patches, as many as a picture has."""


def values_of(grouped: Grouped) -> Values:
    """Return what finds the similarities of patches, for the picture of a group."""
    number_of = {member.id: index for index, member in enumerate(grouped.queue.patches)}

    def values(names: Sequence[str]) -> list[list[float]]:
        numbers = [number_of[name] for name in names[: b.MOST_DRAWN]]
        return [[1.0 if i == j else grouped.pool.score(i, j) for j in numbers] for i in numbers]

    return values


# --- the page ------------------------------------------------------------------------------------

LEGEND = (
    "All numbers go from 0 to 1, for a patch beside the first of its cluster or group. what: "
    "changed words; where: changed places; why: messages; edits alike, and a number after a word: "
    "what both edits have in common, at the same place. Of the hunk in which they differ, < marks "
    "what only that first one has, and > what only this one has."
)

FIRST_SCREEN = 40
"""Most lines of a page that was not asked for everything."""

_HEADS, _EDITS, _NAMES, _ALL = range(4)
"""How much of an issue is shown."""


def cluster_blocks(
    document: d.ClusterDocument,
    *,
    level: int = _ALL,
    hunk: HunkOf = lambda first, other: (),
    values: Values | None = None,
) -> Iterator[PageBlock]:
    """Yield the page.

    - ``level``: how much of it; `_ALL` has every member and note.
    - ``values``: for pictures of the groups of three or more.
    """
    yield words(head_line(document), "head", kind="title")
    if new := _new(document):
        yield words(f"{len(new):,} new: {', '.join(new)}", "warning")
    for number, issue in enumerate(issue_lines(document), start=1):
        head, first = Cell(issue.head, "head"), issue.edits[0]
        if level == _HEADS:
            cells = [head, Cell(first.name), Cell(first.title)]
            yield PageBlock("row", cells, mark=str(number))
        else:
            yield PageBlock("head", [head], mark=str(number))
        if issue.evidence:
            yield PageBlock("row", (Cell(issue.evidence, "quoted"),), 1)
        members = [name for e in issue.edits for name in (e.id, *(other for *_, other in e.each))]
        if values is not None and len(members) > 2:
            yield PageBlock("matrix", [Cell(name) for name in members], values=values(members))
        for edit in issue.edits if level > _HEADS else ():
            mark = "●" if edit.others else "-"
            yield PageBlock("row", (Cell(edit.name, "name"), Cell(edit.title)), 1, mark)
            if level == _ALL:
                yield from [words(edit.numbers, "dim", depth=2)] * bool(edit.numbers)
                for name, title, numbers, other in edit.each:
                    yield PageBlock(
                        "fold", (Cell(name, "name"), Cell(title), Cell(numbers, "dim")), 2
                    )
                    yield from hunk(edit.id, other)
                continue
            for word, names in edit.others:
                cells = [Cell(word), *(Cell(name, "name") for name in names)]
                if level == _EDITS:
                    cells = [Cell(f"{word}:"), Cell(", ".join(names))]
                yield PageBlock("names" if level == _NAMES else "row", cells, 2)
    yield from b.notes(more_lines(document, verbose=level == _ALL))
    yield from b.left_out(document.rejected)
    if level == _ALL:
        yield words(LEGEND, "dim", kind="note")
        yield from (words(s, kind="scores") for s in (document.related, document.signature))


def cluster_lines(
    document: d.ClusterDocument,
    out: Console,
    *,
    verbose: bool = False,
    hunk: HunkOf = lambda first, other: (),
) -> Iterator[RenderableType]:
    """Yield the page: as much of each issue as there is room for, unless it is all asked for."""
    if verbose:
        yield from terminal(cluster_blocks(document, hunk=hunk), out)
        return
    for level in (_NAMES, _EDITS, _HEADS):
        top, parts, foot = split(cluster_blocks(document, level=level))
        head, *shown, ends = (list(terminal(part, out)) for part in (top, *parts, foot))
        room = FIRST_SCREEN - len(head) - len(ends) - 1
        if sum(map(len, shown)) <= room:
            break
    yield from head
    for number, lines in enumerate(shown):
        room -= len(lines)
        if room < 0:
            yield Text(f"and {plural(len(shown) - number, 'more group')}: -v")
            break
        yield from lines
    yield from ends


def cluster_markdown(
    document: d.ClusterDocument,
    *,
    verbose: bool = False,
    hunk: HunkOf = lambda first, other: (),
) -> str:
    """Return the page as Markdown, inert whatever is in a title or a line."""
    blocks = cluster_blocks(document, level=_ALL if verbose else _NAMES, hunk=hunk)
    return markdown(blocks, UNWRAPPED if verbose else LONGEST_PAGE, "excise cluster -v")


def like_blocks(
    document: d.DuplicatesDocument, *, places: int | None = None, verbose: bool = False
) -> Iterator[PageBlock]:
    """Yield the nearest patches, and why: so many places that they share, or all."""
    proposals = {proposal.id: proposal for proposal in document.proposals}
    among = plural(document.among, "other")
    if document.pairs:
        count = plural(len(document.pairs), "patch")
        yield words(f"{count} of {among} may be about the same issue:", kind="title")
    else:
        yield words(f"nobody is doing this, as far as {among} tell", kind="title")
    for pair in document.pairs:
        other = proposals[pair.other]
        about = ", ".join(filter(None, (other.author, other.state)))
        yield words(explained(pair), "dim" if pair.otherwise else pair.level)
        cells = Cell(other.id, "name"), Cell(other.title, "quoted"), Cell(about, "quoted")
        yield PageBlock("row", cells, 1)
        for reason in reasons_of(pair, None if verbose else places):
            yield PageBlock("row", reason, 2)
        if verbose:
            yield words(numbers_of(pair), "dim", depth=2)
    yield from b.left_out(document.rejected)
    yield from b.notes(f"note: {note}" for note in document.notes)
    if verbose:
        yield words(document.signature, kind="scores")


def reasons_of(pair: d.DuplicatePair, places: int | None = None) -> Iterator[list[b.Cell]]:
    """Yield the reasons of a pair, with so many places."""
    reasons = pair.reasons
    if reasons is None:
        return
    if reasons.closes:
        yield [Cell(f"both close {', '.join(reasons.closes)}")]
    for line in reasons.where[:places]:
        yield [
            Cell("both touch"),
            Cell(f"{line.path}:{line.line}", "quoted"),
            Cell(line.text, "quoted"),
        ]
    for verb, shared in (("change", reasons.what), ("say", reasons.why)):
        if shared:
            yield [Cell(f"both {verb}"), Cell(", ".join(shared), "quoted")]
