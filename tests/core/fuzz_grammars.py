"""Hostile shapes for every grammar: openers nested and repeated, digits before wide characters.

    python -m tests.core.fuzz_grammars STRIDE GRAMMAR..

reads every STRIDE-th text of each grammar and says before each which one: a text that ends the
process, or never ends, is the last one named. The limit of CPU time makes an end of the latter.
"""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from excise import syntax
from excise.errors import Unparsable

CASES = Path(__file__).parents[1] / "cases" / "openers.txt"

SECONDS = 0.5
"""Of CPU time for a parser; what the library cannot stop is ended by the system after a minute."""

DEPTH = 520
"""Levels: 512 columns of two bytes, or 256 of four, fill the 1,024 bytes of a scanner's state."""

OPENERS = (*CASES.read_text(encoding="utf-8").strip("\n").split("\n"), "\t", "\0")

WIDE = ("\U0001f600", "\U00100000", "\U0010ffff")
DIGITS = ("1", "12", "0x1", "1.", ".", "$", "{1", "{1..", "``", "@1")


def texts(grammar: str) -> Iterator[str]:
    """Yield the texts of a grammar: of all openers, and of all its own keywords and signs."""
    for opener in openers(grammar):
        yield from shapes(opener)
    for digits in DIGITS:
        for wide in WIDE:
            yield digits + wide
            yield f"a\n- {digits}{wide} b\n"


def openers(grammar: str) -> list[str]:
    """Return all openers, and all keywords and signs of a grammar."""
    language = syntax._grammar(grammar).language
    own = [
        language.node_kind_for_id(kind) or ""
        for kind in range(language.node_kind_count)
        if not language.node_kind_is_named(kind) and language.node_kind_is_visible(kind)
    ]
    return [each for each in dict.fromkeys((*OPENERS, *own)) if each and len(each) < 25]


def shapes(opener: str) -> Iterator[str]:
    """Yield an opener repeated, nested by indentation, and as a long delimiter."""
    yield opener
    yield f"a {opener} b\n"
    for between in ("", " ", "\n", "a ", " a\n"):
        yield (opener + between) * DEPTH
    for step in (" ", "\t"):
        yield "".join(f"{step * depth}{opener}\n" for depth in range(DEPTH // 2 + 5))
        yield "".join(f"{step * depth}a {opener} a\n" for depth in range(DEPTH // 2 + 5))
    yield f"{opener}{'A' * 1030}{opener}"
    yield f"{opener}{'A' * 300}\n{'A' * 300}"
    yield opener + "1" + WIDE[1]


def main(stride: int, grammars: list[str]) -> None:
    """Parse the texts; print each one's grammar and number, and at last what was found."""
    read = stopped = 0
    for grammar in grammars:
        for number, text in enumerate(texts(grammar)):
            if (number + len(grammar)) % stride:
                continue
            print(grammar, number, flush=True)
            soft = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 60
            resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
            read += 1
            try:
                syntax.tokenise(text, grammar, timeout=SECONDS)
            except Unparsable:
                stopped += 1
    print(f"read {read}, stopped {stopped}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
