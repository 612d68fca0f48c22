r"""What an edit takes away from other edits: names that it removes and another one begins to use.

Two edits whose lines merge may still break each other: one renames a method, and the other one
begins to call it. Names are read by scope, in any grammar (`excise.bindings`):

>>> reader = NameReader()
>>> a = reader.edit([EditedFile("s.c", "int put(int x) { return x; }\n", "int add(int x);\n")])
>>> b = reader.edit([EditedFile("t.c", "int f;\n", "int f(void) { return put(1); }\n")])
>>> [*a.breaks(b)]
[Broken(path='t.c', line=1, name='put')]

Which module a name is from is not known here: a use counts if the text does not bind the name, and
if no file of the edits does so after them. What many things have (``.get``) is never said to be
missing. Names of Python's modules are looked at in one file only: its imports say more.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

from excise import languages
from excise.bindings import TextNames
from excise.errors import Unparsable
from excise.preparation import Readings
from excise.reading import PARSER_SECONDS, Reading

_COMMON = frozenset(
    name
    for kind in (str, bytearray, list, dict, set, tuple, int, float, object, type, BaseException)
    for name in dir(kind)
) | frozenset(
    ("close", "filter", "flush", "forEach", "length", "map", "match", "name", "open", "path",
     "push", "read", "run", "search", "seek", "send", "slice", "start", "stop", "test", "then",
     "value", "write")
)  # fmt: skip
"""Members of so many things that a name does not tell whose it is."""

_FAMILIES = {"cpp": "c", "tsx": "javascript", "typescript": "javascript"}
"""Grammars of one program, as one of them."""

_OVERLOADED = frozenset(("java", "csharp", "c", "kotlin", "swift", "scala", "dart", "javascript"))
"""Families in which a scope may define a name twice."""

_OPEN = {
    "python": re.compile(
        r"import \*|\bglobals\(|\bmodules\[__name__|^(?: {4})?(?:exec|setattr)\((?!self\b)"
        r"|^\S.*\b(?:locals|vars)\(\)|^def __getattr__",
        re.MULTILINE,
    ),
    "javascript": re.compile(r"export \*"),
    "c": re.compile("##"),
}
"""By family, what gives a text names that nobody sees."""

_RELATIVE = re.compile(r"""['"](\.[^'"\n]*)['"]""")
"""What a module of JavaScript imports by its place."""

_STATIC = re.compile(r"\bstatic\b([^;{}=]*)")
"""What a text of C keeps to itself."""

_EXPORTED = re.compile(
    r"\bexports?\b[\s.=]*(?:(?:type|default|const|let|var)\b\s*)*(\{[^}]*|[^;=({]*)"
)
"""What a text of JavaScript gives to others, and some words around."""

_WORD = re.compile(r"\w+")

_FUNCTION = re.compile(r"^[a-zA-Z_][\w \t*]{0,80}?\b(\w{1,80})\([^;{}]{0,800}\)\n?\{", re.MULTILINE)
"""A function of C, as most people write it, within limits that keep the search short."""

_OPEN_CLASS = re.compile(r"\b(?:setattr|__getattr__)\b")
"""What gives a class of Python such members."""

_MOST = 400_000
"""Characters above which a text is not read: no person's file."""


class EditedFile(NamedTuple):
    """A file before and after an edit, as normalised texts: empty where there is none."""

    path: str
    before: str
    after: str
    new_path: str = ""


class Broken(NamedTuple):
    """A use, in a line from 1, of a name that another edit takes away."""

    path: str
    line: int
    name: str


class _FileNames(NamedTuple):
    """A text and its names, in the family of languages that can use them."""

    text: str
    family: str
    names: TextNames
    is_broken: bool = False


class _Taken(NamedTuple):
    """A name that an edit takes away."""

    path: str
    name: str
    is_member: bool
    family: str
    is_hidden: bool


class _NewUse(NamedTuple):
    """A name that an edit uses more often than before, and the place of a new use, in a text."""

    path: str
    line: int
    is_member: bool
    family: str
    text: str


@dataclass(frozen=True, slots=True)
class NamedEdit:
    """An edit of some files, by names.

    - ``taken``: what it takes away.
    - ``used``: by name, what it newly uses.
    - ``provided``: by name that it binds more often than the origin, the files in which it does: it
      may bring what it uses.
    - ``added``: what it defines and the origin does not, by path.
    """

    taken: tuple[_Taken, ...]
    used: dict[str, list[_NewUse]]
    provided: dict[str, set[str]]
    added: dict[str, frozenset[str]]

    @property
    def taken_names(self) -> frozenset[str]:
        """The last parts of names that it takes away: only who uses one of them can break."""
        return frozenset(_last(taken.name) for taken in self.taken)

    def breaks(self, other: NamedEdit) -> Iterator[Broken]:
        """Yield what another edit newly uses and this one takes away, each name once a file."""
        for taken in self.taken:
            name = _last(taken.name)
            paths = other.provided.get(name, ())
            for new in other.used.get(name, ()):
                # A module of JavaScript has what it imports, whatever others define.
                if paths and (taken.path in paths or not _imports(new, taken.path)):
                    continue
                if _is_broken(taken, new):
                    yield Broken(new.path, new.line, taken.name)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_broken(taken: _Taken, new: _NewUse) -> bool:
    if taken.family != new.family or (taken.is_hidden and taken.path != new.path):
        return False
    if taken.is_member or taken.path == new.path or taken.family == "python":
        return taken.is_member is new.is_member and (taken.is_member or taken.path == new.path)
    if taken.family == "javascript":  # whose modules have to be imported
        stem = re.escape(posixpath.basename(_module(taken.path)))
        by_name = rf"""['"](?!\.)(?:[^'"\n]*/)?{stem}(?:\.[cm]?[jt]sx?)?['"]"""
        return _imports(new, taken.path) or bool(re.search(by_name, new.text))
    return taken.family == "go" or not new.is_member


