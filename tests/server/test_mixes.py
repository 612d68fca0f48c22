"""Mixes of hunks: what lacks a name is refused, and who brings that is named."""

import shlex
import sys

import pytest

from excise.errors import Unparsable
from excise_server.foundation.changes import Side
from excise_server.review.candidate import Candidate
from excise_server.review.mixes import BrokenMixError, Mix, edit_of_line
from excise_server.review.taking import choices_named, take

ORIGIN = """\
import os


def first(x):
    return os.path.join(x, "a")


def second(x):
    return x


def third(x):
    return x


def last(x):
    return x
"""
HELPED = ORIGIN.replace("import os\n", "import os\nimport re\n").replace(
    "def second(x):\n    return x", "def second(x):\n    return re.sub(x, x, x)"
)


def candidate(name, text, origin=ORIGIN, path="a.py", new_path=None):
    old = {} if origin is None else {path: Side("100644", origin.encode())}
    new = {new_path or path: Side("100644", text.encode("utf-8", "surrogateescape"))}
    return Candidate(f"worktree:{name}", f"/{name}", "", "", label=name, old=old, new=new)


def taken(candidates, arguments, **options):
    """Take what is named and no more: the check alone says what is missing."""
    choices = choices_named(shlex.split(arguments), candidates)
    return take([candidates], choices, **{"split": True, **options})


def text_of(result):
    return result.files[0].new.text


def refused(candidates, arguments, *parts):
    with pytest.raises(BrokenMixError) as caught:
        taken(candidates, arguments)
    for part in parts:
        assert part in str(caught.value)
    assert taken(candidates, arguments, anyway=True).files
    return caught.value


def changed(*edits, origin=ORIGIN):
    for old, new in edits:
        assert old in origin
        origin = origin.replace(old, new, 1)
    return origin


def test_a_hunk_without_the_import_that_it_uses_is_refused():
    both = [
        candidate("ada", HELPED),
        candidate("bo", ORIGIN.replace("def last(x)", "def last(y, x)")),
    ]
    error = refused(both, "ada a.py#9", "a.py:9: uses re", "take a candidate whole", "--anyway")
    assert [(f.path, f.line, f.kind, f.name, f.scope) for f in error.findings] == [
        ("a.py", 9, "name", "re", "second")
    ]
    assert taken(both, "ada a.py#9", anyway=True).notes == (
        "a.py#9 of ada is taken without #1+, with which it shares re",
        "a.py:9: uses re, which nothing defines (ada)",
    )


def test_a_mix_that_passes_is_not_said_to_work():
    both = [
        candidate("ada", HELPED),
        candidate("bo", ORIGIN.replace("def last(x)", "def last(y, x)")),
    ]
    assert taken(both, "ada bo").notes == ("a.py: parses, and no name is missing",)
    assert taken(both, "ada").notes == ()
    assert taken(both, "ada a.py").notes == ()


def test_a_name_that_a_hunk_of_another_candidate_binds():
    uses = changed(("def third(x):\n    return x", "def third(x):\n    return helper(x)"),
                   ("import os\n", "import os\nfrom lib import helper\n"))  # fmt: skip
    both = [
        candidate("ada", uses),
        candidate("bo", changed(("import os\n", "import os\nhelper = 1\n"))),
    ]
    refused(both, "ada a.py#13", "helper")
    cyd = changed(
        ('    return os.path.join(x, "a")', "    global helper\n    helper = x"),
        ("def third(x):\n    return x", "def third(x):\n    return helper(x)"),
    )
    bo = changed(("import os\n", "import os\nhelper = 1\n"), ('(x, "a")', '(x, "b")'))
    both = [candidate("cyd", cyd), candidate("bo", bo)]
    refused(both, "cyd a.py#13 bo a.py#5", "helper")


def test_two_candidates_that_are_fine_alone():
    renamed = changed(("def third(x):", "def fourth(x):"))
    calls = changed(("def last(x):\n    return x", "def last(x):\n    return third(x)"))
    both = [candidate("ada", renamed), candidate("bo", calls)]
    assert taken(both, "ada").notes == taken(both, "bo").notes == ()
    refused(both, "ada bo", "a.py:17: uses third, which ada removes (bo)")


