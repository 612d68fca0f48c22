r"""Additions whose order says nothing: imports, functions and methods, keys of a mapping.

Two edits that insert at one place are in each other's way, unless what they insert are complete
members of a parent whose members may stand in any order, under names of their own:

>>> origin, a, b = "class S:\n    x = 1\n", "    def f(self): ...\n", "    def g(self): ...\n"
>>> added(origin, 2, [a, b], "python")[1].names
('g',)
>>> added(origin, 2, [a, "    y = 2\n"], "python") is None
True
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from excise.errors import Unparsable
from excise.reading import PARSER_SECONDS, ParsedTexts, Reading, is_large
from excise.syntax import encode, line_starts
from excise.text import raw_lines

_MEMBERS: dict[str, dict[str, str]] = {
    "python": {
        "module": "import_statement import_from_statement | function_definition class_definition",
        "block": "import_statement import_from_statement",
        "class_definition": "function_definition",
    },
    "javascript": {
        "program": "import_statement | function_declaration generator_function_declaration"
        " class_declaration export_statement",
        "class_body": "method_definition",
    },
    "typescript": {
        "program": "import_statement | function_declaration generator_function_declaration"
        " class_declaration interface_declaration type_alias_declaration export_statement",
        "class_body": "method_definition",
    },
    "java": {
        "program": "import_declaration | class_declaration interface_declaration",
        "class_body": "method_declaration",
    },
    "csharp": {
        "compilation_unit": "using_directive | class_declaration",
        "declaration_list": "method_declaration",
    },
    "go": {
        "source_file": "import_declaration | function_declaration method_declaration",
        "import_spec_list": "import_spec",
    },
    "rust": {
        "source_file": "use_declaration | function_item struct_item enum_item trait_item",
        "declaration_list": "use_declaration | function_item",
    },
    "c": {"translation_unit": "preproc_include | function_definition"},
    "cpp": {
        "translation_unit": "preproc_include | function_definition",
        "declaration_list": "function_definition",
    },
    "ruby": {"program": "method class module", "body_statement": "method class module"},
    "json": {"object": "pair"},
    "toml": {"document": "pair | table", "table": "pair"},
    "yaml": {"block_mapping": "block_mapping_pair"},
}
"""By grammar and parent, the kinds of members, those that may stand among each other together."""

ORDER_FREE: dict[str, dict[str, tuple[frozenset[str], ...]]] = {
    grammar: {
        parent: tuple(frozenset(group.split()) for group in kinds.split("|"))
        for parent, kinds in parents.items()
    }
    for grammar, parents in {**_MEMBERS, "tsx": _MEMBERS["typescript"]}.items()
}
"""`_MEMBERS`, read. Fields, values of enumerations, entries of lists: their order counts."""

_ACTING = frozenset(("decorator", "annotation", "marker_annotation", "attribute_list"))
"""Whatever acts on a member where it is defined: its order may count."""

_IMPORTS = ("import", "use_declaration", "using_directive", "preproc_include")

_SEVERAL = frozenset((
    "lexical_declaration", "variable_declaration", "type_declaration", "const_declaration",
    "var_declaration", "field_declaration",
))  # fmt: skip
_PARTS = frozenset((
    "variable_declarator", "type_spec", "type_alias", "const_spec", "var_spec", "assignment",
))  # fmt: skip
"""Members that give several names, and the parts of them that do."""

_REPEATED = frozenset(("init", "_", "<<"))
"""Names that do not name one thing: Go's ``init``, and YAML's merged keys."""


_ALSO_GIVING = {
    "python": "assignment",
    "javascript": "lexical_declaration variable_declaration",
    "typescript": "lexical_declaration variable_declaration",
    "java": "enum_declaration record_declaration field_declaration",
    "csharp": "struct_declaration enum_declaration",
    "go": "type_declaration const_declaration var_declaration",
    "rust": "const_item static_item type_item mod_item union_item",
    "c": "preproc_def preproc_function_def struct_specifier union_specifier enum_specifier",
    "cpp": "preproc_def preproc_function_def struct_specifier class_specifier enum_specifier",
}
"""Members whose order counts, and that give their parent a name all the same."""

_OPEN = {
    "javascript": ("export_statement",),
    "typescript": ("export_statement", "interface_declaration"),
    "csharp": ("class_declaration",),
    "go": ("import_declaration",),
    "ruby": ("class", "module"),
    "c": ("preproc_include",),
    "cpp": ("preproc_include",),
}
"""Members of which a parent may have several of one name, or that contain those that give names."""

_GIVING = {
    grammar: frozenset(" ".join(parents.values()).replace("|", " ").split())
    .union(_ALSO_GIVING.get(alike, "").split())
    .difference(_OPEN.get(alike, ()))
    for grammar, parents in {**_MEMBERS, "tsx": _MEMBERS["typescript"]}.items()
    for alike in ("typescript" if grammar == "tsx" else grammar,)
}

_WITHIN = frozenset((
    "class_definition", "class_declaration", "class_body", "block", "export_statement",
    "declaration_list", "impl_item", "mod_item", "trait_item", "namespace_definition",
    "internal_module", "namespace_declaration", "linkage_specification", "class", "module",
    "body_statement", "import_declaration", "import_spec_list", "interface_declaration",
    "preproc_ifdef", "preproc_if", "object", "pair", "table", "document", "stream", "block_node",
    "block_mapping", "block_mapping_pair", "decorated_definition",
))  # fmt: skip
"""What is looked into for members. In a function nobody else's names are."""

