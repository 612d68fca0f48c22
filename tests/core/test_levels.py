"""Levels: the same program by tables, by Python's own parser, and by the verdicts of tests."""

import ast
import gzip
import io
import json
import random
import re
import sys
import textwrap
import tokenize
import warnings
from collections import defaultdict
from itertools import combinations, permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import levels as slow_levels
from tests.reference.budget import scaled

import excise
from excise import ChangeSet, ScoreMatrix, syntax
from excise.agreement import CODE, IDENTICAL, NAMES, SAME
from excise.errors import Cancelled
from excise.kernels._walk import CancelFlag
from excise.levels import CodeForms, level
from excise.normal_form import ASSURED, form_of, written
from excise.renaming import functions, rename
from excise.text import normalise

CASES = Path(__file__).parents[1] / "cases" / "levels"
CASE_FILES = sorted(CASES.glob("*.txt"))


def pairs_of(path):
    """Yield the pairs of an archive: the word that is expected, and the two texts."""
    for block in path.read_text("utf-8").split("\n====")[1:]:
        head, _, body = block.partition("\n")
        a, found, b = body.partition("\n----\n")
        assert found, block
        yield head.strip(), a + "\n", b + "\n"


CASE_PAIRS = [
    pytest.param(path.stem, *pair, id=f"{path.stem}-{number}")
    for path in CASE_FILES
    for number, pair in enumerate(pairs_of(path), start=1)
]


def test_every_assured_grammar_has_cases():
    assert {path.stem for path in CASE_FILES} >= ASSURED


@pytest.mark.parametrize(("grammar", "word", "a", "b"), CASE_PAIRS)
def test_a_pair(grammar, word, a, b):
    found = level("", a, b, language=grammar)
    assert (found.word if found else "different") == word
    forms = CodeForms("", grammar)
    assert forms.values(a) == forms.values(b) or word not in SAME
    back = level("", b, a, language=grammar)
    assert (back.word if back else "different") == word


IN_CLASS, IN_BRANCH = "\n\nclass A:\n    {}\n", "if y:\n    {}\n"
DECORATED = "\n\nclass A:\n    @d\n    {}\nif y:\n    pass\nelse:\n    {}\n"


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        # Texts that share a function or a statement, in which something else decides its form.
        ((IN_CLASS + IN_BRANCH).format("x: int = 1", "x: int = 1"),
         (IN_CLASS + IN_BRANCH).format("x: int = 1", "x = 1"), NAMES),
        ((IN_CLASS + IN_BRANCH).format("x: int = 1", "x: int = 1"),
         (IN_CLASS + IN_BRANCH).format("x = 1", "x: int = 1"), None),
        (DECORATED.format("def f(x: int): g(x)", "def f(x: int): g(x)"),
         DECORATED.format("def f(x: int): g(x)", "def f(x): g(x)"), NAMES),
        (DECORATED.format("def f(x: int): g(x)", "def f(x: int): g(x)"),
         DECORATED.format("def f(x): g(x)", "def f(x: int): g(x)"), None),
        ("class A:\n    # coding: latin-1\n    x\n",
         "\n\nclass A:\n    # coding: latin-1\n    x\n", None),
        ("'doc'\nx = 1\n", "x = 1\n", CODE),
        ("'>>> x'\nx = 1\n", "x = 1\n", None),
        ("import a, b\nfrom c import d\nx = 1\n",
         "from c import d  # so\nimport b\nimport a\nx = (1)\n", CODE),
        ("def f():\n    import a, b\n", "def f():\n    import b, a\n", CODE),
    ],
)  # fmt: skip
def test_what_texts_share_is_read_where_it_stands(a, b, word):
    found = level("", a, b, language="python")
    assert (found.word if found else None) == word


def test_a_docstring_that_one_text_reads_counts_there_only():
    origin, a, b = ("def f():\n    'f'\n", "def f():\n    'f'\nf.__doc__\n",
                    "def f():\n    pass\nf.__doc__\n")  # fmt: skip
    assert level(origin, a, b, language="python") is None
    assert level(origin, origin, b.replace("f.__doc__\n", ""), language="python").word == CODE


