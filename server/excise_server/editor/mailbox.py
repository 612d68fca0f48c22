"""The patches of one mailbox or patch file, compared for an editor. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from excise.agreement import SAME
from excise.clustering import Cluster
from excise.patches import (
    DISTANCE,
    BlockSide,
    Likeness,
    Match,
    Message,
    PatchError,
    Pool,
    differences,
    group,
    read,
)
from excise.patches.evidence import EvidenceReader
from excise.patches.related import Neighbour, RelatedPool
from excise.text import normalise
from excise_server.duplicates.find import LEVEL_WORDS
from excise_server.editor.findings import Block, Line, Table, name
from excise_server.foundation.escape import printable
from excise_server.report.likeness import beside, parts, said
from excise_server.report.words import digits

MAX_PATCHES = 2000
"""Most patches that are compared while somebody reads; the command compares more."""

MAX_RELATED = 300
"""Most patches that are also compared by their issue: a third of a second."""

MAX_ROWS = 20
MAX_MATCHES = 5
MAX_N_GRAMS = 200_000
"""N-grams of a pair up to which an explanation says what matches elsewhere, and where."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The messages of a file, in order, and the comparison of the patches among them.

    ``lines`` are the first lines of the messages, from 0. ``reason`` says why nothing is compared.
    ``patches`` are the messages that have a patch. For each there are the number of its cluster
    among ``clusters`` (``numbers``, from 0), the most similar other patch (``nearest``; None:
    nothing in common with any) with the likeness of that to this one, and another patch that may be
    about the same issue (``related``), which is a separate question.
    """

    messages: tuple[Message, ...]
    lines: tuple[int, ...]
    patches: tuple[Message, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    numbers: tuple[int, ...] = ()
    nearest: tuple[tuple[int, Likeness] | None, ...] = ()
    related: tuple[Neighbour | None, ...] = ()
    pool: Pool | None = None
    reason: str = ""

    def at(self, line: int) -> Message | None:
        """Return the message that a line (from 0) belongs to."""
        index = bisect_right(self.lines, line) - 1
        return self.messages[index] if index >= 0 else None

    def index(self, message: Message) -> int | None:
        """Return the index of a message among the patches that are compared, if it is one."""
        index = bisect_left(self.patches, message.number, key=lambda patch: patch.number)
        is_there = index < len(self.patches) and self.patches[index].number == message.number
        return index if is_there else None


def read_mailbox(text: str) -> Mailbox:
    """Read and compare the editor's text of a patch or a mailbox. No text is an error."""
    try:
        messages = read(normalise(text).encode(errors="replace"))
    except PatchError as error:
        return Mailbox((Message(1, error=str(error)),), (0,), reason=str(error))
    lines = tuple(message.line - 1 for message in messages)
    patches = tuple(message for message in messages if message.patch.files)
    if len(patches) > MAX_PATCHES:
        reason = f"{len(patches)} patches, limit {MAX_PATCHES} here: use excise cluster"
        return Mailbox(messages, lines, reason=reason)
    pool = Pool()
    for message in patches:
        pool.add(message.patch)
    best: list[tuple[float, int] | None] = [None] * len(patches)
    for i, j, score in pool.near(0.0):
        for index, neighbour in ((i, -j), (j, -i)):
            # Of equal neighbours, the first one is kept.
            best[index] = max(best[index] or (score, neighbour), (score, neighbour))
    nearest = tuple(
        None if found is None else (-found[1], pool.likeness(-found[1], index))
        for index, found in enumerate(best)
    )
    clusters = group(pool)
    number_of = {member: at for at, cluster in enumerate(clusters) for member in cluster.members}
    numbers = tuple(number_of[index] for index in range(len(patches)))
    return Mailbox(messages, lines, patches, clusters, numbers, nearest, _related(patches), pool)


def title(mailbox: Mailbox, message: Message) -> str:
    """Return "cluster 1 of 3 · overlaps #14, 0.93", or "" for a cover letter."""
    if message.error:
        return f"not compared: {printable(message.error)}"
    index, pool = mailbox.index(message), mailbox.pool
    if index is None or pool is None:
        return mailbox.reason if message.patch.files else ""
    parts = [f"cluster {mailbox.numbers[index] + 1} of {len(mailbox.clusters)}"]
    if (found := mailbox.nearest[index]) is None:
        return " · ".join([*parts, "nothing in common with the others"][: len(mailbox.patches)])
    nearest, likeness = found
    words = beside(likeness, f"#{mailbox.patches[nearest].number}")
    parts.append(f"{words}, {digits(likeness.value)}")
    related = mailbox.related[index]
    if pool.patch_id(index) == pool.patch_id(nearest) and not likeness.level:
        parts.append("equal patch-ids")
    elif related is not None and likeness.word not in SAME:
        other = mailbox.patches[related.number].number
        parts.append(f"{LEVEL_WORDS[related.relation.level]} as #{other}")
    return " · ".join(parts)


