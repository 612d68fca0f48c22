r"""Reading unified diffs: bytes in, files and hunks out, by the counts of the hunk headers.

Only the counts say where a hunk ends: a mail's signature ``-- `` looks like a deletion, a deleted
SQL comment looks like a header. Lines end at ``\n`` and nowhere else. What is odd but readable is
a warning with its line. What git refuses is an error: a hunk whose lines are not as many as its
header says, or change nothing (a diff of words), and a combined diff, whose columns mean something
else.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from excise.kernels._diff import body
from excise.patches.model import Binary, FilePair, Hunk, Patch, PatchError, Warned
from excise.text import WHITE

# No number of lines has more digits; longer ones would not even be converted.
_RANGE = rb"(\d{1,18})(?:,(\d{1,18}))?"
_HUNK = re.compile(rb"@@ -" + _RANGE + rb" \+" + _RANGE + rb" @@")
_COMBINED = (b"@@@ ", b"diff --cc ", b"diff --combined ")
_LONGEST_NAME = 4000
_REJECTED = b"\t(rejected hunks)"
_EXTENDED = (
    (b"index ", "index"),
    (b"old mode ", "old_mode"),
    (b"new mode ", "new_mode"),
    (b"new file mode ", "created"),
    (b"deleted file mode ", "deleted"),
    (b"rename from ", "rename_from"),
    (b"rename to ", "rename_to"),
    (b"copy from ", "copy_from"),
    (b"copy to ", "copy_to"),
)
"""Lines of git's extended headers, and the names of what they say."""


def parse(data: bytes, first: int = 1) -> Patch:
    r"""Read a diff, with whatever text surrounds it.

    - ``data``: a unified diff, with or without ``diff --git`` lines; also a ``.rej``.
    - ``first``: the number of its first line, for warnings.

    Returns: without files if it contains no diff.

    Raises PatchError on a combined diff, a hunk that cannot be read, and UTF-16.

    >>> found = parse(b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n one\n--- two\n-- \nsignature\n")
    >>> [(pair.path, pair.added, pair.deleted) for pair in found.files]
    [('x', 0, 1)]
    """
    if data.startswith(UTF_16):
        raise PatchError("the text is UTF-16: save it as UTF-8", first)
    return _DiffReader(data.split(b"\n"), first).read()


@dataclass(slots=True)
class _Header:
    """The header of a file, before its hunks are read."""

    old: bytes = b""
    new: bytes = b""
    git: bool = False
    end: int = 0
    """Behind the last line of git's extended header, .."""
    says_more: bool = False
    """.. and whether it has any."""
    facts: dict[str, str] = field(default_factory=dict)
    hunks: list[Hunk] = field(default_factory=list)
    binary: Binary | None = None
    created: bool = False
    deleted: bool = False
    named: bool = False
    """Whether ``---`` and ``+++`` were seen."""

    def pair(self) -> FilePair:
        """Return what the header and its hunks add up to."""
        facts = self.facts
        moved = next((kind for kind in ("rename", "copy") if f"{kind}_to" in facts), "")
        old = _text_of(self.old)
        new = old if self.new == self.old else _text_of(self.new)  # mostly one: held once
        if moved:
            old, new = facts.get(f"{moved}_from", old), facts[f"{moved}_to"]
        created = self.created or "created" in facts
        deleted = self.deleted or "deleted" in facts
        mode = facts.get("mode", "")
        return FilePair(
            old=None if created or old == "/dev/null" else old,
            new=None if deleted or new == "/dev/null" else new,
            hunks=tuple(self.hunks),
            old_mode=facts.get("old_mode") or facts.get("deleted") or mode,
            new_mode=facts.get("new_mode") or facts.get("created") or mode,
            old_blob=facts.get("old_blob", ""),
            new_blob=facts.get("new_blob", ""),
            moved=moved,
            binary=self.binary,
        )


