"""Similarities as a picture: rows in the order of the dendrogram above them.

A PNG, because thousands of rows are millions of cells. It has one colour of varying opacity, which
is visible on light and dark backgrounds.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from excise.clustering import Merge, merges
from excise_server.report.markup import Markup, element

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["LEVELS", "Tree", "dendrogram", "grow", "png_of"]

LEVELS = 64
"""Shades between nothing and equal."""

_COLOUR = (22, 112, 201)
_HEIGHT = 100.0
_BAND = 6.0


class Tree:
    """The order of leaves, and where each merge is drawn: left, right and both foot heights."""

    def __init__(self, n: int, merges: Sequence[Merge]) -> None:
        """Lay a binary tree out."""
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


def grow(values: Values, linkage: str) -> Tree:
    """Return the tree that the linkage makes of similarities."""
    return Tree(len(values), merges(1.0 - values, linkage))


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


def dendrogram(tree: Tree, bands: Sequence[int], threshold: float) -> Markup:
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


def _bands(tree: Tree, bands: Sequence[int]) -> list[Markup]:
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
