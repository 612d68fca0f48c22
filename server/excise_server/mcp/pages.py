"""Answers of the tools, made from the documents of the commands, page by page: small, and typed.

A page has at most `PAGE_CHARACTERS` of JSON, whatever the texts of candidates are: names and facts
are cut in their middle, lists end with the number of what is left out and where it is, and what
does not fit is on the next page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, SAME
from excise_server.foundation.escape import hidden_note, json_text, shortened
from excise_server.report.documents import Shape

__all__ = ["PAGE_CHARACTERS", "CandidatesAnswer", "DuplicatesAnswer", "ReviewAnswer"]
__all__ += ["TakeAnswer", "candidates_page", "cut", "duplicates_answer", "review_page"]
__all__ += ["take_answer", "whole_names", "with_hidden"]


class _Answer(Shape, frozen=True, kw_only=True):
    @property
    def sent(self) -> str:
        """The answer as it is sent: JSON without white space, invisible characters escaped."""
        return json_text(msgspec.json.encode(self).decode())


class CandidateAnswer(_Answer, frozen=True, kw_only=True):
    """A candidate: one proposal for the repository, with its own base."""

    id: str
    label: str
    group: int
    """Candidates of one group make similar edits."""
    rank: int | None
    """In its batch, from 1; null if it is alone there."""
    says: str
    """Why it has its rank, and how it relates to the representative of its group."""
    files: list[str]
    """Its changes, `M path +added -deleted`, the first few."""
    notes: list[str]


class GroupAnswer(_Answer, frozen=True, kw_only=True):
    """Candidates that make similar edits, and what sets them apart."""

    number: int
    size: int
    facts: list[str]
    """Facts found in the texts, with ids where they do not apply to the whole group."""


class BatchAnswer(_Answer, frozen=True, kw_only=True):
    """Candidates that work on one task, and their groups."""

    number: int
    task: str | None
    size: int
    disagree: bool
    """No two make the same edit, and the order says little: read, or have your user run them."""
    groups: list[GroupAnswer]
    candidates: list[CandidateAnswer]


class CandidatesAnswer(_Answer, frozen=True, kw_only=True):
    """The candidates of a repository, a page of them."""

    repository: str
    origin: str
    """The commit that all are replayed on."""
    intent: str
    """What the order supposes: `fix` or `change`."""
    batches: list[BatchAnswer]
    unchanged: list[str]
    rejected: list[str]
    more: list[str]
    """What is on later pages."""
    page: int
    pages: int
    hidden: str = ""
    """How many invisible characters are shown escaped, and which."""


class VariantAnswer(_Answer, frozen=True, kw_only=True):
    """One text of a hunk, and the ids of the candidates that have it."""

    candidates: list[str]
    text: str


class HunkAnswer(_Answer, frozen=True, kw_only=True):
    """Lines of the origin, and the candidates' variants."""

    lines: str
    """As `take` names them: `12-14`, `12`, or `11+` for the gap after line 11."""
    origin: str
    variants: list[VariantAnswer]
    more_variants: int = 0
    """Variants that did not fit: your user sees them with `excise review`."""
    unchanged: list[str]
    """Candidates that leave these lines as they are."""
    left_out: int = 0
    """Characters of texts that did not fit: `take` gives them whole, as a patch."""


class FileAnswer(_Answer, frozen=True, kw_only=True):
    """A file that candidates touch, under its path in the origin."""

    path: str
    facts: list[str]
    """Who creates, deletes or renames it, changes its mode, or conflicts with the target."""
    hunks: list[HunkAnswer]


class ReviewAnswer(_Answer, frozen=True, kw_only=True):
    """The review of a batch, one page of it, file by file."""

    batch: int
    task: str | None
    digest: str
    """Of the origin and the candidates: `take` refuses choices for another one."""
    files: list[FileAnswer]
    page: int
    pages: int
    batches: int
    """How many batches there are."""
    hidden: str = ""


class TakeAnswer(_Answer, frozen=True, kw_only=True):
    """A patch of the chosen parts onto the origin. Nothing was written."""

    origin: str
    files: list[str]
    patch: str
    """As git reads it: `git apply`."""
    base64: bool
    """Whether the patch is in base64, as it is not UTF-8."""
    notes: list[str]
    hidden: str = ""


class DuplicateAnswer(_Answer, frozen=True, kw_only=True):
    """Two proposals that may be about one issue."""

    new: str
    """The id of what was asked about: `patch`, or a branch or pull request."""
    other: str
    title: str
    """Of the other one."""
    author: str
    word: str
    probability: float
    """How often such pairs, among the nearest of each, were about one issue."""
    what: float
    where: float
    why: float | None
    """Null if one of the two has no message."""
    same_edit: float
    """How much of the edit itself they share, which is a separate question."""
    otherwise: str
    """Another explanation: one author, a stack, a revert, a backport; otherwise empty."""
    reasons: list[str]
    """Lines that both touch, or change, and words of both messages."""


