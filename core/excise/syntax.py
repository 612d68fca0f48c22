r"""Tree-sitter tokens (definition, section 1); the only importer of tree-sitter, and lazily.

Three steps: `parse` a text, `walk` its tree to spans of bytes, `spans.write` them as tokens. The
walk knows about nodes, the writer about lines, white space and text that no leaf covers. Over 300
lines, because comments are found by the same roles of nodes, and no other module may know these.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from excise._scanner import Guarded, Watch
from excise._walk import CancelFlag
from excise.errors import ParserStopped, Unparsable
from excise.hazards import hazard
from excise.spans import (
    BLOCK_END,
    BLOCK_START,
    DEDENT,
    INDENT,
    PLAIN,
    VERBATIM,
    Span,
    code_points,
    encode,
    write,
)
from excise.text import WHITE, TokenList, strip_blank

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

__all__ = [
    "DEDENT",
    "INDENT",
    "drop_comments",
    "parse",
    "tokenise",
    "tokens_of",
    "version",
    "walk",
]

Ranges = Sequence[tuple[int, int]]
_END = itemgetter(1)

# What a node is, by its type; a node may be several of these.
_STRING, _CODE, _ATOM, _COMMENT, _BLOCK, _DROPPED = (1 << bit for bit in range(6))
# One token whatever lies below. In no grammar of the pack is that an interpolation.
_WHOLE = _ATOM | _COMMENT
_STRING_TYPE = re.compile(r"string|char|rune|heredoc|regex")
_ATOM_TYPE = re.compile(r"string\w*_(content|fragment)$")
_CODE_TYPES = {"interpolation", "template_substitution"}
# For `drop_comments` a comment is what its type says, except: text of the program that is only
# called so (SQL's COMMENT ON, an entry of a Kconfig menu), and comments called otherwise.
_NO_COMMENTS = {
    "kconfig": {"comment_entry"},
    "mermaid": {"er_attribute_comment"},
    "sql": {"comment_statement", "keyword_comment"},
}
_OTHER_COMMENTS = {
    "dtd": {"Comment"},
    "haskell": {"haddock"},
    "sql": {"marginalia"},
    "xml": {"Comment"},
}
# Bytes given to the parser at once.
_SLICE = 16_384
# Grammars whose scanner never returns where a comment ends with the text (`print#`).
_ENDED = {"perl"}
_TOO_DEEP = "it nests too deeply"


@cache
def version() -> str:
    """Return the version of the grammar pack, which stands in every signature."""
    from importlib.metadata import version as installed

    return installed("tree-sitter-language-pack")


def tokenise(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> TokenList:
    r"""Return the tokens of a normalised text by a grammar of the pack.

    Parameters
    ----------
    text : str
        A text as `excise.text.normalise` returns it; broken syntax, NUL characters and lone
        surrogates are no error.
    grammar : str
        A name that `excise.languages.resolve` returned.
    cancel, timeout
        As for `parse`.

    Returns
    -------
    TokenList
        Parallel lists, one entry per token. All text but white space is in exactly one token.

    Raises
    ------
    LookupError
        If the pack has no grammar of that name.
    excise.errors.ParserStopped, excise.errors.Unparsable
        As from `parse`.

    Notes
    -----
    Definition, section 1 ("Token stream").

    Examples
    --------
    >>> tokenise("' '.join(x)\n", "python").tokens
    ["'", ' ', "'", '.', 'join', '(', 'x', ')']
    >>> tokenise("if x: y\n", "python").tokens
    ['if', 'x', ':', '\nINDENT', 'y', '\nDEDENT']
    """
    return tokens_of(text, parse(text, grammar, None, cancel, timeout), grammar)


def tokens_of(text: str, tree: Tree, grammar: str) -> TokenList:
    """Return the tokens of a text that is parsed already."""
    found = write(text, walk(tree.root_node, grammar))
    found.has_errors = tree.root_node.has_error
    return found


def drop_comments(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> str:
    r"""Return a normalised text without its comments, trailing white space and blank lines.

    One space stays where a comment separated two characters, and every line end stays until the
    lines left blank go. Comments that touch each other are one comment.

    Parameters
    ----------
    text : str
        A text as `excise.text.normalise` returns it.
    grammar : str
        A name that `excise.languages.resolve` returned.
    cancel, timeout
        As for `parse`.

    Returns
    -------
    str
        A normalised text; it has no comments left, but need not parse as before.

    Raises
    ------
    LookupError
        If the pack has no grammar of that name.
    excise.errors.ParserStopped, excise.errors.Unparsable
        As from `parse`.

    Notes
    -----
    Definition, section 1 (``comments=drop``). No grammar of the pack has a root whose type says
    "comment" (in ``comment``, ``doxygen``, ``jsdoc`` and ``luadoc``, which describe the inside of
    a comment, the root is a ``source`` or a ``document``), so no whole file is ever dropped;
    a test holds that fast.

    Examples
    --------
    >>> drop_comments("a/* b */c; // d\n\n// e\n", "c")
    'a c;\n'
    """
    return strip_blank(blank_comments(text, grammar, cancel, timeout))


def blank_comments(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> str:
    """Return the text without its comments, line by line: the first step of `drop_comments`."""
    kept: list[str] = []
    at = 0
    for start, end in _comments(text, parse(text, grammar, None, cancel, timeout), grammar):
        apart = text[start - 1 : start].strip(WHITE) and text[end : end + 1].strip(WHITE)
        kept += text[at:start], "\n" * text.count("\n", start, end) or (" " if apart else "")
        at = end
    return "".join(kept) + text[at:]


def parse(
    text: str,
    grammar: str,
    old: Tree | None = None,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
) -> Tree:
    """Parse a text; a parser is cheap (a microsecond) and belongs to one thread, so none is kept.

    Parameters
    ----------
    text : str
        A normalised text.
    grammar : str
        A name that `excise.languages.resolve` returned.
    old : Tree, optional
        The tree of an earlier text, edited to fit this one, to save work.
    cancel : CancelFlag, optional
        Looked at while the parser runs.
    timeout : float, optional
        Seconds of CPU time that the parser may take.

    Returns
    -------
    Tree
        Its offsets are those of ``spans.encode(text)`` (and may be one past the end).

    Raises
    ------
    LookupError
        If the pack has no grammar of that name.
    excise.errors.ParserStopped
        When the flag was raised meanwhile.
    excise.errors.Unparsable
        Where the text is not safe for this parser, or it took too long.
    """
    if (reason := hazard(text, grammar)) is not None:
        raise Unparsable(f"the parser of {grammar} cannot read this text safely ({reason})")
    if grammar in _ENDED and not text.endswith("\n"):
        text += "\n"
    known = _grammar(grammar)
    clock = CancelFlag(timeout, cpu=True)
    watch = Watch(known.guarded)

    def stop(_offset: int, _has_error: bool) -> bool:
        return watch.outgrown or clock.cancelled or (cancel is not None and cancel.cancelled)

    with watch:
        tree = _parse(known.language, encode(text), old, stop)
    if watch.outgrown:
        raise Unparsable(f"the parser of {grammar} cannot read this text safely ({_TOO_DEEP})")
    if tree is None and cancel is not None and cancel.cancelled:
        raise ParserStopped("cancelled while the text was parsed")
    if tree is None:
        raise Unparsable(f"the parser of {grammar} took over {timeout:g} CPU seconds")
    return tree


def _parse(
    language: Language, data: bytes, old: Tree | None, stop: Callable[[int, bool], bool]
) -> Tree | None:
    """Run a parser; None if it was stopped."""
    from tree_sitter import Parser

    def read(start: int, _point: object) -> bytes:
        return data[start : start + _SLICE]

    # Given as one bytes object, the parser would hold the lock of the interpreter to its end, and
    # nothing could stop it; read in slices it costs the same (measured on 360 kB of Python).
    parser: Any = Parser(language)
    try:
        tree: Tree = parser.parse(*(read, old) if old else (read,), progress_callback=stop)
    except ValueError:
        if stop(0, False):
            return None
        raise
    return tree


def walk(root: Node, grammar: str, within: Ranges | None = None) -> list[Span]:
    """Return the leaves and atoms at and below a node, and where a Python block begins and ends.

    Iterative: a tree may be deeper than Python's recursion limit. With `within` (byte ranges,
    ascending) only what overlaps one of them is descended into; spans may then reach beyond.
    """
    roles = _grammar(grammar).roles
    spans: list[Span] = []
    verbatim = False
    stack: list[Node | None] = [root]
    left: list[tuple[bool, int]] = []  # below whom None stands on the stack: (verbatim, block end)
    while stack:
        node = stack.pop()
        if node is None:
            verbatim, end = left.pop()
            if end:
                spans.append((end, end, BLOCK_END))
            continue
        children = node.children
        role = roles.get(node.kind_id, 0)
        if within and children and not role & _WHOLE:
            children = [child for child in children if _overlaps(child, within)]
            if not children:
                continue  # no leaf, although nothing of it is left: its text lies between leaves
        if role:
            outside, verbatim = verbatim, bool(role & _STRING or (verbatim and not role & _CODE))
            if children and not role & _WHOLE:
                start, end = node.byte_range
                block = role & _BLOCK and start < end
                if block:
                    spans.append((start, start, BLOCK_START))
                stack.append(None)
                left.append((outside, end if block else 0))
                stack.extend(children[::-1])
                continue
            spans.append((node.start_byte, node.end_byte, VERBATIM if verbatim else PLAIN))
            verbatim = outside
        elif children:
            stack.extend(children[::-1])
        else:
            spans.append((node.start_byte, node.end_byte, VERBATIM if verbatim else PLAIN))
    return spans


def _overlaps(node: Node, ranges: Ranges) -> bool:
    start, end = node.byte_range
    at = bisect_right(ranges, start, key=_END)  # the first range that ends behind its start
    return at < len(ranges) and ranges[at][0] < end


@dataclass(frozen=True, slots=True)
class _Grammar:
    """A language, and the roles of its node types by their number (no role: not in it)."""

    guarded: Guarded
    language: Language
    roles: dict[int, int]


@cache
def _grammar(name: str) -> _Grammar:
    from tree_sitter import Language
    from tree_sitter_language_pack import get_binding

    load: Any = get_binding  # typed for literal names; raises LookupError for any other
    guarded = Guarded(load(name))
    language = Language(guarded.capsule)
    roles: dict[int, int] = {}
    for number in range(language.node_kind_count):
        named = language.node_kind_is_named(number)
        if role := _role(language.node_kind_for_id(number) or "", named, name):
            roles[number] = role
    return _Grammar(guarded, language, roles)


def _role(kind: str, named: bool, grammar: str) -> int:
    comment = "comment" in kind
    dropped = comment and named and kind not in _NO_COMMENTS.get(grammar, ())
    return (
        (_STRING if _STRING_TYPE.search(kind) else 0)
        | (_CODE if kind in _CODE_TYPES else 0)
        | (_ATOM if _ATOM_TYPE.search(kind) else 0)
        | (_COMMENT if comment else 0)
        | (_BLOCK if kind == "block" and grammar == "python" else 0)
        | (_DROPPED if dropped or kind in _OTHER_COMMENTS.get(grammar, ()) else 0)
    )


def _comments(text: str, tree: Tree, grammar: str) -> list[tuple[int, int]]:
    """Return the outermost comments in code points, those that touch as one."""
    roles = _grammar(grammar).roles
    starts: list[int] = []
    ends: list[int] = []
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if not roles.get(node.kind_id, 0) & _DROPPED:
            stack.extend(node.children[::-1])
        elif ends and node.start_byte <= ends[-1]:
            ends[-1] = node.end_byte
        else:
            starts.append(node.start_byte)
            ends.append(node.end_byte)
    return list(zip(code_points(text, starts), code_points(text, ends), strict=True))
