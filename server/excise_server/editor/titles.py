"""Titles of lenses and actions on an analysis. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from excise import Variant
from excise_server.editor.analysis import Analysis
from excise_server.editor.wording import changers, listed, share_of

__all__ = ["candidate_title", "file_title", "variant_title"]


def file_title(analysis: Analysis, names: Sequence[str]) -> str:
    """Return "5 candidates in 3 groups · 1 of 4 hunks decided", or the only candidate's name."""
    hunks, decided = len(analysis.hunks), sum(analysis.decided)
    hunk_count = f"{hunks} hunk{'s' if hunks != 1 else ''}"
    return f"{changers(analysis, names)} · {decided} of {hunk_count} decided"


def variant_title(
    analysis: Analysis, names: Sequence[str], index: int, variant: Variant, *, number: bool = False
) -> str:
    """Return "Take the lines of gpt, claude here (2 of 5)"."""
    count = len(analysis.snapshot.texts)
    who = listed(names[member] for member in variant.members)
    share = f" ({share_of(variant.members, count)})" if count > 1 else ""
    where = f"in hunk {index + 1}" if number else "here"
    if variant.text == analysis.hunks[index].text:
        return f"Take the origin's lines {where}, as {who}{share}"
    return f"Take the lines of {who} {where}{share}"


def candidate_title(analysis: Analysis, names: Sequence[str], index: int) -> str:
    """Return "Take this file from gpt (in a group of 2)" of a candidate, by its index."""
    size = next(len(c.members) for c in analysis.comparison.clusters if index in c.members)
    group = f" (in a group of {size})" if size > 1 else ""
    return f"Take this file from {names[index]}{group}"
