"""Facts about an edit other than its size, read from two texts, for orders and reasons.

Nothing is run and nothing is guessed: where no parser can tell, a fact is not claimed. Python is
read by Python's own parser (`excise.python_facts`), other languages by their grammars. What an edit
breaks is in `excise.broken`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from excise.errors import Unparsable
from excise.kernels._walk import CancelFlag
from excise.python_facts import Module
from excise.reading import ParsedTexts, Reading

CODE = "code"
"""What a file is for that is neither a test nor documentation, nor left behind."""

_MOST_STATEMENTS = 10_000
"""Statements of revisions whose names are kept; whoever has more begins anew."""


@dataclass(frozen=True, slots=True)
class EditFacts:
    """Facts about what a revision does to its origin.

    - ``same_program``: whether it changes no code: comments, docstrings, white space, layout and
      nothing else. Also True of a text that is the origin's.
    - ``unread``: names that it adds and that no code of the text reads: parameters, variables,
      attributes, imports, private functions. In order.
    - ``only_unread``: whether it is the origin's program but for `unread`.
    - ``errors``: what it breaks, where that is proved, as phrases; ``breaks_syntax``: whether that
      is the syntax of a file.
    - ``not_read``: the first line that a grammar, or this Python, cannot read and could before; or
      0.
    """

    same_program: bool = False
    unread: tuple[str, ...] = ()
    only_unread: bool = False
    errors: tuple[str, ...] = ()
    breaks_syntax: bool = False
    not_read: int = 0

    @property
    def is_stub(self) -> bool:
        """Whether it changes no code, or only adds names that are never read."""
        return self.same_program or self.only_unread


def joined_facts(files: Iterable[EditFacts]) -> EditFacts:
    """Return the facts about an edit of several files: a stub if it is one in every file."""
    every = tuple(files)
    return EditFacts(
        same_program=all(facts.same_program for facts in every),
        unread=tuple(dict.fromkeys(name for facts in every for name in facts.unread)),
        only_unread=any(facts.only_unread for facts in every)
        and all(facts.is_stub for facts in every),
        errors=tuple(dict.fromkeys(error for facts in every for error in facts.errors)),
        breaks_syntax=any(facts.breaks_syntax for facts in every),
        not_read=next((facts.not_read for facts in every if facts.not_read), 0),
    )


def code_facts(by_path: Mapping[str, EditFacts], kinds: Mapping[str, str]) -> EditFacts:
    """Return the facts about an edit of several files: over those of code, or else over all.

    - ``by_path``: the facts about each file.
    - ``kinds``: what the files are for, by path; `CODE` where nothing is said.
    """
    of_code = [facts for path, facts in by_path.items() if kinds.get(path, CODE) == CODE]
    return joined_facts(of_code or by_path.values())


class PythonVersions:
    """A text and its revisions, read by Python's own parser, each once."""

    def __init__(self, origin: str, before: PythonVersions | None = None) -> None:
        """Read the origin, using what was read ``before`` of another one."""
        self._modules: dict[str, Module | SyntaxError | Unparsable] = {}
        self.origin: Module | None = None if before is None or before.is_full else before.origin
        try:
            self.origin = self.module(origin)
        except (SyntaxError, Unparsable):
            self.origin = None

    @property
    def is_full(self) -> bool:
        """Whether it has kept so much of revisions that another one should begin anew."""
        origin = self.origin
        return origin is not None and len(origin.known) + len(origin.parts) >= _MOST_STATEMENTS

    def module(self, text: str) -> Module:
        """Return what Python's parser finds in the origin or a revision, asking it once.

        Raises SyntaxError or excise.errors.Unparsable, as `excise.python_facts.Module.of`.
        """
        if text not in self._modules:
            try:
                self._modules[text] = Module.of(text, self.origin)
            except (SyntaxError, Unparsable) as error:
                self._modules[text] = error
        found = self._modules[text]
        if isinstance(found, Exception):
            raise found
        return found

    def keep(self, texts: Collection[object]) -> None:
        """Forget all revisions but these."""
        for text in [text for text in self._modules if text not in texts]:
            del self._modules[text]


def facts_of(
    origin: str,
    text: str,
    reading: Reading,
    texts: ParsedTexts,
    python: PythonVersions | None,
    cancel: CancelFlag | None = None,
) -> EditFacts:
    """Return the facts about a revision of a text.

    - ``texts``: what parsers found in both.
    - ``python``: the versions of the origin, if that is Python.
    """
    if text == origin:
        return EditFacts(same_program=True)
    if cancel is not None:
        cancel.check()
    try:
        if python is None or python.origin is None:
            # Whether the grammar finds the same tokens in both texts, comments aside.
            old, _ = texts.read(origin, reading, None, cancel)
            new, _ = texts.read(text, reading, origin, cancel)
            return EditFacts(same_program=old.code() == new.code())
        return _compared(python.origin, python.module(text))
    except (SyntaxError, Unparsable):
        return EditFacts()


def _compared(origin: Module, module: Module) -> EditFacts:
    unread = module.unread_beside(origin)
    same = module.is_program_of(origin)
    return EditFacts(
        same_program=same,
        unread=unread,
        only_unread=bool(unread) and not same and module.is_program_of(origin, frozenset(unread)),
    )
