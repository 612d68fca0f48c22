r"""The normal form of code: what of a text the program is made of (docs/ideas.md, "same code").

Two texts with equal forms are the same program but for layout, comments, docstrings, quotes,
parentheses and the order of imports. The form is made of a syntax tree, bottom up, by the rules
R1 to R9 of docs/ideas.md; whatever no rule names stays as it is. `ASSURED` has the grammars whose
rules tests hold; a text of any other has no form.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from hashlib import blake2b
from posixpath import basename
from typing import TYPE_CHECKING, Any

from excise.kernels._walk import CancelFlag
from excise.syntax import VERBATIM, encode, tokens_of, walk
from excise.text import WHITE

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


@dataclasses.dataclass(slots=True)
class Form:
    """A node of the normal form.

    - ``kind``: the type of the syntax node.
    - ``field``: the name under which its parent has it, or an empty string.
    - ``children``: the forms below; none, where the node is a leaf.
    - ``text``: the text of a leaf. Of an item, the digest that stands for it, if not that of its
      own form.
    - ``item``: what is known of an outermost function, of which `children` has the name and
      parameters only, or of a statement outside of functions, which has no `children`; else None.
    """

    kind: str
    field: str = ""
    children: list[Form] = dataclasses.field(default_factory=list)
    text: str = ""
    item: FormItem | None = None

    def get(self, name: str) -> Form | None:
        """Return the first child of a field."""
        return next((child for child in self.children if child.field == name), None)

    @property
    def whole(self) -> Form:
        """All of a node that may be an item."""
        return self if self.item is None else self.item.form

    def walk(self) -> Iterator[Form]:
        """Yield this node and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            yield (form := waiting.pop())
            waiting += form.children[::-1]


def written(form: Form) -> str:
    """Return a form as a text; two forms are equal iff these texts are."""
    parts: list[str] = []
    waiting: list[Form | str] = [form]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            parts.append(part)
        elif part.item is not None:
            parts.append(f"({part.field}:{part.kind}@{part.text or part.item.code})")
        elif part.children:
            parts.append(f"({part.field}:{part.kind}")
            waiting.append(")")
            waiting += part.children[::-1]
        else:
            parts.append(f"({part.field}:{part.kind}{len(part.text)}:{part.text})")
    return "".join(parts)


def digest(form: Form) -> str:
    """Return a short text; two forms are equal iff their digests are."""
    data = written(form).encode(errors="surrogatepass")
    return blake2b(data, digest_size=20).hexdigest()


class FormItem:
    """An outermost function, or a statement outside of functions.

    Its form is made once for all texts that have it, byte for byte.

    - ``made``: its form, or what returns it: most functions of an origin are never looked at.
    - ``keeps_annotations``: whether somebody may read its annotations: it is a function with
      decorators, or a statement in a class.
    """

    __slots__ = ("_code", "_made", "keeps_annotations", "known")

    def __init__(self, made: Form | Callable[[], Form], keeps_annotations: bool) -> None:
        self._made = made
        self._code = ""
        self.keeps_annotations = keeps_annotations
        self.known: dict[object, Any] = {}
        """What was made of it, for who needs the same again."""

    @property
    def form(self) -> Form:
        """All of it. Nobody changes it."""
        if not isinstance(self._made, Form):
            self._made = self._made()  # the tree is no longer needed
        return self._made

    @property
    def code(self) -> str:
        """Its digest."""
        self._code = self._code or digest(self.form)
        return self._code


Items = dict[tuple[object, ...], list[Form]]
"""What nodes outside of items became in texts of one grammar and path, which nobody changes.

Their keys are their bytes and what else decides their forms; an import may become several.
"""


_C_LIKE = frozenset({"c", "cpp"})
_SCRIPT = frozenset({"javascript", "typescript", "tsx"})
ASSURED = _C_LIKE | _SCRIPT | {"python", "java", "go", "rust", "csharp"}
"""The grammars whose texts have a normal form."""

FUNCTIONS = frozenset(
    {
        *("function_definition", "function_declaration", "generator_function_declaration"),
        *("method_definition", "method_declaration", "constructor_declaration", "function_item"),
    }
)
"""The types of functions and methods that have a name."""

