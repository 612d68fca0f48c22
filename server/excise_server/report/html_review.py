"""A review as a page: who agrees, then each file hunk by hunk, as code. One file, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise_server.report.html_page import Child, Markup, element, joined, page, source
from excise_server.report.reasons import reasons_text
from excise_server.report.review import (
    ReviewBatchEntry,
    ReviewCandidateEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewGroupEntry,
    ReviewHunkEntry,
)
from excise_server.report.review_parts import (
    NOTHING,
    ORIGIN,
    Folding,
    HunkLines,
    Names,
    ShownLine,
    agreed,
    batch_head,
    file_facts,
    file_head,
    file_lines,
    folded,
    heading,
    hunk_lines,
    idle,
    is_deleted_by_all,
    order_lines,
    range_words,
    texts_beside,
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
        joined(
            joined((f"{name} ", element("code", value), ". "))
            for name, value in (
                ("Origin", document.origin),
                ("digest", document.digest),
                ("scores", document.signature),
            )
        ),
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
            for name, text in links[:_LINKS]
            for child in (" ", element("a", text, href=f"#{name}", class_="id"))
        )
        yield element("div", "changes", shown, more, class_="small")
    if candidate.rank is not None:
        yield element("div", f"rank {candidate.rank}", class_="small dim")


STYLE = """
:root { --add-mark: #a9dfb5; --del-mark: #f6bdb8 }
@media (prefers-color-scheme: dark) { :root { --add-mark: #23663a; --del-mark: #7a2f2b } }
ul.who, ul.files { list-style: none; margin: 0; padding: 0 }
ul.who li { padding: 8px 16px; border-top: 1px solid var(--line) }
ul.who a { white-space: nowrap; margin-right: 6px }
ul.files li { padding: 2px 0 }
.file { margin: 28px 0 10px }
.hunk > .head { padding-bottom: 8px; justify-content: space-between; flex-wrap: wrap }
.hunk .variant { padding: 8px 16px 4px; border-top: 1px solid var(--line) }
.hunk .variant a { margin-left: 8px }
.hunk pre { padding: 2px 0 6px; background: none }
.hunk pre span { padding: 0 10px 0 56px; min-height: 1.5em; position: relative }
.hunk pre i { position: absolute; left: 0; width: 46px; text-align: right; font-style: normal;
  color: var(--dim); user-select: none }
.hunk mark { color: inherit; border-radius: 2px }
.a mark { background: var(--add-mark) } .d mark { background: var(--del-mark) }
.fold > summary { grid-template-columns: 14px 1fr }
:target { outline: 2px solid var(--accent) }
@media (max-width: 760px) { .hunk pre span { padding-left: 40px } .hunk pre i { width: 32px } }
"""


class HunkPage:
    """The files of a batch, where `name` begins every id."""

    def __init__(self, batch: ReviewBatchEntry, names: Names, folding: Folding, name: str) -> None:
        """Take the batch, the names of its candidates, and what to fold."""
        self._files, self._names, self._folding = batch.files, names, folding
        self._name = name
        self._numbers = {candidate.id: index for index, candidate in enumerate(batch.candidates)}

    def candidate_id(self, identity: str) -> str:
        """Return the id of the row of a candidate."""
        return f"{self._name}-c{self._numbers[identity]}"

    def file_id(self, index: int) -> str:
        """Return the id of a file."""
        return f"{self._name}-f{index}"

    def links(self, identity: str) -> list[tuple[str, str]]:
        """Return id and text of links to every hunk that a candidate changes, or to its files."""
        links = []
        for index, file in enumerate(self._files):
            if all(change.id != identity for change in file.changes):
                continue
            hunks = [
                (f"{self.file_id(index)}-h{number}", f"{file.path}#{hunk.name}")
                for number, hunk in enumerate(file.hunks)
                if any(identity in variant.ids for variant in hunk.variants)
            ]
            links += hunks or [(self.file_id(index), file.path)]
        return links

    def file(self, index: int) -> Markup:
        """Return a file: what happens to it, and its hunks."""
        file = self._files[index]
        head = element(
            "h3",
            element("span", file.path, class_="id"),
            element("span", file_head(file, self._names), class_="dim small"),
            id=self.file_id(index),
            class_="file",
        )
        facts = [
            element("li", f"{fact}: {', '.join(labels)}")
            for fact, labels in file_facts(file, self._names)
        ]
        parts: list[Child] = [element("ul", *facts, class_="small")] if facts else []
        hunks = [
            self._hunk(hunk, f"{self.file_id(index)}-h{number}", file)
            for number, hunk in enumerate(file.hunks)
        ]
        if file.kind == "generated" and not self._folding.is_whole and hunks:
            title = element("summary", element("span", f"Generated: {len(hunks):,} hunks"))
            hunks = [element("details", title, *hunks, class_="card fold")]
        if file.text and not is_deleted_by_all(file, self._names, self._folding):
            title = element("summary", element("span", "The file that they delete"))
            lines = self._lines(file_lines(file.text), "d")
            hunks.append(element("details", title, lines, class_="card fold hunk"))
        return element("section", head, *parts, *hunks)

    def _hunk(self, hunk: ReviewHunkEntry, name: str, file: ReviewFileEntry) -> Markup:
        shown = hunk_lines(hunk, list(self._names.labels), self._folding.against)
        where = range_words(hunk)
        title = f"{where[:1].upper()}{where[1:]}"
        if shown.is_agreed and not self._folding.is_whole:
            line = f"{title}: {agreed(shown, len(self._names.labels))}"
            summary = element("summary", element("span", line))
            return element("details", summary, *self._texts(hunk, shown), class_="card fold hunk",
                           id=name)  # fmt: skip
        head = element(
            "div",
            element("span", title),
            element("span", f"{file.path}#{hunk.name}", class_="id dim"),
            class_="head",
        )
        return element("article", head, *self._texts(hunk, shown), class_="card hunk", id=name)

    def _texts(self, hunk: ReviewHunkEntry, shown: HunkLines) -> Iterator[Child]:
        """Yield the reference, then each other text below its candidates."""
        reference = shown.reference
        if reference.ids[0] != ORIGIN:
            yield self._who(self._names.share(reference.ids), reference.ids)
        if reference.lines:
            yield self._lines(reference.lines, "d")
        for words, ids, lines in texts_beside(hunk, shown, self._names):
            if ids:
                yield self._who(words, ids)
            else:
                capitalised = f"{words[:1].upper()}{words[1:]}"
                yield element("div", capitalised, class_="variant dim small")
            if lines:
                yield self._lines(lines, "a")

    def _who(self, words: str, ids: Sequence[str]) -> Markup:
        chosen = set(ids)
        links = [
            element("a", label, href=f"#{self.candidate_id(identity)}", class_="id")
            for identity, label in self._names.labels.items()
            if identity in chosen
        ]
        return element("div", element("b", words), *links, class_="variant")

    def _lines(self, lines: Sequence[ShownLine], kind: str) -> Markup:
        return element("pre", *(_line(line, kind) for line in folded(lines, self._folding)))


def _line(line: ShownLine | int, kind: str) -> Markup:
    if isinstance(line, int):
        return element("span", element("i", "…"), f"{line:,} more lines", class_="dim")
    if line.sign in ("=", "\\"):
        return element("span", element("i", line.sign), line.text, class_="dim")
    number = element("i", line.number or line.sign)
    if line.sign == " ":
        return element("span", number, source(line.text), class_="dim")
    parts: list[Child] = []
    position = 0
    for lo, hi in line.marks:
        parts += [source(line.text[position:lo]), element("mark", source(line.text[lo:hi]))]
        position = hi
    return element("span", number, *parts, source(line.text[position:]), class_=kind)
