"""The program in another interpreter: CodeBLEU, BERTScore, LENS: a JSON line per output.

Excise is not installed there, only the standard library and the one package (Python 3.9 or newer).

In:  {"measure": "codebleu", "model": null}, then {"origin", "references", "hypothesis", "language"}
Out: {"ready": "codebleu-0.7.0"} or {"error": ...}, then {"value": ...} or {"error": ...} each
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any

Scorer = Callable[..., float]
"""Maps the fields of one question to a value."""


def main() -> None:
    """Answer until the input ends."""
    # The output of the packages goes elsewhere, so that the pipe has only our lines.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", newline="\n")
    os.dup2(2, 1)
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    questions = os.fdopen(os.dup(0), "r", encoding="ascii", newline="\n")
    start = json.loads(questions.readline())
    try:
        score, version = MEASURES[start["measure"]](start["model"])
    except Exception as error:  # noqa: BLE001 (whatever it is, the other side shall know)
        answer(answers, error=reason(error))
        return
    answer(answers, ready=version)
    for line in questions:
        try:
            answer(answers, value=float(score(**json.loads(line))))
        except Exception as error:  # noqa: BLE001
            answer(answers, error=reason(error))


def answer(out: IO[str], **fields: object) -> None:
    """Write one line."""
    out.write(json.dumps(fields) + "\n")
    out.flush()


def reason(error: Exception) -> str:
    """Return an error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def clean(text: str) -> str:
    """Return a text that can be encoded: lone surrogates become replacement characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def codebleu(_model: str | None) -> tuple[Scorer, str]:
    """Make the scorer of CodeBLEU."""
    from codebleu import calc_codebleu

    def score(origin: str, references: list[str], hypothesis: str, language: str) -> float:
        del origin
        texts = [[clean(text) for text in references]]
        try:
            scores = calc_codebleu(texts, [clean(hypothesis)], language)
        except ImportError as error:
            package = f"tree-sitter-{language.replace('_', '-')}"
            advice = f"{sys.executable} -m pip install '{package}<0.23'"
            raise ImportError(
                f"no grammar for {language} is there; install it: {advice}"
            ) from error
        return float(scores["codebleu"])

    return score, "codebleu-" + version("codebleu")


def bertscore(model: str) -> tuple[Scorer, str]:
    """Make the scorer of BERTScore, with the layer that its authors tuned, or else the last."""
    from bert_score import BERTScorer
    from bert_score.utils import model2layers
    from transformers import AutoConfig

    name = os.path.basename(os.path.normpath(model))
    layers = model2layers.get(name) or AutoConfig.from_pretrained(model).num_hidden_layers
    scorer = BERTScorer(model_type=model, num_layers=layers, device="cpu")

    def score(origin: str, references: list[str], hypothesis: str, language: str) -> float:
        del origin, language
        _, _, f1 = scorer.score([clean(hypothesis)], [[clean(text) for text in references]])
        return min(1.0, max(-1.0, float(f1[0])))

    return score, f"bert-score-{version('bert-score')}/{name}-L{layers}"


def lens(model: str) -> tuple[Scorer, str]:
    """Make the scorer of LENS."""
    from lens import LENS

    checkpoint = os.path.join(model, "checkpoints", "model.ckpt") if os.path.isdir(model) else model
    scorer = LENS(checkpoint, rescale=True)
    name = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(checkpoint))))

    def score(origin: str, references: list[str], hypothesis: str, language: str) -> float:
        del language
        texts = [[clean(text) for text in references]]
        return float(scorer.score([clean(origin)], [clean(hypothesis)], texts, batch_size=8)[0])

    return score, f"lens-metric-{version('lens-metric')}/{name}"


def version(distribution: str) -> str:
    """Return the version of an installed package."""
    from importlib.metadata import version as installed

    return installed(distribution)


MEASURES: dict[str, Any] = {
    "codebleu": codebleu,
    "bertscore": bertscore,
    "lens": lens,
}

if __name__ == "__main__":
    main()
