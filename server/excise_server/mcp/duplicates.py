"""The answer of ``find_duplicates``, made from the document of ``excise duplicates``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from excise_server.mcp.answers import DuplicateAnswer, DuplicatesAnswer
from excise_server.mcp.pages import PAGE_CHARACTERS, cut, some

__all__ = ["MOST_PAIRS", "duplicates_answer"]

MOST_PAIRS = 20
_MOST_NOTES = 8
_MOST_REASONS = 8
_HEAD = 200
"""Characters that are kept for the sentence about invisible ones."""

Document = Mapping[str, Any]


def duplicates_answer(document: Document) -> DuplicatesAnswer:
    """Return the first pairs of `excise duplicates --format json`, as many as fit on a page."""
    proposals = {proposal["id"]: proposal for proposal in document["proposals"]}
    pairs = document["pairs"]
    rejected = [f"{rejection['id']}: {rejection['reason']}" for rejection in document["rejected"]]
    answer = DuplicatesAnswer(
        asked=document["asked"],
        among=document["among"],
        pairs=[],
        left_out=len(pairs),
        notes=some(document["notes"], _MOST_NOTES, "notes"),
        rejected=some(rejected, _MOST_NOTES, "branches"),
    )
    shown: list[DuplicateAnswer] = []
    room = PAGE_CHARACTERS - len(answer.sent) - _HEAD
    for pair in pairs[:MOST_PAIRS]:
        shown.append(_pair(pair, proposals[pair["other"]]))
        room -= len(shown[-1].sent) + 1
        if room < 0:
            shown.pop()
            break
    return answer.model_copy(update={"pairs": shown, "left_out": len(pairs) - len(shown)})


def _pair(pair: Document, proposal: Document) -> DuplicateAnswer:
    reasons = pair["reasons"]
    edit = pair["same_edit"]
    lines = [f"{line['path']}:{line['line']} {line['text']}" for line in reasons["where"]]
    return DuplicateAnswer(
        new=cut(pair["new"]),
        other=cut(pair["other"]),
        title=cut(proposal["title"]),
        author=cut(proposal["author"]),
        word=pair["word"],
        probability=round(pair["probability"], 3),
        what=round(pair["what"], 3),
        where=round(pair["where"], 3),
        why=None if pair["why"] is None else round(pair["why"], 3),
        same_edit=round(edit["similarity"], 3),
        otherwise=pair["otherwise"],
        reasons=some([*lines, *reasons["what"], *reasons["why"]], _MOST_REASONS, "reasons"),
    )
