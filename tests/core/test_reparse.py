"""Tokens inherited through an edited tree are those of a parse from scratch, on every pair."""

import ast
import gzip
import heapq
import inspect
import json
import random
import re
import subprocess
import sys
import textwrap
import typing
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import archive
from tests.reference.budget import examples, scaled

from excise import languages, similarity, syntax
from excise.kernels._lcs import edits as lcs_edits
from excise.reparse import Parsed, _Side, parsed, reparse, tree_of_edited
from excise.syntax import encode
from excise.text import normalise
from excise.tokens import Lines, Vocabulary, lines_of, stream

STRINGS = archive.read(Path(__file__).parents[1] / "cases" / "strings" / "told.txt")
NOISE = ['"', "'", '"""', "(", ")", "#", "\\", "é", "\u2028", "\f", "if x: y", "    ", ""]


def inherits(origin: str, revision: str, grammar: str) -> bool:
    """Compare both ways of reading a revision; False when the tree was not used."""
    vocabulary = Vocabulary()
    kept = parsed(origin, grammar, vocabulary)
    assert plain(kept.lines) == plain(lines_of(stream(origin, grammar), vocabulary))
    found = reparse(kept, revision, vocabulary)
    if found is not None:
        check(found, revision, vocabulary)
    if (tree := tree_of_edited(kept, revision)) is not None and grammar != "v":
        assert nodes(tree) == nodes(syntax.parse(revision, grammar))
    return found is not None


def nodes(tree) -> list[tuple[str, int, int]]:
    """All nodes of a tree, with the bytes that they are from and to."""
    found, waiting = [], [tree.root_node]
    while waiting:
        node = waiting.pop()
        found.append((node.type, node.start_byte, node.end_byte))
        waiting += node.children
    return found


def check(found: Parsed, text: str, vocabulary: Vocabulary) -> None:
    alone = stream(text, found.grammar)
    assert plain(found.lines) == plain(lines_of(alone, vocabulary))
    # An edited tree of V can miss an error; that is tree-sitter's, and the tokens are right.
    assert found.has_errors == alone.has_errors or found.grammar == "v"


def plain(lines: Lines) -> tuple[list[object], ...]:
    planes = lines.tokens, lines.first, lines.keys, lines.ids, lines.comments
    return tuple(map(list, planes))


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


def test_revisions_of_a_grammar_whose_scanner_forgets_are_read_from_scratch():
    """The edited tree of this one had other tokens, in every other process."""
    text = ".. autofunction:: f\n\n{}:members:\n\n{}.. autofunction:: f\n\n.. _x: http://x\n"
    assert inherits(text.format("   ", ""), text.format("   ", "     "), "rst")


def test_a_minified_text_of_one_line_is_read_as_alone():
    """Its one line is an edit as a whole, whatever changed in it."""
    origin = "".join(f"function f{n}(a){{return a+{n}}};" for n in range(400))
    for revision in (origin.replace("a+200", "a-200"), origin + "f1(2)", origin[:-30]):
        inherits(origin, revision, "javascript")
        more = similarity(origin=origin, a=revision, b=f"{revision};g()", language="javascript")
        assert 0 < more.value < 1


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


BREAKS = ["(", ")", "{", "}", "[", '"', "'", "/*", "*/", "#if X", "#endif", "<<E", "E", "`", "$("]
BREAKS += ["\\", "else:", "def f(", "class", "<", "</a>", "-->", "<!--", "%", "@"]


def broken(text: str, rng: random.Random) -> str:
    """Put in or take out something that opens or closes."""
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(lines))
        kind, place = rng.randrange(4), rng.randrange(len(lines[at]) + 1)
        if kind == 0:
            lines.insert(at, rng.choice(BREAKS))
        elif kind == 1:
            lines[at] = lines[at][:place] + rng.choice(BREAKS) + lines[at][place:]
        elif kind == 2:
            lines[at] = lines[at].rstrip(")}];:")
        elif len(lines) > 1:
            del lines[at]
    return "\n".join(lines)


@pytest.mark.slow
def test_broken_revisions_of_whole_and_broken_origins():
    """Error recovery, missing nodes, external scanners: trees that were parsed apart agree."""
    rng = random.Random("broken")
    used = 0
    for module in (heapq, textwrap):
        lines = normalise(inspect.getsource(module)).split("\n")[:250]
        for _ in range(scaled(20)):
            origin = "\n".join(lines) if rng.random() < 0.5 else broken("\n".join(lines), rng)
            used += inherits(origin, broken(origin, rng), "python")
    for grammar in sorted(STRINGS):
        for _ in range(scaled(5)):
            origin = filled(STRINGS[grammar] * 2, rng, 0)
            origin = broken(origin, rng) if rng.random() < 0.5 else origin
            used += inherits(origin, broken(origin, rng), grammar)
    assert used > scaled(300)  # or this tests nothing


