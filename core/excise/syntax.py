r"""Tree-sitter tokens (definition, section 1), from the only, lazy importer of tree-sitter.

Three steps: `parse` a text, `walk` its tree to spans of bytes, write them as tokens. Walk and
writer are loops of ``kernels/_tree.pyx``: the walk knows what nodes are, by their types
(`NodeTypes`), the writer about lines, white space and text outside strings that no leaf covers.
A node is in a string when its type says so or its parent is in one, until a type says that code
begins.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from excise.errors import MissingPackageError, OptionError, ParserStopped, Unparsable
from excise.kernels._scanner import Guarded, Watch
from excise.kernels._tree import line_starts as starts_of
from excise.kernels._tree import walk as walk_nodes
from excise.kernels._tree import write
from excise.kernels._walk import CancelFlag
from excise.text import WHITE, TokenList, strip_blank

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

INDENT = "\nINDENT"
DEDENT = "\nDEDENT"
"""Marks around a Python block; no token of a text can hold a line end, so none equals them."""

Ranges = Sequence[tuple[int, int]]

PLAIN, VERBATIM = range(2)
"""How leaves are written: as text to strip, or as it stands."""

# The largest number of bytes of a text: sums of two fit 32 bits.
_MAX_LENGTH = (1 << 30) - 1
# Bytes given to the parser at once.
_SLICE = 16_384
# Grammars whose scanner never returns where a comment ends with the text (`print#`).
_ENDED = {"perl"}
_TOO_DEEP = "it nests too deeply"

# Texts that no parser receives, as each would make a scanner of a bundled grammar read out of
# bounds. These scanners pass any code point to C's ``isdigit`` and the like, which have a table for
# the first 256. The memory after the table differs between machines. Above U+FFFF it may not exist
# at all, and `excise.align("1" + chr(0x100000), "x", language="markdown")` ended the process. The
# other way to overrun, a scanner's state that is too large, is watched while the parser runs
# (`excise.kernels._scanner`). Both lists have the known cases, and may be incomplete:
# docs/algorithm.md.
_ABOVE = "[\U00010000-\U0010ffff]"
_ANY_ABOVE = re.compile(_ABOVE)

# Where the scanner of a grammar may pass such a character to ``isdigit``, ``isalpha``, ..
_BEFORE = {
    "bash": re.compile(rf"\{{\d*(\.\.\d*)?{_ABOVE}", re.ASCII),
    "d": _ANY_ABOVE,
    "doxygen": _ANY_ABOVE,
    "gn": re.compile(rf"\$\{{?{_ABOVE}"),
    "markdown": re.compile(rf"^[\x00-\t\v-\x20>*+\-.)\d]*\d{_ABOVE}", re.ASCII | re.MULTILINE),
    "odin": re.compile(rf"\.{_ABOVE}"),
    "v": _ANY_ABOVE,
}

PACK = "tree-sitter-language-pack"
MAJOR = "0"


@cache
def version() -> str:
    """Return the version of the grammar pack, which is part of every signature.

    Raises excise.errors.MissingPackageError if it is of a major version whose tokens nobody has
    compared.
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

    - ``text``: a text as `excise.text.normalise` returns it; broken syntax, NUL characters and lone
      surrogates are not an error.
    - ``grammar``: a name that `excise.languages.resolve` returned.
    - ``cancel``, ``timeout``: as for `parse`.

    Returns: parallel lists, one entry per token. All text but white space is in exactly one token.

    Raises LookupError if the pack has no grammar of that name. Raises excise.errors.ParserStopped,
    excise.errors.Unparsable as from `parse`.

    Definition, section 1 ("Token stream").

    >>> tokenise("' '.join(x)\n", "python").tokens
    ["'", ' ', "'", '.', 'join', '(', 'x', ')']
    >>> tokenise("if x: y\n", "python").tokens
    ['if', 'x', ':', '\nINDENT', 'y', '\nDEDENT']
    """
    return tokens_of(text, parse(text, grammar, None, cancel, timeout), grammar)


def tokens_of(text: str, tree: Tree, grammar: str) -> TokenList:
    """Return the tokens of a text that is parsed already."""
    data = encode(text)
    spans = walk(tree, data, grammar).spans
    tokens, lines, first, behind, comments = write(data, line_starts(data), spans)
    starts, ends = (code_points(text, bytes_) for bytes_ in (first, behind))
    return TokenList(tokens, lines, starts, ends, tree.root_node.has_error, comments)


def drop_comments(
    text: str, grammar: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> str:
    r"""Return a normalised text without its comments, trailing white space and blank lines.

    One space stays where a comment separated two characters, and every line end stays until the
    lines left blank go. Comments that touch each other are one comment.

    - ``text``: a text as `excise.text.normalise` returns it.
    - ``grammar``: a name that `excise.languages.resolve` returned.
    - ``cancel``, ``timeout``: as for `parse`.

    Returns: a normalised text; it has no comments left, but need not parse as before.

    Raises LookupError if the pack has no grammar of that name. Raises excise.errors.ParserStopped,
    excise.errors.Unparsable as from `parse`.

    Definition, section 1 (``comments=drop``). No grammar of the pack has a root whose type says
    "comment" (in ``comment``, ``doxygen``, ``jsdoc`` and ``luadoc``, which describe the inside of
    a comment, the root is a ``source`` or a ``document``), so no whole file is ever dropped;
    a test holds that fast.

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
    comments = types_of(grammar).comments
    # The outermost comments as byte ranges, those that touch as one.
    found: list[tuple[int, int]] = []
    stack = [parse(text, grammar, None, cancel, timeout).root_node]
    while stack:
        node = stack.pop()
        if node.kind_id not in comments:
            stack.extend(node.children[::-1])
        elif found and node.start_byte <= found[-1][1]:
            found[-1] = found[-1][0], node.end_byte
        else:
            found.append(node.byte_range)
    starts = code_points(text, [start for start, _ in found])
    ends = code_points(text, [end for _, end in found])
    for start, end in zip(starts, ends, strict=True):
        apart = text[start - 1 : start].strip(WHITE) and text[end : end + 1].strip(WHITE)
        kept += text[at:start], "\n" * text.count("\n", start, end) or (" " if apart else "")
        at = end
    return "".join(kept) + text[at:]


