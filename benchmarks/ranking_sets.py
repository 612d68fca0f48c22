"""The labelled sets behind docs/ranking.md: read from EXCISE_DATA, drawn by seed, never copied."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from measure import rows

from excise import ScoreMatrix, syntax
from excise.facts import EditFacts
from excise.text import normalise, strip_blank

T = TypeVar("T")
Rows = list[dict[str, Any]]
Place = tuple[str, int, int]
"""A line of a patched tree: path, line of the pre-image, and which line inserted after it."""

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Part:
    """Some revisions of a matrix, as `excise.rank` reads them."""

    ids: tuple[str, ...]
    values: npt.NDArray[np.float64]
    notes: tuple[tuple[str, ...], ...]
    edit_sizes: tuple[int, ...]
    no_ops: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]
    codes: tuple[str, ...]
    facts: tuple[EditFacts, ...]


@dataclass(frozen=True)
class Item:
    """One origin, its distinct outputs, their verdicts, and who said what how often."""

    matrix: Part
    passed: npt.NDArray[np.bool_]
    pool: dict[str, list[int]]


@dataclass(frozen=True)
class Draw:
    """What a user would see: the few revisions drawn of one item."""

    item: str
    matrix: Part
    passed: npt.NDArray[np.bool_]


def draws(items: dict[str, Item], seeds: int, voices: int = 5) -> Iterator[Draw]:
    """Draw voices, an output each, by item and seed; fewer where there are fewer, at least 2."""
    for name, item in sorted(items.items()):
        for seed in range(seeds):
            chance, names = random.Random(f"{name}/{seed}"), sorted(item.pool)
            chance.shuffle(names)
            at = [chance.choice(item.pool[voice]) for voice in names[:voices]]
            if len(at) > 1:
                yield Draw(name, part(item.matrix, at), item.passed[at])


def part(matrix: Part, at: Sequence[int]) -> Part:
    """Return the matrix of some revisions (pairs do not depend on the others), also twice."""

    def of(values: Sequence[T]) -> tuple[T, ...]:
        return tuple(values[index] for index in at)

    rest = {field.name: of(getattr(matrix, field.name)) for field in fields(Part)[2:]}
    ids = tuple(str(place) for place in range(len(at)))
    return Part(ids, matrix.values[np.ix_(at, at)], **rest)


def outputs(labelled: str, origins: str) -> dict[str, Item]:
    """Read outputs of models for HumanEvalFix, echoes of the origin dropped."""
    source = {row["id"]: normalise(row["origin"]) for row in rows(origins)}
    by_item: dict[str, Rows] = defaultdict(list)
    for row in rows("labelled", labelled):
        if not _echo(source[row["id"]], normalise(row["revision"]), row["language"]):
            by_item[row["id"]].append(row)
    return {name: _model_item(source[name], answers) for name, answers in by_item.items()}


def instructions(instruction: str) -> dict[str, Item]:
    """Read outputs of models for CanItEdit, told what to do in one of its two ways.

    Its licence forbids training: nothing is chosen by these.
    """
    source = {row["id"]: normalise(row["origin"]) for row in rows("canitedit_dev.jsonl")}
    by_item: dict[str, Rows] = defaultdict(list)
    for row in rows("labelled", "canitedit_18models_dev.jsonl.gz"):
        text = normalise(row["revision"])
        if row["instr"] == instruction and not _echo(source[row["id"]], text, row["language"]):
            by_item[row["id"]].append({**row, "models": {row["model"]: 1}})
    return {name: _model_item(source[name], answers) for name, answers in by_item.items()}


def _echo(origin: str, revision: str, language: str) -> bool:
    def bare(text: str) -> str:
        return strip_blank(syntax.drop_comments(text, language)).strip()

    return origin == revision or bare(origin) == bare(revision)


def _model_item(origin: str, answers: Rows) -> Item:
    pool: dict[str, list[int]] = defaultdict(list)
    single = len({model for row in answers for model in row["models"]}) == 1
    for at, row in enumerate(answers):
        for model, count in row["models"].items():
            for sample in range(count):
                # A lone model speaks once a sample, or there would be nothing to compare.
                pool[f"{model}/{at}/{sample}" if single else model].append(at)
    verdicts = [row["passed"] for row in answers]
    return _item(
        origin, [row["revision"] for row in answers], verdicts, pool, answers[0]["language"]
    )


def _item(
    origin: str,
    texts: list[str],
    passed: list[bool],
    pool: dict[str, list[int]],
    language: str | None,
) -> Item:
    matrix = ScoreMatrix.from_texts(origin, texts, language=language)
    read = Part(**{field.name: getattr(matrix, field.name) for field in fields(Part)})
    return Item(read, np.array(passed), pool)


def agents() -> dict[str, Item]:
    """Read agents' patches with a verdict.

    The repositories are not at hand. The origin of an instance is every line that any of its
    patches shows of the tree before it, in order of path and line number; a revision is that text
    with one patch applied, exactly, as all lines of its hunks are there. A patch whose lines
    contradict most others' is left out, and one that changes nothing but white space at line ends.
    """
    items = {}
    for row in rows("swebench_lite_agents_dev.jsonl.gz"):
        labelled = [c for c in row["candidates"] if c["label"] in ("resolved", "unresolved")]
        origin, found = _rebuilt([_hunks(candidate["patch"]) for candidate in labelled])
        kept = [at for at, text in enumerate(found) if text not in (None, origin)]
        if len(kept) > 1:
            pool = {labelled[at]["name"]: [place] for place, at in enumerate(kept)}
            verdicts = [labelled[at]["label"] == "resolved" for at in kept]
            items[row["id"]] = _item(origin, [found[at] or "" for at in kept], verdicts, pool, None)
    return items


def _hunks(patch: str) -> list[tuple[str, int, list[str]]]:
    """Return path, first line of the pre-image and body of each hunk."""
    found: list[tuple[str, int, list[str]]] = []
    path, left, body = "", [0, 0], list[str]()
    for line, after in pairwise([*patch.split("\n"), ""]):
        if max(left) > 0:
            body.append((line[:1] or " ") + line[1:].rstrip())
            left[0] -= line[:1] not in ("+", "\\")
            left[1] -= line[:1] not in ("-", "\\")
        elif line.startswith("--- ") and after.startswith("+++ "):
            old, new = line[4:].split("\t")[0], after[4:].split("\t")[0]
            path = (old if new == "/dev/null" else new)[2:]
        elif at := HUNK.match(line):
            left, body = [int(at[2] or 1), int(at[4] or 1)], []
            # A hunk that shows no line of the pre-image names the line before it.
            found.append((path, int(at[1]) + (left[0] == 0), body))
    return found


def _rebuilt(patches: list[list[tuple[str, int, list[str]]]]) -> tuple[str, list[str | None]]:
    seen: dict[Place, Counter[str]] = defaultdict(Counter)
    before = [_lines(hunks, "-") for hunks in patches]
    for lines in before:
        for place, text in lines.items():
            seen[place][text] += 1
    origin = {place: texts.most_common(1)[0][0] for place, texts in seen.items()}
    revisions: list[str | None] = []
    for hunks, own in zip(patches, before, strict=True):
        applies = bool(hunks) and all(origin[place] == text for place, text in own.items())
        rest = {place: text for place, text in origin.items() if place not in own}
        revisions.append(_text({**rest, **_lines(hunks, "+")}) if applies else None)
    return _text(origin), revisions


def _lines(hunks: list[tuple[str, int, list[str]]], side: str) -> dict[Place, str]:
    found: dict[Place, str] = {}
    for path, first, body in hunks:
        line, inserted = first, 0
        for text in body:
            if text[0] == "+":
                inserted += 1
                if side == "+":
                    found[path, line - 1, inserted] = text[1:]
            elif text[0] in " -":
                if text[0] in (" ", side):
                    found[path, line, 0] = text[1:]
                line, inserted = line + 1, 0
    return found


def _text(lines: dict[Place, str]) -> str:
    parts, last = list[str](), ""
    for place in sorted(lines):
        if place[0] != last:
            last = place[0]
            parts.append(f"\x01 {last}")
        parts.append(lines[place])
    return "\n".join(parts) + "\n"