def test_the_order_of_statements_counts():
    early = changed(
        ("def first(x):", "LIMIT = 3\n\n\ndef first(x):"),
        ("def last(x):", "SIZE = LIMIT\n\n\ndef last(x):"),
    )
    late = changed(("def last(x):\n    return x\n", "def last(x):\n    return x\n\n\nLIMIT = 4\n"))
    both = [candidate("ada", early), candidate("bo", late)]
    refused(both, "ada a.py#15+ bo a.py#17+", "uses LIMIT")


def test_a_candidate_with_an_error_of_syntax_alone_and_mixed():
    torn = changed(("def third(x):\n    return x", "def third(x):\n    return (x"))
    both = [candidate("ada", torn), candidate("bo", HELPED)]
    (note,) = taken(both, "ada").notes
    assert note == "a.py:13: is not Python ('(' was never closed), as in a candidate"
    assert "never closed" in taken(both, "ada bo").notes[0]


def test_half_of_a_bracket_is_refused_in_every_language_with_a_grammar():
    origin = "int f(void) {\n  int a = 1;\n  int b = 2;\n  int c = 3;\n  return a;\n}\n"
    both_ends = origin.replace("int a = 1;", "if (1) {").replace("int c = 3;", "}")
    for path in ("a.c", "a.cpp"):
        one = [candidate("ada", both_ends, origin, path)]
        assert taken(one, "ada").notes == ()
        refused(one, f"ada {path}#2", "has {, which nothing closes")
    one = [candidate("ada", origin.replace("= 1", "= 11").replace("= 3", "= 33"), origin, "a.c")]
    assert taken(one, "ada a.c#2").notes == ("a.c: parses; not checked: names (c)",)
    one = [
        candidate("ada", '{"a": 3,\n"b": 1,\n"c": 4}\n', '{"a": 1,\n"b": 1,\n"c": 1}\n', "a.json")
    ]
    assert taken(one, "ada a.json#1").notes == ("a.json: parses; not checked: names (json)",)
    one = [candidate("ada", "A\nb\nC\n", "a\nb\nc\n", "a.unknown")]
    assert taken(one, "ada a.unknown#1").notes == ("a.unknown: not checked: no grammar",)


def test_a_member_that_falls_out_of_its_class_by_the_mix():
    end = "    def b(self):\n        return 1\n"
    origin = f"class C:\n    def a(self):\n        return self.b()\n\n    x = 1\n    y = 2\n\n{end}"
    moved = origin.replace(f"\n{end}", "").replace("    y = 2\n", "\n\ndef helper():\n    pass\n")
    moved = moved.replace("class C:\n", f"class C:\n{end}\n")
    one = [candidate("ada", moved, origin)]
    assert taken(one, "ada").notes == ()
    assert hunk_names(one) == ["2", "5-9"]
    refused(one, "ada a.py#5-9", "removes b of class C")
    falls = f"{moved}\n{end}"
    both = [candidate("ada", falls, origin), candidate("bo", origin.replace("= 1", "= 3"), origin)]
    assert hunk_names(both) == ["2", "5-6"]
    refused(both, "ada a.py#5-6", "lets b fall out of class C")


CLASS = """\
class C:
    def __init__(self):
        self.x = 1

    def first(self):
        return 1

    def second(self):
        return 2
"""


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("self.x = 1\n        self.y = 2", "y"),
        ("self.x = 1\n\n    def y(self):\n        return 1", "y"),
        ("self.x = 1\n\n    y: int = 1", "y"),
        ("self.x = 1\n\n    class y: pass", "y"),
        ("self.x = 1\n        self.x, self.y = 1, 2", "y"),
        # It may be set in another way.
        ("self.x = 1\n        setattr(self, 'y', 2)", ""),
    ],
)
def test_an_attribute_of_self_that_another_hunk_defines(new, name):
    text = changed(("self.x = 1", new), ("return 2", "return self.y"), origin=CLASS)
    one = [candidate("ada", text, CLASS)]
    *_, using = hunk_names(one)
    assert taken(one, "ada").notes == ()
    if name:
        refused(one, f"ada a.py#{using}", "reads self.y, which nothing defines (ada)")
    else:
        assert taken(one, f"ada a.py#{using}").notes == ("a.py: parses, and no name is missing",)
    # of a class with bases that the text does not show, nothing is known
    other = [candidate("ada", text.replace("C:", "C(B):"), CLASS.replace("C:", "C(B):"))]
    assert taken(other, f"ada a.py#{using}").files


