"""What shows texts of others: HTML, Markdown, terminals."""

from html.parser import HTMLParser
from random import Random

from tests.fuzz.targets.base import Target, nasty
from tests.server.markdown import ACTIVE, kinds

from excise_server.editor.findings import Code, Line, Table
from excise_server.foundation.escape import printable, source_text
from excise_server.lsp.review import as_markdown
from excise_server.report.html_page import element, source
from excise_server.report.markdown import inert


def text(choice: Random) -> bytes:
    return nasty(choice, 60).encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


class _Page(HTMLParser):
    """What a parser of HTML makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list]] = []
        self.text: list[str] = []
        self.odd: list[str] = []
        self.handle_comment = self.handle_decl = self.handle_pi = self.unknown_decl = (
            self.odd.append
        )
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))

    def handle_data(self, data):
        self.text.append(data)


def check_html(data: bytes) -> None:
    shown = decoded(data)
    page = _Page(element("p", shown, element("b", source(shown)), title=shown))
    assert page.odd == [], "a comment or a declaration"
    assert page.tags == [("p", [("title", printable(shown))]), ("b", [])], "another element"
    rows = "\t".join(map(printable, shown.split("\t")))
    assert "".join(page.text) == printable(shown) + rows, "another text"


def check_terminal(data: bytes) -> None:
    shown = decoded(data)
    line, lines = printable(shown), source_text(shown)
    assert line.isprintable(), "something that a terminal obeys"
    assert all(each.isprintable() for each in lines.split("\n")), "something that a terminal obeys"
    assert lines.count("\n") == shown.count("\n"), "another number of lines"


def check_markdown(data: bytes) -> None:
    shown = decoded(data)
    lines = tuple(map(printable, shown.split("\n")))
    code = Code(lines, "python")
    table = Table(("a", shown), ((shown, "b"), ("c", shown)))
    for markdown in (inert(shown), as_markdown([Line(shown), code, table, Line(shown)])):
        assert not kinds(markdown) & ACTIVE, "active Markdown"


TARGETS = {
    "html": Target(text, check_html),
    "terminal": Target(text, check_terminal),
    "markdown": Target(text, check_markdown),
}
