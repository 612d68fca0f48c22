"""What a real parser makes of the Markdown that we send."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

ACTIVE = {"link_open", "image", "html_inline", "html_block", "em_open", "strong_open", "s_open"}
"""Kinds of tokens that only a text from outside could have made."""


def parsed(markdown: str) -> list[Token]:
    """Return the tokens of a text, with the extensions that editors have."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)


def kinds(markdown: str) -> set[str]:
    """Return the kinds of tokens in a text, inside of paragraphs and cells too."""
    tokens = parsed(markdown)
    return {t.type for t in tokens} | {c.type for t in tokens for c in t.children or []}
