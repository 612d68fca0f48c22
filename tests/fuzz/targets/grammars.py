"""Every grammar of the pack: no text ends the process, keeps it for ever, or is lost."""

import functools
import itertools
from collections.abc import Iterator
from random import Random

from tests.core.fuzz_grammars import DIGITS, WIDE, openers, shapes
from tests.core.test_hazards import REPRODUCERS
from tests.fuzz.targets.base import Target, nasty, packed, unpacked

from excise import languages, syntax
from excise.errors import Unparsable
from excise_server.lsp.to_proto import clean

WHITE = str.maketrans("", "", " \t\n\v\f\r")
NEED_WIDE = sorted({grammar for grammar, text, _ in REPRODUCERS if not text.isascii()})
"""Grammars that once overran a table by a character that is far behind its end."""

SHAPES = len(list(shapes("x")))

SECONDS = 0.1
"""Of CPU time for a parser: what kills a process mostly does so at once."""

own_openers = functools.cache(openers)


def drawn(choice: Random) -> bytes:
    kind = choice.random()
    wide = 0.1 <= kind < 0.2
    grammar = choice.choice(NEED_WIDE if wide and choice.random() < 0.5 else languages.names())
    if kind < 0.1:
        text = clean(nasty(choice, 200))
    elif wide:
        text = choice.choice(("", "a\n- ", "> ")) + choice.choice(DIGITS) + choice.choice(WIDE)
    else:
        several = 1 if kind < 0.8 else choice.randrange(2, 4)
        opener = "".join(choice.choices(own_openers(grammar), k=several))
        at = choice.randrange(SHAPES)
        text = next(itertools.islice(shapes(opener), at, None))
    return packed([grammar, text.replace("\0", "\x01")])


def known() -> Iterator[bytes]:
    """Yield what has ended a process."""
    for grammar, text, _ in REPRODUCERS:
        yield packed([grammar, text])


def check(data: bytes) -> None:
    grammar, text = unpacked(data)
    try:
        tokens = syntax.tokenise(text, grammar, timeout=SECONDS)
    except Unparsable:
        return
    joined = "".join(tokens.tokens).translate(WHITE)
    assert joined == text.translate(WHITE), "text is lost"


TARGETS = {"grammars": Target(drawn, check, known, seconds=30.0)}
