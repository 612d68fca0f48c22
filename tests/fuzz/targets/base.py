"""What a target is: inputs from a seeded generator, and a check of one."""

import json
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, NamedTuple


class Target(NamedTuple):
    """Something that is fuzzed.

    `make` writes an input as bytes, so that any input can be kept as a file; `check` raises, dies
    or never ends if the input does what no input may.
    """

    make: Callable[[Random], bytes]
    check: Callable[[bytes], None]
    corpus: Callable[[], Iterable[bytes]] = tuple
    """Inputs that are tried before all others."""
    seconds: float = 20.0
    """CPU seconds that one input may cost, of this process or any that it waits for."""


def packed(value: Any) -> bytes:
    """Return a structured input as bytes."""
    return json.dumps(value).encode()


unpacked = json.loads

NASTY = (
    "ab\r\n\r\n \t\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029é😋"  # the first 17 are for documents
    "\0\x1b\x07\x9b[31m\ud83d\ude0b\u202e\u200b\ufeff\U000e0041<>&\"'`*_[](){}|\\~!:/.$@#-=;"
)
"""Line ends that are none, controls, halves of characters, bidirectional marks, markup."""

WORDS = (
    "<script>", "</p>", "]]>", "-->", "&lt;", "javascript:", "[x](command:y)", "![x](y)", "```",
    "~~~", "http://a.b", "www.a.b", "a@b.c", "\x1b]8;;http://x\x1b\\", "\x1b[2J", "| a | b |",
    "$$", "<!--", "&#x3c;", "onerror=", "<a href=x>", "**b**", "__b__", "1. ", "> ", "\n---\n",
    "\n\n", "    x", "%s",
)  # fmt: skip


def nasty(choice: Random, most: int = 30) -> str:
    """Return a text of characters and words that mean something to somebody."""
    pieces = [
        choice.choice(WORDS) if choice.random() < 0.2 else choice.choice(NASTY)
        for _ in range(choice.randrange(most))
    ]
    return "".join(pieces)
