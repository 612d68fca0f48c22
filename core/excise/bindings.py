"""The names that code binds and reads, by scope, for any grammar (docs/tasks.md, "Units").

There is no table of languages: the types and fields of syntax nodes say what a name is, and most
grammars call the same things by the same words. A scope is a function, a class or their like; what
grammars say otherwise is missed. So a name that is not found to be fresh may still be, and nothing
is claimed of one that the origin reads, whoever defines it.

A scope without a name of its own (a lambda, a callback) is called by its first line, and where that
line is new, by its number as well: no other text has it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from excise.syntax import encode

if TYPE_CHECKING:
    from tree_sitter import Node, Tree, TreeCursor

Key = tuple[tuple[str, ...], str]
"""A name and the scope that binds it: the names of functions and classes, the outermost first."""

MEMBER = (".",)
"""The scope of methods, fields and attributes: who reads ``.name`` does not say of what."""

KEYWORD = ("=",)
"""The scope of names by which arguments are passed."""

_FUNCTION = re.compile(r"function|method|constructor|lambda|closure|arrow|func_lit|macro_def")
_CLASS = re.compile(r"class|impl_|struct_|trait|interface|record|union_|protocol")
_SPACE = re.compile(r"namespace|mod_item|internal_module")
_NO_SCOPE = re.compile(
    r"call|invocation|superclass|type$|parameter|body|name$|modifier|reference|creation|declarator|argument"
    r"|import|clause|list$|initializer|struct_expression|pattern|expr_field|heritage|literal_type"
)
_NAME = re.compile(r"identifier|^(?:name|word|constant)$|variable")
_IMPORT = re.compile(r"import_(?:stat|from|decl|header|spec)|^use_decl|using_direc|namespace_use")
_READS = re.compile(  # a field `name` of these is a name that they read
    r"call|invocation|access|scoped|qualified|attribute|annotation|argument|element|ifdef|export"
    r"|struct_expression|generic|reference|decorator|macro_inv|_type$|command"
)
_BODILESS = re.compile(r"(?:struct|enum|union|class)_specifier")
_DECLARES = re.compile(r"^assignment$|declaration|for_|clause|pattern")
_ASSIGNS = re.compile(r"assign(?!ed)")
_FIELD_ONLY = re.compile(r"field_decl|method|property_sig")
_ENUM = re.compile(r"enum(?!_decl|_spec|_item)|variant")
_KEYED = re.compile(r"keyed_element|literal_element|field_initializer|field_pattern")
_NO_NAMES = re.compile(r"decorator|annotation|attribute_item|modifiers|wildcard")
_DOTS = frozenset({".", "?.", "::", "&.", "!."})
_SELF = frozenset({b"self", b"this", b"cls"})
_MEMBER_FIELDS = frozenset({"attribute", "property", "field"})
_BOUND_FIELDS = frozenset({"name", "pattern", "declarator", "alias", "parameter", "parameters"})
_WORD = re.compile(r"[^\W\d]\w*")
_ALIASED = re.compile(r"alias|specifier|as_clause")
_DEEPEST = 50
"""Most scopes in each other: a deeper one counts as the last of them."""
_LONGEST = 200
"""Most bytes on either side by which a scope without a name is called: lines can be endless."""
_VERSION = re.compile(r"/v\d+$|\.v\d+$")


class _Role(IntEnum):
    """What is done with the names below a node."""

    READ = 0
    BIND = 1
    PARAMETER = 2
    ASSIGN = 3  # binds only where no scope around does
    IMPORT = 4
    PATH = 5  # of something imported: neither bound nor read
    MEMBER = 6
    KEYWORD = 7


_PASSED_ON = frozenset({_Role.BIND, _Role.PARAMETER, _Role.ASSIGN})


class _NameScope(NamedTuple):
    """A scope: its name from the outermost, and the one around it."""

    path: tuple[str, ...] = ()
    outer: _NameScope | None = None
    is_function: bool = False
    is_class: bool = False

    @property
    def is_within_function(self) -> bool:
        """Whether it is a function's, or that of something in a function."""
        return self.is_function or (self.outer is not None and self.outer.is_within_function)


