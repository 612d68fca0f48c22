"""Clusters as a page: only values, whatever was compared. Figure, members, blocks that differ.

Similarities are a PNG, because thousands of rows are millions of cells. It has one colour of
varying opacity, which is visible on light and dark backgrounds.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING

from excise import Cluster
from excise.clustering import Merge, merges
from excise_server.report.html_page import Child, Markup, element, joined, page, source
from excise_server.report.words import digits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

OWN = ("", "what it changes")
TWO = ("representative", "this one")
"""The names of the sides of blocks: of one revision alone, or with its representative."""

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

    ``columns`` name the sides of its blocks; the first is empty if there is only one side.
    ``word`` says how it relates to its representative. A text among its blocks is a remark.
    """

    name: str
    title: str
    about: tuple[tuple[str, str], ...]
    similarity: float
    contains: float | None
    blocks: Callable[[], Iterable[PageBlock | str]]
    columns: tuple[str, str]
    word: str = ""


@dataclass(frozen=True, slots=True)
class PageGroup:
    """A cluster, its representative first, with the ``number`` that the page uses for it.

    ``reasons`` say what sets it apart.
    """

    items: tuple[PageItem, ...]
    min_similarity: float
    number: int | None = None
    reasons: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """Similarities of the members that are drawn, with their names and their clusters."""

    values: Values
    names: Sequence[str]
    bands: Sequence[int]
    whole: int
    words: Sequence[Sequence[str]] = ()
    """The word for each pair, if it is known."""


MAX_OPENED = 2_500
"""Most members whose blocks are in the page at all."""


def render(
    *,
    title: str,
    what: str,
    facts: Iterable[tuple[str, str]],
    groups: Sequence[PageGroup],
    picture: Picture | None,
    threshold: float,
    linkage: str,
    signature: str,
    notes: Sequence[str] = (),
    rejected: Iterable[tuple[str, str]] = (),
) -> str:
    """Return the page.

    - ``what``: the plural noun of what was compared.
    """
    several = [group for group in groups if len(group.items) > 1]
    alone = [group.items[0] for group in groups if len(group.items) == 1]
    opened = count()
    parts: list[tuple[str, str, Markup]] = []
    if picture is not None:
        figure = _picture_part(picture, what, several, threshold, linkage)
        parts.append(("map", "Similarities", figure))
    cards = joined(_card(place, group, opened) for place, group in enumerate(several, start=1))
    nothing = element("p", f"No two {what} are alike.", class_="dim")
    parts.append(("clusters", f"Clusters ({len(several):,})", cards or nothing))
    if alone:
        members = (_member(item, opened, element("span", "")) for item in alone)
        parts.append(("alone", f"Alone ({len(alone):,})", element("div", *members, class_="card")))
    if rows := [[name, reason] for name, reason in rejected]:
        left_out = table("What could not be compared, and why", ("name", "reason"), rows)
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


_ADVICE = "The clusters are advice: what most agree on is not thereby right."


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Child]]) -> Markup:
    """Return a table in which the first cell of a row is its header."""
    top = element("tr", *(element("th", name, scope="col") for name in head))
    body = (
        element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:]))
        for row in rows
    )
    inner = (element("caption", caption), element("thead", top), element("tbody", *body))
    flat = element("div", element("table", *inner, class_="wide"), class_="flat")
    return element("div", flat, class_="card scroll")


MAX_BLOCKS = 12
"""Most blocks shown of one member."""

MAX_LINES = 30
"""Most lines shown of one side of a block."""

MAX_CHARACTERS = 300
"""Most characters shown of a line."""


def in_order(cluster: Cluster, similarity: Callable[[int], float]) -> list[int]:
    """Return the members of a cluster: its representative, then those that are most like it."""
    others = (member for member in cluster.members if member != cluster.representative)
    return [cluster.representative, *sorted(others, key=lambda i: (-similarity(i), i))]


def _card(place: int, group: PageGroup, opened: Iterator[int]) -> Markup:
    """Return a cluster: its members, and folded under each the blocks in which it differs."""
    first = group.items[0]
    least = digits(group.min_similarity)
    head = element(
        "div",
        element("span", group.number or place, class_="badge"),
        element(
            "div",
            element("h3", first.title or first.name),
            element("p", f"{len(group.items):,} members, the farthest {least} from the "
                         "representative", class_="dim small"),
            element("p", group.reasons, class_="small") if group.reasons else "",
        ),
        class_="head",
    )  # fmt: skip
    stands = element("span", element("span", "representative", class_="stands"))
    members = (
        _member(item, opened, stands if item is first else element("span", _similarity(item)))
        for item in group.items
    )
    return element("article", head, *members, class_="card", id=f"cluster-{place}")


