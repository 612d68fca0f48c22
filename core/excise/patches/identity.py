"""Names that patches share which are the same: by their text, their edits, or their code.

No name depends on other patches, so that "the same" is an equivalence. Two patches stand at one
place here only if that can be told from each alone, which is stricter than the places of the score
(docs/patches.md): what shares a name scores 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import NamedTuple

from excise.languages import resolve
from excise.lexical import WORD, count_words, words
from excise.patches.blocks import Block, blocks_of
from excise.patches.features import facts_of
from excise.patches.model import FilePair, Hunk, Patch
from excise.text import WHITE
from excise.tokens import Vocabulary

RULES = "ids:2"
"""The version of the rules by which patches share names: whoever keeps names keeps it beside."""

BLANKS = b" \t\v\f\r"

_FREE = frozenset({"c", "cpp", "csharp", "go", "java", "python"})
"""Grammars by which white space between a word and a sign never means anything."""
_LINES_APART = _FREE | {
    *("bash", "dart", "javascript", "kotlin", "rust", "scala", "swift", "tsx", "typescript")
}
"""Grammars in which an empty line means nothing outside of what `_OPENS` or a quote opens."""
_TELLS = re.compile(r"[\"'`#\\]")
"""What a line has where its white space may be part of a string or of a preprocessor's line."""
_INDENTATION = re.compile(r"^[ \t\v\f\r]*", re.MULTILINE)
_RUN = re.compile(r"[ \t\v\f\r]+")
_BESIDE_A_SIGN = re.compile(
    rf" (?:(?<={WORD[:-1]} )(?!{WORD[:-1]})|(?<!{WORD[:-1]} )(?={WORD[:-1]}))"
)
"""One space between a word and a sign."""
_OPENS = re.compile(rb"\"\"\"|'''|`|<<[-~]?[\"'\\]?[A-Za-z_]")
"""A string or a document that may go on behind its line."""
_ENDED = re.compile(rb"\\[ \t]+\r?$|\\\r?\n[ +-][ \t]*\r?$", re.MULTILINE)
"""A line that may go on, and what ends it there."""
_EMPTY = re.compile(rb"^[+-][ \t\v\f\r]*$", re.MULTILINE)


class PatchIds(NamedTuple):
    """The names of a patch.

    - ``patch``: `patch_id`.
    - ``edit``: shared by patches that write and delete the same lines, character by character, at
      the same places of the same files: `excise.agreement.IDENTICAL`.
    - ``code``: shared by patches whose blocks have the same tokens, line by line, at the same
      places of the same files, with the same steps of indentation and the same header facts:
      `excise.agreement.CODE`.
    """

    patch: str
    edit: str
    code: str


def ids_of(patch: Patch) -> PatchIds:
    """Return the names of a patch.

    >>> from excise.patches.parse import parse
    >>> text = b"--- a/x.c\\n+++ b/x.c\\n@@ -%d,2 +%d,3 @@ int f()\\n a;\\n+g(%s);\\n b;\\n"
    >>> ids = [ids_of(parse(text % own)) for own in ((4, 4, b"1, 2"), (9, 9, b"1,2"))]
    >>> [a == b for a, b in zip(*ids, strict=True)]
    [True, False, True]
    """
    files = sorted(patch.files, key=lambda pair: (pair.path, pair.old or ""))
    blocks = [list(blocks_of(pair, Vocabulary())) for pair in files]
    has_code = any(  # lines that are not blank have tokens
        not (block.old and block.new) or words("\n".join(block.old)) != words("\n".join(block.new))
        for block in chain.from_iterable(blocks)
    )
    hides_data = False
    code = hashlib.sha1(usedforsecurity=False)
    for pair, own in zip(files, blocks, strict=True):
        code.update(repr((pair.old, pair.new, facts_of(pair))).encode())
        if pair.binary is not None and not pair.binary.data:
            code.update(repr((pair.old_blob, pair.new_blob)).encode())
            hides_data |= not (pair.old_blob and pair.new_blob)
        # An edit of white space alone has no tokens to go by.
        for part in _code_of(pair, own) if has_code else _white_of(pair):
            code.update(b"%d %b" % (len(part), part))
    if hides_data:
        code.update(text_id(patch).encode())
    edit = hashlib.sha1(code.digest(), usedforsecurity=False)
    for pair in files:
        edit.update(b"\0%b\0" % b"".join(map(_as_written, pair.hunks)))
    return PatchIds(patch_id(patch), edit.hexdigest(), code.hexdigest())


def _code_of(pair: FilePair, blocks: list[Block]) -> Iterator[bytes]:
    """Yield what the blocks of a file do, and where."""
    grammar = resolve(None, pair.path)
    is_free = grammar in _FREE
    for _, of_hunk in groupby(blocks, key=lambda block: id(block.hunk)):
        inside = list(of_hunk)
        hunk = inside[0].hunk
        is_open = _may_leave_a_string_open(hunk.text) or _ENDED.search(hunk.text) is not None
        is_open |= grammar not in _LINES_APART and _EMPTY.search(hunk.text) is not None
        for block in inside:
            yield repr(_place(block)).encode()
            for side in () if is_open else (block.old, block.new):
                yield _without_white(side, is_free).encode("utf-8", "surrogatepass")
                yield repr(_steps(block.beside[0], side, block.beside[1])).encode()
        if is_open:
            yield _as_written(hunk)


