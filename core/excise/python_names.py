"""A Python text in statements, and the names that each of them binds and reads.

A piece is a complete top-level statement of entire lines. Complete statements concatenate: if the
lines of pieces occur in another text, and the parts between them can be parsed alone, the parser
reads that text as these pieces and parts. Between them it is in no bracket, string or block, and no
statement continues, because the next line begins one. If a part cannot be parsed alone (an
``else``, a decorator, an open bracket), the whole text is parsed.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

_WORD = re.compile(r"[^\W\d]\w*")
DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""What defines a function or a class."""

_PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")
_TELLING = {
    *DEFINITION, ast.Name, ast.Attribute, ast.arg, ast.Import, ast.ImportFrom, ast.Constant,
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping,
    *(getattr(ast, name) for name in _PARAMETERS if hasattr(ast, name)),
}  # fmt: skip
"""Nodes that bind or read a name."""

LEAVES = frozenset((ast.Name, ast.Constant, ast.alias))
"""The commonest nodes that have no others below."""

_BARE = frozenset(("ctx", "op", "ops"))
"""Fields of nodes that have no names in them."""

# The bound names that only the text itself can read: none, variables, or also attributes.
_NONE, _NAMES, _EVERY = range(3)


class Names:
    """The names of a tree, by what is done with them.

    - ``read``, ``annotating``: variables that code reads, and those that only annotations read.
    - ``bound``: variables, parameters, imports, functions and classes.
    - ``attributes``, ``stored``: attributes that code reads, and those that it sets.
    - ``words``: words in strings other than docstrings: `getattr` and its like read names in
      strings.
    - ``private``: bound names that no other module can read, in order: parameters, variables,
      imports, attributes of ``self``, private functions. It is empty for a module without functions
      and classes, which holds settings or re-exports, and lacks attributes of classes with bases.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.annotating: set[str] = set()
        self.bound: set[str] = set()
        self.attributes: set[str] = set()
        self.stored: set[str] = set()
        self.words: set[str] = set()
        self.private: list[str] = []

    @classmethod
    def of(cls, pieces: Sequence[Statement], known: KnownNames) -> Names:
        """Collect the names of a text.

        - ``known``: the names of statements that were read before, of any text. Those of this text
          are added.
        """
        names = cls()
        body = [piece.node for piece in pieces]
        private = _EVERY if any(isinstance(node, DEFINITION) for node in top_level(body)) else _NONE
        for statement, lines, *_ in pieces:
            if not _is_text(statement):
                # There may be several statements on a line.
                ends = statement.col_offset, statement.end_col_offset or 0
                key = private, ends, lines
                if key not in known:
                    known[key] = cls._below(statement, private)
                names._join(known[key])
        return names

    @classmethod
    def _below(cls, statement: ast.stmt, private: int) -> Names:
        """Collect the names of a statement, iteratively, as it may be deep."""
        names = cls()
        stack: list[tuple[ast.AST, int, bool]] = [(statement, private, False)]
        while stack:
            node, private, annotation = stack.pop()
            within = names.add(node, private, annotation) if type(node) in _TELLING else private
            if type(node) in LEAVES:
                continue
            below: list[tuple[ast.AST, int, bool]] = []
            for field in node._fields:
                if field in _BARE:
                    continue
                value = getattr(node, field, None)
                annotates = annotation or field in ("annotation", "returns")
                if isinstance(value, ast.AST):
                    below.append((value, within, annotates))
                elif isinstance(value, list):  # without docstrings
                    children = [child for child in value if isinstance(child, ast.AST)]
                    below += [(c, within, annotates) for c in children if not _is_text(c)]
            below.reverse()
            stack += below
        return names

    def _join(self, names: Names) -> None:
        self.read |= names.read
        self.annotating |= names.annotating
        self.bound |= names.bound
        self.attributes |= names.attributes
        self.stored |= names.stored
        self.words |= names.words
        self.private += names.private

    def add(self, node: ast.AST, private: int, annotation: bool) -> int:
        """Note one node, and return the names bound right below it that only this text can read."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                (self.annotating if annotation else self.read).add(name)
            case ast.Name(id=name):
                self.bound.add(name)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                self.attributes.add(name)
            case ast.Attribute(attr=name):
                self.stored.add(name)
            case ast.Constant(value=str(text)):
                self.words.update(_WORD.findall(text))
            case ast.arg(arg=name):
                self.bound.add(name)
                self.private.append(name)
            case ast.Import() | ast.ImportFrom():
                self._imported(node, private)
            case ast.Assign(targets=targets):
                self._assigned(targets, private)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                self._assigned([target], private)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._defined(node, private)
                return _EVERY if private else _NAMES
            case ast.ClassDef():
                self._defined(node, private)
                # Attributes of a class with bases or decorators are often read by these.
                return _NONE if node.bases or node.keywords or node.decorator_list else _EVERY
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                self.bound.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                self.bound.add(name)
            case _ if type(node).__name__ in _PARAMETERS:
                self.bound.add(getattr(node, "name", ""))
        return private

    def _imported(self, node: ast.Import | ast.ImportFrom, private: int) -> None:
        named = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        self.bound.update(named)
        # A relative import may be there for its side effects.
        has_effect = isinstance(node, ast.ImportFrom) and (
            node.level or node.module == "__future__"
        )
        if private and not has_effect:
            self.private += [name for name in named if name != "*"]

    def _assigned(self, targets: Iterable[ast.expr], private: int) -> None:
        for target in targets:
            name = target_of(target)
            if name and private >= (_NAMES if isinstance(target, ast.Name) else _EVERY):
                self.private.append(name)

    def _defined(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, private: int
    ) -> None:
        self.bound.add(node.name)
        if private and node.name.startswith("_") and not _is_special(node.name):
            self.private += [] if node.decorator_list else [node.name]