@pytest.mark.slow
@pytest.mark.parametrize(
    "new",
    [
        "def second(x):\n    global made\n    made = x\n    return made",
        "from lib import *\n\n\ndef second(x):\n    return anything",
        "__all__ = ['first', 'second']\n\n\ndef second(x):\n    return x",
        "def second(x):  # type: (Unknown) -> Unknown\n    return x  # type: ignore",
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n\n\nfast",
        "try:\n    text = unicode\nexcept NameError:\n    text = str\n\n\ntext",
        "def second(x: 'Unknown') -> 'list[Unknown]':\n    return x",
        "exec('made = 1')\n\n\ndef second(x):\n    return made",
        "def second(x):\n    return __file__, __name__, WindowsError, _('text')",
        "def second(x):\n\f\n    return 'a\u2028b\x0c\x1c' + x",
    ],
)  # fmt: skip
def test_names_that_are_bound_are_not_missing(new):
    text = changed(("def second(x):\n    return x", new), ("def last(x)", "def last(x, y)"))
    one = [candidate("ada", text)]
    hunks = [name for name in hunk_names(one) if not name.startswith("16")]
    assert taken(one, f"ada {' '.join(f'a.py#{name}' for name in hunks)}").notes in (
        ("a.py: parses, and no name is missing",),
    )


def hunk_names(candidates):
    from excise_server.review.hunks import hunk_name, review_files

    return [hunk_name(h.lo, h.hi) for file in review_files(candidates) for h in file.hunks]


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("def second(x):\n    del made\n    return x", "made"),
        ("def second(x: made):\n    return x", "made"),
        ("def second(x):\n    return f'{made}'", "made"),
        ("__all__ = ['made']\n\n\ndef second(x):\n    return x", "made"),
        ("def second(x):\n    return '%s %s' % (x,)", ""),
        ("def second(x):\n    return '{} {}'.format(x)", ""),
    ],
)  # fmt: skip
def test_names_that_are_missing(new, name):
    """Of a candidate that defines it elsewhere: here simply as the text to be checked."""
    check = Mix("a.py", [ORIGIN], list).check(changed(("def second(x):\n    return x", new)))
    assert [finding.name for finding in check.broken] == [name]
    own = Mix("a.py", [ORIGIN], lambda: [changed(("def second(x):\n    return x", new))])
    check = own.check(
        changed(("def second(x):\n    return x", new), ("def last(x)", "def last(y)"))
    )
    assert [finding.name for finding in check.inherited if finding.name in (name, "")] == [name]


@pytest.mark.parametrize(
    "new",
    [
        "return 1", "def f():\n    def g():\n        nonlocal free", "break", "f(a=1, a=2)",
        "async_ = await x", "x = 1\nfrom __future__ import annotations", "def f(a, a): pass",
        "def f():\n    a = 1\n    global a", "def f(:\n    pass", "*a, *b = x", "\0x = 1",
    ],
)  # fmt: skip
def test_what_python_does_not_compile(new):
    check = Mix("a.py", ["x = 1\n"], list).check(f"x = 1\n{new}\n")
    assert [finding.kind for finding in check.broken] in (["syntax"], []), check
    assert check.broken or "\0" in new


def test_a_text_is_blamed_for_nothing_that_was_there():
    broken = "import os\n\n\ndef f(x):\n    return y + os.sep\n\n\ndef g(x):\n    return x\n"
    user = broken.replace("os.sep", "z").replace("import os", "%magic")
    check = Mix("a.py", [broken], list).check(broken.replace("def g(x)", "def g(w)"))
    assert [finding.name for finding in check.broken] == ["x"]
    check = Mix("a.py", ["x = 1\n", user], list).check(user.replace("return x", "return 2"))
    assert check.broken == ()
    check = Mix("a.py", [broken, broken.replace("import os\n", "")], list).check(
        broken.replace("import os\n", "").replace("return x", "return 2")
    )
    assert check.broken == ()


@pytest.mark.parametrize(
    ("path", "origin", "kinds"),
    [
        ("a.py", "print 'old'\nexec 'x'\ny = 1\n", []),
        ("a.py", "%matplotlib inline\n!ls\ny = 1\n", []),
        ("a.ipynb", '{"cells": [1],\n"y": 1}\n', ["syntax"]),
        ("a.pyi", "def f(x: Later) -> Later: ...\ny: int = 1\nclass Later: ...\n", ["syntax"]),
        ("a.py", "\ufeffimport os\ny = 1\n", ["syntax"]),
    ],
)
def test_files_that_are_python_in_part(path, origin, kinds):
    text = origin.replace("1", "3")
    assert Mix(path, [origin], list).check(text).broken == ()
    torn = Mix(path, [origin], list).check(text + "]]")
    assert [finding.kind for finding in torn.broken][:1] == kinds


