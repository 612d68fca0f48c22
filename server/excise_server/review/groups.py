"""What tells the groups of a task apart: changed lines, and who has the same code. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from excise import ScoreMatrix
from excise.patches import Patch
from excise_server.foundation.escape import visible
from excise_server.review.kinds import kind_of
from excise_server.wire.documents import GroupEdit

MOST_LINES = 3
"""Most lines that are shown of what tells a group from others."""

FEW = 3
"""Most groups of a task of which more than one line is shown."""

_SAYS = re.compile(rb"\w")
COMMENT = re.compile(r"[+-] (#|//|/\*|\*|--|<!--|\"\"\"|''')")
"""A changed line that most often is a comment, or begins one."""

Lines = dict[str, None]
"""Changed lines, each with its sign and without its indentation, in the order of the files."""


def task_edits(
    matrix: ScoreMatrix, groups: Sequence[Sequence[int]], patches: Sequence[Patch]
) -> list[tuple[list[str], list[GroupEdit]]]:
    """Return for each group of a task the lines that tell it, and its edits: one for each code.

    - ``matrix``: all candidates of the review.
    - ``groups``: by index the members of each, the best first.
    - ``patches``: the changes of each candidate of the review.
    """
    changed = {index: _changed_lines(patches[index]) for group in groups for index in group}
    most = MOST_LINES if len(groups) <= FEW else 1
    return [
        (_telling(members, changed, most), _edits(matrix, members, changed)) for members in groups
    ]


def _changed_lines(patch: Patch) -> Lines:
    """Return the lines of code that a patch changes, or all of them if it changes no code."""
    files = [file for file in patch.files if kind_of(visible(file.path)) == "code"]
    return {
        f"{line[:1].decode()} {line[1:].decode('utf-8', 'replace').strip()}": None
        for file in files or patch.files
        for hunk in file.hunks
        for line in hunk.lines
        if line[:1] in (b"+", b"-") and _SAYS.search(line)
    }


def _edits(
    matrix: ScoreMatrix, members: Sequence[int], changed: dict[int, Lines]
) -> list[GroupEdit]:
    by_code: dict[str, list[int]] = {}
    for index in members:
        by_code.setdefault(matrix.codes[index], []).append(index)
    edits = []
    for own in by_code.values():
        others = {line for index in members if index not in own for line in changed[index]}
        alone = [line for line in changed[own[0]] if line not in others]
        level = None if own[0] == members[0] else matrix.level(own[0], members[0])
        edits.append(
            GroupEdit(
                members=[matrix.ids[index] for index in own],
                words=[matrix.word(index, own[0]) for index in own],
                other_facets=[list(matrix.beside(index, own[0])) for index in own],
                relation="" if level is None else level.word,
                renamed=[] if level is None else list(map(list, level.renamed)),
                line=max(alone, key=_weight, default=""),
            )
        )
    return edits


def _weight(line: str) -> tuple[bool, bool, int]:
    """Return what a line tells: most if it is code, was added, and is long."""
    return not COMMENT.match(line), line[0] == "+", len(line)


def _telling(members: Sequence[int], changed: dict[int, Lines], most: int) -> list[str]:
    inside = Counter(line for index in members for line in changed[index])
    outside = Counter(
        line for index, lines in changed.items() if index not in members for line in lines
    )
    others = max(1, len(changed) - len(members))

    def telling(line: str) -> tuple[object, ...]:
        share = inside[line] / len(members) - outside[line] / others
        # What was added says more than what is gone, unless many fewer have added it.
        return not COMMENT.match(line), share + 0.5 * (line[0] == "+"), _weight(line)

    # A line that few of several members have tells what one of them alone does.
    shared = [line for line, count in inside.items() if 2 * count > len(members)]
    own = [line for line in shared if outside[line] / others < inside[line] / len(members)]
    chosen = sorted(own or shared or inside, key=telling, reverse=True)[: most if shared else 1]
    return [line for line in inside if line in chosen]