class DuplicatesAnswer(_Answer, frozen=True, kw_only=True):
    """Pairs that may be about one issue, the most probable first."""

    asked: int
    among: int
    """0: they were compared with each other."""
    pairs: list[DuplicateAnswer]
    left_out: int
    """Pairs that did not fit: ask about fewer branches."""
    notes: list[str]
    rejected: list[str]
    hidden: str = ""


PAGE_CANDIDATES = 8
PAGE_CHARACTERS = 12_000
"""Most characters of a page, about 4,000 tokens; one hunk may take a whole page."""

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
_MOST_IDS = 12
_MOST_VARIANTS = 16
_MOST_TAKEN = 50
_MOST_PAIRS = 20
_MOST_REASONS = 8
# Characters of JSON: what is longer is cut in its middle.
_LABEL, _LINE = 120, 300
_HEAD = 1_500
"""Characters that are kept for the rest of an answer: what it is about, and what is hidden."""
_HIDDEN = 200
"""Characters that are kept for the sentence about invisible ones."""
_LONGEST_ESCAPE = 12
"""Characters of JSON that one character takes at most: two surrogates."""
_LETTERS = {"created": "A", "deleted": "D", "renamed": "R", "modified": "M"}

Document = Mapping[str, Any]


def candidates_page(document: Document, page: int) -> CandidatesAnswer:
    """Return a page of what `excise worktrees --json` prints, counted from 1."""
    items: list[tuple[str, Any]] = [("candidates", entry) for entry in document["ranking"]]
    items += [("unchanged", cut(name)) for name in document["unchanged"]]
    items += [("rejected", cut(f"{r['id']}: {r['reason']}")) for r in document["rejected"]]
    pages = _packed(items, lambda page, item: _added(document, page, item), PAGE_CANDIDATES)
    page = min(page, len(pages))
    shown = [entry for kind, entry in pages[page - 1] if kind == "candidates"]
    return CandidatesAnswer(
        repository=cut(document["repository"]),
        origin=document["origin"],
        intent=document["intent"],
        batches=[
            _batch(batch, members, document["clusters"])
            for batch in document["batches"]
            if (members := [c for c in shown if c["batch"] == batch["number"]])
        ],
        unchanged=[entry for kind, entry in pages[page - 1] if kind == "unchanged"],
        rejected=[entry for kind, entry in pages[page - 1] if kind == "rejected"],
        more=_more(pages, page),
        page=page,
        pages=len(pages),
    )


def _added(document: Document, page: Sequence[tuple[str, Any]], item: tuple[str, Any]) -> int:
    """Return the characters that one more item takes on a page, with its group and its batch."""
    kind, entry = item
    if kind != "candidates":
        return _length(entry)
    before = [earlier for kind, earlier in page if kind == "candidates"]
    batch = next(batch for batch in document["batches"] if batch["number"] == entry["batch"])
    answer = _batch(batch, [entry], document["clusters"])
    if any(earlier["cluster"] == entry["cluster"] for earlier in before):
        return len(answer.candidates[0].sent) + 1
    if any(earlier["batch"] == entry["batch"] for earlier in before):
        return len(answer.candidates[0].sent) + len(answer.groups[0].sent) + 2
    return len(answer.sent) + 1


def _more(pages: Sequence[Sequence[tuple[str, Any]]], page: int) -> list[str]:
    """Say what the later pages have, and on which page it begins."""
    later = [(kind, number) for number in range(page, len(pages)) for kind, _ in pages[number]]
    kinds = dict.fromkeys(kind for kind, _ in later)
    first = {kind: number + 1 for kind, number in reversed(later)}
    counts = {kind: sum(kind == other for other, _ in later) for kind in kinds}
    return [f"and {counts[kind]:,} more {kind}: from page {first[kind]}" for kind in kinds]


Item = TypeVar("Item")


def _packed(
    items: Iterable[Item],
    added: Callable[[Sequence[Item], Item], int],
    most: int | None = None,
) -> list[list[Item]]:
    """Return items in pages; ``added`` gives the characters that one takes on a page with some."""
    pages: list[list[Item]] = [[]]
    room = PAGE_CHARACTERS - _HEAD
    for item in items:
        size = added(pages[-1], item)
        if pages[-1] and (size > room or len(pages[-1]) == most):
            pages.append([])
            room = PAGE_CHARACTERS - _HEAD
            size = added([], item)
        pages[-1].append(item)
        room -= size
    return pages


