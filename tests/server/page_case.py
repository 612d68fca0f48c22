r"""One page case: what a command is given, and every table and page that it makes of that.

An archive of `tests/cases/pages/` has these sections:

    about                   what the case shows, in a sentence; first
    origin PATH             a file of the target; and
    candidate NAME PATH     what a candidate has in its place: a file of the origin that is named
                            for no candidate stays as it is
    without NAME PATH       a file that a candidate deletes
    facts                   JSON: by the name of a candidate more of its fields, and under "" those
                            of all candidates, `intent`, `task`, and `verdicts`
    file PATH               a file in the folder where commands run
    expect [WIDTH] PAGE ..  a page of the candidates, as `PAGES` has them, with its options
    expect [WIDTH] excise ..  what a command prints there, then its errors and its exit code

With a WIDTH, a terminal has so many columns. Texts are written with Python's escapes. Whatever an
archive expects, no result holds a character that a terminal obeys or that nobody sees, no line is
wider than its terminal, HTML is well formed, and an answer to an agent fits into its budget.
"""

import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from rich.cells import cell_len
from rich.console import Console, RenderableType
from tests import archive
from tests.server.html_seen import check_page
from tests.server.markdown import ACTIVE, kinds

from excise_server.candidates.worktrees import Review, compare_candidates
from excise_server.cli import main
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import Rejected
from excise_server.mcp import pages as agents
from excise_server.report import tables
from excise_server.report.blocks import markdown, terminal
from excise_server.report.hunk_page import hunk_blocks
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.report.overview import WAY, candidates_markdown, overview_blocks, review_page
from excise_server.report.page import Page
from excise_server.report.review import candidates_document, chosen_hunks, review_document
from excise_server.review.candidate import Candidate, Landed, digest_of, marked_identical
from excise_server.review.verdicts import Verdict
from excise_server.sources.candidates import Candidates
from excise_server.wire.documents import ReviewDocument, json_text, plain

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
COLOURS = re.compile(r"\x1b\[[\d;]*m")
VERSION = re.compile(r"(?<=\w)@\d+\.[\d.]*\d")


class CaseError(Exception):
    """An archive that is not a case, with the reason."""


def results(path: Path, folder: Path) -> dict[str, str]:
    """Return what an archive expects, as it is now, by the names of its sections."""
    sections = archive.read(path)
    if next(iter(sections)) != "about" or not sections["about"].strip():
        raise CaseError("the first section must be `about`")
    texts = {n: body if n == "facts" else _unescaped(body) for n, body in sections.items()}
    expected = [name.removeprefix("expect ") for name in sections if name.startswith("expect ")]
    for name in sections:
        if not re.match(r"about$|facts$|(origin|candidate \S+|without \S+|file|expect) \S", name):
            raise CaseError(f"unknown section: {name}")
    if not expected:
        raise CaseError("nothing is expected")
    for name, text in texts.items():
        if name.startswith("file "):
            (folder / name[5:]).parent.mkdir(parents=True, exist_ok=True)
            (folder / name[5:]).write_bytes(text.encode("utf-8", "surrogateescape"))
    return {name: _result(name, texts, folder) for name in expected}


