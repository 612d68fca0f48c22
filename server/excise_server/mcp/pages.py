"""Answers of the tools: views of the commands' documents, page by page (docs/agents.md).

A page has at most `PAGE_CHARACTERS` of JSON, whatever the texts of candidates are: names and facts
are cut in their middle, lists end with the number of what is left out and where it is, and what
does not fit is on the next page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

import msgspec

from excise.agreement import CODE, IDENTICAL
from excise_server.foundation.escape import hidden_note, json_text, printable, shortened
from excise_server.report.blocks import terminal
from excise_server.report.overview import overview_blocks
from excise_server.report.page import GroupBlock, Page, slot_facts
from excise_server.report.review import chosen_hunks
from excise_server.report.tables import plain_text
from excise_server.report.words import BESIDE, LETTERS, THERE, level_words, other_facets
from excise_server.wire.documents import (
    CandidateEntry,
    ReviewDocument,
    SlotEntry,
    TaskEntry,
    plain,
)

PAGE_CANDIDATES = 8
PAGE_CHARACTERS = 12_000
"""Most characters of a page, about 4,000 tokens; one hunk may take a whole page."""

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

Document = Mapping[str, Any]
Answer = dict[str, Any]


def sent(answer: Answer) -> str:
    """Return an answer as it is sent: without white space, invisible characters escaped."""
    return json_text(msgspec.json.encode(answer).decode())


def candidates_page(document: Document, page: int) -> Answer:
    """Return a page of the overview of a review, counted from 1.

    It is structured content, which no encoding of ours escapes: texts are printable in it.
    """
    review = Page(msgspec.convert(document, ReviewDocument))
    entries, tasks = review.document.candidates, review.document.tasks
    blocks = {task.number: review.blocks(task) for task in tasks}
    items: list[tuple[str, Any]] = [("candidates", entry) for entry in entries]
    items += [("between", cut(line)) for line in review.between_tasks()]
    items += [("landed", cut(f"{one['id']}: {one['words']}")) for one in document["landed"]]
    items += [("unchanged", cut(name)) for name in document["unchanged"]]
    items += [("rejected", cut(f"{r['id']}: {r['reason']}")) for r in document["rejected"]]

    def task_of(number: int, members: Sequence[CandidateEntry]) -> Answer:
        return _task(review, tasks[number - 1], blocks[number], members)

    def added(page: Sequence[tuple[str, Any]], item: tuple[str, Any]) -> int:
        """Return the characters that one more item takes on a page, with its block and task."""
        kind, entry = item
        if kind != "candidates":
            return _length(printable(entry))
        answer = _printable(task_of(entry.task, [entry]))
        if any(kind == "candidates" and other.task == entry.task for kind, other in page):
            return len(sent(answer["candidates"][0])) + len(sent(answer["groups"][0])) + 2
        return len(sent(answer)) + 1

    pages = _packed(items, added, PAGE_CANDIDATES)
    page = min(page, len(pages))
    shown = [entry for kind, entry in pages[page - 1] if kind == "candidates"]
    later = [(kind, number) for number in range(page, len(pages)) for kind, _ in pages[number]]
    kinds = dict.fromkeys(kind for kind, _ in later)
    first = {kind: number + 1 for kind, number in reversed(later)}
    counts = {kind: sum(kind == other for other, _ in later) for kind in kinds}
    more = [f"and {counts[kind]:,} more {kind}: from page {first[kind]}" for kind in kinds]
    answer: Answer = {
        "repository": cut(document["repository"]),
        "origin": document["origin"],
        "intent": document["intent"],
        "says": cut(review.title),
        "tasks": [
            task_of(task.number, members)
            for task in tasks
            if (members := [entry for entry in shown if entry.task == task.number])
        ],
        "between": [entry for kind, entry in pages[page - 1] if kind == "between"],
        "landed": [entry for kind, entry in pages[page - 1] if kind == "landed"],
        "unchanged": [entry for kind, entry in pages[page - 1] if kind == "unchanged"],
        "rejected": [entry for kind, entry in pages[page - 1] if kind == "rejected"],
        "more": more,
        "page": page,
        "pages": len(pages),
        "hidden": "",
    }
    printed: Answer = _printable(with_hidden(answer))
    return printed


def _printable(value: Any) -> Any:  # noqa: ANN401 - of an answer
    if isinstance(value, list):
        return list(map(_printable, value))
    if isinstance(value, dict):
        return {key: _printable(each) for key, each in value.items()}
    return printable(value) if isinstance(value, str) else value


def overview_text(document: Document) -> str:
    """Return the page as people read it, of which a very long one is cut between lines."""
    text = plain_text(
        partial(terminal, overview_blocks(Page(msgspec.convert(document, ReviewDocument))))
    )
    if len(text) <= PAGE_CHARACTERS:
        return text
    lines = [shortened(line, PAGE_CHARACTERS // 8) for line in text.split("\n")]
    sizes = accumulate(len(line) + 1 for line in lines)
    fitting = sum(size <= PAGE_CHARACTERS - _HEAD for size in sizes)
    more = f"and {len(lines) - fitting:,} more lines: see the structured content"
    return "\n".join([*lines[:fitting], more] if fitting < len(lines) else lines)


Item = TypeVar("Item")


def _packed(
    items: Iterable[Item], added: Callable[[Sequence[Item], Item], int], most: int | None = None
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


def _task(
    review: Page, task: TaskEntry, blocks: Sequence[GroupBlock], members: Sequence[CandidateEntry]
) -> Answer:
    places = {
        identity: (block, group, edit)
        for block, group in zip(blocks, task.groups, strict=True)
        for edit in group.edits
        for identity in edit.members
    }
    candidates: list[Answer] = []
    shown: dict[str, GroupBlock] = {}
    for entry in members:
        block, group, edit = places[entry.id]
        shown[block.letter] = block
        files = [
            f"{LETTERS.get(file.status, file.status)} {file.path} +{file.added} -{file.deleted}"
            for file in entry.files
        ]
        first = edit.members[0]
        says = list(entry.why)
        if first != entry.id:
            at = edit.members.index(entry.id)
            word = IDENTICAL if edit.words[at] == IDENTICAL else CODE
            says.append(BESIDE[word].format(first) + other_facets(edit.other_facets[at]))
        elif edit.relation:
            relation = BESIDE[edit.relation].format(group.edits[0].members[0])
            says.append(level_words(relation, edit.renamed, THERE))
        facts = [fact for fact in review.facts(entry) if fact not in says]
        candidates.append(
            {
                "id": cut(entry.id),
                "label": cut(entry.label, _LABEL),
                "group": block.letter,
                "rank": entry.rank,
                "says": cut("; ".join(says)),
                "line": cut(edit.line),
                "facts": some(facts, _MOST_FACTS, "facts"),
                "files": some(files, _MOST_FILES, "files: see review"),
                "notes": some(entry.notes, _MOST_NOTES, "notes"),
            }
        )
    return {
        "number": task.number,
        "task": task.name and cut(task.name),
        "size": len(task.members),
        "disagree": task.disagree,
        # Blocks of the page without their names, which stand at the candidates.
        "groups": [
            {
                "name": block.letter,
                "says": block.head,
                "where": some(
                    [" ".join(filter(None, place)) for place in block.where], 2, "places"
                ),
                "lines": [cut(line) for line in block.lines],
                "about": some(block.about, _MOST_NOTES, "lines"),
            }
            for block in shown.values()
        ],
        "candidates": candidates,
    }


def some(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first of some lines, each cut, and the number of the others."""
    shown = [cut(line) for line in lines[:most]]
    return [*shown, f"and {len(lines) - most:,} more {noun}"] if len(lines) > most else shown


