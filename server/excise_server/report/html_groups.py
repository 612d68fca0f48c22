"""Pages of groups: of patches, and of the revisions of one file. Figure, members, what differs.

Similarities are a PNG, because thousands of rows are millions of cells. It has one colour of
varying opacity, which is visible on light and dark backgrounds.
"""

from __future__ import annotations

import base64
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, islice
from typing import TYPE_CHECKING

from msgspec import UNSET

from excise import Cluster, ScoreMatrix
from excise.clustering import Merge, merges
from excise.patches import Patch, differences
from excise.patches.differences import BlockSide, Difference, Match
from excise.patches.evidence import EvidenceReader
from excise.patches.related import relation
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.cluster import Grouped, head_line, issue_lines, more_lines
from excise_server.report.html_page import Child, Markup, element, joined, page, source
from excise_server.report.likeness import parts, related_words, said
from excise_server.report.tables import reasons_text
from excise_server.report.words import digits, word_beside
from excise_server.wire.documents import ClusterDocument, CompareDocument

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

MAX_HEADING = 80
"""Most characters shown of a hunk's heading. Git itself writes no more."""

MAX_MATCHES = 3
"""Most other places named of one row."""


def patches_page(grouped: Grouped, document: ClusterDocument) -> str:
    """Return the page of issues: every patch beside the one of its issue that is to be read."""
    pool, clusters, queue = grouped.pool, grouped.clusters, grouped.queue
    number_of = {member.id: index for index, member in enumerate(queue.patches)}
    reader = EvidenceReader()
    levels = {frozenset((pair.new, pair.other)): pair.level for pair in document.pairs}
    groups = []
    for issue, lines in zip(document.issues, issue_lines(document), strict=True):
        best = number_of[issue.representative]
        evidence = grouped.evidence(reader, best)
        others = [number_of[name] for name in issue.members if name != issue.representative]
        scores = {index: pool.score(best, index) for index in others}
        others.sort(key=lambda index: -scores[index])
        items = [_item(grouped, best, best)]
        for index in others:
            level = levels.get(frozenset((issue.representative, queue.patches[index].id)))
            related = relation(evidence, grouped.evidence(reader, index))
            items.append(_item(grouped, best, index, related_words(related, level)))
        evident = f" {lines.evidence}" if lines.evidence else ""
        groups.append(PageGroup(items, visible(f"{lines.head}.{evident}")))
    together = {name for issue in document.issues for name in issue.members}
    alone = [index for name, index in number_of.items() if name not in together]
    groups += (PageGroup([_item(grouped, index, index)]) for index in alone)
    facts = (
        ("patches", f"{len(pool):,}"),
        ("groups", f"{len(document.issues):,}"),
        ("alone", f"{len(alone):,}"),
        ("clusters", f"{len(clusters):,}"),
    )

    def dense(shown: list[int]) -> Values:
        import numpy as np

        values = np.ones((len(shown), len(shown)))
        pool.dense(array("i", shown), values)
        return values

    names = [visible(member.id) for member in queue.patches]
    how = document.threshold, document.linkage
    return _page(
        head_line(document), "patches", facts, groups,
        _picture("patches", dense, names, clusters, groups, how),
        signature=pool.signature,
        notes=[visible(line) for line in more_lines(document, verbose=True)],
        rejected=[(visible(rejection.id), rejection.reason) for rejection in queue.rejected],
    )  # fmt: skip


def _difference_blocks(
    differing: Sequence[Difference], *, numbers: bool = False
) -> Iterator[PageBlock]:
    """Yield differing change blocks, where `numbers` says how much matches here and elsewhere."""
    for difference in differing:
        a, b = difference.a, difference.b
        places = dict.fromkeys(_place(side) for side in (a, b) if side)
        if a and b and a.path == b.path and a.heading == b.heading:
            places = dict.fromkeys([_place(a)])
        phrases = [f"{difference.here:,} of {difference.size:,} n-grams match here"]
        shown, others = difference.elsewhere[:MAX_MATCHES], difference.elsewhere[MAX_MATCHES:]
        phrases += [f"{match.n_grams:,} at {_place(match)}" for match in shown]
        if rest := sum(match.n_grams for match in others):
            phrases.append(f"{rest:,} at other places")
        note = "; ".join(phrases) if numbers else ""
        yield PageBlock("; ".join(places), _signed(a), _signed(b), note)


