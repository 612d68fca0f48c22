"""The measures of machine translation, by sacrebleu: BLEU, chrF, TER and iBLEU.

Sacrebleu's percentages are divided by 100. Its conventions hold, but for one: two texts without
any token are equal, so they have similarity 1 (sacrebleu: 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from excise.evaluation.base import Item, Measure, MeasureUnavailableError, Value

TER_PAIRS = 1_000_000
"""Words of a hypothesis times words of a reference, above which TER is not computed."""

CACHED = 200
"""Characters up to which a text may stay in the caches of sacrebleu's tokenisers."""

ALPHA = 0.9
"""Weight of the references in iBLEU; the rest punishes copies from the origin."""


def bleu(item: Item) -> Value:
    """BLEU of one text (Papineni et al. 2002), by sacrebleu. In [0, 1].

    13a tokens, case kept, orders the text is too short for left out (``eff:yes``), exponential
    smoothing. Several references: clipped together, the length nearest to the hypothesis' counts.
    0/0: no tokens on either side: 1; on one side: 0.
    """
    return Value(sentence_bleu(item.hypothesis, item.references))


def sentence_bleu(hypothesis: str, references: Sequence[str], tokenise: str = "13a") -> float:
    """Return sacrebleu's BLEU of one text, in [0, 1]."""
    if _empty(hypothesis, references):
        return 1.0
    metric = sacrebleu_metric("BLEU", effective_order=True, tokenize=tokenise, force=True)
    score: float = metric.sentence_score(hypothesis, references).score
    forget(hypothesis, *references)
    return min(1.0, score / 100)  # its sum of logarithms may end a hair above 100


def forget(*texts: str) -> None:
    """Empty sacrebleu's caches of tokenised lines where one of the texts is long.

    Each keeps 65,536 lines, whatever their length: with source files for lines, gigabytes.
    """
    if all(len(text) <= CACHED for text in texts):
        return
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    for tokeniser in (Tokenizer13a, TokenizerRegexp, TercomTokenizer):
        tokeniser.__call__.cache_clear()


def chrf(item: Item) -> Value:
    """F of character 1- to 6-grams (Popović 2015, chrF2: beta = 2), by sacrebleu. In [0, 1].

    White space does not count, case does. The best reference counts. 0/0: both empty: 1.
    """
    if _empty(item.hypothesis, item.references):
        return Value(1.0)
    return Value(
        sacrebleu_metric("CHRF").sentence_score(item.hypothesis, item.references).score / 100
    )


def ter(item: Item) -> Value:
    """Translation edit rate (Snover et al. 2006), by sacrebleu. In [0, inf); smaller is better.

    Edits (insert, delete, substitute, shift a run of words) over words of the reference; words
    between white space, in lower case. Several references: the fewest edits over the mean length.
    0/0: both empty: 0; only the reference: 1.

    Raises MeasureUnavailableError over `TER_PAIRS` words of the hypothesis times words of a
    reference: the search for shifts takes minutes from there on, and then the memory.
    """
    ours, theirs = len(item.hypothesis.split()), max(len(text.split()) for text in item.references)
    if ours * theirs > TER_PAIRS:
        raise MeasureUnavailableError(
            f"ter: {ours:,} words beside {theirs:,} are too many for its shift search"
        )
    score = sacrebleu_metric("TER").sentence_score(item.hypothesis, item.references).score
    forget(item.hypothesis, *item.references)
    return Value(score / 100)


def ibleu(item: Item) -> Value:
    """.9 BLEU with the references - .1 BLEU with the origin (Sun and Zhou 2012). In [-.1, .9].

    BLEU and 0/0 as in `bleu`. A reproduction scores .9 where it shares nothing with the origin.
    """
    with_references = sentence_bleu(item.hypothesis, item.references)
    with_origin = sentence_bleu(item.hypothesis, (item.origin,))
    return Value(ALPHA * with_references - (1 - ALPHA) * with_origin)


def _empty(hypothesis: str, references: Sequence[str]) -> bool:
    return not hypothesis.strip() and any(not text.strip() for text in references)


@cache
def sacrebleu_metric(kind: str, **options: object) -> Any:  # noqa: ANN401 - may be absent
    """Return a metric of sacrebleu. It caches its tokens, so one of each serves every item."""
    from sacrebleu import metrics

    return getattr(metrics, kind)(**options)


@cache
def _tokeniser(kind: str) -> Any:  # noqa: ANN401 - as above
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re

    kinds: Any = {"13a": tokenizer_13a.Tokenizer13a, "mteval": tokenizer_re.TokenizerRegexp}
    return kinds[kind]()


def sacrebleu_tokens(text: str, kind: str) -> list[str]:
    """Return the tokens that sacrebleu's tokeniser ``13a`` or ``mteval`` makes of a text."""
    tokens: list[str] = _tokeniser(kind)(text).split()
    forget(text)
    return tokens


SACREBLEU = "sacrebleu"

MEASURES = (
    Measure(
        score=bleu,
        source="Papineni, Roukos, Ward, Zhu 2002",
        key="bleu|n:4|case:mixed|eff:yes|tok:13a|smooth:exp|0/0:1",
        several="joint",
        package=SACREBLEU,
    ),
    Measure(
        score=chrf,
        source="Popović 2015",
        key="chrf|nc:6|nw:0|beta:2|space:no|case:mixed|eff:yes|0/0:1",
        package=SACREBLEU,
    ),
    Measure(
        score=ter,
        source="Snover, Dorr, Schwartz, Micciulla, Makhoul 2006",
        key="ter|case:lc|tok:tercom|norm:no|punct:yes|asian:no",
        high=float("inf"),
        larger_is_better=False,
        several="joint",
        package=SACREBLEU,
    ),
    Measure(
        score=ibleu,
        source="Sun, Zhou 2012; EditEval",
        key=f"ibleu|alpha:{ALPHA}|n:4|case:mixed|eff:yes|tok:13a|smooth:exp|0/0:1",
        low=-0.1,
        high=0.9,
        needs_origin=True,
        several="joint",
        package=SACREBLEU,
    ),
)
