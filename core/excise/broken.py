r"""What an edit of a file breaks, where that is proved: a text that cannot be read, a missing name.

Each is said of one text beside the text before the edit, and only if the text before has it not.

- Python is judged by the interpreter that runs: it compiles the text, and runs nothing. A text that
  it refuses and that the grammar reads may be newer than this Python. Names are looked up by
  Python's own table of symbols, and what is missing there by pyflakes.
- In other languages only a bracket or quote of the edit counts that nothing closes, and the marks
  of a merge conflict that the edit adds. An error of a grammar proves nothing: macros and new
  syntax make many.

>>> broken_by("import os\n", "import os\nos.remove(name)\n", Reading("python"), ParsedTexts())
([Broken(kind='name', line=2, name='name', message='uses name, which nothing defines')], 0)
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from excise.errors import Unparsable
from excise.kernels._walk import CancelFlag
from excise.python_facts import MOST
from excise.reading import ParsedTexts, Reading
from excise.syntax import errors_of

PARSER, CHECKER = "python_compile", "pyflakes"
"""The names of Python's own compiler and of pyflakes in the auditing events."""


class Broken(NamedTuple):
    """Something that an edit breaks.

    - ``kind``: ``syntax``: the text cannot be read; ``name``: a name is missing.
    - ``line``: in the text after the edit, from 1.
    - ``name``: the name that is missing, or empty.
    - ``message``: what is wrong, as a phrase that follows "it".
    """

    kind: Literal["syntax", "name"]
    line: int
    name: str
    message: str


def broken_by(
    before: str,
    after: str,
    reading: Reading,
    texts: ParsedTexts,
    given: Collection[str] = (),
    cancel: CancelFlag | None = None,
) -> tuple[list[Broken], int]:
    """Return what an edit breaks, and the first line (or 0) that cannot be read, and could before.

    - ``before``, ``after``: normalised texts; an empty one before: the file is new.
    - ``reading``: their grammar and path.
    - ``texts``: what parsers found in both.
    - ``given``: names that the project has from elsewhere, as its linter's configuration says.

    Raises excise.errors.ParserStopped if the flag was raised meanwhile.
    """
    if before == after or not after or reading.grammar is None:
        return [], 0
    try:
        if reading.grammar == "python":
            return _python(before, after, reading, texts, given, cancel)
        return _other(before, after, reading, texts, cancel)
    except (Unparsable, LookupError):
        return [], 0


def errors_said(broken: Iterable[Broken]) -> tuple[str, ...]:
    """Return what is broken, as phrases, and of many names the first two.

    >>> errors_said([Broken("name", 1, name, f"uses {name}, ..") for name in "ab"])
    ('uses a and b, which nothing defines',)
    """
    every = list(broken)
    names = list(dict.fromkeys(each.name for each in every if each.kind == "name"))
    said = list(dict.fromkeys(each.message for each in every if each.kind == "syntax"))
    if len(names) == 1:
        said += [each.message for each in every if each.name][:1]
    elif names:
        more = f"{len(names) - 2:,} more names" if len(names) > 3 else names[-1]
        few = names[:2] if len(names) > 3 else names[:-1]
        said.append(f"uses {', '.join(few)} and {more}, which nothing defines")
    return tuple(said)


# --- Python ---------------------------------------------------------------------------------------

_NOTEBOOK = re.compile(
    r"^# (?:\w+ notebook source|%%|In\[|METADATA \*)|\bget_ipython\b", re.MULTILINE
)
"""What a text of a notebook has: it may have commands and names of whatever runs it."""

_LASTING = re.compile(
    r"cannot (?:assign|delete)|positional (?:argument|pattern)s? follow|non-default argument"
    r"|parameter without a default|Missing parentheses in call to|keyword argument repeated"
    r"|leading zeros in decimal"
)
"""Errors that no newer Python takes back, in a text that the grammar reads all the same."""

_NEWER = re.compile(
    r"^\s*(?:lazy\s+(?:import|from)\b|(?:async\s+)?(?:def|class|type)\s+\w+\s*\[)"
    r"""|(?<!\w)[rR]?[tT][rR]?['"]"""
)
"""A line that only a newer Python than 3.11 reads, and that the grammar need not read, either."""

_CONTINUED = re.compile(r"\bimport \*|\b(?:globals|exec)\(|\bdir\(\)|__builtins?__|\bmodules\[")
_THERE = re.compile(r"^\S[^\n]*\b(?:locals|vars|eval|setattr)\(", re.MULTILINE)
_BUILTINS = re.compile(r"(?<!import )\bbuiltins\b(?!\.[A-Za-z]\w*\b)|\bbuiltins as\b|builtins\.__")
"""What may give a text names that nobody sees."""