def review_page(document: Document, task: int, paths: Sequence[str], page: int) -> Answer | None:
    """Return a page of the output of `excise review --format json`, or None for an unknown task.

    Raises SourceError if a file or hunk does not exist.

    - ``paths``: the only files and hunks to show (`chosen_hunks`), or none for all.
    """
    tasks = {each["number"]: each for each in document["tasks"]}
    if (chosen := tasks.get(task)) is None:
        return None
    files = chosen["files"]
    if paths:
        review = msgspec.convert(document, ReviewDocument)
        shown = chosen_hunks(review, whole_names(document, paths))
        files = [
            file for each in shown.tasks if each.number == task for file in plain(each)["files"]
        ]
    items = [(file, hunk) for file in files for hunk in map(_hunk, file["hunks"] or [None])]

    def added(page: Sequence[_Part], part: _Part) -> int:
        file, hunk = part
        head = 0 if page and page[-1][0] is file else len(sent(_file(file, []))) + 1
        return head + (len(sent(hunk)) + 1 if hunk is not None else 0)

    pages = _packed(items, added)
    page = min(page, len(pages))
    hunks_by_path: dict[str, tuple[Document, list[Answer]]] = {}
    for file, hunk in pages[page - 1]:
        _, hunks = hunks_by_path.setdefault(file["path"], (file, []))
        hunks += [hunk] if hunk is not None else []
    return {
        "task": task,
        "name": chosen["name"] and cut(chosen["name"]),
        "digest": chosen["digest"],
        "files": [_file(file, hunks) for file, hunks in hunks_by_path.values()],
        "page": page,
        "pages": len(pages),
        "tasks": len(document["tasks"]),
        "hidden": "",
    }


