"""What the Python files of one change use of each other: names that are missing, calls that differ.

Only what the text shows counts. A module that may have any name (a star import, `__getattr__`,
`globals()`, a monkeypatch), an import that may fail (within `try`), and a name that is bound twice
are never said to be wrong.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from excise.errors import Unparsable
from excise.python_facts import Module
from excise.python_names import LEAVES, Statement
from excise_server.foundation.escape import printable, shown_name

_OWN_MODULE = frozenset(("modules", "__name__"))
"""Names by which a statement looks at its own module (``sys.modules[__name__]``)."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMING = frozenset((
    ast.Name, ast.Attribute, ast.Subscript, ast.arg, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping, ast.Global, ast.Import, ast.ImportFrom, *_FUNCTIONS, ast.ClassDef,
))  # fmt: skip
"""Nodes that use or bind names: of many others there is nothing to see."""

_ASIDE = frozenset(("annotation", "returns", "ctx", "op", "ops", "kind", "type_comment"))
"""Fields without such nodes, or with annotations."""

_OWN = ("self", "cls")
_LONGEST_CHAIN = 8


class WrongUse(NamedTuple):
    """A use that cannot work, in a file and a line (from 1), as a phrase.

    - ``target``: the file that lacks the name, or has the function.
    - ``is_call``: whether the name is there, but does not take these arguments.
    """

    path: str
    line: int
    name: str
    message: str
    target: str
    is_call: bool

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same use in other texts: everything but the line."""
        return self.path, self.name, self.message, self.target


class _NameUse(NamedTuple):
    """A name of a module (empty: the module itself; of this file without one), perhaps called."""

    line: int
    module: tuple[int, str] | None
    name: str
    call: ast.Call | None = None


@dataclass(slots=True)
class _StatementNames:
    """What a top-level statement uses and binds; its lines count from those of its tree.

    - ``names``: what it binds at the top level of its file.
    - ``bound``: how often it binds each name, wherever.
    - ``stored``, ``own_stored``: the attributes that it assigns, and those of ``self``.
    - ``modules``, ``imported``: what the names are that it imports.
    - ``called``, ``chains``: names and attributes of names, of which the file knows what they are.
    """

    uses: list[_NameUse] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    bound: Counter[str] = field(default_factory=Counter)
    stored: set[str] = field(default_factory=set)
    own_stored: set[str] = field(default_factory=set)
    signatures: dict[str, inspect.Signature] = field(default_factory=dict)
    modules: dict[str, tuple[int, str]] = field(default_factory=dict)
    imported: dict[str, tuple[tuple[int, str] | None, str]] = field(default_factory=dict)
    called: list[tuple[str, ast.Call]] = field(default_factory=list)
    chains: list[tuple[str, ast.Attribute, ast.Call | None]] = field(default_factory=list)
    has_any: bool = False


@dataclass(slots=True)
class _PythonFile:
    """What a file uses, and has at its top level: any name, if ``has_any``."""

    uses: list[_NameUse] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    signatures: dict[str, inspect.Signature] = field(default_factory=dict)
    has_any: bool = False

    @classmethod
    def of(cls, parts: Sequence[tuple[int, _StatementNames]]) -> _PythonFile:
        """Put statements together, each with how far down it is from its lines."""
        every, file = _StatementNames(), cls()
        for shift, part in parts:
            file.names |= part.names
            file.stored |= part.stored
            file.has_any |= part.has_any
            file.uses += [use._replace(line=use.line + shift) for use in part.uses]
            every.bound.update(part.bound)
            every.own_stored |= part.own_stored
            every.modules |= part.modules
            every.imported |= part.imported
        bound = every.bound
        for shift, part in parts:
            file.signatures |= {
                name: signature
                for name, signature in part.signatures.items()
                if bound[name.partition(".")[0]] == 1
                and name.partition(".")[2] not in every.own_stored
            }
            for name, call in part.called:
                if bound[name] == 1 or "." in name:
                    origin, own_name = every.imported.get(name, (None, name))
                    file.uses.append(_NameUse(call.lineno + shift, origin, own_name, call))
            for chain, attribute, outer in part.chains:
                if chain in every.modules and bound[chain.partition(".")[0]] == 1:
                    line, module = attribute.lineno + shift, every.modules[chain]
                    file.uses.append(_NameUse(line, module, attribute.attr, outer))
        return file


_CHARACTERS_KEPT = 8_000_000
"""Characters of the texts whose names are kept: those that were read last."""


class PythonFiles:
    """Reads each distinct text once, unless they are very many, for several states of some files.

    - ``paths``: every path that some state has.
    - ``module_of``: reads a text.
    """

    def __init__(
        self, paths: Collection[str], module_of: Callable[[str], Module] = Module.of
    ) -> None:
        self._module_of = module_of
        self._read: dict[str, _PythonFile] = {}
        self._parts: dict[ast.stmt, _StatementNames] = {}
        self._paths = {path for path in paths if path.endswith(".py")}
        self._modules: dict[str, str] = {}
        for path in self._paths:
            words = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for first in range(len(words)):
                name = ".".join(words[first:])  # if two files may be this module, neither is
                self._modules[name] = "" if name in self._modules else path

    def wrong_uses(self, files: Mapping[str, str]) -> list[WrongUse]:
        """Return what files use of each other and have not, and calls that they do not take."""
        known = {path: self._file(text) for path, text in files.items() if path.endswith(".py")}
        stored = {name for file in known.values() for name in file.stored}
        wrong_uses = (
            wrong
            for path, file in known.items()
            for use in file.uses
            if use.name not in stored and (wrong := self._wrong(path, use, known)) is not None
        )
        # Once, however often it is used: the first of its lines.
        return sorted({use.key: use for use in sorted(wrong_uses, reverse=True)}.values())

    def defines(self, text: str | None, name: str) -> bool:
        """Whether a file with a text, or none, has a name at its top level; any has no name."""
        return text is not None and (not name or name in self._file(text).names)

    def taken(self, old: str | None, new: str | None) -> tuple[set[str], set[str]]:
        """Return the names that a file no longer has, and those that take other arguments.

        Of a file that is gone, one is empty.
        """
        before = _PythonFile() if old is None else self._file(old)
        after = _PythonFile() if new is None else self._file(new)
        if after.has_any:
            return set(), set()
        calls = {
            name
            for name, signature in before.signatures.items()
            if after.signatures.get(name, signature) != signature
        }
        gone = {*(before.names - after.names), *([""] if new is None and old is not None else [])}
        return gone, calls

    def _wrong(self, path: str, use: _NameUse, known: Mapping[str, _PythonFile]) -> WrongUse | None:
        target = path if use.module is None else self._path_of(path, *use.module, known)
        if not target:
            return None
        file, name, where = known.get(target), printable(use.name), shown_name(target)
        if file is None:
            message = f"imports {where}, which is not there"
            return WrongUse(path, use.line, "", message, target, is_call=False)
        if use.module is not None and use.name and not file.has_any and use.name not in file.names:
            level, module = use.module
            if self._path_of(path, level, f"{module}.{use.name}".lstrip("."), known) in known:
                return None
            message = f"uses {name} of {where}, which does not define it"
            return WrongUse(path, use.line, use.name, message, target, is_call=False)
        if use.call is None or (signature := file.signatures.get(use.name)) is None:
            return None
        if any(isinstance(arg, ast.Starred) for arg in use.call.args):
            return None
        keywords = {keyword.arg: None for keyword in use.call.keywords if keyword.arg}
        if len(keywords) < len(use.call.keywords):  # ** may have any
            return None
        try:
            signature.bind(*use.call.args, **keywords)
        except TypeError as error:
            message = f"calls {name}: {printable(str(error))}"
            return WrongUse(path, use.line, use.name, message, target, is_call=True)
        return None

    def _path_of(self, path: str, level: int, module: str, known: Collection[str]) -> str:
        """Return the path of a module as a file names it, or an empty string.

        - ``known``: the paths that there are: a package may take the place of a module.
        """
        if not level:
            return self._modules.get(module, "")
        folders = path.split("/")[:-level]
        if level > path.count("/") + 1:
            return ""
        stem = "/".join((*folders, *filter(None, module.split("."))))
        ends = (f"{stem}.py", f"{stem}/__init__.py".lstrip("/"))
        there = [path for path in ends if path in self._paths]
        return next((path for path in there if path in known), there[0] if there else "")

    def _file(self, text: str) -> _PythonFile:
        if text not in self._read:
            while self._read and sum(map(len, self._read)) + len(text) > _CHARACTERS_KEPT:
                del self._read[next(iter(self._read))]
            try:
                pieces = self._module_of(text.removeprefix("\ufeff")).pieces
                self._read[text] = _PythonFile.of([*map(self._part, pieces)])
            except (SyntaxError, Unparsable):
                self._read[text] = _PythonFile(has_any=True)
        return self._read[text]

    def _part(self, piece: Statement) -> tuple[int, _StatementNames]:
        """Return a statement that several texts may have, and how far down it is in this one."""
        if piece.node not in self._parts:
            self._parts[piece.node] = _part_of(piece.node)
        return piece.shift, self._parts[piece.node]


class _Surroundings(NamedTuple):
    """Where a node is: at the top level, where errors are caught, in a class, as what is called."""

    is_top: bool = True
    is_tried: bool = False
    owner: str = ""
    call: ast.Call | None = None


def _walk(statement: ast.stmt) -> Iterator[tuple[ast.AST, _Surroundings]]:
    """Yield the nodes of a tree that name something, iteratively, as it may be deep."""
    waiting: list[tuple[ast.AST, _Surroundings]] = [(statement, _Surroundings())]
    while waiting:
        node, place = waiting.pop()
        if type(node) in _NAMING:
            yield node, place
        if type(node) in LEAVES:
            continue
        below = place if place.call is None else place._replace(call=None)
        if isinstance(node, ast.ClassDef):
            below = below._replace(owner=node.name if place.is_top else "", is_top=False)
        elif isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            below = below._replace(is_top=False)
        for name in node._fields:
            if name in _ASIDE:
                continue
            value = getattr(node, name, None)
            within = below
            if name == "body" and isinstance(node, ast.Try) and node.handlers:
                within = below._replace(is_tried=True)
            elif name == "func" and isinstance(node, ast.Call):
                within = below._replace(call=node)
            if isinstance(value, list):
                waiting += [(child, within) for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append((value, within))


def _part_of(statement: ast.stmt) -> _StatementNames:
    part, own_module = _StatementNames(), set[str]()
    for node, place in _walk(statement):
        names: list[str] = []
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                part.has_any |= _gives_names(name, place)
                own_module |= {name} & _OWN_MODULE
                if place.call is not None:
                    part.called.append((name, place.call))
            case ast.Attribute(value=value, attr=name, ctx=ctx):
                chain = _chain(value)
                own_module |= {name} & _OWN_MODULE
                if not isinstance(ctx, ast.Load):
                    (part.own_stored if chain in _OWN else part.stored).add(name)
                elif chain == "self" and place.call is not None:
                    part.called.append((f"{place.owner}.{name}", place.call))
                elif chain:
                    part.chains.append((chain, node, place.call))
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                names = [name]
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names = [name]
            case ast.MatchMapping(rest=str(name)):
                names = [name]
            case ast.Global(names=declared):
                names = declared
                part.names.update(declared)
            case ast.Subscript(value=value, ctx=ast.Store()):  # modules that nobody sees
                part.has_any |= _chain(value).rpartition(".")[2] == "modules"
            case ast.Import(names=aliases):
                names = [alias.asname or alias.name.partition(".")[0] for alias in aliases]
                if not place.is_tried:
                    part.modules |= {a.asname or a.name: (0, a.name) for a in aliases}
                    part.uses += [_NameUse(node.lineno, (0, alias.name), "") for alias in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                names = [alias.asname or alias.name for alias in aliases]
                part.has_any |= "*" in names
                source = level, module or ""
                used = [(source, "" if alias.name == "*" else alias.name) for alias in aliases]
                if not place.is_tried:
                    part.imported |= dict(zip(names, used, strict=True))
                    part.modules |= {
                        name: (level, f"{module or ''}.{alias.name}".lstrip("."))
                        for name, alias in zip(names, aliases, strict=True)
                    }
                    part.uses += [_NameUse(node.lineno, *use) for use in used]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names = [name]
                if place.is_top:
                    part.has_any |= name == "__getattr__"
                    part.signatures |= _signatures("", [node])
            case ast.ClassDef(name=name):
                names = [name]
                if place.is_top:
                    part.signatures |= _signatures(f"{name}.", node.body)
        if names:
            part.bound.update(names)
        if place.is_top:
            part.names.update(names)
    part.has_any |= own_module == _OWN_MODULE
    return part


def _gives_names(name: str, place: _Surroundings) -> bool:
    """Whether the use of a name gives a module names that no statement shows.

    What a function sets is another one's, unless it looks at its own module.
    """
    arguments = [] if place.call is None else place.call.args
    match name:
        case "globals" | "__builtins__":
            return True
        case "exec":  # with a dictionary its names go there
            return len(arguments) < 2
        case "locals" | "vars":
            return place.is_top and not arguments
        case "setattr":
            return place.is_top and not (arguments and _chain(arguments[0]) in _OWN)
    return False


def _chain(node: ast.expr) -> str:
    """Return a dotted name, or an empty string for other expressions."""
    words: list[str] = []
    while isinstance(node, ast.Attribute) and len(words) < _LONGEST_CHAIN:
        words.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(words))) if isinstance(node, ast.Name) else ""


def _signatures(prefix: str, body: list[ast.stmt]) -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the parameters of the functions of a body that are plain, and the only ones so called.

    Of a method, the first one is left out.
    """
    p = inspect.Parameter
    counts = Counter(node.name for node in body if isinstance(node, (*_FUNCTIONS, ast.ClassDef)))
    for node in body:
        if not isinstance(node, _FUNCTIONS) or node.decorator_list or counts[node.name] > 1:
            continue
        given = node.args
        plain = [*given.posonlyargs, *given.args]
        first = len(plain) - len(given.defaults)
        if prefix and (not plain or plain[0].arg not in _OWN):
            continue
        rows: list[tuple[ast.arg | None, Any, object]] = [
            (arg, p.POSITIONAL_ONLY if index < len(given.posonlyargs) else p.POSITIONAL_OR_KEYWORD,
             None if index >= first else p.empty)
            for index, arg in enumerate(plain)
        ]  # fmt: skip
        rows.append((given.vararg, p.VAR_POSITIONAL, p.empty))
        rows += [
            (arg, p.KEYWORD_ONLY, p.empty if default is None else None)
            for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        ]
        rows.append((given.kwarg, p.VAR_KEYWORD, p.empty))
        with suppress(ValueError):  # two parameters of one name
            yield (
                prefix + node.name,
                inspect.Signature(
                    [
                        p(arg.arg, kind, default=default)
                        for arg, kind, default in rows[bool(prefix) :]
                        if arg is not None
                    ]
                ),
            )
