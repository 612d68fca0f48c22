"""Facts about Python texts from Python's own parser: the names that they define and read.

`ast.parse` only parses, so nothing is compiled or run. For hostile texts (deep nesting, long
chains) it raises an error, which means here that nothing is known. The grammar is that of the
running interpreter.

Members that an edit takes out of their class: a class is compared if both texts have it. What could
come from elsewhere (a base that the text does not define, a decorator, a metaclass, `__getattr__`)
is never said to be missing.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from excise.errors import Unparsable
from excise.python_names import (
    DEFINITION,
    KnownNames,
    Names,
    Statement,
    bound_by,
    parse,
    parse_beside,
    target_of,
    top_level,
)

PARSER = "python_ast"
"""The name of Python's own parser in the auditing events."""

MOST = 500_000
"""Characters above which a text is not read: a second's work, and no person's module."""

_BODIES = frozenset(("body", "orelse", "finalbody"))
_IGNORED = frozenset(("ctx", "kind", "type_comment", "type_ignores"))
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = frozenset(("self", "cls"))
_ANY_NAME = frozenset(("__getattr__", "__getattribute__"))
_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True)
class Module:
    """A text that Python's parser accepts.

    - ``known``, ``parts``: what was read of statements, for other versions of the text.
    """

    pieces: tuple[Statement, ...]
    known: KnownNames = field(default_factory=dict)
    parts: dict[tuple[str, ...], list[Statement]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, beside: Module | None = None) -> Module:
        """Parse a normalised text.

        - ``beside``: another version of it. Statements that both have are parsed and examined once.

        Raises SyntaxError if it is not Python. Raises excise.errors.Unparsable if the text is too
        long, too deep, or has characters that no file has.

        Raises auditing events like `excise.syntax.parse`, with the name `PARSER`.
        """
        if len(text) > MOST:
            raise Unparsable(f"over {MOST:,} characters")
        shared = () if beside is None else (beside.known, beside.parts)
        if not text:  # of a file that is deleted: in many origins, and nothing to parse
            return cls((), *shared)
        lines = text.replace("\r", "\n").split("\n")  # lines as Python counts them
        sys.audit("excise.parse", PARSER, text.encode("utf-8", "surrogatepass"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes like "\d"
                pieces = None
                if beside is not None:
                    pieces = parse_beside(beside.pieces, lines, beside.parts)
                if pieces is None:
                    pieces = parse(text, lines)
        except (ValueError, RecursionError, MemoryError) as error:
            if isinstance(error, SyntaxError):
                raise
            raise Unparsable(f"Python's parser gives up: {error}") from None
        finally:
            sys.audit("excise.parsed", PARSER)
        return cls(pieces, *shared)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The top-level statements."""
        return [piece.node for piece in self.pieces]

    @property
    def bound(self) -> frozenset[str]:
        """Names that are bound anywhere in the text."""
        return frozenset(self._names.bound)

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

    @cached_property
    def unprovided(self) -> tuple[tuple[str, str, int], ...]:
        """The attributes that a class reads of ``self`` and that nothing shown provides.

        Each with the class, by its qualified name, and the line. Classes of which the text does not
        show all bases are left out.
        """
        classes = _classes(self.body)
        derived = {name for known in classes.values() if known.node.bases for name in known.names}
        missing: dict[tuple[str, str], int] = {}
        for owner, known in classes.items():
            if (provided := _provided(owner, classes)) is None:
                continue
            provided |= derived
            for node in ast.walk(known.node):
                match node:
                    case ast.Attribute(ast.Name(id="self" | "cls"), name) if name not in provided:
                        missing.setdefault((owner, name), node.lineno)
        return tuple((owner, name, line) for (owner, name), line in missing.items())

    def is_program_of(self, origin: Module, unread: frozenset[str] = frozenset()) -> bool:
        """Whether it equals an origin except for statements without effect and some names.

        - ``unread``: names whose parameters, imports and assignments (of values that call nothing)
          do not count.
        """
        before = [piece for piece in origin.pieces if not _is_idle(piece.node, unread)]
        after = [piece for piece in self.pieces if not _is_idle(piece.node, unread)]
        if len(before) != len(after):
            return False
        try:
            return all(
                old.node is new.node
                or _Comparison(old, new, unread).of_statements(old.node, new.node)
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

    old: Statement
    new: Statement
    unread: frozenset[str]

    def of_statements(self, old: ast.stmt, new: ast.stmt) -> bool:
        return _shown(self.old, old) == _shown(self.new, new) or self._of(old, new)

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
            bodies = ([n for n in body if not _is_idle(n, self.unread)] for body in (old, new))
            before, after = bodies
            return len(before) == len(after) and all(map(self.of_statements, before, after))
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


def _shown(piece: Statement, node: ast.stmt) -> object:
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


class LostMember(NamedTuple):
    """A member that a class had in the origin.

    - ``owner``: the class, by its qualified name.
    - ``name``: the member.
    - ``line``: where the function is now, or the class that still reads it, as the tree counts
      lines.
    - ``fell_out``: whether it is a function elsewhere now; else it is gone.
    """

    owner: str
    name: str
    line: int
    fell_out: bool

    @property
    def error(self) -> str:
        """What the edit does, as a phrase."""
        return lost_errors([self])[0]


@dataclass(slots=True)
class _Class:
    """What the definitions of one name have in common: those below a condition are united."""

    node: ast.ClassDef
    functions: dict[str, _Function] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


def lost_members(
    origin: Sequence[Statement], revision: Sequence[Statement]
) -> tuple[LostMember, ...]:
    """Return the members that fell out of their classes, and those that are gone but still read.

    A member fell out if the revision has the same function (by name, parameters and decorators)
    within a function, or if it has it at the top level with ``self`` or ``cls`` first, and the
    origin had none there. It is gone but still read if the class itself reads it of ``self`` or
    ``cls``, or anything reads it of the class.

    - ``origin``, ``revision``: the statements of both texts. Those that both have are compared with
      nothing.

    Iterative, like all that looks at trees of texts that others wrote.
    """
    shared = {piece.lines for piece in origin} & {piece.lines for piece in revision}
    old_body = [piece.node for piece in origin if piece.lines not in shared]
    new_body = [piece.node for piece in revision if piece.lines not in shared]
    before, after = _classes(old_body), _classes(new_body)
    missing = [
        (owner, name)
        for owner, old in before.items()
        if owner in after
        for name in (*old.functions, *sorted(old.names - old.functions.keys()))
        if name not in after[owner].names
    ]
    if not missing:
        return ()
    placed_before, placed = _functions_apart(old_body), _functions_apart(new_body)
    every = [piece.node for piece in revision]
    classes, read = _classes(every), _attributes(every, ast.Load)
    derived = {name for known in classes.values() if known.node.bases for name in known.names}
    missed: dict[str, set[str]] = {}
    lost = []
    for owner, name in missing:
        old, new = before[owner].functions.get(name), after[owner].node
        now = placed.get(name) if name not in placed_before else None
        if old is not None and now is not None and _head(old) == _head(now):
            lost.append(LostMember(owner, name, now.lineno, fell_out=True))
            continue
        if owner not in missed:
            within = _attributes([new], ast.Load)
            still_read = {name for variable, name in within if variable in _OWN}
            still_read |= {name for variable, name in read if variable == new.name}
            provided = _provided(owner, classes)
            missed[owner] = set() if provided is None else still_read - provided - derived
        if name in missed[owner]:
            lost.append(LostMember(owner, name, new.lineno, fell_out=False))
    return tuple(lost)


def lost_errors(members: Iterable[LostMember]) -> tuple[str, ...]:
    """Return one phrase for the members that fell out of a class, and one for those gone.

    A function at the wrong place takes all methods after it: they are named up to three.
    """
    names: dict[tuple[str, bool], list[str]] = {}
    for member in members:
        names.setdefault((member.owner, member.fell_out), []).append(member.name)
    errors = []
    for (owner, fell_out), all_names in names.items():
        more = f" and {len(all_names) - 3:,} more" if len(all_names) > 3 else ""
        few = f"{', '.join(all_names[:3])}{more}"
        gone = f"removes {few} of class {owner}, which is still read"
        errors.append(f"lets {few} fall out of class {owner}" if fell_out else gone)
    return tuple(errors)


def _classes(body: Iterable[ast.stmt]) -> dict[str, _Class]:
    """Return the classes of a body and those in them, by qualified name."""
    classes: dict[str, _Class] = {}
    waiting = [("", node) for node in top_level(body) if isinstance(node, ast.ClassDef)]
    while waiting:
        outer, node = waiting.pop()
        known = classes.setdefault(f"{outer}{node.name}", _Class(node))
        for statement in top_level(node.body):
            if isinstance(statement, ast.ClassDef):
                waiting.append((f"{outer}{node.name}.", statement))
            if isinstance(statement, DEFINITION):
                known.names.add(statement.name)
            if isinstance(statement, _Function):
                known.functions.setdefault(statement.name, statement)
            else:
                known.names.update(_stored(statement))
    return classes


def _stored(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a class binds, imports included."""
    if isinstance(statement, DEFINITION):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, DEFINITION):
            yield node.name


def _functions_apart(body: Iterable[ast.stmt]) -> dict[str, _Function]:
    """Return the functions within functions, and those at the top level that begin with self."""
    apart: dict[str, _Function] = {}
    waiting: list[tuple[ast.AST, bool, bool]] = [(node, True, False) for node in body]
    while waiting:
        node, is_top, is_within = waiting.pop()
        if isinstance(node, _Function):
            first = [*node.args.posonlyargs, *node.args.args][:1]
            if is_within or (is_top and first and first[0].arg in _OWN):
                apart.setdefault(node.name, node)
            is_within, is_top = True, False
        elif isinstance(node, ast.ClassDef):
            is_top = is_within = False  # a class of a function has methods of its own
        waiting += [(child, is_top, is_within) for child in ast.iter_child_nodes(node)]
    return apart


def _head(function: _Function) -> tuple[object, ...]:
    names = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    return names, [ast.dump(decorator) for decorator in function.decorator_list]


def _provided(owner: str, classes: Mapping[str, _Class]) -> set[str] | None:
    """Return the names that a class has, also of its bases, or None if the text does not show all.

    Those that methods set on ``self`` are among them.
    """
    provided: set[str] = set()
    waiting, seen = [owner], {owner, "object"}
    while waiting:
        known = classes.get(waiting.pop())
        if known is None or known.names & _ANY_NAME:
            return None
        if known.node.keywords or known.node.decorator_list:
            return None
        provided |= known.names
        stored = _attributes([known.node], ast.Store)
        provided |= {name for variable, name in stored if variable in _OWN}
        for base in known.node.bases:
            if not isinstance(base, ast.Name):
                return None
            if base.id not in seen:
                seen.add(base.id)
                waiting.append(base.id)
    return provided


def _attributes(body: Iterable[ast.AST], context: type[ast.expr_context]) -> set[tuple[str, str]]:
    """Return the variables and attributes that are read or set of them."""
    return {
        (node.value.id, node.attr)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, context)
        and isinstance(node.value, ast.Name)
    }