_GIVES = re.compile(r"\bbuiltins\.(\w+)\s*(?::[^=\n]*)?=(?!=)")
_IGNORED = re.compile(
    r"#\s*(?:noqa(?!:)|noqa:[^#\n]*F821|type:\s*ignore(?!\[)|type:\s*ignore\[[^]]*name-defined"
    r"|pyright:\s*ignore|pylint:\s*disable=[^#\n]*(?:undefined-variable|E0602))", re.IGNORECASE,
)  # fmt: skip
_ALL_IGNORED = re.compile(
    r"^#\s*(?:flake8:\s*noqa\s*$|ruff:\s*noqa\s*$|type:\s*ignore\s*$|(?:ruff|flake8):\s*noqa:[^\n]*F821"
    r"|pylint:\s*(?:skip-file|disable=[^\n]*(?:undefined-variable|E0602)))", re.MULTILINE,
)  # fmt: skip

GIVEN = frozenset(dir(builtins)) | frozenset(
    (
        "_", "__", "N_", "display", "get_ipython", "profile", "reveal_type", "reveal_locals",
        "WindowsError", "PythonFinalizationError", "exit", "quit", "copyright", "credits",
        "license", "help",
        # of Python 2, for whoever still asks which one it is
        "basestring", "buffer", "cmp", "execfile", "file", "intern", "long", "raw_input", "reduce",
        "reload", "unichr", "unicode", "xrange",
    )
)  # fmt: skip
"""Names that are there without a definition; ``_`` is gettext's."""


def _python(
    before: str,
    after: str,
    reading: Reading,
    texts: ParsedTexts,
    given: Collection[str],
    cancel: CancelFlag | None,
) -> tuple[list[Broken], int]:
    path = reading.path or "a.py"
    if _NOTEBOOK.search(after) or path.endswith((".pyi", ".ipynb")):
        return [], 0
    error = _refused(after, texts)
    if error is not None:
        if _refused(before, texts) is not None:
            return [], 0
        line = max(error.lineno or 1, 1)
        if _is_lasting(error, before, after, reading, texts, cancel):
            return [Broken("syntax", line, "", f"Python cannot read line {line}")], 0
        return [], line
    name = path.rpartition("/")[2]
    if not name.endswith((".py", ".pyw")) and ("." in name or name[:1].isupper()):
        return [], 0  # a description of a build, which whoever reads it gives names
    return list(_missing(before, after, name, frozenset(given), texts)), 0


def _refused(text: str, texts: ParsedTexts) -> SyntaxError | None:
    """Return why Python's own compiler refuses a text, or None; it is asked once.

    Raises Unparsable if it gives up.
    """
    if text not in texts.compiled:
        texts.compiled[text] = _compiled(text)
    return texts.compiled[text]


