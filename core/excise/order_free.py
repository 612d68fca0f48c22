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

_REPEATED = frozenset(("init", "_", "<<"))
"""Names that do not name one thing: Go's ``init``, and YAML's merged keys."""


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
    """Yield the names that an import binds; its whole text if it binds none by name."""
    if node.type == "import_declaration" and node.child_by_field_name("name") is None:  # of Java
        path = [child for child in node.named_children if child.type.endswith("identifier")]
        yield _text(path[0], data).rpartition(".")[2] if path else _text(node, data)
    elif node.type == "use_declaration":
        waiting = list(node.named_children)
        while waiting:
            use = waiting.pop()
            alias = use.child_by_field_name("alias") or use.child_by_field_name("name")
            if alias is not None:
                yield _text(alias, data)
            elif use.type in ("use_list", "scoped_use_list"):
                waiting += (
                    use.child_by_field_name("list").named_children
                    if use.type[:1] == "s"
                    else use.named_children
                )
            elif use.type != "visibility_modifier":
                yield _text(use, data)
    elif node.type == "import_spec":  # of Go
        name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
        yield _text(name or path, data).strip('"').rpartition("/")[2]
    else:
        for name in [*node.children_by_field_name("name"), *_specifiers(node)] or [node]:
            bound = _text(name.child_by_field_name("alias") or name, data)
            is_package = node.type == "import_statement" and name.type == "dotted_name"
            yield bound.partition(".")[0] if is_package else bound


def _specifiers(node: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the names in an import of JavaScript, with their aliases."""
    waiting = [child for child in node.children if child.type == "import_clause"]
    while waiting:
        child = waiting.pop()
        if child.type in ("identifier", "import_specifier"):
            yield (
                child
                if child.child_by_field_name("alias")
                else (child.child_by_field_name("name") or child)
            )
        else:
            waiting += child.named_children


def _text(node: Any, data: bytes) -> str:  # noqa: ANN401
    return " ".join(data[node.start_byte : node.end_byte].decode("utf-8", "replace").split())
