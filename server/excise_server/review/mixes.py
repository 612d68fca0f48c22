"""The check of a mix: what it breaks and neither its origin nor any whole candidate breaks. Pure.

Hunks are chosen one by one, but one may use what another one defines. Three things are looked at:
whether a bracket or quote is left open (`excise.broken`; in Python whether its own compiler, which
runs nothing, reads the text), whether a name is missing (Python: by pyflakes, which knows the order
of statements), and whether a member fell out of its class (Python). A mix that passes need not
work: it may run, and do what no candidate does.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple

from excise.broken import broken_by
from excise.errors import Unparsable
from excise.languages import resolve
from excise.python_facts import Module
from excise.reading import PARSER_SECONDS, ParsedTexts, Reading, is_large
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, first_few

ANYWAY_HINT = "take it all the same with --anyway"

FindingKind = Literal["syntax", "name", "member", "attribute", "import", "call"]

_Key = tuple[str, str, str, str]

_NAMES = {
    "UndefinedName": "uses {}, which nothing defines",
    "UndefinedLocal": "uses {} before it is assigned",
    "UndefinedExport": "exports {}, which nothing defines",
}
"""What pyflakes says of names that end in an error at run time. Unused names end in none."""

_FORMATS = frozenset((
    "PercentFormatExpectedMapping", "PercentFormatExpectedSequence", "PercentFormatInvalidFormat",
    "PercentFormatMissingArgument", "PercentFormatMixedPositionalAndNamed",
    "PercentFormatPositionalCountMismatch", "PercentFormatStarRequiresSequence",
    "PercentFormatUnsupportedFormatCharacter", "StringDotFormatInvalidFormat",
    "StringDotFormatMissingArgument", "StringDotFormatMixingAutomatic",
))  # fmt: skip
"""What it says of formats and their arguments that end in an error: the two may be two hunks."""

_GIVEN = ("WindowsError", "_", "display", "get_ipython")
"""Names that are there without a definition; ``_`` is gettext's."""

_BINDING = frozenset(("exec", "globals", "__builtins__"))
"""Names by whose use code can bind others that no statement shows."""

_BINDING_THERE = frozenset(("eval", "locals", "vars"))
"""Those by which it can do so at the top level only."""

_LINE = re.compile(r" in line \d+")

_CHECKER = "pyflakes"
"""The name of the second reading in the auditing events."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cannot work.

    - ``path``: the file.
    - ``line``: the line in the text that was checked, from 1.
    - ``kind``: ``syntax``, ``name``, ``member`` (of a class), ``attribute`` (of ``self``),
      ``import`` (of another file) or ``call``.
    - ``name``: the name that is missing, or the text that does not parse.
    - ``scope``: the function or class in which it is, by its qualified name; empty at the top
      level.
    - ``message``: what is wrong, as a phrase.
    - ``candidate``: the candidate that brings it, as people call it; empty where that is not known.
    """

    path: str
    line: int
    kind: FindingKind
    name: str
    scope: str
    message: str
    candidate: str = ""

    @property
    def key(self) -> _Key:
        """What makes it the same finding in another text: neither the line nor who brings it."""
        return self.kind, self.message, self.name, self.scope

    def __str__(self) -> str:
        by = f" ({self.candidate})" if self.candidate else ""
        return f"{self.path}:{self.line}: {self.message}{by}"


