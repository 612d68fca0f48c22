"""Clusters as a page: the parts that all reports share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from excise_server.report.html_members import Budget, alone_card, cluster_card
from excise_server.report.html_model import Report
from excise_server.report.html_page import page
from excise_server.report.html_picture import picture_part
from excise_server.report.markup import Child, Markup, element, joined

__all__ = ["MAX_OPENED", "render", "table"]

MAX_OPENED = 2_500
"""Most members whose blocks are in the page at all."""


def render(report: Report) -> str:
    """Return the page."""
    several = [group for group in report.groups if len(group.items) > 1]
    alone = [group.items[0] for group in report.groups if len(group.items) == 1]
    opened = Budget(MAX_OPENED)
    parts = list(report.before)
    if report.picture is not None and len(report.picture.names) > 1:
        parts.append(("map", "Similarities", picture_part(report, report.picture)))
    cards = joined(
        cluster_card(index, group, opened) for index, group in enumerate(several, start=1)
    )
    nothing = element("p", f"No two {report.what} are alike.", class_="dim")
    parts.append(("clusters", f"Clusters ({len(several):,})", cards or nothing))
    if alone:
        parts.append(("alone", f"Alone ({len(alone):,})", alone_card(alone, opened)))
    if report.rejected:
        rows = [[name, reason] for name, reason in report.rejected]
        rejected = table("What could not be compared, and why", ("name", "reason"), rows)
        parts.append(("rejected", f"Left out ({len(rows):,})", rejected))
    if notes := [*report.notes, *opened.notes(report.what)]:
        listed = element("ul", *(element("li", note) for note in notes), class_="small")
        parts.append(("notes", f"Notes ({len(notes):,})", listed))
    links = element(
        "ul", *(element("li", element("a", title, href=f"#{name}")) for name, title, _ in parts)
    )
    sections = (_section(*part) for part in parts)
    return page(
        report.title,
        links,
        joined((_facts(report.facts), *sections)),
        joined(("Every score under ", element("code", report.signature), ". ", _ADVICE)),
    )


_ADVICE = "The clusters are advice: what most agree on is not thereby right."


def _section(name: str, title: str, inner: Markup) -> Markup:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, inner, id=name, aria_labelledby=f"{name}-title")


def _facts(facts: Iterable[tuple[str, str]]) -> Markup:
    boxes = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    return element("dl", *boxes, class_="facts")


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
