"""A Python text beside another one: what is not parsed again is as if it were."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.edit_facts import facts_of
from tests.reference.budget import PROFILE, one_in

from excise import python_facts, python_names
from excise.errors import Unparsable

STATEMENTS = r'''
x = 1
y = x; z = y
def f(a):
    return a + x
    def g():
        pass
if x:
elif y:
else:
try:
except E:
finally:
match x:
    case 1:
case (x)
@f
class A:
# a
    # b
\
y = \
s = (
)
[1,
2]
"""
'''
LINES = st.sampled_from(
    [
        *STATEMENTS.split("\n"),
        *("    ", "import os", "from os import *", "print(x)", "async def h(): pass", "y = 1;"),
        *(
            "'''a",
            "exec(x)",
            "x: int = 0",
            "for x in y:",
            "é = ª",
            "\fy = 2",
            "\tz",
            "\0",
            "\ufeff",
        ),
    ]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)


def whole(text, beside=None):
    try:
        module = python_facts.Module.of(text, beside)
    except (SyntaxError, Unparsable) as error:
        return type(error), str(error)
    return (
        [ast.dump(node) for node in module.body],
        [piece.lines for piece in module.pieces],
        [piece.lines_of(piece.node) for piece in module.pieces],
        {
            name: set(own) if isinstance(own, set) else own
            for name, own in vars(module._names).items()
        },
    )


def equal_from_scratch(origin, revision):
    try:
        beside = python_facts.Module.of(origin)
    except (SyntaxError, Unparsable):
        return
    assert whole(revision, beside) == whole(revision)
    [facts, _] = facts_of(origin, [revision, revision + "\nx = 1\n"], "python")
    assert facts_of(origin, ["x = 1\n", revision], "python")[1] == facts


@given(TEXTS, TEXTS)
def test_any_two_texts(origin, revision):
    equal_from_scratch(origin, revision)


@given(st.lists(TEXTS, min_size=3, max_size=5), st.integers(0, 4), TEXTS, st.booleans())
def test_an_edit_of_a_text(parts, at, new, ended):
    old = "\n".join(parts) + "\n" * ended
    parts[at % len(parts)] = new
    equal_from_scratch(old, "\n".join(parts))


@pytest.mark.slow
def test_lines_of_a_module_gone_or_twice():
    text = Path(python_names.__file__).read_text()
    lines, beside = text.split("\n"), python_facts.Module.of(text)
    for at in one_in(4, range(len(lines))):
        edits = [], [lines[at]] * 2, ["else:", lines[at]]
        for instead in edits if PROFILE == "nightly" else [edits[at % 3]]:
            revision = "\n".join([*lines[:at], *instead, *lines[at + 1 :]])
            assert whole(revision, beside) == whole(revision)


def test_what_an_edit_leaves_alone_is_not_parsed_again(monkeypatch):
    text = Path(python_names.__file__).read_text()
    beside = python_facts.Module.of(text)
    parsed, parse = [], ast.parse
    monkeypatch.setattr(ast, "parse", lambda text: parsed.append(text) or parse(text))
    python_facts.Module.of(text.replace("ends = [_last", "tails = [_last"), beside)
    assert [part.strip().partition("(")[0] for part in parsed] == ["def _pieces"]


def test_a_class_that_gets_a_member_at_its_end_is_all_that_is_parsed():
    text = "x = 1\ny = 2\n\n\nclass S:\n    size = 0\n"
    lines = f"{text}\n    # more\n    def f(self):\n        return x\n".split("\n")
    origin, parts = python_names.parse(text, text.split("\n")), {}
    pieces = python_names.parse_beside(origin, lines, parts)
    assert [piece.node for piece in pieces[:2]] == [piece.node for piece in origin[:2]]
    assert [len(piece.node.body) for piece in pieces[2:]] == [2]
    assert len(parts) == 1
