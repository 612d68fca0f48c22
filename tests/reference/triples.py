"""Random origins and revisions, from one seeded source, so that hypothesis can shrink them too."""

from random import Random

from hypothesis import strategies as st

Tokens = list[str]

LINES = (
    "a",
    "b a",
    "a b",
    "x = a",
    "x = a + b",
    "f(a, b)",
    "if a:",
    "else:",
    "def f(a):",
    "return a",
    "pass",
    "if b: a",
    "s = ' '",
    "s = 'a b'",
    "'''",
    "f(",
    ")",
    "# a b",
    "a # b",
    "ä é",
    "a\x0cb",
    "\\",
)
INDENTS = ("", "", "", "  ", "    ", "    ", "        ", "\t")
TRAILS = ("", "", "", "", " ", "\t", "\x0c")
EDITS = (
    "insert",
    "delete",
    "delete",
    "replace",
    "copy",
    "indent",
    "trail",
    "token",
    "token",
    "join",
)


def alphabet(size: int) -> Tokens:
    """``size`` different tokens."""
    return [f"t{i}" for i in range(size)]


def sequence(rng: Random, symbols: Tokens, longest: int) -> Tokens:
    """Draw a sequence of at most ``longest`` tokens."""
    return [rng.choice(symbols) for _ in range(rng.randint(0, longest))]


def line_numbers(rng: Random, size: int) -> list[int]:
    """A line number for each of ``size`` tokens; now and then a blank line lies between two."""
    lines, line = [], rng.randint(0, 1)
    for _ in range(size):
        lines.append(line)
        line += rng.choice((0, 0, 1, 1, 2))
    return lines


def near_copy(rng: Random, origin: Tokens, symbols: Tokens, edits: int) -> Tokens:
    """A copy of the origin after ``edits`` insertions, deletions, replacements and moves."""
    copy = list(origin)
    for _ in range(edits):
        kind = rng.choice(("insert", "delete", "replace", "move"))
        at, to = rng.randint(0, len(copy)), rng.randint(0, len(copy))
        if kind == "insert":
            copy[at:at] = sequence(rng, symbols, 3)
        elif kind == "delete":
            del copy[at : at + rng.randint(1, 3)]
        elif kind == "replace":
            copy[at : at + 1] = [rng.choice(symbols)]
        else:
            taken = copy[at : at + 2]
            del copy[at : at + 2]
            copy[to:to] = taken
    return copy


def token_triple(rng: Random, longest: int = 14) -> tuple[Tokens, Tokens, Tokens]:
    """An origin and two revisions: near copies, now and then one of the other or unrelated."""
    symbols = alphabet(rng.choice((2, 3, 5, 12)))
    origin = sequence(rng, symbols, longest)
    a = near_copy(rng, origin, symbols, rng.randint(0, 3))
    source = a if rng.random() < 0.3 else origin
    b = near_copy(rng, source, symbols, rng.randint(0, 3))
    return origin, a, sequence(rng, symbols, longest) if rng.random() < 0.1 else b


def line(rng: Random, vocabulary: Tokens) -> str:
    """Draw a line without its end; blank now and then."""
    if rng.random() < 0.15:
        return rng.choice(("", "", " ", "    "))
    return rng.choice(INDENTS) + rng.choice(vocabulary) + rng.choice(TRAILS)


def edit_lines(rng: Random, lines: list[str], vocabulary: Tokens) -> None:
    """Change the lines in one way that people and models do."""
    at = rng.randint(0, len(lines))
    kind = rng.choice(EDITS)
    if kind == "insert" or at == len(lines):
        lines.insert(at, line(rng, vocabulary))
    elif kind == "delete":
        del lines[at]
    elif kind == "replace":
        lines[at] = line(rng, vocabulary)
    elif kind == "copy":
        lines.insert(rng.randint(0, len(lines)), lines[at])
    elif kind == "indent":
        lines[at] = rng.choice(INDENTS) + lines[at].lstrip()
    elif kind == "trail":
        lines[at] = lines[at].rstrip() + rng.choice(TRAILS)
    elif kind == "token":
        lines[at] = lines[at].replace(rng.choice("abx"), rng.choice(("a", "b", "y", "z + a")), 1)
    else:
        lines[at : at + 2] = [" ".join(lines[at : at + 2])]


def text(rng: Random, lines: list[str]) -> str:
    r"""Join lines, now and then with ``\r\n``, a BOM or no last line end."""
    end = "\r\n" if rng.random() < 0.1 else "\n"
    bom = "\ufeff" if rng.random() < 0.05 else ""
    return bom + end.join(lines) + (end if lines and rng.random() < 0.8 else "")


def text_triple(rng: Random) -> tuple[str, str, str]:
    """An origin of a few kinds of lines and two revisions that edit it, or one the other."""
    vocabulary = rng.sample(LINES, rng.randint(2, 8))
    origin = [line(rng, vocabulary) for _ in range(rng.randint(0, 14))]
    a = list(origin)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 3, 4, 5))):
        edit_lines(rng, a, vocabulary)
    b = list(a if rng.random() < 0.3 else origin)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 3, 4, 5))):
        edit_lines(rng, b, vocabulary)
    return text(rng, origin), text(rng, a), text(rng, b)


# The first source shrinks but draws small and often equal things; the second draws evenly.
SEEDS = st.one_of(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1).map(Random))
TOKEN_TRIPLES = SEEDS.map(token_triple)
TEXT_TRIPLES = SEEDS.map(text_triple)
