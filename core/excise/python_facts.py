"""Facts about Python texts from Python's own parser: the names that they define and read.

`ast.parse` only parses, so nothing is compiled or run. For hostile texts (deep nesting, long
chains) it raises an error, which means here that nothing is known. The grammar is that of the
running interpreter.
"""

from __future__ import annotations

import ast
import builtins
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property

from excise.errors import Unparsable
from excise.python_members import LostMember, lost_members
from excise.python_names import DEFINITION, KnownNames, Names, bound_by, target_of, top_level
from excise.python_parts import Piece, parse, parse_beside

__all__ = ["PARSER", "Module"]

PARSER = "python_ast"
"""The name of Python's own parser in the auditing events."""

MOST = 500_000
"""Characters above which a text is not read: a second's work, and no person's module."""

_GIVEN = frozenset(
    (
        *dir(builtins), "__annotations__", "__class__", "__file__", "__module__", "__path__",
        "__qualname__", "_", "WindowsError", "display", "get_ipython",
    )
)  # fmt: skip
"""Names that are there without a definition; ``_`` is gettext's."""

_DYNAMIC = frozenset(("exec", "eval", "globals", "locals", "vars", "__builtins__"))
_BODIES = frozenset(("body", "orelse", "finalbody"))
_IGNORED = frozenset(("ctx", "kind", "type_comment", "type_ignores"))
_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True)
class Module:
    """A text that Python's parser accepts."""

    pieces: tuple[Piece, ...]
    known: KnownNames

    @classmethod
    def of(cls, text: str, beside: Module | None = None) -> Module:
        """Parse a normalised text.

        Parameters
        ----------
        beside
            Another version of it. Statements that both have are parsed and examined once.

        Raises
        ------
        SyntaxError
            If it is not Python.
        excise.errors.Unparsable
            If the text is too long, too deep, or has characters that no file has.

        Notes
        -----
        Raises auditing events like `excise.syntax.parse`, with the name `PARSER`.
        """
        if len(text) > MOST:
            raise Unparsable(f"over {MOST:,} characters")
        if not text:  # of a file that is deleted: in many origins, and nothing to parse
            return cls((), {} if beside is None else beside.known)
        lines = text.replace("\r", "\n").split("\n")  # lines as Python counts them
        sys.audit("excise.parse", PARSER, text.encode("utf-8", "surrogatepass"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes like "\d"
                pieces = None
                if beside is not None:
                    pieces = parse_beside(beside.pieces, lines)
                if pieces is None:
                    pieces = parse(text, lines)
        except (ValueError, RecursionError, MemoryError) as error:
            if isinstance(error, SyntaxError):
                raise
            raise Unparsable(f"Python's parser gives up: {error}") from None
        finally:
            sys.audit("excise.parsed", PARSER)
        return cls(pieces, {} if beside is None else beside.known)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The top-level statements."""
        return [piece.node for piece in self.pieces]

    @cached_property
    def definitions(self) -> tuple[str, ...]:
        """Top-level functions and classes, in order, those below a condition included."""
        names = [node.name for node in top_level(self.body) if isinstance(node, DEFINITION)]
        return tuple(dict.fromkeys(names))

    @property
    def is_code(self) -> bool:
        """Whether there is any statement."""
        return bool(self.pieces)

    @property
    def bound(self) -> frozenset[str]:
        """Names that are bound anywhere in the text."""
        return frozenset(self._names.bound)

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names that are read outside of annotations, and bound nowhere in the text."""
        names = self._names
        if names.has_star or not _DYNAMIC.isdisjoint(names.read):
            return frozenset()
        return frozenset(names.read - names.bound - _GIVEN)

    def unread_beside(self, origin: Module) -> tuple[str, ...]:
        """Return the names that this text adds to an origin and never reads, in order."""
        names, before = self._names, origin._names
        earlier = before.read | before.bound | before.attributes | before.words | before.stored
        read = names.read | names.annotating | names.attributes | names.words
        new = [name for name in names.private if name not in earlier and name not in read]
        return tuple(dict.fromkeys(new))

    def lost_members(self, origin: Module) -> tuple[LostMember, ...]:
        """Return the members of an origin's classes that fell out of them, or are missed."""
        try:
            return lost_members(origin.pieces, self.pieces)
        except RecursionError:  # of decorators, which are compared
            return ()

    def is_program_of(self, origin: Module, unread: frozenset[str] = frozenset()) -> bool:
        """Whether it equals an origin except for statements without effect and some names.

        Parameters
        ----------
        unread
            Names whose parameters, imports and assignments (of values that call nothing) do not
            count.
        """
        before = [piece for piece in origin.pieces if not _is_idle(piece.node, unread)]
        after = [piece for piece in self.pieces if not _is_idle(piece.node, unread)]
        if len(before) != len(after):
            return False
        try:
            return all(
                old is new or _Comparison(old, new, unread).of_statements(old.node, new.node)
                for old, new in zip(before, after, strict=True)
            )
        except RecursionError:
            return False

    @cached_property
    def _names(self) -> Names:
        return Names.of(self.pieces, self.known)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two top-level statements, side by side."""

    old: Piece
    new: Piece
    unread: frozenset[str]

    def of_statements(self, old: ast.stmt, new: ast.stmt) -> bool:
        return _shown(self.old, old) == _shown(self.new, new) or self._of(old, new)

    def _of_bodies(self, old: list[ast.stmt], new: list[ast.stmt]) -> bool:
        before = [node for node in old if not _is_idle(node, self.unread)]
        after = [node for node in new if not _is_idle(node, self.unread)]
        return len(before) == len(after) and all(map(self.of_statements, before, after))

    def _of(self, old: object, new: object) -> bool:
        if type(old) is not type(new):
            return False
        if isinstance(old, list) and isinstance(new, list):
            return len(old) == len(new) and all(map(self._of, old, new))
        if not isinstance(old, ast.AST):
            return repr(old) == repr(new)
        return all(
            self._of_field(field, getattr(old, field, None), getattr(new, field, None))
            for field in old._fields
            if field not in _IGNORED
        )

    def _of_field(self, field: str, old: object, new: object) -> bool:
        if field in _BODIES and isinstance(old, list) and isinstance(new, list):
            return self._of_bodies(old, new)
        if isinstance(old, ast.arguments) and isinstance(new, ast.arguments):
            return self._of(self._parameters(old), self._parameters(new))
        if field == "names" and isinstance(old, list) and isinstance(new, list):
            return self._of(old, [alias for alias in new if bound_by(alias) not in self.unread])
        return self._of(old, new)

    def _parameters(self, arguments: ast.arguments) -> list[object]:
        """Return the parameters that count, each with its kind and default."""
        plain = [*arguments.posonlyargs, *arguments.args]
        missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
        kinds = ["/"] * len(arguments.posonlyargs) + [""] * len(arguments.args)
        rows: list[tuple[str, ast.arg | None, ast.expr | None]] = [
            *zip(kinds, plain, [*missing, *arguments.defaults], strict=True),
            ("*", arguments.vararg, None),
            *(
                ("k", arg, value)
                for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            ),
            ("**", arguments.kwarg, None),
        ]
        counted = [row for row in rows if row[1] and row[1].arg not in self.unread]
        return [item for row in counted for item in row]


def _shown(piece: Piece, node: ast.stmt) -> object:
    """Return the lines of a statement, or its node if it shares a line with others."""
    lines = piece.lines_of(node)
    is_alone = node.col_offset == len(lines[0]) - len(lines[0].lstrip()) and ";" not in lines[-1]
    return lines if is_alone else node


def _is_idle(node: ast.stmt, unread: frozenset[str]) -> bool:
    """Whether a statement does nothing except, possibly, bind names that do not count."""
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return all(bound_by(alias) in unread for alias in aliases)
        case ast.Assign(targets=targets, value=value):
            return _binds_unread(targets, value, unread)
        case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value):
            return _binds_unread([target], value, unread)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name in unread
        case ast.ClassDef(name=name):
            return name in unread
    return False


def _binds_unread(targets: list[ast.expr], value: ast.expr | None, unread: frozenset[str]) -> bool:
    if not all(target_of(target) in unread for target in targets):
        return False
    return value is None or not any(isinstance(node, _EFFECTS) for node in ast.walk(value))
