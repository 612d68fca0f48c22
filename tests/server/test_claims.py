"""What is said of one candidate alone: a name that it gives, and the target as well."""

import pytest

from excise.languages import resolve
from excise.order_free import names_given
from excise.syntax import parse
from excise_server.foundation.changes import Side
from excise_server.review.candidate import Candidate
from excise_server.review.claims import given_twice

BASE = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n"
NEW = "def new():\n    return {}\n\n\n"


def names_of(path, text):
    grammar = resolve(None, path, text)
    return names_given(parse(text, grammar), text, grammar)


def said(base, head, target, merged, path="m.py"):
    base, head, target, merged = (
        Side("100644", text.encode()) for text in (base, head, target, merged)
    )
    own = Candidate(
        "branch:x", "", "x", "", old={path: target}, new={path: merged},
        own_old={path: base}, own_new={path: head},
    )  # fmt: skip
    return [claim.message for claim in given_twice(own, names_of)]


def both(one, two, path="m.py"):
    """Return what is said if the candidate adds one text above, and the target one below."""
    return said(BASE, one + BASE, BASE + two, one + BASE + two, path)


@pytest.mark.parametrize("one", [NEW.format(1), "class new:\n    pass\n\n\n", "import new\n\n\n"])
def test_a_name_of_both_is_said(one):
    assert both(one, "\n\n" + NEW.format(2)) == ["both it and the target give new (m.py)"]


def test_what_is_given_once_or_was_there_is_silent():
    assert both(NEW.format(1), "\n\n" + NEW.format(2).replace("new", "newer")) == []
    assert both("", "\n\n" + NEW.format(2)) == []
    assert both("import new\n\n\n", "\n\nimport new\n") == []  # the same thing twice does no harm
    assert both("def a():\n    return 4\n\n\n", "\n\ndef a():\n    return 5\n") == []


def test_a_merge_that_has_it_once_is_silent():
    one = NEW.format(1)
    assert said(BASE, one + BASE, one + BASE, one + BASE) == []


def test_a_method_is_known_by_its_class():
    base = "class S:\n    def a(self): ...\n\n\nclass T:\n    def a(self): ...\n"
    head = base.replace("class S:\n", "class S:\n    def new(self): return 1\n")
    other = base + "    def new(self): ...\n"
    same = base.replace("\n\n\nclass T", "\n    def new(self): ...\n\n\nclass T")
    merged = head + "    def new(self): ...\n"
    assert said(base, head, other, merged) == []
    twice = head.replace("\n\n\nclass T", "\n    def new(self): ...\n\n\nclass T")
    assert said(base, head, same, twice) == ["both it and the target give new (m.py)"]