class _DiffReader:
    """One pass over the lines, in which `at` only grows."""

    def __init__(self, lines: list[bytes], first: int) -> None:
        self.lines, self.first = lines, first
        self.at = 0
        self.files: list[FilePair] = []
        self.warnings: list[Warned] = []
        self.header: _Header | None = None

    def read(self) -> Patch:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            # Nearly all lines outside hunks are prose: one look at the first byte decides.
            if line[:1] in _STARTS:
                self.outside(line)
            else:
                self.at += 1
        self.finish()
        return Patch(tuple(self.files), tuple(self.warnings))

    def outside(self, line: bytes) -> None:
        if line.startswith(b"@@ -") and (match := _HUNK.match(line)):
            self.hunk(match)
        elif line.startswith(_COMBINED):
            raise PatchError("a combined diff (of a merge) cannot be read", self.number())
        elif line.startswith(b"diff --git "):
            self.git_header(line)
        elif line.startswith(b"--- ") and self.is_header():
            self.names(line, self.lines[self.at + 1])
            self.at += 2
        elif line.startswith(b"diff ") and line.rstrip(b"\r").endswith(_REJECTED):
            old, _, new = line.rstrip(b"\r")[5 : -len(_REJECTED)].partition(b" ")
            self.start(*_plain_names(old, new or old))
        elif (names := _binary_names(line)) is not None:
            self.binary_files(*names)
        else:
            self.at += 1

    def number(self, at: int | None = None) -> int:
        return self.first + (self.at if at is None else at)

    def warn(self, what: str) -> None:
        self.warnings.append(Warned(self.number(), what))

    # --- headers ----------------------------------------------------------------------------------

    def start(self, old: bytes, new: bytes, *, git: bool = False) -> _Header:
        self.finish()
        self.header = _Header(old, new, git)
        self.at += 1
        return self.header

    def git_header(self, line: bytes) -> None:
        header = self.start(*_git_names(line[11:]), git=True)
        begin = self.at
        while self.at < len(self.lines) and self.extended(header, self.lines[self.at]):
            self.at += 1
        header.end, header.says_more = self.at, self.at > begin
        if self.at < len(self.lines) and self.lines[self.at].startswith(b"GIT binary patch"):
            self.git_binary(header)

    @staticmethod
    def extended(header: _Header, line: bytes) -> bool:
        for start, name in _EXTENDED:
            if line.startswith(start):
                value = line[len(start) :].rstrip(b"\r")
                header.facts[name] = _text_of(_unquote(value))
                blobs, _, mode = value.partition(b" ")
                old, dots, new = blobs.partition(b"..")
                if name == "index" and dots:
                    sides = {"old_blob": old, "new_blob": new, "mode": mode}
                    header.facts |= {side: _text_of(said) for side, said in sides.items()}
                return True
        return line.startswith((b"similarity index ", b"dissimilarity index "))

    def is_header(self, at: int | None = None) -> bool:
        """Whether the line and the next two are ``---``, ``+++`` and a hunk, as git wants it."""
        at = self.at if at is None else at
        after = self.lines[at + 1 : at + 3]
        if not after or not after[0].startswith(b"+++ "):
            return False
        return len(after) == 2 and after[1].startswith(b"@@ -")

    def names(self, old_line: bytes, new_line: bytes) -> None:
        old, no_old = _header_name(old_line[4:])
        new, no_new = _header_name(new_line[4:])
        header = self.header
        if header is None or not self.belong(header, _plain_names(old, new)):
            self.finish()
            header = self.header = _Header()
        elif header.says_more and self.at != header.end:
            self.warn("the names do not follow the header of their file at once")
        header.old, header.new = _plain_names(old, new)
        header.named = True
        # A date of 1970 alone means nothing where the other side has one, too.
        header.created, header.deleted = no_old and not no_new, no_new and not no_old

    def belong(self, header: _Header, names: tuple[bytes, bytes]) -> bool:
        """Whether ``---`` and ``+++`` are those of a header, and not of the file after it.

        As git has it, they stand right behind what the header says; another name further down is
        that of another file.
        """
        if not header.git or header.named or header.hunks:
            return False
        is_next = self.at == header.end or not header.says_more
        return is_next or not {header.old, header.new}.isdisjoint(names)

    def binary_files(self, old: bytes, new: bytes) -> None:
        header = self.header
        if header is None or not header.git or header.hunks:
            header = self.start(*_plain_names(old, new))
            header.created, header.deleted = old == b"/dev/null", new == b"/dev/null"
        else:
            self.at += 1
        header.binary = Binary()

    def git_binary(self, header: _Header) -> None:
        """Take the data of a binary patch: blocks of encoded lines, each ended by a blank one."""
        begin = self.at = self.at + 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.startswith((b"literal ", b"delta ")):
                break
            self.at += 1
            while self.at < len(self.lines) and self.lines[self.at].strip():
                self.at += 1
            self.at += 1
        header.binary = Binary(b"\n".join(self.lines[begin : self.at]))

    def finish(self) -> None:
        header, self.header = self.header, None
        if header is None:
            return
        # As git has it, `diff --git` alone says nothing.
        if not (header.says_more or header.hunks or header.binary):
            return
        self.files.append(header.pair())

    # --- hunks ------------------------------------------------------------------------------------

    def hunk(self, match: re.Match[bytes]) -> None:
        if self.header is None:
            self.warn("a hunk without a file name before it")
            self.header = _Header()
        if self.header.binary == Binary():
            self.warn("text of a file that was said to be binary")
            self.header.binary = None
        old_left = 1 if match[2] is None else int(match[2])
        new_left = 1 if match[4] is None else int(match[4])
        begin = self.at
        text, self.at, old_left, new_left, old_open, new_open = body(
            self.lines, begin, old_left, new_left, self.ends_early
        )
        number = self.number(begin)
        if old_left or new_left:
            raise PatchError(f"the hunk {_short(max(old_left, new_left))}", number)
        if self.at < len(self.lines) and self.goes_on(self.lines[self.at]):
            raise PatchError("the hunk goes on beyond its count", number)
        start = int(match[1]), int(match[3])
        heading = match.string[match.end() :].strip(_WHITE)
        hunk = Hunk(*start, text, number, old_open, new_open, heading)
        if not (text.startswith(_CHANGED) or b"\n+" in text or b"\n-" in text):
            raise PatchError("the hunk changes no line", number)
        self.header.hunks.append(hunk)

    def ends_early(self, at: int, old: int, new: int) -> bool:
        """Whether a line that looks like a deletion is a header or signature after a short hunk."""
        line = self.lines[at]
        if line.startswith(b"--- ") and self.is_header(at):
            return (old, new) != (1, 1)
        after = self.lines[at + 1 : at + 2]
        signature = line.rstrip(b"\r ") == b"--" and (not after or after[0][:1] not in _KINDS)
        return signature and (old, new) != (1, 0)

    def goes_on(self, line: bytes) -> bool:
        if line.startswith(b"+"):
            return True
        return line.startswith(b"-") and not line.startswith(b"--")