def errors_of(text: str, tree: Tree) -> list[tuple[int, str]]:
    r"""Return where a text that is parsed already breaks the syntax, in the order of the text.

    Returns: the line (from 1) of each error and the first line of its text, or ``missing TYPE``
    where the parser had to supply a token.

    >>> text = "int f() {\n  return 1\n}\n"
    >>> errors_of(text, parse(text, "c"))
    [(2, 'missing ;')]
    """
    data = encode(text)
    places: list[tuple[int, int, str]] = []
    waiting = [tree.root_node]
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

    - ``text``: a normalised text.
    - ``grammar``: a name that `excise.languages.resolve` returned.
    - ``old``: the tree of an earlier text, edited to fit this one, to save work.
    - ``cancel``: looked at while the parser runs.
    - ``timeout``: seconds of CPU time that the parser may take.

    Returns: its offsets are those of ``encode(text)`` (and may be one past the end).

    Raises LookupError if the pack has no grammar of that name. Raises
    excise.errors.MissingPackageError if the pack is of a major version whose tokens nobody has
    compared. Raises excise.errors.ParserStopped when the flag was raised meanwhile. Raises
    excise.errors.Unparsable where the text is not safe for this parser, or it took too long.

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


# What a node does to a walk. TURNS: it is in a string and its parent is not, or the reverse.
# WHOLE: one token, whatever lies below. BLOCK: INDENT and DEDENT stand around it. COMMENT: a
# comment, unless it stands inside a string or has tokens of its own.
_TURNS, _WHOLE, _BLOCK, _COMMENT = 1, 2, 4, 8
_STRING_TYPE = re.compile(
    r"[sS]tring|STRING|char|rune|heredoc|regex|str_lit|quoted|(quote|block)_scalar|AttValue"
    r"|jsx_text|raw_text|verbatim|code_fence_content|bracket_argument|CData|^literal$"
)
_CODE_TYPE = re.compile(r"array|list|concat|expression|interpolation|substitution")
# In no grammar of the pack is there an interpolation in an atom.
_ATOM_TYPE = re.compile(r"string\w*_(content|fragment)$")