def _white_of(pair: FilePair) -> Iterator[bytes]:
    """Yield what a file's edits of white space do, and where."""
    for block in blocks_of(pair, Vocabulary(), raw=True):
        yield repr(_place(block)).encode()
    for hunk in pair.hunks:
        yield _as_written(hunk)


def _place(block: Block) -> object:
    """Return where a block stands: equal only for blocks that section 8 puts at one place.

    That is between the same two lines of a function; where no function is known, all lines around
    it count, and where these have no word its line number does.
    """
    if block.heading and block.function and count_words("\n".join(block.beside)):
        nearest: object = [line.strip(WHITE) for line in block.beside]
    elif any(map(count_words, block.around)):
        nearest = block.around
    else:
        nearest = block.around, block.line
    return block.heading, block.function, nearest


def _without_white(lines: Sequence[str], is_free: bool) -> str:
    """Return lines without the white space that means nothing, as far as they can tell."""
    bare = [line.strip(WHITE) for line in lines]
    if not is_free:
        return "\n".join(bare)
    # All lines at once, those that tell of white space apart: a substitution costs, not its length.
    telling, others = [], []
    for number, line in enumerate(bare):
        if _TELLS.search(line):
            telling.append(f"{number} {line}")
        else:
            others.append(line)
    squeezed = _BESIDE_A_SIGN.sub("", _RUN.sub(" ", "\n".join(others)))
    return "\n".join([squeezed, *telling])


def _steps(above: str, lines: Sequence[str], below: str) -> object:
    """Return how the indentation changes from line to line, and which characters it is made of."""
    inside = _INDENTATION.findall("\n".join(lines)) if lines else []
    around = [_INDENTATION.findall(line) for line in (above, below)]
    steps: list[object] = []
    last = around[0][0]
    for own in (*inside, *(around[1] if below else ())):
        if own.startswith(last):
            steps.append(own[len(last) :])
        elif last.startswith(own):
            steps.append(len(last) - len(own))
        else:
            steps.append((last, own))
        last = own
    return steps, sorted({*"".join(inside)})


def _may_leave_a_string_open(text: bytes) -> bool:
    """Whether a string may begin or end on a line of a hunk that does not hold the rest of it."""
    if _OPENS.search(text):
        return True
    if b'"' not in text and b"'" not in text:
        return False
    return any(line.count(b'"') % 2 or line.count(b"'") % 2 for line in text.split(b"\n"))


def _as_written(hunk: Hunk) -> bytes:
    r"""Return the changed lines of a hunk, and whether the last ones have no line end.

    ``\r\n`` is a line end.
    """
    lines = hunk.text.split(b"\n")
    changed = b"".join([line + b"\n" for line in lines if line[:1] in (b"+", b"-")])
    if lines[-1][:1] in (b"+", b"-"):
        # A backslash begins no line of a hunk.
        changed += b"\\-" * hunk.old_open + b"\\+" * hunk.new_open
    return changed.replace(b"\r\n", b"\n")


def patch_id(patch: Patch) -> str:
    """Return a name that equal patches share: a SHA-1 over files in the order of their paths.

    Like `git patch-id --stable` it sees names, context and changed lines without their white
    space, and neither line numbers nor headings nor the order of files. Unlike it, it sees header
    facts, gives every patch a name, and keeps white space where nothing else changes.
    """
    whole = hashlib.sha1(usedforsecurity=False)
    for pair in sorted(patch.files, key=lambda pair: (pair.path, pair.old or "")):
        names = "\0".join((pair.old or "", pair.new or "", *facts_of(pair)))
        whole.update(names.encode("utf-8", "surrogatepass") + b"\0\0")
        text = b"\n".join(hunk.text for hunk in pair.hunks if hunk.text)
        bare = text.translate(None, BLANKS)
        whole.update((text if _is_white_space_only(text, bare) else bare) + b"\0\0")
    return whole.hexdigest()


def text_id(patch: Patch) -> str:
    r"""Return a name that patches of equal texts share: a SHA-1 over all that was read (guard 1).

    Unlike a patch-id it sees line numbers, white space and the order of files; ``\r\n`` is a line
    end. The mail around a patch is not part of its text.
    """
    whole = hashlib.sha1(usedforsecurity=False)
    for pair in patch.files:
        whole.update(repr(replace(pair, hunks=())).encode())
        for hunk in pair.hunks:
            text = (hunk.text + b"\n").replace(b"\r\n", b"\n")
            whole.update(repr(replace(hunk, text=text, line=0)).encode())
    return whole.hexdigest()


def _is_white_space_only(text: bytes, bare: bytes) -> bool:
    """Whether the two images differ only in white space, given `bare`, the text without any."""
    after = b"\n" + text
    if after.count(b"\n+") != after.count(b"\n-"):
        return False
    images: tuple[list[bytes], list[bytes]] = ([], [])
    for line, rest in zip(text.split(b"\n"), bare.split(b"\n"), strict=True):
        if line[:1] != b"+":
            images[0].append(rest[1:] if line[:1] == b"-" else rest)
        if line[:1] != b"-":
            images[1].append(rest[1:] if line[:1] == b"+" else rest)
    return images[0] == images[1]
