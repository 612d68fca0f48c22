"""A review as a page: who agrees, then each file hunk by hunk, as code. One file, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise_server.report.families import FamilyBlock, listed_facts
from excise_server.report.html_page import Child, Markup, element, joined, page, source
from excise_server.report.review_parts import (
    NOTHING,
    Folding,
    HunkLines,
    ShownBatch,
    ShownLine,
    between_tasks,
    heading,
    idle,
)
from excise_server.report.words import place_words
from excise_server.wire import documents as d

_LINKS = 12
"""Most links to hunks in a row of the table."""


def review_page(document: d.ReviewDocument, folding: Folding) -> str:
    """Return the page of a review."""
    parts = []
    links = []
    for batch in document.batches:
        hunks = HunkPage(ShownBatch(document, batch, folding))
        links.append(element("li", element("a", hunks.shown.head, href=f"#{hunks.name}")))
        parts.append(_batch(hunks))
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


def _facts(document: d.ReviewDocument) -> Iterator[str]:
    yield from document.notes
    for head, ids in idle(document):
        yield f"{head}: {', '.join(ids)}"
    for rejected in document.rejected:
        yield f"Left out: {rejected.id}: {rejected.reason}"
    for line in between_tasks(document):
        yield f"Between tasks: {line}"
    if count := sum(map(len, document.other_batches)):
        yield f"Not shown: {count:,} of other tasks"


def _batch(hunks: HunkPage) -> Markup:
    shown, batch = hunks.shown, hunks.shown.batch
    files = [
        element(
            "li",
            element("a", file.path, href=f"#{hunks.file_id(index)}", class_="id"),
            element("span", shown.file_head(file), class_="dim small"),
        )
        for index, file in enumerate(batch.files)
    ]
    return element(
        "section",
        element("h2", shown.head),
        *(element("p", line, class_="small") for line in shown.order),
        *(_family(family, hunks) for family in shown.families(most=None)),
        element("h3", f"Files ({len(files):,})", id=f"{hunks.name}-files"),
        element("ul", *files, class_="files"),
        *map(hunks.file, range(len(batch.files))),
        id=hunks.name,
    )


def _family(family: FamilyBlock, hunks: HunkPage) -> Markup:
    """Return a family: what tells it apart, and its candidates edit by edit."""
    candidates = {candidate.id: candidate for candidate in hunks.shown.batch.candidates}
    rows = [
        element(
            "li",
            *_row(candidates[identity], edit.relations[edit.ids.index(identity)], hunks),
            _changed_lines([edit.line]) if edit.line and identity == edit.ids[-1] else "",
        )
        for edit in family.edits
        for identity in edit.ids
    ]
    head = element("div", element("h3", family.head), class_="head")
    lines = _changed_lines(family.lines) if family.lines else ""
    return element("article", head, lines, element("ul", *rows, class_="who"), class_="card")


def _changed_lines(lines: Sequence[str]) -> Markup:
    kinds = ("a" if line.startswith("+") else "d" for line in lines)
    spans = (
        element("span", source(line), class_=kind) for line, kind in zip(lines, kinds, strict=True)
    )
    return element("pre", *spans, class_="small")


def _row(candidate: d.ReviewCandidateEntry, relation: str, hunks: HunkPage) -> Iterator[Child]:
    """Yield a candidate: its name, what is known of it, its hunks, and small its rank."""
    yield element("b", candidate.label, id=hunks.candidate_id(candidate.id), class_="id")
    about = [*([relation] if relation else []), *hunks.facts[candidate.id]]
    if candidate.branch and candidate.branch != candidate.label:
        about.append(candidate.branch)
    if candidate.behind:
        about.append(f"behind {candidate.behind:,}")
    about += ["still being written"] if candidate.being_written else []
    about += [note for note in candidate.notes if note not in about]
    yield element("span", f" {'; '.join(about)}", class_="small")
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

    def __init__(self, shown: ShownBatch) -> None:
        self.shown, self.name = shown, f"b{shown.batch.number}"
        self.facts = listed_facts(shown.batch)
        self._numbers = {identity: index for index, identity in enumerate(shown.labels)}

    def candidate_id(self, identity: str) -> str:
        """Return the id of the row of a candidate."""
        return f"{self.name}-c{self._numbers[identity]}"

    def file_id(self, index: int) -> str:
        """Return the id of a file."""
        return f"{self.name}-f{index}"

    def links(self, identity: str) -> list[tuple[str, str]]:
        """Return id and text of links to every hunk that a candidate changes, or to its files."""
        links = []
        for index, file in enumerate(self.shown.batch.files):
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
        shown, file = self.shown, self.shown.batch.files[index]
        head = element(
            "h3",
            element("span", file.path, class_="id"),
            element("span", shown.file_head(file), class_="dim small"),
            id=self.file_id(index),
            class_="file",
        )
        facts = [
            element("li", f"{fact}: {', '.join(labels)}") for fact, labels in shown.file_facts(file)
        ]
        parts: list[Child] = [element("ul", *facts, class_="small")] if facts else []
        hunks = [
            self._hunk(hunk, f"{self.file_id(index)}-h{number}", file)
            for number, hunk in enumerate(file.hunks)
        ]
        if shown.is_folded(file) and hunks:
            hunks = [_fold(f"Generated: {len(hunks):,} hunks", *hunks, class_="card fold")]
        if deleted := shown.deleted_lines(file):
            lines = self._lines(deleted, "d")
            hunks.append(_fold("The file that they delete", lines, class_="card fold hunk"))
        return element("section", head, *parts, *hunks)

    def _hunk(self, hunk: d.ReviewHunkEntry, name: str, file: d.ReviewFileEntry) -> Markup:
        shown = self.shown.hunk(hunk)
        where = place_words(hunk.lo, hunk.hi)
        title = f"{where[:1].upper()}{where[1:]}"
        texts = self._texts(hunk, shown)
        if shown.agreed:
            return _fold(f"{title}: {shown.agreed}", *texts, class_="card fold hunk", id=name)
        head = element(
            "div",
            element("span", title),
            element("span", f"{file.path}#{hunk.name}", class_="id dim"),
            class_="head",
        )
        return element("article", head, *texts, class_="card hunk", id=name)

    def _texts(self, hunk: d.ReviewHunkEntry, shown: HunkLines) -> Iterator[Child]:
        """Yield the reference, then each other text below its candidates."""
        reference = shown.reference
        if not shown.is_against_origin:
            yield self._who(self.shown.share(reference.ids), reference.ids)
        if reference.lines:
            yield self._lines(reference.lines, "d")
        for words, ids, lines in self.shown.texts_beside(hunk, shown):
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
            for identity, label in self.shown.labels.items()
            if identity in chosen
        ]
        return element("div", element("b", words), *links, class_="variant")

    def _lines(self, lines: Sequence[ShownLine], kind: str) -> Markup:
        return element("pre", *(_line(line, kind) for line in self.shown.folded(lines)))


def _fold(title: str, *children: Child, **attributes: Child) -> Markup:
    return element("details", element("summary", element("span", title)), *children, **attributes)


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
