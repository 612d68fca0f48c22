"""The candidates of a repository as a page of Markdown, made from their document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from excise_server.report.markdown import code_span, inert
from excise_server.report.tables import plural

__all__ = ["candidates_page"]

_LETTERS = {"created": "A", "deleted": "D", "renamed": "R", "modified": "M"}
_MOST_FILES = 50

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
    for batch in document["batches"]:
        parts += _batch(document, batch)
    if not count:
        parts.append("No candidate changes anything.")
    left_out = [f"{inert(c['label'])} is {c['state']}" for c in document["set_aside"]]
    left_out += [f"{code_span(r['id'])}: {inert(r['reason'])}" for r in document["rejected"]]
    left_out += [f"{code_span(name)} changes nothing" for name in document["unchanged"]]
    left_out += [
        f"all of {code_span(name)} is in the target already" for name in document["landed"]
    ]
    if left_out:
        parts += ["## Left out", "\n".join(f"- {line}" for line in left_out)]
    about = (("Origin", document["origin"]), ("Scores", document["signature"]))
    parts.append("\n".join(f"- {name}: {code_span(value)}" for name, value in about))
    return "\n\n".join([*parts, ""])


def _batch(document: Document, batch: Document) -> Iterator[str]:
    several = len(document["batches"]) > 1
    task = f" for {inert(batch['task'])}" if batch["task"] else ""
    members = [c for c in document["ranking"] if c["batch"] == batch["number"]]
    if several or task:
        yield f"## {plural(len(members), 'candidate')}{task}"
    numbers = list(dict.fromkeys(candidate["cluster"] for candidate in members))
    numbers.sort(key=lambda number: -sum(c["cluster"] == number for c in members))
    for number in numbers:
        group = [candidate for candidate in members if candidate["cluster"] == number]
        facts = "; ".join(reason["text"] for reason in document["clusters"][number - 1]["reasons"])
        if len(group) > 1:
            yield f"### {len(group)} of {len(members)} make similar changes"
        if facts:
            yield f"{inert(facts)}."
        yield "\n".join(line for candidate in group for line in _candidate(candidate))


def _candidate(candidate: Document) -> Iterator[str]:
    about = [
        *([f"branch {code_span(candidate['branch'])}"] if candidate["branch"] else []),
        *([f"{candidate['behind']} behind"] if candidate["behind"] else []),
        *(f"{kind} +{lines['added']} -{lines['deleted']}" for kind, lines in
          candidate["lines"].items() if lines["files"]),
        *(["still being written"] if candidate["being_written"] else []),
        *([f"checks: {candidate['verdict']}"] if candidate["verdict"] else []),
        *(f"the target changed {code_span(c['path'])}, too" for c in candidate["conflicts"]),
        *map(inert, candidate["notes"]),
    ]  # fmt: skip
    yield f"- **{inert(candidate['label'])}** ({code_span(candidate['id'])}): {', '.join(about)}"
    yield from _files(candidate["files"])


def _files(files: Sequence[Document]) -> Iterator[str]:
    for file in files[:_MOST_FILES]:
        counts = f"+{file['added']} -{file['deleted']}"
        yield f"  - {_LETTERS.get(file['status'], '?')} {code_span(file['path'])} {counts}"
    if (rest := len(files) - _MOST_FILES) > 0:
        yield f"  - and {rest} more files"
