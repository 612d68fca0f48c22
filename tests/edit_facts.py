"""The facts about revisions of a text, as a matrix has them."""

from excise.facts import EditFacts
from excise.preparation import Readings
from excise.reading import Reading


def facts_of(origin, revisions, grammar):
    if grammar is None:
        return (EditFacts(),) * len(revisions)
    return Readings().facts(origin, revisions, Reading(grammar), None)
