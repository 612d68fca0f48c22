"""The order of suggestions: a rule without constants, whose every place has a reason.

Whole edits come first, then broken ones, then those without code, then no-ops; then the edit that
more revisions make; then what the intent says. The order is advice: what most revisions make is not
necessarily right. docs/ranking.md says what it is worth, which benchmarks/ranking.py measures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from excise.errors import ContentError, OptionError
from excise.facts import CODE, EditFacts

if TYPE_CHECKING:
    from excise.pairwise import ScoreMatrix

INTENTS = ("fix", "change")
"""What the revisions are for: a bug fix, which is small, or any other change."""

INTENT = "change"
"""The intent if nobody says one."""

SCRATCH = "scratch"
"""What a script is for that whoever looked for a bug left behind."""

MAX_SCRIPTS = 3
"""Most scripts that are named; the others are counted."""

_PHRASES = {"generated": "generated files"}

_WHOLE, _BROKEN, _CODELESS, _APART, _NO_OP = range(5)
"""The levels of wholeness. Who changes a file of code, and no code in it, is codeless; who changes
no such file stands apart, if others do."""

DIGITS = 12
"""Sums of similarities are rounded to so many digits: a tie is one whatever the last bit says."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A revision in the order of suggestions.

    Attributes
    ----------
    rank
        From 1; equal ones share one.
    makers
        How many revisions make this edit, itself included: those with the same code.
    mean_similarity
        Mean similarity to the other revisions; None for a lone one.
    edit_size
        Tokens deleted and inserted.
    no_op
        Whether the text is the origin's.
    syntax_errors
        Whether it breaks the syntax of a file, where that is proved.
    stub
        Whether it changes no code, or only adds names that are never read.
    broken
        Why it cannot work although the origin could, as phrases; empty if nothing is known.
    why
        The facts that give it its place, as phrases; empty for a lone one of which nothing is
        known.
    """

    id: str
    index: int
    rank: int
    makers: int
    mean_similarity: float | None
    edit_size: int
    no_op: bool
    notes: tuple[str, ...]
    syntax_errors: bool
    stub: bool = False
    broken: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Standing:
    """What decides the place of a revision, most important first: `key` is compared, ascending.

    ``level`` is one of the levels below, and for revisions that stand apart their level among
    themselves. ``similarity`` is the sum of the similarities to the others that count: to those
    with code, if it has any.
    """

    level: tuple[int, int]
    code: str
    makers: int
    similarity: float
    size: int
    by_size: bool

    @property
    def key(self) -> tuple[object, ...]:
        nearness = () if self.by_size else (-self.similarity,)
        return (self.level, -self.makers, *nearness, self.size)


def rank(matrix: ScoreMatrix, *, intent: str = INTENT) -> tuple[Ranked, ...]:
    """Rank the revisions of a matrix without a reference.

    Whole edits stand before broken ones, these before edits without code (comments, white space,
    names that are never read), and these before no-ops; then the edit that more revisions make
    (the same code); then, for the intent ``change``, what is nearest to all others (the larger sum
    of similarities), then fewer tokens; for ``fix``, fewer tokens. Equal ones share a rank and
    stand in the order of the matrix. No rank depends on that order.

    Parameters
    ----------
    intent
        ``change``, or ``fix`` for a bug fix, which is small.

    Returns
    -------
    tuple of Ranked
        All revisions, by rank. The order is advice; it does not say that any revision is right.

    Raises
    ------
    excise.errors.OptionError
        On an unknown intent.
    excise.errors.ContentError
        If `matrix` is not a matrix.
    excise.errors.Cancelled
        When the flag that the matrix was made with was raised meanwhile: texts are read again.

    Examples
    --------
    >>> from excise.pairwise import ScoreMatrix
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a b", "y": "a c", "z": "a c"})
    >>> [(ranked.id, ranked.rank, ranked.why) for ranked in rank(matrix)][1:]
    [('z', 1, ('2 of 2 make this edit',)), ('x', 3, ('changes nothing',))]
    """
    check_intent(intent)
    if not hasattr(matrix, "facts"):
        kind = type(matrix).__name__
        raise ContentError(f"matrix is of type {kind}; give a ScoreMatrix")
    every = range(len(matrix.ids))
    return rank_members(matrix, every, intent, facts=matrix.facts, kinds=matrix.kinds)


def rank_members(
    matrix: ScoreMatrix,
    members: Sequence[int],
    intent: str,
    *,
    facts: Sequence[EditFacts],
    kinds: Sequence[Mapping[str, str]],
) -> tuple[Ranked, ...]:
    """Rank some revisions of a matrix by their own scores alone, as `rank` does with all.

    - ``members``: their indices, ascending.
    - ``facts``: those of all revisions of the matrix.
    - ``kinds``: for each revision of the matrix, what each file that it changes is for, by path.
    """
    chosen = list(members)
    apart = without_code({at: kinds[at] for at in chosen})
    sizes = {}
    for at in chosen:  # only code counts, unless there is none
        edited = matrix.edited[at]
        of_code = [edited[path] for path in edited if kinds[at].get(path, CODE) == CODE]
        sizes[at] = sum(of_code or edited.values())
    every_beside = matrix.facts_beside
    beside = {
        at: tuple(beside_text(every_beside[at], is_blank=matrix.whitespace_only[at]))
        if matrix.unchanged[at]
        else ()
        for at in chosen
    }
    own_levels = {
        at: _NO_OP
        if matrix.no_ops[at]
        else _CODELESS
        if not beside[at] and (matrix.unchanged[at] or facts[at].is_stub)
        else _BROKEN
        if facts[at].errors
        else _WHOLE
        for at in chosen
    }
    # Those without code are ordered among themselves as if they were alone.
    levels = {
        at: (_APART, level) if at in apart else (level, 0) for at, level in own_levels.items()
    }
    makers = Counter((levels[at], matrix.codes[at]) for at in chosen)
    standings = {
        at: _Standing(
            level=levels[at],
            code=matrix.codes[at],
            makers=makers[levels[at], matrix.codes[at]],
            similarity=_similarity(
                matrix,
                at,
                [
                    voter
                    for voter in chosen
                    if own_levels[voter] < _CODELESS and (voter in apart) == (at in apart)
                ],
            ),
            size=sizes[at],
            by_size=intent == "fix",
        )
        for at in chosen
    }
    order = sorted(chosen, key=lambda at: standings[at].key)
    ranks: dict[tuple[object, ...], int] = {}
    for place, at in enumerate(order, start=1):
        ranks.setdefault(standings[at].key, place)
    every = list(standings.values())
    return tuple(
        Ranked(
            id=matrix.ids[at],
            index=at,
            rank=ranks[standings[at].key],
            makers=standings[at].makers,
            mean_similarity=(
                _similarity(matrix, at, chosen) / (len(chosen) - 1) if len(chosen) > 1 else None
            ),
            edit_size=sizes[at],
            no_op=matrix.no_ops[at],
            notes=(*matrix.notes[at], *_not_read(facts[at].not_read)),
            syntax_errors=facts[at].breaks_syntax,
            stub=(facts[at].is_stub and not beside[at]) or at in apart,
            broken=facts[at].errors,
            why=(
                *(
                    (apart[at],)
                    if at in apart
                    else _kind(matrix.no_ops[at], matrix.unchanged[at], facts[at], beside[at])
                ),
                *_why(standings[at], every),
            ),
        )
        for at in order
    )


def _similarity(matrix: ScoreMatrix, own: int, members: Sequence[int]) -> float:
    """Return the sum of the similarities to these revisions, itself not counted."""
    sum_of_all = fsum(matrix.values[own][list(members)].tolist())
    return round(sum_of_all - (own in members), DIGITS)


def without_code(kinds: Mapping[int, Mapping[str, str]]) -> dict[int, str]:
    """Return, in words, what revisions change that change no code, beside others that do.

    If none changes code, what they change is their code, and nobody stands apart.

    >>> without_code({0: {"a.py": "code"}, 1: {"try.py": "scratch"}, 2: {"b.md": "docs"}})
    {1: 'leaves a script: try.py', 2: 'changes docs only'}
    """
    codeless = {at: _changed(own) for at, own in kinds.items() if CODE not in own.values()}
    if not any(CODE in own.values() for own in kinds.values()):
        return {}
    return {at: words for at, words in codeless.items() if words}


def _changed(kinds: Mapping[str, str]) -> str:
    """Say what somebody changes who changes no code; nothing for nothing."""
    scripts = sorted(path for path, kind in kinds.items() if kind == SCRATCH)
    others = sorted({_PHRASES.get(kind, kind) for kind in kinds.values() if kind != SCRATCH})
    phrases = [f"changes {' and '.join(others)} only"] if others else []
    if scripts:
        leaves = "leaves a script" if len(scripts) == 1 else "leaves scripts"
        named = ", ".join(p if p.isprintable() else ascii(p) for p in scripts[:MAX_SCRIPTS])
        more = len(scripts) - MAX_SCRIPTS
        phrases.append(f"{leaves}: {named}{f' and {more:,} more' if more > 0 else ''}")
    return ", and ".join(phrases)


def check_intent(intent: str) -> None:
    """Refuse an intent that nobody defined.

    Raises excise.errors.OptionError names the two that are.
    """
    if intent not in INTENTS:
        raise OptionError(f"intent must be {' or '.join(INTENTS)}, not {intent!r}")


_DIGEST = re.compile(r"(?:[0-9a-f]{20}){2}|[0-9a-f]{64}")


def beside_text(
    facts: Mapping[str, Sequence[Hashable]], *, is_blank: bool = False
) -> Iterator[str]:
    """Yield what a revision does to files beside their text, by its facts about each.

    - ``is_blank``: whether it adds or deletes white space, too.

    >>> list(beside_text({"a": ("rename from a", "to b"), "s": ("mode 100644 to 100755",)}))
    ['renames a to b', 'makes s executable']
    """
    for path, of_file in facts.items():
        shown = path if path.isprintable() else ascii(path)
        words = [str(fact) for fact in of_file]
        does = next((w for w in ("created", "deleted") if w in words), "changed")
        if "binary" in words:
            verb = {"created": "adds", "deleted": "deletes"}.get(does, "changes")
            yield f"{verb} the binary file {shown}"
        elif does != "changed":
            verb, kind = (
                "adds" if does == "created" else "deletes",
                "blank" if is_blank else "empty",
            )
            yield f"{verb} the {kind} file {shown}"
        for word in words:
            if word.startswith("to "):
                new = word.removeprefix("to ")
                yield f"renames {shown} to {new if new.isprintable() else ascii(new)}"
            elif word.startswith("mode ") and does == "changed":
                yield {
                    "mode 100644 to 100755": f"makes {shown} executable",
                    "mode 100755 to 100644": f"makes {shown} no longer executable",
                }.get(word, f"changes the {word} of {shown}")
            elif not (
                word in ("created", "deleted", "binary")
                or word.startswith(("rename from ", "mode "))
                or _DIGEST.fullmatch(word)
            ):
                yield f"{word} ({shown})"


def _not_read(line: int) -> tuple[str, ...]:
    return (f"not read: line {line}",) if line else ()


def _kind(no_op: bool, unchanged: bool, facts: EditFacts, beside: Sequence[str]) -> tuple[str, ...]:
    """Return what a revision is that is no whole edit of text: what it does beside text first."""
    if no_op:
        return ("changes nothing",)
    if unchanged:
        return tuple(beside) or ("changes only white space",)
    if facts.same_program:
        return ("changes no code, only comments or layout",)
    if facts.only_unread:
        return (f"only adds names that nothing reads: {', '.join(facts.unread)}",)
    return (f"broken: {'; '.join(facts.errors)}",) if facts.errors else ()


def _why(own: _Standing, standings: Sequence[_Standing]) -> tuple[str, ...]:
    """Return who else makes the edit, and what puts it first among those made equally often."""
    voters = [standing for standing in standings if standing.level < (_CODELESS, 0)]
    if len(standings) < 2 or own.level >= (_CODELESS, 0):
        return ()
    makes: tuple[str, ...] = ()
    if own.makers > 1:
        makes = (f"{own.makers:,} of {len(voters):,} make this edit",)
    peers = [
        peer
        for peer in voters
        if (peer.level, peer.makers) == (own.level, own.makers) and peer.code != own.code
    ]
    if all(peer.key <= own.key for peer in peers) or any(peer.key < own.key for peer in peers):
        return makes
    is_smallest = own.by_size or all(peer.similarity == own.similarity for peer in peers)
    return (*makes, "fewest tokens") if is_smallest else makes