_Part = tuple[Document, Answer | None]


def _file(file: Document, hunks: list[Answer]) -> Answer:
    # The candidates of each change that is not of text, and what belongs together.
    ids_by_fact: dict[str, list[str]] = {}
    for fact, ids in slot_facts(msgspec.convert(file["slots"], list[SlotEntry])):
        ids_by_fact.setdefault(fact, []).extend(ids)
    for change in file["changes"]:
        said = [change["status"]] if change["status"] != "modified" else []
        if change["status"] == "renamed":
            said = [f"renamed to {change['path']}"]
        said += [*change["facts"], *(["the target changed it, too"] if change["conflict"] else [])]
        for fact in said:
            ids_by_fact.setdefault(fact, []).append(change["id"])
    facts = list(ids_by_fact.items())
    shown = []
    for fact, ids in facts[:_MOST_FACTS]:
        names = ", ".join(cut(name, _LABEL) for name in ids[:3])
        names += f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
        shown.append(cut(f"{cut(fact, _LINE // 2)}: {names}"))
    if len(facts) > _MOST_FACTS:
        shown.append(f"and {len(facts) - _MOST_FACTS:,} more facts: your user has excise review")
    return {"path": cut(file["path"]), "facts": shown, "hunks": hunks}


def _hunk(hunk: Document | None) -> Answer | None:
    """Return a hunk, with the beginnings of its texts and lists if it is longer than a page."""
    if hunk is None:
        return None
    share = 1
    while len(sent(answer := _hunk_cut(hunk, share))) > PAGE_CHARACTERS - 3 * _HEAD:
        share *= 2
    return answer


