"""Facts about an edit other than its size, read from two texts, for orders and reasons.

Nothing is run and nothing is guessed: where no parser can tell, a fact is not claimed. Python is
read by Python's own parser (`excise.python_facts`), other languages by their grammars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from excise.errors import Unparsable
from excise.kernels._walk import CancelFlag
from excise.python_facts import Module, lost_errors
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
    - ``errors``: why it cannot work although the origin could, as phrases: Python's own parser
      refuses it, it uses a name that is defined nowhere, or a member fell out of its class, or is
      gone from it and still read.
    - ``lost``: top-level functions and classes that the origin defines and the revision does not,
      where it defines no other ones instead. In order.
    - ``defined``: top-level functions and classes that only the revision defines.
    """

    same_program: bool = False
    unread: tuple[str, ...] = ()
    only_unread: bool = False
    errors: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    defined: tuple[str, ...] = ()

    @property
    def is_stub(self) -> bool:
        """Whether it changes no code, or only adds names that are never read."""
        return self.same_program or self.only_unread


def joined_facts(files: Iterable[EditFacts]) -> EditFacts:
    """Return the facts about an edit of several files.

    A definition that moves to another file is not lost, and an edit is a stub if it is one in every
    file.
    """
    every = tuple(files)
    defined = _united(facts.defined for facts in every)
    return EditFacts(
        same_program=all(facts.same_program for facts in every),
        unread=_united(facts.unread for facts in every),
        only_unread=any(facts.only_unread for facts in every)
        and all(facts.is_stub for facts in every),
        errors=_united(facts.errors for facts in every),
        lost=() if defined else _united(facts.lost for facts in every),
        defined=defined,
    )


def code_facts(by_path: Mapping[str, EditFacts], kinds: Mapping[str, str]) -> EditFacts:
    """Return the facts about an edit of several files: over those of code, or else over all.

    - ``by_path``: the facts about each file.
    - ``kinds``: what the files are for, by path; `CODE` where nothing is said.
    """
    of_code = [facts for path, facts in by_path.items() if kinds.get(path, CODE) == CODE]
    return joined_facts(of_code or by_path.values())


def _united(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


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
    except SyntaxError as error:
        return EditFacts(errors=(f"Python cannot read line {error.lineno or 1}",))
    except Unparsable:
        return EditFacts()


def _compared(origin: Module, module: Module) -> EditFacts:
    lost = tuple(name for name in origin.definitions if name not in module.definitions)
    defined = tuple(name for name in module.definitions if name not in origin.definitions)
    unread = module.unread_beside(origin)
    unknown = sorted(module.undefined - origin.undefined)
    same = module.is_program_of(origin)
    return EditFacts(
        same_program=same,
        unread=unread,
        only_unread=bool(unread) and not same and module.is_program_of(origin, frozenset(unread)),
        errors=(
            *(f"uses {name}, which nothing defines" for name in unknown),
            *lost_errors(module.lost_members(origin)),
        ),
        lost=() if defined or not module.pieces else lost,
        defined=defined,
    )
