"""What is a name in code, by any grammar, and what is done with it (docs/tasks.md, "Units").

No language has a table of its own. The types and fields of syntax nodes tell what a name is, as
most grammars use the same words for the same things. A scope is a function, a class or their like;
what grammars say otherwise is missed. `excise.kernels._names` walks trees by these rules.

A scope without a name of its own (a lambda, a callback) is called by its first line, and where that
line is new, by its number as well: no other text has it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import NamedTuple

Key = tuple[tuple[str, ...], str]
"""A name and the scope that binds it: the names of functions and classes, the outermost first."""

MEMBER = (".",)
"""The scope of methods, fields and attributes: who reads ``.name`` does not say of what."""

KEYWORD = ("=",)
"""The scope of names by which arguments are passed."""


class NameRole(IntEnum):
    """What is done with the names below a node."""

    READ = 0
    BIND = 1
    PARAMETER = 2
    ASSIGN = 3  # binds only where no scope around does
    IMPORT = 4
    PATH = 5  # of something imported: neither bound nor read
    MEMBER = 6
    KEYWORD = 7


class NameScope(NamedTuple):
    """A scope: its name from the outermost, and the one around it.

    ``is_within_function``: it is a function's, or that of something in a function.
    """

    path: tuple[str, ...] = ()
    outer: NameScope | None = None
    is_function: bool = False
    is_class: bool = False
    is_within_function: bool = False


class ScopedName(NamedTuple):
    """A name in a text: its line, the scope in which it stands, and what is done with it.

    ``is_member``: it is bound for ``.name`` as well; ``is_plain``: and otherwise.
    """

    line: int
    scope: NameScope
    name: str
    role: NameRole
    is_member: bool = False
    is_plain: bool = True

    @property
    def bound(self) -> tuple[Key, ...]:
        """The keys that are bound here, but for an assignment."""
        match self.role:
            case NameRole.BIND | NameRole.IMPORT:
                keys: tuple[Key, ...] = ((self.scope.path, self.name),) if self.is_plain else ()
                return (*keys, *_of_member(self.name)) if self.is_member else keys
            case NameRole.PARAMETER:
                return (self.scope.path, self.name), (KEYWORD, self.name)
            case NameRole.MEMBER if self.is_member:
                return _of_member(self.name)
        return ()


def _of_member(name: str) -> tuple[Key, Key]:
    return (MEMBER, name), (KEYWORD, name)


PartNames = dict[tuple[object, ...], list[ScopedName]]
"""By the text of a function, or of a statement of the top level, with the rest of its lines, and
what is around it: its names, with lines from its first one."""

_NO_SCOPE = re.compile(
    r"call|invocation|superclass|type$|parameter|body|name$|modifier|reference|creation|declarator|argument"
    r"|import|clause|list$|initializer|struct_expression|pattern|expr_field|heritage|literal_type"
)
_FUNCTION = re.compile(r"function|method|constructor|lambda|closure|arrow|func_lit|macro_def")
_CLASS = re.compile(r"class|impl_|struct_|trait|interface|record|union_|protocol")
_SPACE = re.compile(r"namespace|mod_item|internal_module")
# In the order of the flags of `kind_of`, behind the three of scopes.
_KINDS = tuple(
    map(
        re.compile,
        (
            r"identifier|^(?:name|word|constant)$|variable",  # a name
            r"import_(?:stat|from|decl|header|spec)|^use_decl|using_direc|namespace_use",
            r"decorator|annotation|attribute_item|modifiers|wildcard",  # has no names
            r"(?:struct|enum|union|class)_specifier",  # perhaps without a body
            r"keyed_element|literal_element|field_initializer|field_pattern",
            r"assign(?!ed)",
            r"^assignment$|declaration|for_|clause|pattern",  # declares what is on its left side
            # A field `name` of these is a name that they read.
            r"call|invocation|access|scoped|qualified|attribute|annotation|argument|element|ifdef|export"
            r"|struct_expression|generic|reference|decorator|macro_inv|_type$|command",
            r"field_decl|method|property_sig",  # declares members alone
            r"enum(?!_decl|_spec|_item)|variant",
            r"alias|specifier|as_clause",
            r"pattern",
            r"keyword_argument",
            r"expression$",
            r"^type_identifier$",
            r"^preproc_arg$",
            r"^import_spec$",
            r"^ERROR$",
            r"^(?:\.|\?\.|::|&\.|!\.)$",
        ),
    )
)


@cache
def kind_of(node_type: str) -> int:
    """Return what nodes of a type are, as the flags of ``kernels/_names.pyx``, by its name."""
    may_be_scope = not _NO_SCOPE.search(node_type)
    is_function = may_be_scope and bool(_FUNCTION.search(node_type))
    is_class = may_be_scope and not is_function and bool(_CLASS.search(node_type))
    is_scope = is_function or is_class or (may_be_scope and bool(_SPACE.search(node_type)))
    kinds = (is_function, is_class, is_scope, *(kind.search(node_type) for kind in _KINDS))
    return sum(1 << place for place, holds in enumerate(kinds) if holds)


FIELDS = {
    "parameter": 1, "parameters": 1,
    "name": 2,
    "pattern": 3, "declarator": 3, "alias": 3,
    "left": 4,
    "value": 5,
    "attribute": 6, "property": 6, "field": 6,
    "module_name": 7, "source": 7, "path": 7, "scope": 7, "qualifier": 7,
}  # fmt: skip
"""What a field says of the node in it, as the numbers of ``kernels/_names.pyx``; others say 8."""