_ESCAPE = re.compile(r"\\(?:\n|[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: m[0].encode().decode("unicode_escape"), text)


def _result(name: str, texts: dict[str, str], folder: Path) -> str:
    first, *words = shlex.split(name)
    width = int(first) if first.isdigit() else 0
    kind, *options = words if width else (first, *words)
    if kind == "excise":
        result = _ran(options, width, folder)
    elif kind in PAGES:
        result = PAGES[kind](review_of(texts), width, options)
    else:
        raise CaseError(f"unknown page: {kind}")
    result = VERSION.sub("@N", result)
    assert not OBEYED.search(result), f"{name}: {OBEYED.search(result)!r}"
    if width:
        assert max(map(cell_len, result.split("\n"))) <= width
    return result


# --- commands ------------------------------------------------------------------------------------


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _ran(arguments: list[str], width: int, folder: Path) -> str:
    kind = _Terminal if width else io.TextIOWrapper
    out, err = (made(io.BytesIO(), encoding="utf-8") for made in (kind, io.TextIOWrapper))
    stdin = io.TextIOWrapper(io.BytesIO())
    if "<" in arguments:
        stdin = io.TextIOWrapper(io.BytesIO((folder / arguments.pop()).read_bytes()))
        arguments.remove("<")
    environment = {"COLUMNS": str(width or 80), "TERM": "xterm", "NO_COLOR": "1"}
    with (
        patch.object(sys, "stdin", stdin),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.dict("os.environ", environment),
    ):
        code = main(arguments)
    shown, said = (COLOURS.sub("", _read(stream)) for stream in (out, err))
    assert width or not re.search(r" $", shown, re.MULTILINE)
    for option in {"--html", "-o"}.intersection(arguments):
        path = folder / arguments[arguments.index(option) + 1]
        shown += _body(path.read_text("utf-8")) if path.suffix == ".html" else ""
    return f"{shown}{said}exit {code}\n" if code or said else shown


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


# --- candidates ----------------------------------------------------------------------------------


def review_of(texts: dict[str, str]) -> Review:
    facts: dict[str, dict[str, Any]] = json.loads(texts.get("facts", "{}"))
    origin = {name[7:]: body for name, body in texts.items() if name.startswith("origin ")}
    changed: dict[str, dict[str, str | None]] = {name: {} for name in facts if name}
    for name, body in texts.items():
        kind, *rest = name.split(" ", 2)
        if kind in ("candidate", "without"):
            changed.setdefault(rest[0], {})[rest[1]] = body if kind == "candidate" else None
    every = facts.get("", {})
    found = [_candidate(n, files, origin, facts.get(n, {})) for n, files in changed.items()]
    return compare_candidates(
        "/home/ada/shop",
        Candidates(
            "0123456789" * 4,
            tuple(marked_identical(found)),
            unchanged=tuple(every.get("unchanged", ())),
            landed=tuple(
                Landed(name, name.partition(":")[2], "", "landed")
                for name in every.get("landed", ())
            ),
            rejected=tuple(Rejected(*left) for left in every.get("rejected", ())),
            notes=tuple(every.get("notes", ())),
        ),
        task=every.get("task", ""),
        intent=every.get("intent", "change"),
        verdicts=[Verdict(**verdict) for verdict in every.get("verdicts", ())],
    )


def _candidate(
    name: str, files: dict[str, str | None], origin: dict[str, str], facts: dict[str, Any]
) -> Candidate:
    modes = facts.pop("modes", {})
    moved = facts.pop("moved", {})

    def side(text: str, mode: str = "100644") -> Side:
        return Side(mode, text.encode("utf-8", "surrogateescape"))

    paths = {*files, *modes}
    old = {path: side(origin[path]) for path in paths if path in origin}
    new = {
        path: side(text, modes.get(path, "100644"))
        for path in sorted(paths)
        if (text := files.get(path, origin.get(path))) is not None
    }
    for path, to in moved.items():
        old[path] = side(origin[path])
        new.setdefault(to, side(origin[path]))
    made = Candidate(
        f"branch:{name}", "", name, "c" * 40, names=(f"branch:{name}",), label=name,
        base="b" * 40, old=old, new=new, digest=digest_of(old, new),
    )  # fmt: skip
    return replace(made, **{
        key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()
    })  # fmt: skip


def _document(review: Review) -> ReviewDocument:
    """Return the document as it comes back where it is kept, which is the same."""
    document = review_document(review)
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(document), type=ReviewDocument)
    assert kept == document
    assert json_text(kept) == json_text(document)
    return kept


