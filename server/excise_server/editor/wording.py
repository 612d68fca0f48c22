"""The names of candidates in an editor, titles, and phrases for who makes which change. Pure.

Names are not trusted: they are made printable here. How they are shown is up to the client.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from excise import Hunk, Variant
from excise.text import Revision
from excise_server.editor.analysis import Analysis
from excise_server.foundation.escape import printable

__all__ = [
    "candidate_title",
    "changers",
    "code_language",
    "file_title",
    "group_words",
    "hunk_words",
    "listed",
    "name",
    "names_of",
    "share_of",
    "variant_title",
    "without_code",
]

MAX_NAMES = 5
"""Most names in one sentence."""

_MAX_NAME = 60
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def name(identity: str) -> str:
    """Return an id for people: printable, and not longer than a line bears.

    A longer one is cut in the middle, where it gets a few distinctive digits: ids of a thousand
    characters that differ in one would else look alike.
    """
    shown = printable(identity)
    if len(shown) <= _MAX_NAME:
        return shown
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    half = (_MAX_NAME - len(digest)) // 2 - 1
    return f"{shown[:half]}…{digest}…{shown[-half:]}"


def names_of(revisions: Sequence[Revision]) -> tuple[str, ...]:
    """Return the name of each candidate: its label, or its id if others share the label."""
    labels = [name(revision.label or revision.id) for revision in revisions]
    shared = Counter(labels)
    return tuple(
        label if shared[label] == 1 else name(revision.id)
        for revision, label in zip(revisions, labels, strict=True)
    )


def listed(names: Iterable[str], most: int = MAX_NAMES) -> str:
    """Return names in a row, the first few of many.

    >>> listed(["ada", "bo", "cy"], most=2)
    'ada, bo and 1 more'
    """
    names = list(names)
    rest = len(names) - most
    return f"{', '.join(names[:most])} and {rest} more" if rest > 0 else ", ".join(names)


def share_of(members: Sequence[int], count: int) -> str:
    """Return how many of all these are: ``2 of 5``."""
    return f"{len(members)} of {count}"


def changers(analysis: Analysis, names: Sequence[str]) -> str:
    """Return who changes the file: ``5 candidates in 3 groups``, ``only ada changes this file``."""
    count, groups = len(names), len(analysis.comparison.clusters)
    if count == 1:
        return f"only {names[0]} changes this file"
    return f"{count} candidates in {groups} group{'s' if groups != 1 else ''}"


def without_code(hunk: Hunk, variant: Variant) -> str | None:
    """Return the phrase for a variant without code to show, or None if it has some."""
    alone = len(variant.members) == 1
    if variant.text == hunk.text:
        return _left(alone=alone)
    if not variant.text:
        return f"{'deletes' if alone else 'delete'} these lines"
    return None


def _left(*, alone: bool) -> str:
    return f"{'leaves' if alone else 'leave'} it as it is"


def code_language(analysis: Analysis) -> str:
    """Return the client's language id if a highlighter may know it, or else an empty string."""
    language = analysis.snapshot.language or ""
    return language if language.isascii() and language.replace("-", "").isalnum() else ""


def group_words(analysis: Analysis, names: Sequence[str], cluster: int) -> str:
    """Return the members of a group: ``2 make the same changes: ada, bo``, or one name alone."""
    members = analysis.comparison.clusters[cluster].members
    who = listed(names[member] for member in members)
    if len(members) == 1:
        return who
    matrix = analysis.comparison.matrix
    first, *others = members
    is_same = all(matrix.word(first, member) == "same" for member in others)
    return f"{len(members)} {'make the same changes' if is_same else 'make similar changes'}: {who}"


def hunk_words(hunk: Hunk, count: int, names: Sequence[str]) -> str:
    """Return how many candidates change a hunk, and how: ``2 of 5 make this change``.

    Parameters
    ----------
    count
        The number of candidates that have a text of it.
    names
        The names of all candidates.
    """
    changed = [variant.members for variant in hunk.variants if variant.text != hunk.text]
    total, top = sum(map(len, changed)), len(changed[0])
    who = names[changed[0][0]]
    if count == 1:
        return f"{who} changes this"
    spelled = _NUMBERS[count] if count < len(_NUMBERS) else f"{count}"
    everyone = "both" if count == 2 else f"all {spelled}"
    if len(changed) == 1:
        if total == count:
            words = f"{everyone} make this change"
        elif total == 1:
            words = f"only {who} makes this change"
        else:
            words = f"{total} of {count} make this change"
    elif top == 1:
        words = (
            f"{everyone} differ here"
            if total == count
            else f"{total} of {count} change this, each in its own way"
        )
    else:
        remainder = "another makes another" if total - top == 1 else f"{total - top} make others"
        words = f"{top} of {count} make one change, {remainder}"
    if rest := count - total:
        words += f", {rest} {_left(alone=rest == 1)}"
    return words


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
