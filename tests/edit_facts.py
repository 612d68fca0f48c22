"""The facts about revisions of a text, as a matrix has them."""

from __future__ import annotations

from excise.facts import EditFacts, FactsReader
from excise.reading import ParsedTexts, Reading


def facts_of(origin, revisions, grammar):
    if grammar is None:
        return (EditFacts(),) * len(revisions)
    texts, reader = ParsedTexts(), FactsReader(origin, Reading(grammar))
    return tuple(reader.facts(text, texts, None) for text in revisions)