class BrokenMixError(SourceError):
    """The error for a mix that cannot work, with what is wrong (``findings``)."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        shown = first_few([str(finding) for finding in findings])
        hint = f"take a candidate whole, or {ANYWAY_HINT}"
        super().__init__(f"the mix is broken: {shown}", hint=hint)
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Check:
    """What a text breaks.

    - ``broken``: what neither the origin nor any whole candidate has.
    - ``inherited``: what a whole candidate has as well, and the origin has not.
    - ``said``: what was checked, as a sentence about texts without findings.
    """

    broken: tuple[Finding, ...]
    inherited: tuple[Finding, ...]
    said: str


class Mix:
    """A file, of which some texts are checked.

    - ``path``: its name, for the language and for people.
    - ``before``: what it was: the origin's text and, in an editor, what is there now.
    - ``wholes``: returns the texts of the whole candidates; called if something is wrong.
    - ``language``: as for `excise.languages.resolve`.
    """

    def __init__(
        self,
        path: str,
        before: Sequence[str],
        wholes: Callable[[], Iterable[str]],
        language: str | None = None,
    ) -> None:
        self._path, self._before, self._wholes = path, before, wholes
        origin = before[0] if before else ""
        self._grammar = resolve(language, path, origin)
        self._texts = ParsedTexts()
        self._reading = Reading(self._grammar, timeout=PARSER_SECONDS, path=path)
        self._module = cache(_module)

    def check(self, text: str) -> Check:
        """Say what a normalised text breaks.

        Whatever no parser can tell is not claimed: a text that is too large or too deep, and names
        in Python where the origin is none that the running interpreter reads.
        """
        if self._grammar is None or is_large(text):
            return Check((), (), f"not checked: {'too large' if self._grammar else 'no grammar'}")
        reading = self._read(text)
        said = "parses, and no name is missing"
        not_checked = f"parses; not checked: names ({self._grammar})"
        if not reading.has_names:
            said = not_checked
        if not reading.is_parsed:
            said = f"not checked: {self._grammar}"
        new = _beyond(reading.findings, (known.findings for known in self._of_before))
        has_names = all(known.has_names for known in self._of_before[:1])
        if any(finding.kind != "syntax" for finding in new) and not has_names:
            new = [finding for finding in new if finding.kind == "syntax"]
            said = not_checked
        broken = _beyond(new, (known.findings for known in self._of_wholes)) if new else []
        # An attribute that a whole candidate reads without defining it is set in another way.
        inherited = [f for f in new if f not in broken and f.kind != "attribute"]
        return Check(tuple(broken), tuple(inherited), said)

    @cached_property
    def _origin(self) -> Module | None:
        """The text that lost its members, if Python reads it."""
        try:
            is_python = self._before and self._grammar == "python"
            return self._module(self._before[0]) if is_python else None
        except (SyntaxError, Unparsable):
            return None

    @cached_property
    def _of_before(self) -> list[_CheckedText]:
        return [self._read(text) for text in self._before]

    @cached_property
    def _of_wholes(self) -> list[_CheckedText]:
        return [self._read(text) for text in dict.fromkeys(self._wholes())]

    def _read(self, text: str) -> _CheckedText:
        if self._grammar == "python" and (reading := self._read_python(text)) is not None:
            return reading
        origin = self._before[0] if self._before else ""
        try:
            self._texts.tree(text, self._reading)
        except (Unparsable, LookupError):
            return _CheckedText((), is_parsed=False, has_names=False)
        broken, _ = broken_by(origin, text, self._reading, self._texts)
        findings = [
            Finding(self._path, each.line, "syntax", "", "", _LINE.sub("", each.message))
            for each in broken
            if each.kind == "syntax"
        ]
        return _CheckedText(tuple(findings), is_parsed=True, has_names=False)

    def _read_python(self, text: str) -> _CheckedText | None:
        """Read Python, or None if Python's own parser does not read it, or not the origin."""
        try:
            module = self._module(text)
            findings = list(self._named(module, text))
        except Unparsable:
            return None
        except SyntaxError as error:
            if self._origin is None:
                return None
            lines = text.split("\n")
            line = min(max(error.lineno or 1, 1), len(lines))
            what, message = printable(lines[line - 1].strip()[:60]), printable(str(error.msg))
            message = f"is not Python ({message})"
            finding = Finding(self._path, line, "syntax", what, "", message)
            return _CheckedText((finding,), is_parsed=True, has_names=False)
        if self._origin is not None:
            findings += [
                Finding(self._path, m.line, "member", m.name, m.owner, m.error)
                for m in module.lost_members(self._origin)
            ]
        findings += [
            Finding(self._path, line, "attribute", printable(name), printable(owner),
                    f"reads self.{printable(name)}, which nothing defines")
            for owner, name, line in module.unprovided
        ]  # fmt: skip
        return _CheckedText(tuple(findings), is_parsed=True, has_names=True)

    def _named(self, module: Module, text: str) -> Iterator[Finding]:
        """Yield the names that are missing.

        Raises SyntaxError if Python's compiler refuses what its parser reads, as a `return` outside
        of functions. Raises excise.errors.Unparsable if the tree is too deep, or the checker fails.
        """
        tree = ast.Module(module.body, [])
        sys.audit("excise.parse", _CHECKER, text.encode("utf-8", "surrogatepass"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(tree, "<mix>", "exec", dont_inherit=True)
            from pyflakes.checker import Checker

            # What ends in an error at run time, in the order of the text.
            wanted = _NAMES.keys() | _FORMATS
            found = Checker(tree, builtins=_GIVEN, withDoctest=False).messages
            chosen = [message for message in found if type(message).__name__ in wanted]
            messages = sorted(chosen, key=lambda message: (message.lineno, message.col))
            places = _places(tree) if messages else None
        except SyntaxError:
            raise
        except Exception as error:  # noqa: BLE001 a checker that fails has told nothing
            raise Unparsable(f"{_CHECKER} gives up: {error!r}") from None
        finally:
            sys.audit("excise.parsed", _CHECKER)
        if places is None:
            return
        is_stub = self._path.endswith(".pyi")  # where the order of statements does not count
        for message in messages:
            kind, place = type(message).__name__, (message.lineno, message.col)
            if kind in _FORMATS:
                name, scope = "", places.scopes.get(place)
                said = printable(str(message.message % message.message_args))
                phrase = f"has a format that fails: {said}"
            else:
                name = str(message.message_args[0])
                scope = "" if kind == "UndefinedExport" else places.names.get(place)
                phrase = _NAMES[kind].format(printable(name))
                if places.binds_unseen or (is_stub and name in module.bound):
                    continue
            if scope is not None:
                yield Finding(self._path, message.lineno, "name", name, scope, phrase)


class _CheckedText(NamedTuple):
    """What was found in a text, whether it was parsed, and whether names were looked at."""

    findings: tuple[Finding, ...]
    is_parsed: bool
    has_names: bool


def _module(text: str) -> Module:
    return Module.of(text.removeprefix("\ufeff"))


def _beyond(findings: Iterable[Finding], known: Iterable[Iterable[Finding]]) -> list[Finding]:
    """Return the findings that none of some texts has as often.

    A name that is missing is so however often it is used, but the same two characters can break
    the syntax in several places.
    """
    most, seen = Counter[_Key](), Counter[_Key]()
    for of_text in known:
        most |= Counter(finding.key for finding in of_text)
    new = []
    for finding in findings:
        seen[finding.key] += 1
        is_known = seen[finding.key] <= most[finding.key]
        if finding.kind != "syntax":
            is_known = finding.key in most or seen[finding.key] > 1
        if not is_known:
            new.append(finding)
    return new


@dataclass(slots=True)
class _Places:
    """The scopes of a tree, by position: of variables that are read as code runs, and of all else.

    Strings in which annotations stand, and annotations that are never evaluated, have no names.
    """

    names: dict[tuple[int, int], str]
    scopes: dict[tuple[int, int], str]
    binds_unseen: bool = False


def _places(tree: ast.Module) -> _Places:
    """Find the qualified names of the functions and classes around each expression, iteratively."""
    places = _Places({}, {})
    postponed = sys.version_info >= (3, 14) or any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.Name):
            places.names[node.lineno, node.col_offset] = scope
            if node.id in _BINDING or (not scope and node.id in _BINDING_THERE):
                places.binds_unseen = True
        elif isinstance(node, ast.expr):
            places.scopes[node.lineno, node.col_offset] = scope
        within = scope
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            within = f"{scope}.{node.name}" if scope else node.name
        for name, value in ast.iter_fields(node):
            if postponed and name in ("annotation", "returns"):
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [(child, within) for child in children if isinstance(child, ast.AST)]
    return places


def edit_of_line(edits: Iterable[tuple[int, int, int]], line: int) -> int | None:
    """Return the index of the edit that wrote a line (from 1) of the new text, or None.

    The edits are (from, to, number of new lines), disjoint and in their order.
    """
    shift = 0
    for index, (lo, hi, count) in enumerate(edits):
        if lo + shift < line <= lo + shift + count:
            return index
        shift += count - (hi - lo)
    return None
