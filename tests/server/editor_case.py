r"""One editor case: what a document, its candidates and the buffer hold, and what is expected.

An archive of `tests/cases/editor/` has these sections; CONTRIBUTING ("Add an editor case") explains
them to writers:

    about                   what the case shows, in a sentence; first
    client                  optional: `name: value` lines, see `CLIENTS` and `SETTINGS`
    origin NAME             the text that the editor opens; or
    saved NAME              the same as a file of the workspace, and
    beside NAME             a file next to it
    candidate ID            a revision that the client adds
    label ID                the label of one
    buffer                  the text of the editor, not saved
    expect rejected | diagnostics | lenses | report
    expect hover LINE:COLUMN, expect actions LINE:COLUMN

Names, ids and texts are written with Python's escapes (``\r``, ``\x0c``, ``\u2028``, ``\\``; a
backslash at the end of a line: no line end), so that everything in an archive is visible.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import archive

KINDS = ("rejected", "diagnostics", "lenses", "report", "hover", "actions")
AT_A_POSITION = ("hover", "actions")

CLIENTS = ("rich", "plain")
"""The clients of `editor_session`: `rich` is the default."""

SETTINGS = {
    "granularity": str,
    "comments": str,
    "diagnostics.severity": str,
}
"""Settings of the section `excise` that an archive may name, and their types."""

LANGUAGES = {
    "c": "c",
    "js": "javascript",
    "json": "json",
    "mbox": "plaintext",
    "md": "markdown",
    "patch": "diff",
    "py": "python",
    "txt": "plaintext",
}
"""Language ids by the extension of the document."""

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that nobody sees, or that terminals obey."""

_HEADER = re.compile(r"(about|client|buffer|(?:origin|saved|beside|candidate|label|expect) (.+))")
_POSITION = re.compile(r"(\w+)(?: ([1-9]\d*):([1-9]\d*))?")
_ESCAPE = re.compile(
    r"\\(\n|[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|(\\)", re.IGNORECASE | re.DOTALL
)
_SHORT = {"\n": "", "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


class CaseError(Exception):
    """An archive that is not a case, with the reason."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `expect` section: its kind, and the position (from 0) of those that have one."""

    kind: str
    position: tuple[int, int] | None

    @property
    def name(self) -> str:
        """The section's name after `expect`."""
        if self.position is None:
            return self.kind
        line, column = self.position
        return f"{self.kind} {line + 1}:{column + 1}"


@dataclass(slots=True)
class Case:
    """An archive, read."""

    name: str
    client: str = "rich"
    settings: dict[str, Any] = field(default_factory=dict)
    document: str = ""
    text: str = ""
    saved: bool = False
    beside: dict[str, str] = field(default_factory=dict)
    candidates: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    buffer: str | None = None
    expectations: list[Expectation] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """What the editor shows."""
        return self.text if self.buffer is None else self.buffer

    @property
    def language(self) -> str:
        """The language id of the document."""
        return LANGUAGES[self.document.rpartition(".")[2]]


def read(path: Path) -> Case:
    """Read an archive.

    Raises
    ------
    CaseError
        For anything that is not exactly the format: a case that is not understood tests nothing.
    """
    case, sections = Case(path.stem), archive.read(path)
    for name, body in sections.items():
        try:
            if almost := re.search(r"^-- .*", body, re.MULTILINE):
                raise CaseError(f"almost a header: {almost[0]}")
            _take(case, name, body)
        except CaseError as error:
            raise CaseError(f"{path.name}: section {name!r}: {error}") from None
    for reason, wrong in (
        ("the first section must be `about`, and say something", not _has_about(sections)),
        ("there must be one `origin` or `saved`", not case.document),
        ("files `beside` need a `saved` document", case.beside and not case.saved),
        ("a `label` without its `candidate`", not case.labels.keys() <= case.candidates.keys()),
        ("nothing is expected", not case.expectations),
    ):
        if wrong:
            raise CaseError(f"{path.name}: {reason}")
    return case


def _has_about(sections: dict[str, str]) -> bool:
    return next(iter(sections), "") == "about" and bool(sections["about"].strip())


def _take(case: Case, header: str, body: str) -> None:
    """Put one section where it belongs."""
    if not (known := _HEADER.fullmatch(header)):
        raise CaseError("unknown section")
    kind, _, given = header.partition(" ")
    assert given == (known[2] or "")
    if kind == "expect":
        case.expectations.append(_expectation(given))
        return
    name, text = _decoded(given), _decoded(body)
    match kind:
        case "about":
            pass
        case "client":
            _take_client(case, text)
        case "origin" | "saved":
            _take_document(case, name, text)
            case.saved = kind == "saved"
        case "buffer":
            case.buffer = text
        case "label":
            case.labels[name] = text.removesuffix("\n")
        case _:
            (case.beside if kind == "beside" else case.candidates)[name] = text


def _take_document(case: Case, name: str, text: str) -> None:
    if case.document:
        raise CaseError(f"there is {case.document} already")
    if name.rpartition(".")[2] not in LANGUAGES:
        raise CaseError("no language is known by this extension: see LANGUAGES")
    case.document, case.text = name, text


def _take_client(case: Case, text: str) -> None:
    for line in text.split("\n")[:-1]:
        name, _, value = line.partition(": ")
        if name == "client" and value in CLIENTS:
            case.client = value
        elif name in SETTINGS:
            case.settings[name] = SETTINGS[name](value)
        else:
            raise CaseError(f"unknown client or setting: {line}")


def _expectation(given: str) -> Expectation:
    found = _POSITION.fullmatch(given)
    if found is None or found[1] not in KINDS:
        raise CaseError("unknown section")
    if (found[2] is not None) != (found[1] in AT_A_POSITION):
        raise CaseError("hover and actions need LINE:COLUMN, the others have none")
    position = None if found[2] is None else (int(found[2]) - 1, int(found[3]) - 1)
    return Expectation(found[1], position)


def _decoded(text: str) -> str:
    """Return what a text of an archive stands for; everything in it must be visible."""
    for character in text:
        if unicodedata.category(character) in HIDDEN and character not in "\n\t":
            raise CaseError(f"U+{ord(character):04X} is not visible: write it as an escape")
    if re.search(r"[ \t]+$", text, re.MULTILINE):
        raise CaseError(r"white space at the end of a line is not visible: write \x20 or \t")
    return _ESCAPE.sub(_meant, text)


def _meant(escape: re.Match[str]) -> str:
    if escape[2]:
        raise CaseError(r"a backslash that starts no escape: write \\")
    return _SHORT[escape[1]] if escape[1] in _SHORT else chr(int(escape[1][1:], 16))
