"""The answer of ``find_duplicates``, made from the document of ``excise duplicates``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from excise_server.mcp.answers import DuplicateAnswer, DuplicatesAnswer

__all__ = ["MOST_PAIRS", "duplicates_answer"]

MOST_PAIRS = 20
_MOST_NOTES = 8

Document = Mapping[str, Any]


def duplicates_answer(document: Document) -> DuplicatesAnswer:
    """Return the first pairs of what `excise duplicates --format json` prints."""
    proposals = {proposal["id"]: proposal for proposal in document["proposals"]}
    pairs = document["pairs"]
    notes, rejected = document["notes"], document["rejected"]
    return DuplicatesAnswer(
        asked=document["asked"],
        among=document["among"],
        pairs=[_pair(pair, proposals[pair["other"]]) for pair in pairs[:MOST_PAIRS]],
        left_out=max(0, len(pairs) - MOST_PAIRS),
        notes=notes[:_MOST_NOTES],
        rejected=[
            f"{rejection['id']}: {rejection['reason']}" for rejection in rejected[:_MOST_NOTES]
        ],
    )


def _pair(pair: Document, proposal: Document) -> DuplicateAnswer:
    reasons = pair["reasons"]
    edit = pair["same_edit"]
    lines = [f"{line['path']}:{line['line']} {line['text']}" for line in reasons["where"]]
    return DuplicateAnswer(
        new=pair["new"],
        other=pair["other"],
        title=proposal["title"],
        author=proposal["author"],
        word=pair["word"],
        probability=round(pair["probability"], 3),
        what=round(pair["what"], 3),
        where=round(pair["where"], 3),
        why=None if pair["why"] is None else round(pair["why"], 3),
        same_edit=round(edit["similarity"], 3),
        otherwise=pair["otherwise"],
        reasons=[*lines, *reasons["what"], *reasons["why"]],
    )
