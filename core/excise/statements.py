"""The statements of a text, from which families of near edits are made (docs/ideas.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from excise.normal_form import FUNCTIONS, Form, FormItem
from excise.renaming import functions, qualified, way_of

Statement = tuple[str, tuple[str, ...]]
"""A statement: the function in which it stands, or an empty string, and its tokens."""

_BLOCKS = frozenset(
    {
        *("module", "block", "program", "source_file", "compilation_unit", "translation_unit"),
        *("statement_block", "statement_list", "compound_statement", "constructor_body"),
        *("class_body", "declaration_list", "field_declaration_list", "interface_body"),
        *("enum_body", "enum_body_declarations", "switch_body", "switch_block"),
    }
)
_TOKEN = re.compile(r"\w+|[^\w\s]")


def changed_statements(before: Form, after: Form, grammar: str) -> Counter[tuple[int, Statement]]:
    """Return the statements that one text adds (1) and deletes (-1) against another one.

    Names that a function did not have before are blind: attributes and keywords are no names.

    - ``before``, ``after``: the forms of two whole texts, of whose functions and statements equal
      ones are one item.
    """
    old = dict(functions(before))
    deleted, old_items = _collected(before, "", "", {})
    added, new_items = _collected(after, "", "", {})
    changes: Counter[tuple[int, Statement]] = Counter()
    for sign, own, others, items in (
        (1, added, deleted, new_items - old_items),
        (-1, deleted, added, old_items - new_items),
    ):
        found: Counter[Statement] = Counter()
        for (function, parts), count in (own - others).items():
            found[function, tuple(_spelled(parts, grammar))] += count
        # What is equal in items that differ counts on both sides: it is taken away below.
        for (function, prefix, item), count in items.items():
            forms = old[function].whole.walk() if function in old else ()
            leaves = ((leaf, form) for form in forms for leaf in form.children)
            plain = frozenset(leaf.text for leaf, form in leaves if _is_name(leaf, form))
            names = {function: plain} if function in old else {}
            block = Form("block", children=[way_of(item, grammar)])
            for (own_function, parts), number in _collected(block, function, prefix, names)[
                0
            ].items():
                found[own_function, tuple(_spelled(parts, grammar))] += count * number
        for statement, count in found.items():
            changes[sign, statement] += count
    for statement in [statement for sign, statement in changes if sign == 1]:
        common = min(changes[1, statement], changes[-1, statement])
        changes[1, statement] -= common
        changes[-1, statement] -= common
    return +changes


Parts = tuple[str | FormItem, ...]
"""The tokens of a statement, in which an item stands for its own."""

Found = tuple[Counter[tuple[str, Parts]], Counter[tuple[str, str, FormItem]]]
"""Statements, by function, and the functions that are items, with the classes they stand in."""


def _spelled(parts: Parts, grammar: str) -> Iterator[str]:
    """Yield the tokens of a statement, those of items included, which stand in no function."""
    for part in parts:
        if isinstance(part, str):
            yield part
        else:
            if "tokens" not in part.known:
                form = way_of(part, grammar)
                part.known["tokens"] = tuple(_tokens(form, form, "", "", {}, []))
            yield from part.known["tokens"]


def _collected(
    root: Form, function: str, prefix: str, old_names: Mapping[str, Collection[str]]
) -> Found:
    """Return the statements of a form that stands in a function, or in none."""
    found: Found = (Counter(), Counter())
    # The nodes of blocks that wait, with the outermost function and the class they stand in.
    waiting: list[tuple[Form, str, str]] = [(root, function, prefix)]
    while waiting:
        form, function, prefix = waiting.pop()
        if form.item is not None and form.kind in FUNCTIONS:
            found[1][function, prefix, form.item] += 1
        elif form.kind not in _BLOCKS:
            waiting += [(child, *_inside(child, function, prefix)) for child in form.children]
        else:
            for child in form.children:
                inner = _inside(child, function, prefix)
                parts = tuple(_tokens(child, form, *inner, old_names, waiting))
                if parts:
                    found[0][inner[0], parts] += 1
    return found


def _inside(form: Form, function: str, prefix: str) -> tuple[str, str]:
    """Return the outermost function and the classes in which the parts of a form stand."""
    if form.kind in FUNCTIONS and not function:
        return prefix + qualified(form), prefix
    if "class" in form.kind or "impl" in form.kind:
        return function, f"{prefix}{qualified(form)}."
    return function, prefix


def _tokens(
    form: Form,
    parent: Form,
    function: str,
    prefix: str,
    old_names: Mapping[str, Collection[str]],
    waiting: list[tuple[Form, str, str]],
) -> Iterator[str | FormItem]:
    """Yield the tokens of a statement; the blocks in it wait to be looked at by themselves."""
    if form.item is not None and form.kind not in FUNCTIONS:
        yield form.item
    elif form.item is not None:
        waiting.append((form, function, prefix))
    elif form.kind in _BLOCKS and form.children:
        waiting.append((form, function, prefix))
        yield "{}"
    elif form.children:
        for child in form.children:
            yield from _tokens(child, form, function, prefix, old_names, waiting)
    elif function and _is_name(form, parent) and form.text not in old_names.get(function, ()):
        yield "$"
    else:
        yield form.text


def _is_name(leaf: Form, parent: Form) -> bool:
    """Whether a leaf is a name that may be bound in a function: no attribute, no keyword."""
    if leaf.children or leaf.kind != "identifier" or leaf.field in ("attribute", "property"):
        return False
    return not (parent.kind == "keyword_argument" and leaf.field == "name")


def line_statements(text: str) -> Counter[Statement]:
    """Return the lines of a text that no grammar reads, as statements outside of functions."""
    lines = (tuple(_TOKEN.findall(line)) for line in text.split("\n"))
    return Counter(("", tokens) for tokens in lines if tokens)