class _Name(NamedTuple):
    """A name in a text: its line, the scope in which it stands, and what is done with it.

    ``is_member``: it is bound for ``.name`` as well; ``is_plain``: and otherwise; ``is_promised``:
    by a prototype, and the definition is elsewhere.
    """

    line: int
    scope: _NameScope
    name: str
    role: _Role
    is_member: bool = False
    is_plain: bool = True
    is_promised: bool = False

    @property
    def bound(self) -> tuple[Key, ...]:
        """The keys that are bound here, but for an assignment."""
        match self.role:
            case _Role.BIND | _Role.IMPORT:
                keys: tuple[Key, ...] = ((self.scope.path, self.name),) if self.is_plain else ()
                return (*keys, *_of_member(self.name)) if self.is_member else keys
            case _Role.PARAMETER:
                return (self.scope.path, self.name), (KEYWORD, self.name)
            case _Role.MEMBER if self.is_member:
                return _of_member(self.name)
        return ()


def _of_member(name: str) -> tuple[Key, Key]:
    return (MEMBER, name), (KEYWORD, name)


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names of a whole text.

    - ``bound``: what it binds.
    - ``free``: by name, the scopes in which it is read and nothing in the text binds it, each with
      the first such line (from 0).
    """

    bound: frozenset[Key]
    free: dict[str, dict[tuple[str, ...], int]]

    @classmethod
    def of(cls, tree: Tree, text: str) -> Bindings:
        """Collect the names of a normalised text, given its tree by `excise.syntax.parse`."""
        names = list(_Walk(tree, text, None).names())
        bound = _bound(names, frozenset())
        free: dict[str, dict[tuple[str, ...], int]] = {}
        for name in names:
            if (key := _read(name, bound)) is not None and key not in bound:
                free.setdefault(name.name, {}).setdefault(key[0], name.line)
        return cls(frozenset(bound), free)

    def lacks(self, key: Key) -> bool:
        """Whether a key is fresh beside this text, which neither binds it nor reads it."""
        scope, name = key
        return key not in self.bound and not any(
            reading[: len(scope)] == scope for reading in self.free.get(name, ())
        )


class HunkNames(NamedTuple):
    """The fresh names that some lines of a revision bind, and those that they read."""

    binds: frozenset[Key]
    uses: frozenset[Key]

    @classmethod
    def none(cls) -> HunkNames:
        """Return those of lines of which nothing is known."""
        return cls(frozenset(), frozenset())


def fresh_names(
    origin: Bindings, tree: Tree, text: str, spans: Sequence[tuple[int, int]]
) -> list[HunkNames]:
    """Return what each of a revision's changed parts binds and reads of its fresh names.

    A name is fresh if some changed line binds it, and the origin neither binds it in that scope nor
    reads it there. Nothing is said of lines whose syntax is broken.

    - ``origin``: those of the text that was revised.
    - ``tree``: the revision's, by `excise.syntax.parse`.
    - ``text``: the normalised revision.
    - ``spans``: its lines (from, to) that the origin does not have, ascending and apart.

    Returns: one for each span.

    >>> from excise.syntax import parse
    >>> before, after = "a()\\nb()\\nc()\\n", "x = a()\\nb()\\nc(x)\\n"
    >>> names = Bindings.of(parse(before, "python"), before)
    >>> [*map(tuple, fresh_names(names, parse(after, "python"), after, [(0, 1), (2, 3)]))]
    [(frozenset({((), 'x')}), frozenset()), (frozenset(), frozenset({((), 'x')}))]
    """
    names = list(_Walk(tree, text, spans).names())
    here = _bound(names, origin.bound)
    fresh = {key for key in here if origin.lacks(key)}
    known = origin.bound | here.keys()
    binds: list[set[Key]] = [set() for _ in spans]
    uses: list[set[Key]] = [set() for _ in spans]
    starts = [start for start, _ in spans]
    declared = {key for name in names if name.role is _Role.BIND for key in name.bound}
    for key in fresh:
        for line in here[key]:
            binds[bisect_right(starts, line) - 1].add(key)
    for name in names:
        read = _read(name, known)
        if name.role is _Role.MEMBER and (MEMBER, name.name) in declared:
            read = MEMBER, name.name  # also where `self.name` is assigned: it does not declare it
        if read is not None and read in fresh:
            uses[bisect_right(starts, name.line) - 1].add(read)
    return [
        HunkNames(frozenset(own), frozenset(read)) for own, read in zip(binds, uses, strict=True)
    ]


def _bound(names: Sequence[_Name], known: frozenset[Key]) -> dict[Key, list[int]]:
    """Return the keys that names bind, with the lines; ``known`` are bound elsewhere in the text.

    An assignment binds where nothing there or around does otherwise.
    """
    bound: dict[Key, list[int]] = defaultdict(list)
    for name in names:
        for key in name.bound:
            bound[key].append(name.line)
    declared = frozenset(bound)
    for name in names:
        if name.role is _Role.ASSIGN and not _resolved(name.scope, name.name, declared, known):
            bound[name.scope.path, name.name].append(name.line)
    return bound


def _resolved(scope: _NameScope | None, name: str, *bound: Iterable[Key]) -> Key | None:
    """Return the key of the innermost scope that binds a name."""
    while scope is not None:
        key = scope.path, name
        if any(key in keys for keys in bound):
            return key
        scope = scope.outer
    return None


def _read(name: _Name, bound: Iterable[Key]) -> Key | None:
    """Return the key that a name reads, as if it was bound in its own scope if nothing binds it."""
    match name.role:
        case _Role.READ | _Role.ASSIGN:
            return _resolved(name.scope, name.name, bound) or (name.scope.path, name.name)
        case _Role.MEMBER if not name.is_member:
            return MEMBER, name.name
        case _Role.KEYWORD:
            return KEYWORD, name.name
    return None


class _NodeKind(NamedTuple):
    is_function: bool
    is_class: bool
    is_scope: bool
    is_name: bool
    is_import: bool
    has_no_names: bool
    is_bodiless: bool
    is_keyed: bool
    assigns: bool
    declares: bool


@cache
def _kind_of(node_type: str) -> _NodeKind:
    is_scope = not _NO_SCOPE.search(node_type)
    is_function = is_scope and bool(_FUNCTION.search(node_type))
    is_class = is_scope and not is_function and bool(_CLASS.search(node_type))
    return _NodeKind(
        is_function,
        is_class,
        is_function or is_class or (is_scope and bool(_SPACE.search(node_type))),
        bool(_NAME.search(node_type)),
        bool(_IMPORT.search(node_type)),
        bool(_NO_NAMES.search(node_type)),
        bool(_BODILESS.search(node_type)),
        bool(_KEYED.search(node_type)),
        bool(_ASSIGNS.search(node_type)),
        bool(_DECLARES.search(node_type)),
    )


@dataclass(slots=True)
class _Frame:
    """A node above the one that is looked at.

    - ``role``: what its children inherit.
    - ``name_start``: the byte where the name of the nearest scope starts, which is bound around it.
    - ``before``: the type of the child before.
    """

    node: Node
    type: str
    scope: _NameScope
    role: _Role
    name_start: int
    before: str = ""


PartNames = dict[tuple[object, ...], list[_Name]]
"""By the text of a function, or of a statement of the top level, and what is around it: its names,
with lines from its first one."""


class _Walk:
    """The way through a tree, whole or only where it touches some lines."""

    def __init__(
        self,
        tree: Tree,
        text: str,
        spans: Sequence[tuple[int, int]] | None,
        known: PartNames | None = None,
    ) -> None:
        self._tree, self._data, self._spans, self._known = tree, encode(text), spans, known
        self._starts = [start for start, _ in spans or ()]

    def names(self) -> Iterator[_Name]:
        """Yield the names. Broken parts are only looked at where the whole text is."""
        root = _Frame(self._tree.root_node, "", _NameScope(), _Role.READ, -1)
        return self._names(self._tree.walk(), None, root)

    def _part(self, node: Node, field: str | None, above: _Frame) -> Iterator[_Name]:
        """Yield the names of a part, of which another version of the text may have told."""
        known, first = self._known, node.start_point[0]
        assert known is not None
        text = self._data[node.start_byte : node.end_byte]
        key = field, above.type, above.before, above.role, above.scope, text
        if key not in known:
            names = self._names(node.walk(), field, above)
            known[key] = [_Name(name.line - first, *name[1:]) for name in names]
        return (_Name(name.line + first, *name[1:]) for name in known[key])

    def _names(self, cursor: TreeCursor, field: str | None, outermost: _Frame) -> Iterator[_Name]:
        """Yield the names of the node of a cursor, which is in a field of the node above."""
        top, frames = cursor.node, [outermost]
        while True:
            node, above = cursor.node, frames[-1]
            assert node is not None
            kind, goes_below = node.type, False
            field = field if node == top else cursor.field_name
            is_part = _kind_of(kind).is_function or (len(frames) == 2 and not outermost.type)
            is_part &= self._known is not None and node.is_named and node != top
            if is_part and not above.scope.is_within_function:
                yield from self._part(node, field, above)
            elif self._touches(node.start_point[0], node.end_point[0]):
                role = self._role(node, kind, field, above)
                goes_below = self._spans is None or kind != "ERROR"
                for name in () if node.child_count else self._leaf(node, kind, role, above):
                    if self._touches(name.line, name.line):
                        yield name
                path = node.child_by_field_name("path") if kind == "import_spec" else None
                if path is not None and node.child_by_field_name("name") is None:
                    # An import of a path binds its last part, without a version.
                    text = self._text(path.start_byte, path.end_byte).strip("\"`'")
                    last = _VERSION.sub("", text).rpartition("/")[2]
                    yield _Name(node.start_point[0], above.scope, last, _Role.IMPORT)
            above.before = kind
            if goes_below and cursor.goto_first_child():
                frames.append(self._below(node, kind, role, above))
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                frames.pop()

    def _touches(self, first: int, last: int) -> bool:
        """Whether lines, the last one included, are looked at."""
        if self._spans is None:
            return True
        index = bisect_right(self._starts, last) - 1
        return index >= 0 and self._spans[index][1] > first

    def _text(self, start: int, stop: int) -> str:
        return self._data[start:stop].decode(errors="replace")

    def _below(self, node: Node, kind: str, role: _Role, above: _Frame) -> _Frame:
        """Return the frame of a node for its children, which may stand in a scope of their own."""
        known, outer = _kind_of(kind), above.scope
        is_type = known.is_bodiless and node.child_by_field_name("body") is None
        if not known.is_scope or not node.is_named or is_type or len(outer.path) >= _DEEPEST:
            return _Frame(node, kind, outer, role, above.name_start)
        name_node, declarator = node.child_by_field_name("name"), node
        while name_node is None and (inner := declarator.child_by_field_name("declarator")):
            declarator, name_node = inner, None if inner.child_count else inner
        name_node = name_node or node.child_by_field_name("type")
        start, name_start = node.start_byte, -1
        if name_node is not None and kind != "arrow_function":
            name_start = name_node.start_byte
            name = self._text(name_start, name_node.end_byte)
            if (receiver := node.child_by_field_name("receiver")) is not None:
                name += self._text(receiver.start_byte, receiver.end_byte)
        else:
            lo = self._data.rfind(b"\n", max(start - _LONGEST, 0), start) + 1
            line = self._text(lo or max(start - _LONGEST, 0), start + _LONGEST)
            number = node.start_point[0]
            is_new = self._spans is not None and self._touches(number, number)
            name = line.split("\n")[0].strip() + f"\n{number}" * is_new
        scope = _NameScope((*outer.path, name), outer, known.is_function, known.is_class)
        return _Frame(node, kind, scope, _Role.READ, name_start)

    def _role(self, node: Node, kind: str, field: str | None, above: _Frame) -> _Role:
        """Return what is done with the names of a node, by its field and the node above."""
        inherited, parent = above.role, above.type
        if inherited is _Role.PATH or _kind_of(kind).has_no_names:
            return _Role.PATH if inherited in (_Role.PATH, _Role.IMPORT) else _Role.READ
        if inherited is _Role.IMPORT:
            return _imported(field, above)
        if _kind_of(kind).is_import:
            return _Role.IMPORT
        if field is None:
            is_type = inherited in _PASSED_ON and kind == "type_identifier"
            return _Role.READ if is_type else inherited
        if field in ("parameter", "parameters"):
            return _Role.PARAMETER
        if field == "name" and "keyword_argument" in parent:
            return _Role.KEYWORD
        binding = inherited if inherited is _Role.PARAMETER else _Role.BIND
        if field in _BOUND_FIELDS:
            return _Role.READ if field == "name" and _reads(kind, above) else binding
        if field == "left" and _kind_of(parent).declares:
            return binding
        if field == "left":
            return _Role.ASSIGN if _kind_of(parent).assigns else _Role.READ
        if field == "value" and "pattern" in parent:
            return inherited
        if field in _MEMBER_FIELDS and inherited in _PASSED_ON:
            owner = above.node.child(0)
            if owner is not None and self._data[owner.start_byte : owner.end_byte] in _SELF:
                return _Role.MEMBER
        return _Role.READ

    def _leaf(self, node: Node, kind: str, role: _Role, above: _Frame) -> Iterator[_Name]:
        """Yield the names of a node without children."""
        scope, parent = above.scope, above.type
        name, line = self._text(node.start_byte, node.end_byte), node.start_point[0]
        if kind == "preproc_arg":
            for match in _WORD.finditer(name):
                yield _Name(line + name.count("\n", 0, match.start()), scope, match[0], _Role.READ)
        elif not _kind_of(kind).is_name or role is _Role.PATH or not node.is_named or name == "_":
            return
        elif role in (_Role.MEMBER, _Role.KEYWORD):
            yield _Name(line, scope, name, role, role is _Role.MEMBER)
        elif role is _Role.IMPORT:
            yield _Name(line, scope, name, role)
        elif role in _PASSED_ON and above.before in _DOTS:
            yield _Name(line, scope, name, _Role.MEMBER)
        elif role in _PASSED_ON and node.start_byte == above.name_start and scope.outer is not None:
            yield _declared(line, scope.outer, name, parent)
        elif role is _Role.BIND and "pattern" in parent and name[:1].isupper():
            yield _Name(line, scope, name, _Role.READ)
        elif role is _Role.BIND:
            is_promised = kind == "identifier" and parent == "function_declarator"
            yield _declared(line, scope, name, parent)._replace(is_promised=is_promised)
        elif role is _Role.PARAMETER and not scope.is_function:
            return  # of a type or a prototype
        elif role in _PASSED_ON:
            yield _Name(line, scope, name, role)
        else:
            arrow = above.before == "->" and parent.endswith("expression")
            is_keyed = _kind_of(parent).is_keyed  # or a variable: the grammar does not say
            is_member = arrow or above.before in _DOTS or kind == "field_identifier"
            if is_member or is_keyed:
                yield _Name(line, scope, name, _Role.MEMBER)
            if not is_member:
                yield _Name(line, scope, name, _Role.READ)


def _declared(line: int, scope: _NameScope, name: str, parent: str) -> _Name:
    """Return a name that is declared in a scope, by the type of the node above."""
    is_plain = scope.is_class or not _FIELD_ONLY.search(parent)
    is_member = scope.is_class or not is_plain or bool(_ENUM.search(parent))
    return _Name(line, scope, name, _Role.BIND, is_member, is_plain)


def _reads(kind: str, above: _Frame) -> bool:
    """Whether a field `name` is a name that the node above only reads."""
    if above.type == "field_pattern":
        return kind == "field_identifier"
    if _BODILESS.search(above.type):
        return above.node.child_by_field_name("body") is None
    return bool(_READS.search(above.type))


def _imported(field: str | None, above: _Frame) -> _Role:
    """Return the role of a part of an import: what is named last, or its alias, is bound."""
    if field in ("module_name", "source", "path", "scope", "qualifier"):
        return _Role.PATH
    is_named = field == "name" and _ALIASED.search(above.type)
    if is_named and above.node.child_by_field_name("alias") is not None:
        return _Role.PATH
    return _Role.PATH if above.type == "dotted_name" and above.before == "." else _Role.IMPORT


class TextNames(NamedTuple):
    """What a text defines for other texts, and what it uses.

    - ``defined``: what it binds outside of functions, by qualified name, and whether that is a
      class's member. A prototype is not a definition, and binds nothing.
    - ``bound``: how often it binds each name, wherever, but for imports.
    - ``uses``: by name, and whether it is read as a member: the lines, from 0. Names that the text
      binds otherwise than by one definition for other texts are left out, as nobody knows which is
      meant; imported ones are in it.
    """

    defined: dict[str, bool]
    bound: Counter[str]
    uses: dict[tuple[str, bool], list[int]]

    @classmethod
    def of(cls, tree: Tree, text: str, known: PartNames) -> TextNames:
        """Collect the names of a normalised text, given its tree by `excise.syntax.parse`.

        - ``known``: the names of parts of other texts of the grammar; those of this text are added.
        """
        every = _Walk(tree, text, None, known).names()
        names = [name for name in every if not name.is_promised]
        own = cls({}, Counter(), {})
        for name in names:
            is_set = name.role is _Role.MEMBER and name.is_member
            if name.role in _PASSED_ON or is_set:
                own.bound[name.name] += 1
            if name.role is _Role.BIND and not name.scope.is_within_function:
                own.defined[".".join((*name.scope.path, name.name))] = name.scope.is_class
        for name in names:
            is_member = name.role is _Role.MEMBER and not name.is_member
            times = own.bound[name.name]
            is_read = name.role is _Role.READ and times <= (name.name in own.defined)
            if is_read or is_member or name.role is _Role.IMPORT:
                own.uses.setdefault((name.name, is_member), []).append(name.line)
        return own
