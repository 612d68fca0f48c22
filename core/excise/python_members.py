"""Members of Python classes that an edit takes out of their class, from the trees of both texts.

A class is compared if both texts have it. What could come from elsewhere (a base that the text does
not define, a decorator, a metaclass, `__getattr__`) is never said to be missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from excise.python_names import DEFINITION, top_level
from excise.python_parts import Piece

__all__ = ["LostMember", "lost_errors", "lost_members"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = frozenset(("self", "cls"))
_ANY_NAME = frozenset(("__getattr__", "__getattribute__"))


class LostMember(NamedTuple):
    """A member that a class had in the origin.

    Attributes
    ----------
    owner
        The class, by its qualified name.
    name
        The member.
    line
        Where the function is now, or the class that still reads it, as the tree counts lines.
    fell_out
        Whether it is a function elsewhere now; else it is gone.
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


def lost_members(origin: Sequence[Piece], revision: Sequence[Piece]) -> tuple[LostMember, ...]:
    """Return the members that fell out of their classes, and those that are gone but still read.

    A member fell out if the revision has the same function (by name, parameters and decorators)
    within a function, or if it has it at the top level with ``self`` or ``cls`` first, and the
    origin had none there. It is gone but still read if the class itself reads it of ``self`` or
    ``cls``, or anything reads it of the class.

    Parameters
    ----------
    origin, revision
        The statements of both texts. Those that both have are compared with nothing.

    Notes
    -----
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
            if is_within or (is_top and _begins_with_self(node)):
                apart.setdefault(node.name, node)
            is_within, is_top = True, False
        elif isinstance(node, ast.ClassDef):
            is_top = is_within = False  # a class of a function has methods of its own
        waiting += [(child, is_top, is_within) for child in ast.iter_child_nodes(node)]
    return apart


def _begins_with_self(function: _Function) -> bool:
    parameters = [*function.args.posonlyargs, *function.args.args]
    return bool(parameters) and parameters[0].arg in _OWN


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