def _place(side: BlockSide | Match) -> str:
    heading = side.heading
    if len(heading) > MAX_HEADING:
        heading = f"{heading[:MAX_HEADING]}…"
    about = f" ({heading})" if heading else ""
    return f"{visible(side.path)}, line {side.line:,}{about}"


def _signed(side: BlockSide | None) -> list[tuple[str, str]] | None:
    if side is None:
        return None
    return [*(("-", line) for line in side.old), *(("+", line) for line in side.new)]


def _item(grouped: Grouped, best: int, index: int, related: str = "") -> PageItem:
    pool, members = grouped.pool, grouped.queue.patches
    message = members[index].message
    series = message.series
    place = f", {series.index} of {series.total}" if series.numbered else ""
    files = grouped.patch_of(index).files
    facts = [f"{visible(p.path)}: {visible(fact)}" for p in files for fact in p.facts]
    lines = f"+{sum(p.added for p in files):,} -{sum(p.deleted for p in files):,}"
    about = [
        ("from", message.author),
        ("date", message.date),
        ("version", f"v{series.version}{place}" if series.numbered or series.version > 1 else ""),
        ("files", f"{lines} in {', '.join(visible(pair.path) for pair in files[:12])}"
                  + (f" and {len(files) - 12:,} more" if len(files) > 12 else "")),
        ("facts", "; ".join(facts[:12])),
        ("notes", "; ".join(pool.notes[index])),
    ]  # fmt: skip
    word = ""
    if index != best:
        likeness = pool.likeness(best, index)
        back, share = digits(likeness.contained_in_a), digits(likeness.contained_in_b)
        about += [
            ("share back", f"the representative has {back} of what it adds and deletes"),
            ("parts", parts(likeness)),
            ("related", related),
            ("share", f"has {share} of what the representative adds and deletes"),
        ]
        word = grouped.same(members[best].id, members[index].id) or said(likeness)
    return PageItem(
        name=visible(members[index].id),
        title=message.title or message.subject,
        about=about,
        similarity=1.0 if index == best else pool.score(best, index),
        blocks=partial(_differing, grouped, best, index),
        word=word,
    )


def _differing(grouped: Grouped, best: int, index: int) -> Iterator[PageBlock | str]:
    pool, patch = grouped.pool, grouped.patch_of(index)
    if best == index:
        differ = differences(Patch(), patch, ignored=pool.ignored)
        yield from _difference_blocks(differ.differing)
        return
    differ = differences(
        grouped.patch_of(best), patch, ignored=pool.ignored, renamed=pool.rescued(best, index)
    )
    if differ.same and differ.differing:
        alike = f"{differ.same:,} change blocks are alike at the same place"
        yield f"{alike}, {differ.same_size:,} n-grams of both."
    yield from _difference_blocks(differ.differing, numbers=True)


def revisions_page(
    document: CompareDocument,
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
) -> str:
    """Return the page of grouped revisions."""
    entry, values = document.clusters, document.matrix
    assert entry is not UNSET
    assert values is not UNSET
    facts = (
        ("revisions", f"{len(matrix.ids):,}"),
        ("clusters", f"{sum(len(c.members) > 1 for c in clusters):,}"),
        ("alone", f"{sum(len(c.members) == 1 for c in clusters):,}"),
        ("no change", f"{sum(matrix.no_ops):,}"),
    )
    groups = []
    for cluster, group in zip(clusters, entry.groups, strict=True):
        best = cluster.representative
        others = [member for member in cluster.members if member != best]
        others.sort(key=lambda member: (-matrix.values[best, member], member))
        items = [_revision(matrix, revision_set, best, member) for member in (best, *others)]
        groups.append(PageGroup(items, reasons_text(group)))
    how = entry.threshold, entry.linkage
    return _page(
        f"{len(matrix.ids):,} revisions of {revision_set.name}, {len(clusters):,} to read",
        "revisions", facts, groups,
        _picture("revisions", matrix.values, matrix.ids, clusters, groups, how, values.words),
        signature=document.signature,
        notes=[f"{name}: {note}" for name, notes in document.notes.items() for note in notes],
        rejected=[(rejected.id, rejected.reason) for rejected in document.rejected],
    )  # fmt: skip