def explain(mailbox: Mailbox, message: Message) -> list[Block]:
    """Explain one message: its warnings, and the other members of its cluster."""
    blocks: list[Block] = [Line(f"#{message.number}: {name(message.title or message.subject)}")]
    if heading := title(mailbox, message):
        blocks.append(Line(heading))
    blocks += [Line(str(warned)) for warned in message.patch.warnings[:MAX_ROWS]]
    index = mailbox.index(message)
    if index is None or mailbox.pool is None:
        return blocks
    cluster = mailbox.clusters[mailbox.numbers[index]]
    if len(cluster.members) > 1:
        blocks += _members(mailbox, index, cluster)
    if (nearest := mailbox.nearest[index]) is not None:
        blocks += _why(mailbox, index, nearest[0])
    if (related := mailbox.related[index]) is not None:
        blocks.append(_issue(mailbox, related))
    return [*blocks, Line(f"{mailbox.pool.signature}, distance {DISTANCE:g}")]


def _related(patches: Sequence[Message]) -> tuple[Neighbour | None, ...]:
    """Return, for each of a few patches, another one that may be about the same issue."""
    if len(patches) > MAX_RELATED:
        return (None,) * len(patches)
    reader, pool = EvidenceReader(), RelatedPool()
    for message in patches:
        pool.add(reader.evidence(message.patch, message.title, message.text))
    found: list[Neighbour | None] = []
    for number, evidence in enumerate(pool.evidence):
        author = patches[number].author
        others = (
            neighbour
            for neighbour in pool.neighbours(evidence, 0.5)
            if neighbour.number != number
            and neighbour.relation.level != "none"
            # Patches of one person are like those of a series.
            and not (author and author == patches[neighbour.number].author)
        )
        found.append(next(others, None))
    return tuple(found)


def _issue(mailbox: Mailbox, related: Neighbour) -> Line:
    """Return how strongly two patches seem to be about one issue, and why."""
    number, relation = mailbox.patches[related.number].number, related.relation
    cosines = [("what", relation.what), ("where", relation.where), ("why", relation.why)]
    shown = [f"{field} {digits(value)}" for field, value in cosines if value is not None]
    return Line(f"{LEVEL_WORDS[relation.level]} as #{number}: {', '.join(shown)}".capitalize())


def _members(mailbox: Mailbox, index: int, cluster: Cluster) -> list[Block]:
    """Return the other members with their scores, the representative first."""
    assert mailbox.pool is not None
    first = cluster.representative
    others = [first, *(member for member in cluster.members if member != first)]
    rows = []
    for member in others:
        if member != index:
            message = mailbox.patches[member]
            role = "representative" if member == first else ""
            likeness = mailbox.pool.likeness(index, member)
            score = digits(likeness.value)
            rows.append((f"#{message.number}", score, said(likeness), name(message.title), role))
    blocks: list[Block] = (
        [Line("It is the representative of its cluster")] if index == first else []
    )
    blocks.append(Table(("patch", "ES", "word", "title", ""), tuple(rows[:MAX_ROWS])))
    if len(rows) > MAX_ROWS:
        blocks.append(Line(f"… and {len(rows) - MAX_ROWS} more"))
    return blocks


def _why(mailbox: Mailbox, index: int, nearest: int) -> list[Block]:
    """Return the comparison with the most similar patch, and what matches elsewhere."""
    assert mailbox.pool is not None
    comparison = mailbox.pool.compare(index, nearest)
    number = mailbox.patches[nearest].number
    numbers = [
        f"{operation} {digits(value)}"
        for operation, value in (
            ("keep", comparison.keep),
            ("add", comparison.add),
            ("delete", comparison.delete),
        )
        if value is not None
    ]
    blocks: list[Block] = [Line(f"Beside #{number}: {', '.join(numbers) or 'no text in common'}")]
    blocks.append(Line(parts(comparison)))
    if comparison.shares.anywhere > comparison.shares.anchored:
        blocks += _elsewhere(mailbox, index, nearest)
    rows = tuple((name(a or "–"), name(b or "–")) for a, b in comparison.files[:MAX_ROWS])
    if any(a != b for a, b in comparison.files):
        blocks.append(Table(("here", f"#{number}"), rows))
    return [*blocks, *(Line(note) for note in comparison.notes[:MAX_ROWS])]


def _elsewhere(mailbox: Mailbox, index: int, nearest: int) -> list[Block]:
    """Return the change blocks that match at other places of the nearest patch."""
    pool = mailbox.pool
    assert pool is not None
    if pool.index.size(index) + pool.index.size(nearest) > MAX_N_GRAMS:
        return []
    patches = pool.patches[index], pool.patches[nearest]
    renamed = pool.rescued(index, nearest)
    matches = [
        (match.n_grams, _place(row.a), _place(match))
        for row in differences(*patches, ignored=pool.ignored, renamed=renamed).differing
        for match in row.elsewhere
        if row.a is not None and match.of_a
    ]
    matches.sort(key=lambda match: -match[0])
    number = mailbox.patches[nearest].number
    rows = tuple(
        (own_place, nearest_place, f"{n:,}")
        for n, own_place, nearest_place in matches[:MAX_MATCHES]
    )
    blocks: list[Block] = [Table(("here", f"elsewhere in #{number}", "n-grams"), rows)]
    if len(matches) > MAX_MATCHES:
        blocks.append(Line(f"… and {len(matches) - MAX_MATCHES} more"))
    return blocks


def _place(side: BlockSide | Match) -> str:
    heading = f" ({name(side.heading)})" if side.heading else ""
    return f"{name(side.path)}:{side.line}{heading}"