def printed(lines: Callable[[Console], Iterator[RenderableType]], width: int) -> str:
    out = Console(
        file=io.StringIO(), force_terminal=bool(width), width=width or tables.UNWRAPPED,
        no_color=True, markup=False, highlight=False, emoji=False, soft_wrap=not width,
    )  # fmt: skip
    for line in lines(out):
        out.print(line)
    assert isinstance(out.file, io.StringIO)
    shown = COLOURS.sub("", out.file.getvalue())
    return "\n".join(line.rstrip(" ") for line in shown.split("\n"))


def _paged(review: Review, width: int, options: list[str]) -> str:
    """Show the page for deciding, or all of it if `verbose`."""
    page = Page(_document(review), verbose="verbose" in options)
    return printed(partial(terminal, overview_blocks(page)), width)


def _reviewed(review: Review, width: int, options: list[str]) -> str:
    """Show the hunks: as text, or `markdown`; `against=ID`, `verbose`, `path=NAME`."""
    chosen = dict(option.partition("=")[::2] for option in options)
    document = _document(review)
    if "path" in chosen:
        document = chosen_hunks(document, [chosen["path"]])
    page, against = Page(document, verbose="verbose" in chosen), chosen.get("against", "")
    if "markdown" in chosen:
        most = sys.maxsize if page.verbose else LONGEST_PAGE
        return _inert(markdown(hunk_blocks(page, against), most, WAY))
    blocks = [*hunk_blocks(page, against, is_named=False)][bool(document.tasks) :]
    if not width:
        return tables.plain_text(partial(terminal, blocks))
    return printed(partial(terminal, blocks), width)


def _as_html(review: Review, width: int, options: list[str]) -> str:
    """Return the page with its hunks: `against=ID`, `verbose`."""
    chosen = dict(option.partition("=")[::2] for option in options)
    page = Page(_document(review), verbose="verbose" in chosen)
    return _body(review_page(page, chosen.get("against", "")))


def _listed(review: Review, width: int, options: list[str]) -> str:
    aside = [c for c in review.candidates.found if f"hidden={c.label}" in options]
    document = candidates_document(
        review, aside, {c.id: "hidden" for c in aside}, bases={}, given=(), now={}, changed=()
    )
    return _inert(candidates_markdown(plain(document)))


def _inert(text: str) -> str:
    """Return a page in which a real parser finds only what we wrote: headings, names, code."""
    assert not kinds(text) & (ACTIVE - {"strong_open"})
    outside = re.sub(r"^(`{3,})\w*\n.*?\n\1$|(`+)(?!`).*?(?<!`)\2(?!`)", "", text,
                     flags=re.MULTILINE | re.DOTALL)  # fmt: skip
    assert not re.search(r"(?<![`\w.])#\d", outside), "no hunk is the number of an issue"
    return text


def _told(review: Review, width: int, options: list[str]) -> str:
    """Return what an agent is told: `candidates`, or `review` of a task; and the page."""
    kind, *numbers = options
    page = int(numbers[-1]) if numbers else 1
    document = plain(_document(review))
    if kind == "candidates":
        told: Any = agents.candidates_page(document, page)
        text = agents.overview_text(document)
        assert text == _paged(review, 0, []).rstrip("\n")[: agents.PAGE_CHARACTERS]
    else:
        told = agents.review_page(document, int(numbers[0]), (), page)
        assert told is not None
    sent = agents.sent(agents.with_hidden(told))
    assert len(sent) <= agents.PAGE_CHARACTERS
    return json.dumps(json.loads(sent), indent=1)


def _body(html: str) -> str:
    """Return the body of a page that holds what every page must, an element a line."""
    check_page(html)
    body = html[html.index("<body>") : html.index("</html>")]
    return re.sub(r"(?<!^)(?=<(?!/))", "\n", body)


PAGES: dict[str, Callable[[Review, int, list[str]], str]] = {
    "page": _paged,
    "json": lambda review, width, options: json_text(_document(review)),
    "html": _as_html,
    "review": _reviewed,
    "markdown": _listed,
    "agent": _told,
}
