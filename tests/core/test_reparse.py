"""Tokens inherited through an edited tree are those of a parse from scratch, on every pair."""

from __future__ import annotations

import ast
import gzip
import heapq
import inspect
import json
import random
import re
import textwrap
import typing
from pathlib import Path

import pytest
from tests import archive
from tests.reference.budget import scaled

from excise import languages, similarity
from excise.reparse import parsed, reparse
from excise.text import normalise
from excise.tokens import Lines, Vocabulary, lines_of, stream

STRINGS = archive.read(Path(__file__).parents[1] / "cases" / "strings" / "told.txt")
NOISE = ['"', "'", '"""', "(", ")", "#", "\\", "é", "\u2028", "\f", "if x: y", "    ", ""]


def inherits(origin: str, revision: str, grammar: str) -> bool:
    """Compare both ways of reading a revision; False when the tree was not used."""
    vocabulary = Vocabulary()
    kept = parsed(origin, grammar, vocabulary)
    found = reparse(kept, revision, vocabulary)
    if found is not None:
        assert plain(found) == plain(lines_of(stream(revision, grammar), vocabulary))
    return found is not None


def plain(lines: Lines) -> tuple[list[object], ...]:
    return list(lines.tokens), list(lines.first), list(lines.keys), list(lines.ids)


def mutated(lines: list[str], rng: random.Random) -> list[str]:
    lines = list(lines)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[at : at + rng.choice([1, 2, 5])]
        elif kind == 1:
            lines.insert(at, rng.choice(lines))
        elif kind == 2:
            lines[at] = " " * rng.randrange(9) + lines[at].strip()
        elif kind == 3:
            lines[at] += rng.choice(NOISE)
        elif kind == 4:
            lines.insert(at, "")
        else:
            lines[at] = lines[at].replace("=", "==", 1)
        lines = lines or [""]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("module", [heapq, textwrap, ast, typing], ids=lambda m: m.__name__)
def test_random_edits_of_real_python(module):
    source = normalise(inspect.getsource(module))
    rng = random.Random(module.__name__)
    lines = source.split("\n")[:700]
    used = [inherits("\n".join(lines), "\n".join(mutated(lines, rng)), "python") for _ in range(60)]
    assert sum(used) > 15  # or this tests nothing


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    b\nc\n", "if a:\n    b\n    c\n"),
        ("if a:\n    b\n    c\n", "if a:\n    b\nc\n"),
        ("def f():\n    a\n\n\n    b\n", "def f():\n    a\n\n\n    b"),
        ("def f():\n    a", "def f():\n    a\n"),
        ("if a: b\nelse: c\n", "if a: b\nelif d: e\nelse: c\n"),
        ('x = """a\n\n  b"""\ny\n', 'x = """a\n  \n  b"""\ny\n'),
        ("if a:\n    b\n    # c\n", "if a:\n    b\n# c\n"),
        ("a\n", ""),
        ("", "a\n"),
    ],
)
def test_blocks_and_ends(before, after):
    """Padding keeps most lines equal, so that the tree is used."""
    padding = "".join(f"v{n} = {n}\n" for n in range(12))
    assert inherits(before + padding, after + padding, "python")
    assert inherits(padding + before, padding + after, "python")


def test_a_quote_on_one_line_turns_white_space_on_others_into_tokens():
    """In a D string of tokens a character holds quotes: behind it white space counts."""
    padding = "".join(f"int v{n};\n" for n in range(12))
    text = padding + "auto a = q{{\n  {}\n  c\n  d\n  e\n}};\n" + padding
    assert inherits(text.format("b"), text.format("'b'"), "d")
    assert inherits(text.format("'b'"), text.format("b"), "d")


@pytest.mark.slow
def test_random_edits_of_strings_in_every_language():
    """White space, quotes and text come and go."""
    used = 0
    for grammar in sorted(STRINGS):
        rng = random.Random(grammar)
        for _ in range(scaled(25)):
            origin = filled(STRINGS[grammar], rng, rng.choice([0, 1, 3]))
            used += inherits(origin, filled(origin, rng, rng.choice([1, 1, 2])), grammar)
    assert used > scaled(900)  # or this tests nothing


def filled(text: str, rng: random.Random, count: int) -> str:
    """Insert or delete at white space, mostly: there the strings are."""
    text = re.sub("[␣␉␠]", " ", text)
    for _ in range(count):
        blanks = [place for place, char in enumerate(text) if char == " "] or [0]
        place = rng.choice([rng.choice(blanks), rng.randrange(len(text) + 1)])
        new = rng.choice([" ", "  ", "\n", "\n\n", "\n  \n", "'", '"', "`", "a", "b c", "\t", ""])
        text = text[:place] + new + text[place + rng.choice([0, 0, 1, 2]) :]
    return text


def test_broken_syntax_is_parsed_from_scratch():
    padding = "".join(f"v{n} = {n}\n" for n in range(12))
    assert not inherits(padding, padding + "def (\n", "python")


def test_a_long_origin_gives_the_scores_of_separate_parses(monkeypatch):
    source = normalise(inspect.getsource(heapq))
    a = source.replace("heap", "pile", 3)
    b = source.replace("heap", "pile", 2).replace("return", "yield", 1)
    by_tree = similarity(origin=source, a=a, b=b, language="python")
    monkeypatch.setattr("excise.preparation.REPARSE_FROM", len(source) + 1)
    alone = similarity(origin=source, a=a, b=b, language="python")
    assert 0 < by_tree.value < 1
    assert (by_tree.exact, by_tree.regions) == (alone.exact, alone.regions)


def test_pairs_of_real_files(excise_data):
    with gzip.open(excise_data / "git_same_origin_dev.jsonl.gz", "rt") as rows:
        records = [json.loads(row) for row in rows]
    used = [
        inherits(normalise(record["origin"]), normalise(candidate["text"]), grammar)
        for record in records
        if (grammar := languages.resolve(None, record["path"], record["origin"]))
        for candidate in record["candidates"]
    ]
    assert sum(used) > 20
