r"""Tree-sitter tokens (definition, section 1), from the only, lazy importer of tree-sitter.

Three steps: `parse` a text, `walk` its tree to spans of bytes, `spans.write` them as tokens. The
walk (`nodes.py`) knows about nodes, the writer about lines, white space and text outside strings
that no leaf covers. Over 300 lines: nothing else may import tree-sitter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from excise import nodes
from excise.errors import MissingPackageError, ParserStopped, Unparsable
from excise.hazards import hazard
from excise.kernels._scanner import Guarded, Watch
from excise.kernels._walk import CancelFlag
from excise.nodes import NodeTypes, Ranges, Walked
from excise.spans import DEDENT, INDENT, code_points, encode, write
from excise.text import WHITE, TokenList, strip_blank
from excise.twins import Kept
from excise.twins import twins as shared

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

__all__ = [
    "DEDENT",
    "INDENT",
    "drop_comments",
    "errors_of",
    "parse",
    "tokenise",
    "tokens_of",
    "twins",
    "version",
    "walk",
]

# Bytes given to the parser at once.
_SLICE = 16_384
# Grammars whose scanner never returns where a comment ends with the text (`print#`).
_ENDED = {"perl"}
_TOO_DEEP = "it nests too deeply"


PACK = "tree-sitter-language-pack"
MAJOR = "0"


@cache
def version() -> str:
    """Return the version of the grammar pack, which is part of every signature.

    Raises
    ------
    excise.errors.MissingPackageError
        If it is of a major version whose tokens nobody has compared.
    """
    from importlib.metadata import version as installed_version

    installed = installed_version(PACK)
    if installed.partition(".")[0] != MAJOR:
        raise MissingPackageError(
            f"{PACK} is {installed}, and excise needs >=0.13,<1: later ones download their "
            f"grammars, and their tokens may differ. Run: pip install '{PACK}>=0.13,<1'"
        )
    return installed


def tokenise(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> TokenList:
    r"""Return the tokens of a normalised text by a grammar of the pack.

    Parameters
    ----------
    text : str
        A text as `excise.text.normalise` returns it; broken syntax, NUL characters and lone
        surrogates are not an error.
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
    flat = iter(walk(tree.root_node, encode(text), grammar).spans)
    found = write(text, list(zip(flat, flat, flat, strict=True)))
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
    tree = parse(text, grammar, None, cancel, timeout)
    found = nodes.comments(tree.root_node, _grammar(grammar).types)
    starts = code_points(text, [start for start, _ in found])
    ends = code_points(text, [end for _, end in found])
    for start, end in zip(starts, ends, strict=True):
        apart = text[start - 1 : start].strip(WHITE) and text[end : end + 1].strip(WHITE)
        kept += text[at:start], "\n" * text.count("\n", start, end) or (" " if apart else "")
        at = end
    return "".join(kept) + text[at:]


def errors_of(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> list[tuple[int, str]]:
    r"""Return where a normalised text breaks the syntax of a grammar, in the order of the text.

    Parameters
    ----------
    text, grammar, cancel, timeout
        As for `parse`.

    Returns
    -------
    list of tuple
        The line (from 1) of each error and the first line of its text, or ``missing TYPE`` where
        the parser had to supply a token.

    Raises
    ------
    LookupError
        If the pack has no grammar of that name.
    excise.errors.ParserStopped, excise.errors.Unparsable
        As from `parse`.

    Examples
    --------
    >>> errors_of("int f() {\n  return 1\n}\n", "c")
    [(2, 'missing ;')]
    """
    data = encode(text)
    places: list[tuple[int, int, str]] = []
    waiting = [parse(text, grammar, None, cancel, timeout).root_node]
    while waiting:
        node = waiting.pop()
        if node.is_missing or node.is_error:
            first = data[node.start_byte : node.end_byte].partition(b"\n")[0][:_SLICE]
            what = first.decode("utf-8", "replace").strip()
            what = f"missing {node.type}" if node.is_missing else what
            places.append((node.start_byte, node.start_point[0] + 1, what))
        elif node.has_error:
            waiting += node.children
    return [(line, what) for _, line, what in sorted(places)]


def parse(
    text: str,
    grammar: str,
    old: Tree | None = None,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
) -> Tree:
    """Parse a text with a new parser, which is cheap (a microsecond) and belongs to one thread.

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
    excise.errors.MissingPackageError
        If the pack is of a major version whose tokens nobody has compared.
    excise.errors.ParserStopped
        When the flag was raised meanwhile.
    excise.errors.Unparsable
        Where the text is not safe for this parser, or it took too long.

    Notes
    -----
    Raises the auditing event ``excise.parse`` with the grammar and the bytes before the parser gets
    them, and ``excise.parsed`` with the grammar when it has returned: a program that must outlive a
    parser notes what one is at, and a hook that raises `Unparsable` keeps a text from it.
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

    data = encode(text)
    sys.audit("excise.parse", grammar, data)
    try:
        with watch:
            tree = _parse(known.language, data, old, stop)
    finally:
        sys.audit("excise.parsed", grammar)
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
    """Run a parser, or None if it was stopped."""
    from tree_sitter import Parser

    # py-tree-sitter (0.25, 0.26) never lets go of what `read` returns: with one buffer, emptied at
    # the end, some 60 bytes a parse are lost instead of the whole text.
    buffer = bytearray()

    def read(start: int, _point: object) -> bytearray:
        buffer[:] = data[start : start + _SLICE]
        return buffer

    # Given as one bytes object, the parser would hold the lock of the interpreter to its end, and
    # nothing could stop it; read in slices it costs the same (measured on 360 kB of Python).
    parser: Any = Parser(language)
    try:
        tree: Tree = parser.parse(*(read, old) if old else (read,), progress_callback=stop)
    except ValueError:
        if stop(0, False):
            return None
        raise
    finally:
        buffer.clear()
    return tree


def twins(
    origin: Tree, revision: Tree, data: bytes, kept: Sequence[Kept], grammar: str
) -> Iterator[tuple[int, int]]:
    """Yield what two trees that were parsed apart have in common, as `excise.twins.twins` does."""
    types = _grammar(grammar).types
    return shared(origin.root_node, revision.root_node, data, kept, types)


def walk(root: Node, data: bytes, grammar: str, within: Ranges | None = None) -> Walked:
    """Find what is a token at and below a node, as `excise.nodes.walk` does."""
    return nodes.walk(root, data, _grammar(grammar).types, within)


@dataclass(frozen=True, slots=True)
class _Grammar:
    """A language, and what its node types are."""

    guarded: Guarded
    language: Language
    types: NodeTypes


@cache
def _grammar(name: str) -> _Grammar:
    version()
    from tree_sitter import Language
    from tree_sitter_language_pack import get_binding

    load: Any = get_binding  # typed for literal names; raises LookupError for any other
    guarded = Guarded(load(name))
    language = Language(guarded.capsule)
    return _Grammar(guarded, language, NodeTypes.of(language, name))