def _length(text: str) -> int:
    return len(json_text(json.dumps(text, ensure_ascii=False))) + 1


def cut(text: str, most: int = _LINE) -> str:
    """Return a text that takes at most so many characters of JSON, cut in its middle if longer."""
    if len(text) * _LONGEST_ESCAPE < most or (len(text) < most and _length(text) <= most):
        return text
    shorter = (shortened(text, most // share) for share in (1, 2, 4, _LONGEST_ESCAPE))
    return next((fitting for fitting in shorter if _length(fitting) <= most), "")


def _batch(batch: Document, shown: Sequence[Document], clusters: Sequence[Document]) -> BatchAnswer:
    return BatchAnswer(
        number=batch["number"],
        task=batch["task"] and cut(batch["task"]),
        size=len(batch["members"]),
        disagree=batch["disagree"],
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
        else f"{_few(reason['members'])}: {reason['text']}"
        for reason in cluster["reasons"]
    ]
    return GroupAnswer(number=number, size=size, facts=some(facts, _MOST_FACTS, "facts"))


def _few(ids: Sequence[str]) -> str:
    """Return the first of some ids, each whole enough to be recognised."""
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return ", ".join(cut(name, _LABEL) for name in ids[:3]) + more


def _candidate(candidate: Document, representative: str) -> CandidateAnswer:
    files = [
        f"{_LETTERS.get(file['status'], file['status'])} {file['path']} "
        f"+{file['added']} -{file['deleted']}"
        for file in candidate["files"]
    ]
    conflicts = [f"the target changed {c['path']}, too" for c in candidate["conflicts"]]
    relation = "represents its group"
    if candidate["id"] != representative:
        relation = f"{_PHRASES[candidate['word']]} {representative}"
    return CandidateAnswer(
        id=cut(candidate["id"]),
        label=cut(candidate["label"], _LABEL),
        group=candidate["cluster"],
        rank=candidate["rank"],
        says=cut("; ".join([*candidate["why"], relation])),
        files=some(files, _MOST_FILES, "files: see review"),
        notes=some([*conflicts, *candidate["notes"]], _MOST_NOTES, "notes"),
    )


def some(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first of some lines, each cut, and the number of the others."""
    shown = [cut(line) for line in lines[:most]]
    return [*shown, f"and {len(lines) - most:,} more {noun}"] if len(lines) > most else shown


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
    files = [file for file in chosen["files"] if path in ("", file["path"], cut(file["path"]))]
    items = [(file, hunk) for file in files for hunk in map(_hunk, file["hunks"] or [None])]
    pages = _packed(items, _file_added)
    page = min(page, len(pages))
    hunks_by_path: dict[str, tuple[Document, list[HunkAnswer]]] = {}
    for file, hunk in pages[page - 1]:
        _, hunks = hunks_by_path.setdefault(file["path"], (file, []))
        hunks += [hunk] if hunk is not None else []
    return ReviewAnswer(
        batch=batch,
        task=chosen["task"] and cut(chosen["task"]),
        digest=chosen["digest"],
        files=[_file(file, hunks) for file, hunks in hunks_by_path.values()],
        page=page,
        pages=len(pages),
        batches=len(document["batches"]),
    )


_Part = tuple[Document, HunkAnswer | None]


def _file_added(page: Sequence[_Part], part: _Part) -> int:
    file, hunk = part
    head = 0 if page and page[-1][0] is file else len(_file(file, []).sent) + 1
    return head + (len(hunk.sent) + 1 if hunk is not None else 0)


def _file(file: Document, hunks: list[HunkAnswer]) -> FileAnswer:
    facts = list(_facts(file).items())
    shown = [cut(f"{cut(fact, _LINE // 2)}: {_few(ids)}") for fact, ids in facts[:_MOST_FACTS]]
    if len(facts) > _MOST_FACTS:
        shown.append(f"and {len(facts) - _MOST_FACTS:,} more facts: your user has excise review")
    return FileAnswer(path=cut(file["path"]), facts=shown, hunks=hunks)


def _hunk(hunk: Document | None) -> HunkAnswer | None:
    """Return a hunk, with the beginnings of its texts and lists if it is longer than a page."""
    if hunk is None:
        return None
    share = 1
    while len((answer := _hunk_cut(hunk, share)).sent) > PAGE_CHARACTERS - 3 * _HEAD:
        share *= 2
    return answer


def _hunk_cut(hunk: Document, share: int) -> HunkAnswer:
    ids = max(1, _MOST_IDS // share)
    variants = hunk["variants"][: max(1, _MOST_VARIANTS // share)]
    texts = [hunk["origin"], *(variant["text"] for variant in variants)]
    most = (PAGE_CHARACTERS - 3 * _HEAD) // len(texts) // share
    shown = [text if len(text) <= most else f"{text[:most]}\n[cut]\n" for text in texts]
    missing = [variant["text"] for variant in hunk["variants"][len(variants) :]]
    return HunkAnswer(
        lines=hunk["name"],
        origin=shown[0],
        variants=[
            VariantAnswer(candidates=some(variant["ids"], ids, "candidates"), text=text)
            for variant, text in zip(variants, shown[1:], strict=True)
        ],
        more_variants=len(missing),
        unchanged=some(hunk["unchanged"], ids, "candidates"),
        left_out=sum(max(0, len(text) - most) for text in texts) + sum(map(len, missing)),
    )


def _facts(file: Document) -> dict[str, list[str]]:
    """Return the candidates of each change that is not of text."""
    ids_by_fact: dict[str, list[str]] = {}
    for change in file["changes"]:
        facts = [change["status"]] if change["status"] != "modified" else []
        if change["status"] == "renamed":
            facts = [f"renamed to {change['path']}"]
        facts += [*change["facts"], *(["the target changed it, too"] if change["conflict"] else [])]
        for fact in facts:
            ids_by_fact.setdefault(fact, []).append(change["id"])
    return ids_by_fact


def whole_names(document: Document, names: Iterable[str]) -> list[str]:
    """Return the ids and the files of a choice, of which a review shows long ones cut."""
    ids = [entry["id"] for batch in document["batches"] for entry in batch["candidates"]]
    paths = [file["path"] for batch in document["batches"] for file in batch["files"]]
    by_shown = {cut(name): name for name in (*ids, *paths)}
    whole = []
    for name in names:
        path, number_sign, lines = name.rpartition("#")
        full = by_shown.get(path)
        whole.append(f"{full}#{lines}" if full and number_sign else by_shown.get(name, name))
    return whole


def take_answer(document: Document) -> TakeAnswer:
    """Return the output of `excise take --json`, without the parts that the caller knows."""
    return TakeAnswer(
        origin=document["origin"],
        files=some(
            [f"{_LETTERS.get(file['status'], '?')} {file['path']}" for file in document["files"]],
            _MOST_TAKEN,
            "files",
        ),
        patch=document["patch"],
        base64=document["base64"],
        notes=some(document["notes"], _MOST_NOTES, "notes"),
    )


Answer = TypeVar("Answer", CandidatesAnswer, DuplicatesAnswer, ReviewAnswer, TakeAnswer)


def with_hidden(answer: Answer) -> Answer:
    """Return an answer that says how many invisible characters it shows escaped."""
    note = hidden_note([msgspec.json.encode(answer).decode()])
    return msgspec.structs.replace(answer, hidden=note) if note else answer


def duplicates_answer(document: Document) -> DuplicatesAnswer:
    """Return the first pairs of `excise duplicates --format json`, as many as fit on a page."""
    proposals = {proposal["id"]: proposal for proposal in document["proposals"]}
    pairs = document["pairs"]
    rejected = [f"{rejection['id']}: {rejection['reason']}" for rejection in document["rejected"]]
    answer = DuplicatesAnswer(
        asked=document["asked"],
        among=document["among"],
        pairs=[],
        left_out=len(pairs),
        notes=some(document["notes"], _MOST_REASONS, "notes"),
        rejected=some(rejected, _MOST_REASONS, "branches"),
    )
    shown: list[DuplicateAnswer] = []
    room = PAGE_CHARACTERS - len(answer.sent) - _HIDDEN
    for pair in pairs[:_MOST_PAIRS]:
        shown.append(_pair(pair, proposals[pair["other"]]))
        room -= len(shown[-1].sent) + 1
        if room < 0:
            shown.pop()
            break
    return msgspec.structs.replace(answer, pairs=shown, left_out=len(pairs) - len(shown))


def _pair(pair: Document, proposal: Document) -> DuplicateAnswer:
    reasons = pair["reasons"]
    edit = pair["same_edit"]
    lines = [f"{line['path']}:{line['line']} {line['text']}" for line in reasons["where"]]
    return DuplicateAnswer(
        new=cut(pair["new"]),
        other=cut(pair["other"]),
        title=cut(proposal["title"]),
        author=cut(proposal["author"]),
        word=pair["word"],
        probability=round(pair["probability"], 3),
        what=round(pair["what"], 3),
        where=round(pair["where"], 3),
        why=None if pair["why"] is None else round(pair["why"], 3),
        same_edit=round(edit["similarity"], 3),
        otherwise=pair["otherwise"],
        reasons=some([*lines, *reasons["what"], *reasons["why"]], _MOST_REASONS, "reasons"),
    )