_DEEPEST = 150
_CLAUSES = frozenset(
    {"elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause"}
)
_NO_SEMICOLON = _SCRIPT | {"python", "go"}
_STRING = re.compile(r"[sS]tring|char|rune|heredoc|regex|str_lit|quoted|format_(spec|clause)")
_CODE_IN_STRING = re.compile(r"interpolation|substitution|expression")
# What ends a command, or a macro, where an empty line or a blank stands behind it.
_ENDED = re.compile(rb"\\[ \t\v\f]*\n[ \t\v\f]*\n|\\[ \t\v\f]+\n")
_BLANK_AFTER = re.compile(r"![rsa]\s")  # which Python does not read everywhere
_BRACKETS = frozenset({")", "]", "}"})

# R1: comments that a compiler or an interpreter obeys.
_ACTS = re.compile(
    r"//go:|//\s*\+build|#!|@jsx|@ts-|@flow|webpack[A-Z]|#\s*type:(?!\s*ignore)|#\s*cython:|```"
)
_CODING = re.compile(r"coding[:=]")

# R9: imports whose whole statements may be sorted; of the others only the names in one statement.
_IMPORTS = {
    "python": frozenset({"import_statement", "import_from_statement"}),
    "java": frozenset({"import_declaration"}),
    "go": frozenset({"import_declaration", "import_spec"}),
    "rust": frozenset({"use_declaration"}),
    "csharp": frozenset({"using_directive"}),
}
# What may be an item beside functions: short statements in which there is never a function.
_STATEMENTS = {
    **_IMPORTS,
    "python": _IMPORTS["python"] | {"assignment", "decorator", "future_import_statement"},
}
# Other grammars in which empty lines between two tokens say nothing: in all others they may.
_LINES_APART = frozenset(
    {
        *("ada", "bash", "bicep", "clojure", "cmake", "commonlisp", "css", "cuda", "d", "dart"),
        *("dockerfile", "elisp", "elixir", "elm", "erlang", "fennel", "fish", "fortran", "fsharp"),
        *("gleam", "glsl", "go", "graphql", "groovy", "haskell", "hcl", "hlsl", "janet", "json"),
        *("julia", "kotlin", "lua", "luau", "make", "matlab", "nim", "nix", "objc", "ocaml"),
        *("ocaml_interface", "odin", "pascal", "perl", "php", "powershell", "prisma", "proto"),
        *("purescript", "r", "racket", "ruby", "scala", "scheme", "scss", "solidity", "sql"),
        *("starlark", "swift", "terraform", "thrift", "toml", "v", "verilog", "vhdl", "wgsl"),
        *("yaml", "zig"),
    }
)
# .. but where data follow the program, or the empty lines behind a block are kept.
_DATA = re.compile(r"^__(END|DATA)__|[|>]\d?\+\d?[ \t]*(#.*)?$", re.MULTILINE)
# The ends of lines that may go on: what is behind them decides.
_GOES_ON = ("\\", "`", "_", "&", "^", "...")
_NONE: frozenset[str] = frozenset()
_RUNS_IN_ORDER = re.compile(r"(__init__|conftest)\.py$|index\.\w+$")


def form_of(
    tree: Tree,
    text: str,
    grammar: str,
    path: str | None = None,
    items: Items | None = None,
    *,
    is_lazy: bool = False,
    cancel: CancelFlag | None = None,
) -> Form | None:
    """Return the normal form of a parsed text.

    - ``tree``: what `excise.syntax.parse` made of the text.
    - ``text``: the normalised text.
    - ``grammar``: one of `ASSURED`.
    - ``path``: its path: in some files the order of imports counts.
    - ``items``: what nodes of other texts with this path became, which are not read again, and to
      which its own are added: then its form has items. None: all of it is one form.
    - ``is_lazy``: make the form of a function when somebody asks for it.
    - ``cancel``: looked at before each function that is read.

    Returns: None where the text does not parse, or is laid out so that its blocks are in doubt.
    """
    root = tree.root_node
    if grammar not in ASSURED or root.has_error:
        return None
    maker = _Maker(text, grammar, path or "", items, is_lazy=is_lazy, cancel=cancel)
    with suppress(_Doubt):
        return maker.form(root)
    return None


