"""Excision Score as a scorer of inspect_ai: how far an edit does what the reference edit does.

A sample has the text before any edit in its metadata, as ``origin``, and one or more reference
texts as its target; the model answers with the whole edited text.
"""

from __future__ import annotations

import re

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

import excise

FENCED = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


@scorer(metrics=[mean(), stderr()])
def excision_score(language: str | None = None, comments: str = "keep") -> Scorer:
    """Score the answer, or the code block in it, against the best of the targets."""

    async def score(state: TaskState, target: Target) -> Score:
        blocks = FENCED.findall(state.output.completion)
        answer = blocks[-1] if blocks else state.output.completion
        found = excise.excision_score(
            origin=state.metadata["origin"],
            reference=list(target),
            hypothesis=answer,
            language=language,
            comments=comments,
            timeout=10,
        )
        about = {"signature": found.signature, "notes": list(found.notes)}
        return Score(value=found.value, answer=answer, metadata=about)

    return score
