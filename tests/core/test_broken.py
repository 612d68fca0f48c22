"""What an edit breaks: what is proved is said, and nothing else is."""

from __future__ import annotations

import pytest

from excise.broken import broken_by
from excise.reading import ParsedTexts, Reading

ORIGIN = "import os\n\n\ndef a(x):\n    return 1\n"


def said(before, after, grammar="python", path=None, given=()):
    """Return the messages, or the line that is not read."""
    broken, line = broken_by(before, after, Reading(grammar, path=path), ParsedTexts(), given)
    return line or [each.message for each in broken]


def added(text, **options):
    return said(ORIGIN, ORIGIN + text, **options)


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n", "x = (1\ny = 2\n", "if x\n  y\n", "x = 'abc\n", "def f(self) return 1\n",
        "  x = 1\n", "def f():\nx = 1\n", "return 3\n", "a(x=1, 2)\n", "print 'x'\n", "a() = 1\n",
        "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> b\n",
        "from __future__ import annotations\n",
    ],
)  # fmt: skip
def test_python_cannot_read_it(text):
    [message] = added(text)
    assert message.startswith("Python cannot read line ")
    assert said(f"x = (\n{ORIGIN}", f"x = (\n{ORIGIN}{text}") == []  # nor could it before


@pytest.mark.parametrize(
    "text",
    [
        "lazy import json\n", "lazy from a import b\n", "def f[T = int](): pass\n",
        "def f(x):\n    return t'{x}'\n",
        *(["type X = int\n", "def f[T](x: T) -> T: ...\n", "class A[*Ts]: ...\n",
           'f"{os.x["k"]}"\n', 'f"{\n  os\n}"\n', "try:\n    a(1)\nexcept A, B:\n    pass\n"]),
    ],
)  # fmt: skip
def test_what_a_newer_python_reads_is_not_broken(text):
    assert added(text) in (6, 7, 8, 9, [])


def test_a_name_that_nothing_defines():
    assert added("y = z\n") == ["uses z, which nothing defines"]
    assert added("def f():\n    return os.x, oss.y\n") == ["uses oss, which nothing defines"]
    assert said(ORIGIN + "os.x\n", ORIGIN.replace("import os\n", "") + "os.x\n") == [
        "uses os, which nothing defines"
    ]
    # Another function binds it, which says nothing about this one.
    assert added("def f():\n    z = 1\n\ndef g():\n    return z\n") == [
        "uses z, which nothing defines"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: Unknown) -> 'Other': ...\n", "y = z  # noqa: F821\n", "y = [z for z in os]\n",
        "def f():\n    global z\n    z = 1\n\ndef g():\n    return z\n", "y = (z := 1) + z\n",
        "try:\n    z\nexcept NameError:\n    z = 1\n",
        "try:\n    z()\nexcept Exception:\n    pass\n",
        "from m import *\ny = z\n", "globals()['z'] = 1\nz\n", "exec('z = 1')\nz\n",
        "if os.x:\n    z = 1\nprint(z)\n", "import builtins\nbuiltins.z = 1\nz\n",
        "import builtins\nsetattr(builtins, 'z', 1)\nz\n", "y = unicode, __salt__, reveal_type\n",
        "import sys\nif sys.version_info < (3,):\n    z\n", "def f():\n    y: z = 1\n",
        "import pytest\nwith pytest.raises(NameError):\n    z\n", "__all__ = ['z']\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m import z\n\ny = z\n",
        "# %%\ndisplay(z)\n", "# Databricks notebook source\nspark.table('a')\n",
    ],
)  # fmt: skip
def test_a_name_of_which_nobody_knows_is_not_missing(text):
    assert added(text) == []


def test_names_of_whoever_runs_the_file():
    assert added("y = z\n", given=("z",)) == []
    assert said("p = Program()\n", "p = Program()\nImport('env')\n") == []  # as some before
    assert said("", "Import('env')\n") == []
    assert said("", "def f():\n    return os.getcwd()\n") == ["uses os, which nothing defines"]
    for path in ("SConstruct", "m.pyi", "BUILD", "a.bzl"):
        assert said("x = 1\n", "x = 1\ny = z\n", path=path) == []


C = "int f(void)\n{\n\tif (x)\n\t\treturn 1;\n\treturn 0;\n}\n"
LOOP = C.replace("\treturn 0", "\tfor_each(p, list) {\n\t\tfree(p);\n\t}\n\treturn 0")


@pytest.mark.parametrize(
    ("grammar", "before", "after", "expected"),
    [
        ("c", C, LOOP, 5),
        ("c", C, C.replace("if (x)", "if (x) {"), ["has { in line 3, which nothing closes"]),
        ("c", C, C.replace("if (x)", "#if A\n\tif (x) {\n#else\n\tif (y) {\n#endif"), 1),
        ("rust", "fn a() {\n}\n", "fn a() {\n}\n}\n", ["has } in line 3, which nothing opens"]),
        ("rust", "fn a() {\n}\n", "fn a() {\n}\nnew syntax here;\n", 3),
        ("go", "package m\nvar a = f(1)\n", "package m\nvar a = f((1)\n",
         ["has ( in line 2, which nothing closes"]),
        ("java", 'class A {\n  String s = "a";\n}\n', 'class A {\n  String s = "a;\n}\n',
         ['has " in line 2, which nothing closes']),
        ("typescript", "let a = 1;\n",
         "<<<<<<< a\nlet a = 2;\n=======\nlet a = 3;\n>>>>>>> b\n",
         ["leaves the marks of a merge conflict in line 1"]),
        ("go", "package m\n", "package m\nvar a = `\n<<<<<<< a\n=======\n>>>>>>> b\n`\n", []),
        ("json", '{"a": 1}\n', '{"a": [1}\n', ["has [ in line 1, which nothing closes"]),
        ("c", C.replace("}", ""), C.replace("}", "").replace("0;", "0"), []),
    ],
)  # fmt: skip
def test_of_other_languages_only_what_the_edit_leaves_open(grammar, before, after, expected):
    found = said(before, after, grammar)
    assert (bool(found) if expected == 1 else found) == (expected == 1 or expected)
    assert expected != 1 or isinstance(found, int)


def test_a_header_is_read_as_cpp_too():
    text = "#pragma once\nnamespace a {\ntemplate <typename T> struct b { T c; };\n}\n"
    assert said("", text, "c", "a.h") == []
    assert said("", text, "c", "a.c") != []