def _compiled(text: str) -> SyntaxError | None:
    if len(text) > MOST or "\0" in text:
        raise Unparsable("no text for Python")
    sys.audit("excise.parse", PARSER, text.encode("utf-8", "surrogatepass"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes like "\d"
            compile(text.removeprefix("\ufeff"), "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.with_traceback(None)
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise Unparsable(f"Python's parser gives up: {error}") from None
    finally:
        sys.audit("excise.parsed", PARSER)
    return None


def _is_lasting(
    error: SyntaxError,
    before: str,
    after: str,
    reading: Reading,
    texts: ParsedTexts,
    cancel: CancelFlag | None,
) -> bool:
    """Whether no Python reads a text that this one refuses, as far as that can be told."""
    if isinstance(error, IndentationError):
        return True
    try:
        ast.parse(after.removeprefix("\ufeff"))
    except SyntaxError:
        pass
    except (ValueError, RecursionError, MemoryError):
        return False
    else:
        return bool(before)  # the parser reads it, but for the compiler it makes no sense
    if before and _LASTING.match(str(error.msg)):
        return True
    lines = after.replace("\r", "\n").split("\n")
    at = (error.lineno or 1) - 1
    if any(_NEWER.search(line) for line in lines[at : at + 1]):
        return False
    return bool(texts.tree(after, reading, cancel).root_node.has_error)


def _missing(
    before: str, after: str, name: str, given: frozenset[str], texts: ParsedTexts
) -> Iterator[Broken]:
    """Yield the names that an edit begins to miss, each once: who misses some already is silent."""
    given |= GIVEN
    if not _unbound(after, given):
        return
    given |= frozenset(_GIVES.findall(after))
    may_hide = (_CONTINUED, _THERE, _BUILTINS, _ALL_IGNORED)
    if any(pattern.search(after) for pattern in may_hide):
        return
    is_read = before and _refused(before, texts) is None
    earlier = _unbound(before, given) if is_read else set()
    if earlier and list(_undefined(before, name, given)):
        return  # whoever runs this file gives it names
    found = list(_undefined(after, name, given))
    if not before and any(is_top for _, _, is_top in found):
        return  # as a script that another program runs
    lines = after.replace("\r", "\n").split("\n")
    seen = set(earlier)
    for line, missing, _ in found:
        if missing not in seen and not _IGNORED.search(lines[line - 1]):
            seen.add(missing)
            yield Broken("name", line, missing, f"uses {missing}, which nothing defines")


def _unbound(text: str, given: frozenset[str]) -> set[str]:
    """Return the names that a text, which Python compiles, reads and nothing in it binds."""
    table = symtable.symtable(text.removeprefix("\ufeff"), "<text>", "exec")
    bound, read, waiting = set[str](), set[str](), [table]
    while waiting:
        scope = waiting.pop()
        is_top = scope is table
        for symbol in scope.get_symbols():
            if not (is_top or symbol.is_global()):
                continue
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
            elif symbol.is_referenced():
                read.add(symbol.get_name())
        waiting += scope.get_children()
    return {name for name in read - bound - given if not name.startswith("__")}


def _undefined(text: str, name: str, given: frozenset[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the names that run into an error, by pyflakes: the line, the name, and if at the top.

    What no run may reach is left out: annotations, strings, and what an error or a version is asked
    for.
    """
    sys.audit("excise.parse", CHECKER, text.encode("utf-8", "surrogatepass"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.removeprefix("\ufeff"))
        from pyflakes.checker import Checker

        messages = Checker(tree, name, builtins=given, withDoctest=False).messages
        found = sorted(
            (message.lineno, message.col, str(message.message_args[0]))
            for message in messages
            if type(message).__name__ == "UndefinedName"
        )
        places = dict(_places(tree)) if found else {}
    except SyntaxError:
        raise
    except Exception as error:  # noqa: BLE001 a checker that fails has told nothing
        raise Unparsable(f"{CHECKER} gives up: {error!r}") from None
    finally:
        sys.audit("excise.parsed", CHECKER)
    for line, column, missing in found:
        if (line, column) in places and not missing.startswith("__"):
            yield line, missing, places[line, column]


_ERRORS = re.compile(r"^(?:NameError|Exception|BaseException)$")
_VERSIONS = re.compile(r"^(?:TYPE_CHECKING|version_info|PY2|PY3\w*|platform|hexversion)$")


def _places(tree: ast.Module) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yield where a name is read that a run gets to, and whether at the top level; iteratively."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, True)]
    while waiting:
        node, is_top = waiting.pop()
        if isinstance(node, ast.Name):
            yield (node.lineno, node.col_offset), is_top
        skipped = ["annotation", "returns", "type_comment"]
        if (
            isinstance(node, ast.Try)
            and any(
                handler.type is None or _names(handler.type, _ERRORS) for handler in node.handlers
            )
        ) or (
            isinstance(node, ast.With | ast.AsyncWith)
            and any(_names(item.context_expr, _ERRORS) for item in node.items)
        ):
            skipped.append("body")
        elif isinstance(node, ast.If | ast.IfExp) and (
            _names(node.test, _VERSIONS) or isinstance(node.test, ast.Constant)
        ):
            skipped += ["body", "orelse"]
        is_top &= not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for field, value in ast.iter_fields(node):
            if field not in skipped:
                children = value if isinstance(value, list) else [value]
                waiting += [(child, is_top) for child in children if isinstance(child, ast.AST)]


def _names(node: ast.AST, pattern: re.Pattern[str]) -> bool:
    """Whether an expression names one of some things."""
    return any(
        isinstance(each, ast.Name | ast.Attribute)
        and pattern.match(each.id if isinstance(each, ast.Name) else each.attr)
        for each in ast.walk(node)
    )


# --- other languages ------------------------------------------------------------------------------

_BRACKETED = frozenset((
    "c", "cpp", "csharp", "java", "kotlin", "scala", "swift", "dart", "php", "go", "rust",
    "javascript", "typescript", "tsx", "json", "css", "scss",
))  # fmt: skip
"""Grammars in which brackets outside of strings and comments come in pairs."""

_QUOTED = _BRACKETED - {"rust", "php", "css", "scss", "json"}
"""Those of them in which a string in double quotes ends on its line."""

_PAIRS = {")": "(", "]": "[", "}": "{"}
_PREPROCESSED = re.compile(r"^\s*#\s*(if|endif)")


def _other(
    before: str, after: str, reading: Reading, texts: ParsedTexts, cancel: CancelFlag | None
) -> tuple[list[Broken], int]:
    tree = texts.tree(after, reading, cancel)
    if not tree.root_node.has_error:
        return [], 0
    old = texts.tree(before, reading, cancel)
    if old.root_node.has_error:
        return [], 0
    if reading.grammar == "c" and (reading.path or "").endswith(".h"):
        tree = texts.tree(after, Reading("cpp", (), reading.timeout, reading.path), cancel)
        if not tree.root_node.has_error:
            return [], 0
    line = errors_of(after, tree)[0][0]
    if (at := _marked(after)) and not _marked(before):
        return [Broken("syntax", at, "", f"leaves the marks of a merge conflict in line {at}")], 0
    found = None
    if reading.grammar in _BRACKETED and before:
        found = _brackets(before, after, old, tree, line) or _quotes(before, after, reading.grammar)
    return ([], line) if found is None else ([found], 0)


def _marked(text: str) -> int:
    """Return the line in which the first marks of a merge conflict begin, or 0."""
    begun, is_parted = 0, False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("<<<<<<< "):
            begun, is_parted = number, False
        elif begun and line == "=======":
            is_parted = True
        elif is_parted and line.startswith(">>>>>>> "):
            return begun
    return 0


def _brackets(before: str, after: str, old: Any, tree: Any, line: int) -> Broken | None:  # noqa: ANN401 - only `syntax` and its like import the type
    """Return a bracket of an edit that nothing closes or opens, although all before have pairs.

    The grammar must have read all lines that both texts have in the same way, and count as many
    brackets as the characters of the text.
    """
    old_lines, lines = before.split("\n"), after.split("\n")
    of_old, of_new = _by_line(before, old), _by_line(after, tree)
    if not _is_paired("".join(of_old)):
        return None
    known = dict(zip(old_lines, of_old, strict=True))
    known_new = dict(zip(lines, of_new, strict=True))
    if any(known.get(row, brackets) != brackets for row, brackets in known_new.items()):
        return None
    if _is_paired("".join(of_new)):
        return None
    counts, raw = (Counter("".join(of_new)), Counter(after)), Counter(before)
    counts[0].subtract("".join(of_old))
    for closing, opening in _PAIRS.items():
        more = counts[0][opening] - counts[0][closing]
        shown = counts[1][opening] - raw[opening] - counts[1][closing] + raw[closing]
        if more and more == shown:
            bracket, does = (opening, "closes") if more > 0 else (closing, "opens")
            nets = (own.count(opening) - own.count(closing) for own in of_new)
            added = (
                number
                for number, (row, net) in enumerate(zip(lines, nets, strict=True), start=1)
                if row not in known and net * more > 0
            )
            at = next(added, line)
            what = f"has {bracket} in line {at}, which nothing {does}"
            return Broken("syntax", at, "", what)
    return None


def _by_line(text: str, tree: Any) -> list[str]:  # noqa: ANN401
    """Return the brackets of each line, those between ``#if`` and ``#endif`` left out."""
    lines = text.split("\n")
    depth, hidden = 0, set[int]()
    for number, line in enumerate(lines):
        if match := _PREPROCESSED.match(line):
            depth += 1 if match[1] == "if" else -1
        if depth > 0:
            hidden.add(number)
    rows = [""] * len(lines)
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.child_count:
            waiting += reversed(node.children)
        elif (not node.is_named or node.is_error) and node.end_byte > node.start_byte:
            row, written = node.start_point[0], node.type
            if node.is_error:
                written = node.text.decode("utf-8", "replace")
            if row not in hidden:
                rows[row] += "".join(c for c in written if c in "()[]{}")
    return rows


def _is_paired(brackets: str) -> bool:
    stack: list[str] = []
    for bracket in brackets:
        if bracket not in _PAIRS:
            stack.append(bracket)
        elif not stack or stack.pop() != _PAIRS[bracket]:
            return False
    return not stack


def _quotes(before: str, after: str, grammar: str) -> Broken | None:
    """Return the one line of an edit with a quote that nothing closes."""
    old, found = set(before.split("\n")), list[int]()
    for number, line in enumerate(after.split("\n"), start=1):
        bare = re.sub(r"\\.|'\"'", "", line)
        is_plain = not re.search(r"""['`/]|\"\"\"|[R@$#]\"""", bare) and not bare.endswith("\\")
        if line not in old and is_plain and bare.count('"') % 2:
            found.append(number)
    if grammar not in _QUOTED or len(found) != 1:
        return None
    return Broken("syntax", found[0], "", f'has " in line {found[0]}, which nothing closes')