_OVERLOADED = frozenset(("java", "csharp", "cpp"))
"""Grammars of languages in which functions of one name differ by their parameters."""

Level = tuple[str, ...]
"""Where a name is given: the names of what is around it, the outermost first."""


def names_given(tree: Any, text: str, grammar: str) -> dict[tuple[Level, str], list[str]]:  # noqa: ANN401 - only `syntax` and its like import the type
    """Return the names that a text defines, binds by imports or has as keys, outside of functions.

    - ``tree``: that of the text by a grammar.

    Returns: by level and name the texts of what gives it; nothing if the syntax is broken.

    >>> from excise.syntax import parse
    >>> text = "import a\\nclass S:\\n    def f(self): ...\\n"
    >>> list(names_given(parse(text, "python"), text, "python"))
    [((), 'a'), ((), 'S'), (('S',), 'f')]
    """
    found: dict[tuple[Level, str], list[str]] = {}
    kinds, data = _GIVING.get(grammar, frozenset()), encode(text)
    if not kinds or tree.root_node.has_error:
        return found
    waiting: list[tuple[Any, Level]] = [(tree.root_node, ())]
    while waiting:
        node, level = waiting.pop()
        inner = list[tuple[Any, Level]]()
        for number, child in enumerate(node.named_children):
            names = list(_names(child, data)) if child.type in kinds else []
            if child.type.endswith("_specifier") and child.child_by_field_name("body") is None:
                names = []
            if grammar in _OVERLOADED and (parameters := _parameters(child)) is not None:
                names = [f"{name}{_text(parameters, data)}" for name in names]
            if child.type.startswith(_IMPORTS):  # not all names of a module
                names = [name for name in names if re.fullmatch(r"[\w$]+", name)]
            for name in names:
                if name and name not in _REPEATED:
                    what = _text(child, data)
                    if grammar == "python" and child.type.startswith("import"):
                        what = _imported(child, name, data)
                    found.setdefault((level, name), []).append(what)
            if child.type in _WITHIN:
                named = child.child_by_field_name("name") or child.child_by_field_name("key")
                if child.type == "impl_item":  # of a trait or a type, with its parameters
                    own = _text(child, data).partition("{")[0]
                elif child.type == "preproc_if":
                    own = _text(child.child_by_field_name("condition") or child, data)
                elif child.type == "document":
                    own = str(number)
                elif child.type == "table":
                    own = names[0] if names else ""
                else:
                    own = "" if named is None else _text(named, data).strip("\"'")
                inner.append((child, (*level, own) if own else level))
        waiting += reversed(inner)
    return found


def _imported(node: Any, name: str, data: bytes) -> str:  # noqa: ANN401
    """Return what an import of Python binds to a name: equal ones are the same thing."""
    module = node.child_by_field_name("module_name")
    for part in node.children_by_field_name("name"):
        alias, own = part.child_by_field_name("alias"), part.child_by_field_name("name") or part
        if alias is not None and _text(alias, data) == name:
            return f"{'' if module is None else _text(module, data)}:{_text(own, data)}"
    return f"{'' if module is None else _text(module, data)}:{name}"


def _parameters(node: Any) -> Any:  # noqa: ANN401
    """Return the parameters of a function, or None."""
    while node is not None:
        if (parameters := node.child_by_field_name("parameters")) is not None:
            return parameters
        node = node.child_by_field_name("declarator")
    return None


