"""The measures that run elsewhere: in their own environment, or with a model from disk.

The library starts no process and opens no file, so the caller hands in functions that compute them
(`Resources`). Without these, the measures are left out, with the reason and the command that helps.
"""

from __future__ import annotations

from excise.evaluation.base import Item, Measure, MeasureUnavailableError, Remote, Value

CODEBLEU = {
    name: "c_sharp" if name == "csharp" else name
    for name in (
        "c", "cpp", "csharp", "go", "java", "javascript", "php", "python", "ruby", "rust",
    )
}  # fmt: skip
"""Maps our grammars to the languages of codebleu."""


def codebleu(item: Item, compute: Remote) -> Value:
    """CodeBLEU (Ren et al. 2020), by codebleu: a quarter each of four parts. In [0, 1].

    BLEU, BLEU with weight on keywords, subtrees and data flow shared with the references (no data
    flow in the references counts as 1, the library's convention). For the languages of `CODEBLEU`
    only. Several references together, the library's way. 0/0: both blank: 1; one of them: 0.

    Raises MeasureUnavailableError for another language.
    """
    language = CODEBLEU.get(item.grammar or "")
    if language is None:
        named = item.language or item.path or "no language"
        supported = ", ".join(CODEBLEU)
        raise MeasureUnavailableError(f"codebleu does not know {named}; it knows {supported}")
    return _elsewhere(item, compute, language)


def bertscore(item: Item, compute: Remote) -> Value:
    """BERTScore (Zhang et al. 2020), by bert-score with a local model: F1. In [-1, 1].

    Cosines of the model's token vectors, greedily matched; no idf, no rescaling. A text ends where
    the model's length does. The best reference counts. 0/0: both blank: 1; one of them: 0.
    """
    return _elsewhere(item, compute, "")


def lens(item: Item, compute: Remote) -> Value:
    """LENS (Maddela et al. 2023), by lens-metric with a local model. In [0, 100].

    What a trained model says of origin, hypothesis and reference, rescaled by the library; the
    best reference counts. 0/0: the model's own; nothing is decided here.
    """
    return Value(compute(item.origin, item.references, item.hypothesis, ""))


def _elsewhere(item: Item, compute: Remote, language: str) -> Value:
    blank = [not text.strip() for text in item.references]
    if not item.hypothesis.strip():
        return Value(float(any(blank)))
    if all(blank):
        return Value(0.0)
    filled = [text for text, empty in zip(item.references, blank, strict=True) if not empty]
    return Value(compute(item.origin, filled, item.hypothesis, language))


MEASURES = (
    Measure(
        score=codebleu,
        source="Ren et al. 2020",
        key="codebleu|w:.25/.25/.25/.25|tok:space|0/0:1",
        several="joint",
        resource="codebleu",
    ),
    Measure(
        score=bertscore,
        source="Zhang, Kishore, Wu, Weinberger, Artzi 2020",
        key="bertscore|f1|idf:no|rescale:no|0/0:1",
        low=-1.0,
        resource="bertscore",
    ),
    Measure(
        score=lens,
        source="Maddela, Dou, Heineman, Xu 2023",
        key="lens|rescale:yes",
        high=100.0,
        needs_origin=True,
        resource="lens",
    ),
)
