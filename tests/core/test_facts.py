"""Facts about edits: stubs of every kind, what breaks, what must not be called either."""

import sys

import pytest
from tests.edit_facts import facts_of

from excise.facts import EditFacts, joined_facts
from excise.python_facts import Module, lost_errors

ORIGIN = '''"""A module."""
import os
from pkg import one


class Base:
    def area(self):
        return self.side


def f(x, *, strict=False):
    """Do it."""
    y = x
    return os.path.join(y, one)
'''


def facts(revision, origin=ORIGIN, grammar="python"):
    return facts_of(origin, [revision], grammar)[0]


def edited(old, new):
    assert ORIGIN.count(old) == 1
    return facts(ORIGIN.replace(old, new))


STUBS = {
    "dead parameter": ("f(x, *", "f(x, timeout=None, *"),
    "dead keyword parameter": ("strict=False", "strict=False, timeout: float = 1.5"),
    "dead rest": ("strict=False", "strict=False, **options"),
    "dead local": ("    y = x\n", "    y = x\n    unused = x + 1\n"),
    "dead annotated local": ("    y = x\n", "    y = x\n    unused: int = 0\n"),
    "dead constant": ("class Base", "LIMIT = 10\n\n\nclass Base"),
    "dead import": ("import os\n", "import os\nimport sys\n"),
    "dead name of an import": ("import one", "import one, two"),
    "dead attribute": ("        return self", "        self.seen = True\n        return self"),
    "dead private function": ("class Base", "def _help(x):\n    return x\n\n\nclass Base"),
    "comment": ("    y = x\n", "    # because\n    y = x  # so\n"),
    "docstring": ("Do it.", "Do it well."),
    "new docstring": ("return self.side", '"""Return it."""\n        return self.side'),
    "white space": ("    y = x\n", "    y  =  x\n\n"),
    "pass": ("    y = x\n", "    pass\n    y = x\n"),
    "layout": ("    y = x\n", "    y = (\n        x\n    )\n"),
    "both": ("f(x, *", "f(x, timeout=None, *"),
}


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_a_stub(name):
    assert edited(*STUBS[name]).is_stub


@pytest.mark.parametrize("name", [name for name in STUBS if name.startswith("dead")])
def test_an_unread_name_is_named_and_read_ones_are_none(name):
    found = edited(*STUBS[name])
    assert len(found.unread) == 1
    assert not found.same_program


