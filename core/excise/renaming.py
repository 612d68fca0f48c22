r"""The normal form of code up to names: what two people write who mean the same (docs/ideas.md).

On top of `excise.normal_form`: mirrored comparisons, ``x += e``, the order of keyword arguments,
``else`` behind a branch that never gets there, a name for a value that is used once, annotations,
the order of adjacent functions, and names bound in a function. Names that somebody outside can use
(parameters, attributes, keywords, functions, modules) stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from excise.kernels._walk import CancelFlag
from excise.normal_form import FUNCTIONS, Form, FormItem, digest, written

_MIRRORED = {">": "<", ">=": "<="}
_ORDERED = frozenset({"==", "!=", "===", "!=="})
_NEGATED = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "is": "is not", "is not": "is"}
# What may do something, so that the order of two of them counts.
_ACTS = re.compile(
    r"call|invocation|await|yield|named_expression|update_|assignment|new_expression"
)
_EXITS = frozenset(f"{name}_statement" for name in ("return", "raise", "continue", "break"))
_LATER = re.compile(r"lambda|comprehension|generator|boolean_operator|conditional|arrow|function")
# Statements whose parts run later, again or never, or take no value.
_COMPOUND = re.compile(r"(if|for|while|with|try|match|class|function|decorated|delete|global)_")
# Calls that see names as texts.
_SEES_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})
_VALUE = re.compile(r"^(str|bytes|text|integer|float)$|string|number|literal|field_|property_")
_WORD = re.compile(r"[^\W\d]\w*")


def rename(
    root: Form,
    grammar: str,
    old_names: Callable[[str], frozenset[str]],
    cancel: CancelFlag | None = None,
) -> dict[str, list[str]]:
    """Rewrite a form in place, so that it is equal for programs that differ in names only.

    - ``root``: the normal form of a text. Its items that have a text stand for themselves.
    - ``grammar``: its grammar.
    - ``old_names``: returns the names in the origin's function of a qualified name: only others are
      new.
    - ``cancel``: looked at before each function.

    Returns: by qualified name of a function, the names that were replaced. Where two rewritten
    forms are equal, those at the same index were replaced by the same.
    """
    one_way(root, grammar)
    replaced: dict[str, list[str]] = {}
    for name, function in functions(root):
        if cancel is not None:
            cancel.check()
        if function.item is None:
            names = _rename_in(function, grammar, old_names(name))
        elif not function.text:
            function.text, names = renamed(function.item, grammar, old_names(name))
        else:
            continue
        replaced.setdefault(name, []).extend(names)
    for form in root.walk():
        if form.item is not None and not form.text:  # a statement, or a function without a name
            form.text, _ = renamed(form.item, grammar, frozenset())
    _sort_functions(root, grammar)
    return replaced


def _rename_in(function: Form, grammar: str, old: Collection[str]) -> list[str]:
    """Rewrite an outermost function in place, and return the names that were replaced."""
    if grammar == "python" and (body := function.get("body")) is not None:
        _inline(function, body, old)
    return _Names(function, grammar).rename() if grammar in _SCOPING else []


def renamed(item: FormItem, grammar: str, old: frozenset[str]) -> tuple[str, list[str]]:
    """Return the digest of an item as `rename` writes it, and the names that were replaced.

    ``old`` are the names in the origin's function.
    """
    if old not in item.known:
        form = copied(way_of(item, grammar))
        names = _rename_in(form, grammar, old) if form.kind in FUNCTIONS else []
        _sort_functions(form, grammar)
        item.known[old] = digest(form), names
    known: tuple[str, list[str]] = item.known[old]
    return known


def way_of(item: FormItem, grammar: str) -> Form:
    """Return an item's form, in which what can be written in two ways is in one."""
    if "way" not in item.known:
        form = copied(item.form)
        one_way(form, grammar, item.keeps_annotations, item.keeps_annotations)
        item.known["way"] = form
    known: Form = item.known["way"]
    return known


def copied(form: Form) -> Form:
    """Return a copy to be changed; items are shared, as nobody changes them."""
    parts = form.children if form.item is not None else list(map(copied, form.children))
    return Form(form.kind, form.field, parts, form.text, form.item)