def _short(missing: int) -> str:
    lines = "a line" if missing == 1 else f"{missing} lines"
    return f"ends {lines} short of its count"


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHANGED = (b"+", b"-")
_BINARY_STARTS = (b"Binary files ", b"Files ")
_STARTS = frozenset((b"d", b"-", b"@", b"B", b"F"))
_WHITE = WHITE.encode()
_KINDS = frozenset((b" ", b"+", b"-", b"\\"))


def _binary_names(line: bytes) -> tuple[bytes, bytes] | None:
    """Return both names of a line ``Binary files .. and .. differ``, cut at the last ``and``."""
    line = line.removesuffix(b"\r")
    start = next((word for word in _BINARY_STARTS if line.startswith(word)), None)
    if start is None or not line.endswith(b" differ"):
        return None
    names = line[len(start) : -len(b" differ")]
    word = b" and "
    first = max(1, len(names) - _LONGEST_NAME - len(word))
    place = names.rfind(word, first, min(_LONGEST_NAME + len(word), len(names) - 1))
    return (names[:place], names[place + len(word) :]) if place > 0 else None


# --- file names

_ESCAPE = re.compile(rb'\\([0-7]{1,3}|[abtnvfr"\\])')
_SHORT = {
    b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r",
}  # fmt: skip
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
# Tried on the end of a name only: from every one of many blanks it would be quadratic.
_DATE = re.compile(
    rb"[ \t](?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[+-]\d{4})?"
    rb"|(?:[A-Z][a-z]{2} ){2}[ \d]\d \d\d:\d\d:\d\d \d{4})$"
)
_DATE_LENGTH = 48
"""More than the longest date has, with the blank before it."""
_EPOCH = re.compile(rb"[ \t](?:1970-01-01 00|1969-12-31 \d\d):\d\d:00")
_PREFIXES = frozenset({b"a", b"b", b"i", b"w", b"c", b"o", b"1", b"2"})
_NULL = b"/dev/null"


