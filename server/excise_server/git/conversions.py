"""Conversions by git in a working tree that are not edits: line ends, encodings, LFS pointers.

A file of a working tree counts as git would commit it. Only by git's own rules (``core.autocrlf``
and the attributes ``text`` and ``eol``) is another line end no edit, and by ``ident`` and
``working-tree-encoding`` another text.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.git.command import Git
from excise_server.git.trees import Sides

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:[0-9a-f]{64}\nsize \d+\n?"
)


def converted_by_git(git: Git, paths: Sequence[str]) -> frozenset[str]:
    """Return those of some files of a working tree of which git commits each CRLF as LF.

    Nothing is run: git reads its configuration and the attributes.
    """
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    out = git.run("check-attr", "-z", "--stdin", "text", "eol", stdin=names).split(b"\0")
    values = dict(zip(zip(out[::3], out[1::3], strict=False), out[2::3], strict=False))
    # Git for Windows sets it in the configuration of the system, which is not read.
    by_default = os.name == "nt" or git.run(
        "config", "--get", "core.autocrlf", status=(0, 1)
    ).strip().lower() in (b"true", b"input", b"yes", b"on", b"1")
    converted = set()
    for path in paths:
        name = os.fsencode(path)
        text = values.get((name, b"text"), b"unspecified")
        end = values.get((name, b"eol"), b"unspecified")
        if text == b"unspecified":
            text = b"set" if end in (b"lf", b"crlf") else b"auto" if by_default else b"unset"
        if text != b"unset":
            converted.add(path)
    return frozenset(converted)


_IDENT = re.compile(rb"\$Id:[^$\n]*\$")
_ENCODING = re.compile(
    r"(?i)(?:utf-?(?:16|32)|iso-?\d|windows-|cp\d|shift|sjis|euc-|gbk?|big5|koi8|latin)[\w-]*"
)
_WITH_MARK = re.compile(r"(?i)utf-?(?:16|32)(?:[lb]e-bom)?")
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


def as_committed(git: Git, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return those of some files of a working tree that git commits otherwise, as it does.

    Only the attributes ``ident`` and ``working-tree-encoding`` count here; nothing is run. A file
    that is not in its encoding stays as it is: git refuses it.
    """
    odd = {p: d for p, d in files.items() if b"$Id:" in d or not d.isascii() or d.count(b"\0")}
    if not odd:
        return {}
    names = b"".join(os.fsencode(path) + b"\0" for path in odd)
    options = ("-z", "--stdin", "ident", "working-tree-encoding")
    out = git.run("check-attr", *options, stdin=names).split(b"\0")
    values = dict(zip(zip(out[::3], out[1::3], strict=False), out[2::3], strict=False))
    committed = {}
    for path, data in odd.items():
        name, own = os.fsencode(path), data
        encoding = values.get((name, b"working-tree-encoding"), b"").decode("ascii", "replace")
        is_unicode = encoding.lower().startswith("utf")
        is_marked = data.startswith(_MARKS)
        if _ENCODING.fullmatch(encoding) and (
            not is_unicode or is_marked is bool(_WITH_MARK.fullmatch(encoding))
        ):
            with suppress(UnicodeError, LookupError):
                own = data.decode(re.sub(r"(?i)[lb]e-bom$", "", encoding)).encode()
        if values.get((name, b"ident")) == b"set":
            own = _IDENT.sub(b"$Id$", own)
        if own != data:
            committed[path] = own
    return committed


def filtered(git: Git, paths: Iterable[str]) -> list[str]:
    """Return those of some files that git does not commit as they are: by programs, or recoded."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    attributes = ("filter", "working-tree-encoding", "ident")
    out = git.run("check-attr", "-z", "--stdin", *attributes, stdin=names).split(b"\0")
    values = zip(out[::3], out[2::3], strict=False)
    odd = {path for path, value in values if value not in (b"unspecified", b"unset")}
    return [os.fsdecode(path) for path in sorted(odd)]


def without_conversions(
    sides: Sides, line_ends: Collection[str] = ()
) -> tuple[Sides, set[str], list[str]]:
    """Return a candidate's files without those that git's conversions alone made different.

    A file that git LFS checked out is the pointer that would be committed for it. Beside the files
    come the paths of those left out, and notes.

    - ``line_ends``: paths of which git would commit each CRLF as LF, unless they have CRLF already.
    """
    old, new = dict(sides.old), dict(sides.new)
    converted, pointers, dropped = [], [], set[str]()
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if (
            (before is not None and after is not None and _is_pointer(before))
            and not _is_pointer(after)
            and after.mode not in (LINK, SUBMODULE)
        ):
            oid, size = hashlib.sha256(after.data).hexdigest(), len(after.data)
            version = "version https://git-lfs.github.com/spec/v1"
            pointer = f"{version}\noid sha256:{oid}\nsize {size}\n"
            new[path] = after = Side(after.mode, pointer.encode())
        if any(side is not None and _is_pointer(side) for side in (before, after)):
            pointers.append(path)
        had_crlf = before is not None and b"\r\n" in before.data
        if path in line_ends and after is not None and after.lines is not None and not had_crlf:
            converted.append(path)
            new[path] = after = Side(after.mode, after.data.replace(b"\r\n", b"\n"))
        if before is None or after is None:
            continue
        if (before.mode, before.data) == (after.mode, after.data):
            dropped.add(path)
            del old[path], new[path]
    notes = []
    if converted:
        notes.append(f"git converts the line ends of {_names(converted)}: that is not an edit")
    if pointers := [path for path in pointers if path not in dropped]:
        notes.append(f"only the Git LFS pointer is compared of {_names(pointers)}")
    return replace(sides, old=old, new=new), dropped, notes


def _is_pointer(side: Side) -> bool:
    return side.mode not in (LINK, SUBMODULE) and bool(_POINTER.fullmatch(side.data))


def _names(paths: Sequence[str]) -> str:
    return first_few([visible(path) for path in paths])
