"""What is said of an analysis: at its marks, in a hover, and on a page of Markdown. Pure.

Names of candidates are not trusted: they are made printable here. How they are shown is up to the
client. A hover has the code of the variants first, below the names of its candidates, and a few
figures last. The page is for clients that show nothing else. The report has all figures.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations, islice
from typing import Any

from excise import Hunk, Variant
from excise.agreement import CODE, DIFFERENT, IDENTICAL, NAMES, OVERLAPS, SAME
from excise.excision import WHITESPACE_ONLY
from excise.text import Revision
from excise_server.editor.analysis import (
    MAX_PAIRS,
    Analysis,
    Decision,
    Snapshot,
    decisions_of,
    is_kept,
)
from excise_server.foundation.escape import printable, shortened_beside, source_text
from excise_server.foundation.inputs import first_few
from excise_server.report.markdown import code_span, fenced, inert
from excise_server.report.words import (
    DISAGREE,
    digits,
    disagree,
    level_words,
    order_words,
    place_words,
    words_of,
)
from excise_server.wire.worker import EarlyHunks, HunkNumbers, HunkUnit

_MOST_NAMES = 5
"""Most names in one sentence."""

_MAX_NAME = 60
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def name(identity: str) -> str:
    """Return an id for people: printable, and not longer than a line bears.

    A longer one is cut in the middle, where it gets a few distinctive digits: ids of a thousand
    characters that differ in one would else look alike.
    """
    shown = printable(identity)
    if len(shown) <= _MAX_NAME:
        return shown
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    half = (_MAX_NAME - len(digest)) // 2 - 1
    return f"{shown[:half]}…{digest}…{shown[-half:]}"


def names_of(revisions: Sequence[Revision]) -> tuple[str, ...]:
    """Return the name of each candidate: its label, or its id if others share the label."""
    labels = [name(revision.label or revision.id) for revision in revisions]
    shared = Counter(labels)
    return tuple(
        label if shared[label] == 1 else name(revision.id)
        for revision, label in zip(revisions, labels, strict=True)
    )


def listed(names: Iterable[str], most: int = _MOST_NAMES) -> str:
    """Return names in a row, the first few of many."""
    return first_few(list(names), most)


def share_of(members: Sequence[int], count: int) -> str:
    """Return how many of all these are: ``2 of 5``."""
    return f"{len(members)} of {count}"


def changers(analysis: Analysis, names: Sequence[str]) -> str:
    """Return who changes the file: ``5 candidates in 3 groups``, ``only ada changes this file``."""
    count, groups = len(names), len(analysis.comparison.clusters)
    if count == 1:
        return f"only {names[0]} changes this file"
    return f"{count} candidates in {groups} group{'s' if groups != 1 else ''}"


def without_code(hunk: Hunk, variant: Variant) -> str | None:
    """Return the phrase for a variant without code to show, or None if it has some."""
    alone = len(variant.members) == 1
    if variant.text == hunk.text:
        return _left(alone=alone)
    if not variant.text:
        return f"{'deletes' if alone else 'delete'} these lines"
    return None


def _left(*, alone: bool) -> str:
    return f"{'leaves' if alone else 'leave'} it as it is"


def code_language(analysis: Analysis) -> str:
    """Return the client's language id if a highlighter may know it, or else an empty string."""
    language = analysis.snapshot.language or ""
    return language if language.isascii() and language.replace("-", "").isalnum() else ""


_GROUPS = (
    (DIFFERENT, "make similar changes"),
    (OVERLAPS, "make similar changes"),
    (NAMES, "are the same up to names"),
    (CODE, "have the same code"),
    (IDENTICAL, "are identical"),
)
"""What is said of a group: the word that claims least decides."""


