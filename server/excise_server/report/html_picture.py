"""The picture of a page: heat map, dendrogram, and the numbers themselves where they are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from excise import Cluster
from excise_server.report.digits import digits
from excise_server.report.heatmap import Tree, dendrogram, grow, png_of
from excise_server.report.html_model import Picture, Report
from excise_server.report.markup import Markup, element, joined

if TYPE_CHECKING:
    from excise_server.report.heatmap import Values

__all__ = ["MAX_CELLS", "MAX_HEAT", "picture_of", "picture_part", "shown_first"]

MAX_HEAT = 280
"""Most rows of the heat map, so that each is visible. The largest clusters come first."""

MAX_CELLS = 12
"""Most rows of a heat map that is a table of numbers; a larger one is an image."""

_LISTED = 14
"""The most clusters that are named next to a heat map."""


def shown_first(clusters: Sequence[Cluster]) -> list[int]:
    """Return the members that the picture has room for: whole clusters, the largest first."""
    shown: list[int] = []
    for cluster in clusters:
        if len(shown) + len(cluster.members) > MAX_HEAT:
            break
        shown += cluster.members
    return shown


def picture_of(
    values: Values,
    names: Sequence[str],
    clusters: Sequence[Cluster],
    words: Sequence[Sequence[str]] = (),
) -> Picture | None:
    """Return the picture of a whole matrix, or None if there is nothing to see."""
    import numpy as np

    shown = shown_first(clusters)
    if len(shown) < 2:
        return None
    bands = [place for place, cluster in enumerate(clusters) for _ in cluster.members]
    inside = values[np.ix_(shown, shown)]
    shown_words = [[words[i][j] for j in shown] for i in shown] if words else ()
    return Picture(
        inside, [names[member] for member in shown], bands[: len(shown)], len(names), shown_words
    )


def picture_part(report: Report, picture: Picture) -> Markup:
    """Return the figure: tree and heat map, with their captions."""
    tree = grow(picture.values, report.linkage)
    n = len(picture.names)
    shown = f"{n:,} of the {picture.whole:,} {report.what}, those in the largest clusters"
    of = shown if n < picture.whole else f"all {n:,} {report.what}"
    drawn = dendrogram(tree, picture.bands, report.threshold)
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
    tells = (
        f"Similarity of {of}, from 0 ",
        " to 1, row by row in the order of the tree.",
        f"The tree shows how {report.linkage} linkage merges them, from distance 0 at its foot "
        f"to 1. The dashed line is the threshold, {report.threshold:g}; in the band below the "
        "colours change where one cluster ends and the next begins.",
    )
    paragraphs = element("p", tells[0], _legend(), tells[1]), element("p", tells[2])
    beside = element("figcaption", *paragraphs, _largest(report) if n > MAX_CELLS else None)
    return element("figure", inner, beside, class_="card split")


def _largest(report: Report) -> Markup:
    """Return the first clusters as links, with how many members they have."""
    several = [group for group in report.groups if len(group.items) > 1][:_LISTED]
    rows = (
        element(
            "li",
            element("b", f"{len(group.items):,}"),
            element("a", group.items[0].title or group.items[0].name, href=f"#cluster-{place}"),
        )
        for place, group in enumerate(several, start=1)
    )
    return joined((element("p", "The largest clusters:"), element("ol", *rows, class_="largest")))


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


def _grid(picture: Picture, tree: Tree) -> Markup:
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