def test_identical_and_renamed():
    a, b = (f"def f(x):\n    {name} = x\n    return {name}, {name}\n" for name in ("one", "two"))
    assert level("", a, a) == (IDENTICAL, ())
    assert level("", a, b, language="python") == (NAMES, (("one", "two"),))
    assert level("", a, a.replace("\n", "\r\n"), language="python") == (IDENTICAL, ())


def test_only_new_names_are_replaced_by_their_values():
    old = "def f(x):\n    y = x.a\n    return y\n"
    new = "def f(x):\n    return x.a\n"
    assert level(old, old, new, language="python") is None
    assert level("def f(x):\n    pass\n", old, new, language="python").word == NAMES


def test_in_some_files_the_order_of_imports_counts():
    a, b = "import a\nimport b\n", "import b\nimport a\n"
    assert level("", a, b, path="x.py").word == CODE
    for path in ("pkg/__init__.py", "conftest.py"):
        assert level("", a, b, path=path) is None


@pytest.mark.parametrize("text", ["def f(:\n", "if a:\n  b\n c\n", " x = 1\n", "x = '\x00'\n"])
def test_a_text_that_does_not_parse_is_the_same_only_if_it_is_identical(text):
    commented = text + "# a comment\n"
    assert level("", text, text, language="python").word == IDENTICAL
    if text != "x = '\x00'\n":
        assert level("", text, commented, language="python") is None


def test_a_large_text_and_a_text_without_a_grammar_are_the_same_only_if_identical():
    large = "x = 1\n" * 200_000
    assert level("", large, large + "# end\n", language="python") is None
    assert level("", "a  b\n", "a b\n") is None


def test_what_nests_too_deeply_has_no_form():
    text = "x = " + "(" * 400 + "1" + ")" * 400 + "\n"
    assert level("", text, text + "# end\n", language="python") is None


# --- Python's own parser as the judge -------------------------------------------------------------


def judged(text):
    """Return what Python's parser makes of a text, docstrings and the order of imports aside."""
    tree = _Plain().visit(ast.parse(text))
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, _without_layout(node, body))
    return ast.dump(tree)


class _Plain(ast.NodeTransformer):
    def visit_JoinedStr(self, node):
        """An f-string without code is a string."""
        parts = [self.visit(part) for part in node.values]
        if all(isinstance(part, ast.Constant) for part in parts):
            return ast.Constant("".join(part.value for part in parts))
        return node


def _without_layout(node, body):
    if not getattr(node, "decorator_list", None):
        body = [
            statement
            for statement in body
            if not (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant | ast.JoinedStr)
                and not any(isinstance(part, ast.FormattedValue) for part in ast.walk(statement))
            )
        ]
    body = [statement for statement in body if not isinstance(statement, ast.Pass)]
    found, run = [], set()
    for statement in [*body, None]:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            source = getattr(statement, "module", None), getattr(statement, "level", None)
            run |= {f"{source} {ast.dump(alias)}" for alias in statement.names}
        else:
            found += [ast.Expr(ast.Constant(name)) for name in sorted(run)]
            run = set()
            if statement is not None:
                found.append(statement)
    return found


def functions_of_the_library(count, seed):
    """Draw functions and classes of the standard library."""
    files = sorted(Path(ast.__file__).parent.glob("*.py"))
    chance = random.Random(seed)
    drawn = []
    while len(drawn) < count:
        source = chance.choice(files).read_text("utf-8")
        kinds = (ast.FunctionDef, ast.ClassDef)
        nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, kinds)]
        nodes = [node for node in nodes if node.end_lineno - node.lineno < 40]
        if nodes:
            node = chance.choice(nodes)
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            lines = source.split("\n")[first - 1 : node.end_lineno]
            drawn.append(textwrap.dedent("\n".join(lines)) + "\n")
    return drawn