def hunk_words(hunk: Hunk, count: int, names: Sequence[str]) -> str:
    """Return how many candidates change a hunk, and how: ``2 of 5 make this change``.

    - ``count``: the number of candidates that have a text of it.
    - ``names``: the names of all candidates.
    """
    changed = [variant.members for variant in hunk.variants if variant.text != hunk.text]
    if not changed:  # where syntax is broken, blocks may begin and end elsewhere around equal lines
        return "only the lines around this differ"
    total, top = sum(map(len, changed)), len(changed[0])
    who = names[changed[0][0]]
    if count == 1:
        return f"{who} changes this"
    spelled = _NUMBERS[count] if count < len(_NUMBERS) else f"{count}"
    everyone = "both" if count == 2 else f"all {spelled}"
    if len(changed) == 1:
        if total == count:
            words = f"{everyone} make this change"
        elif total == 1:
            words = f"only {who} makes this change"
        else:
            words = f"{total} of {count} make this change"
    elif top == 1:
        words = (
            f"{everyone} differ here"
            if total == count
            else f"{total} of {count} change this, each in its own way"
        )
    else:
        remainder = "another makes another" if total - top == 1 else f"{total - top} make others"
        words = f"{top} of {count} make one change, {remainder}"
    if rest := count - total:
        words += f", {rest} {_left(alone=rest == 1)}"
    return words


def outcome_words(hunk: Hunk, decision: Decision, names: Sequence[str]) -> str:
    """Return what was decided: ``as ada and 1 more``, or nothing of a hunk that never was."""
    if not decision.decided:
        return "changed since you kept the origin" if decision.has_changed else ""
    if decision.kind == "variant" and decision.variant is not None:
        members = hunk.variants[decision.variant].members
        return f"as {listed((names[member] for member in members), most=1)}"
    return {"origin": "kept", "mixed": "mixed"}.get(decision.kind, "edited by hand")


def file_title(analysis: Analysis, names: Sequence[str]) -> str:
    """Return "5 candidates in 3 groups · 1 of 4 hunks decided", or the only candidate's name."""
    hunks, decided = len(analysis.hunks), sum(analysis.decided)
    hunk_count = f"{hunks} hunk{'s' if hunks != 1 else ''}"
    return f"{changers(analysis, names)} · {decided} of {hunk_count} decided"


def variant_title(
    analysis: Analysis,
    names: Sequence[str],
    index: int,
    number: int,
    *,
    several: bool = False,
    split: bool = False,
) -> str:
    """Return "Take the lines of gpt, claude here (2 of 5)", and what is taken with them."""
    variant, count = analysis.hunks[index].variants[number], len(analysis.snapshot.texts)
    who = listed(names[member] for member in variant.members)
    share = f" ({share_of(variant.members, count)})" if count > 1 else ""
    where = f"in hunk {index + 1}" if several else "here"
    if (unit := analysis.unit(index, number)) is not None:
        more = len(unit.hunks) - 1
        belong = "1 hunk that belongs" if more == 1 else f"{more} hunks that belong"
        where += " alone" if split else f" and in {belong} with it"
    if variant.text == analysis.hunks[index].text:
        return f"Take the origin's lines {where}, as {who}{share}"
    return f"Take the lines of {who} {where}{share}"


def unit_words(unit: HunkUnit) -> str:
    """Return "3 hunks that belong together: username, password"."""
    names = listed(map(name, unit.names))
    return f"{len(unit.hunks)} hunks that belong together: {names}"


def candidate_title(analysis: Analysis, names: Sequence[str], index: int) -> str:
    """Return "Take this file from gpt (in a group of 2)" of a candidate, by its index."""
    size = next(len(c.members) for c in analysis.comparison.clusters if index in c.members)
    group = f" (in a group of {size})" if size > 1 else ""
    return f"Take this file from {names[index]}{group}"


MAX_HUNKS = 24
"""Most hunks shown as diagnostics: with the one for the file, 25. The report has all."""

MAX_GROUPS = 20
"""Most groups listed in the message for the file."""

MAX_LISTED = 8
"""Most candidates whose words are all in the data of the diagnostic for the file."""

MAX_PAIRS_LISTED = MAX_LISTED * (MAX_LISTED - 1) // 2
"""Most pairs listed in the message for the file: all of 8 candidates, the nearest of more."""

MAX_DATA = 100
"""Most pairs in the data of all hunks together: they are sent after every pause in typing."""

MAX_MATRIX = 100
"""Most candidates whose whole matrix is in the data of the diagnostic (10,000 numbers)."""


@dataclass(frozen=True, slots=True)
class HunkFinding:
    """One hunk: its lines (from, to; equal for a gap), its message, and its scores."""

    lines: tuple[int, int]
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """The message for a document (empty until its scores are known), and its hunks."""

    message: str
    data: dict[str, Any]
    hunks: tuple[HunkFinding, ...]