def test_a_stub_file_may_use_what_comes_later_and_nothing_else():
    mix = Mix("a.pyi", ["x: int\n"], list)
    assert mix.check("x: int\ndef f(a: Later) -> Later: ...\nclass Later(Base): ...\n"
                     "class Base: ...\n").broken == ()  # fmt: skip
    assert [f.name for f in mix.check("x: Unknown\n").broken] == ["Unknown"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000, "x = " + "(" * 200_000 + ")" * 200_000, "[" * 90 + "]" * 90,
        "x = " + "-" * 100_000 + "1", "x = a" + ".a" * 100_000, "x = " + "1 + " * 100_000 + "1",
        "if x:\n" + "".join(" " * n + "if x:\n" for n in range(1, 150)) + " " * 150 + "pass",
        "x = f'" + "{" * 1000, "a" * 600_000, "\ud800", "\0" * 1000, "é\u2028\f\x1c" * 1000,
        "lambda: " * 5000 + "1", "class C(" * 3000,
    ],
)  # fmt: skip
def test_texts_that_no_parser_likes_end_nothing(text):
    for path in ("a.py", "a.pyi", "a.c", "a.json"):
        check = Mix(path, ["x = 1\n"], lambda: ["x = 2\n"]).check(f"x = 1\n{text}\n")
        assert all(finding.line < 200 for finding in check.broken)


def test_every_parser_is_announced_and_a_hook_keeps_texts_from_the_checker():
    """What ends a process is known to its parent, and kept from the next one."""
    heard = []

    def hook(event, arguments):
        if event == "excise.parse" and HOOKED:
            heard.append(arguments[0])
            if arguments[0] == "pyflakes":
                raise Unparsable("the parser of pyflakes failed on this text")

    sys.addaudithook(hook)
    HOOKED.append(1)
    try:
        check = Mix("a.py", ["x = 1\n"], list).check("x = y\n")
    finally:
        HOOKED.clear()
    assert check.broken == ()
    assert check.said == "parses; not checked: names (python)"
    assert set(heard) == {"python_ast", "pyflakes", "python", "python_compile"}


HOOKED: list[int] = []


def test_a_renamed_and_a_created_file():
    moved = candidate("ada", HELPED, new_path="b.py")
    refused([moved], "ada a.py#9", "a.py:9: uses re")
    made = candidate("bo", "print(unknown)\n", None, "new.py")
    (note,) = taken([made, moved], "bo").notes
    assert note == "new.py:1: uses unknown, which nothing defines, as in a candidate"


def test_names_of_the_outside_are_escaped():
    path = "a b;$(x)\n.py"
    one = [candidate("-x; rm", HELPED, path=path)]
    with pytest.raises(BrokenMixError) as caught:
        take([one], choices_named([one[0].id, f"{path}#9"], one), split=True)
    assert "\n" not in str(caught.value)


# --- across files ---------------------------------------------------------------------------------

USER = (
    "import b\nfrom b import old\n\n\ndef f(x):\n    return old(x)\n\n\ndef g(x):\n    return x\n"
)
LIBRARY = "def old(x):\n    return x\n\n\ndef other(x):\n    return x\n"


def several(name, **texts):
    """Make a candidate of files, each from its first text to its second (None: no file)."""
    sides = {path.replace("__", "/") + ".py": pair for path, pair in texts.items()}
    old, new = (
        {
            path: Side("100644", pair[n].encode())
            for path, pair in sides.items()
            if pair[n] is not None
        }
        for n in (0, 1)
    )
    return Candidate(f"worktree:{name}", f"/{name}", "", "", label=name, old=old, new=new)


