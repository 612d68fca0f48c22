"""Fresh names: what an edit newly binds, in any grammar, and what its other parts make of it."""

import ast
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.bindings import Bindings, HunkNames, fresh_names
from excise.names import KEYWORD, MEMBER
from excise.syntax import parse
from excise.units import Unit, slots_of, units_of


def spans_of(origin, revision):
    matcher = SequenceMatcher(None, origin.splitlines(), revision.splitlines(), autojunk=False)
    return [(j1, j2) for tag, _, _, j1, j2 in matcher.get_opcodes() if tag != "equal"]


def names_of(origin, revision, grammar="python"):
    bindings = Bindings.of(parse(origin, grammar), origin)
    tree = parse(revision, grammar)
    return fresh_names(bindings, tree, revision, spans_of(origin, revision))


def units(origin, revision, grammar="python"):
    """Return the names that hunks share, by the hunks that share them."""
    return {
        unit.hunks: list(unit.names)
        for unit in units_of(names_of(origin, revision, grammar))
        if len(unit.hunks) > 1
    }


TIED = {
    "python": (
        "import os\n\n\ndef f(a):\n    one()\n    two()\n    three(a)\n",
        {
            "a local": ("    one()", "    new = one()", "three(a)", "three(new)"),
            "an import": ("import os", "import os, new", "three(a)", "new.three(a)"),
            "an alias": ("import os", "from os import path as new", "three(a)", "three(new)"),
            "a parameter": ("f(a)", "f(a, new)", "three(a)", "three(new)"),
            "a keyword": ("f(a)", "f(a, new=1)", "three(a)", "f(1, new=a)"),
            "an attribute": ("    one()", "    self.new = 1", "three(a)", "three(a.new)"),
            "with": ("    one()", "    with one() as new: pass", "three(a)", "three(new)"),
            "a walrus": ("one()", "(new := one())", "three(a)", "three(new)"),
            "a class": ("import os", "class new: pass", "three(a)", "three(new())"),
        },
    ),
    "go": (
        "package m\n\nfunc f(a int) {\n\tone()\n\ttwo()\n\tthree(a)\n}\n",
        {
            "a local": ("\tone()", "\tnew := one()", "three(a)", "three(new)"),
            "several": ("\tone()", "\tnew, err := one()", "three(a)", "three(a, err)"),
            "an import": ("package m", 'package m\nimport "x/new/v2"', "three(a)", "new.T(a)"),
            "a function": ("package m", "package m\nfunc new() {}", "three(a)", "new()"),
            "a method": ("package m", "package m\nfunc (t *T) new() {}", "three(a)", "a.new()"),
            "a field": ("package m", "package m\ntype T struct {\n\tnew int\n}", "three(a)",
                        "a.new"),
            "a literal": ("package m", "package m\ntype T struct {\n\tnew int\n}",
                          "three(a)", "three(T{new: 1})"),
            "a constant": ("package m", "package m\nconst new = 1", "three(a)", "three(new)"),
        },
    ),
    "typescript": (
        "import x from 'x';\nfunction f(a) {\n  one();\n  two();\n  three(a);\n}\n",
        {
            "a local": ("  one()", "  const made = one()", "three(a)", "three(made)"),
            "parts": ("  one()", "  const { made, p: q } = one()", "three(a)", "three(q)"),
            "an import": ("import x", "import { made }", "three(a)", "made(a)"),
            "an interface": ("import x", "interface Made { k: string }\nimport x", "three(a)",
                             "three(a as Made)"),
            "a member": ("import x", "interface M { made: string }\nimport x", "three(a)",
                         "a.made"),
            "a parameter": ("f(a)", "f(a, made = 1)", "three(a)", "three(made)"),
        },
    ),
    "c": (
        "#include <x.h>\nint f(int a) {\n  one();\n  two();\n  three(a);\n}\n",
        {
            "a local": ("  one();", "  int *made = one();", "three(a)", "three(made)"),
            "a macro": ("#include <x.h>", "#define MADE 3", "three(a)", "three(MADE)"),
            "a macro with arguments": ("#include <x.h>", "#define MADE(x) (x)", "three(a)",
                                       "MADE(a)"),
            "a macro in a macro": ("#include <x.h>", "static int made(void);", "  three(a);",
                                   "#define M \\\n  made()"),
            "a function": ("#include <x.h>", "static char *made(int n) { return n; }", "three(a)",
                           "made(a)"),
            "a prototype": ("#include <x.h>", "int made(int z);", "three(a)", "made(a)"),
            "a type": ("#include <x.h>", "typedef struct { int made; } T;", "three(a)",
                       "three(a->made)"),
            "a tag": ("#include <x.h>", "struct made { int x; };", "three(a)",
                      "struct made *m"),
            "a constant": ("#include <x.h>", "enum e { MADE };", "three(a)", "three(MADE)"),
        },
    ),
    "rust": (
        "use x::y;\nfn f(a: i32) {\n    one();\n    two();\n    three(a);\n}\n",
        {
            "a local": ("    one()", "    let mut made = one()", "three(a)", "three(made)"),
            "a pattern": ("    one()", "    let Some(made) = one() else { return }", "three(a)",
                          "three(made)"),
            "an import": ("use x::y", "use x::{y, z::made}", "three(a)", "made(a)"),
            "a function": ("use x::y;", "fn made() {}", "three(a)", "made()"),
            "a macro": ("use x::y;", "macro_rules! made { () => {} }", "three(a)", "made!()"),
            "a method": ("use x::y;", "impl T { fn made(&self) {} }", "three(a)", "a.made()"),
            "an associated function": ("use x::y;", "impl T { fn made() {} }", "three(a)",
                                       "T::made()"),
            "a field": ("use x::y;", "struct T { made: i32 }", "three(a)", "T { made: 1 }"),
        },
    ),
    "java": (
        "import x.Y;\nclass K {\n  int q;\n"
        "  void f(int a) {\n    one();\n    two();\n    three(a);\n  }\n}\n",
        {
            "a local": ("    one()", "    int made = one()", "three(a)", "three(made)"),
            "a field": ("  int q;", "  int q, made;", "three(a)", "three(made)"),
            "a field of this": ("  int q;", "  int q, made;", "three(a)", "this.made = a"),
            "a method": ("  int q;", "  int made() { return 1; }", "three(a)", "made()"),
            "a method of another": ("  int q;", "  int made() { return 1; }", "three(a)",
                                    "a.made()"),
            "an import": ("import x.Y", "import x.Made", "three(a)", "new Made(a)"),
            "a parameter": ("f(int a)", "f(int a, int made)", "three(a)", "three(made)"),
            "a lambda": ("    one()", "    Runnable made = () -> one()", "three(a)", "made.run()"),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("grammar", "case"), [(g, c) for g, (_, cases) in TIED.items() for c in cases]
)
def test_what_binds_a_name_belongs_to_what_reads_it(grammar, case):
    origin, cases = TIED[grammar]
    old, new, also_old, also_new = cases[case]
    assert old in origin
    assert also_old in origin
    both = origin.replace(old, new, 1).replace(also_old, also_new, 1)
    assert units(origin, both, grammar), case
    # The same reading without the binding, or another one, is tied to nothing.
    other = origin.replace("two()", "two(1)", 1).replace(also_old, also_new, 1)
    assert not units(origin, other, grammar)


ALSO_TIED = {
    "a local of one of two methods of a name": (
        "go", "func (a A) F() {\n\tx := 1\n}\n\nfunc (b B) F() {\n\to()\n\tp()\n\tq()\n}\n",
        "func (a A) F() {\n\tx := 1\n}\n\nfunc (b B) F() {\n\tx := o()\n\tp()\n\tq(x)\n}\n",
    ),
    "a key that is a variable": (
        "go", "func f() {\n\to()\n\tp()\n\tq(m{})\n}\n",
        "func f() {\n\tx := o()\n\tp()\n\tq(m{x: 1})\n}\n",
    ),
    "a member of an enum that was there": (
        "typescript", "enum K {\n  A,\n}\nfunction f() {\n  p();\n}\n",
        "enum K {\n  A,\n  B,\n}\nfunction f() {\n  p(K.B);\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ALSO_TIED)
def test_what_else_belongs_together(case):
    grammar, origin, revision = ALSO_TIED[case]
    assert [*units(origin, revision, grammar)] == [(0, 1)]


UNRELATED = {
    "an attribute of something else": (
        "python", "a()\nb()\nc()\n", "m.name = a()\nb()\nc(x.name)\n",
    ),
    "the name that is none": (
        "go", "func f() {\n\ta()\n\tb()\n\tc()\n}\n",
        "func f() {\n\t_ = a()\n\tb()\n\t_ = c()\n}\n",
    ),
    "a type of parameters": (
        "java", "class K {\n  void f(int... n) {\n    a();\n    b();\n  }\n}\n",
        "class K {\n  void f(Made... n) {\n    a();\n    b(new Made());\n  }\n}\n",
    ),
    "equal locals of two functions": (
        "python", "def f():\n    a()\n\n\ndef g():\n    b()\n",
        "def f():\n    x = a(x)\n\n\ndef g():\n    x = b(x)\n",
    ),
    "a name that the origin binds": (
        "python", "def f(x):\n    a()\n    b()\n    c()\n",
        "def f(x):\n    x = a()\n    b()\n    c(x)\n",
    ),
    "a name that the origin lacks itself": (
        "python", "a()\nb(name)\nc()\n", "name = a()\nb(name)\nc(name)\n",
    ),
    "a method of a name that the origin reads of others": (
        "python", "class K:\n    a = 1\n\n\nopen().read()\nb()\n",
        "class K:\n    def read(self): pass\n\n\nopen().read()\nb().read()\n",
    ),
    "names that only a star could bind": (
        "python", "a()\nb()\nc()\n", "from m import *\nb()\nc(name)\n",
    ),
    "strings": ("python", "a()\nb()\nc()\n", "name = 1\nb()\nc('name')\n"),
    "a local read as a member": ("python", "a()\nb()\nc()\n", "name = a()\nb()\nc(x.name)\n"),
    "parameters of prototypes": (
        "c", "int f(void);\nint g(void);\nint h(void);\n",
        "int f(int flag);\nint g(void);\nint h(int flag);\n",
    ),
    "tags of structs that are elsewhere": (
        "c", "int a;\nint b;\nint c;\n", "struct made *a;\nint b;\nstruct made *c;\n",
    ),
    "an assignment to what is declared outside": (
        "javascript", "let x;\nfunction f() {\n  a();\n  b();\n  c();\n}\n",
        "let x;\nfunction f() {\n  x = a();\n  b();\n  c(x);\n}\n",
    ),
    "locals of two callbacks": (
        "javascript", "it('a', () => {\n  a();\n});\nit('b', () => {\n  b();\n});\n",
        "it('a', () => {\n  const r = a();\n});\nit('b', () => {\n  const r = b();\n});\n",
    ),
    "locals of two new callbacks": (
        "javascript", "function f() {\n  a();\n  b();\n  c();\n}\n",
        "function f() {\n  each((x) => x + 1);\n  b();\n  each((x) => x + 1);\n}\n",
    ),
    "a return type after an arrow": (
        "rust", "struct T { a: i32 }\nfn f() -> i32 { 1 }\nfn g() { 1 }\n",
        "struct T { R: i32 }\nfn f() -> i32 { 1 }\nfn g() -> R { 1 }\n",
    ),
    "variants of an enum of others": (
        "rust", "fn f(x: T) {\n    match x { A => 1 }\n    b();\n    match x { A => 1 }\n}\n",
        "fn f(x: T) {\n    match x { None => 1 }\n    b();\n    match x { None => 1 }\n}\n",
    ),
    "parts of import paths": (
        "rust", "use a::b;\nuse c::d;\nuse e::f;\n", "use n::x;\nuse c::d;\nuse n::y;\n",
    ),
    "calls of something elsewhere": (
        "java", "class K {\n  void f() {\n    a();\n    b();\n    c();\n  }\n}\n",
        "class K {\n  void f() {\n    made();\n    b();\n    made();\n  }\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNRELATED)
def test_what_shares_no_fresh_name_is_apart(case):
    grammar, origin, revision = UNRELATED[case]
    assert len(spans_of(origin, revision)) > 1
    assert not units(origin, revision, grammar)


def test_all_hunks_that_read_a_fresh_name_are_one_unit():
    origin = "a()\nk\nb()\nk\nc()\nk\nd()\n"
    revision = "x = a()\nk\nb(x)\nk\ny = c(x)\nk\nd(y)\n"
    assert units(origin, revision) == {(0, 1, 2, 3): ["x", "y"]}


def test_names_are_told_by_what_binds_and_what_reads_them():
    origin = "class K:\n    pass\n\n\ndo(1)\n"
    first, second = names_of(origin, "class K:\n    def m(self, n): pass\n\n\ndo(1).m(n=1)\n")
    assert first.binds == {
        *((("K",), "m"), (MEMBER, "m"), (KEYWORD, "m")),
        *((("K", "m"), name) for name in ("self", "n")),
        *((KEYWORD, name) for name in ("self", "n")),
    }
    assert second.uses == {(MEMBER, "m"), (KEYWORD, "n")}


def test_of_lines_with_broken_syntax_nothing_is_said():
    origin = "a()\nb()\nc()\n"
    binds, uses = names_of(origin, "x = a()\nb()\nc(x]) = \n")
    assert binds.binds
    assert not uses.uses


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("javascript", "x=>" * 20_000 + "1"),
        ("javascript", "".join(f"f{n}=function(a){{return a}};" for n in range(5_000))),
        ("python", f"from m import {','.join(f'a{n}' for n in range(20_000))}\n"),
        ("c", f"int {'*' * 20_000}b;\n"),
    ],
)
def test_deep_and_long_texts_have_short_scopes(grammar, text):
    bindings = Bindings.of(parse(text, grammar), text)
    assert bindings.bound
    assert max(len(scope) for scope, _ in bindings.bound) <= 50
    assert max(len(name) for scope, _ in bindings.bound for name in (*scope, "")) <= 401


@pytest.mark.slow
def test_as_many_hunks_as_anyone_has():
    none = HunkNames.none()
    some = [HunkNames(frozenset({((), f"x{n // 2}")}), frozenset()) for n in range(100_000)]
    assert len(units_of([*some, none])) == 50_001


@pytest.mark.parametrize(
    "grammar", ["python", "c", "json", "markdown", "yaml", "html", "sql", "bash"]
)
@given(data=st.data())
def test_no_text_is_refused(grammar, data):
    texts = st.text(alphabet='ab(){}=:.;\n "#\u00e9\ud800', max_size=60)
    origin, revision = data.draw(texts), data.draw(texts)
    names_of(origin.replace("\r", ""), revision, grammar)


# --- the oracle: Python's own parser, and the definition ---

VALUES = st.sampled_from(["x", "y", "z", "g.x", "1"])
STATEMENTS = st.one_of(
    st.builds("{0} = {1}".format, st.sampled_from(["x", "y", "z", "self.y"]), VALUES),
    st.builds("use({0}, {1})".format, VALUES, VALUES),
    st.builds("use(x={0})".format, VALUES),
    st.builds("import {0}".format, st.sampled_from(["x", "y.z", "q as z"])),
    st.builds("for {0} in {1}: use({0})".format, st.sampled_from("xyz"), VALUES),
    st.builds("class {0}: x = {1}".format, st.sampled_from("KL"), VALUES),
)


@st.composite
def programs(draw):
    lines = []
    for name in draw(st.lists(st.sampled_from("fgh"), min_size=1, max_size=3, unique=True)):
        lines.append(f"def {name}({draw(st.sampled_from(['', 'x', 'y=x']))}):")
        lines += ["    " + line for line in draw(st.lists(STATEMENTS, min_size=1, max_size=4))]
    return lines + draw(st.lists(STATEMENTS, max_size=2))


def occurrences(text):
    """Yield what Python's own parser sees: line, scope, name, and what is done with it."""

    def visit(node, scope):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                kind = "member" if any(s == "class" for s in scope[1][-1:]) else "bind"
                yield node.lineno - 1, scope, node.name, kind
                is_class = isinstance(node, ast.ClassDef)
                inner = ((*scope[0], node.name), (*scope[1], "class" if is_class else "def"))
                for child in ast.iter_child_nodes(node):
                    yield from visit(child, inner)
                return
            case ast.arg(arg=name):
                yield node.lineno - 1, scope, name, "parameter"
            case ast.Name(id=name, ctx=ast.Store()):
                kind = "member" if scope[1][-1:] == ("class",) else "bind"
                yield node.lineno - 1, scope, name, kind
            case ast.Name(id=name):
                yield node.lineno - 1, scope, name, "read"
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno - 1, scope, name, "attribute"
            case ast.Attribute(attr=name):
                yield node.lineno - 1, scope, name, "read attribute"
            case ast.keyword(arg=str(name)):
                yield node.lineno - 1, scope, name, "keyword"
            case ast.alias(name=name, asname=asname):
                yield node.lineno - 1, scope, asname or name.partition(".")[0], "bind"
        for child in ast.iter_child_nodes(node):
            yield from visit(child, scope)

    yield from visit(ast.parse(text), ((), ()))


def defined(scope, name, kind):
    own = (scope[0], name)
    also = {(MEMBER, name), (KEYWORD, name)}
    return {
        "bind": {own},
        "member": {own, *also},
        "parameter": {own, (KEYWORD, name)},
        "attribute": also,
    }.get(kind, set())


def resolved(scope, name, kind, bound):
    if kind == "read attribute":
        return MEMBER, name
    if kind == "keyword":
        return KEYWORD, name
    if kind != "read":
        return None
    scopes = [scope[0][:depth] for depth in range(len(scope[0]), -1, -1)]
    return next(((s, name) for s in scopes if (s, name) in bound), (scope[0], name))


def by_definition(origin, revision, spans):
    before, after = list(occurrences(origin)), list(occurrences(revision))
    old = {key for _, *what in before for key in defined(*what)}
    read_before = [key for _, *what in before if (key := resolved(*what, old))]
    free = [key for key in read_before if key not in old]
    changed = {line for lo, hi in spans for line in range(lo, hi)}
    here = {key for line, *what in after if line in changed for key in defined(*what)}
    declared = {n for line, _, n, kind in after if line in changed and kind == "member"}
    fresh = {
        (scope, name)
        for scope, name in here - old
        if not any(n == name and s[: len(scope)] == scope for s, n in free)
    }
    return [
        (
            {k for line, *what in after if lo <= line < hi for k in defined(*what)} & fresh,
            {resolved(*w, old | here) for line, *w in after if lo <= line < hi} & fresh
            | {
                (MEMBER, name)
                for line, _, name, kind in after
                if lo <= line < hi and kind == "attribute" and name in declared
            }
            & fresh,
        )
        for lo, hi in spans
    ]


@given(programs(), st.data())
def test_names_are_those_of_the_definition(lines, data):
    origin = "\n".join(lines) + "\n"
    edited = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        new = data.draw(st.sampled_from(["keep", "keep", "change", "add"]))
        if new != "keep" and not line.startswith("def"):
            edited.append(indent + data.draw(STATEMENTS))
        if new != "change" or line.startswith("def"):
            edited.append(line)
    revision = "\n".join(edited) + "\n"
    spans = spans_of(origin, revision)
    result = [(set(names.binds), set(names.uses)) for names in names_of(origin, revision)]
    assert result == by_definition(origin, revision, spans)


CALLBACKS = st.lists(
    st.sampled_from(
        ("a(function () { b = c; });", "z(function () { b = c; }, 1);", "f = () => { b(f); };",
         "class K { m() { b = this.c; } }", "class L { m() { b = this.c; } }", "")
    ).flatmap(lambda code: st.sampled_from((code, f"  {code}", f"x; {code}"))),
    max_size=5,
)  # fmt: skip


@given(st.lists(CALLBACKS, min_size=2, max_size=3), st.sampled_from(("\n", " ")))
def test_names_of_parts_that_other_texts_have_are_those_of_this_text(texts, between):
    """Also of a callback, which has its name from its line, and of several parts on a line."""
    known = {}
    for text in (between.join(lines) + "\n" for lines in texts):
        tree = parse(text, "javascript")
        alone = Bindings.of(tree, text)
        assert Bindings.of(tree, text, known) == alone
        assert Bindings.of(tree, text, known) == alone  # with its own parts


KEYS = st.frozensets(
    st.builds(lambda s, n: (s, n), st.sampled_from([(), MEMBER]), st.sampled_from("abcd")),
    max_size=2,
)
HUNKS = st.lists(st.builds(HunkNames, KEYS, KEYS), max_size=7)


def test_alternatives_share_a_hunk_or_a_name():
    x = frozenset({((), "x")})
    one, other = Unit((0,), (), x), Unit((1, 3), ("x",), x)
    apart, also = Unit((2,), (), frozenset()), Unit((2, 4), ("y",), frozenset({((), "y")}))
    assert slots_of([apart, other, one, also]) == ((0, 1, 3), (2, 4))
    assert slots_of([]) == ()


@given(HUNKS)
def test_units_are_the_components_of_shared_names(hunks):
    """Two hunks are in one unit iff names lead from one to the other."""
    parts = units_of(hunks)
    assert sorted(i for unit in parts for i in unit.hunks) == list(range(len(hunks)))
    read = {key for hunk in hunks for key in hunk.uses}
    keys = [{k for k in hunk.binds | hunk.uses if k[0] != MEMBER or k in read} for hunk in hunks]
    near = [[i == j or bool(a & b) for j, b in enumerate(keys)] for i, a in enumerate(keys)]
    for middle in range(len(keys)):
        for i in range(len(keys)):
            for j in range(len(keys)):
                near[i][j] |= near[i][middle] and near[middle][j]
    unit_of = {i: unit for unit in parts for i in unit.hunks}
    for i in range(len(keys)):
        assert [unit_of[i] is unit_of[j] for j in range(len(keys))] == near[i]
    for unit in parts:
        assert unit.keys == {key for i in unit.hunks for key in keys[i]}
        assert set(unit.names) == {
            key[1] for i in unit.hunks for j in unit.hunks if i < j for key in keys[i] & keys[j]
        }