class Addition(NamedTuple):
    """What an edit adds to an order-free parent.

    - ``parent``: the qualified name of the parent; empty for the top level of the text.
    - ``place``: the way to the parent, by the number of each node among its siblings.
    - ``groups``: the groups of kinds, among which what it adds may stand.
    - ``names``: of what it adds.
    """

    parent: str
    place: tuple[int, ...]
    groups: frozenset[frozenset[str]]
    names: tuple[str, ...]

    def goes_with(self, other: Addition) -> bool:
        """Whether both may be added to the text, in any order."""
        return (
            self.place == other.place
            and not self.groups.isdisjoint(other.groups)
            and set(self.names).isdisjoint(other.names)
        )


def added(
    origin: str,
    line: int,
    parts: Sequence[str],
    grammar: str | None,
    texts: ParsedTexts | None = None,
) -> tuple[Addition, ...] | None:
    """Return what texts, all inserted before a line, add to an order-free parent, or None.

    Each is a run of complete members of one parent of `ORDER_FREE`, none of them decorated, and the
    text with all parses and has each of their names once. Two of which this is known one by one may
    both be added if they go with each other.

    - ``origin``, ``parts``: normalised texts: the whole one, and entire lines.
    - ``line``: the line of the origin, from 0, before which all are inserted.
    - ``grammar``: the grammar of the text; None: nothing is known of it.
    - ``texts``: what parsers found already: the text with one part may be somebody's.
    """
    parents = ORDER_FREE.get(grammar or "")
    lines = raw_lines(origin)
    before = "".join(lines[:line])
    if parents is None or not all(part.endswith("\n") for part in (before or "\n", *parts)):
        return None
    text = f"{before}{''.join(parts)}{''.join(lines[line:])}"
    if is_large(text):
        return None
    try:
        tree = (texts or ParsedTexts()).tree(text, Reading(grammar, timeout=PARSER_SECONDS))
    except (Unparsable, LookupError):
        return None
    if (root := tree.root_node).has_error:
        return None
    data = encode(text)
    starts = line_starts(data)
    ends = accumulate((part.count("\n") for part in parts), initial=line)
    runs = [_run(root, data, starts[lo], starts[hi]) for lo, hi in pairwise(ends)]
    if not all(members for members, _ in runs):
        return None
    parent = runs[0][0][0].parent
    if _is_in_list(parent) or any(map(_refers, (member for own, _ in runs for member in own))):
        return None
    inside = parents.get(parent.type, ())
    if parent.parent is not None and parent.type == "block":
        inside = (*inside, *parents.get(parent.parent.type, ()))
    times = Counter(name for child in parent.named_children for name in set(_names(child, data)))
    node, above = parent, list[str]()
    while node is not None:
        name = node.child_by_field_name("name") or node.child_by_field_name("key")
        if name is None and node.type == "impl_item":
            name = node.child_by_field_name("type")
        if name is None and node.type == "table":
            name = next(iter(node.named_children), None)
        if name is not None:
            above.append(_text(name, data).strip("\"'"))
        node = node.parent
    shown, found = ".".join(reversed(above)), list[Addition]()
    for members, place in runs:
        kinds = {member.type for member in members}
        groups = frozenset(group for group in inside if kinds <= group)
        names = tuple(name for member in members for name in _names(member, data))
        own = Addition(shown, place, groups, names)
        if not names or any(times[name] != 1 or name in _REPEATED for name in names):
            return None
        if len(set(names)) < len(names) or any(map(_acts, members)):
            return None
        found.append(own)
    shared = frozenset[frozenset[str]].intersection(*(own.groups for own in found))
    return tuple(found) if shared and len({own.place for own in found}) == 1 else None


def _run(root: Any, data: bytes, start: int, stop: int) -> tuple[list[Any], tuple[int, ...]]:  # noqa: ANN401
    """Return the siblings that take up a range of bytes, comments aside; and their place."""
    bare = data[start:stop]
    start += len(bare) - len(bare.lstrip())
    stop -= len(bare) - len(bare.rstrip())
    if start >= stop:
        return [], ()
    node, place = root, list[int]()
    while inner := [
        (number, child)
        for number, child in enumerate(node.children)
        if child.start_byte <= start
        and child.end_byte >= stop  # most are neither, which this tells without their text
        and _end(child, data) >= stop
        # A run of one member is a member, and not its parts.
        and (child.start_byte < start or _end(child, data) > stop)
    ]:
        number, node = inner[0]
        place.append(number)
    members = []
    for child in node.children:
        if child.start_byte >= stop or child.end_byte <= start or _end(child, data) <= start:
            continue
        if child.start_byte < start or _end(child, data) > stop:
            return [], ()
        if child.is_named and child.type not in ("comment", "line_comment", "block_comment"):
            members.append(child)
        elif not child.is_named and child.type not in (",", ";", "\n"):
            return [], ()
    return members, tuple(place)


