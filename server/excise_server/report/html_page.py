"""HTML from parts, and the page around a report: one file, no script, nothing from elsewhere.

`element` takes texts and other elements: any `str` is escaped, here and nowhere else, and only
`Markup` stays markup. Names of elements and attributes are our own.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator

from excise_server.foundation.escape import printable, shortened
from excise_server.report.blocks import FOOT, MOST_DRAWN, Cell, PageBlock, ShownLine, spaced
from excise_server.report.tables import cut
from excise_server.report.words import digits

_VOID = frozenset({"meta", "br", "rect"})


class Markup(str):
    """A piece of HTML that `element` made."""

    __slots__ = ()


Child = str | Markup | int | None
"""The types that an element may contain; None is empty."""


def element(name: str, /, *children: Child, **attributes: Child) -> Markup:
    """Return an element without attributes that are None, where ``class_`` means ``class``.

    >>> element("p", "a < b", element("b", "\\x1b"), class_='"x"')
    '<p class="&quot;x&quot;">a &lt; b<b>\\\\x1b</b></p>'
    """
    rendered = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{rendered}{'/' * (name == 'rect')}>")
    return Markup(f"<{name}{rendered}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Return parts in a row: markup as it is, all else as text."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else _escaped(str(child))
            for child in children
            if child is not None
        )
    )


def source(line: str) -> Markup:
    """Return a line of source text for a `pre`: tabs stay, other invisible characters are shown."""
    return Markup("\t".join(_escaped(part) for part in line.split("\t")))


def _escaped(text: str) -> str:
    return html.escape(printable(text))


STYLE = """
:root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #1b1f24; --dim: #59636e;
  --line: #d9dee4; --accent: #0b5cad; --good: #1a7f37; --bad: #b42318; --add: #e2f5e6;
  --del: #fdeceb; --code: #f3f5f7; --add-mark: #a9dfb5;
  --del-mark: #f6bdb8 }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f1318; --card: #171c23; --text: #e4e9ef; --dim: #98a3b0; --line: #2c3440;
    --accent: #74b6ff; --good: #57c46d; --bad: #ff8d82; --add: #14301d; --del: #3a1b1a;
    --code: #10151b; --add-mark: #23663a; --del-mark: #7a2f2b } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
main, header, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px }
header { padding-top: 28px }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -.01em }
h2 { font-size: 18px; margin: 32px 0 12px }
h3 { font-size: 15px; margin: 24px 0 8px; overflow-wrap: anywhere }
p { margin: 0 0 10px }
a { color: var(--accent) }
.dim, figcaption, dt { color: var(--dim) }
.small, figcaption { font-size: 13px }
code, pre, .id { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; font-size: 12.5px }
code, .id { overflow-wrap: anywhere }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; padding: 0;
  margin: 12px 0 0 }
.skip { position: absolute; left: -999px }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px 10px; z-index: 1 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  margin: 0 0 14px; overflow: hidden }
.card > .head { padding: 12px 16px; display: flex; gap: 12px; align-items: baseline }
.badge { flex: none; min-width: 30px; text-align: center; border-radius: 6px; padding: 1px 8px;
  background: var(--accent); color: var(--card); font-weight: 600;
  font-variant-numeric: tabular-nums }
figure { margin: 0; padding: 16px }
.scroll { overflow-x: auto }
table { border-collapse: collapse }
th, td { text-align: left; vertical-align: baseline; padding: 5px 10px;
  border-top: 1px solid var(--line) }
