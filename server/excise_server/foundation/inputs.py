"""The limits of texts, and refusals that name what they refuse.

Every refusal states its limit or its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from excise.text import Revision
from excise_server.foundation.escape import visible

MAX_BYTES = 10_000_000
"""Largest text read, in bytes of UTF-8 (or of the file): 10 MB."""


class _NamedError(Exception):
    """What is wrong with an input.

    - ``reason``: the reason, without the name.
    - ``name``: the path, or the place in the input; may be empty.
    - ``hint``: what may help; may be empty.
    """

    def __init__(self, reason: str, *, name: str = "", hint: str = "") -> None:
        super().__init__(reason, name, hint)
        self.reason, self.name, self.hint = reason, name, hint

    def __str__(self) -> str:
        subject = f"cannot read {self.name}: " if self.name else ""
        return f"{subject}{self.reason}{f'; {self.hint}' if self.hint else ''}"


class SourceError(_NamedError):
    """The error for a source that cannot be used. The others are used without it."""

    def named(self, name: str) -> SourceError:
        """Return the same error about a name."""
        return SourceError(self.reason, name=name, hint=self.hint)


class UnansweredError(_NamedError):
    """The error for a question that was given up after a time, and might be answered the next time.

    No `SourceError`: whatever goes on without a source must not go on here, since the answer would
    depend on how busy the machine is.
    """


@dataclass(frozen=True, slots=True)
class Rejected:
    """A revision that cannot be scored, why, and a way out. The others are scored without it."""

    id: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class RevisionSet:
    """One origin and its revisions, as they were read, not normalised.

    ``notes`` holds, per revision id, what happened while it was read.
    """

    name: str
    origin: str
    revisions: tuple[Revision, ...]
    rejected: tuple[Rejected, ...] = ()
    language: str | None = None
    path: str | None = None
    notes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        origin: str,
        ids: list[str],
        read: Callable[[int], str],
        language: str | None,
        path: str | None,
    ) -> RevisionSet:
        """Read the text of each id by its place among them; unreadable revisions are rejected."""
        revisions, rejected, notes = [], [], []
        for place, unique in enumerate(unique_ids(ids)):
            try:
                revisions.append(Revision(unique, read(place)))
            except SourceError as error:
                rejected.append(Rejected(unique, error.reason, error.hint))
                continue
            if unique != ids[place]:
                notes.append((unique, "given more than once"))
        return cls(name, origin, tuple(revisions), tuple(rejected), language, path, tuple(notes))

    @property
    def notes_by_id(self) -> dict[str, list[str]]:
        """The notes of each revision that has any."""
        by_id: dict[str, list[str]] = {}
        for name, note in self.notes:
            by_id.setdefault(name, []).append(note)
        return by_id


def first_few(names: Sequence[str], most: int = 3) -> str:
    """Return the first of some printable names, and the number of the others.

    >>> first_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known names that are most like one, as a hint, or else the first of them.

    >>> did_you_mean("codx", ["codex", "claude"]), did_you_mean("q", ["codex", "claude"])
    ('did you mean codex?', 'there are codex, claude')
    """
    every = list(dict.fromkeys(known))
    folded = {text.casefold(): text for text in reversed(every)}
    near = [folded[text] for text in get_close_matches(name.casefold(), folded)]
    if near:
        return f"did you mean {' or '.join(map(visible, near))}?"
    return f"there are {first_few(list(map(visible, every)), 8)}" if every else ""


def megabytes(size: int) -> str:
    """Return a size for people.

    >>> megabytes(62_000_000), megabytes(10_000_001)
    ('62.0 MB', '10.000001 MB')
    """
    rounded = f"{size / 1e6:.1f}"
    exact = rounded if float(rounded) * 1e6 > MAX_BYTES else f"{size / 1e6:.6f}".rstrip("0")
    return f"{exact if size > MAX_BYTES else rounded} MB"


def check_text(text: str) -> str:
    """Return the text if it can be scored.

    Raises SourceError if it holds a NUL character or a lone surrogate, or is over the limit.
    """
    if len(text) > MAX_BYTES:
        raise too_large(len(text))
    if (nul := text.find("\0")) >= 0:
        raise SourceError(f"binary: NUL character at offset {nul}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        reason = f"not Unicode text: lone surrogate U+{ord(text[error.start]):04X}"
        raise SourceError(f"{reason} at offset {error.start}") from error
    if size > MAX_BYTES:
        raise too_large(size)
    return text


def too_large(size: int) -> SourceError:
    """Return the refusal of a text over the limit."""
    return SourceError(f"{megabytes(size)}, limit {MAX_BYTES // 1_000_000} MB")


def unique_ids(ids: list[str]) -> list[str]:
    """Return the ids with ``#2``, ``#3`` ... on repeated ones.

    >>> unique_ids(["a", "b", "a", "a", "a#2"])
    ['a', 'b', 'a#2', 'a#3', 'a#2#2']
    """
    used: set[str] = set()
    numbers: dict[str, int] = {}
    unique = []
    for name in ids:
        new = name
        while new in used:
            numbers[name] = numbers.get(name, 1) + 1
            new = f"{name}#{numbers[name]}"
        used.add(new)
        unique.append(new)
    return unique