def qualified(form: Form) -> str:
    """Return the name of a function or class, or an empty string."""
    name = form.get("name")
    return "" if name is None else name.text


def functions(root: Form) -> Iterator[tuple[str, Form]]:
    """Yield the outermost functions and methods, with their qualified names."""
    waiting = [(root, "")]
    while waiting:
        form, prefix = waiting.pop()
        if form.kind in FUNCTIONS and form.get("name") is not None:
            yield prefix + qualified(form), form
            continue
        name = qualified(form) if "class" in form.kind or "impl" in form.kind else ""
        inner = f"{prefix}{name}." if name else prefix
        waiting += [(child, inner) for child in form.children[::-1] if child.children]


def names_in(item: FormItem) -> frozenset[str]:
    """Return all names in a function."""
    if "names" not in item.known:
        leaves = (leaf for leaf in item.form.walk() if "identifier" in leaf.kind)
        item.known["names"] = frozenset(leaf.text for leaf in leaves)
    known: frozenset[str] = item.known["names"]
    return known


def values_in(item: FormItem, grammar: str) -> Counter[str]:
    """Return the attributes, strings and numbers in a function, as often as they occur.

    `rename` keeps them all: functions that differ in these are never equal up to names.
    """
    if "values" not in item.known:
        item.known["values"] = Counter(
            leaf.text
            for form in way_of(item, grammar).walk()
            for leaf in form.children
            if not leaf.children
            and (_VALUE.search(leaf.kind) or form.kind == leaf.field == "attribute")
        )
    known: Counter[str] = item.known["values"]
    return known


# --- what is written in two ways -----------------------------------------------------------------


def one_way(form: Form, grammar: str, is_decorated: bool = False, in_class: bool = False) -> None:
    """Rewrite a form in place: what can be written in two ways is written in one.

    Its items are rewritten by themselves.
    """
    if form.item is not None:
        return
    kind = form.kind
    if kind in FUNCTIONS:
        in_class = False
    elif kind == "class_definition":
        in_class = True
    for child in form.children:
        one_way(child, grammar, kind == "decorated_definition", in_class)
    if kind in ("comparison_operator", "binary_expression") and grammar not in ("cpp", "csharp"):
        _compare(form)
    if grammar != "python":
        return
    if kind == "function_definition" and not is_decorated:
        _drop_annotations(form)
    elif kind == "assignment" and not in_class and form.get("right") is not None:
        form.children = [c for c in form.children if c.kind != ":" and c.field != "type"]
    elif kind == "not_operator":
        _negate(form)
    elif kind == "return_statement" and len(form.children) == 2 and form.children[1].kind == "none":
        del form.children[1]
    elif kind == "call":
        _sort_keywords(form)
    elif kind == "if_statement":
        _nest(form)
    elif kind in ("block", "module"):
        form.children = list(_flat(form.children))


def _acts(form: Form) -> bool:
    return any(_ACTS.search(below.kind) for below in form.walk())


def _compare(form: Form) -> None:
    """Write a comparison of two operands from the smaller, or from that which sorts first."""
    if len(form.children) != 3:
        return
    left, operator, right = form.children
    if operator.children or (_acts(left) and _acts(right)):
        return
    swaps = operator.text in _MIRRORED
    if operator.text in _ORDERED:
        swaps = _shape(right) < _shape(left)
    if swaps:
        operator.text = operator.kind = _MIRRORED.get(operator.text, operator.text)
        left.field, right.field = right.field, left.field
        form.children = [right, operator, left]


def _shape(form: Form) -> str:
    """Return a form as a text by which operands are sorted, whatever local names they have."""
    name, form.field = form.field, ""
    text = written(form)
    form.field = name
    return text


def _negate(form: Form) -> None:
    inner = form.get("argument")
    if inner is None or inner.kind != "comparison_operator" or len(inner.children) != 3:
        return
    operator = inner.children[1]
    negated = _NEGATED.get(operator.kind)
    if negated is not None:
        words = [Form(word, text=word) for word in negated.split()]
        inner.children[1] = (
            Form(negated, operator.field, words)
            if len(words) > 1
            else Form(negated, operator.field, text=negated)
        )
        form.kind, form.children, form.text = inner.kind, inner.children, ""


