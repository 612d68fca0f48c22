"""Texts that end a process where a parser gets them: each is read, in a process of its own."""

import json
import subprocess
import sys

import pytest

import excise
from excise import syntax
from excise.errors import Unparsable
from excise.syntax import hazard

ABOVE = "\U00100000"
INDENTED = "".join(" " * depth + "if x:\n" for depth in range(511))
HEREDOCS = "".join(f"<<{letter * 96}," for letter in "ABCDEFGHIJ")
DEEP = "it nests too deeply"
WIDE = "a character above U+FFFF where it asks for digits or letters"

# Each of these has written or read out of bounds without the guards, and ended most processes.
REPRODUCERS = [
    ("markdown", "1" + ABOVE, WIDE),
    ("markdown", "> - 12" + ABOVE, WIDE),
    ("bash", "{1" + ABOVE, WIDE),
    ("bash", "{1..2" + ABOVE, WIDE),
    ("odin", "x := 1." + ABOVE, WIDE),
    ("d", ABOVE, WIDE),
    ("doxygen", "``" + ABOVE, WIDE),
    ("gn", 'x = "$' + ABOVE + '"', WIDE),
    ("v", "'$" + ABOVE + "'", WIDE),
    ("markdown", "> " * 255, DEEP),
    ("markdown", "- " * 255, DEEP),
    ("markdown", "1. " * 255, DEEP),
    ("yaml", "- " * 254, DEEP),
    ("yaml", "? " * 254, DEEP),
    ("yaml", "".join(" " * depth + "a:\n" for depth in range(300)), DEEP),
    ("yaml", "- ? " * 130, DEEP),
    # One byte too many each: an odd number of string delimiters, a heredoc that just fits.
    ("python", INDENTED + " " * 511 + "f''\n", DEEP),
    ("ruby", f"f({HEREDOCS}<<{'Z' * 19})\n", DEEP),
    ("perl", '"@{[' * 90, DEEP),
    ("agda", "'" * 520, DEEP),
    ("typst", "[" * 300, DEEP),
    ("kotlin", '"${' * 1030, DEEP),
]

CHILD = """
import json, sys
import excise
for grammar, text in json.load(sys.stdin):
    print("text", flush=True)
    matrix = excise.ScoreMatrix.from_texts("a\\n", [text, "b\\n"], language=grammar)
    dropped = excise.similarity(
        origin=text, a=text + "b\\n", b="a\\n", language=grammar, comments="drop"
    )
    excise.align(text, "a\\n", language=grammar)
    print(json.dumps([matrix.notes, matrix.signature, dropped.notes]), flush=True)
"""


def read_in_a_child(texts: list[tuple[str, str]]) -> list[list]:
    """Return notes and signatures; a text that ends the process fails the test by its number."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD], input=json.dumps(texts), text=True, capture_output=True
    )
    lines = child.stdout.split("\n")
    assert child.returncode == 0, (child.returncode, texts[lines.count("text") - 1], child.stderr)
    return [json.loads(line) for line in lines if line.startswith("[")]


@pytest.mark.slow
def test_no_text_ends_the_process_and_each_is_read_lexically_with_a_note():
    answers = read_in_a_child([(grammar, text) for grammar, text, _ in REPRODUCERS])
    for (grammar, _, reason), (notes, signature, dropped) in zip(REPRODUCERS, answers, strict=True):
        note = f"lexical tokens: the parser of {grammar} cannot read this text safely ({reason})"
        # Only the pairs of that text are lexical.
        assert notes[0] == [note]
        assert note not in notes[1]
        assert f"|tok:{grammar}@{syntax.version()}/2+lexical|" in signature
        assert dropped == [note, "comments kept: no grammar to find them"]


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("markdown", "1. " + ABOVE + "\n\nabout 100" + ABOVE + "\n\n- a 1" + ABOVE + "\n"),
        ("markdown", "- " * 200),
        ("yaml", "- " * 200),
        ("bash", "echo {1..2} " + ABOVE),
        ("python", "x = 1" + ABOVE),
        ("python", "".join(" " * depth + "if x:\n" for depth in range(300))),
        ("html", "<div>" * 400),
    ],
)
def test_what_is_near_is_still_read_by_the_grammar(grammar, text):
    assert hazard(text, grammar) is None
    assert syntax.tokenise(text, grammar).tokens


def test_a_state_too_large_is_found_when_a_revision_is_parsed_from_its_origin_s_tree():
    origin = "".join(f"- value{number}\n" for number in range(400))
    deep = origin + "- " * 254 + "x\n"
    score = excise.similarity(origin=origin, a=deep, b=origin + "- y\n", language="yaml")
    assert DEEP in score.notes[0]
    assert "|tok:lexical|" in score.signature


def test_a_stopped_parser_leaves_the_next_one_alone():
    with pytest.raises(Unparsable):
        syntax.parse("- " * 300, "yaml")
    assert syntax.tokenise("- a\n", "yaml").tokens == ["-", "a"]


@pytest.mark.slow
def test_every_grammar_is_guarded():
    """In a child: some scanners write out of bounds, and this process died of it, tests later."""
    code = """
from excise import languages, syntax
for name in languages.names():
    syntax.tokenise("a\\n", name)
print("all of them")
"""
    child = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert child.stdout == "all of them\n", (child.returncode, child.stderr)