def _imports(new: _NewUse, path: str) -> bool:
    """Whether a module of JavaScript imports a file by its place, or the index beside it."""
    folder = posixpath.dirname(new.path)
    wanted = {_module(path), posixpath.dirname(path)}
    return new.family == "javascript" and any(
        _module(posixpath.normpath(posixpath.join(folder, source))) in wanted
        for source in _RELATIVE.findall(new.text)
    )


def _module(path: str) -> str:
    """Return a path without an extension of JavaScript and without ``index``."""
    return re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", path).removesuffix("/index")


class NameReader:
    """Reads the names of files, those before an edit once."""

    def __init__(self, readings: Readings | None = None) -> None:
        self._readings = Readings() if readings is None else readings
        self._known: dict[tuple[str, str], _FileNames | None] = {}

    def edit(self, files: Iterable[EditedFile]) -> NamedEdit:
        """Read an edit: its files of code. Those that nobody can read take and use nothing."""
        every = [
            (file, before, after)
            for file in files
            if (before := self._before(file)) is not None
            and (after := self._names(file, file.after)) is not None
        ]
        more, provided = Counter[str](), defaultdict[str, set[str]](set)
        for file, before, after in every:
            own = Counter(after.names.bound)
            own.subtract(before.names.bound)
            more.update(own)
            for name, times in own.items():
                if times > 0:
                    provided[name].add(file.path)
        given = {name for _, _, after in every for name in after.names.bound}
        taken: list[_Taken] = []
        used: dict[str, list[_NewUse]] = {}
        added = {}
        for file, before, after in every:
            taken += _taken(file.path, before, after, given)
            for name, new in _new_uses(file, before, after):
                used.setdefault(name, []).append(new)
            new_names = after.names.defined.keys() - before.names.defined
            if new_names and before.family not in _OVERLOADED:
                added[file.path] = frozenset(new_names)
        given_more = {name: paths for name, paths in provided.items() if more[name] > 0}
        return NamedEdit(tuple(taken), used, given_more, added)

    def _before(self, file: EditedFile) -> _FileNames | None:
        key = file.path, file.before
        if key not in self._known:
            self._known[key] = self._names(file, file.before)
        return self._known[key]

    def _names(self, file: EditedFile, text: str) -> _FileNames | None:
        grammar = languages.resolve(None, file.path, file.before)
        if grammar is None or len(text) > _MOST:
            return None
        reading = Reading(grammar, timeout=PARSER_SECONDS, path=file.path)
        return self._read(text, reading, _FAMILIES.get(grammar, grammar))

    def _read(self, text: str, reading: Reading, family: str) -> _FileNames | None:
        if not text:
            return _FileNames(text, family, TextNames({}, Counter(), {}))
        try:
            tree = self._readings.texts.tree(text, reading)
        except (Unparsable, LookupError):
            return None
        is_broken = tree.root_node.has_error
        if is_broken and family not in ("javascript", "c"):
            return None
        names = TextNames.of(tree, text, self._readings.name_parts[reading.grammar or ""])
        if is_broken:
            # Macros, and syntax newer than the grammar, hide what a file defines, but not what it
            # uses; nor a function of C that starts its line.
            functions = set(_FUNCTION.findall(text)) if family == "c" else set[str]()
            defined = {name: False for name in names.defined if name in functions}
            names.bound.update(functions - names.bound.keys())
            names = names._replace(defined=defined)
        return _FileNames(text, family, names, is_broken)


def _taken(path: str, before: _FileNames, after: _FileNames, given: Set[str]) -> Iterator[_Taken]:
    """Yield what a text defines, and no text after the edit does, as far as that can be said."""
    family = before.family
    lost = [
        (name, member) for name, member in before.names.defined.items() if _last(name) not in given
    ]
    if not lost or (family in _OPEN and _OPEN[family].search(after.text)):
        return
    has_any_member = bool(_OPEN_CLASS.search(after.text))
    words = set(_WORD.findall(after.text)) if before.is_broken else set[str]()
    hidden = _hidden(before)
    for name, is_member in lost:
        last = _last(name)
        if last not in words and not (is_member and (last in _COMMON or has_any_member)):
            yield _Taken(path, name, is_member, family, not is_member and last in hidden)


def _new_uses(
    file: EditedFile, before: _FileNames, after: _FileNames
) -> Iterator[tuple[str, _NewUse]]:
    """Yield the new uses, on a line that the origin lacks if there is one."""
    old_lines, lines = set(before.text.split("\n")), after.text.split("\n")
    for (name, is_member), places in after.names.uses.items():
        if len(places) > len(before.names.uses.get((name, is_member), ())):
            new = [line for line in places if lines[line] not in old_lines]
            line = (new or places)[0] + 1
            yield name, _NewUse(
                file.new_path or file.path, line, is_member, after.family, after.text
            )  # fmt: skip


def _hidden(file: _FileNames) -> set[str]:
    """Return the names that a file has for itself alone, and other words."""
    pattern = {"c": _STATIC, "javascript": _EXPORTED}.get(file.family)
    parts = pattern.findall(file.text) if pattern is not None else ()
    words = {word for part in parts for word in _WORD.findall(part)}
    return {*map(_last, file.names.defined)} - words if file.family == "javascript" else words