def _sort_keywords(call: Form) -> None:
    """Sort the keyword arguments of a call, unless they become the order of a dictionary."""
    form, callee = call.get("arguments"), call.get("function")
    if form is None or callee is None or callee.text in ("dict", "OrderedDict"):
        return
    places = [at for at, child in enumerate(form.children) if child.kind == "keyword_argument"]
    keywords = [form.children[at] for at in places]
    if sum(map(_acts, keywords)) < 2:
        keywords.sort(key=qualified)
        for at, keyword in zip(places, keywords, strict=True):
            form.children[at] = keyword


def _drop_annotations(function: Form) -> None:
    children = function.children
    if function.get("return_type") is not None:
        function.children = [c for c in children if c.kind != "->" and c.field != "return_type"]
    parameters = function.get("parameters")
    for at, parameter in enumerate(parameters.children if parameters is not None else ()):
        assert parameters is not None
        if parameter.kind == "typed_parameter":
            plain = parameter.children[0]
            plain.field = parameter.field
            parameters.children[at] = plain
        elif parameter.kind == "typed_default_parameter":
            parameter.kind = "default_parameter"
            parameter.children = [
                c for c in parameter.children if c.kind != ":" and c.field != "type"
            ]


def _nest(form: Form) -> None:
    """Write ``elif`` as an ``if`` in an ``else``, and ``if not c: A else: B`` as its reverse."""
    branches = [child for child in form.children if child.field == "alternative"]
    if branches and branches[0].kind == "elif_clause":
        head = branches[0]
        first = Form("if", text="if")
        inner = Form("if_statement", children=[first, *head.children[1:], *branches[1:]])
        _nest(inner)
        block = Form("block", "body", list(_flat([inner])))
        branch = Form("else_clause", "alternative", [Form("else", text="else"), _COLON, block])
        form.children = [c for c in form.children if c.field != "alternative"] + [branch]
    otherwise, condition = form.get("alternative"), form.get("condition")
    if otherwise is None or condition is None or condition.kind != "not_operator" or _leaves(form):
        return
    consequence, body = form.get("consequence"), otherwise.get("body")
    inner_condition = condition.get("argument")
    if consequence is not None and body is not None and inner_condition is not None:
        consequence.children, body.children = body.children, consequence.children
        inner_condition.field = "condition"
        form.children[form.children.index(condition)] = inner_condition


_COLON = Form(":", text=":")


def _leaves(form: Form) -> bool:
    """Whether the first branch of an ``if`` never reaches what follows."""
    consequence = form.get("consequence")
    return consequence is not None and consequence.children[-1].kind in _EXITS


def _flat(statements: list[Form]) -> Iterator[Form]:
    """Move the statements of an ``else`` after its ``if``, if the first branch never gets there."""
    for statement in statements:
        yield statement
        otherwise = statement.get("alternative") if statement.kind == "if_statement" else None
        if otherwise is not None and otherwise.kind == "else_clause" and _leaves(statement):
            body = otherwise.get("body")
            if body is not None:
                statement.children = [c for c in statement.children if c is not otherwise]
                yield from _flat(body.children)


# --- values that have a name for one use ---------------------------------------------------------


def _inline(function: Form, body: Form, old: Collection[str]) -> None:
    """Write ``x op= e`` out, and put values in the place of new names that are used once, next."""
    leaves = Counter(leaf.text for leaf in function.walk() if leaf.kind == "identifier")
    numbers = {
        form.children[0].text
        for form in body.walk()
        if form.kind == "assignment"
        and form.children[0].kind == "identifier"
        and form.children[-1].kind in ("integer", "float", "str")
        and not form.children[-1].children
    }
    for form in list(body.walk()):
        if form.kind == "augmented_assignment" and form.children[0].text in numbers:
            left, operator, right = form.children
            left_again = Form(left.kind, "left", text=left.text)
            sign = Form(operator.text[:-1], "operator", text=operator.text[:-1])
            right.field = "right"
            value = Form("binary_operator", "right", [left_again, sign, right])
            form.kind, form.children = "assignment", [left, Form("=", text="="), value]
        elif form.kind == "block":
            form.children = list(_inlined(form.children, leaves, old))