def written_tokens(text: str, tree: Tree, grammar: str) -> str:
    """Return the tokens of a text without rules, but for comments, and what is before each.

    What white space means is not known of every language: where a line ends, how the next one is
    indented, and whether two tokens of a line are apart counts in all of them.
    """
    found = tokens_of(text, tree, grammar)
    comments = set(found.comments)
    counts_blank = grammar not in _LINES_APART or bool(_DATA.search(text))
    parts: list[tuple[str, str]] = []
    line, end = -1, 0
    rows = text.split("\n")
    for at, token in enumerate(found.tokens):
        start = found.starts[at]
        if at in comments and not token.endswith("\\"):
            continue
        if found.lines[at] == line:
            gap = " " if start > end else ""
        elif parts and parts[-1][1].endswith(_GOES_ON):
            gap = text[end:start]
        else:
            row = rows[found.lines[at]]
            gap = "\n" * (text.count("\n", end, start) if counts_blank else 1)
            gap += row[: len(row) - len(row.lstrip(WHITE))]
        parts.append((gap, token))
        end = found.ends[at]
        line = found.lines[at] + text.count("\n", start, end)
    leaves = _long_leaves(text, tree, grammar)
    leaves += _behind_documents(text, tree) if "<<" in text else []
    rest = text.count("\n", end) if counts_blank else grammar == "yaml" and text[-1:] == "\n"
    return repr((parts, leaves, rest))


def _long_leaves(text: str, tree: Tree, grammar: str) -> list[bytes]:
    """Return the leaves that span lines, but for comments: white space in them may be text."""
    data = encode(text)
    flat = walk(tree, data, grammar).spans
    spans = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    leaves = [data[start:end] for start, end, kind in spans if kind <= VERBATIM]
    return [leaf for leaf in leaves if b"\n" in leaf.strip()]


def _behind_documents(text: str, tree: Tree) -> list[bytes]:
    """Return the rest of each line that a parser takes for the end of a here-document.

    A shell does not, if anything stands behind it: a comment, or a blank.
    """
    data, found = encode(text), []
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.type == "heredoc_end":
            found.append(data[node.end_byte :].partition(b"\n")[0])
        waiting += reversed(node.children)
    return found


class _Doubt(Exception):  # noqa: N818 - it stops the walk; nothing failed
    """The blocks of a Python text are not what its columns say, or it nests too deeply."""


