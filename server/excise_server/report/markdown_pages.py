"""Pages of Markdown, inert: candidates, a review; made from their documents alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from excise.languages import resolve
from excise_server.foundation.escape import printable, shortened, source_text
from excise_server.report.markdown import (
    LONGEST_LINE,
    LONGEST_PAGE,
    bounded,
    code_span,
    fenced,
    inert,
)
from excise_server.report.review_parts import (
    NOTHING,
    Folding,
    ShownBatch,
    ShownLine,
    between_tasks,
    heading,
    idle,
)
from excise_server.report.words import LETTERS, place_words, plural, relation_lines
from excise_server.wire import documents as d

_LONGEST_END = 4_000
_MOST_FILES = 50

# --- candidates ----------------------------------------------------------------------------------

_IN_TERMINAL = "the terminal's excise worktrees has them all"

Document = Mapping[str, Any]


def candidates_page(document: Document) -> str:
    """Return the tasks, their groups in order, candidates with their files, and who is left out."""
    count = len(document["ranking"])
    parts = [f"# {plural(count, 'candidate')} for {code_span(document['repository'])}"]
    blocks = (
        block for batch in document["batches"] for block in _batch_of_candidates(document, batch)
    )
    parts += bounded(blocks, LONGEST_PAGE, _IN_TERMINAL)
    if not count:
        parts.append("No candidate changes anything.")
    left_out = [f"{inert(c['label'])} is {c['state']}" for c in document["set_aside"]]
    left_out += [f"{code_span(r['id'])}: {inert(r['reason'])}" for r in document["rejected"]]
    left_out += [f"{code_span(name)} changes nothing" for name in document["unchanged"]]
    left_out += [
        f"all of {code_span(name)} is in the target already" for name in document["landed"]
    ]
    related = msgspec.convert(document["relations"], list[d.RelationEntry])
    labels = {c["id"]: c["label"] for c in document["ranking"]}
    if between := [f"- {inert(line)}" for line in relation_lines(related, labels)]:
        parts += ["## Between tasks", "\n".join(between)]
    if left_out:
        lines = (f"- {line}" for line in left_out)
        parts += ["## Left out", "\n".join(bounded(lines, _LONGEST_END, _IN_TERMINAL))]
    about = (("Origin", document["origin"]), ("Scores", document["signature"]))
    parts.append("\n".join(f"- {name}: {code_span(value)}" for name, value in about))
    return "\n\n".join([*parts, ""])


def _batch_of_candidates(document: Document, batch: Document) -> Iterator[str]:
    several = len(document["batches"]) > 1
    task = f" for {inert(batch['task'])}" if batch["task"] else ""
    members = [c for c in document["ranking"] if c["batch"] == batch["number"]]
    if several or task:
        yield f"## {plural(len(members), 'candidate')}{task}"
    for number in sorted({candidate["cluster"] for candidate in members}):
        group = [candidate for candidate in members if candidate["cluster"] == number]
        facts = "; ".join(reason["text"] for reason in document["clusters"][number - 1]["reasons"])
        if len(group) > 1:
            yield f"### {len(group)} of {len(members)} make similar changes"
        if facts:
            yield f"{inert(facts)}."
        shown = ("\n".join(_candidate(candidate)) for candidate in group)
        yield "\n".join(bounded(shown, LONGEST_PAGE // 2, _IN_TERMINAL))


def _candidate(candidate: Document) -> Iterator[str]:
    about = [
        *map(inert, candidate["why"]),
        *([f"branch {code_span(candidate['branch'])}"] if candidate["branch"] else []),
        *([f"{candidate['behind']} behind"] if candidate["behind"] else []),
        *(f"{kind} +{lines['added']} -{lines['deleted']}" for kind, lines in
          candidate["lines"].items() if lines["files"]),
        *(["still being written"] if candidate["being_written"] else []),
        *([f"checks: {candidate['verdict']}"] if candidate["verdict"] else []),
        *(f"the target changed {code_span(c['path'])}, too" for c in candidate["conflicts"]),
        *map(inert, candidate["notes"]),
    ]  # fmt: skip
    about = bounded(about, _LONGEST_END, _IN_TERMINAL)
    label = inert(shortened(printable(candidate["label"]), 120))
    yield f"- **{label}** ({code_span(candidate['id'])}): {', '.join(about)}"
    files = candidate["files"]
    for file in files[:_MOST_FILES]:
        counts = f"+{file['added']} -{file['deleted']}"
        yield f"  - {LETTERS.get(file['status'], '?')} {code_span(file['path'])} {counts}"
    if (rest := len(files) - _MOST_FILES) > 0:
        yield f"  - and {rest} more files"


# --- a review ------------------------------------------------------------------------------------

_WAY = "excise review with --path GLOB shows some files, with --whole everything"


def review_page(document: d.ReviewDocument, folding: Folding) -> str:
    """Return the review as one Markdown text: for a comment, or for a model that chooses."""
    parts = [f"# {inert(heading(document))}"]
    blocks = (
        block
        for batch in document.batches
        for block in _batch(ShownBatch(document, batch, folding))
    )
    parts += blocks if folding.is_whole else bounded(blocks, LONGEST_PAGE, _WAY)
    if not document.batches:
        parts.append(NOTHING)
    about = [
        f"{head}: {', '.join(bounded(map(code_span, ids), _LONGEST_END // 2, _WAY))}"
        for head, ids in idle(document)
    ]
    about += [f"Left out: {code_span(r.id)}: {inert(r.reason)}" for r in document.rejected]
    about += [f"Between tasks: {inert(line)}" for line in between_tasks(document)]
    about += [f"Note: {inert(note)}" for note in document.notes]
    if not folding.is_whole:
        about = bounded(about, 2 * _LONGEST_END, _WAY)
    about += [f"{name}: {code_span(value)}" for name, value in (
        ("Origin", document.origin), ("Digest", document.digest), ("Scores", document.signature),
    )]  # fmt: skip
    parts.append("\n".join(f"- {line}" for line in about))
    return "\n\n".join(parts)


def _batch(shown: ShownBatch) -> Iterator[str]:
    yield f"## {inert(shown.head)}"
    families = []
    for family in shown.families():
        families.append(f"- **{inert(family.head)}**")
        families += [f"  - {code_span(line)}" for line in family.lines]
        for edit in family.edits:
            names, facts = ", ".join(map(inert, edit.names)), inert("; ".join(edit.facts))
            line = f" {code_span(edit.line)}" if edit.line else ""
            families.append(f"  - {names}{': ' * bool(facts)}{facts}{line}")
    yield "\n".join([*families, *(f"- {inert(line)}" for line in shown.order)])
    for file in shown.batch.files:
        yield from _file(shown, file)


def _who(shown: ShownBatch, start: str, ids: Sequence[str]) -> str:
    labels = ", ".join(map(inert, shown.each(ids)))
    return f"**{start}** {labels}".rstrip()


def _file(shown: ShownBatch, file: d.ReviewFileEntry) -> Iterator[str]:
    yield f"### {code_span(file.path)}{inert(shown.file_head(file))}"
    facts = [
        f"- {inert(fact)}: {', '.join(map(inert, labels))}"
        for fact, labels in shown.file_facts(file)
    ]
    if facts:
        yield "\n".join(facts)
    if shown.is_folded(file):
        yield f"Generated: {plural(len(file.hunks), 'hunk')} folded."
        return
    for hunk in file.hunks:
        yield from _hunk(shown, file, hunk)
    if lines := shown.deleted_lines(file):
        yield "The file that they delete:"
        yield _code(shown, lines, file)


def _hunk(batch: ShownBatch, file: d.ReviewFileEntry, hunk: d.ReviewHunkEntry) -> Iterator[str]:
    shown = batch.hunk(hunk)
    head = f"{place_words(hunk.lo, hunk.hi)} ({code_span(f'{file.path}#{hunk.name}')})"
    head = f"{head[:1].upper()}{head[1:]}"
    if shown.agreed:
        yield f"{head}: {shown.agreed}"
        return
    if shown.is_against_origin:
        yield f"{head}:"
    else:
        reference = shown.reference.ids
        yield f"{head}, {_who(batch, batch.share(reference), reference)}:"
    if shown.reference.lines:
        yield _code(batch, shown.reference.lines, file)
    for words, ids, lines in batch.texts_beside(hunk, shown):
        yield _who(batch, words, ids) if ids else f"{words[:1].upper()}{words[1:]}."
        if lines:
            yield _code(batch, lines)


def _code(
    batch: ShownBatch, lines: Sequence[ShownLine], file: d.ReviewFileEntry | None = None
) -> str:
    """Return lines of a file, or a ``diff`` that names the lines it repeats from the origin."""
    shown = []
    for line in batch.folded(lines):
        if isinstance(line, int):
            shown.append(f"… {line:,} more lines")
        elif line.sign == "=":
            shown.append(f"@@ {line.text} @@")
        else:
            text = source_text(line.text)
            text = text if batch.folding.is_whole else shortened(text, LONGEST_LINE)
            shown.append(f"{line.sign}{text}")
    return fenced(shown, "diff" if file is None else resolve(None, file.path) or "")