def _inlined(
    statements: list[Form], leaves: Mapping[str, int], old: Collection[str]
) -> Iterator[Form]:
    held: Form | None = None
    for statement in statements:
        if held is not None:
            use = _only_use(statement, held.children[0].text)
            if use is None or not _replaces(statement, use, held.children[-1]):
                yield held
            held = None
        is_plain = statement.kind == "assignment" and len(statement.children) == 3
        name = statement.children[0] if is_plain else None
        if (
            name is not None
            and name.kind == "identifier"
            and name.text not in old
            and leaves[name.text] == 2
            and not re.search("await|yield|named", written(statement.children[-1]))
        ):
            held = statement
        else:
            yield statement
    if held is not None:
        yield held


def _only_use(statement: Form, name: str) -> Form | None:
    """Return where a simple statement uses a name at once, if nothing acts before."""
    if _COMPOUND.match(statement.kind):
        return None
    target = statement.get("left") if "assignment" in statement.kind else None
    waiting = [statement]
    acted = False
    while waiting:
        form = waiting.pop()
        if form is target or _LATER.search(form.kind):
            if any(leaf.text == name for leaf in form.walk()):
                return None
            acted |= _acts(form)
            continue
        if form.kind == "identifier" and form.text == name:
            return None if acted else form
        if not form.children and form.kind == ")":
            acted = True  # a call has been made: its arguments end here
        waiting += form.children[::-1]
    return None


def _replaces(statement: Form, use: Form, value: Form) -> bool:
    parent = next((form for form in statement.walk() if use in form.children), None)
    if parent is None or use.field in ("name", "attribute"):
        return False
    at = next(index for index, child in enumerate(parent.children) if child is use)
    value.field = use.field
    parent.children[at] = value
    return True


# --- the order of functions ----------------------------------------------------------------------


def _sort_functions(root: Form, grammar: str) -> None:
    """Sort adjacent functions without decorators; of one name, and in C, order counts."""
    if grammar in ("c", "cpp"):
        return
    for form in root.walk():
        if form.kind in FUNCTIONS or sum(child.kind in FUNCTIONS for child in form.children) < 2:
            continue
        children: list[Form] = []
        run: list[Form] = []
        for child in [*form.children, None]:
            may_start = bool(run) or not (children and "attribute" in children[-1].kind)
            if child is not None and child.kind in FUNCTIONS and may_start:
                run.append(child)
                continue
            names = [qualified(each) for each in run]
            # A default value may need another function of the run to be there.
            parameters = [found for each in run if (found := each.get("parameters")) is not None]
            needed = {
                word
                for each in parameters
                for leaf in each.walk()
                for word in _WORD.findall(leaf.text)
            }
            if len(set(names)) == len(names) and all(names) and needed.isdisjoint(names):
                run.sort(key=qualified)
            children += run
            run = []
            if child is not None:
                children.append(child)
        form.children = children


# --- names ---------------------------------------------------------------------------------------


class _Rules(NamedTuple):
    """Where names are bound in a language, by types and fields of nodes."""

    functions: frozenset[str]
    """Nodes with names of their own, parameters included."""

    blocks: frozenset[str]
    """Nodes with names of their own, if a language has such."""

    bound: frozenset[tuple[str, str]]
    """Nodes and their fields that bind the names in them."""

    parameters: frozenset[str]
    """Nodes and fields whose names are parameters."""

    fixed: frozenset[tuple[str, str]]
    """Nodes and their fields (an empty string: any) whose names keep their text."""

    in_order: bool = True
    """Whether a name exists from its binding on, and not in the whole of its scope."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Read nodes and fields as ``node.field``, or ``node.`` for whatever stands in it."""
    return frozenset((word.partition(".")[0], word.partition(".")[2]) for word in text.split())


