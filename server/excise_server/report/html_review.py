"""A review as a page: who agrees, then each file hunk by hunk. One file, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise_server.report.group_words import reasons_text
from excise_server.report.html_hunks import STYLE, HunkPage
from excise_server.report.html_page import page
from excise_server.report.markup import Child, Markup, element, joined
from excise_server.report.review_lines import Folding
from excise_server.report.review_shapes import (
    ReviewBatchEntry,
    ReviewCandidateEntry,
    ReviewDocument,
    ReviewGroupEntry,
)
from excise_server.report.review_words import (
    NOTHING,
    Names,
    batch_head,
    file_head,
    heading,
    idle,
    order_lines,
)

__all__ = ["review_page"]

_LINKS = 12
"""Most links to hunks in a row of the table."""


def review_page(document: ReviewDocument, folding: Folding) -> str:
    """Return the page of a review."""
    parts = []
    links = []
    for batch in document.batches:
        title = batch_head(document, batch)
        name = f"b{batch.number}"
        links.append(element("li", element("a", title, href=f"#{name}")))
        parts.append(_batch(document, batch, title, name, folding))
    if not document.batches:
        parts.append(element("p", NOTHING))
    if facts := list(_facts(document)):
        links.append(element("li", element("a", f"Notes ({len(facts):,})", href="#notes")))
        notes = element("ul", *(element("li", fact) for fact in facts), class_="small")
        parts.append(element("section", element("h2", "Notes"), notes, id="notes"))
    return page(
        heading(document),
        # A single link would repeat the head right below it.
        element("ul", *links) if len(links) > 1 else joined(()),
        joined(parts),
        _foot(document),
        skip=(f"b{document.batches[0].number}-files", "Skip to the hunks")
        if document.batches
        else ("notes", "Skip to the notes"),
        more_style=STYLE,
    )


def _facts(document: ReviewDocument) -> Iterator[str]:
    yield from document.notes
    for head, ids in idle(document):
        yield f"{head}: {', '.join(ids)}"
    for rejected in document.rejected:
        yield f"Left out: {rejected.id}: {rejected.reason}"
    if count := sum(map(len, document.other_batches)):
        yield f"Not shown: {count:,} of other batches"


def _foot(document: ReviewDocument) -> Markup:
    values = (
        ("Origin", document.origin),
        ("digest", document.digest),
        ("scores", document.signature),
    )
    return joined(joined((f"{name} ", element("code", value), ". ")) for name, value in values)


def _batch(
    document: ReviewDocument, batch: ReviewBatchEntry, title: str, name: str, folding: Folding
) -> Markup:
    names = Names.of(batch)
    hunks = HunkPage(batch, names, folding, name)
    groups = [
        _group(group, [c for c in batch.candidates if c.id in group.members], names, hunks)
        for group in batch.groups
    ]
    files = [
        element(
            "li",
            element("a", file.path, href=f"#{hunks.file_id(index)}", class_="id"),
            element("span", file_head(file, names), class_="dim small"),
        )
        for index, file in enumerate(batch.files)
    ]
    return element(
        "section",
        element("h2", title),
        *(element("p", line, class_="small") for line in order_lines(document, batch)),
        *groups,
        element("h3", f"Files ({len(files):,})", id=f"{name}-files"),
        element("ul", *files, class_="files"),
        *(hunks.file(index) for index in range(len(batch.files))),
        id=name,
    )


def _group(
    group: ReviewGroupEntry,
    candidates: Sequence[ReviewCandidateEntry],
    names: Names,
    hunks: HunkPage,
) -> Markup:
    reasons = reasons_text(group.reasons, group.members, names.labels)
    head = element(
        "div",
        element("span", group.number, class_="badge"),
        element(
            "div",
            element("h3", f"{names.share(group.members)} candidates"),
            element("p", reasons, class_="small") if reasons else "",
        ),
        class_="head",
    )
    rows = [element("li", *_row(candidate, hunks)) for candidate in candidates]
    return element("article", head, element("ul", *rows, class_="who"), class_="card")


def _row(candidate: ReviewCandidateEntry, hunks: HunkPage) -> Iterator[Child]:
    """Yield a candidate: its name, its relation to the others, its hunks, and small its numbers."""
    yield element("b", candidate.label, id=hunks.candidate_id(candidate.id), class_="id")
    about = [candidate.says]
    if candidate.branch and candidate.branch != candidate.label:
        about.append(candidate.branch)
    if candidate.behind:
        about.append(f"behind {candidate.behind:,}")
    about += ["still being written"] if candidate.being_written else []
    about += [note for note in candidate.notes if note not in about]
    yield element("span", f" {', '.join(about)}", class_="small")
    links = hunks.links(candidate.id)
    if links:
        more = f" and {len(links) - _LINKS:,} more" if len(links) > _LINKS else ""
        shown = joined(
            child
            for link in links[:_LINKS]
            for child in (" ", element("a", link.text, href=f"#{link.id}", class_="id"))
        )
        yield element("div", "changes", shown, more, class_="small")
    if candidate.rank is not None:
        yield element("div", f"rank {candidate.rank}", class_="small dim")