def _unquote(name: bytes) -> bytes:
    r"""Return a file name as git means it: ``"a\303\244"`` in quotes has escapes.

    >>> _unquote(b'"t\\303\\244b\\t"') == "tä".encode() + b"b\t"
    True
    """
    match = _QUOTED.match(name)
    return _ESCAPE.sub(_unescaped, match[1]) if match else name


def _header_name(line: bytes) -> tuple[bytes, bool]:
    """Return the name behind ``---`` or ``+++``, and whether its date says that there is none.

    >>> _header_name(b"a/x.c\\t1970-01-01 00:00:00.000 +0000")
    (b'a/x.c', True)
    """
    if line.startswith(b'"'):
        return _unquote(line), False
    name, tab, date = line.partition(b"\t")
    if tab and not date.strip():  # git ends a name with blanks so: one at its end is of the name
        return name, name == _NULL
    if not tab and len(name) < 4096:
        whole = name.rstrip(b" \t")
        if match := _DATE.search(whole, max(len(whole) - _DATE_LENGTH, 0)):
            name, date = whole[: match.start()].rstrip(b" \t"), match[0]
    name = name.rstrip(b"\r ")
    return name, name == _NULL or _EPOCH.match(b" " + date.strip()) is not None


def _plain_names(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return two names without the folder that only says which side they are.

    >>> _plain_names(b"linux.orig/a/x.c", b"linux/a/x.c")
    (b'a/x.c', b'a/x.c')
    >>> _plain_names(b"src/x.c", b"src/x.c")
    (b'src/x.c', b'src/x.c')
    """
    (first, _, old_rest), (other, _, new_rest) = old.partition(b"/"), new.partition(b"/")
    old_marked = old == _NULL or (first in _PREFIXES and old_rest)
    new_marked = new == _NULL or (other in _PREFIXES and new_rest)
    marked = old_marked and new_marked
    if not marked and (old_rest != new_rest or first == other or not old_rest):
        return old, new
    return (old if old == _NULL else old_rest), (new if new == _NULL else new_rest)


def _git_names(rest: bytes) -> tuple[bytes, bytes]:
    """Return both names of a ``diff --git`` line, without their prefixes.

    A name may hold spaces: then both are the same one, and cut the line in equal halves.

    >>> _git_names(b"a/my file b/my file")
    (b'my file', b'my file')
    """
    rest = rest.rstrip(b"\r")
    if rest.startswith(b'"') and (match := _QUOTED.match(rest)):
        return _plain_names(_unquote(match[0]), _unquote(rest[match.end() :].lstrip()))
    if rest.endswith(b'"') and (place := rest.find(b' "')) >= 0:
        return _plain_names(rest[:place], _unquote(rest[place + 1 :]))
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if rest[half : half + 1] == b" " and old.partition(b"/")[2] == new.partition(b"/")[2]:
        return _plain_names(old, new)
    if (place := rest.find(b" b/")) >= 0:
        return _plain_names(rest[:place], rest[place + 1 :])
    old, _, new = rest.partition(b" ")
    return _plain_names(old, new or old)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if code.isdigit() else _SHORT.get(code, code)


def _text_of(name: bytes) -> str:
    """Decode a path, with surrogates for undecodable bytes."""
    return name.decode("utf-8", "surrogateescape")
