"""The review of one document as a page of Markdown, for clients that show nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from excise_server.editor.analysis import Analysis
from excise_server.editor.decisions import Decision, decisions_of
from excise_server.editor.findings import MAX_HUNKS, group_lines, headline, word_of_pair
from excise_server.editor.wording import (
    code_language,
    hunk_words,
    listed,
    names_of,
    share_of,
    without_code,
)
from excise_server.foundation.escape import source_text
from excise_server.report.markdown import code_span, fenced, inert
from excise_server.report.words import digits

__all__ = ["hunk_heading", "review_page"]

MAX_NAMES = 30
MAX_PAIRS = 200
"""Most pairs whose scores are listed. The report has all."""


def review_page(analysis: Analysis, name: str) -> str:
    """Return every hunk with its variants as code, then the groups and the scores of all pairs."""
    decisions, names = decisions_of(analysis), names_of(analysis.snapshot.revisions)
    parts = [f"# {code_span(name)}", f"{inert(headline(analysis, names, MAX_HUNKS))}."]
    for index, decision in enumerate(decisions):
        parts += _hunk(analysis, index, decision, names)
    parts += ["## Groups", "\n".join(f"- {inert(line)}" for line in group_lines(analysis, names))]
    if scores := list(_scores(analysis, names)):
        parts += ["## Scores", "\n".join(f"- {inert(line)}" for line in scores)]
    return "\n\n".join([*parts, code_span(analysis.comparison.signature), ""])


def hunk_heading(index: int) -> str:
    """Return the beginning of a hunk's heading on the page, to which clients scroll."""
    return f"## Hunk {index + 1}:"


def _hunk(
    analysis: Analysis, index: int, decision: Decision, names: Sequence[str]
) -> Iterator[str]:
    hunk, count = analysis.hunks[index], len(analysis.snapshot.texts)
    yield f"{hunk_heading(index)} {_lines(hunk.lo, hunk.hi)}, {_decided(decision)}"
    yield f"{inert(hunk_words(hunk, count, names))}."
    yield "The origin:" if hunk.text else "The origin has nothing here."
    if hunk.text:
        yield _code(analysis, hunk.text)
    for variant in hunk.variants:
        who = inert(listed((names[member] for member in variant.members), MAX_NAMES))
        share = share_of(variant.members, count)
        if (words := without_code(hunk, variant)) is not None:
            yield f"**{who}** ({share}) {words}."
        else:
            yield f"**{who}** ({share}):"
            yield _code(analysis, variant.text)


def _lines(lo: int, hi: int) -> str:
    if lo == hi:
        return f"after line {lo}" if lo else "at the start"
    return f"line {hi}" if hi == lo + 1 else f"lines {lo + 1} to {hi}"


def _decided(decision: Decision) -> str:
    if not decision.decided:
        return "undecided"
    words = {"origin": "the origin stays", "mixed": "a mix of them", "edited": "edited by hand"}
    return words.get(decision.kind, f"variant {(decision.variant or 0) + 1} is taken")


def _code(analysis: Analysis, text: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    return fenced([source_text(line) for line in lines], code_language(analysis))


def _scores(analysis: Analysis, names: Sequence[str]) -> Iterator[str]:
    matrix = analysis.comparison.matrix
    order = [ranked.index for ranked in analysis.comparison.ranking]
    for count, (a, b) in enumerate(combinations(order, 2)):
        if count == MAX_PAIRS:
            yield "… excise/report has all pairs"
            return
        es, word = digits(float(matrix.values[a, b])), word_of_pair(analysis, a, b, names)
        yield f"ES {es} {names[a]} / {names[b]}: {word}"
