"""Families of a batch, as documents and as lines for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from excise.agreement import CODE, IDENTICAL
from excise.ranking import ALONE
from excise_server.foundation.escape import shortened
from excise_server.foundation.inputs import first_few
from excise_server.report.words import BESIDE, THERE, level_words, other_facets, plural
from excise_server.review.families import Family
from excise_server.wire.documents import FamilyEditEntry, FamilyEntry, ReviewBatchEntry

LONGEST_LINE = 100
"""Characters of a changed line that are shown."""

_TOGETHER = {True: "identical", False: "the same code"}

MOST_SHOWN = 20
"""Families of a batch, and edits of a family, that a page shows."""


def family_entries(families: Sequence[Family], ids: Sequence[str]) -> list[FamilyEntry]:
    """Return families by the ids of their candidates."""
    return [
        FamilyEntry(
            lines=list(family.lines),
            edits=[
                FamilyEditEntry(
                    members=[ids[index] for index in edit.members],
                    words=list(edit.words),
                    other_facets=[list(facets) for facets in edit.other_facets],
                    relation=edit.relation,
                    renamed=[list(pair) for pair in edit.renamed],
                    line=edit.line,
                )
                for edit in family.edits
            ],
        )
        for family in families
    ]


def letter(index: int) -> str:
    """Return how a family is called on a page.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    more, last = divmod(index, len(ascii_uppercase))
    return (letter(more - 1) if more else "") + ascii_uppercase[last]


def listed_facts(batch: ReviewBatchEntry) -> dict[str, list[str]]:
    """Return what is said of each candidate beside its edit."""
    facts = {
        candidate.id: [why for why in candidate.why if why != ALONE]
        for candidate in batch.candidates
    }
    for group in batch.groups:
        for reason in group.reasons:
            for identity in reason.members:
                facts[identity] += [reason.text] * (reason.text not in facts[identity])
    return facts


@dataclass(frozen=True, slots=True)
class EditBlock:
    """An edit of a family as every page shows it.

    ``ids`` and ``names`` are the candidates that make it. ``relations`` are what each is to the
    first of them, which has the edit's relation to the family's first edit instead; ``facts`` is
    what is known of them, and ``line`` a changed line that no other edit of the family has, or
    empty.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    relations: tuple[str, ...]
    facts: tuple[str, ...]
    line: str


@dataclass(frozen=True, slots=True)
class FamilyBlock:
    """A family as every page shows it: what it is called, what tells it apart, and its edits."""

    head: str
    lines: tuple[str, ...]
    edits: tuple[EditBlock, ...]


def beside_first(edit: FamilyEditEntry, first: str) -> list[str]:
    """Return what each member of an edit is to the first of them, by whatever name."""
    return [
        BESIDE[IDENTICAL if word == IDENTICAL else CODE].format(first) + other_facets(facets)
        for word, facets in zip(edit.words, edit.other_facets, strict=True)
    ]


def family_blocks(
    families: Sequence[FamilyEntry],
    labels: Mapping[str, str],
    facts: Mapping[str, Sequence[str]],
    most: int | None = MOST_SHOWN,
) -> list[FamilyBlock]:
    """Return the families of a batch, and last how many more families or edits there are.

    - ``labels``, ``facts``: by candidate, its name, and what else is said of it.
    - ``most``: families, and edits of each, to return at most; None for all.
    """
    blocks = []
    for index, family in enumerate(families[:most]):
        count = sum(len(edit.members) for edit in family.edits)
        several = f" in {len(family.edits):,} edits" if 1 < len(family.edits) < count else ""
        near = ", near each other" if len(family.edits) > 1 else ""
        edits = []
        for edit in family.edits[:most]:
            said: dict[str, list[str]] = defaultdict(list)
            for member, facets in zip(edit.members, edit.other_facets, strict=True):
                others = [f"other {' and '.join(facets)}"] if facets else []
                for fact in (*others, *facts.get(member, ())):
                    said[fact].append(labels[member])
            known = [
                fact if len(names) == len(edit.members) else f"{first_few(names)}: {fact}"
                for fact, names in said.items()
            ]
            names = tuple(labels[member] for member in edit.members)
            relation = level_words(edit.relation, edit.renamed, THERE)
            same = [_TOGETHER[set(edit.words) == {IDENTICAL}]] * (len(names) > 1)
            same += [relation] * bool(relation)
            line = edit.line if len(family.edits) > 1 else ""
            edits.append(
                EditBlock(
                    ids=tuple(edit.members),
                    names=names,
                    relations=(relation, *beside_first(edit, names[0])[1:]),
                    facts=(*same, *known),
                    line=shortened(line, LONGEST_LINE),
                )
            )
        if more := family.edits[len(edits) :]:
            hidden = plural(sum(len(edit.members) for edit in more), "candidate")
            text = f"and {hidden} in {len(more):,} more edits: --format json"
            edits.append(EditBlock((), (text,), (), (), ""))
        is_alone = len(families) == 1 and len(family.edits) == 1
        lines = [] if is_alone else [shortened(line, LONGEST_LINE) for line in family.lines]
        head = f"{letter(index)}: {plural(count, 'candidate')}{several}{near}"
        blocks.append(FamilyBlock(head, tuple(lines), tuple(edits)))
    if rest := families[len(blocks) :]:
        count = sum(len(edit.members) for family in rest for edit in family.edits)
        text = f"and {plural(count, 'candidate')} in {len(rest):,} more families: --format json"
        blocks.append(FamilyBlock(text, (), ()))
    return blocks