thead th { border-top: 0; color: var(--dim); font-weight: 500; font-size: 13px }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
summary { padding: 4px 16px; cursor: pointer; overflow-wrap: anywhere }
.card > p, .card > pre { margin: 0; padding: 4px 16px; overflow-wrap: anywhere }
.card > .d1 { padding-left: 32px } .card > .d2 { padding-left: 48px }
.card > details.d2 { padding-left: 30px }
details > p, details > pre { margin: 0; padding: 4px 16px 4px 32px }
.card > .scroll { padding: 8px 16px }
.head h2 { font-size: 15px; margin: 0 }
.head h4 { font-size: 13px; font-weight: 500; margin: 0 }
main > #body { margin-top: 20px }
.matrix { display: block; max-width: 100%; height: auto; font-size: 12px }
.matrix rect { fill: var(--accent) } .matrix text { fill: var(--text) }
.matrix .over { fill: var(--card) }
summary:hover { background: var(--code) }
summary:focus-visible { outline-offset: -2px }
pre { margin: 0; padding: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
pre span { display: block; padding: 0 10px }
pre i { color: var(--dim); font-style: normal; display: inline-block; min-width: 2.5em;
  text-align: right; padding-right: .8em; user-select: none }
mark { color: inherit; border-radius: 2px }
.a mark { background: var(--add-mark) } .d mark { background: var(--del-mark) }
:target { outline: 2px solid var(--accent) }
pre .a { background: var(--add) } pre .d { background: var(--del) }
.plus { color: var(--good) } .minus { color: var(--bad) }
footer { padding-top: 24px; padding-bottom: 40px }
@media (max-width: 760px) { main, header, footer { padding-left: 14px; padding-right: 14px } }
@media print { details > * { display: block } body { background: #fff } }
"""

_POLICY = (
    "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def _page(title: str, links: Markup, body: Markup) -> str:
    """Return a complete document: a title, links to its parts, and its body."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    head = joined(
        (
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY.format(digest)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", title),
            # Our own rules, not text of others: nothing in them needs an escape.
            Markup(f"<style>{STYLE}</style>"),
        )
    )
    body_element = element(
        "body",
        element("a", "Skip to the page", href="#body", class_="skip"),
        element("header", element("h1", title), element("nav", links, aria_label="Parts")),
        element("main", body),
        element("footer", _ADVICE, class_="small dim"),
    )
    return f'<!doctype html>\n<html lang="en">{element("head", head)}\n{body_element}</html>\n'


_ADVICE = "What stands together is advice: what most agree on is not thereby right."


# --- blocks --------------------------------------------------------------------------------------

_MOST_CHARACTERS = 2_000
"""Most characters shown of a line of code."""

_MOST_LINKS = 30
_DIGITS = 12
"""Most members whose similarities stand in the picture, too."""


def blocks_page(blocks: Iterable[PageBlock]) -> str:
    """Return the page of some blocks, of which the first is its title."""
    title, *every = blocks
    every = [
        block if block.kind != "head" or block.id else block._replace(id=f"part-{n}")
        for n, block in enumerate(every)
    ]
    marked = any(block.mark for block in every if block.kind == "head" and not block.depth)
    heads = [
        block for block in every
        if block.kind == "head" and not block.depth and (block.mark or not marked)
    ]  # fmt: skip
    links = (
        element("li", element("a", joined(_cells(block.cells)), href=f"#{block.id}"))
        for block in heads[:_MOST_LINKS]
    )
    return _page(
        title.cells[0].text,
        element("ul", *links),
        element("div", *_cells(title.cells[1:]), *block_parts(every), id="body"),
    )


def block_parts(blocks: Iterable[PageBlock]) -> Iterator[Markup]:
    """Yield blocks as HTML: what is below a heading that begins a part, in a card with it."""
    every = list(blocks)
    card: list[Child] = []
    place = 0
    while place < len(every):
        block, place = every[place], place + 1
        inner: list[PageBlock] = []
        while block.kind == "fold" and place < len(every) and every[place].depth > block.depth:
            inner.append(every[place])
            place += 1
        is_card = block.kind == "head" and bool(block.mark or block.depth == 2)
        if card and block.kind in ("head", *FOOT):
            yield element("article", *card, class_="card")
            card = []
        if is_card:
            badge = element("span", block.mark, class_="badge") if block.mark else ""
            name = "h2" if block.mark else "h4"
            head = element(name, *_cells(block.cells))
            card.append(element("div", badge, head, class_="head", id=block.id or None))
        elif block.kind == "head":
            yield element(f"h{block.depth + 2}", *_cells(block.cells), id=block.id or None)
        elif card or block.kind in ("table", "matrix", "row", "fold"):
            card.append(_block(block, inner))
        else:
            yield _block(block, inner)
    if card:
        yield element("article", *card, class_="card")


_CLASSES = {
    "name": "id", "path": "id", "hunk": "id", "function": "id", "quoted": "id dim",
    "+": "id plus", "-": "id minus", "warning": "minus",
}  # fmt: skip


def _cells(cells: Iterable[Cell]) -> list[Child]:
    return [part for gap, cell in spaced(cells) for part in (gap, _cell(cell))]


def _cell(cell: Cell) -> Markup:
    if cell.link:
        named = element("a", cell.text, href=f"#{cell.link}", class_="id")
    else:
        name = "b" if cell.style == "name" else "span"
        named = element(name, cell.text, class_=_CLASSES.get(cell.style, cell.style or None))
    return joined([named, cell.behind]) if cell.after else named


def _block(block: PageBlock, inner: Iterable[PageBlock] = ()) -> Markup:
    depth = f"d{block.depth}"
    match block.kind:
        case "code":
            return element("pre", *map(_line, block.lines), class_=depth)
        case "table":
            head, *rows = block.rows
            top = element("tr", *(element("th", cell.text, scope="col") for cell in head))
            body = (
                element(
                    "tr",
                    *(
                        element("td", _cell(cell), class_="n" if cell.style == "number" else None)
                        for cell in row
                    ),
                )
                for row in rows
            )
            table = element("table", element("thead", top), element("tbody", *body))
            return element("div", table, class_="scroll")
        case "matrix":
            return _matrix(block)
        case "names":
            start, *names = map(_cell, block.cells)
            listed = [part for name in names for part in (", ", name)][1:]
            start_text = [start, ": "] if block.cells[0].text else []
            return element("p", *start_text, *listed, class_=depth)
        case "note" | "rejected":
            return element("p", *_cells(block.cells), class_="small dim")
        case "scores":
            return element(
                "p", "Scores: ", element("code", block.cells[0].text), class_="small dim"
            )
    if block.kind == "fold" and (shown := [*map(_block, inner)]):
        return element("details", element("summary", *_cells(block.cells)), *shown, class_=depth)
    line = _cells(block.cells)
    mark = [element("b", block.mark), " "] if block.mark and not block.depth else []
    return element("p", *mark, *line, class_=depth) if line else Markup()


def _line(line: ShownLine) -> Markup:
    if line.sign in ("=", "\\", "…"):
        return element("span", element("i", line.sign), line.text, class_="dim")
    if len(text := line.text) > _MOST_CHARACTERS:
        text = shortened(text, _MOST_CHARACTERS)
    kind = {"+": "a", "-": "d", ">": "a", "<": "d", " ": "dim"}.get(line.sign)
    parts: list[Child] = []
    position = 0
    for lo, hi in line.marks if text == line.text else ():
        parts += [source(text[position:lo]), element("mark", source(text[lo:hi]))]
        position = hi
    return element("span", element("i", line.number or line.sign), *parts, source(text[position:]),
                   class_=kind)  # fmt: skip


def _matrix(block: PageBlock) -> Markup:
    """Return the picture of the similarities of a group: the darker, the more alike."""
    names = [cell.text for cell in block.cells[:MOST_DRAWN]]
    side, left = 36 if len(names) <= _DIGITS else 16, 190
    parts: list[Markup] = []
    for i, name in enumerate(names):
        y = 22 + side * i
        label = element("text", f"{cut(name, 22)} {i + 1}", x=left - 8, y=y + side // 2 + 4,
                        text_anchor="end", class_="id")  # fmt: skip
        head = element("text", i + 1, x=left + side * i + side // 2, y=14, text_anchor="middle")
        parts += [label, head]
        for j, other in enumerate(names):
            value = float(block.values[i][j])
            pair = element("title", f"{name} and {other}: {digits(value)}")
            x = left + side * j
            shade = str(round(value * 0.9, 2))
            parts.append(element("g", pair, element(
                "rect", x=x, y=y, width=side - 1, height=side - 1, fill_opacity=shade
            )))  # fmt: skip
            if side > 16:
                parts.append(
                    element("text", digits(value), x=x + side // 2, y=y + side // 2 + 4,
                            text_anchor="middle", class_="over" if value > 0.8 else None)
                )  # fmt: skip
    width, height = left + side * len(names) + 2, 24 + side * len(names)
    more = len(block.cells) - len(names)
    about = f"Similarities of {len(names):,} members" + f", {more:,} more are not drawn" * (
        more > 0
    )
    drawn = element("svg", *parts, viewBox=f"0 0 {width} {height}", width=width, role="img",
                    aria_label=about, class_="matrix")  # fmt: skip
    return element("figure", drawn, element("figcaption", about))