def _revision(matrix: ScoreMatrix, revision_set: RevisionSet, best: int, index: int) -> PageItem:
    edit = "no change" if matrix.no_ops[index] else f"{matrix.edit_sizes[index]:,} tokens"
    about = [("edit", edit), ("notes", "; ".join(matrix.notes[index]))]
    if index != best and matrix.anchored[best, index] != matrix.anywhere[best, index]:
        anchored, anywhere = (float(m[best, index]) for m in (matrix.anchored, matrix.anywhere))
        parts = f"{digits(anchored)} at the same place, {digits(anywhere)} anywhere"
        about.append(("similarity", parts))
    return PageItem(
        name=matrix.ids[index],
        title=revision_set.revisions[index].label,
        about=about,
        similarity=float(matrix.values[best, index]),
        blocks=partial(_hunks, matrix, best, index),
        word="" if index == best else word_beside(matrix, index, best),
    )


def _hunks(matrix: ScoreMatrix, best: int, index: int) -> Iterator[PageBlock]:
    """Yield the hunks where a revision does not have the representative's exact lines."""
    for hunk in matrix.hunks(sorted({best, index})):
        texts = {member: v.text for v in hunk.variants for member in v.members}
        if index != best and texts[best] == texts[index]:
            continue
        where = f"line {hunk.lo + 1:,}" + (f" to {hunk.hi:,}" if hunk.hi > hunk.lo + 1 else "")
        a, b = (_both(hunk.text, texts[member]) for member in (best, index))
        yield PageBlock(where, None if index == best else a, b)


def _both(origin: str, text: str) -> list[tuple[str, str]]:
    old, new = (side.removesuffix("\n").split("\n") if side else [] for side in (origin, text))
    if origin == text:
        return [(" ", line) for line in old]
    return [*(("-", line) for line in old), *(("+", line) for line in new)]


# --- the page ------------------------------------------------------------------------------------

