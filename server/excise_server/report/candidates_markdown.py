"""The candidates of a repository as a page of Markdown, made from their document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from excise_server.foundation.escape import printable, shortened
from excise_server.report.markdown import LONGEST_PAGE, bounded, code_span, inert
from excise_server.report.words import plural

__all__ = ["candidates_page"]

_LETTERS = {"created": "A", "deleted": "D", "renamed": "R", "modified": "M"}
_MOST_FILES = 50
_LONGEST_END = 4_000
_WAY = "the terminal's excise worktrees has them all"

Document = Mapping[str, Any]


def candidates_page(document: Document) -> str:
    """Return the tasks, their groups in order, each candidate with its files, and those left out.

    Parameters
    ----------
    document
        The answer of `excise/candidates`.
    """
    count = len(document["ranking"])
    parts = [f"# {plural(count, 'candidate')} for {code_span(document['repository'])}"]
    blocks = (block for batch in document["batches"] for block in _batch(document, batch))
    parts += bounded(blocks, LONGEST_PAGE, _WAY)
    if not count:
        parts.append("No candidate changes anything.")
    left_out = [f"{inert(c['label'])} is {c['state']}" for c in document["set_aside"]]
    left_out += [f"{code_span(r['id'])}: {inert(r['reason'])}" for r in document["rejected"]]
    left_out += [f"{code_span(name)} changes nothing" for name in document["unchanged"]]
    left_out += [
        f"all of {code_span(name)} is in the target already" for name in document["landed"]
    ]
    if left_out:
        lines = (f"- {line}" for line in left_out)
        parts += ["## Left out", "\n".join(bounded(lines, _LONGEST_END, _WAY))]
    about = (("Origin", document["origin"]), ("Scores", document["signature"]))
    parts.append("\n".join(f"- {name}: {code_span(value)}" for name, value in about))
    return "\n\n".join([*parts, ""])


def _batch(document: Document, batch: Document) -> Iterator[str]:
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
        yield "\n".join(bounded(shown, LONGEST_PAGE // 2, _WAY))


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
    about = bounded(about, _LONGEST_END, _WAY)
    label = inert(shortened(printable(candidate["label"]), 120))
    yield f"- **{label}** ({code_span(candidate['id'])}): {', '.join(about)}"
    files = candidate["files"]
    for file in files[:_MOST_FILES]:
        counts = f"+{file['added']} -{file['deleted']}"
        yield f"  - {_LETTERS.get(file['status'], '?')} {code_span(file['path'])} {counts}"
    if (rest := len(files) - _MOST_FILES) > 0:
        yield f"  - and {rest} more files"