def _member(item: PageItem, opened: Iterator[int], mark: Markup) -> Markup:
    name, title = element("span", item.name, class_="id"), element("span", item.title)
    about = list(item.about)
    if item.contains is not None:
        share = digits(item.contains)
        about.append(("share", f"has {share} of what the representative adds and deletes"))
    listed = (child for name, value in about if value
              for child in (element("dt", name), element("dd", value)))  # fmt: skip
    inner: list[Child] = [element("dl", *listed)] if about else []
    if next(opened) < MAX_OPENED:
        inner.append(_blocks(item))
    summary = element("summary", mark, name, title)
    return element("details", summary, element("div", *inner, class_="inner"))


def _similarity(item: PageItem) -> Markup:
    value = item.similarity
    shown = round(64 * value, 1)
    bar = element(
        "svg",
        element("rect", width=64, height=8, rx=2),
        element("rect", width=str(shown), height=8, rx=2, class_="on"),
        class_="bar",
        width=64,
        height=8,
        aria_hidden="true",
    )
    title = "similarity to the representative"
    score = element("span", digits(value), bar, title=title)
    return joined((score, " ", element("span", item.word, class_="small"))) if item.word else score


def _blocks(item: PageItem) -> Markup:
    blocks = list(islice(item.blocks(), MAX_BLOCKS + 1)) or ["No text differs."]
    if len(blocks) > MAX_BLOCKS:
        blocks[MAX_BLOCKS:] = [f"More blocks differ; the first {MAX_BLOCKS} are shown."]
    return joined(
        element("p", block, class_="dim small")
        if isinstance(block, str)
        else _block(block, item.columns)
        for block in blocks
    )


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


def picture_of(
    values: Values | Callable[[list[int]], Values],
    names: Sequence[str],
    clusters: Sequence[Cluster],
    words: Sequence[Sequence[str]] = (),
) -> Picture | None:
    """Return the picture of whole clusters, the largest first, or None if there is nothing to see.

    - ``values``: all similarities, or a function that returns those of some members.
    """
    import numpy as np

    shown: list[int] = []
    for cluster in clusters:
        if len(shown) + len(cluster.members) > MAX_HEAT:
            break
        shown += cluster.members
    if len(shown) < 2:
        return None
    bands = [place for place, cluster in enumerate(clusters) for _ in cluster.members]
    inside = values(shown) if callable(values) else values[np.ix_(shown, shown)]
    shown_words = [[words[i][j] for j in shown] for i in shown] if words else ()
    shown_names = [names[member] for member in shown]
    return Picture(inside, shown_names, bands[: len(shown)], len(names), shown_words)


def _picture_part(
    picture: Picture, what: str, several: Sequence[PageGroup], threshold: float, linkage: str
) -> Markup:
    """Return the figure: tree and heat map, with their captions."""
    n = len(picture.names)
    tree = Dendrogram(n, merges(1.0 - picture.values, linkage))
    shown = f"{n:,} of the {picture.whole:,} {what}, those in the largest clusters"
    of = shown if n < picture.whole else f"all {n:,} {what}"
    drawn = dendrogram(tree, picture.bands, threshold)
    largest = None
    if n <= MAX_CELLS:
        ticks = (element("span", index + 1) for index in range(n))
        feet = element("div", *ticks, class_="ticks", aria_hidden="true")
        inner = element("div", element("div", drawn, feet, class_="heat"), _grid(picture, tree))
    else:
        image = element(
            "img",
            src=png_of(picture.values, tree.order),
            alt=f"Heat map of the similarities of {of}, ordered by cluster",
        )
        inner = element("div", drawn, image, class_="heat")
        rows = (
            element(
                "li",
                element("b", f"{len(group.items):,}"),
                element("a", group.items[0].title or group.items[0].name, href=f"#cluster-{place}"),
            )
            for place, group in enumerate(several[:_LISTED], start=1)
        )
        largest = joined(
            (element("p", "The largest clusters:"), element("ol", *rows, class_="largest"))
        )
    tells = (
        f"Similarity of {of}, from 0 ",
        " to 1, row by row in the order of the tree.",
        f"The tree shows how {linkage} linkage merges them, from distance 0 at its foot "
        f"to 1. The dashed line is the threshold, {threshold:g}; in the band below the "
        "colours change where one cluster ends and the next begins.",
    )
    paragraphs = element("p", tells[0], _legend(), tells[1]), element("p", tells[2])
    return element(
        "figure", inner, element("figcaption", *paragraphs, largest), class_="card split"
    )