Side = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A hunk or change block: lines that start with ``-``, ``+`` or a space (None: nothing there).

    ``note`` says how much of it matches, and where.
    """

    where: str
    a: Side | None
    b: Side | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class PageItem:
    """One member: its name and title, facts about it, and the blocks in which it differs.

    ``word`` says how it relates to its representative. A text among its blocks is a remark.
    """

    name: str
    title: str
    about: Sequence[tuple[str, str]]
    similarity: float
    blocks: Callable[[], Iterable[PageBlock | str]]
    word: str = ""


@dataclass(frozen=True, slots=True)
class PageGroup:
    """A cluster, its representative first. ``reasons`` say what sets it apart."""

    items: Sequence[PageItem]
    reasons: str = ""


_KINDS = {"patches": "groups", "revisions": "clusters"}
MAX_OPENED = 2_500
"""Most members whose blocks are in the page at all."""


def _page(
    title: str,
    what: str,
    facts: Iterable[tuple[str, str]],
    groups: Sequence[PageGroup],
    picture: Markup | None,
    *,
    signature: str,
    notes: Sequence[str],
    rejected: Iterable[tuple[str, str]],
) -> str:
    """Return the page.

    - ``what``: the plural noun of what was compared.
    """
    several = [group for group in groups if len(group.items) > 1]
    alone = [group.items[0] for group in groups if len(group.items) == 1]
    opened = count()
    parts: list[tuple[str, str, Markup]] = []
    if picture is not None:
        parts.append(("map", "Similarities", picture))
    cards = joined(_card(place, group, opened) for place, group in enumerate(several, start=1))
    nothing = element("p", f"No two {what} are alike.", class_="dim")
    parts.append(("clusters", f"{_KINDS[what].title()} ({len(several):,})", cards or nothing))
    if alone:
        members = (_member(item, opened, element("span", ""), OWN) for item in alone)
        parts.append(("alone", f"Alone ({len(alone):,})", element("div", *members, class_="card")))
    if rows := list(rejected):
        top = (element("th", name, scope="col") for name in ("name", "reason"))
        body = (
            element("tr", element("th", name, scope="row"), element("td", reason))
            for name, reason in rows
        )
        table = element(
            "table",
            element("caption", "What could not be compared, and why"),
            element("thead", element("tr", *top)),
            element("tbody", *body),
            class_="wide",
        )
        left_out = element("div", element("div", table, class_="flat"), class_="card scroll")
        parts.append(("rejected", f"Left out ({len(rows):,})", left_out))
    if (over := next(opened) - MAX_OPENED) > 0:
        too_long = f"The page would be too long: what {over:,} of the {what} change is not shown."
        notes = [*notes, too_long]
    if notes:
        listed = element("ul", *(element("li", note) for note in notes), class_="small")
        parts.append(("notes", f"Notes ({len(notes):,})", listed))
    links = (element("li", element("a", head, href=f"#{name}")) for name, head, _ in parts)
    boxes = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    sections = (
        element("section", element("h2", head, id=f"{name}-title"), inner,
                id=name, aria_labelledby=f"{name}-title")
        for name, head, inner in parts
    )  # fmt: skip
    return page(
        title,
        element("ul", *links),
        joined((element("dl", *boxes, class_="facts"), *sections)),
        joined(("Every score under ", element("code", signature), ". ", _ADVICE)),
    )


_ADVICE = "What stands together is advice: what most agree on is not thereby right."


MAX_BLOCKS = 12
"""Most blocks shown of one member."""

MAX_LINES = 30
"""Most lines shown of one side of a block."""

MAX_CHARACTERS = 300
"""Most characters shown of a line."""


def _card(place: int, group: PageGroup, opened: Iterator[int]) -> Markup:
    """Return a cluster: its members, and folded under each the blocks in which it differs."""
    first, *others = group.items
    least = digits(min(item.similarity for item in group.items))
    head = element(
        "div",
        element("span", place, class_="badge"),
        element(
            "div",
            element("h3", first.title or first.name),
            element("p", f"{len(group.items):,} members; the least alike scores {least} with "
                         "the representative", class_="dim small"),
            element("p", group.reasons, class_="small") if group.reasons else "",
        ),
        class_="head",
    )  # fmt: skip
    stands = element("span", element("span", "representative", class_="stands"))
    members = (
        _member(first, opened, stands, OWN),
        *(_member(item, opened, element("span", _similarity(item)), TWO) for item in others),
    )
    return element("article", head, *members, class_="card", id=f"cluster-{place}")


OWN = ("", "what it changes")
TWO = ("representative", "this one")
"""The names of the sides of blocks: of one revision alone, or with its representative."""


def _member(
    item: PageItem, opened: Iterator[int], mark: Markup, columns: tuple[str, str]
) -> Markup:
    name, title = element("span", item.name, class_="id"), element("span", item.title)
    listed = (child for name, value in item.about if value
              for child in (element("dt", name), element("dd", value)))  # fmt: skip
    inner: list[Child] = [element("dl", *listed)]
    if next(opened) < MAX_OPENED:
        blocks = list(islice(item.blocks(), MAX_BLOCKS + 1)) or ["No text differs."]
        if len(blocks) > MAX_BLOCKS:
            blocks[MAX_BLOCKS:] = [f"More blocks differ; the first {MAX_BLOCKS} are shown."]
        inner += (
            element("p", block, class_="dim small")
            if isinstance(block, str)
            else _block(block, columns)
            for block in blocks
        )
    summary = element("summary", mark, name, title)
    return element("details", summary, element("div", *inner, class_="inner"))


def _similarity(item: PageItem) -> Markup:
    bar = element(
        "svg",
        element("rect", width=64, height=8, rx=2),
        element("rect", width=str(round(64 * item.similarity, 1)), height=8, rx=2, class_="on"),
        class_="bar",
        width=64,
        height=8,
        aria_hidden="true",
    )
    title = "similarity to the representative"
    score = element("span", digits(item.similarity), bar, title=title)
    return joined((score, " ", element("span", item.word, class_="small"))) if item.word else score


def _block(block: PageBlock, columns: tuple[str, str]) -> Markup:
    if not columns[0]:
        only = element("tr", element("th", block.where, scope="col"))
        body = element("tr", element("td", _side(block.b)))
        return element("table", element("thead", only), element("tbody", body), class_="diff")
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    body = element("tr", *(element("td", _side(side)) for side in (block.a, block.b)))
    caption = element("caption", block.where)
    inner = caption, element("thead", head), element("tbody", body)
    shown = element("table", *inner, class_="diff")
    note = element("p", block.note, class_="dim small") if block.note else ""
    return joined((shown, note))


def _side(side: Side | None) -> Markup:
    if not side:
        return element("div", "nothing here", class_="none")
    kinds = {"-": "d", "+": "a"}
    shown = []
    for sign, text in side[:MAX_LINES]:
        if (more := len(text) - MAX_CHARACTERS) > 0:
            text = f"{text[:MAX_CHARACTERS]}… {more:,} more characters"
        shown.append(element("span", sign, source(text), class_=kinds.get(sign)))
    if len(side) > MAX_LINES:
        shown.append(element("span", f"… {len(side) - MAX_LINES:,} more lines", class_="dim"))
    return element("pre", *shown)


MAX_HEAT = 280
"""Most rows of the heat map, so that each is visible. The largest clusters come first."""

MAX_CELLS = 12
"""Most rows of a heat map that is a table of numbers; a larger one is an image."""

_LISTED = 14
"""The most clusters that are named next to a heat map."""


def _picture(
    what: str,
    values: Values | Callable[[list[int]], Values],
    names: Sequence[str],
    clusters: Sequence[Cluster],
    groups: Sequence[PageGroup],
    how: tuple[float, str],
    words: Sequence[Sequence[str]] = (),
) -> Markup | None:
    """Return tree and heat map of whole clusters, the largest first; None: nothing to see.

    - ``values``: all similarities, or a function that returns those of some members.
    - ``how``: the distance and the linkage that made the clusters.
    - ``words``: the word for each pair, if it is known.
    """
    import numpy as np

    threshold, linkage = how
    shown: list[int] = []
    bands: list[int] = []
    for place, cluster in enumerate(clusters):
        if len(shown) + len(cluster.members) > MAX_HEAT:
            break
        shown += cluster.members
        bands += [place] * len(cluster.members)
    if (n := len(shown)) < 2:
        return None
    inside = values(shown) if callable(values) else values[np.ix_(shown, shown)]
    joins = merges(1.0 - inside, linkage)
    drawn, order = _dendrogram(n, joins, bands, threshold)
    of = f"all {n:,} {what}"
    if n < len(names):
        of = f"{n:,} of the {len(names):,} {what}, those in the largest clusters"
    largest = None
    if n <= MAX_CELLS:
        ticks = (element("span", index + 1) for index in range(n))
        feet = element("div", *ticks, class_="ticks", aria_hidden="true")
        ordered = [shown[index] for index in order]
        told = [[words[i][j] for j in ordered] for i in ordered] if words else ()
        grid = _grid([names[index] for index in ordered], inside[np.ix_(order, order)], told)
        inner = element("div", element("div", drawn, feet, class_="heat"), grid)
    else:
        image = element(
            "img",
            src=_png(inside, order),
            alt=f"Heat map of the similarities of {of}, ordered by cluster",
        )
        inner = element("div", drawn, image, class_="heat")
        firsts = [(len(group.items), group.items[0]) for group in groups if len(group.items) > 1]
        rows = (
            element(
                "li",
                element("b", f"{size:,}"),
                element("a", first.title or first.name, href=f"#cluster-{place}"),
            )
            for place, (size, first) in enumerate(firsts[:_LISTED], start=1)
        )
        largest = joined(
            (element("p", f"The largest {_KINDS[what]}:"), element("ol", *rows, class_="largest"))
        )
    steps = (
        element(
            "rect", x=20 * step, width=20, height=12, fill="#1670c9", fill_opacity=str(step / 5)
        )
        for step in range(6)
    )
    legend = element(
        "svg",
        *steps,
        class_="legend",
        viewBox="0 0 120 12",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    ends = " to 1, row by row in the order of the tree."
    explained = (
        f"The tree shows how {linkage} linkage merges them, from distance 0 at its foot "
        f"to 1. The dashed line is the threshold, {threshold:g}; in the band below the "
        "colours change where one cluster ends and the next begins."
    )
    paragraphs = (
        element("p", f"Similarity of {of}, from 0 ", legend, ends),
        element("p", explained),
    )
    caption = element("figcaption", *paragraphs, largest)
    return element("figure", inner, caption, class_="card split")


def _grid(names: Sequence[str], values: Values, words: Sequence[Sequence[str]]) -> Markup:
    """Return the heat map as a table, in the order of the tree."""
    head = (
        element("th", str(number), scope="col", title=name)
        for number, name in enumerate(names, start=1)
    )
    rows: list[Markup] = []
    for i, name in enumerate(names):
        cells = []
        for j, value in enumerate(map(float, values[i])):
            level = sum(value >= least for least in (0.02, 0.2, 0.4, 0.6, 0.8))
            shade = f"h{level}" if level else None
            title = words[i][j] if words else None
            cells.append(element("td", digits(value), class_=shade, title=title))
        label = element("th", f"{i + 1} ", element("span", name, class_="id"), scope="row")
        rows.append(element("tr", label, *cells))
    inner = (
        element("caption", "Similarity of every two"),
        element("thead", element("tr", element("td"), *head)),
        element("tbody", *rows),
    )
    return element("div", element("table", *inner, class_="grid"), class_="scroll")


LEVELS = 64
"""Shades between nothing and equal."""

_COLOUR = (22, 112, 201)
_HEIGHT = 100.0
_BAND = 6.0


def _png(values: Values, order: Sequence[int]) -> str:
    """Return similarities as a data URI of a PNG, a pixel a pair, in the order given."""
    import numpy as np

    n = len(order)
    levels = np.rint(np.clip(values[np.ix_(order, order)], 0, 1) * (LEVELS - 1)).astype(np.uint8)
    # Each row of a PNG begins with its filter type; 0 means none.
    rows = np.hstack([np.zeros((n, 1), np.uint8), levels])
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(_COLOUR) * LEVELS),
        (b"tRNS", bytes(round(255 * shade / (LEVELS - 1)) for shade in range(LEVELS))),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n"
    for kind, body in chunks:
        data += struct.pack(">I", len(body)) + kind + body
        data += struct.pack(">I", zlib.crc32(kind + body))
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _dendrogram(
    n: int, merges: Sequence[Merge], bands: Sequence[int], threshold: float
) -> tuple[Markup, list[int]]:
    """Return the tree as SVG, and the order of its leaves.

    Distance 1 is at the top, and at the foot is a band: the cluster of each leaf.
    """
    leaves = {leaf: [leaf] for leaf in range(n)}
    for node, merge in enumerate(merges, start=n):
        # The order of the leaves is kept as far as possible: the largest cluster is first.
        a, b = sorted((merge.a, merge.b), key=lambda child: leaves[child][0])
        leaves[node] = leaves[a] + leaves[b]
    order = leaves[n + len(merges) - 1]
    places = {leaf: index + 0.5 for index, leaf in enumerate(order)}
    heights = dict.fromkeys(range(n), 0.0)

    def y(height: float) -> str:
        return f"{_HEIGHT * (1 - height):.2f}"

    path = ""
    for node, merge in enumerate(merges, start=n):
        (left, low), (right, high) = sorted(
            (places[child], heights[child]) for child in (merge.a, merge.b)
        )
        # The distances of average linkage can decrease a little, but no line goes down.
        top = max(merge.distance, low, high)
        path += f"M{left:.2f} {y(low)}V{y(top)}H{right:.2f}V{y(high)}"
        places[node], heights[node] = (left + right) / 2, top
    boxes: list[Markup] = []
    start = 0
    for _, run in groupby(order, bands.__getitem__):
        width = len(list(run))
        # A rectangle for each run of leaves of one cluster, in two colours by turns.
        box = {"x": start, "y": int(_HEIGHT + 1), "width": width, "height": int(_BAND)}
        boxes.append(element("rect", class_=f"band{len(boxes) % 2}", **box))
        start += width
    drawn = element(
        "svg",
        element("path", d=path, class_="tree"),
        element("line", x1=0, x2=n, y1=y(threshold), y2=y(threshold), class_="cut"),
        *boxes,
        viewBox=f"0 -1 {n} {_HEIGHT + _BAND + 2:.0f}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return drawn, order
