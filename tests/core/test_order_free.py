"""Insertions at one place that may both be kept, by grammar."""

import pytest

from excise.order_free import ORDER_FREE, added

CLASS = "class S:\n    def a(self): ...\n\nx = 1\n"
MODULE = 'import {a} from "./x";\nclass A {\n m() {}\n}\n'
JAVA = "import a.b;\nclass A {\n  int f() {return 1;}\n}\n"


@pytest.mark.parametrize(
    ("origin", "line", "a", "b", "grammar", "is_free"),
    [
        (
            CLASS,
            2,
            "\n    def d(self):\n        pass\n",
            "\n    def e(self):\n        pass\n",
            "python",
            True,
        ),
        (
            CLASS,
            2,
            "\n    def d(self):\n        pass\n",
            "\n    def d(self, x):\n        pass\n",
            "python",
            False,
        ),
        (
            CLASS,
            2,
            "\n    @p\n    def d(self):\n        pass\n",
            "\n    def e(self):\n        pass\n",
            "python",
            False,
        ),
        (CLASS, 2, "    def a(self): ...\n", "    def e(self): ...\n", "python", False),
        (CLASS, 2, "    y = 1\n", "    z = 2\n", "python", False),
        ("import os\nx=1\n", 1, "import re\n", "from a import b as c, d\n", "python", True),
        ("import os\nx=1\n", 1, "import re\n", "from a import re\n", "python", False),
        ("import os\nx=1\n", 1, "import re\n", "from a import *\n", "python", False),
        ("x=1\n", 1, "def f():\n    pass\n", "# c\ndef g():\n    pass\n", "python", True),
        ("def f():\n    a\n", 2, "    b\n", "    c\n", "python", False),
        ('{\n  "a": 1,\n  "z": 2\n}\n', 2, '  "b": 1,\n', '  "c": {"x": 1},\n', "json", True),
        ('{\n  "a": 1,\n  "z": 2\n}\n', 2, '  "b": 1,\n', '  "b": {"x": 1},\n', "json", False),
        ("[\n  1,\n  2\n]\n", 2, "  3,\n", "  4,\n", "json", False),
        ("[t]\na = 1\n[u]\n", 2, "b = 1\n", "c = 1\n", "toml", True),
        ("[t]\na = 1\n[u]\nz=1\n", 2, "[b]\nx = 1\n", "[c]\nx = 1\n", "toml", True),
        ("a: 1\nt:\n  b: 2\n", 3, "  c: 3\n", "  d: 4\n", "yaml", True),
        ("a: 1\nt:\n  - b\n", 3, "  - c\n", "  - d\n", "yaml", False),
        (
            MODULE,
            1,
            'import {b} from "./x";\n',
            'import c, {d as e} from "./y";\n',
            "typescript",
            True,
        ),
        (MODULE, 1, 'import {b} from "./x";\n', 'import "./y";\n', "typescript", False),
        (MODULE, 3, " n() {}\n", " o() {}\n", "typescript", True),
        (MODULE, 3, " n() {}\n", " @d o() {}\n", "typescript", False),
        (MODULE, 3, " n = 1;\n", " o = 2;\n", "typescript", False),
        (MODULE, 4, "export function f() {}\n", "function g() {}\n", "typescript", True),
        (MODULE, 4, "export default function f() {}\n", "function g() {}\n", "typescript", False),
        (JAVA, 3, "  int g() {return 1;}\n", "  int h(int a) {return 1;}\n", "java", True),
        (JAVA, 3, "  int f(int a) {return 1;}\n", "  int h(int a) {return 1;}\n", "java", False),
        (
            JAVA,
            3,
            "  @Override int g() {return 1;}\n",
            "  int h(int a) {return 1;}\n",
            "java",
            False,
        ),
        (JAVA, 1, "import a.c;\n", "import b.d;\n", "java", True),
        (JAVA, 1, "import a.c;\n", "import b.c;\n", "java", False),
        (
            '#include "a.h"\nint f(void) { return 1; }\n',
            1,
            '#include "b.h"\n',
            '#include "c.h"\n',
            "c",
            True,
        ),
        (
            '#include "a.h"\nint f(void) { return 1; }\n',
            2,
            "int *g(void) { return 1; }\n",
            "int h(void) { return 1; }\n",
            "c",
            True,
        ),
        (
            'package m\nimport (\n\t"a"\n)\nfunc (s *S) F() {}\n',
            3,
            '\t"b"\n',
            '\t"c"\n',
            "go",
            True,
        ),
        (
            'package m\nimport (\n\t"a"\n)\nfunc (s *S) F() {}\n',
            5,
            "func (s *S) G() {}\n",
            "func (t T) G() {}\n",
            "go",
            True,
        ),
        ("package m\n", 1, "func init() {}\n", "func G() {}\n", "go", False),
        ("use a::b;\nimpl A {\n fn f() {}\n}\n", 3, " fn g() {}\n", " fn h() {}\n", "rust", True),
        (
            "use a::b;\nimpl A {\n fn f() {}\n}\n",
            3,
            " #[t]\n fn g() {}\n",
            " fn h() {}\n",
            "rust",
            False,
        ),
        ("use a::b;\nenum A {\n B,\n}\n", 3, " C,\n", " D,\n", "rust", False),
        ("class A\n def f\n end\nend\n", 3, " def g\n end\n", " def h\n end\n", "ruby", True),
        ("x = (\n", 1, " def g\n end\n", " def h\n end\n", "python", False),
    ],
)
def test_members_of_some_parents_have_no_order(origin, line, a, b, grammar, is_free):
    both, swapped = added(origin, line, [a, b], grammar), added(origin, line, [b, a], grammar)
    assert (both is not None) is (swapped is not None) is is_free
    alone = [added(origin, line, [part], grammar) for part in (a, b)]
    # Two of which each is known alone go together as their text does.
    assert is_free is bool(all(alone) and alone[0][0].goes_with(alone[1][0]))
    if both is not None:
        assert swapped == both[::-1] == (alone[1][0], alone[0][0])


def test_every_grammar_of_the_table_has_a_case_that_is_free():
    marks = test_members_of_some_parents_have_no_order.pytestmark
    free = {case[4] for mark in marks for case in mark.args[1] if case[5]}
    assert ORDER_FREE.keys() - free == {"tsx", "javascript", "csharp", "cpp"}  # tables of others


@pytest.mark.parametrize("grammar", [None, "markdown", "python"])
def test_what_no_grammar_reads_has_an_order(grammar):
    assert added("x = (\n", 1, ["a\n", "b\n"], grammar) is None
    assert added("x = 1", 1, ["def f(): ...\n", "def g(): ...\n"], grammar) is None


def test_of_several_additions_no_two_may_have_one_name():
    texts = [f"    def f{n}(self): ...\n" for n in range(4)]
    four = added("class S:\n    x = 1\n", 2, texts, "python")
    assert [own.names for own in four] == [("f0",), ("f1",), ("f2",), ("f3",)]
    assert added("class S:\n    x = 1\n", 2, [*texts, texts[1]], "python") is None