def form(text):
    text = normalise(text)
    found = form_of(syntax.parse(text, "python"), text, "python")
    return None if found is None else written(found)


def changed(text, chance):
    """Return a text in which a token was replaced or another put beside it."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.string.strip() and token.start[0] == token.end[0]
    ]
    token, other = chance.choice(tokens), chance.choice(tokens).string
    odd = ["(", "", ",", ")", "[", ";", "not ", "-", '"a"', "pass", ":", '"', 'f"', "1.0", "(r)"]
    other = chance.choice([other, chance.choice(odd)])
    put = chance.choice([other, other + token.string, token.string + other])
    lines = text.split("\n")
    row = lines[token.start[0] - 1]
    lines[token.start[0] - 1] = row[: token.start[1]] + put + row[token.end[1] :]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_equal_forms_are_equal_programs_to_python(seed):
    chance = random.Random(seed)
    merged = 0
    for text in functions_of_the_library(scaled(60), seed):
        for _ in range(10):
            other = changed(text, chance)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    theirs = judged(other)
                except (SyntaxError, ValueError):
                    continue
                if (made := form(other)) is not None and made == form(text):
                    merged += other != text
                    assert theirs == judged(text), other
    assert merged or scaled(60) < 60


def test_what_python_writes_back_is_the_same_code():
    texts = functions_of_the_library(scaled(60), 0)
    same = sum(form(text) == form(ast.unparse(ast.parse(text)) + "\n") for text in texts)
    # Not so: ``else: if``, which is written back as ``elif``, and the parentheses of generators.
    assert same >= 0.9 * len(texts)


# --- verdicts of tests as the judge ---------------------------------------------------------------


def rows(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labelled", "origins", "grammar", "merged"),
    [
        ("hef_python_many_models_dev.jsonl.gz", "humanevalfix_python.jsonl", "python", 4_500),
        ("hef_java_astraios.jsonl", "humanevalfix_java.jsonl", "java", 200),
    ],
)
def test_no_two_outputs_of_one_level_have_different_verdicts(
    excise_data, labelled, origins, grammar, merged
):
    forms = {
        row["id"]: CodeForms(normalise(row["origin"]), grammar)
        for row in rows(excise_data / origins)
    }
    classes, values = defaultdict(dict), defaultdict(set)
    for row in rows(excise_data / "labelled" / labelled):
        text = normalise(row["revision"])
        key = row["id"], forms[row["id"]].names(text)
        classes[key].setdefault(text, set()).add(row["passed"])
        values[key].add(forms[row["id"]].values(text))
    verdicts = [
        len(a | b)
        for each in classes.values()
        for a, b in combinations(each.values(), 2)
        if a == b or a.isdisjoint(b)
    ]
    assert len(verdicts) >= merged
    assert max(map(len, values.values())) == 1
    assert set(verdicts) == {1}


def test_levels_are_public():
    assert excise.level is level


# --- levels of whole change sets, beside the slow twin --------------------------------------------

TEXTS = st.sampled_from(
    [
        "",
        "x = 1\n",
        "x = (1)  # one\n",
        "x = 2\n",
        "def f(a):\n    b = a.c\n    return b, b\n",
        "def f(a):\n    d = (a.c)\n    return d, d\n",
        "def f(a):\n    b = a.c\n\n    return (b, b)\n",
        "def f(:\n",
    ]
)
PATHS = st.sampled_from(["a.py", "b.py", "test_a.py", "notes.txt"])
CHANGE_SETS = st.builds(
    lambda texts, facts: ChangeSet(
        texts,
        facts,
        {path: facet for path, facet in FACETS.items() if path in {*texts, *facts}},
    ),
    st.dictionaries(PATHS, TEXTS, max_size=3),
    st.dictionaries(PATHS, st.just(("mode 100755",)), max_size=1),
)
FACETS = {"test_a.py": "tests", "notes.txt": "docs"}


def word_of_texts(path, a, b):
    found = level("", a, b, path=path)
    return found.word if found else None


@pytest.mark.slow
@given(
    origin=st.dictionaries(PATHS, TEXTS, max_size=3),
    change_sets=st.lists(CHANGE_SETS, min_size=2, max_size=4),
)
@settings(max_examples=200)
def test_change_sets_are_the_same_as_their_files_are(origin, change_sets):
    named = {str(at): change_set for at, change_set in enumerate(change_sets)}
    matrix = ScoreMatrix.from_change_sets(origin, named)
    sides = [(own.texts, own.facts, own.facets) for own in change_sets]
    words = {}
    for i, j in product(range(len(sides)), repeat=2):
        found = matrix.level(i, j)
        words[i, j] = found.word if found else None
        assert words[i, j] == slow_levels.level(origin, sides[i], sides[j], word_of_texts)
        assert (matrix.codes[i] == matrix.codes[j]) == (words[i, j] in (IDENTICAL, CODE))
    ranks = {word: rank for rank, word in enumerate((*SAME, None))}
    for i, j, k in product(range(len(sides)), repeat=3):
        # Each level is an equivalence, and within the next one.
        assert ranks[words[i, k]] <= max(ranks[words[i, j]], ranks[words[j, k]])
    backwards = ScoreMatrix.from_change_sets(origin, dict(reversed(named.items())))
    alone = ScoreMatrix.from_change_sets(origin, dict(list(named.items())[:2]))
    assert alone.word(0, 1) == matrix.word(0, 1) == backwards.word(-2, -1) == matrix.word(1, 0)


def test_of_change_sets_the_other_facets_are_told_beside_the_word():
    code, tests = {"a.py": "x = 2\n"}, {"test_a.py": "assert x\n"}
    facets = {"test_a.py": "tests"}
    named = {"a": ChangeSet(code), "b": ChangeSet(code | tests, facets=facets),
             "c": ChangeSet(tests, facets=facets)}  # fmt: skip
    matrix = ScoreMatrix.from_change_sets({"a.py": "x = 1\n"}, named)
    assert (matrix.word(0, 1), matrix.beside(0, 1)) == (CODE, ("tests",))
    assert matrix.level(0, 2) is matrix.level(1, 2) is None


NEVER = [
    ("css", ".a .b { top: 0 }\n", ".a.b { top: 0 }\n"),
    ("css", "a { top: 0; left: 1 }\n", "a { left: 1; top: 0 }\n"),
    ("css", "a { top: 0; top: 1 }\n", "a { top: 1; top: 0 }\n"),
    ("make", "a: b\n\techo 1\n\techo 2\n", "a: b\n\techo 2\n\techo 1\n"),
    ("make", "a: b\n\techo 1\n", "a: b\n echo 1\n"),
    ("bash", "a= b\n", "a=b\n"),
    ("bash", "a b\nc\n", "a\nb c\n"),
    ("ruby", "f -1\n", "f - 1\n"),
    ("ruby", "x = a\n-b\n", "x = a - b\n"),
    ("sql", "CREATE TABLE a (b int); DROP TABLE c;\n", "DROP TABLE c; CREATE TABLE a (b int);\n"),
    ("yaml", "a:\n  b: 1\nc: 2\n", "a:\n  b: 1\n  c: 2\n"),
    ("typescript", "function f(a: string): string;\nfunction f(a: number): number;\n",
     "function f(a: number): number;\nfunction f(a: string): string;\n"),
    ("python", "@dataclass\nclass A:\n    x: int\n    y: int\n",
     "@dataclass\nclass A:\n    y: int\n    x: int\n"),
    ("python", "class A(Enum):\n    X = auto()\n    Y = auto()\n",
     "class A(Enum):\n    Y = auto()\n    X = auto()\n"),
    ("python", "def f():\n    Value = g()\n    return Value, value\n",
     "def f():\n    value = g()\n    return value, value\n"),
    ("python", "def f(x):\n    return x\n", "def f(X):\n    return X\n"),
    ("python", "x = 'a\u200bb'\n", "x = 'ab'\n"),
    ("python", "def f():\n    global x\n    x = 1\n", "def f():\n    global y\n    y = 1\n"),
    ("python",
     "def f():\n    x = 0\n    def g():\n        nonlocal x\n        x = 1\n    return g, x\n",
     "def f():\n    x = 0\n    def g():\n        x = 1\n    return g, x\n"),
    ("python", "@a\n@b\ndef f(): pass\n", "@b\n@a\ndef f(): pass\n"),
    ("python", "x = f'{a}'\n", "x = f'{b}'\n"),
    ("python", "x = f() < g()\n", "x = g() > f()\n"),
    ("python", "def f(:\n    x = 1\n", "def f(:\n    x = (1)\n"),
]  # fmt: skip


WHITE_IS_TEXT = [
    ("python", 'f"{n:02}"\n', 'f"{n: 02}"\n'),
    ("python", 'f"{n:>{w}}"\n', 'f"{n:> {w}}"\n'),
    ("python", 'f"{n:%Y %m}"\n', 'f"{n:%Y  %m}"\n'),
    ("python", 'f"{n:{w} }"\n', 'f"{n:{w}}"\n'),
    ("csharp", 'class A { string a = $"{b:c d}"; }\n', 'class A { string a = $"{b:c  d}"; }\n'),
    ("python", "import a as x\nimport b as x\n", "import b as x\nimport a as x\n"),
    ("python", "from c import d\nimport d\n", "import d\nfrom c import d\n"),
    ("python", "from c import d as e\nimport f as e\n", "import f as e\nfrom c import d as e\n"),
    ("python", "import a.b\nfrom x import a\n", "from x import a\nimport a.b\n"),
    ("tsx", "x=<p>a &nbsp; b</p>\n", "x=<p>a &nbsp;b</p>\n"),
    ("tsx", "x=<p>a\n  &nbsp;</p>\n", "x=<p>a&nbsp;</p>\n"),
    ("tsx", "x=<p>a b</p>\n", "x=<p>a b </p>\n"),
    ("tsx", "x=<p>a{b} c</p>\n", "x=<p>a{b}c</p>\n"),
    ("javascript", "x=<>{a} <i/></>\n", "x=<>{a}<i/></>\n"),
    ("markdown", "a\n---\n", "a\n\n---\n"),
    ("markdown", "a\nb\n", "a\n\nb\n"),
    ("markdown", "a  \nb\n", "a\nb\n"),
    ("markdown", "- a\n- b\n", "- a\n\n- b\n"),
    ("yaml", "a: |+\n  x\n\nb: 1\n", "a: |+\n  x\nb: 1\n"),
    ("yaml", "a: |\n  x\n", "a: |\n  x"),
    ("yaml", "a: x\n  y\n", "a: x\n\n  y\n"),
    ("bash", "cat <<E\n\na\nE\n", "cat <<E\na\nE\n"),
    ("bash", "cat <<E\n a\nE\n", "cat <<E\na\nE\n"),
    ("bash", "x=1 \\\n  y\n", "x=1 \\\n\n y\n"),
    ("make", "a:\n\tb \\\n\tc\n", "a:\n\tb \\\n\n\tc\n"),
    ("make", "X = a \\\nb\n", "X = a \\\n\nb\n"),
    ("make", "# a \\\nb: c\n", "# a\nb: c\n"),
    ("dockerfile", "RUN a \\\n b\n", "RUN a \\\n\n b\n"),
    ("c", "#define A \\ \n  x\n", "#define A \\\n  x\n"),
    ("c", "#define A 1 \\\n\nint b;\n", "#define A 1 \\\nint b;\n"),
    ("cpp", "#if A \\\n\n#endif\nint b;\n", "#if A \\\n#endif\nint b;\n"),
    ("html", "<p>a</p>\n<p>b</p>\n", "<p>a</p> <p>b</p>\n"),
    ("html", "<textarea>\na</textarea>", "<textarea>a</textarea>"),
    ("html", "<b>a</b> <i>b</i>", "<b>a</b><i>b</i>"),
    ("sql", "select 'a \nb';\n", "select 'a\nb';\n"),
    ("sql", "select 'a\n  b';\n", "select 'a\n b';\n"),
    ("php", "a\n\nb<?php $x; ?>\n", "a\nb<?php $x; ?>\n"),
    ("php", "a \nb<?php $x; ?>\n", "a\nb<?php $x; ?>\n"),
    ("ruby", "x = <<~E\n  a\n\n  b\nE\n", "x = <<~E\n  a\n  b\nE\n"),
    ("ruby", "x = 1\n__END__\na\n\nb\n", "x = 1\n__END__\na\nb\n"),
    ("perl", "print <DATA>;\n__DATA__\na\n\nb\n", "print <DATA>;\n__DATA__\na\nb\n"),
    ("powershell", "a `\n b\n", "a `\n\n b\n"),
    ("toml", 'a = """\nx"""\n', 'a = """x"""\n'),
    ("kotlin", 'val a = """x  """\n', 'val a = """x """\n'),
    ("swift", 'let a = """\n  x\n\n  """\n', 'let a = """\n  x\n  """\n'),
    ("go", "package a\nvar s = `a\n\nb`\n", "package a\nvar s = `a\nb`\n"),
    ("rust", 'fn f() { let s = "a \\\n   b"; }\n', 'fn f() { let s = "a \\\n\n   b"; }\n'),
    ("javascript", "x = `a ${b}\n\n${c}`\n", "x = `a ${b}\n${c}`\n"),
    ("javascript", "x = `${b}\n${c}`\n", "x = `${b}${c}`\n"),
    ("javascript", "x = `${b} ${c}`\n", "x = `${b}  ${c}`\n"),
    (
        "vue",
        "<template>\n<p>a</p>\n</template>\n<script>\nlet x = `a\n\nb`\n</script>\n",
        "<template>\n<p>a</p>\n</template>\n<script>\nlet x = `a\nb`\n</script>\n",
    ),
    ("latex", "a\n\nb\n", "a\nb\n"),
    ("rst", "a\n\nb\n", "a\nb\n"),
    ("tcl", "set x {a\n\nb}\n", "set x {a\nb}\n"),
    ("xml", "<a>b\n\nc</a>\n", "<a>b\nc</a>\n"),
    ("elixir", 'x = """\na\n\nb\n"""\n', 'x = """\na\nb\n"""\n'),
    ("scala", 'val a = s"""x $y\n\n$z"""\n', 'val a = s"""x $y\n$z"""\n'),
    ("dart", "var x = '''a $b\n\n$c''';\n", "var x = '''a $b\n$c''';\n"),
    ("ini", "[a]\nb=c\n\nd=e\n", "[a]\nb=c\nd=e\n"),
    ("properties", "a=b\\\n\nc=d\n", "a=b\\\nc=d\n"),
]
WHITE_IS_NONE = [
    ("python", 'f"{n:>{w}}"\n', 'f"{n:>{ w }}"\n'),
    ("python", 'f"{ n }"\n', 'f"{n}"\n'),
    ("python", "import a\nimport b\n", "import b\nimport a\n"),
    ("python", "import a.b, c\n", "import c\nimport a.b\n"),
    ("tsx", "x=<p>\n  a b\n</p>\n", "x=<p>a b</p>\n"),
    ("markdown", "# a\n", "#  a\n"),
    ("yaml", "a: 1\n\nb: 2\n", "a: 1\nb: 2\n"),
    ("bash", "a\n\nb\n", "a\nb\n"),
    ("c", "int a;\n\n\nint b;\n", "int a;\nint b;\n"),
    ("c", "int a = 1 + \\\n 2;\n", "int a = 1 + 2;\n"),
    ("sql", "select 1\n\nfrom b;\n", "select 1\nfrom b;\n"),
]


@pytest.mark.parametrize(("grammar", "a", "b"), WHITE_IS_NONE)
def test_white_space_that_means_nothing(grammar, a, b):
    assert level("", a, b, language=grammar).word == CODE


@pytest.mark.parametrize(("grammar", "a", "b"), [*NEVER, *WHITE_IS_TEXT])
def test_what_is_never_the_same_code(grammar, a, b):
    for x, y in ((a, b), (b, a)):
        assert level("", x, y, language=grammar) is None
        assert level(a, x, y, language=grammar) is None


@pytest.mark.parametrize(
    ("grammar", "text", "other"),
    [
        ("css", "a { top: 0 }\n", "a { top: 0 } /* so */\n"),
        ("bash", "a=1  # one\nb\n", "a=1\n\nb\n"),
        ("ruby", "x = f( 1 )\n", "x  =  f( 1 ) # one\n"),
    ],
)
def test_in_other_grammars_comments_and_the_width_of_gaps_say_nothing(grammar, text, other):
    assert level("", text, other, language=grammar).word == CODE


@pytest.mark.parametrize("grammar", ["ruby", "css", "bash"])
def test_in_other_grammars_too_a_broken_text_is_the_same_only_if_identical(grammar):
    text = {"ruby": "def f(\n", "css": "a { b: \n", "bash": "if a; then\n"}[grammar]
    comment = {"css": "/* c */\n"}.get(grammar, "# c\n")
    assert level("", text, text + comment, language=grammar) is None


def test_in_other_grammars_white_space_tells_texts_of_equal_tokens_apart():
    nested, flat = "a:\n  b: 1\n  c: 2\n", "a:\n  b: 1\nc: 2\n"
    noted = "a:\n  b: 1 # one\nc:   2\n"
    for texts in permutations((nested, flat, noted)):
        forms = CodeForms("", "yaml")
        for text in texts:
            assert (forms.code(text) == forms.code(flat)) == (text != nested)
        forms.keep([noted, nested])
        assert forms.code(noted) == forms.code(flat) != forms.code(nested)


# --- forms by items, and trees that were kept, beside the form of the whole text ------------------

SOURCES = {
    "python": sorted(Path(ast.__file__).parent.glob("*.py")),
    **{
        grammar: sorted(Path(sys.prefix).glob(f"lib/python3*/site-packages/**/*{ending}"))
        for grammar, ending in (("c", ".h"), ("javascript", ".js"), ("cpp", ".hpp"))
    },
}


def edited(lines, chance):
    """Return lines with a few edits, most of which say the same in another way."""
    lines = list(lines)
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(len(lines))
        kind = chance.randrange(7)
        if kind == 0:
            lines[at] = re.sub(r"\b([a-z_]\w*) = ", r"renamed = ", lines[at])
        elif kind == 1:
            lines[at] = re.sub(r"return (.+?);?$", r"return (\1)", lines[at])
        elif kind == 2:
            lines[at] += "  "
        elif kind == 3:
            lines[at] = re.sub(r"\b(\w+) == (\w+)\b", r"\2 == \1", lines[at])
        elif kind == 4:
            lines.insert(at, lines[at])
        elif kind == 5:
            lines = [*lines[:at], *lines[at + chance.randint(0, 2) :]] or [""]
        else:
            lines[at] = lines[at].replace("'", '"')
    return lines


@pytest.mark.parametrize("grammar", SOURCES)
def test_what_was_read_before_changes_no_form(grammar):
    chance = random.Random(grammar)
    files = [path for path in SOURCES[grammar] if 500 < path.stat().st_size < 15_000]
    if not files:
        pytest.skip(f"nothing here is written in {grammar}")
    equal = 0
    for _ in range(scaled(12)):
        lines = normalise(chance.choice(files).read_text("utf-8", "replace")).split("\n")
        origin = "\n".join(lines)
        texts = ["\n".join(edited(lines, chance)) for _ in range(5)]
        texts += ["\n".join(edited(text.split("\n"), chance)) for text in texts[:2]]
        texts.append(origin)
        matrix = ScoreMatrix.from_texts(origin, texts, language=grammar)
        whole = {text: whole_forms(origin, text, grammar) for text in texts}
        for i, j in combinations(range(len(texts)), 2):
            a, b = whole[texts[i]], whole[texts[j]]
            word = (IDENTICAL if texts[i] == texts[j] else CODE if a[0] == b[0]
                    else NAMES if a[1] == b[1] else None)  # fmt: skip
            found = matrix.level(i, j)
            assert (found.word if found else None) == word, (texts[i], texts[j])
            equal += word in (CODE, NAMES)
            if word == NAMES:
                renamed = zip(a[2], b[2], strict=True)
                assert found.renamed == tuple(dict.fromkeys((x, y) for x, y in renamed if x != y))
    assert equal or scaled(12) < 12


def whole_forms(origin, text, grammar):
    """Return the two forms of a text and the names replaced, each of one piece."""
    before, form = (form_of(syntax.parse(each, grammar), each, grammar) for each in (origin, text))
    if form is None:
        return text, text, ()
    code = written(form)
    old = dict(names_of(before)) if before is not None else {}
    replaced = rename(form, grammar, lambda name: old.get(name, frozenset()))
    return code, written(form), [each for name in sorted(replaced) for each in replaced[name]]


def names_of(form):
    """Yield the names in the functions of a form, but for those of which there are several."""
    named = list(functions(form))
    for name, function in named:
        if [other for other, _ in named].count(name) == 1:
            leaves = (leaf.text for leaf in function.walk() if "identifier" in leaf.kind)
            yield name, frozenset(leaves)


# --- limits ---------------------------------------------------------------------------------------


class Raised(CancelFlag):
    """A flag that is raised after some looks at it."""

    looks = 0

    def check(self):
        self.looks += 1
        if self.looks > 3:
            self.cancel()
        super().check()


def test_a_flag_that_is_raised_while_forms_are_made_is_noticed():
    text = "".join(f"def f{number}():\n    return {number}\n" for number in range(9))
    forms, flag = CodeForms("", "python"), Raised()
    with pytest.raises(Cancelled):
        forms.code(text, flag)
    assert flag.looks == 4
    assert forms.code(text) == CodeForms("", "python").code(text)


def test_without_time_only_equal_texts_are_the_same():
    texts = ["x = 1\n", "x = (1)\n", "x = 1\n"]
    matrix = ScoreMatrix.from_texts("", texts, language="python", cancel=CancelFlag(0.0))
    assert "deadline, line granularity" in matrix.notes[0]
    assert [matrix.level(0, j) for j in (1, 2)] == [None, (IDENTICAL, ())]


def test_what_was_parsed_for_scores_is_not_parsed_again_for_levels(monkeypatch):
    origin = "def f():\n    return 0\n"
    texts = [f"def f():\n    return {number}\n" for number in range(1, 4)]
    matrix = ScoreMatrix.from_texts(origin, texts, language="python")
    monkeypatch.setattr(syntax, "parse", None)
    assert {matrix.word(i, j) for i, j in combinations(range(3), 2)} <= {"overlaps", "different"}


def test_equal_texts_of_other_bytes_are_the_same_code_and_not_identical():
    texts = {"a.py": "x = 1\n"}
    sets = {name: ChangeSet(texts, digest=name[0]) for name in ("a1", "a2", "b1")}
    matrix = ScoreMatrix.from_change_sets({"a.py": "x = 0\n"}, sets)
    assert [matrix.word(0, other) for other in (1, 2)] == [IDENTICAL, CODE]
    assert matrix.values.min() == 1


def test_what_forgotten_revisions_had_is_forgotten_for_many_at_once():
    """The items of a long review stay about as many as those of the texts that are kept."""
    functions = [f"def f{n}(a):\n    return a + {n}\n" for n in range(10)]
    origin = "\n\n".join(functions)
    forms = CodeForms(origin, "python")
    most = 0
    for number in range(60):
        text = origin.replace("a + 3", f"a + 3 + {number}00")
        forms.code(text)
        forms.keep([text])
        most = max(most, len(forms.items))
    assert len(functions) < most <= 2 * len(functions)
    assert forms.code(text) == CodeForms(origin, "python").code(text)