KnownNames = dict[tuple[int, tuple[int, int], tuple[str, ...]], Names]
"""The names of statements, by their lines: revisions of one text share most of them."""


def top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, and those below its conditions."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            for field in ("body", "orelse", "finalbody"):
                yield from getattr(node, field, [])
            for handler in getattr(node, "handlers", []):
                yield from handler.body


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def target_of(node: ast.expr) -> str:
    """Return the name that an assignment binds: a variable or an attribute of ``self``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return "" if name == "_" or _is_special(name) else name
    return ""


def bound_by(alias: object) -> str:
    """Return the name that a part of an import or a ``global`` statement binds."""
    name = getattr(alias, "name", "")
    return getattr(alias, "asname", None) or name.partition(".")[0] if name else str(alias)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Statement(NamedTuple):
    """A top-level statement, with its lines.

    - ``node``: its tree.
    - ``lines``: its lines, decorators included.
    - ``first``: the number of the first of them in its tree, which counts from the text or part
      that was parsed.
    - ``is_apart``: whether the lines contain the entire statement, and no part of others.
    - ``shift``: how much farther down a line of the text is than in the tree.
    """

    node: ast.stmt
    lines: tuple[str, ...]
    first: int
    is_apart: bool
    shift: int = 0

    def lines_of(self, node: ast.stmt) -> tuple[str, ...]:
        """Return the lines of a statement below it, decorators included."""
        return self.lines[_first_line(node) - self.first : _last_line(node) + 1 - self.first]


def parse(text: str, lines: Sequence[str]) -> tuple[Statement, ...]:
    """Parse a text, given its lines, with the errors of `ast.parse`."""
    return tuple(_pieces(ast.parse(text).body, lines))


def parse_beside(
    pieces: Sequence[Statement], lines: Sequence[str], parts: dict[tuple[str, ...], list[Statement]]
) -> tuple[Statement, ...] | None:
    """Parse the lines of a text, using the pieces of another text that it contains.

    - ``parts``: the pieces between those of other texts, by their lines. Those of this text are
      added.

    None if the text must be parsed whole.
    """
    result: list[Statement] = []
    start = 0
    for position, piece in chain(_standing(pieces, lines), [(len(lines), None)]):
        if position < start:  # within the piece before it, in a string
            continue
        part = tuple(lines[start:position])
        if part in parts:
            result += (each._replace(shift=start) for each in parts[part])
        elif not all(map(_is_blank, part)):
            if any(text.rstrip().endswith("\\") or "\ufeff" in text for text in part):
                return None
            try:
                parts[part] = _pieces(ast.parse("\n".join(part)).body, part)
            except SyntaxError:
                return None
            result += (each._replace(shift=start) for each in parts[part])
        if piece is not None:
            result.append(piece._replace(shift=position - piece.first + 1))
            start = position + len(piece.lines)
    return tuple(result)


_Run = tuple[int, Statement, "_Run | None"]
"""Consecutive pieces in a text: the line of the last of them, that piece, and those before it."""


def _standing(pieces: Sequence[Statement], lines: Sequence[str]) -> Iterable[tuple[int, Statement]]:
    """Return most of the pieces that occur in a text in order, each with its line.

    A piece whose lines occur twice is left out.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        places[line].append(number)
    # The longest increasing run: for each length, the run that ends first is kept.
    ends: list[int] = []
    runs: list[_Run] = []
    for piece in pieces:
        size, piece_lines = len(piece.lines), piece.lines
        numbers = places.get(piece_lines[0], ()) if piece.is_apart else ()
        standing = [
            number
            for number in numbers
            if (size == 1 or tuple(lines[number : number + size]) == piece_lines)
            and not _goes_on(lines, number + size)
        ]
        if len(standing) == 1:
            length = bisect_left(ends, standing[0])
            ends[length : length + 1] = standing
            runs[length : length + 1] = [(standing[0], piece, runs[length - 1] if length else None)]
    chosen: list[tuple[int, Statement]] = []
    last = runs[-1] if runs else None
    while last is not None:
        at, piece, last = last
        chosen.append((at, piece))
    return reversed(chosen)


def _goes_on(lines: Sequence[str], number: int) -> bool:
    """Whether the line that follows is indented: the statement before it has more lines here."""
    after = (lines[n] for n in range(number, len(lines)) if not _is_blank(lines[n]))
    return next(after, "")[:1].isspace()


def _pieces(body: Sequence[ast.stmt], lines: Sequence[str]) -> list[Statement]:
    starts = [_first_line(node) for node in body]
    ends = [_last_line(node) for node in body]
    pieces = []
    for before, node, first, last, after in zip(
        [0, *ends], body, starts, ends, [*starts[1:], len(lines) + 1], strict=False
    ):
        piece_lines = tuple(lines[first - 1 : last])
        is_apart = (
            before < first
            and last < after
            and not piece_lines[0][:1].isspace()
            and not piece_lines[-1].rstrip().endswith("\\")
            and all(map(_is_blank, lines[before : first - 1]))
            and all(map(_is_blank, lines[last : after - 1]))
        )
        pieces.append(Statement(node, piece_lines, first, is_apart))
    return pieces


def _first_line(node: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_blank(line: str) -> bool:
    """Whether a line has only white space and a comment."""
    bare = line.strip()
    return not bare or bare.startswith("#")
