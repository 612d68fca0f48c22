"""Text from revisions arrives inert in a hover: judged by a real Markdown parser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.server.raw_client import RawClient

from excise_server.explanation import Code, Line, Table
from excise_server.lsp.markup import as_markdown, as_plain, inert
from excise_server.report.escape import printable

HOSTILE = [
    "[click](command:workbench.action.terminal.new)",
    "<a href='command:x'>x</a> <img src=x onerror=alert(1)>",
    "![x](https://example.com/pixel.png)",
    "https://example.com www.example.com mailto:a@b.c a@b.c ftp://x.y HTTP://X.Y",
    "| a | b |\n| --- | --- |\n| c | d |",
    "```\n</code>\n~~~",
    "[ref]: https://example.com\n[ref]",
    "&lt;b&gt; &#60;script&#62;",
    "\x1b[31mred\x07 \u202eevil\u202c \u200b\u2066x\u2069",
    "*a* _b_ ~~c~~ `d` $e$ # f\n- g\n1. h\n> i\n***",
    "vscode://file/x file:///etc/passwd javascript:alert(1) data:text/html,x",
]
PIECE = st.sampled_from([*HOSTILE, "\\", "`", "\n", " ", "a", "www.", "://", "@", ".", "|", "~~~"])
TEXT = st.lists(PIECE, max_size=4).map("".join)
ACTIVE = {"link_open", "image", "html_inline", "html_block", "em_open", "strong_open", "s_open"}
AUTOLINK = re.compile(r"(?i)\b(?:[a-z][a-z0-9+.-]*:\S|www\.\S)|[\w.+-]@")


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def kinds(markdown: str) -> set[str]:
    tokens = parser().parse(markdown)
    return {t.type for t in tokens} | {c.type for t in tokens for c in t.children or []}


def shown(markdown: str) -> str:
    """The text of the paragraphs and cells, as somebody reads it."""
    tokens = parser().parse(markdown)
    return "\n".join(
        "".join(c.content for c in t.children) for t in tokens if t.type == "inline" and t.children
    )


@given(TEXT)
def test_a_text_means_only_itself(text: str):
    markdown = as_markdown([Line(f"x{text}x")])
    assert not kinds(markdown) & (ACTIVE | {"code_inline", "fence", "table_open"})
    assert shown(markdown) == printable(f"x{text}x")
    assert not AUTOLINK.search(inert(text))


@given(TEXT, TEXT)
def test_a_cell_means_only_itself(one: str, two: str):
    markdown = as_markdown([Table(("a", "b"), ((f"x{one}x", f"x{two}x"),))])
    assert not kinds(markdown) & (ACTIVE | {"code_inline", "fence"})
    assert shown(markdown).split("\n") == ["a", "b", printable(f"x{one}x"), printable(f"x{two}x")]


@given(st.lists(TEXT.map(printable), min_size=1, max_size=3))
def test_code_stays_in_its_fence(lines: list[str]):
    markdown = as_markdown([Code(tuple(lines), "python"), Line("end")])
    tokens = parser().parse(markdown)
    assert tokens[0].type == "fence"
    assert tokens[0].content == "\n".join(lines) + "\n"
    assert len(tokens) == 4  # the fence and one paragraph


def test_plain_text_is_in_columns_and_printable():
    text = as_plain([Line("a\x1b"), Table(("one", "2"), (("x\u202e", "yy"),)), Code(("z",), "")])
    assert text == "a\\x1b\n\none      2\nx\\u202e  yy\n\n    z"


@pytest.mark.parametrize(
    ("formats", "kind"),
    [
        (["markdown", "plaintext"], "markdown"),
        (["plaintext", "markdown"], "plaintext"),
        (None, "plaintext"),
    ],
)
def test_hostile_revisions_arrive_inert(formats: list[str] | None, kind: str):
    uri = "untitled:x"
    hover = {"contentFormat": formats} if formats else {}
    with RawClient() as client:
        client.initialize({"textDocument": {"hover": hover}})
        client.open(uri, "x\ny\n")
        hostile = {text.replace("\n", " "): f"x\n{text}\n" for text in HOSTILE}
        assert len(client.add(uri, hostile)["accepted"]) == len(HOSTILE)
        for diagnostic in client.diagnostics(uri):
            assert not set(diagnostic["message"]) & set("\x1b\x07\u202e\u200b\u2066")
        for line in (0, 1):
            params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}
            contents = client.call("textDocument/hover", params)["contents"]
            assert contents["kind"] == kind
            assert not set(contents["value"]) & set("\x1b\x07\u202e\u200b\u2066")
            if kind == "markdown":
                assert not kinds(contents["value"]) & ACTIVE
        assert client.exit() == 0
