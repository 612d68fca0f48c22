"""The content of a page of clusters: only values, whatever was compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excise_server.report.markup import Markup

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["OWN", "TWO", "Block", "Group", "Item", "Picture", "Report", "Side"]

OWN = ("", "what it changes")
TWO = ("representative", "this one")
"""The names of the sides of blocks: of one revision alone, or with its representative."""

Side = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Block:
    """A hunk or change block: lines that start with ``-``, ``+`` or a space (None: nothing there).

    ``note`` says how much of it matches, and where.
    """

    where: str
    a: Side | None
    b: Side | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One member: its name and title, facts about it, and the blocks in which it differs.

    ``columns`` name the sides of its blocks; the first is empty if there is only one side.
    ``word`` says how it relates to its representative. A text among its blocks is a remark.
    """

    name: str
    title: str
    about: tuple[tuple[str, str], ...]
    similarity: float
    contains: float | None
    blocks: Callable[[], Iterable[Block | str]]
    columns: tuple[str, str]
    word: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A cluster, its representative first, with the ``number`` that the page uses for it.

    ``reasons`` say what sets it apart.
    """

    items: tuple[Item, ...]
    min_similarity: float
    number: int | None = None
    reasons: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """Similarities of the members that are drawn, with their names and their clusters."""

    values: Values
    names: Sequence[str]
    bands: Sequence[int]
    whole: int
    words: Sequence[Sequence[str]] = ()
    """The word for each pair, if it is known."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a page says."""

    title: str
    what: str
    facts: tuple[tuple[str, str], ...]
    groups: Sequence[Group]
    picture: Picture | None
    threshold: float
    linkage: str
    signature: str
    notes: Sequence[str] = ()
    rejected: Sequence[tuple[str, str]] = ()
    before: tuple[tuple[str, str, Markup], ...] = ()
    """Parts that come first: id, title, markup."""