def find(analysis: Analysis) -> Findings | None:
    """Return the findings, or None without revisions.

    Decided hunks have no mark, so that only the undecided ones are shown.
    """
    if not analysis.snapshot.revisions:
        return None
    names = names_of(analysis.snapshot.revisions)
    shown = [index for index, decided in enumerate(analysis.decided) if not decided][:MAX_HUNKS]
    pairs = min(MAX_PAIRS, MAX_DATA // max(len(shown), 1))
    matrix = analysis.comparison.matrix
    data: dict[str, Any] = {
        "kind": "file",
        "signature": analysis.comparison.signature,
        "ids": list(matrix.ids),
        "ranking": [ranked.id for ranked in analysis.comparison.ranking],
    }
    if len(matrix.ids) <= MAX_MATRIX:
        data["similarity"] = [[round(x, 4) for x in row] for row in matrix.values.tolist()]
    if len(matrix.ids) <= MAX_LISTED:
        data["words"] = words_of(matrix.ids, matrix.word)
    return Findings(
        message="\n".join(
            [
                headline(analysis, names),
                *group_lines(analysis, names),
                *([DISAGREE] if disagree(analysis.comparison.ranking) else []),
                *_pairs(analysis, names),
            ]
        ),
        data=data,
        hunks=tuple(
            HunkFinding(
                analysis.lines[index],
                _summary(analysis, index, names),
                _hunk_data(analysis, index, pairs),
            )
            for index in shown
        ),
    )


def find_early(snapshot: Snapshot, early: EarlyHunks) -> Findings:
    """Return who changes which hunk, while the scores that they will have are still unknown."""
    names, count = names_of(snapshot.revisions), len(snapshot.texts)
    found = [
        HunkFinding(
            (site.lo, site.hi), hunk_words(hunk, count, names), {"kind": "hunk", "index": index}
        )
        for index, (hunk, site, decided) in enumerate(
            zip(early.hunks, early.sites, early.decided, strict=True)
        )
        if not decided and not is_kept(snapshot, hunk)
    ]
    return Findings("", {}, tuple(found[:MAX_HUNKS]))


@dataclass(frozen=True, slots=True)
class MixProblem:
    """What the decisions break: the line in the buffer, and the hunk that brings it, if any."""

    line: int
    message: str
    hunk: int | None


MAX_PROBLEMS = 20
"""Most of them that are shown."""


def mix_problems(
    analysis: Analysis, refusals: Sequence[Mapping[str, Any] | None]
) -> tuple[MixProblem, ...]:
    """Return what the decisions break in the buffer.

    - ``refusals``: those of the texts of `excise_server.editor.apply.decided_mix`.
    """
    if refusals[0] is None or refusals[-1] is None:
        return ()
    broken = {(f["kind"], f["name"], f["message"]) for f in refusals[0]["findings"]}
    names, taken = names_of(analysis.snapshot.revisions), dict[int, Variant]()
    for index, decision in enumerate(decisions_of(analysis)):
        if decision.variant is not None:
            taken[index] = analysis.hunks[index].variants[decision.variant]
    problems = []
    for finding in refusals[-1]["findings"]:
        line, name = finding["line"] - 1, finding["name"]
        if (finding["kind"], name, finding["message"]) not in broken:
            continue
        # It is in the lines that were taken, or other lines use what was taken away.
        holds = [i for i in taken if analysis.sites[i].lo <= line < analysis.sites[i].hi]
        removes = [
            i for i, v in taken.items() if name in analysis.hunks[i].text and name not in v.text
        ]
        hunk = next(iter(holds or removes), None)
        who = "" if hunk is None else f" ({listed(names[m] for m in taken[hunk].members)})"
        problems.append(MixProblem(line, f"{finding['message']}{who}", hunk))
    return tuple(problems[:MAX_PROBLEMS])


def _summary(analysis: Analysis, index: int, names: tuple[str, ...]) -> str:
    """Return one hunk in a line: who makes which change, and the score."""
    numbers, count = analysis.numbers[index], len(analysis.snapshot.texts)
    words = hunk_words(analysis.hunks[index], count, names)
    if numbers.mean is None:
        return words
    compared = numbers.compared
    sample = f" (of the first {compared})" if compared < count else ""
    return f"{words}, ES {digits(numbers.mean.es)}{sample}"


def headline(analysis: Analysis, names: Sequence[str]) -> str:
    """Return how many candidates there are in how many groups, and how much is decided."""
    hunks, decided = len(analysis.hunks), sum(analysis.decided)
    hunk_count = f"{hunks} hunk{'s' if hunks != 1 else ''}"
    if decided:
        hunk_count = f"{decided} of {hunk_count} decided"
    if hunks - decided > MAX_HUNKS:
        hunk_count += f" (the first {MAX_HUNKS} are shown)"
    deleting = len(analysis.snapshot.deleted)
    deletions = [f"{deleting} delete{'s' if deleting == 1 else ''} the file"] if deleting else []
    return ", ".join([changers(analysis, names), hunk_count, *deletions])


def group_lines(analysis: Analysis, names: Sequence[str]) -> list[str]:
    """Return a line for each group in order, with the facts that give its members their places."""
    comparison = analysis.comparison
    lines = []
    for cluster in comparison.clusters[:MAX_GROUPS]:
        members_by_facts: dict[str, list[str]] = {}
        for ranked in comparison.ranking:
            if ranked.index in cluster.members:
                notes = (note for note in ranked.notes if note != WHITESPACE_ONLY)
                facts = ", ".join(map(printable, (*ranked.why, *notes)))
                members_by_facts.setdefault(facts, []).append(names[ranked.index])
        phrases = [
            facts if len(members_by_facts) == 1 else f"{listed(members)} ({facts})"
            for facts, members in members_by_facts.items()
            if facts
        ]
        if len(names) == 1 and not phrases:
            continue  # the first line already says it
        # "2 have the same code: ada, bo", or one name alone.
        words = listed(names[member] for member in cluster.members)
        if len(cluster.members) > 1:
            first, *others = cluster.members
            found = {comparison.matrix.word(first, member) for member in others}
            say = next((say for word, say in _GROUPS if word in found), _GROUPS[-1][1])
            words = f"{len(cluster.members)} {say}: {words}"
        lines.append(words + (f": {'; '.join(phrases)}" if phrases else ""))
    if (rest := len(comparison.clusters) - MAX_GROUPS) > 0:
        lines.append(f"… and {rest} more groups")
    return lines


def _pairs(analysis: Analysis, names: tuple[str, ...]) -> list[str]:
    """Return the score and the word of every pair, or of many pairs the nearest ones."""
    pairs = list(_all_pairs(analysis))
    if len(pairs) <= MAX_PAIRS_LISTED:
        return list(_pair_lines(analysis, names, pairs))
    if len(names) > MAX_MATRIX:
        return [f"the ES of all {len(pairs):,} pairs is in excise/report"]
    values = analysis.comparison.matrix.values
    nearest = nlargest(MAX_PAIRS_LISTED, pairs, key=lambda pair: float(values[pair]))
    return [
        f"the nearest of {len(pairs):,} pairs (the ES of all is in the data of this diagnostic):",
        *_pair_lines(analysis, names, nearest),
    ]


def _all_pairs(analysis: Analysis) -> Iterator[tuple[int, int]]:
    """Return the pairs in rank order."""
    return combinations([ranked.index for ranked in analysis.comparison.ranking], 2)


def _pair_lines(
    analysis: Analysis, names: Sequence[str], pairs: Iterable[tuple[int, int]]
) -> Iterator[str]:
    matrix = analysis.comparison.matrix
    for a, b in pairs:
        level, es = matrix.level(a, b), digits(float(matrix.values[a, b]))
        word = matrix.word(a, b) if level is None else level_words(*level, "{} / {}")
        yield f"ES {es} {names[a]} / {names[b]}: {word}"


def _hunk_data(analysis: Analysis, index: int, limit: int) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": "hunk", "index": index}
    if not limit:
        return data
    matrix, numbers = analysis.comparison.matrix, analysis.numbers[index]
    pairs = [
        {
            "a": matrix.ids[p.a],
            "b": matrix.ids[p.b],
            "es": round(p.es, 4),
            "share": round(p.share, 4),
            "word": matrix.word(p.a, p.b),
        }
        for p in numbers.pairs[:limit]
    ]
    counts = {"compared": numbers.compared, "diverging": numbers.diverging}
    return data | counts | {"pairs": pairs}


# --- the hover ---

MAX_VARIANTS = 10
MAX_NAMES = 12
MAX_CODE_LINES = 30
MAX_CODE_WIDTH = 200
MAX_COLUMNS = 4
"""Most candidates whose scores are shown as a table, which takes one line for each."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows all have as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Printable lines of source text, and their language (may be empty)."""

    lines: tuple[str, ...]
    language: str


Block = Line | Table | Code


def explain_hunk(analysis: Analysis, index: int) -> list[Block]:
    """Explain one hunk: the code of each variant below its candidates, then the figures."""
    hunk, names = analysis.hunks[index], names_of(analysis.snapshot.revisions)
    count = len(analysis.snapshot.texts)
    blocks: list[Block] = []
    for variant in sorted(hunk.variants[:MAX_VARIANTS], key=lambda v: v.text == hunk.text):
        blocks += _variant(analysis, hunk, variant, names)
    if (rest := len(hunk.variants) - MAX_VARIANTS) > 0:
        blocks.append(Line(f"… and {rest} more variants: excise/report has all"))
    where = f"hunk {index + 1} of {len(analysis.hunks)}"
    blocks.append(Line(f"{hunk_words(hunk, count, names)} ({where})"))
    return [*blocks, *map(Line, _figures(analysis.numbers[index], names))]


def _figures(numbers: HunkNumbers, names: Sequence[str]) -> list[str]:
    """Return the scores of a hunk in two lines."""
    mean, least, most = numbers.mean, numbers.least, numbers.most
    if mean is None:
        return []
    total = numbers.compared * (numbers.compared - 1) // 2
    lines = [f"ES {digits(mean.es)}"]
    if total > 1:
        lines = [f"mean ES {digits(mean.es)}, {numbers.diverging} of {total} pairs diverge here"]
    if least is not None and most is not None and least.es != most.es:
        ends = [f"{digits(p.es)} ({names[p.a]} / {names[p.b]})" for p in (least, most)]
        lines[0] += f": {' to '.join(ends)}"
    operations = ("keep", mean.keep), ("add", mean.add), ("delete", mean.delete)
    parts = [f"{word} {digits(x)}" for word, x in operations if x is not None]
    return [*lines, ", ".join([*parts, f"{numbers.share:.0%} of all that diverges is here"])]


def explain_file(analysis: Analysis) -> list[Block]:
    """Explain the file: its groups, the words of its pairs, their order, and the scores."""
    comparison, names = analysis.comparison, names_of(analysis.snapshot.revisions)
    order = [ranked.index for ranked in comparison.ranking]
    blocks: list[Block] = [Line(headline(analysis, names))]
    blocks += map(Line, group_lines(analysis, names))
    if len(order) > 1:
        # A line for each word that says more than the number, with its pairs.
        matrix = analysis.comparison.matrix
        pairs: dict[str, list[str]] = {word: [] for word in SAME}
        for a, b in combinations(order, 2):
            if (level := matrix.level(a, b)) is not None:
                pair = f"{names[a]} / {names[b]}"
                pairs[level.word].append(level_words(pair, level.renamed, "{} / {}"))
        blocks += [
            Line(f"{word}: {listed(phrases, MAX_NAMES)}")
            for word, phrases in pairs.items()
            if phrases
        ]
        blocks.append(Line(f"Best first: {listed((names[index] for index in order), MAX_NAMES)}"))
        blocks.append(Line(f"Order: {order_words(analysis.snapshot.intent)}"))
        blocks += [Line(DISAGREE)] * disagree(comparison.ranking)
        blocks.append(_scores(analysis, order, names))
    return [*blocks, Line(comparison.signature)]


def _scores(analysis: Analysis, order: Sequence[int], names: Sequence[str]) -> Block:
    """Return the scores of all pairs, or only their range if there are many."""
    matrix = analysis.comparison.matrix
    if len(order) <= MAX_COLUMNS:
        rows = tuple(
            (names[a], *(digits(float(matrix.values[a, b])) for b in order)) for a in order
        )
        return Table(("ES", *(names[b] for b in order)), rows)
    values = sorted(float(matrix.values[a, b]) for a, b in combinations(order, 2))
    mean = sum(values) / len(values)
    return Line(
        f"ES of {len(values):,} pairs: {digits(values[0])} to {digits(values[-1])}, "
        f"mean {digits(mean)}; the diagnostic of the first line has all"
    )


def _variant(analysis: Analysis, hunk: Hunk, variant: Variant, names: Sequence[str]) -> list[Block]:
    """Return the exact text of a variant below its candidates, cut to the size of a hover."""
    who = listed((names[member] for member in variant.members), MAX_NAMES)
    if (count := len(analysis.snapshot.texts)) > 1:
        who = f"{who} ({share_of(variant.members, count)})"
    if (words := without_code(hunk, variant)) is not None:
        return [Line(f"{who} {words}")]
    lines = variant.text.removesuffix("\n").split("\n")
    others = [hunk.text, *(other.text for other in hunk.variants if other is not variant)]
    beside = [_source(line) for text in others for line in text.split("\n")]
    shown = [
        shortened_beside(_source(line), beside, MAX_CODE_WIDTH) for line in lines[:MAX_CODE_LINES]
    ]
    blocks: list[Block] = [Line(f"{who}:"), Code(tuple(shown), code_language(analysis))]
    if len(lines) > MAX_CODE_LINES:
        blocks.append(Line(f"… and {len(lines) - MAX_CODE_LINES} more lines"))
    return blocks


def _source(line: str) -> str:
    """Return a line of source in printable characters; indentation stays."""
    return "\t".join(printable(part) for part in line.split("\t"))


# --- the page ---

PAGE_NAMES = 30
PAGE_PAIRS = 200
"""Most pairs whose scores are listed. The report has all."""


def review_page(analysis: Analysis, name: str) -> str:
    """Return every hunk with its variants as code, then the groups and the scores of all pairs."""
    decisions, names = decisions_of(analysis), names_of(analysis.snapshot.revisions)
    parts = [f"# {code_span(name)}", f"{inert(headline(analysis, names))}."]
    for index, decision in enumerate(decisions):
        parts += _page_hunk(analysis, index, decision, names)
    parts += ["## Groups", "\n".join(f"- {inert(line)}" for line in group_lines(analysis, names))]
    if scores := list(islice(_pair_lines(analysis, names, _all_pairs(analysis)), PAGE_PAIRS)):
        if len(names) * (len(names) - 1) // 2 > PAGE_PAIRS:
            scores.append("… excise/report has all pairs")
        parts += ["## Scores", "\n".join(f"- {inert(line)}" for line in scores)]
    return "\n\n".join([*parts, code_span(analysis.comparison.signature), ""])


def hunk_heading(index: int) -> str:
    """Return the beginning of a hunk's heading on the page, to which clients scroll."""
    return f"## Hunk {index + 1}:"


def _page_hunk(
    analysis: Analysis, index: int, decision: Decision, names: Sequence[str]
) -> Iterator[str]:
    hunk, count = analysis.hunks[index], len(analysis.snapshot.texts)
    yield f"{hunk_heading(index)} {place_words(hunk.lo, hunk.hi)}, {_decided(decision)}"
    yield f"{inert(hunk_words(hunk, count, names))}."
    yield "The origin:" if hunk.text else "The origin has nothing here."
    if hunk.text:
        yield _code(analysis, hunk.text)
    for variant in hunk.variants:
        who = inert(listed((names[member] for member in variant.members), PAGE_NAMES))
        share = share_of(variant.members, count)
        if (words := without_code(hunk, variant)) is not None:
            yield f"**{who}** ({share}) {words}."
        else:
            yield f"**{who}** ({share}):"
            yield _code(analysis, variant.text)


def _decided(decision: Decision) -> str:
    if not decision.decided:
        return "undecided"
    words = {"origin": "the origin stays", "mixed": "a mix of them", "edited": "edited by hand"}
    return words.get(decision.kind, f"variant {(decision.variant or 0) + 1} is taken")


def _code(analysis: Analysis, text: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    return fenced([source_text(line) for line in lines], code_language(analysis))