class _Maker:
    def __init__(
        self,
        text: str,
        grammar: str,
        path: str,
        items: Items | None,
        *,
        is_lazy: bool,
        cancel: CancelFlag | None,
    ) -> None:
        self.data = encode(text)
        self.grammar = grammar
        self.is_python = grammar == "python"
        self.is_script = grammar in _SCRIPT
        self.keeps_docs = self.is_python and "__doc__" in text
        runs_in_order = _RUNS_IN_ORDER.search(basename(path))
        self.sorted_imports = _NONE if runs_in_order else _IMPORTS.get(grammar, _NONE)
        self.items = items
        self.statements = _STATEMENTS.get(grammar, _NONE)
        self.is_lazy = is_lazy
        self.cancel = cancel
        self.in_item = items is None
        self.in_class = False

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def form(self, node: Node, name: str = "", parent: Node | None = None, depth: int = 0) -> Form:
        """Return the form of a node and of all below it."""
        kind = node.type
        if self.is_python and kind in ("string", "concatenated_string"):
            return self._python_string(node, name, depth)
        if self.is_python and kind in ("integer", "float"):
            return Form(kind, name, text=_number(self.text(node)))
        if _is_string(kind) and (form := self._string(node, name, parent)) is not None:
            return form
        if not node.children:
            return Form(kind, name, text=self.text(node))
        children = self._children(node, depth)
        if kind == "parenthesized_expression" and self._unwraps(node, name, parent):
            inner = next(child for child in children if child.kind not in "()")
            inner.field = name
            return inner
        if self.is_python:
            if kind == "expression_statement" and len(children) == 1:
                children[0].field = name
                return children[0]
            if kind in ("expression_list", "pattern_list", "tuple", "tuple_pattern"):
                kind = "tuple"
                children = [child for child in children if child.kind not in ("(", ",", ")")]
            if kind in ("block", "module"):
                children = self._python_body(node, parent, children)
        form = Form(kind, name, children)
        self._sort_imports(form)
        return form

    def _shared(self, node: Node, name: str, parent: Node, depth: int) -> list[Form]:
        """Return what becomes of a node outside of items, without reading what was read before."""
        assert self.items is not None
        kind = node.type
        row, column = node.start_point
        data = self.data[node.start_byte : node.end_byte]
        key = data, kind, name, min(row, 2), column, depth, self.in_class, self.keeps_docs
        forms = self.items.get(key)
        if forms is not None:
            return forms
        if self.cancel is not None:
            self.cancel.check()
        if kind in FUNCTIONS:
            is_decorated = parent.type == "decorated_definition"
            item = FormItem(partial(self._whole_item, node, parent, depth), is_decorated)
            if not self.is_lazy:
                _ = item.form
            # What others see of it: its name (in C: all before its body), and its parameters.
            name_node = node.child_by_field_name("name") or node.child_by_field_name("declarator")
            head = [(name_node, "name"), (node.child_by_field_name("parameters"), "parameters")]
            parts = [Form(part.type, own, text=self.text(part)) for part, own in head if part]
            forms = [Form(kind, name, parts, item=item)]
        elif kind not in self.statements:
            forms = [self.form(node, name, parent, depth)]
        else:
            self.in_item = True
            form = self.form(node, name, parent, depth)
            self.in_item = False
            parts = _single(form) if kind in self.sorted_imports else [form]
            forms = [Form(part.kind, name, item=FormItem(part, self.in_class)) for part in parts]
        self.items[key] = forms
        return forms

    def _whole_item(self, node: Node, parent: Node | None, depth: int) -> Form:
        self.in_item = True
        try:
            return self.form(node, "", parent, depth)
        except _Doubt:
            if not self.is_lazy:
                raise
            return Form("doubt", text=self.text(node))  # equal to itself only
        finally:
            self.in_item = False

    def _children(self, node: Node, depth: int) -> list[Form]:
        """Return the forms below a node: without comments, closing commas and semicolons."""
        if depth >= _DEEPEST:
            raise _Doubt
        kind = node.type
        was_in_class = self.in_class
        self.in_class |= kind == "class_definition"
        in_string = _is_string(kind) or (self.is_script and self._has_references(node))
        keeps_comma = "tuple" in kind or "subs" in kind or kind in ("token_tree", "type_parameter")
        keeps_semicolon = "for" in kind or self.grammar not in _NO_SEMICOLON
        children: list[Form] = []
        end = node.start_byte
        nodes = node.children
        for index, child in enumerate(nodes):
            if child.start_byte > end:
                self._text_between(children, end, child.start_byte, in_string)
            end = max(end, child.end_byte)
            kind = child.type
            if self.is_python and kind in _CLAUSES and child.start_point[1] != node.start_point[1]:
                raise _Doubt  # Python does not read it
            is_leaf = not child.child_count
            text = self.text(child) if is_leaf else ""
            is_blank = is_leaf and not in_string and not text.strip()
            if kind == "jsx_text" and not in_string:
                text = _jsx(text)
                if text:
                    children.append(Form(kind, text=text))
                continue
            if is_blank or kind == "line_continuation" or (kind == ";" and not keeps_semicolon):
                continue
            if "comment" in kind and not in_string:
                if self._acts(child, nodes[index + 1 :]):
                    children.append(Form(kind, text=self.text(child)))
                continue
            name = node.field_name_for_child(index) or ""
            if is_leaf and not _is_string(kind) and kind not in ("integer", "float"):
                children.append(Form(kind, name, text=text))
            elif is_leaf or self.in_item:
                children.append(self.form(child, name, node, depth + 1))
            else:
                children += self._shared(child, name, node, depth + 1)
            # R6
            if kind in _BRACKETS and len(children) > 2 and not keeps_comma:
                before = children[-3].text
                if children[-2].kind == "," and before not in (",", "(", "[", "{"):
                    del children[-2]
        if node.end_byte > end:
            self._text_between(children, end, node.end_byte, in_string)
        self.in_class = was_in_class
        return children

    def _text_between(self, children: list[Form], start: int, end: int, in_string: bool) -> None:
        """Add text that no leaf covers."""
        data = self.data[start:end]
        if in_string or data.strip(b" \t\n\v\f\r\\"):
            text = data.decode("utf-8", "surrogatepass")
            children.append(Form("text", text=text if in_string else text.strip()))
        elif self.grammar in _C_LIKE and _ENDED.search(data):
            children.append(Form("text", text="\\"))

    def _has_references(self, node: Node) -> bool:
        """Whether JSX has an entity beside text: the white space of both is one text."""
        return node.type in ("jsx_element", "jsx_fragment") and any(
            child.type == "html_character_reference" for child in node.children
        )

    def _acts(self, comment: Node, after: list[Node]) -> bool:
        text = self.text(comment)
        if _ACTS.search(text):
            return True
        row = comment.start_point[0]
        if self.is_python and row < 2 and _CODING.search(text):
            return True
        if self.grammar == "go":  # the comment above `import "C"` is a program
            following = next((node for node in after if "comment" not in node.type), None)
            if following is not None and following.type == "import_declaration":
                return '"C"' in self.text(following)
        return False

    def _unwraps(self, node: Node, name: str, parent: Node | None) -> bool:
        """Whether parentheses say nothing (R5)."""
        inner = [child for child in node.named_children if "comment" not in child.type]
        if self.grammar == "cpp" or len(inner) != 1:
            return False
        if name == "function" and self.grammar in ("c", "rust"):
            return False  # (getc)(f) is never a macro; (x.f)() calls a field's value, not a method
        if parent is not None and self.is_python and parent.type == "assignment":
            return name != "left" or parent.child_by_field_name("type") is None
        if self.is_script or self.grammar == "csharp":
            return "?." not in (text := self.text(node)) and "?[" not in text and not (
                self.is_script and inner[0].type == "string"
            )  # fmt: skip
        return True

    # --- strings and numbers (R4) ----------------------------------------------------------------

    def _string(self, node: Node, name: str, parent: Node | None) -> Form | None:
        """Return a string as one leaf, or None where code stands in it."""
        waiting = list(node.children)
        while waiting:
            child = waiting.pop()
            if _CODE_IN_STRING.search(child.type):
                return None
            waiting += child.children
        text = self.text(node)
        if self.is_script and node.type == "string" and text[:1] in "'\"":
            text = text[1:-1]
            if parent is None or parent.type != "jsx_attribute":
                text = re.sub(r"(\\[^'\"])|\\(?=['\"])", r"\1", text)  # of escapes only quotes
        return Form(node.type, name, text=text)

    def _python_string(self, node: Node, name: str, depth: int) -> Form:
        """Return a string by its type and value; of an f-string, that of its parts."""
        parts = node.children if node.type == "concatenated_string" else [node]
        children: list[Form] = []
        for part in parts:
            if part.type == "string":
                for form in self._string_parts(part, depth):
                    last = children[-1] if children else None
                    if (
                        last is not None
                        and last.kind == form.kind
                        and last.kind in ("str", "bytes")
                    ):
                        last.text += form.text
                    elif form.text or form.children:
                        children.append(form)
        if not children:
            children = [Form("str")]
        if len(children) == 1 and not children[0].children:
            children[0].field = name
            return children[0]
        return Form("string", name, children)

    def _string_parts(self, node: Node, depth: int) -> Iterator[Form]:
        start = self.text(node.children[0])
        quote = start.lstrip("rRbBuUfFtT")
        prefix = start[: len(start) - len(quote)].lower()
        if "t" in prefix:  # what a template is, its handler decides
            yield Form("template", text=self.text(node))
            return
        is_formatted = "f" in prefix
        prefix = prefix.replace("f", "").replace("u", "")
        at = node.children[0].end_byte
        stop = node.children[-1].start_byte
        for child in node.children[1:-1]:
            if child.type == "interpolation":
                yield from _literal(self.data[at : child.start_byte], prefix, quote, is_formatted)
                if any(leaf.type == "=" for leaf in child.children) or _BLANK_AFTER.search(
                    self.text(child)
                ):
                    yield Form("interpolation", text=self.text(child))
                else:
                    yield Form("interpolation", children=self._children(child, depth + 1))
                at = child.end_byte
        yield from _literal(self.data[at:stop], prefix, quote, is_formatted)

    # --- Python's blocks (R3) --------------------------------------------------------------------

    def _python_body(self, node: Node, parent: Node | None, children: list[Form]) -> list[Form]:
        statements = [child for child in node.named_children if "comment" not in child.type]
        rows: set[int] = set()
        columns = set()
        for statement in statements:
            row, column = statement.start_point
            if row not in rows:
                columns.add(column)
            rows.update((row, statement.end_point[0]))
        if node.type == "module" and columns - {0}:
            raise _Doubt
        if len(columns) > 1:
            raise _Doubt
        keeps = self.keeps_docs or (
            parent is not None and parent.parent is not None
            and parent.parent.type == "decorated_definition"
        )  # fmt: skip
        kept = [
            child
            for child in children
            if keeps or child.kind not in ("str", "bytes") or child.children or ">>>" in child.text
        ]
        if len(kept) > 1:
            others = [child for child in kept if child.kind != "pass_statement"]
            kept = others or kept[:1]
        if not kept and node.type == "block":
            kept = [Form("pass_statement", children=[Form("pass", text="pass")])]
        return kept

    # --- imports (R9) ----------------------------------------------------------------------------

    def _sort_imports(self, form: Form) -> None:
        """Sort adjacent imports, where their order says nothing."""
        if self.is_script:
            if form.kind in ("named_imports", "export_clause"):
                commas = [child for child in form.children if child.kind == ","]
                names = [child for child in form.children if child.kind not in ("{", ",", "}")]
                names.sort(key=written)
                form.children = [form.children[0], *names, *commas, form.children[-1]]
            return
        if self.sorted_imports.isdisjoint([child.kind for child in form.children]):
            return
        children: list[Form] = []
        run: list[Form] = []
        for child in form.children:
            after_attribute = bool(children) and children[-1].kind == "attribute_item" and not run
            if child.kind in self.sorted_imports and not after_attribute:
                run += [child] if child.item is not None else _single(child)
            else:
                children += self._sorted(run)
                run = []
                children.append(child)
        form.children = children + self._sorted(run)

    def _sorted(self, run: list[Form]) -> list[Form]:
        """Sort imports, each once; not Python's, if one has a star or two bind one name."""
        statements = {written(statement): statement for statement in run}
        if self.is_python:
            names = [statement.whole.get("name") for statement in statements.values()]
            bound = {name and _bound(name) for name in names}
            if None in names or len(bound) < len(names):
                return run
        return [statements[key] for key in sorted(statements)]