@pytest.mark.parametrize("head", ["", "def (\n"])
def test_of_broken_syntax_only_what_is_not_the_origins_is_walked(head, monkeypatch):
    """Parsed from scratch once, whatever is broken: the origin, the revision or both."""
    functions = "".join(f"def f{n}(a):\n    b = a\n    return b\n\n\n" for n in range(40))
    vocabulary = Vocabulary()
    kept = parsed(head + functions, "python", vocabulary)
    revision = (head + functions).replace("return b", "return b)", 1)
    walked, walk, parses, parse = [], syntax.walk, [], syntax.parse
    monkeypatch.setattr(syntax, "walk", lambda *of: (walked.append(of[3]), walk(*of))[1])
    monkeypatch.setattr(syntax, "parse", lambda *of: (parses.append(of[2]), parse(*of))[1])
    assert reparse(kept, revision, vocabulary).has_errors
    assert parses.count(None) == 1
    assert sum(end - start for start, end in walked[-1]) < len(revision) / 10
    monkeypatch.undo()
    assert inherits(head + functions, revision, "python")


def test_strings_that_touch_are_found_in_one_more_walk(monkeypatch):
    """Each is looked at as a whole, and its first line is the last line of the one before."""
    script = "cat <<E\na $b\n\nc\nE\n" * 40
    vocabulary, walks, walk = Vocabulary(), [], syntax.walk
    kept = parsed(script, "bash", vocabulary)
    monkeypatch.setattr(syntax, "walk", lambda *of: (walks.append(of), walk(*of))[1])
    revision = script.replace("a $b", "a $c", 1)
    check(reparse(kept, revision, vocabulary), revision, vocabulary)
    assert len(walks) <= 3  # two of the revision, and one to check it


HISTORIES = {
    "python": "def f{n}(a):\n    if a:\n        b = (a, {n})\n    return b\n\n",
    "c": "int f{n}(int a)\n{{\n\tint b = a * {n};\n\n\treturn b;\n}}\n",
    "javascript": "function f{n}(a) {{\n  const b = `${{a}} {n}`;\n  return b;\n}}\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("grammar", HISTORIES)
def test_a_history_is_read_version_by_version(grammar):
    """From the tree of the version before or of the origin, which itself came from another tree."""
    rng, vocabulary = random.Random(grammar), Vocabulary()
    lines = "".join(HISTORIES[grammar].format(n=n) for n in range(20)).split("\n")
    origin = latest = parsed("\n".join(lines), grammar, vocabulary)
    nearer = 0
    for _ in range(scaled(150)):
        edited = mutated(lines, rng)
        text = normalise("\n".join(edited))
        found = reparse(origin, text, vocabulary, other=latest)
        if found and not latest.has_errors:
            nearer += len(latest.side.edits(found.side)) < len(origin.side.edits(found.side))
        latest = found or parsed(text, grammar, vocabulary)
        check(latest, text, vocabulary)
        if not latest.has_errors or rng.random() < 0.1:
            lines = edited
    assert nearer > scaled(5)  # or this tests nothing


PIECES = ["", "", "a", "b", "ab", "a\x0cb", "c\u2028", "é", "\ud800", "a\0b"]
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=20)
CHANGES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3), LINES), max_size=4)


@given(LINES, CHANGES)
@examples(200)
def test_lines_are_aligned_as_their_names_are(lines, changes):
    """The last line has no line end: another line with the same text is not the same line."""
    other = list(lines)
    for place, size, new in changes:
        other[place : place + size] = new
    other = other or [""]
    names: dict[bytes, int] = {}
    sides, numbers = [], []
    for text in (lines, other):
        sides.append(side := _Side.of("\n".join(text)))
        ends = [place for place, byte in enumerate(side.data, 1) if byte == ord("\n")]
        assert list(side.starts) == [0, *ends, len(side.data) + 1]
        own = [*map(encode, text[:-1]), encode(text[-1]) + b"\0end"]
        numbers.append(array("i", (names.setdefault(line, len(names)) for line in own)))
    assert sides[0].edits(sides[1]) == lcs_edits(*numbers)


def test_a_long_origin_gives_the_scores_of_separate_parses(monkeypatch):
    source = normalise(inspect.getsource(heapq))
    a = source.replace("heap", "pile", 3)
    b = source.replace("heap", "pile", 2).replace("return", "yield", 1)
    by_tree = similarity(origin=source, a=a, b=b, language="python")
    monkeypatch.setattr("excise.reading.REPARSE_FROM", len(source) + 1)
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
def test_no_line_is_read_that_an_origin_has_not():
    """Behind the only number of an empty origin is a page that nobody may read."""
    code = """
import ctypes, mmap
from array import array
from excise.kernels._tree import assemble
from excise.tokens import Vocabulary

pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
place = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + mmap.PAGESIZE
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(place), mmap.PAGESIZE, 0) == 0
first = memoryview(pages)[mmap.PAGESIZE - 4 : mmap.PAGESIZE].cast("i")
none = array("i")
text, starts = b"a\\nb\\nc\\n", array("i", (0, 2, 4, 6))
spans = array("i", (0, 1, 0, 2, 3, 0, 4, 5, 0))
found = assemble((none, first, none, none), none, [(0, 3)], spans, text, starts, ["a", "b", "c"],
                 Vocabulary().intern)
print(list(found[0]), list(found[1]))
"""
    child = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert (child.returncode, child.stdout) == (0, "[0, 1, 2] [0, 1, 2, 3]\n"), child.stderr
