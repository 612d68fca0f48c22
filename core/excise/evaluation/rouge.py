"""ROUGE by rouge-score, of the whole text and of what was updated."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Any

from excise.alignment import align
from excise.evaluation.base import Item, Measure, Value, best
from excise.evaluation.ngrams import f1
from excise.tokens import Vocabulary

CELLS = 1_000_000
"""Size of the table up to which the library computes ROUGE-L; above, our kernel: same number."""

_SENTENCE = re.compile(r"[^.]+\.?")


def rouge(item: Item, kind: str) -> Value:
    """ROUGE (Lin 2004), by rouge-score: F of n-grams (1, 2) or of the LCS (L). In [0, 1].

    Tokens are runs of a-z and 0-9 in lower case, not stemmed; the whole text is one sequence. The
    best reference counts. 0/0: both texts blank: 1; else 0 for a text without such tokens.
    """
    return best(item.references, lambda text: _f(text, item.hypothesis, kind))


def update_rouge(item: Item, kind: str) -> Value:
    """UpdateROUGE (Logan IV et al. 2022, FRUIT): ROUGE of the sentences that are new. In [0, 1].

    A sentence ends at a full stop; it is new where it is not a substring of the origin. ``L`` is
    rouge-score's ``rougeLsum``, as published: new sentences are joined, so it is ``rougeL`` of
    them. The best reference counts. 0/0: neither has new sentences: 1; only one has: 0.
    """
    ours = additions(item.origin, item.hypothesis)
    return best(item.references, lambda text: _f(additions(item.origin, text), ours, kind))


def additions(origin: str, revision: str) -> str:
    """Return the sentences of a revision that are not a substring of its origin.

    >>> additions("It rains. It pours.", "It rains. It snows. It pours.")
    'It snows.'
    """
    sentences = (match.group() for match in _SENTENCE.finditer(revision))
    return " ".join(sentence.strip() for sentence in sentences if sentence not in origin)


def _f(reference: str, hypothesis: str, kind: str) -> float:
    if not reference.strip() and not hypothesis.strip():
        return 1.0
    if kind == "rougeL":
        from rouge_score.tokenize import tokenize

        sides = [tokenize(text, None) for text in (reference, hypothesis)]
        if len(sides[0]) * len(sides[1]) > CELLS:
            return rouge_l(*sides)
    return float(_scorer(kind).score(reference, hypothesis)[kind].fmeasure)


def rouge_l(reference: list[str], hypothesis: list[str]) -> float:
    """Return ROUGE-L of two lists of tokens that are not empty, however long they are."""
    vocabulary = Vocabulary()
    a, b = (vocabulary.intern(tokens) for tokens in (reference, hypothesis))
    common = len(a) - sum(edit.o_hi - edit.o_lo for edit in align(a, b).edits)
    return f1(common, len(hypothesis), len(reference))


@cache
def _scorer(kind: str) -> Any:  # noqa: ANN401 - a class of a package that may be absent
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind])


MEASURES = tuple(
    Measure(
        score=partial(score, kind=kind),
        source=source,
        key=f"{prefix}{kind}|f1|tok:a-z0-9|case:lc|stem:no|0/0:1{suffix}",
        needs_origin=bool(prefix),
        package="rouge-score",
    )
    for prefix, score, source, suffix in (
        ("", rouge, "Lin 2004", ""),
        ("update-", update_rouge, "Logan IV et al. 2022 (FRUIT); EditEval", "|sent:full-stop|v:1"),
    )
    for kind in ("rouge1", "rouge2", "rougeL")
)