def _end(node: Any, data: bytes) -> int:  # noqa: ANN401
    """Return where a node ends, without the line end that some grammars count to it."""
    end: int = node.end_byte
    while end > node.start_byte and data[end - 1 : end].isspace():
        end -= 1
    return end


def _acts(member: Any) -> bool:  # noqa: ANN401
    """Whether something acts on a member, or it exists for its effect alone."""
    near = [member, *member.children, *(c for m in member.children for c in m.children)]
    before = member.prev_named_sibling
    if before is not None and before.type in ("attribute_item", "decorator"):
        return True
    if member.type == "import_statement" and member.child_by_field_name("source") is not None:
        return not any(child.type == "import_clause" for child in member.children)
    return any(node.type in _ACTING or node.type in ("default", "wildcard_import") for node in near)


def _is_in_list(parent: Any) -> bool:  # noqa: ANN401
    """Whether a mapping is an entry of a list, as the steps of a workflow are."""
    above = parent.parent
    while above is not None and above.type in ("block_node", "flow_node"):
        above = above.parent
    return above is not None and above.type in ("block_sequence_item", "flow_sequence", "array")


def _refers(member: Any) -> bool:  # noqa: ANN401
    """Whether a member of YAML names a node, or stands for one that is named before it."""
    waiting = [member] if member.type == "block_mapping_pair" else []
    while waiting:
        node = waiting.pop()
        if node.type in ("anchor", "alias"):
            return True
        waiting += node.named_children
    return False


def _names(node: Any, data: bytes) -> Iterator[str]:  # noqa: ANN401
    """Yield the names that a member gives to its parent: those of an import are what it binds."""
    if node.type.startswith(_IMPORTS):
        yield from _bound(node, data)
        return
    if node.type in _SEVERAL:
        for child in node.named_children:
            if child.type in _PARTS:
                for name in child.children_by_field_name("name") or [child]:
                    yield from [_text(name, data)] if name is not child else _names(child, data)
        return
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            yield _text(left, data)
        return
    inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
    if inner is not None:
        yield from _names(inner, data)
        return
    name = node.child_by_field_name("name") or node.child_by_field_name("key")
    below = node.child_by_field_name("declarator")
    while name is None and below is not None:
        name, below = below, below.child_by_field_name("declarator")
        name = name if below is None else None
    if name is None and node.type in ("pair", "table"):  # of TOML, whose keys are no fields
        name = next(iter(node.named_children), None)
    if name is not None:
        receiver = node.child_by_field_name("receiver")
        # The type of a receiver of Go is the beginning of a qualified name.
        owner = "" if receiver is None else f"{re.sub(r'^.* |[(*)]', '', _text(receiver, data))}."
        yield owner + _text(name, data).strip("\"'")


def _bound(node: Any, data: bytes) -> Iterator[str]:  # noqa: ANN401
    """Yield the names that an import binds: an alias, or the part of the path that stays.

    What binds no name that is written there (an include, all names of a module) gives itself.
    """
    names, waiting = list[str](), [node]
    while waiting:
        part = waiting.pop()
        alias, path = part.child_by_field_name("alias"), part.child_by_field_name("path")
        if alias is not None:
            names.append(_text(alias, data))
        elif part.type == "dotted_name":  # import a.b binds a; from a import b binds b
            names.append(_text(part.named_children[0], data))
        elif part.type == "import_spec":  # of Go
            name = part.child_by_field_name("name")
            words = [w for w in _text(path, data).strip('"`').split("/") if w]
            if len(words) > 1 and re.fullmatch(r"v\d+", words[-1]):
                words.pop()
            names.append(_text(name, data) if name is not None else words[-1] if words else "")
        elif part.type == "scoped_use_list":  # of Rust
            waiting.append(part.child_by_field_name("list") or path)
        elif part.type in ("identifier", "scoped_identifier", "import_specifier"):
            name = part.child_by_field_name("name") or part
            names.append(_text(name, data))
        elif part.type == "using_directive" and (name := part.child_by_field_name("name")):
            names.append(_text(name, data))
        elif part.type in ("preproc_include", "using_directive", "use_wildcard") or any(
            child.type in ("asterisk", "wildcard_import") for child in part.children
        ):
            names.append(_text(part, data))
        else:
            fields = part.children_by_field_name("name")
            waiting += fields or [c for c in part.named_children if c.type != "string"]
    yield from names or [_text(node, data)]


def _text(node: Any, data: bytes) -> str:  # noqa: ANN401
    return " ".join(data[node.start_byte : node.end_byte].decode("utf-8", "replace").split())