def _hunk_cut(hunk: Document, share: int) -> Answer:
    ids = max(1, _MOST_IDS // share)
    variants = hunk["variants"][: max(1, _MOST_VARIANTS // share)]
    texts = [hunk["origin"], *(variant["text"] for variant in variants)]
    most = (PAGE_CHARACTERS - 3 * _HEAD) // len(texts) // share
    shown = [text if len(text) <= most else f"{text[:most]}\n[cut]\n" for text in texts]
    missing = [variant["text"] for variant in hunk["variants"][len(variants) :]]
    return {
        "lines": hunk["name"],
        "function": cut(hunk["function"], _LABEL),
        "origin": shown[0],
        "variants": [
            {"candidates": some(variant["ids"], ids, "candidates"), "text": text}
            for variant, text in zip(variants, shown[1:], strict=True)
        ],
        "more_variants": len(missing),
        "unchanged": some(hunk["unchanged"], ids, "candidates"),
        "left_out": sum(max(0, len(text) - most) for text in texts) + sum(map(len, missing)),
    }


def whole_names(document: Document, names: Iterable[str]) -> list[str]:
    """Return the ids and the files of a choice, of which a review shows long ones cut."""
    ids = [entry["id"] for entry in document["candidates"]]
    paths = [file["path"] for task in document["tasks"] for file in task["files"]]
    names_of_all = (*ids, *paths)
    by_shown = {printable(cut(name)): name for name in names_of_all}
    by_shown |= {cut(name): name for name in names_of_all}
    whole = []
    for name in names:
        path, number_sign, lines = name.rpartition("#")
        full = by_shown.get(path)
        whole.append(f"{full}#{lines}" if full and number_sign else by_shown.get(name, name))
    return whole


def take_answer(document: Document) -> Answer:
    """Return the output of `excise take --format json`, without the parts that the caller knows."""
    return {
        "origin": document["origin"],
        "files": some(
            [f"{LETTERS.get(file['status'], '?')} {file['path']}" for file in document["files"]],
            _MOST_TAKEN,
            "files",
        ),
        "patch": document["patch"],
        "base64": document["base64"],
        "notes": some(document["notes"], _MOST_NOTES, "notes"),
        "hidden": "",
    }


def land_answer(document: Document) -> Answer:
    """Return the output of `excise land --format json`, a line for each candidate and reason."""
    left_out = [
        f"{each['id']}: {obstacle['message']}"
        for each in document["left_out"]
        for obstacle in each["obstacles"]
    ]
    undecided = [" or ".join(each["id"] for each in task) for task in document["undecided"]]
    return {
        "landed": some([each["id"] for each in document["landed"]], _MOST_TAKEN, "candidates"),
        "left_out": some(left_out, _MOST_TAKEN, "reasons"),
        "undecided": some(undecided, _MOST_TAKEN, "tasks"),
        **take_answer(document),
    }


def with_hidden(answer: Answer) -> Answer:
    """Return an answer that says how many invisible characters it shows escaped."""
    note = hidden_note([msgspec.json.encode(answer).decode()])
    return answer | {"hidden": note} if note else answer


def since_page(document: Document, page: int) -> Answer:
    """Return a page of what `excise since --format json` prints, counted from 1."""
    items = [
        _since_hunk(file, hunk) for file in document["files"] for hunk in (file["hunks"] or [None])
    ]
    pages = _packed(items, lambda page, item: len(sent(item)) + 1)
    page = min(page, len(pages))
    titles = [
        f"{pair['status']}: {pair['title'] or pair['old_title']}"
        for pair in document["series"]
        if pair["status"] != "same"
    ]
    seen = document["old"]["seen"]
    return {
        "summary": document["summary"],
        "old": cut(document["old"]["name"]),
        "new": cut(document["new"]["name"]),
        "read": f"{seen} in {document['old']['door']}" if seen else "",
        "onto": document["onto"],
        "hunks": document["hunks"],
        "patches": document["patches"],
        "series": some([cut(title, _LABEL) for title in titles], _MOST_FACTS, "patches"),
        "changes": pages[page - 1],
        "notes": some([cut(note, _LABEL) for note in document["notes"]], _MOST_NOTES, "notes"),
        "page": page,
        "pages": len(pages),
        "hidden": "",
    }


def _since_hunk(file: Document, hunk: Document | None) -> Answer:
    facts = [cut(f"{fact['status']}: {fact['text']}") for fact in file["facts"]]
    answer = {"path": cut(file["path"]), "facts": some(facts, _MOST_FACTS, "facts")}
    if hunk is None:
        return answer
    lines = [hunk["lo"] + 1, hunk["hi"]] if hunk["lo"] is not None else []
    most = PAGE_CHARACTERS - 3 * _HEAD
    text = cut("\n".join(hunk["lines"]), most)
    return answer | {"status": hunk["status"], "lines": lines, "change": text}


def cluster_answer(document: Document) -> Answer:
    """Return the first pairs of `excise cluster --like --format json`, as many as fit on a page."""
    proposals = {proposal["id"]: proposal for proposal in document["proposals"]}
    pairs = document["pairs"]
    rejected = [f"{rejection['id']}: {rejection['reason']}" for rejection in document["rejected"]]
    answer: Answer = {
        "asked": document["asked"],
        "among": document["among"],
        "pairs": [],
        "left_out": len(pairs),
        "notes": some(document["notes"], _MOST_REASONS, "notes"),
        "rejected": some(rejected, _MOST_REASONS, "branches"),
        "hidden": "",
    }
    shown: list[Answer] = []
    room = PAGE_CHARACTERS - len(sent(answer)) - _HIDDEN
    for pair in pairs[:_MOST_PAIRS]:
        proposal, reasons = proposals[pair["other"]], pair["reasons"]
        lines = [f"{line['path']}:{line['line']} {line['text']}" for line in reasons["where"]]
        lines += [*reasons["what"], *reasons["why"]]
        shown.append(
            {
                "new": cut(pair["new"]),
                "other": cut(pair["other"]),
                "title": cut(proposal["title"]),
                "author": cut(proposal["author"]),
                "word": pair["word"],
                "probability": round(pair["probability"], 3),
                "what": round(pair["what"], 3),
                "where": round(pair["where"], 3),
                "why": None if pair["why"] is None else round(pair["why"], 3),
                "same_edit": round(pair["same_edit"]["similarity"], 3),
                "otherwise": pair["otherwise"],
                "reasons": some(lines, _MOST_REASONS, "reasons"),
            }
        )
        room -= len(sent(shown[-1])) + 1
        if room < 0:
            shown.pop()
            break
    return answer | {"pairs": shown, "left_out": len(pairs) - len(shown)}