FRESH = changed(("def other", "def fresh(x):\n    return x\n\n\ndef other"), origin=LIBRARY)
USES_FRESH = changed(
    ("from b import old", "from b import fresh, old"),
    ("return x\n", "return fresh(x)\n"),
    origin=USER,
)
IDLE_USER = "import b\n\n\ndef g(x):\n    return x\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (USES_FRESH, 2),
        (USER.replace("    return x\n", "    return b.fresh(x)\n"), 10),
        (USER.replace("    return x\n", "    from b import fresh\n    return fresh(x)\n"), 10),
        (USER.replace("    return x\n", "    import b as c\n    return c.fresh(x)\n"), 11),
        (USER.replace("from b import old", "from .b import fresh, old"), 2),
    ],
)  # fmt: skip
def test_a_name_that_a_hunk_of_another_file_binds(text, line):
    one = [several("ada", a=(USER, text), b=(LIBRARY, FRESH))]
    assert taken(one, "ada").notes == taken(one, "ada b.py").notes == ()
    error = refused(
        one, "ada a.py", f"a.py:{line}: uses fresh of b.py, which does not define it (ada)"
    )
    assert {(f.kind, f.name, f.candidate) for f in error.findings} == {("import", "fresh", "ada")}


def test_a_name_that_one_removes_and_another_one_still_uses():
    gone = several(
        "ada",
        b=(LIBRARY, LIBRARY.replace("old", "renamed")),
        a=(USER, USER.replace("old", "renamed")),
    )
    more = several("bo", c=("import b\n", "import b\n\nb.old(1)\n"))
    error = refused([gone], "ada b.py", "a.py:2: uses old of b.py, which ada removes (ada)")
    assert [finding.line for finding in error.findings] == [2]  # and not where it is called
    error = refused([gone, more], "ada bo", "c.py:3: uses old of b.py, which ada removes (bo)")
    assert taken([gone, more], "bo").notes == ()


def test_a_file_that_is_not_taken():
    one = [several("ada", a=(USER, USER.replace("import b\n", "import b, pkg.made\n")),
                   pkg__made=(None, "x = 1\n"))]  # fmt: skip
    refused(one, "ada a.py", "a.py:1: imports pkg/made.py, which is not there (ada)")
    tried = "import b\ntry:\n    import pkg.made\nexcept ImportError:\n    pass\n"
    one = [several("ada", a=(USER, USER.replace("import b\n", tried)), pkg__made=(None, "x = 1\n"))]
    assert taken(one, "ada a.py").files


def test_three_candidates_of_which_two_do_not_go_together():
    three = [
        several("ada", b=(LIBRARY, LIBRARY.replace("old", "renamed"))),
        several("bo", a=(IDLE_USER, IDLE_USER.replace("return x", "return b.old(x)"))),
        several("cyd", c=("", "y = 1\n")),
    ]
    refused(three, "cyd ada bo", "a.py:5: uses old of b.py, which ada removes (bo)")
    assert taken(three, "cyd bo").notes == ()


@pytest.mark.parametrize(
    "library",
    [
        "from c import *\n",
        "def __getattr__(name):\n    return name\n",
        "globals().update(fresh=1, old=2)\n",
        "import sys\nsys.modules[__name__] = object()\n",
        "for fresh in (1, 2):\n    old = fresh\n",
        "if 1:\n    fresh = old = 1\nelse:\n    old = 2\n",
        "def make():\n    global fresh, old\n    fresh = old = 1\n",
        "try:\n    from c import fresh, old\nexcept ImportError:\n    fresh = old = None\n",
        "old = 1\nexec('fresh = 1')\n",
        "x = (\n",
    ],
)
def test_modules_that_may_have_any_name(library):
    both = [
        several("ada", a=(USER, USES_FRESH), b=(LIBRARY, FRESH)),
        several("bo", b=(LIBRARY, library)),
    ]
    notes = taken(both, "ada a.py bo").notes
    assert not any("fresh" in note for note in notes), notes


@pytest.mark.parametrize(
    "text",
    [
        USER.replace("old\n", "old\ntry:\n    from b import fresh\nexcept Exception:\n    pass\n"),
        USER.replace("return x", "b = x\n    return b.fresh"),
        USER.replace("return x", "b.fresh = 1\n    return b.fresh"),
        USER.replace("def g(x):", "def g(x, y: 'b.fresh' = 1, z: b.fresh = 2):"),
        USER.replace("import b\n", "import b, c.b, fresh.b\n"),
        USER.replace("return x", "return x.b.fresh"),
        USER + "__all__ = ['fresh']\nfresh = 1\n",
        USER.replace("import b\n", "from ... import b\nfrom .....b import fresh\n"),
    ],
)  # fmt: skip
def test_uses_that_may_work(text):
    one = [several("ada", a=(USER, text), b=(LIBRARY, FRESH))]
    assert taken(one, "ada a.py").files


