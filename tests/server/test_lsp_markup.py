"""Text from revisions arrives inert in a hover: judged by a real Markdown parser.

The archives tests/cases/editor/hostile*.txt show the same over the wire.
"""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.server.markdown import ACTIVE, kinds, parsed

from excise_server.editor.findings import Code, Line, Table
from excise_server.foundation.escape import printable
from excise_server.lsp.review import as_markdown, as_plain
from excise_server.report.markdown import inert

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
AUTOLINK = re.compile(r"(?i)\b(?:[a-z][a-z0-9+.-]*:\S|www\.\S)|[\w.+-]@")


def shown(markdown: str) -> str:
    """The text of the paragraphs and cells, as somebody reads it."""
    tokens = parsed(markdown)
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
    tokens = parsed(markdown)
    assert tokens[0].type == "fence"
    assert tokens[0].content == "\n".join(lines) + "\n"
    assert len(tokens) == 4  # the fence and one paragraph


def test_plain_text_is_in_columns_and_printable():
    text = as_plain([Line("a\x1b"), Table(("one", "2"), (("x\u202e", "yy"),)), Code(("z",), "")])
    assert text == "a\\x1b\n\none      2\nx\\u202e  yy\n\n    z"