def _bound(name: Form) -> str:
    """Return what an import binds: its alias, or the first component of its name."""
    return next(leaf.text for leaf in (name.get("alias") or name).walk() if not leaf.children)


def _jsx(text: str) -> str:
    r"""Return a text of JSX without the white space around line ends, which is not rendered.

    >>> _jsx(" a\n  b "), _jsx("\n a\n\nb\n"), _jsx("\n "), _jsx(" ")
    (' a b ', 'a \n b', '', ' ')
    """
    rows = text.split("\n")
    kept = [row.lstrip(" \t") if at else row for at, row in enumerate(rows)]
    kept = [row.rstrip(" \t") for row in kept[:-1]] + kept[-1:]
    first = next((at for at, row in enumerate(kept) if row), len(kept))
    while kept and not kept[-1]:
        kept.pop()
    return " ".join(row or "\n" for row in kept[first:])


@cache  # there are as many as the grammars have types of nodes
def _is_string(kind: str) -> bool:
    return bool(_STRING.search(kind))


def _number(text: str) -> str:
    """Return a number by its type and value; a text that Python does not read, as it is."""
    try:
        value = ast.literal_eval(text)
        return f"{type(value).__name__} {value!r}"
    except (ValueError, SyntaxError, MemoryError):
        return text


def _literal(data: bytes, prefix: str, quote: str, is_formatted: bool) -> Iterator[Form]:
    """Yield the value of the text of a string, which no interpolation interrupts."""
    text = data.decode("utf-8", "surrogatepass")
    if is_formatted:
        text = text.replace("{{", "{").replace("}}", "}")
    kind = "bytes" if "b" in prefix else "str"
    if "\\" not in text and (kind == "str" or text.isascii()):
        yield Form(kind, text=text)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # A quote at the end of the text would end the literal: three of the other kind do not.
            value = ast.literal_eval(f"{prefix}{quote}{text}{quote}")
    except (ValueError, SyntaxError, MemoryError, UnicodeError):
        yield Form("text", text=f"{prefix}{quote}{text}")
        return
    yield Form(kind, text=value.decode("latin-1") if isinstance(value, bytes) else value)


def _single(statement: Form) -> list[Form]:
    """Return an import as one statement for each name, if it is Python's."""
    if statement.kind not in _IMPORTS["python"]:
        return [statement]
    named = [child for child in statement.children if child.field == "name"]
    rest = [
        child
        for child in statement.children
        if child.field != "name" and child.kind not in ("(", ",", ")")
    ]
    if len(named) < 2:
        return [Form(statement.kind, statement.field, [*rest, *named])]
    return [Form(statement.kind, statement.field, [*rest, name]) for name in named]