def test_two_files_that_one_module_may_be():
    one = [several("ada", a=(USER, USES_FRESH), x__b=(LIBRARY, FRESH), y__b=(LIBRARY, FRESH))]
    assert taken(one, "ada a.py").files
    one = [several("ada", a=(USER, USES_FRESH), x__b=(LIBRARY, FRESH))]
    refused(one, "ada a.py", "uses fresh of x/b.py")


def test_what_the_origin_or_a_whole_candidate_lacks_is_no_finding():
    user = USER.replace("import b\n", "import b\nfrom b import never\n")
    broken = several(
        "ada", a=(user, user.replace("return x", "return b.nothing(x)")), b=(LIBRARY, FRESH)
    )
    bo = several("bo", b=(LIBRARY, LIBRARY + "y = 1\n"))
    assert taken([broken, bo], "ada a.py bo").files
    assert taken([broken, bo], "ada bo").files


@pytest.mark.parametrize(
    ("new", "call", "words"),
    [
        ("def old(x, y):", "old(x)", "missing a required argument: 'y'"),
        ("def old(*, x):", "old(x)", "too many positional arguments"),
        ("def old():", "old(x)", "too many positional arguments"),
        ("def old(z, x=1):", "old(z=1, y=2)", "got an unexpected keyword argument 'y'"),
        ("def old(x, z):", "old(x, y=1)", "missing a required argument: 'z'"),
        ("def old(x, y=1, *z, **k):", "old(x, y=2, w=3)", ""),
        ("def old(x, y):", "old(*x)", ""),
        ("def old(x, y):", "old(**x)", ""),
        ("@b\ndef old(x, y):", "old(x)", ""),
        ("old = 1\n\n\ndef old(x, y):", "old(x)", ""),
        ("def old(x, x):", "old(x)", ""),
    ],
)
def test_a_call_that_a_function_no_longer_takes_is_a_note(new, call, words):
    library = LIBRARY.replace("old(x)", "old(x, y=1)")
    both = [
        several("ada", b=(library, library.replace("def old(x, y=1):", new))),
        several("bo", a=(IDLE_USER, IDLE_USER.replace("return x", f"return b.{call}"))),
    ]
    notes = tuple(note for note in taken(both, "ada bo").notes if note.startswith("a.py"))
    assert notes == ((f"a.py:5: calls old: {words} (bo)",) if words else ())


def test_a_call_of_a_method_and_of_an_own_function():
    text = "def f(x):\n    return x\n\n\nclass C:\n    def m(self, x):\n        return x\n"
    text += "\n    a = 1\n    b = 2\n\n    def n(self):\n        return 1\n"
    narrowed = text.replace("f(x)", "f(x, y)").replace("m(self, x)", "m(self)")
    called = text.replace("return 1", "return f(1) + self.m(2)")
    both = [candidate("ada", narrowed, text), candidate("bo", called, text)]
    assert [note for note in taken(both, "ada bo").notes if "calls" in note] == [
        "a.py:13: calls C.m: too many positional arguments (bo)",
        "a.py:13: calls f: missing a required argument: 'y' (bo)",
    ]
    own = called.replace("    a = 1", "    def __init__(self):\n        self.m = f\n\n    a = 1")
    both = [candidate("ada", narrowed, text), candidate("bo", own, text)]
    assert [note for note in taken(both, "ada bo").notes if "C.m" in note] == []


def test_the_edit_that_wrote_a_line():
    edits = [(1, 2, 3), (4, 6, 0), (7, 7, 1)]
    assert [edit_of_line(edits, line) for line in range(1, 9)] == [
        None, 0, 0, 0, None, None, None, 2,
    ]  # fmt: skip


def test_names_are_not_looked_at_in_other_languages():
    origin = "package a\n\nfunc f(x int) int {\n\treturn x\n}\n"
    whole = origin.replace("func f", "func help() {}\n\nfunc f").replace(
        "return x", "return help()"
    )
    one = [candidate("ada", whole, origin, "a.go")]
    *_, using = hunk_names(one)
    assert taken(one, f"ada a.go#{using}").notes[-1] == "a.go: parses; not checked: names (go)"