# For ``comments=drop`` a comment is what its type says, except: text of the program that is only
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


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The node types of a grammar, by their numbers."""

    roles: tuple[bytes, bytes]
    """What a node does to a walk: by the kind of its parent's leaves, then by type."""

    comments: frozenset[int]
    """The types that ``comments=drop`` takes out."""

    @classmethod
    def of(cls, language: Language, grammar: str) -> NodeTypes:
        """Judge every type of a grammar by its name."""
        roles = bytearray(), bytearray()
        dropped = set()
        for number in range(language.node_kind_count):
            name = language.node_kind_for_id(number) or ""
            is_dropped = _is_dropped(name, language.node_kind_is_named(number), grammar)
            for kind in (PLAIN, VERBATIM):
                roles[kind].append(_role(name, kind, grammar) | (_COMMENT if is_dropped else 0))
            if is_dropped:
                dropped.add(number)
        return cls((bytes(roles[PLAIN]), bytes(roles[VERBATIM])), frozenset(dropped))


def _role(name: str, kind: int, grammar: str) -> int:
    comment = "comment" in name
    string = kind == VERBATIM or bool(_STRING_TYPE.search(name))
    inner = VERBATIM if string and not comment and not _CODE_TYPE.search(name) else PLAIN
    return (
        (_TURNS if inner != kind else 0)
        | (_WHOLE if comment or _ATOM_TYPE.search(name) else 0)
        | (_BLOCK if name == "block" and grammar == "python" else 0)
    )


def _is_dropped(name: str, named: bool, grammar: str) -> bool:
    if name in _OTHER_COMMENTS.get(grammar, ()):
        return True
    return named and "comment" in name and name not in _NO_COMMENTS.get(grammar, ())


class Walked(NamedTuple):
    """The result of `walk`."""

    spans: array[int]
    """Leaves, atoms, text of strings that no leaf covers, the ends of Python blocks; in order.

    Flat: start and end in bytes, and what it is (`PLAIN` and so on)."""

    loose: list[tuple[int, int]]
    """Nodes, as byte ranges, with such text: which of it is a token, the whole node decides."""


def walk(tree: Tree, data: bytes, grammar: str, within: Ranges | None = None) -> Walked:
    """Find the tokens of the parsed text `data`.

    With `within` (byte ranges, ascending) only what overlaps one of them is descended into; spans
    may then reach beyond.
    """
    flat = array("i", chain.from_iterable(within)) if within else None
    return Walked(*walk_nodes(tree.root_node, data, types_of(grammar).roles, flat))


def types_of(grammar: str) -> NodeTypes:
    """Return what the node types of a grammar are."""
    return _grammar(grammar).types


def encode(text: str) -> bytes:
    """Return the bytes to parse, with a lone surrogate as three bytes, as if it were valid."""
    return text.encode("utf-8", "surrogatepass")


def line_starts(data: bytes) -> array[int]:
    """Return the byte at which each line starts, and one past the end, as if the last one ended.

    Raises excise.errors.OptionError on a text whose places do not fit 32 bits.
    """
    if len(data) > _MAX_LENGTH:
        raise OptionError(f"a text of {len(data)} bytes is too long; the limit is {_MAX_LENGTH}")
    return starts_of(data)


def code_points(text: str, offsets: list[int]) -> list[int]:
    """Turn byte offsets into code points; an offset past the end becomes the end."""
    if text.isascii():
        return offsets
    import numpy as np

    data = np.frombuffer(encode(text), dtype=np.uint8)
    points = np.append(np.cumsum((data & 0xC0) != 0x80) - 1, len(text))
    found: list[int] = points[np.minimum(np.array(offsets, dtype=np.intp), len(data))].tolist()
    return found


def hazard(text: str, grammar: str) -> str | None:
    r"""Return why the parser of a grammar must not get a text, or None.

    - ``text``: a normalised text.
    - ``grammar``: a name that `excise.languages.resolve` returned.

    >>> hazard("1. \U0001f600\n", "markdown")
    >>> hazard("1\U0001f600\n", "markdown")
    'a character above U+FFFF where it asks for digits or letters'
    """
    before = _BEFORE.get(grammar)
    if before is None or text.isascii() or not before.search(text):
        return None
    return "a character above U+FFFF where it asks for digits or letters"