def _legend() -> Markup:
    steps = range(6)
    boxes = (
        element(
            "rect", x=20 * step, width=20, height=12, fill="#1670c9", fill_opacity=str(step / 5)
        )
        for step in steps
    )
    return element(
        "svg",
        *boxes,
        class_="legend",
        viewBox="0 0 120 12",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _grid(picture: Picture, tree: Dendrogram) -> Markup:
    names = [picture.names[index] for index in tree.order]
    head = (
        element("th", str(number), scope="col", title=name)
        for number, name in enumerate(names, start=1)
    )
    rows = (
        element(
            "tr",
            element("th", f"{place + 1} ", element("span", names[place], class_="id"), scope="row"),
            *(
                _cell(float(picture.values[i, j]), picture.words[i][j] if picture.words else None)
                for j in tree.order
            ),
        )
        for place, i in enumerate(tree.order)
    )
    inner = (
        element("caption", "Similarity of every two"),
        element("thead", element("tr", element("td"), *head)),
        element("tbody", *rows),
    )
    return element("div", element("table", *inner, class_="grid"), class_="scroll")


def _cell(value: float, word: str | None) -> Markup:
    level = next((band for band, least in ((5, 0.8), (4, 0.6), (3, 0.4), (2, 0.2), (1, 0.02))
                  if value >= least), 0)  # fmt: skip
    return element("td", digits(value), class_=f"h{level}" if level else None, title=word)


LEVELS = 64
"""Shades between nothing and equal."""

_COLOUR = (22, 112, 201)
_HEIGHT = 100.0
_BAND = 6.0


class Dendrogram:
    """The order of leaves, and where each merge is drawn: left, right and both foot heights."""

    def __init__(self, n: int, merges: Sequence[Merge]) -> None:
        children: dict[int, tuple[int, int]] = {}
        first = {leaf: leaf for leaf in range(n)}
        for index, merge in enumerate(merges):
            # The order of the leaves is kept as far as possible: the largest cluster is first.
            a, b = sorted((merge.a, merge.b), key=first.__getitem__)
            children[n + index], first[n + index] = (a, b), first[a]
        root = n + len(merges) - 1 if merges else 0
        self.order = _leaves(children, root, n)
        places = {leaf: index + 0.5 for index, leaf in enumerate(self.order)}
        heights = dict.fromkeys(range(n), 0.0)
        self.arms: list[tuple[float, float, float, float, float]] = []
        for index, merge in enumerate(merges):
            (x, low), (y, high) = sorted(
                (places[child], heights[child]) for child in children[n + index]
            )
            # The distances of average linkage can decrease a little, but no line goes down.
            top = max(merge.distance, low, high)
            self.arms.append((x, low, y, high, top))
            places[n + index], heights[n + index] = (x + y) / 2, top


def png_of(values: Values, order: Sequence[int]) -> str:
    """Return similarities as a data URI of a PNG, a pixel a pair, in the order given."""
    import numpy as np

    n = len(order)
    levels = np.rint(np.clip(values[np.ix_(order, order)], 0, 1) * (LEVELS - 1)).astype(np.uint8)
    # Each row of a PNG begins with its filter type; 0 means none.
    rows = np.hstack([np.zeros((n, 1), np.uint8), levels])
    shades = range(LEVELS)
    parts = (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 3, 0, 0, 0)),
        _chunk(b"PLTE", bytes(_COLOUR) * LEVELS),
        _chunk(b"tRNS", bytes(round(255 * shade / (LEVELS - 1)) for shade in shades)),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
        _chunk(b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def dendrogram(tree: Dendrogram, bands: Sequence[int], threshold: float) -> Markup:
    """Return the tree as SVG: distance 1 at the top, a band of each leaf's cluster at the foot."""
    n = len(tree.order)

    def y(height: float) -> str:
        return f"{_HEIGHT * (1 - height):.2f}"

    path = "".join(
        f"M{a:.2f} {y(foot_a)}V{y(top)}H{b:.2f}V{y(foot_b)}"
        for a, foot_a, b, foot_b, top in tree.arms
    )
    cut = y(threshold)
    return element(
        "svg",
        element("path", d=path, class_="tree"),
        element("line", x1=0, x2=n, y1=cut, y2=cut, class_="cut"),
        *_bands(tree, bands),
        viewBox=f"0 -1 {n} {_HEIGHT + _BAND + 2:.0f}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _bands(tree: Dendrogram, bands: Sequence[int]) -> list[Markup]:
    """Return a rectangle for each run of leaves of one cluster, in two colours by turns."""
    rectangles: list[Markup] = []
    start = 0
    for index in range(1, len(tree.order) + 1):
        if index == len(tree.order) or bands[tree.order[index]] != bands[tree.order[start]]:
            kind = f"band{len(rectangles) % 2}"
            box = {"x": start, "y": int(_HEIGHT + 1), "width": index - start, "height": int(_BAND)}
            rectangles.append(element("rect", class_=kind, **box))
            start = index
    return rectangles


def _leaves(kids: dict[int, tuple[int, int]], root: int, n: int) -> list[int]:
    order: list[int] = []
    stack = [root] if n else []
    while stack:
        node = stack.pop()
        if node in kids:
            a, b = kids[node]
            stack += [b, a]
        else:
            order.append(node)
    return order


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
