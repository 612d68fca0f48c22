"""HTML from parts, and the page around a report: one file, no script, nothing from elsewhere.

`element` takes texts and other elements: any `str` is escaped, here and nowhere else, and only
`Markup` stays markup. Names of elements and attributes are our own.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable

from excise_server.foundation.escape import printable

_VOID = frozenset({"meta", "img", "br", "rect", "path", "line"})


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
        return Markup(
            f"<{name}{rendered}>" if name in ("meta", "img", "br") else f"<{name}{rendered}/>"
        )
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
  --del: #fdeceb; --heat: #fff; --code: #f3f5f7 }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f1318; --card: #171c23; --text: #e4e9ef; --dim: #98a3b0; --line: #2c3440;
    --accent: #74b6ff; --good: #57c46d; --bad: #ff8d82; --add: #14301d; --del: #3a1b1a;
    --heat: #10151b; --code: #10151b } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
main, header, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px }
header { padding-top: 28px }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -.01em }
h2 { font-size: 18px; margin: 32px 0 12px }
h3 { font-size: 15px; margin: 0; overflow-wrap: anywhere }
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
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0 0; padding: 0 }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 16px; min-width: 110px }
.facts dt { font-size: 13px }
.facts dd { margin: 0; font-size: 22px; font-weight: 600; line-height: 1.25;
  font-variant-numeric: tabular-nums }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  margin: 0 0 14px; overflow: hidden }
.card > .head { padding: 12px 16px; display: flex; gap: 12px; align-items: baseline }
.badge { flex: none; min-width: 30px; text-align: center; border-radius: 6px; padding: 1px 8px;
  background: var(--accent); color: var(--card); font-weight: 600;
  font-variant-numeric: tabular-nums }
.card > .head p { margin: 2px 0 0 }
figure { margin: 0; padding: 16px }
.scroll { overflow-x: auto }
.split { display: grid; grid-template-columns: minmax(0, 440px) minmax(200px, 1fr); gap: 16px 28px }
.ticks { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; text-align: center;
  color: var(--dim); font-size: 12px; margin: -2px 0 12px }
.largest { list-style: none; padding: 0; margin: 0 }
.largest li { display: flex; gap: 10px; padding: 2px 0 }
.largest b { flex: none; min-width: 2.2em; text-align: right; color: var(--text) }
.largest a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
figcaption { min-width: 0 }
caption { padding-top: 6px }
.heat img { display: block; width: 100%; image-rendering: pixelated; background: var(--heat);
  border: 1px solid var(--line) }
.heat svg { display: block; width: 100%; height: 76px; margin-bottom: 3px }
.tree { fill: none; stroke: var(--dim); stroke-width: 1; vector-effect: non-scaling-stroke }
.cut { stroke: var(--bad); stroke-dasharray: 4 3; vector-effect: non-scaling-stroke }
.band0 { fill: var(--accent) } .band1 { fill: var(--dim) }
.legend { width: 120px; height: 12px; border: 1px solid var(--line); vertical-align: -2px;
  background: var(--heat) }
table { border-collapse: collapse }
caption { text-align: left; color: var(--dim); font-size: 13px; padding-bottom: 6px }
th, td { text-align: left; vertical-align: baseline; padding: 5px 10px;
  border-top: 1px solid var(--line) }
thead th { border-top: 0; color: var(--dim); font-weight: 500; font-size: 13px }
tbody th { font-weight: 400 }
.wide { width: 100% } .says { min-width: 15em }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.grid th, .grid td { border: 1px solid var(--line); padding: 4px 8px }
.grid td { text-align: center; font-variant-numeric: tabular-nums; min-width: 46px }
.h1 { background: rgb(11 92 173 / 10%) } .h2 { background: rgb(11 92 173 / 22%) }
.h3 { background: rgb(11 92 173 / 38%) } .h4 { background: rgb(11 92 173 / 58%) }
.h5 { background: rgb(11 92 173 / 85%); color: #fff }
.bar rect { fill: var(--line) } .bar .on { fill: var(--accent) }
.bar { vertical-align: middle; margin-left: 8px }
details { border-top: 1px solid var(--line) }
summary { padding: 8px 16px; cursor: pointer; display: grid; gap: 4px 12px; align-items: baseline;
  grid-template-columns: 14px 138px minmax(160px, 3fr) minmax(160px, 5fr) }
summary::before { content: "\\25b8"; color: var(--dim) }
details[open] > summary::before { content: "\\25be" }
summary:hover { background: var(--code) }
summary:focus-visible { outline-offset: -2px }
.stands { color: var(--good); font-weight: 600 }
.inner { padding: 4px 16px 16px 42px }
.flat { padding: 8px 6px }
.flat caption { padding-left: 10px }
.inner dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 0 0 12px;
  font-size: 13px }
.inner dd { margin: 0; overflow-wrap: anywhere }
.diff { width: 100%; table-layout: fixed; margin: 0 0 12px; border: 1px solid var(--line) }
.diff th { font-size: 12.5px; background: var(--code); overflow-wrap: anywhere }
.diff td { padding: 0; vertical-align: top; border-left: 1px solid var(--line) }
pre { margin: 0; padding: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
pre span { display: block; padding: 0 10px }
pre .a { background: var(--add) } pre .d { background: var(--del) }
.none { padding: 4px 10px; color: var(--dim); font-style: italic; font-size: 13px }
.plus { color: var(--good) } .minus { color: var(--bad) }
footer { padding-top: 24px; padding-bottom: 40px }
@media (max-width: 760px) { .split { grid-template-columns: 1fr }
  summary { grid-template-columns: 14px 1fr } .inner { padding-left: 16px }
  summary > * { grid-column: 2 } summary > :empty { display: none }
  main, header, footer { padding-left: 14px; padding-right: 14px } }
@media print { details > * { display: block } body { background: #fff } }
"""

_POLICY = (
    "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def page(
    title: str,
    links: Markup,
    body: Markup,
    foot: Child,
    *,
    skip: tuple[str, str] = ("clusters", "Skip to the clusters"),
    more_style: str = "",
) -> str:
    """Return a complete document: a title, links to its parts, its body, and a line at its end.

    - ``skip``: the target of the first link, which skips the header: an id, and the words of the
      link.
    - ``more_style``: CSS rules of this page, after those of all pages.
    """
    style = f"{STYLE}{more_style}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    head = joined(
        (
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY.format(digest)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", title),
            # Our own rules, not text of others: nothing in them needs an escape.
            Markup(f"<style>{style}</style>"),
        )
    )
    body_element = element(
        "body",
        element("a", skip[1], href=f"#{skip[0]}", class_="skip"),
        element("header", element("h1", title), element("nav", links, aria_label="Parts")),
        element("main", body),
        element("footer", foot, class_="small dim"),
    )
    return f'<!doctype html>\n<html lang="en">{element("head", head)}\n{body_element}</html>\n'
