"""Clusters and their members, with the blocks that differ folded under each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from excise_server.report.digits import digits
from excise_server.report.html_model import Block, Group, Item, Side
from excise_server.report.markup import Child, Markup, element, joined, source

__all__ = ["Budget", "alone_card", "cluster_card"]

MAX_BLOCKS = 12
"""Most blocks shown of one member."""

MAX_LINES = 30
"""Most lines shown of one side of a block."""

MAX_CHARACTERS = 300
"""Most characters shown of a line."""


class Budget:
    """How many members may still be opened."""

    def __init__(self, left: int) -> None:
        """Start with so many."""
        self.left, self.over = left, 0

    def take(self) -> bool:
        """Count one more, and return whether it is within the limit."""
        self.left -= 1
        self.over += self.left < 0
        return self.left >= 0

    def notes(self, noun: str) -> Iterator[str]:
        """Yield a note if some members are not shown."""
        if self.over:
            yield (
                f"The page would be too long: what {self.over:,} of the {noun} change is not shown."
            )


def cluster_card(place: int, group: Group, opened: Budget) -> Markup:
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
    members = (_member(item, opened, stands=item is first) for item in group.items)
    return element("article", head, *members, class_="card", id=f"cluster-{place}")


def alone_card(items: Sequence[Item], opened: Budget) -> Markup:
    """Return those that are like no other."""
    members = (_member(item, opened, stands=False, alone=True) for item in items)
    return element("div", *members, class_="card")


def _member(item: Item, opened: Budget, *, stands: bool, alone: bool = False) -> Markup:
    mark: Child = _similarity(item)
    if stands:
        mark = element("span", "representative", class_="stands")
    elif alone:
        mark = ""
    summary = element(
        "summary",
        element("span", mark),
        element("span", item.name, class_="id"),
        element("span", item.title),
    )
    about = list(item.about)
    if item.contains is not None:
        share = digits(item.contains)
        about.append(("contains", f"{share} of what the representative adds and deletes"))
    listed = (child for name, value in about if value
              for child in (element("dt", name), element("dd", value)))  # fmt: skip
    inner: list[Child] = [element("dl", *listed)] if about else []
    if opened.take():
        inner.append(_blocks(item))
    return element("details", summary, element("div", *inner, class_="inner"))


def _similarity(item: Item) -> Markup:
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


def _blocks(item: Item) -> Markup:
    blocks = list(islice(item.blocks(), MAX_BLOCKS + 1))
    if not blocks:
        return element("p", "No text differs.", class_="dim small")
    is_longer = len(blocks) > MAX_BLOCKS
    shown = joined(
        element("p", block, class_="dim small")
        if isinstance(block, str)
        else _block(block, item.columns)
        for block in blocks[:MAX_BLOCKS]
    )
    if not is_longer:
        return shown
    text = f"More blocks differ; the first {MAX_BLOCKS} are shown."
    return joined((shown, element("p", text, class_="dim small")))


def _block(block: Block, columns: tuple[str, str]) -> Markup:
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
    shown = [
        element("span", sign, source(_cut(text)), class_=kinds.get(sign))
        for sign, text in side[:MAX_LINES]
    ]
    if len(side) > MAX_LINES:
        shown.append(element("span", f"… {len(side) - MAX_LINES:,} more lines", class_="dim"))
    return element("pre", *shown)


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[:MAX_CHARACTERS]}… {len(text) - MAX_CHARACTERS:,} more characters"
