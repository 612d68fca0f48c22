r"""Reading unified diffs: bytes in, files and hunks out, by the counts of the hunk headers.

Only the counts say where a hunk ends: a mail's signature ``-- `` looks like a deletion, a deleted
SQL comment looks like a header. Lines end at ``\n`` and nowhere else. What is odd but readable is
a warning with its line; a combined diff, whose columns mean something else, is an error.
"""

from __future__ import annotations

import re

from excise.kernels._diff import body
from excise.patches.errors import PatchError
from excise.patches.headers import EXTENDED, Header, pair_of, take_index, text_of
from excise.patches.model import Binary, FilePair, Hunk, Patch, Warned
from excise.patches.paths import git_names, header_name, plain_names, unquote
from excise.text import WHITE

__all__ = ["parse"]

# No number of lines has more digits; longer ones would not even be converted.
_RANGE = rb"(\d{1,18})(?:,(\d{1,18}))?"
_HUNK = re.compile(rb"@@ -" + _RANGE + rb" \+" + _RANGE + rb" @@")
_COMBINED = (b"@@@ ", b"diff --cc ", b"diff --combined ")
_LONGEST_NAME = 4000
_REJECTED = b"\t(rejected hunks)"


def parse(data: bytes, first: int = 1) -> Patch:
    r"""Read a diff, with whatever text surrounds it.

    Parameters
    ----------
    data : bytes
        A unified diff, with or without ``diff --git`` lines; also a ``.rej``.
    first : int
        The number of its first line, for warnings.

    Returns
    -------
    Patch
        Without files if there is no diff in it.

    Raises
    ------
    PatchError
        On a combined diff.

    Examples
    --------
    >>> found = parse(b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n one\n--- two\n-- \nsignature\n")
    >>> [(pair.path, pair.added, pair.deleted) for pair in found.files]
    [('x', 0, 1)]
    """
    return _Reader(data.split(b"\n"), first).read()


class _Reader:
    """One pass over the lines, in which `at` only grows."""

    def __init__(self, lines: list[bytes], first: int) -> None:
        self.lines, self.first = lines, first
        self.at = 0
        self.files: list[FilePair] = []
        self.warnings: list[Warned] = []
        self.header: Header | None = None

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
            self.start(*plain_names(old, new or old))
        elif (names := _binary_names(line)) is not None:
            self.binary_files(*names)
        else:
            self.at += 1

    def number(self, at: int | None = None) -> int:
        return self.first + (self.at if at is None else at)

    def warn(self, what: str, at: int | None = None) -> None:
        self.warnings.append(Warned(self.number(at), what))

    # --- headers ----------------------------------------------------------------------------------

    def start(self, old: bytes, new: bytes, *, git: bool = False) -> Header:
        self.finish()
        self.header = Header(old, new, self.number(), git)
        self.at += 1
        return self.header

    def git_header(self, line: bytes) -> None:
        header = self.start(*git_names(line[11:]), git=True)
        begin = self.at
        while self.at < len(self.lines) and self.extended(header, self.lines[self.at]):
            self.at += 1
        header.end, header.says_more = self.at, self.at > begin
        if self.at < len(self.lines) and self.lines[self.at].startswith(b"GIT binary patch"):
            self.git_binary(header)

    @staticmethod
    def extended(header: Header, line: bytes) -> bool:
        for start, name in EXTENDED:
            if line.startswith(start):
                value = line[len(start) :].rstrip(b"\r")
                header.facts[name] = text_of(unquote(value))
                if name == "index":
                    take_index(header, value)
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
        old, no_old = header_name(old_line[4:])
        new, no_new = header_name(new_line[4:])
        header = self.header
        if header is None or not self.belong(header, plain_names(old, new)):
            self.finish()
            header = self.header = Header(line=self.number())
        elif header.says_more and self.at != header.end:
            self.warn("the names do not follow the header of their file at once")
        header.old, header.new = plain_names(old, new)
        header.named = True
        # A date of 1970 alone means nothing where the other side has one, too.
        header.created, header.deleted = no_old and not no_new, no_new and not no_old

    def belong(self, header: Header, names: tuple[bytes, bytes]) -> bool:
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
            header = self.start(*plain_names(old, new))
            header.created, header.deleted = old == b"/dev/null", new == b"/dev/null"
        else:
            self.at += 1
        header.binary = Binary()

    def git_binary(self, header: Header) -> None:
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
        self.files.append(pair_of(header))

    # --- hunks ------------------------------------------------------------------------------------

    def hunk(self, match: re.Match[bytes]) -> None:
        if self.header is None:
            self.warn("a hunk without a file name before it")
            self.header = Header(line=self.number())
        if self.header.binary == Binary():
            self.warn("text of a file that was said to be binary")
            self.header.binary = None
        old_left = 1 if match[2] is None else int(match[2])
        new_left = 1 if match[4] is None else int(match[4])
        begin = self.at
        text, self.at, old_left, new_left, old_open, new_open = body(
            self.lines, begin, old_left, new_left, self.ends_early
        )
        damage = ""
        if old_left or new_left:
            damage = f"ends {max(old_left, new_left)} lines short of its count"
            self.warn(f"the hunk {damage}", begin)
        elif self.at < len(self.lines) and self.goes_on(self.lines[self.at]):
            damage = "goes on beyond its count"
            self.warn("lines beyond the hunk's count are left out")
        start = int(match[1]), int(match[3])
        number = self.number(begin)
        heading = match.string[match.end() :].strip(_WHITE)
        self.header.hunks.append(Hunk(*start, text, number, old_open, new_open, heading, damage))

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
