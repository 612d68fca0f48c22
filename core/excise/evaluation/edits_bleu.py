"""BLEU of what was edited: DiffBLEU and SansLCS-BLEU, as the Excision Score paper defines them."""

from __future__ import annotations

from dataclasses import replace

from excise.alignment import three_way
from excise.evaluation.base import Item, Measure, Value, best
from excise.evaluation.translation import SACREBLEU, sentence_bleu
from excise.preparation import Preparation, Prepared, align, prepare
from excise.signature import Options
from excise.text import raw_lines


def diffbleu(item: Item) -> Value:
    """BLEU between two diffs, origin to hypothesis and origin to reference. In [0, 1].

    Bairi et al. 2024 (CodePlan), Munson et al. 2022; section 3.3 of the Excision Score paper. The
    diff is that of whole lines by the canonical alignment, ``-`` or ``+`` before each changed
    line, without context and headers. Several references: their diffs together, as in `bleu`.
    0/0: neither changes anything: 1; only one does: 0.
    """
    by_hypothesis = changed_lines(item.origin, item.hypothesis)
    by_references = [changed_lines(item.origin, text) for text in item.references]
    return Value(sentence_bleu(by_hypothesis, by_references))


def changed_lines(origin: str, revision: str) -> str:
    r"""Return the changed lines as in a unified diff without context and headers.

    >>> changed_lines("a\nb\n", "a\nc\n")
    '-b\n+c\n'
    """
    old, new = raw_lines(origin), raw_lines(revision)
    changes: list[str] = []
    for edit in align(old, new).edits:
        changes += [f"-{line}" for line in old[edit.o_lo : edit.o_hi]]
        changes += [f"+{line}" for line in new[edit.a_lo : edit.a_hi]]
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in changes)


def sanslcs_bleu(item: Item) -> Value:
    """BLEU of what is left of both revisions without what all three texts share. In [0, 1].

    Equation 1 of the Excision Score paper with P = BLEU, on our tokens and their star alignment:
    one token of ours is one token of BLEU. What was only deleted leaves nothing to compare.
    The best reference counts. 0/0: nothing is left on either side: 1; on one side: 0.
    """
    origin, references, hypothesis = item.texts
    options = Options("token", "star", "precision", item.comments)
    contents = (origin, hypothesis, *references)
    preparation, [b, *sides] = prepare(contents, options, item.language, item.path, item.timeout)
    prepared = dict(zip(references, sides, strict=True))
    result = best(references, lambda text: _bleu_of_rest(preparation, prepared[text], b))
    signature = _SANSLCS.format(options.comments, preparation.tokeniser)
    return replace(result, signature=signature)


def _bleu_of_rest(preparation: Preparation, a: Prepared, b: Prepared) -> float:
    units = (preparation.origin.units, a.units, b.units)
    flat = three_way(*units, (a.edits, b.edits), "star")
    # Tokens are replaced by their numbers, so that one with white space inside stays one.
    rests = (
        " ".join(
            str(token)
            for index in range(0, len(flat), 6)
            for token in side.units.tokens[flat[index + place] : flat[index + place + 1]]
        )
        for side, place in ((a, 2), (b, 4))
    )
    left_of_a, left_of_b = rests
    return sentence_bleu(left_of_b, (left_of_a,), tokenise="none")


_SANSLCS = "sanslcs-bleu|gran:token|lcs:star|n:4|eff:yes|smooth:exp|0/0:1|comments:{}|tok:{}|v:1"

MEASURES = (
    Measure(
        score=sanslcs_bleu,
        source="Gruzinov, Sycheva, Barr, Bezzubov, equation 1 with P = BLEU",
        key="sanslcs-bleu|gran:token|lcs:star|n:4|eff:yes|smooth:exp|0/0:1|v:1",
        needs_origin=True,
        package=SACREBLEU,
    ),
    Measure(
        score=diffbleu,
        source="Bairi et al. 2024; Munson et al. 2022",
        key="diffbleu|diff:canonical|unit:line|context:0|n:4|case:mixed|eff:yes|tok:13a|smooth:exp"
        "|0/0:1|v:1",
        needs_origin=True,
        several="joint",
        package=SACREBLEU,
    ),
)