_PATTERNS = _words(
    """tuple list_pattern list_splat_pattern dictionary_splat_pattern as_pattern_target
    array_pattern object_pattern assignment_pattern pair_pattern rest_pattern expression_list
    tuple_pattern mut_pattern ref_pattern reference_pattern parameter default_parameter
    typed_parameter typed_default_parameter required_parameter optional_parameter
    parameter_declaration formal_parameter inferred_parameters formal_parameters parameters
    lambda_parameters parameter_list closure_parameters"""
)
_VALUES = frozenset({"value", "type", "right", "key"})
_SCRIPT = _Rules(
    functions=FUNCTIONS | _words("arrow_function function_expression generator_function"),
    blocks=_words("statement_block for_statement for_in_statement catch_clause"),
    bound=_pairs("variable_declarator.name for_in_statement.left catch_clause.parameter"),
    parameters=_words("formal_parameters parameter"),
    fixed=_pairs(
        """shorthand_property_identifier. shorthand_property_identifier_pattern.
        function_declaration.name class_declaration.name function_expression.name
        labeled_statement.label statement_identifier."""
    ),
)
_SCOPING = {
    "python": _Rules(
        functions=_words(
            """function_definition lambda list_comprehension set_comprehension
            dictionary_comprehension generator_expression"""
        ),
        blocks=frozenset(),
        bound=_pairs(
            """assignment.left augmented_assignment.left for_statement.left for_in_clause.left
            as_pattern.alias named_expression.name aliased_import.alias"""
        ),
        parameters=_words("parameters lambda_parameters"),
        fixed=_pairs(
            """keyword_argument.name global_statement. nonlocal_statement. dotted_name.
            function_definition.name class_definition. case_pattern. import_from_statement.name"""
        ),
        in_order=False,
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": _Rules(
        functions=_words("func_literal"),
        blocks=_words(
            """block if_statement for_statement expression_switch_statement type_switch_statement
            select_statement expression_case default_case type_case communication_case"""
        ),
        bound=_pairs(
            """short_var_declaration.left var_spec.name range_clause.left
            type_switch_statement.alias receive_statement.left"""
        ),
        parameters=_words("parameter_list"),
        fixed=_pairs("keyed_element.key const_spec.name type_spec."),
    ),
    "java": _Rules(
        functions=_words("lambda_expression"),
        blocks=_words(
            """block for_statement enhanced_for_statement catch_clause
            try_with_resources_statement switch_block_statement_group"""
        ),
        bound=_pairs(
            """variable_declarator.name enhanced_for_statement.name resource.name
            catch_formal_parameter.name"""
        ),
        parameters=_words("inferred_parameters formal_parameters parameters"),
        fixed=_pairs(
            """method_invocation.name field_access.field labeled_statement. break_statement.
            continue_statement. class_body. annotation. marker_annotation. method_reference.
            scoped_type_identifier."""
        ),
    ),
    "rust": _Rules(
        functions=_words("closure_expression"),
        blocks=_words("block for_expression match_arm if_expression while_expression"),
        bound=_pairs("let_declaration.pattern for_expression.pattern"),
        parameters=_words("closure_parameters"),
        fixed=_pairs(
            """shorthand_field_initializer. match_pattern. let_condition.pattern function_item.
            scoped_identifier. generic_function. const_item. static_item. macro_invocation.macro
            use_declaration. struct_pattern. tuple_struct_pattern. or_pattern. captured_pattern.
            slice_pattern."""
        ),
    ),
}


@dataclass(slots=True, eq=False)
class _Scope:
    parent: _Scope | None
    is_function: bool
    is_comprehension: bool = False
    bound: dict[str, int] = field(default_factory=dict)
    """Each name, and how many leaves had been passed when its first binding ended."""


