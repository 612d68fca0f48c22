"""Answers made from the documents of the commands, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, SAME
from excise_server.foundation.inputs import first_few
from excise_server.mcp.answers import (
    BatchAnswer,
    CandidateAnswer,
    CandidatesAnswer,
    FileAnswer,
    GroupAnswer,
    HunkAnswer,
    ReviewAnswer,
    TakeAnswer,
    VariantAnswer,
)

__all__ = ["PAGE_CANDIDATES", "PAGE_CHARACTERS", "candidates_page", "review_page", "take_answer"]

PAGE_CANDIDATES = 8
PAGE_CHARACTERS = 12_000
"""Characters of code on a page of a review, about 4,000 tokens; one hunk may take a whole page."""

_PHRASES = {
    SAME: "the same as",
    CONTAINS: "contains, or is contained in,",
    ELSEWHERE: "the same text at another place as",
    OVERLAPS: "overlaps",
    DIFFERENT: "different from, though near,",
}
_MOST_FILES = 6
_MOST_NOTES = 4
_MOST_FACTS = 4
_LETTERS = {"created": "A", "deleted": "D", "renamed": "R", "modified": "M"}

Document = Mapping[str, Any]


def candidates_page(document: Document, page: int) -> CandidatesAnswer:
    """Return a page of what `excise worktrees --json` prints, counted from 1."""
    ranking = document["ranking"]
    pages = max(1, -(-len(ranking) // PAGE_CANDIDATES))
    page = min(page, pages)
    shown = ranking[(page - 1) * PAGE_CANDIDATES : page * PAGE_CANDIDATES]
    return CandidatesAnswer(
        repository=document["repository"],
        origin=document["origin"],
        batches=[
            _batch(batch, members, document["clusters"])
            for batch in document["batches"]
            if (members := [c for c in shown if c["batch"] == batch["number"]])
        ],
        unchanged=document["unchanged"] if page == 1 else [],
        rejected=[f"{r['id']}: {r['reason']}" for r in document["rejected"]] if page == 1 else [],
        page=page,
        pages=pages,
    )


def _batch(batch: Document, shown: Sequence[Document], clusters: Sequence[Document]) -> BatchAnswer:
    return BatchAnswer(
        number=batch["number"],
        task=batch["task"],
        size=len(batch["members"]),
        groups=[
            _group(number, clusters[number - 1])
            for number in sorted({candidate["cluster"] for candidate in shown})
        ],
        candidates=[
            _candidate(candidate, clusters[candidate["cluster"] - 1]["representative"])
            for candidate in shown
        ],
    )


def _group(number: int, cluster: Document) -> GroupAnswer:
    size = len(cluster["members"])
    facts = [
        reason["text"]
        if len(reason["members"]) == size
        else f"{first_few(reason['members'])}: {reason['text']}"
        for reason in cluster["reasons"]
    ]
    return GroupAnswer(number=number, size=size, facts=_some(facts, _MOST_FACTS, "facts"))


def _candidate(candidate: Document, representative: str) -> CandidateAnswer:
    files = [
        f"{_LETTERS.get(file['status'], file['status'])} {file['path']} "
        f"+{file['added']} -{file['deleted']}"
        for file in candidate["files"]
    ]
    conflicts = [f"the target changed {c['path']}, too" for c in candidate["conflicts"]]
    return CandidateAnswer(
        id=candidate["id"],
        label=candidate["label"],
        group=candidate["cluster"],
        rank=candidate["rank"],
        says=_says(candidate, representative),
        files=_some(files, _MOST_FILES, "files"),
        notes=_some([*conflicts, *candidate["notes"]], _MOST_NOTES, "notes"),
    )


def _says(candidate: Document, representative: str) -> str:
    """Say how a candidate relates to the representative of its group."""
    if candidate["id"] == representative:
        return "represents its group"
    return f"{_PHRASES[candidate['word']]} {representative}"


def _some(lines: Sequence[str], most: int, noun: str) -> list[str]:
    if len(lines) <= most:
        return list(lines)
    return [*lines[:most], f"and {len(lines) - most} more {noun}"]


def review_page(document: Document, batch: int, path: str, page: int) -> ReviewAnswer | None:
    """Return a page of the output of `excise review --format json`, or None for an unknown batch.

    Parameters
    ----------
    path
        The only file to show, or empty for all.
    """
    chosen = next((b for b in document["batches"] if b["number"] == batch), None)
    if chosen is None:
        return None
    pages = list(_paged(file for file in chosen["files"] if path in ("", file["path"])))
    page = min(page, max(1, len(pages)))
    return ReviewAnswer(
        batch=batch,
        task=chosen["task"],
        digest=chosen["digest"],
        files=pages[page - 1] if pages else [],
        page=page,
        pages=max(1, len(pages)),
        batches=len(document["batches"]),
    )


def _paged(files: Iterable[Document]) -> Iterable[list[FileAnswer]]:
    """Cut files into pages, between two hunks."""
    page: list[FileAnswer] = []
    room = PAGE_CHARACTERS
    for file in files:
        hunks: list[HunkAnswer] = []
        for hunk in map(_hunk, file["hunks"]):
            size = _size(hunk)
            if size > room and (hunks or page):
                if hunks:
                    page.append(FileAnswer(path=file["path"], facts=_facts(file), hunks=hunks))
                yield page
                page, hunks, room = [], [], PAGE_CHARACTERS
            hunks.append(hunk)
            room -= size
        page.append(FileAnswer(path=file["path"], facts=_facts(file), hunks=hunks))
    if page:
        yield page


def _size(hunk: HunkAnswer) -> int:
    return len(hunk.origin) + sum(len(variant.text) + 40 for variant in hunk.variants)


def _hunk(hunk: Document) -> HunkAnswer:
    """Return a hunk, with only the beginning of each text if it is longer than a page."""
    texts = [hunk["origin"], *(variant["text"] for variant in hunk["variants"])]
    most = PAGE_CHARACTERS // len(texts)
    shortened = [text if len(text) <= most else f"{text[:most]}\n[cut]\n" for text in texts]
    return HunkAnswer(
        lines=hunk["name"],
        origin=shortened[0],
        variants=[
            VariantAnswer(candidates=variant["ids"], text=text)
            for variant, text in zip(hunk["variants"], shortened[1:], strict=True)
        ],
        unchanged=hunk["unchanged"],
        left_out=sum(max(0, len(text) - most) for text in texts),
    )


def _facts(file: Document) -> list[str]:
    """Return the changes other than text, each with its candidates."""
    ids_by_fact: dict[str, list[str]] = {}
    for change in file["changes"]:
        facts = [change["status"]] if change["status"] != "modified" else []
        if change["status"] == "renamed":
            facts = [f"renamed to {change['path']}"]
        facts += [*change["facts"], *(["the target changed it, too"] if change["conflict"] else [])]
        for fact in facts:
            ids_by_fact.setdefault(fact, []).append(change["id"])
    return [f"{fact}: {first_few(ids)}" for fact, ids in ids_by_fact.items()]


def take_answer(document: Document) -> TakeAnswer:
    """Return the output of `excise take --json`, without the parts that the caller knows."""
    return TakeAnswer(
        origin=document["origin"],
        files=[f"{_LETTERS.get(file['status'], '?')} {file['path']}" for file in document["files"]],
        patch=document["patch"],
        base64=document["base64"],
        notes=document["notes"],
    )