EDITS = {
    "read parameter": ("f(x, *, strict=False):\n", "f(x, up=0, *, strict=False):\n    x += up\n"),
    "default": ("strict=False", "strict=True"),
    "value": ("y = x", "y = x + 1"),
    "call for its effect": ("    y = x\n", "    y = x\n    unused = os.remove(x)\n"),
    "string": ("return self.side", "return 'side'"),
    "indent": ("    y = x\n    return", "    if x:\n        y = x\n    return"),
    "deleted": ("    y = x\n", ""),
    "public function": ("class Base", "def area(x):\n    return x * x\n\n\nclass Base"),
    "getattr": ("y = x", "y = x; total = 0; x = locals()['total']"),
    "decorator": ("def f(", "@one\ndef f("),
    "relative import": ("import os\n", "import os\nfrom . import signals\n"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_no_stub(name):
    assert not edited(*EDITS[name]).is_stub


def test_settings_and_classes_of_frameworks_are_read_elsewhere():
    assert not facts("DEBUG = 1\nSLASH = 0\n", "DEBUG = 1\n").is_stub
    origin = "class A(Model):\n    x = 1\n"
    assert not facts(origin + "    ordering = ['x']\n", origin).is_stub
    origin = "class A(Model):\n    def f(self):\n        return 1\n"
    assert not facts(origin.replace("return", "self.timeout = 5\n        return"), origin).is_stub


def test_an_edit_of_several_files_is_a_stub_if_each_is():
    comment, unread, edit = (
        EditFacts(same_program=True), EditFacts(unread=("x",), only_unread=True), EditFacts(),
    )  # fmt: skip
    assert joined_facts([comment, comment]).same_program
    assert joined_facts([comment, unread]).only_unread
    assert not joined_facts([comment, edit]).is_stub
    assert not joined_facts([unread, edit]).is_stub


@pytest.mark.parametrize(
    ("grammar", "origin", "comment", "edit"),
    [
        ("java", "class A {\n int x;\n}\n", "class A {\n // why\n int x;\n}\n", "class A {\n}\n"),
        ("c", "int x;\nint y;\n", "/* a */ int x;\n\nint y;\n", "/* int x;*/\nint y;\n"),
        ("javascript", "let x = 1\n", "let x = 1 // one\n", "let x = 2 // one\n"),
        ("python", "print 'x'\n", "print 'x'  # old\n", "print 'y'\n"),
    ],
)
def test_comments_in_other_languages(grammar, origin, comment, edit):
    assert facts(comment, origin, grammar).same_program
    assert not facts(edit, origin, grammar).is_stub


def test_without_a_grammar_nothing_is_known():
    assert facts("a", "b", None) == EditFacts()


HOSTILE = ["x=" + "not " * 20_000 + "1\n", "if a: pass\n" + "elif b: pass\n" * 20_000,
           "a" + ".b" * 20_000 + "\n", "x = '\ud800'\n", "x = 1\0\n", "#" * 600_000]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_text_that_python_gives_up_on_claims_nothing(text):
    assert not facts(text, "x = 1\n").errors
    assert facts("x = 1\n", text) is not None


def test_parsers_are_announced_and_a_hook_keeps_texts_from_them():
    """In a child: hooks of an interpreter cannot be taken back."""
    import subprocess

    code = """
import sys
from excise.errors import Unparsable
heard = []
def hook(event, arguments):
    if event.startswith("excise.pars"):
        heard.append((event, arguments[0]))
        if event == "excise.parse" and b"secret" in arguments[1]:
            raise Unparsable("no")
sys.addaudithook(hook)
from excise.facts import EditFacts
from tests.edit_facts import facts_of
assert facts_of("x = 1\\n", ["# y\\nx = 1\\n"], "python")[0].same_program
assert heard == [("excise.parse", "python_ast"), ("excise.parsed", "python_ast")] * 2, heard
assert facts_of("x = 1\\n", ["secret = 1\\n"], "python") == (EditFacts(),)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", sorted(STUBS | EDITS))
def test_company_changes_no_fact(name):
    """What a revision shares with others is looked through once, and means the same."""
    every = [ORIGIN.replace(*edit) for edit in (STUBS | EDITS).values()]
    every += ["x = 1; y = x\n", "y = 1; x = y\n", "x = 1\ry = x\n", ""]
    text = ORIGIN.replace(*(STUBS | EDITS)[name])
    every.remove(text)
    assert facts_of(ORIGIN, [*every, text], "python")[-1] == facts(text)


CLASSES = """\
class Base:
    pass


class Shape(Base):
    sides = 4

    def area(self):
        return self.side() * self.sides

    def side(self):
        return 1

    @staticmethod
    def unit():
        return "m"


def make():
    return Shape.unit()
"""


def in_classes(old, new):
    assert old in CLASSES
    return lost_errors(Module.of(CLASSES.replace(old, new)).lost_members(Module.of(CLASSES)))


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        # a function at the top level in the middle of the class takes what follows
        (
            "    def side(self):",
            "def helper():\n    pass\n\n    def side(self):",
            ("lets side, unit fall out of class Shape",),
        ),
        (
            "    def side(self):\n        return 1\n\n    @staticmethod\n    def unit():\n"
            '        return "m"\n',
            'def side(self):\n    return 1\n\n\nclass Unit:\n    @staticmethod\n    def unit():\n'
            '        return "m"\n',
            (
                "lets side fall out of class Shape",
                "removes unit of class Shape, which is still read",
            ),
        ),
        (
            "    def side(self):\n        return 1\n",
            "",
            ("removes side of class Shape, which is still read",),
        ),
        ("    sides = 4\n", "", ("removes sides of class Shape, which is still read",)),
        (
            '    @staticmethod\n    def unit():\n        return "m"\n',
            "",
            ("removes unit of class Shape, which is still read",),
        ),
    ],
)  # fmt: skip
def test_a_member_that_falls_out_of_its_class_or_is_missed(old, new, errors):
    assert in_classes(old, new) == errors


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.side() * self.sides", "self.side() * 4"),
        ("    sides = 4\n", "    if 1:\n        sides = 5\n"),
        ("    sides = 4\n", "    def __init__(self):\n        self.sides = 4\n"),
        ("    def side(self):\n        return 1\n", "    side = lambda self: 1\n"),
        ("    def side(self):\n        return 1\n", "    from m import side\n"),
        ("    def side(self):\n        return 1\n", "    def __getattr__(self, n): pass\n"),
        ("class Base:\n    pass", "class Base:\n    sides = 4"),
        ("class Shape(Base):\n    sides = 4\n", "class Shape(Unknown):\n"),
        ("class Shape(Base):\n    sides = 4\n", "@given\nclass Shape(Base):\n"),
        ("class Shape(Base):\n    sides = 4\n", "class Shape(Base, metaclass=M):\n"),
        ("class Shape(Base):\n    sides = 4\n", "class Square(Base):\n"),
        ("def make", "class Square(Shape):\n    sides = 4\n\n\ndef make"),
    ],
)  # fmt: skip
def test_a_member_that_can_come_from_elsewhere_is_not_missed(old, new):
    removed = (
        CLASSES.replace("    sides = 4\n", "")
        if old in ("class Base:\n    pass", "def make")
        else CLASSES
    )
    [facts] = facts_of(CLASSES, [removed.replace(old, new)], "python")
    assert not [error for error in facts.errors if "class" in error]


def test_a_helper_written_within_a_function_is_no_member_that_fell_out():
    one = "class C:\n    def f(self):\n        return self.g()\n\n    def g(self):\n        pass\n"
    two = "class C:\n    def f(self):\n        def g():\n            return 1\n        return g()\n"
    assert facts_of(one, [two], "python")[0].errors == ()


def test_a_member_with_a_decorator_too_deep_to_compare_claims_nothing():
    one = f"class C:\n    @{'.'.join(['a'] * 5000)}\n    def f(self):\n        pass\n"
    [facts] = facts_of(one, ["def f(self):\n    pass\n\nclass C:\n    pass\n"], "python")
    assert not [error for error in facts.errors if "class" in error]