class _Names:
    """Renames what is bound in a function, by first occurrence, where nothing else can see it."""

    def __init__(self, function: Form, grammar: str) -> None:
        self.function = function
        self.rules = _SCOPING[grammar]
        self.uses: list[tuple[Form, _Scope, int, bool]] = []
        """Leaves with their scopes and places, and whether they bind."""
        self.fixed: set[str] = set()
        self.place = 0

    def rename(self) -> list[str]:
        """Rename them, and return what they were called."""
        outer = _Scope(None, is_function=True)
        for child in self.function.children:
            if child.field == "body":
                self._visit(child, self.function, outer, fixed=False, binds=None)
            else:
                self.fixed.update(leaf.text for leaf in child.walk() if not leaf.children)
        if self.fixed & _SEES_NAMES or any(leaf.text in _SEES_NAMES for leaf, *_ in self.uses):
            return []
        resolved: list[tuple[Form, _Scope]] = []
        for leaf, scope, place, is_binding in self.uses:
            owner: _Scope | None = scope
            while owner is not None and leaf.text not in owner.bound:
                owner = owner.parent
            early = owner is not None and self.rules.in_order and place < owner.bound[leaf.text]
            if owner is None or (early and not is_binding):
                self.fixed.add(leaf.text)
            else:
                resolved.append((leaf, owner))
        numbers: dict[tuple[int, str], str] = {}
        for leaf, owner in resolved:
            if leaf.text not in self.fixed:
                leaf.text = numbers.setdefault((id(owner), leaf.text), f"${len(numbers)}")
        return [name for _, name in numbers]

    def _visit(
        self, form: Form, parent: Form, scope: _Scope, *, fixed: bool, binds: _Scope | None
    ) -> None:
        rules = self.rules
        kind = form.kind
        fixed = fixed or (parent.kind, form.field) in rules.fixed or (kind, "") in rules.fixed
        if not form.children:
            self.place += 1
            if kind == "identifier" or (fixed and "identifier" in kind):
                if fixed:
                    self.fixed.add(form.text)
                else:
                    self.uses.append((form, scope, self.place, binds is not None))
                    if binds is not None:
                        binds.bound.setdefault(form.text, self.place)
            elif "str" in kind or "text" in kind or "template" in kind:
                self.fixed.update(_WORD.findall(form.text))
            return
        if kind in rules.functions or kind in rules.blocks:
            is_comprehension = "comprehension" in kind or kind == "generator_expression"
            inner = _Scope(scope, kind in rules.functions, is_comprehension)
        else:
            inner = scope
        for child in form.children:
            target = self._target(form, child, inner)
            if target is None and binds is not None and kind in _PATTERNS:
                target = binds if child.field not in _VALUES else None
            before = self.place
            if kind == "attribute" and child.field == "attribute":
                self.place += 1
                continue
            known = set(inner.bound)
            self._visit(child, form, inner, fixed=fixed, binds=target)
            if target is not None:
                # A name exists after the whole of its declaration, its value included.
                end = before + sum(
                    not leaf.children
                    for part in form.children
                    if part.field not in ("body", "consequence") and part.kind not in rules.blocks
                    for leaf in part.walk()
                )
                for name in set(inner.bound) - known:
                    inner.bound[name] = end
        if inner is not scope and inner.is_function:
            self._check_outside(form, inner)

    def _target(self, form: Form, child: Form, scope: _Scope) -> _Scope | None:
        """Return the scope in which a child binds names, if it does."""
        rules = self.rules
        if child.kind in rules.parameters or (
            child.field in rules.parameters and scope.is_function
        ):
            return scope
        if (form.kind, child.field) not in rules.bound:
            return None
        if form.kind == "range_clause" and not any(each.kind == ":=" for each in form.children):
            return None
        if form.kind == "for_in_statement" and form.get("kind") is None:
            return None
        if form.kind == "named_expression":
            while scope.is_comprehension and scope.parent is not None:
                scope = scope.parent
        return scope

    def _check_outside(self, form: Form, scope: _Scope) -> None:
        """Keep names that a function binds and that are read where it is made, outside of it."""
        outside: list[Form] = []
        parameters = form.get("parameters")
        if parameters is not None:
            outside += [each for each in parameters.walk() if each.field in ("value", "right")]
        clause = next((each for each in form.children if each.kind == "for_in_clause"), None)
        if clause is not None and (right := clause.get("right")) is not None:
            outside.append(right)
        for each in outside:
            self.fixed.update(leaf.text for leaf in each.walk() if leaf.text in scope.bound)
