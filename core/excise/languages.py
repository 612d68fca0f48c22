"""The grammar of a text, by the name of its language, its path or its shebang (section 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from excise.errors import ContentError, OptionError
from excise.language_tables import FILES, GRAMMARS, INTERPRETERS

PLAIN = ("text", "plaintext", "txt")
"""Names of languages that intentionally have no grammar: their texts get lexical tokens."""

# `python3.11`, `lua5.4`, `ruby-2.7`, `php8`: the version does not name another language.
_VERSION = re.compile(r"[-.\d]+$")
# What only C++ has, comments aside, and what a header has that C reads, too.
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_CPP = re.compile(
    r"^[ \t]*(?:(?:inline\s+)?namespace\b|template\s*<|class\s+\w|(?:public|protected|private)\s*:"
    r"|using\s+\w|#\s*include\s*<[a-z_]+>)|\bstd::\w",
    re.MULTILINE,
)
_BOTH = re.compile(r"^[ \t]*#\s*if(n?def[ \t]+|[^\n]*\bdefined\b[ (]*)__cplusplus", re.MULTILINE)


def _is_cpp(text: str) -> bool:
    return not _BOTH.search(text) and _CPP.search(_COMMENT.sub("", text)) is not None


def resolve(language: str | None, path: str | None, text: str | None = None) -> str | None:
    """Return the name of the grammar that tokenises a text, or None for lexical tokens.

    - ``language``: a grammar name, LSP language id, alias or extension. If given it decides alone:
      an unknown language means lexical tokens, whatever the path says.
    - ``path``: a path with ``/`` or ``\\``; its file name (``Makefile``) or extension decides.
    - ``text``: the text, whose shebang decides if neither of the others names a grammar. A header
      ``.h`` is C++ if its text is: C knows no ``namespace``, ``template <`` or ``std::``. So is one
      that is empty as it is new, as C++ reads what C does.

    Returns: a name from `names`. Upper and lower case are the same everywhere.

    Definition, section 1 ("Languages are named by ...").

    >>> resolve("ts", None), resolve(None, "src/Makefile"), resolve(None, None, "#!/bin/sh")
    ('typescript', 'make', 'bash')
    >>> resolve("no such language", "a.py")
    >>> resolve(None, "a.h", "int a;"), resolve(None, "a.h", "namespace a {}")
    ('c', 'cpp')
    """
    if language and language.strip():
        return _by_name(language.strip().lower())
    if path and (named := _by_path(path)):
        is_header = named == "c" and path.lower().endswith(".h") and text is not None
        return "cpp" if is_header and (not text or _is_cpp(text)) else named
    line = (text or "")[:1000].removeprefix("\ufeff").replace("\r", "\n").partition("\n")[0]
    if not line.startswith("#!"):
        return None
    program, interpreters = _program(line[2:].lower().split()), _tables().interpreters
    return interpreters.get(program) or interpreters.get(_VERSION.sub("", program))


def check(language: object, path: object, *, strict: bool = True) -> None:
    """Refuse names that are not text and, if `strict`, unknown languages.

    Raises excise.errors.ContentError if one of the two is neither a string nor None. Raises
    excise.errors.OptionError on an unknown language. The message suggests the closest ones.
    """
    for name, value in (("language", language), ("path", path)):
        if not isinstance(value, str | None):
            raise ContentError(f"{name} is {type(value).__name__}; it must be a string or None")
    if not strict or not isinstance(language, str) or not (wanted := language.strip().lower()):
        return
    if wanted in PLAIN or _by_name(wanted):
        return
    from difflib import get_close_matches

    tables = _tables()
    close = get_close_matches(wanted, [*tables.grammars, *tables.aliases], n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise OptionError(
        f"language is {language!r}, which no grammar has; {hint}'text' means lexical tokens"
    )


def names() -> tuple[str, ...]:
    """Return the names of all grammars in use, sorted."""
    return tuple(sorted(set(_tables().grammars)))


@dataclass(frozen=True, slots=True)
class _Tables:
    grammars: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    extensions: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    interpreters: dict[str, str] = field(default_factory=dict)


@cache
def _tables() -> _Tables:
    tables = _Tables()
    for grammar, aliases, extensions in _rows(GRAMMARS.lower(), 3):
        tables.grammars[grammar] = grammar
        tables.aliases.update(dict.fromkeys(aliases.split(), grammar))
        tables.extensions.update(dict.fromkeys(extensions.split(), grammar))
    for grammar, files in _rows(FILES.lower(), 2):
        tables.files.update(dict.fromkeys(files.split(), grammar))
    for grammar, programs in _rows(INTERPRETERS, 2):
        tables.interpreters.update(dict.fromkeys(programs.split(), grammar))
    return tables


def _rows(table: str, columns: int) -> Iterator[list[str]]:
    for row in table.strip().split("\n"):
        cells = [cell.strip() for cell in row.split("|")]
        yield cells + [""] * (columns - len(cells))


def _by_name(name: str) -> str | None:
    tables = _tables()
    for table in (tables.grammars, tables.aliases):
        if name in table:
            return table[name]
    return tables.extensions.get(name.removeprefix("."))


def _by_path(path: str) -> str | None:
    tables = _tables()
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    stem, _, extension = name.rpartition(".")
    first_part = name[:1] + name[1:].partition(".")[0]  # a dot may begin the name
    return (
        tables.files.get(name)
        or (tables.extensions.get(extension) if stem else None)
        or tables.files.get(f"{first_part}.*")
    )


def _program(words: list[str]) -> str:
    """Return the interpreter of a shebang without its folder, looking through ``env``."""
    named = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words]
    if not named or named[0] != "env":
        return named[0] if named else ""
    # Its command follows options and assignments. ``-S`` may be joined to its text; ``-u`` and
    # ``-C`` take the next word.
    after = iter(words[1:])
    for word in after:
        for glued in ("--split-string=", "-s"):
            if word.startswith(glued) and word != glued:
                return _program([word.removeprefix(glued)])
        if word in ("-u", "--unset", "-c", "--chdir"):
            next(after, None)
        elif not word.startswith("-") and "=" not in word:
            return _program([word])
    return ""
