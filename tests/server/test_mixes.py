"""Mixes of hunks: what lacks a name is refused, and the hunk that mends it is named."""

from __future__ import annotations

import shlex
import sys

import pytest

from excise.errors import Unparsable
from excise_server.foundation.changes import Side
from excise_server.review.candidate import Candidate
from excise_server.review.mixes import BrokenMixError, Mix
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
    return take([candidates], choices_named(shlex.split(arguments), candidates), **options)


def text_of(result):
    return result.files[0].new.text


def refused(candidates, arguments, *parts):
    with pytest.raises(BrokenMixError) as caught:
        taken(candidates, arguments)
    for part in parts:
        assert part in str(caught.value)
    assert taken(candidates, arguments, anyway=True).files
    return caught.value


def mended(candidates, error):
    """Type the command that a refusal names."""
    words = shlex.split(error.mend)
    assert words[:2] == ["excise", "take"]
    return take([candidates], choices_named(words[2:], candidates))


def changed(*edits, origin=ORIGIN):
    for old, new in edits:
        assert old in origin
        origin = origin.replace(old, new, 1)
    return origin


def test_a_hunk_without_the_import_that_it_uses_is_refused_and_the_import_named():
    both = [
        candidate("ada", HELPED),
        candidate("bo", ORIGIN.replace("def last(x)", "def last(y, x)")),
    ]
    error = refused(both, "ada a.py#9", "a.py:9: uses re", "a.py#1+ of ada", "--anyway")
    assert [(f.path, f.line, f.kind, f.name, f.scope) for f in error.findings] == [
        ("a.py", 9, "name", "re", "second")
    ]
    assert error.mend == "excise take ada a.py#9 a.py#1+"
    assert text_of(mended(both, error)) == HELPED
    assert taken(both, "ada a.py#9", anyway=True).notes == (
        "a.py:9: uses re, which nothing defines",
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
    error = refused(both, "ada a.py#13", "helper", "a.py#1+ of ada")
    assert mended(both, error).files
    # where its own definition is out of the question, that of another candidate is named
    cyd = changed(
        ('    return os.path.join(x, "a")', "    global helper\n    helper = x"),
        ("def third(x):\n    return x", "def third(x):\n    return helper(x)"),
    )
    bo = changed(("import os\n", "import os\nhelper = 1\n"), ('(x, "a")', '(x, "b")'))
    both = [candidate("cyd", cyd), candidate("bo", bo)]
    error = refused(both, "cyd a.py#13 bo a.py#5", "helper", "a.py#1+ of bo")
    assert error.mend == "excise take cyd a.py#13 bo a.py#5 a.py#1+"
    assert mended(both, error).files


def test_what_is_missing_in_turn_is_named_too():
    chain = changed(
        ("import os\n", "import os\nimport json\n"),
        ("def first(x):\n", "def load(x):\n    return json.loads(x)\n\n\ndef first(x):\n"),
        ("def last(x):\n    return x", "def last(x):\n    return load(x)"),
    )
    one = [candidate("ada", chain)]
    error = refused(one, "ada a.py#17", "load", "a.py#1+ of ada")
    assert text_of(mended(one, error)) == chain


def test_two_candidates_that_are_fine_alone():
    renamed = changed(("def third(x):", "def fourth(x):"))
    calls = changed(("def last(x):\n    return x", "def last(x):\n    return third(x)"))
    both = [candidate("ada", renamed), candidate("bo", calls)]
    assert taken(both, "ada").notes == taken(both, "bo").notes == ()
    error = refused(both, "ada bo", "a.py:17: uses third", "no hunk of a candidate mends it")
    assert error.mend == ""


def test_the_order_of_statements_counts():
    early = changed(
        ("def first(x):", "LIMIT = 3\n\n\ndef first(x):"),
        ("def last(x):", "SIZE = LIMIT\n\n\ndef last(x):"),
    )
    late = changed(("def last(x):\n    return x\n", "def last(x):\n    return x\n\n\nLIMIT = 4\n"))
    both = [candidate("ada", early), candidate("bo", late)]
    refused(both, "ada a.py#15+ bo a.py#17+", "uses LIMIT", "a.py#3+ of ada")


def test_a_candidate_with_an_error_of_syntax_alone_and_mixed():
    torn = changed(("def third(x):\n    return x", "def third(x):\n    return (x"))
    both = [candidate("ada", torn), candidate("bo", HELPED)]
    (note,) = taken(both, "ada").notes
    assert note == "a.py:13: is not Python ('(' was never closed), as in a candidate"
    assert "never closed" in taken(both, "ada bo").notes[0]


def test_half_of_a_bracket_is_refused_in_every_language_with_a_grammar():
    origin = "int f(void) {\n  int a = 1;\n  int b = 2;\n  int c = 3;\n  return a;\n}\n"
    both_ends = origin.replace("int a = 1;", "if (1) {").replace("int c = 3;", "}")
    for path in ("a.c", "a.cpp", "a.java"):
        one = [candidate("ada", both_ends, origin, path)]
        assert taken(one, "ada").notes == ()
        error = refused(one, f"ada {path}#2", "breaks the syntax", f"{path}#4 of ada")
        assert text_of(mended(one, error)) == both_ends
    one = [candidate("ada", origin.replace("= 1", "= 11").replace("= 3", "= 33"), origin, "a.c")]
    assert taken(one, "ada a.c#2").notes == ("a.c: parses; not checked: names (c)",)
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
    refused(one, "ada a.py#5-9", "removes b of class C", "a.py#2 of ada")
    falls = f"{moved}\n{end}"
    both = [candidate("ada", falls, origin), candidate("bo", origin.replace("= 1", "= 3"), origin)]
    assert hunk_names(both) == ["2", "5-6"]
    error = refused(both, "ada a.py#5-6", "lets b fall out of class C", "a.py#2 of ada")
    assert text_of(mended(both, error)) == falls


@pytest.mark.parametrize(
    "new",
    [
        "def second(x):\n    global made\n    made = x\n    return made",
        "def second(x):\n    def inner():\n        nonlocal x\n        x = 1\n    return inner",
        "def second(x):\n    y = x\n    del y\n    y = 2\n    return y",
        "from lib import *\n\n\ndef second(x):\n    return anything",
        "__all__ = ['first', 'second']\n\n\ndef second(x):\n    return x",
        "if os:\n    import one\nelse:\n    one = None\n\n\ndef second(x):\n    return one",
        "def second(x):\n    return [y for y in x if (z := y)] and z",
        "class K:\n    size = 1\n    other = size\n\n\ndef second(x):\n    return K.other",
        "def deco(f):\n    return f\n\n\n@deco\ndef second(x):\n    return x",
        "def second(x):\n    match x:\n        case {'k': v, **rest}:\n            return v, rest\n"
        "        case [a, *b]:\n            return a, b\n        case str() as s: pass",
        "def second(x):  # type: (Unknown) -> Unknown\n    return x  # type: ignore",
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n\n\nfast",
        "try:\n    text = unicode\nexcept NameError:\n    text = str\n\n\ntext",
        "def second(x: 'Unknown') -> 'list[Unknown]':\n    return x",
        "exec('made = 1')\n\n\ndef second(x):\n    return made",
        "def second(x):\n    return lambda y, *z: (x, y, z)",
        "def second(x):\n    for i in x:\n        pass\n    return i",
        "def second(x):\n    with x as (a, b):\n        return a, b",
        "def second(x):\n    return f'{x!r:>{len(x)}}'",
        "def second(x):\n    return __file__, __name__, WindowsError, _('text')",
        "def second(x):\n\f\n    return 'a\u2028b\x0c\x1c' + x",
        "async def second(x):\n    return [y async for y in x]",
        "def second(x):\n    try:\n        pass\n    except* ValueError as e:\n        print(e)",
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
        ("def second(x):\n    y = x\n    del y\n    return y", "y"),
        ("def second(x):\n    made += 1\n    return made", "made"),
        ("@made\ndef second(x):\n    return x", "made"),
        ("def second(x: made):\n    return x", "made"),
        ("def second(x=made):\n    return x", "made"),
        ("def second(x):\n    return [made for y in x]", "made"),
        ("def second(x):\n    return f'{made}'", "made"),
        ("def second(x):\n    class K:\n        size = 1\n        def f(self): size", "size"),
        ("__all__ = ['made']\n\n\ndef second(x):\n    return x", "made"),
        ("def second(x):\n    match x:\n        case made.K:\n            return x", "made"),
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
    ("path", "origin"),
    [
        ("a.py", "print 'old'\nexec 'x'\ny = 1\n"),
        ("a.py", "%matplotlib inline\n!ls\ny = 1\n"),
        ("a.ipynb", '{"cells": [1],\n"y": 1}\n'),
        ("a.pyi", "def f(x: Later) -> Later: ...\ny: int = 1\nclass Later: ...\n"),
        ("a.py", "\ufeffimport os\ny = 1\n"),
    ],
)
def test_files_that_are_python_in_part(path, origin):
    text = origin.replace("1", "3")
    assert Mix(path, [origin], list).check(text).broken == ()
    torn = Mix(path, [origin], list).check(text + "]]")
    assert [finding.kind for finding in torn.broken][:1] == ["syntax"]


def test_a_stub_file_may_use_what_comes_later_and_nothing_else():
    mix = Mix("a.pyi", ["x: int\n"], list)
    assert mix.check("x: int\ndef f(a: Later) -> Later: ...\nclass Later(Base): ...\n"
                     "class Base: ...\n").broken == ()  # fmt: skip
    assert [f.name for f in mix.check("x: Unknown\n").broken] == ["Unknown"]


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
    assert "names" in check.said
    assert set(heard) == {"python_ast", "pyflakes", "python"}


HOOKED: list[int] = []


def test_a_renamed_and_a_created_file():
    moved = candidate("ada", HELPED, new_path="b.py")
    error = refused([moved], "ada a.py#9", "a.py:9: uses re", "a.py#1+ of ada")
    assert mended([moved], error).files
    made = candidate("bo", "print(unknown)\n", None, "new.py")
    (note,) = taken([made, moved], "bo").notes
    assert note == "new.py:1: uses unknown, which nothing defines, as in a candidate"


def test_names_of_the_outside_are_quoted_and_escaped():
    path = "a b;$(x)\n.py"
    one = [
        candidate("-x; rm", HELPED, path=path),
        candidate("bo", ORIGIN + "\n\ny = 1\n", path=path),
    ]
    with pytest.raises(BrokenMixError) as caught:
        take([one], [*choices_named([one[0].id, f"{path}#9"], one)])
    assert "\n" not in str(caught.value)
    assert shlex.split(caught.value.mend)[2] == "-x; rm"
    assert "$(x)" in shlex.split(caught.value.mend)[3]
