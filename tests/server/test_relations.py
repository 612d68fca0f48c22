"""What two candidates are to each other, and which are attempts at one task: cases, and laws."""

import itertools
import re
from dataclasses import replace

import pytest
from examples.tasks import BASE, CFG, EXTRA, PLANTED, RENAMED
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.command import excise
from tests.server.git_repository import make, needs_git
from tests.server.test_mcp import content, served
from tests.server.test_worktrees import report, worktree

from excise_server.candidates.compared import compared
from excise_server.foundation.changes import Side
from excise_server.git.history import issues_named
from excise_server.report.review import relation_entries
from excise_server.report.words import relation_lines
from excise_server.review.candidate import Candidate, marked_identical
from excise_server.review.relations import (
    CandidateRelation,
    RelationReason,
    Task,
    broken_in_target,
    tasks_of,
)
from excise_server.sources.candidates import Candidates

EXPECTED = {
    ("newcall", "rename"): "breaks",
    ("methodD", "methodE"): "both add",
    ("rename", "rewriteparse"): "collides",
}


def side(text):
    return Side("100644", text if isinstance(text, bytes) else text.encode())


def candidate(name, files, base=BASE, **facts):
    """Return a candidate with other texts of some files; None deletes one."""
    old = {path: side(base[path]) for path in files if path in base}
    new = {path: side(text) for path, text in files.items() if text is not None}
    return Candidate(name, "", "", "", label=name, old=old, new=new, **facts)


def of(edits, base=BASE, **facts):
    found = [candidate(name, files, base, **facts.get(name, {})) for name, files in edits.items()]
    return compared(Candidates("0" * 40, marked_identical(found)))


def words(edits, base=BASE, **facts):
    return {tuple(sorted((r.first, r.second))): r.word for r in of(edits, base, **facts).relations}


def pair(a, b, base=BASE):
    """Return the relation of two candidates, or None if they are independent."""
    relations = of({"a": a, "b": b}, base).relations
    return relations[0] if relations else None


def word(a, b, base=BASE):
    relation = pair(a, b, base)
    return relation and relation.word


def one(text, **files):
    return {"a.py": text, **files}


# --- the planted repository -----------------------------------------------------------------------


def test_the_planted_candidates_have_their_relations_and_a_task_each():
    found = of(PLANTED)
    assert {tuple(sorted((r.first, r.second))): r.word for r in found.relations} == EXPECTED
    assert [task.members for task in found.tasks] == [(name,) for name in sorted(PLANTED)]
    [breaks] = [r for r in found.relations if r.word == "breaks"]
    [reason] = breaks.reasons
    assert (reason.path, reason.line, reason.by) == ("extra.py", 3, "rename")
    assert "cfg.parse" in reason.message


@pytest.mark.slow
@needs_git
def test_every_door_says_what_tasks_are_to_each_other(tmp_path, monkeypatch):
    repo = make(
        tmp_path, monkeypatch, **{path.replace(".", "__"): text for path, text in BASE.items()}
    )
    for name, files in PLANTED.items():
        worktree(repo, name, **{path.replace(".", "__"): text for path, text in files.items()})
    found = report(repo)
    assert len(found["tasks"]) == 5
    named = {tuple(sorted(r[at].partition(":")[2] for at in ("first", "second"))): r["word"]
             for r in found["relations"]}  # fmt: skip
    assert named == EXPECTED
    line = "rename breaks newcall: extra.py:3 uses cfg.parse, which rename removes"
    for ran in (
        excise("review", "--repo", str(repo.path), "-v"),
        excise("review", "--repo", str(repo.path), "--format", "markdown"),
        excise("review", "--repo", str(repo.path), "--format", "html"),
    ):
        assert line in re.sub(r"\\([._:])", r"\1", ran.out)
        assert "methodD and methodE: both add to Store" in ran.out
    (listed,) = served(repo.path, ("list_candidates", {}))
    assert line in content(listed)["between"]
    alone = report(repo, "--task", "rename")
    assert [r["word"] for r in alone["relations"]] == ["breaks", "collides"]
    page = excise("review", "--repo", str(repo.path), "--task", "rename").out
    assert f"Between tasks: {line}" in page


# --- rivals ---------------------------------------------------------------------------------------

LINES = [f"line_{n} = {n}" for n in range(40)]
TEN = {"a.py": "\n".join(LINES) + "\n"}


def edited(**lines):
    """Return the ten lines with others at some places (``at_3="x"``)."""
    text = [*LINES]
    for place, line in lines.items():
        text[int(place[3:])] = line
    return {"a.py": "\n".join(text) + "\n"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"at_3": "x = 1"}, {"at_3": "x = 1"}, "identical"),
        ({"at_3": "x = 1"}, {"at_3": "x = 1  # why"}, "same code"),
        ({"at_3": "x = 1"}, {"at_3": "y = z"}, "rivals"),
        ({"at_3": "x = 1", "at_9": "p"}, {"at_3": "y = z", "at_20": "q"}, "rivals"),
        ({"at_3": "x = 1", "at_9": "p", "at_30": "r"}, {"at_3": "y = z"}, "rivals"),  # 1 of 1
        ({"at_3": "x = 1", "at_9": "p", "at_30": "r"}, {"at_3": "y", "at_12": "z"}, "rivals"),
        (
            {"at_3": "x", "at_9": "p", "at_30": "r"},
            {"at_3": "y", "at_12": "z", "at_20": "q"},
            "collides",
        ),
        ({"at_3": "x = 1"}, {"at_4": "y = 2"}, "collides"),  # neighbouring lines
        ({"at_3": "x = 1"}, {"at_4": "y = 2\nline_4 = 4"}, "rivals"),  # inserts beside it
        ({"at_3": "x = 1"}, {"at_5": "y = 2"}, None),
        ({"at_3": "x = 1", "at_9": "p"}, {"at_3": "x = 1"}, "rivals"),  # the same, and more
    ],
)
def test_half_of_the_hunks_of_the_smaller_have_to_overlap(a, b, expected):
    assert word(edited(**a), edited(**b), TEN) == expected


def test_who_rewrites_a_file_is_a_rival_of_nobody_who_edits_it():
    rewritten = one("\n".join(f"{line}  # {n}" for n, line in enumerate(reversed(LINES))) + "\n")
    found = of({"a": edited(at_3="x"), "b": rewritten, "c": edited(at_3="y")}, TEN)
    words = {(r.first, r.second): r.word for r in found.relations}
    assert words == {("a", "b"): "collides", ("a", "c"): "rivals", ("b", "c"): "collides"}
    again = one("\n".join(f"{line}  # no" for line in LINES) + "\n")
    assert word(rewritten, again, TEN) == word(rewritten, one(None), TEN) == "rivals"
    assert word(one(None), edited(at_3="x"), TEN) == "collides"
    assert word({"a.py": "x = 2\n"}, {"a.py": "x = 3\n"}, {"a.py": "x = 1\n"}) == "rivals"


def test_the_same_up_to_names_are_one_task():
    origin = {"a.py": "def f(a):\n    return g(a)\n"}
    new = "def f(a):\n    {0} = g(a)\n    if {0} is None:\n        return 0\n    return {0}\n"
    assert word(one(new.format("x")), one(new.format("y")), origin) == "same up to names"


def test_candidates_at_two_places_are_one_task_if_both_name_the_issue():
    a, b = edited(at_3="x = 1"), edited(at_20="y = 2")
    facts = {"a": {"issues": ("#7",)}, "b": {"issues": ("#7", "#9")}}
    found = of({"a": a, "b": b}, TEN, **facts)
    assert [r.word for r in found.relations] == ["rivals"]
    assert found.tasks == (Task(("a", "b"), shared=("a.py",), named={"a": "#7", "b": "#7"}),)
    assert of({"a": a, "b": b}, TEN, a={"issues": ("#7",)}).relations == ()
    facts["b"] = {"issues": ("#8",)}
    assert of({"a": a, "b": b}, TEN, **facts).relations == ()


@pytest.mark.parametrize(
    ("message", "issues"),
    [
        ("Fix\n\nFixes #12", ("#12",)),
        ("Fix (#7)\n\ncloses GH-3", ("#3",)),
        ("Merge pull request #5 from a/b\n\nx", ()),
        ("see https://example.org/a/b/issues/34#issuecomment-1", ("#34",)),
        ("a#12, &#39; and color #12ab", ()),
        ("#1 #2 #3 #4", ()),
        ("", ()),
    ],
)
def test_the_issues_that_a_message_names(message, issues):
    assert issues_named(message) == issues


def test_the_tasks_of_a_tool_stay_apart_and_need_nothing_in_common():
    facts = {"a": {"tool": "emdash", "task": "p"}, "b": {"tool": "emdash", "task": "q"}}
    edits = {"a": edited(at_3="x = 1"), "b": edited(at_3="y = 2")}
    assert words(edits, TEN, **facts) == {("a", "b"): "collides"}
    facts["b"]["task"] = "p"
    edits["b"] = edited(at_20="y = 2")
    assert words(edits, TEN, **facts) == {("a", "b"): "rivals"}


# --- collides, both add ---------------------------------------------------------------------------


AB = "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (one("x = 1\n"), one("x = 2\n"), "rivals"),
        (one(None), one("x = 2\n"), "rivals"),
        (one(None), one(None), "identical"),
        (one(b"\0a"), one(b"\0b"), "rivals"),
        ({"a.py": None, "b.py": AB}, {"a.py": None, "c.py": AB}, "rivals"),
        ({"n.py": "x = 1\n"}, {"n.py": "y = 1\n"}, "rivals"),
        ({"n.py": "x = 1\n"}, {"m.py": "y = 1\n"}, None),
    ],
)  # fmt: skip
def test_files_that_come_and_go_and_have_no_lines(a, b, expected):
    assert word(a, b, {"a.py": AB}) == expected


def test_two_definitions_of_one_name_collide_wherever_they_stand():
    text = "import os\n\n\ndef f():\n    pass\n\n\nX = 1\n\n\ndef g():\n    pass\n"
    new = "def new():\n    return {}\n\n\n"
    a = text.replace("X = 1", f"{new.format(1)}X = 1")
    b = f"{text}\n\n{new.format(2)}".rstrip() + "\n"
    relation = pair(one(a), one(b), {"a.py": text})
    assert any("both give new" in reason.message for reason in relation.reasons)
    other = b.replace("new", "other")
    assert pair(one(a), one(other), {"a.py": text}) is None


@pytest.mark.parametrize(
    ("path", "a", "b", "is_one"),
    [
        ("s.ts", "function k() {}", "class k {}", True),
        ("s.ts", "interface k {}", "interface k { a: 1 }", False),
        ("s.py", "from q import k", "from r import k", True),
        ("s.py", "import k", "import k, l", False),
        ("s.rs", "use a::k;", "use b::{c, k};", True),
        ("s.rs", "use a::k;", "use b::{c, k as l};", False),
        ("s.go", 'import "a/k"', 'import k "b/c"', True),
        ("s.java", "import a.k;", "import b.k;", True),
        ("s.java", "import a.k;", "import a.k;", False),
        ("s.cc", "int k(int a) { return a; }", "int k(long a) { return a; }", False),
        ("s.c", "#define k 1", "#define k 2", True),
        ("s.json", '"k": 1,', '"k": 2,', True),
        ("s.yaml", "k: 1", "k: 2", True),
        ("s.toml", "k = 1", "k = 2", True),
    ],
)
def test_one_name_at_one_level_collides_in_every_language(path, a, b, is_one):
    rows = {"json": ["{", '"a": 1,', '"m": 2,', '"z": 3', "}"], "yaml": ["a: 1", "m: 2", "z: 3"],
            "toml": ["a = 1", "m = 2", "z = 3"], "py": ["a = 1", "m = 2", "z = 3"],
            "go": ["package p", "", "func z() {}"]}  # fmt: skip
    other = ["class X {}", "", "class Z {}"] if path.endswith("java") else ["", "", ""]
    lines = rows.get(path.partition(".")[2], other)
    texts = [[*lines[:1], a, *lines[1:]], [*lines[:2], b, *lines[2:]]]
    base, mine, theirs = ({path: "\n".join(text) + "\n"} for text in (lines, *texts))
    found = pair(mine, theirs, base)
    said = [] if found is None else [r for r in found.reasons if "both give k" in r.message]
    assert bool(said) is is_one


CHANGES = "# Changes\n\n## Next\n\n- a fix\n"
MAPPING = '{\n  "a": 1,\n  "z": 2\n}\n'


@pytest.mark.parametrize(
    ("path", "base", "a", "b", "expected"),
    [
        ("CHANGES.md", CHANGES, "- b\n", "- c\n", "both add"),
        ("notes.md", CHANGES, "- b\n", "- c\n", "rivals"),
        ("m.json", MAPPING, '  "b": 1,\n', '  "c": 2,\n', "both add"),
        ("m.json", MAPPING, '  "b": 1,\n', '  "b": 2,\n', "rivals"),
        ("m.json", '[\n  1,\n  2\n]\n', "  3,\n", "  4,\n", "rivals"),
        ("m.py", "import os\nx = 1\n", "import re\n", "import sys\n", "both add"),
        ("m.py", "import os\nx = (\n", "import re\n", "import sys\n", "rivals"),
        ("m.txt", "a\nb\n", "c\n", "d\n", "rivals"),
    ],
)  # fmt: skip
def test_what_both_only_insert_at_one_place(path, base, a, b, expected):
    lines = base.split("\n")
    line = len(lines) - 1 if path.endswith(".md") else 2 if path == "m.json" else 1

    def inserted(text):
        return {path: "\n".join([*lines[:line], *text.split("\n")[:-1], *lines[line:]])}

    code = {"z.py": "a = 1\n"}  # docs alone would be all that they are compared by
    a_files, b_files = inserted(a) | {"p.py": "a = 1\n"}, inserted(b) | {"q.py": "b = 2\n"}
    if path.endswith(".py") or path == "m.txt" or path == "m.json":
        a_files, b_files = inserted(a), inserted(b)
    relation = pair(a_files, b_files, {path: base, **code})
    found = relation.word if path != "notes.md" else "rivals"
    assert found == expected


# --- breaks ---------------------------------------------------------------------------------------


def broken(a, b, base):
    relation = pair(a, b, base)
    if relation is None:
        return []
    return [(r.by, r.path, r.line) for r in relation.reasons if r.word == "breaks"]


def new_user(text):
    return {"use.py": text}


@pytest.mark.parametrize(
    "text",
    [
        "import cfg\ncfg.parse(1)\n",
        "import cfg as c\nc.parse(1)\n",
        "from cfg import dump, parse\n",
        "from cfg import parse as p\np(1)\n",
        "from . import cfg\ncfg.parse(1)\n",
        "from .cfg import parse\n",
    ],
)
def test_a_name_of_a_module_is_found_through_imports(text):
    [(by, path, _)] = broken(RENAMED, new_user(text), BASE)[:1]
    assert (by, path) == ("a", "use.py")


@pytest.mark.parametrize(
    "text",
    [
        "import cfg\ncfg.dump(1)\n",
        "import argparse\nargparse.parse(1)\n",
        "def parse(x):\n    return x\nparse(1)\n",
        "def f(parse):\n    return parse(1)\n",
        "import cfg\ncfg.parse = print\ncfg.parse(1)\n",
        "from other import *\nparse(1)\n",
        "try:\n    from cfg import parse\nexcept ImportError:\n    parse = None\n",
        "x.parse(1)\n",
        "x = 'cfg.parse'\n",
        "def f(:\n",
    ],
)
def test_no_other_name_is_said_to_break(text):
    assert broken(RENAMED, new_user(text), BASE) == []


@pytest.mark.parametrize(
    "after",
    [
        CFG.replace("def parse(", "def _parse(") + "\n\nparse = _parse\n",
        CFG.replace("def parse(", "def _parse(") + "\n\nfrom other import *\n",
        CFG.replace("def parse(", "def _parse(") + "\n\nglobals()['parse'] = _parse\n",
        CFG.replace("def parse(", "def _parse(") + "\n\ndef __getattr__(name): ...\n",
        CFG.replace("def parse(", "def _parse(") + "\n\nfrom other import parse\n",
        "if X:\n    def parse(): ...\nelse:\n    def parse(a): ...\n",
    ],
)
def test_a_name_that_is_still_there_breaks_nobody(after):
    text = after.replace("self.values = parse", "self.values = _parse")
    assert broken({"cfg.py": text}, {"extra.py": EXTRA}, BASE) == []


def test_a_use_in_the_middle_of_a_file_is_named_by_its_line_there():
    above, below = "import os\n\n\ndef f():\n    pass\n", "\n\ndef g():\n    pass\n"
    new = "\n\nimport cfg\n\n\ndef h():\n    return cfg.parse(1)\n"
    base = {**BASE, "use.py": above + below}
    [(by, path, line)] = broken(RENAMED, new_user(above + new + below), base)
    assert (by, path, line) == ("a", "use.py", 12)
    before = {**BASE, "use.py": above + "\n\nimport cfg\n\n" + below}
    after = new_user(above + "\n\nimport cfg\n\n" + below + "\n\ncfg.parse(1)\n")
    assert broken(RENAMED, after, before) == [("a", "use.py", 16)]


@pytest.mark.parametrize(
    ("taker", "user"),
    [
        # A new file of the name of a module that is not at hand.
        ({"deep/flask.py": "x = 1\n"}, "from flask import g\ng()\n"),
        # A module that becomes a package.
        ({"cfg.py": None, "cfg/__init__.py": CFG}, "from . import cfg\ncfg.parse(1)\n"),
        # An import that may fail.
        ({"cfg.py": None}, "try:\n    from cfg import parse\nexcept E:\n    parse = 0\nparse(1)\n"),
    ],
)
def test_what_only_looks_as_if_it_took_a_name_away_breaks_nobody(taker, user):
    assert broken(taker, new_user(user), BASE) == []


@pytest.mark.parametrize(
    ("more", "hides"),
    [
        ("class C:\n    def f(self, name):\n        setattr(self, name, 1)", False),
        ("class C:\n    def f(self, name):\n        vars(self).update(a=1)", False),
        ("def test(monkeypatch):\n    monkeypatch.setattr(m, 'x', 1)", False),
        ("def f(app):\n    app.globals.update(a=1)\n    for n in app: setattr(app, n, 1)", False),
        ("def f(code, names):\n    eval(code, names)\n    exec(code, names)", False),
        ("def f(name):\n    return sys.modules[name].x", False),
        ("def f(code):\n    exec(code)", True),
        ("def f():\n    setattr(sys.modules[__name__], 'gone', 1)", True),
        ("def f():\n    globals()['gone'] = 1", True),
        ("for n in names: setattr(here, n, 1)", True),
        ("sys.modules['m'] = Lazy()", True),
        ("def __getattr__(name):\n    return name", True),
    ],
)
def test_only_what_gives_names_to_its_own_module_hides_what_is_gone(more, hides):
    base = {"m.py": f"{more}\n\n\ndef gone(x):\n    pass\n"}
    changed = {"m.py": base["m.py"].replace("def gone", "def renamed")}
    expected = [] if hides else [("a", "use.py", 2)]
    assert broken(changed, new_user("import m\nm.gone(1)\n"), base) == expected


def test_what_the_origin_used_already_is_no_new_use():
    base = {**BASE, "extra.py": EXTRA}
    assert broken(RENAMED, {"extra.py": EXTRA + "x = 1\n"}, base) == []


FUNCTION = "def f(a, b=1, *, c=2):\n    return a\n"


@pytest.mark.parametrize(
    ("after", "call", "is_broken"),
    [
        ("def f(a, b, *, c=2):", "f(1)", True),
        ("def f(a, *, c=2):", "f(1, 2)", True),
        ("def f(a, b=1):", "f(1, c=3)", True),
        ("def f(a, x=1, *, c=2):", "f(1, b=3)", True),
        ("def f(a, b=1, *, c=2, d=3):", "f(1, 2, c=3)", False),
        ("def f(a, b, *, c=2):", "f(1, 2)", False),
        ("def f(a, b, *, c=2):", "f(*x)", False),
        ("def f(*a, **k):", "f(1, c=3)", False),
        ("@wrapped\ndef f(a, b):", "f(1)", False),
    ],
)
def test_a_call_that_the_narrowed_function_no_longer_takes(after, call, is_broken):
    base = {"m.py": FUNCTION}
    changed = {"m.py": FUNCTION.replace("def f(a, b=1, *, c=2):", after)}
    user = new_user(f"import m\nm.{call}\n")
    assert broken(changed, user, base) == ([("a", "use.py", 2)] if is_broken else [])


OVERLOADED = "from typing import overload\n\n@overload\ndef f(a: int): ...\n@overload\ndef f(a: str, b=1): ...\ndef f(a, b=1):\n    return a\n"  # noqa: E501


def test_overloads_and_functions_that_are_bound_twice_are_not_looked_at():
    changed = {"m.py": OVERLOADED.replace("def f(a, b=1):", "def f(a, b):")}
    assert broken(changed, new_user("import m\nm.f(1)\n"), {"m.py": OVERLOADED}) == []


@pytest.mark.parametrize(
    ("path", "text", "after", "use"),
    [
        ("s.py", "def f(s):\n    return s.fetch()\n", "x = 1\n", "def f(s):\n    return s.f()\n"),
        ("s.ts", "export function f() {}\n", "", "import { f } from './s';\nf();\n"),
        ("s.c", "int f(int a) { return a; }\n", "", "int g(void) { return f(1); }\n"),
    ],
)
def test_members_and_other_languages_are_not_looked_at(path, text, after, use):
    assert broken({path: after}, {f"use.{path[2:]}": use}, {path: text}) == []


def test_who_is_in_conflict_breaks_nobody_and_neither_do_two_that_conflict():
    conflict = {"a": {"conflicts": {"cfg.py": "x"}}}
    edits = {"a": RENAMED, "b": new_user("import cfg\ncfg.parse(1)\n")}
    assert words(edits, BASE) == {("a", "b"): "breaks"}
    assert words(edits, BASE, **conflict) == {}
    both = {**BASE, "n.py": "x = 1\n"}
    edits = {"a": {**RENAMED, "n.py": "x = 2\n"}, "b": {**edits["b"], "n.py": "x = 3\n"}}
    assert "breaks" not in words(edits, both).values()


def test_what_is_read_is_the_own_diff_and_not_the_replayed_one():
    """Its own head defines the name, whatever has become of the file."""
    old, new = {"m.py": side("x = 1\n")}, {"m.py": side("x = 1\ny = z\n")}
    own = {"own_old": {"m.py": side("z = 1\n")}, "own_new": {"m.py": side("z = 1\ny = z\n")}}
    stale = Candidate("a", "", "", "", label="a", old=old, new=new, **own)
    assert compared(Candidates("0" * 40, (stale,))).claims == {"a": ()}
    [claim] = compared(Candidates("0" * 40, (replace(stale, own_new=new),))).claims["a"]
    assert (claim.word, claim.message) == ("broken", "uses z, which nothing defines")


def test_what_only_files_use_that_nobody_changes():
    others = {"use.py": "import os\nfrom cfg import parse\n", "t.py": "parse = 1\nparse()\n"}
    taker = candidate("a", RENAMED, BASE)
    reader = compared(Candidates("0" * 40, (taker,))).reader
    found = broken_in_target([taker], reader, lambda words: others)
    assert [(why.path, why.line) for why in found.get("a", ())] == [("use.py", 2)]
    assert broken_in_target([replace(taker, conflicts={"x": "y"})], reader, lambda _: others) == {}


def test_who_has_rivals_in_two_tasks_is_in_neither_and_is_said_to_be_their_rival():
    code = {"a": edited(at_3="x = 1"), "b": edited(at_20="y = 2")}
    docs = {"n.md": "a\nb\nc\nd\ne\n"}
    base = {**TEN, **docs}
    code["a"]["n.md"] = "A\nb\nc\nd\ne\n"
    code["b"]["n.md"] = "a\nb\nc\nd\nE\n"
    found = of({**code, "c": {"n.md": "AA\nb\nc\nd\nEE\n"}}, base)
    assert [task.members for task in found.tasks] == [("a",), ("b",), ("c",)]
    assert [(r.first, r.second, r.word) for r in found.relations] == [
        ("a", "c", "rivals"), ("b", "c", "rivals"),
    ]  # fmt: skip
    lines = [*relation_lines(relation_entries(found.relations), {"a": "ada"})]
    assert lines[0].startswith("ada and c are rivals: 1 of 2 hunks overlap")


# --- tasks ----------------------------------------------------------------------------------------


def member(name, has_code=True, **facts):
    files = {"x.c": side("1\n")} if has_code else {"tests/test_x.py": side("1\n")}
    return Candidate(name, "", "", "", old=files, **facts)


def rivals(*pairs):
    reason = RelationReason("rivals", "half of the hunks")
    return [CandidateRelation(a, b, (reason,)) for a, b in pairs]


def together(members, related):
    return [task.members for task in tasks_of(members, related)]


def test_a_chain_of_rivals_is_one_task_and_what_collides_makes_none():
    every = [member(name) for name in "abcd"]
    collides = CandidateRelation("c", "d", (RelationReason("collides", "x"),))
    assert together(every, [*rivals(("a", "b"), ("b", "c")), collides]) == [("a", "b", "c"), ("d",)]


def test_others_join_the_one_task_of_a_tool_in_which_they_have_rivals():
    p, q = (member(t, tool="emdash", task=t) for t in "pq")
    assert together([p, q, member("a")], rivals(("a", "p"))) == [("a", "p"), ("q",)]
    both = rivals(("a", "p"), ("a", "q"))
    assert together([p, q, member("a")], both) == [("a",), ("p",), ("q",)]


def test_who_changes_no_code_joins_the_task_of_its_rivals_or_the_only_one():
    coded = [member("a", base="0"), member("b", base="0")]
    late = member("c", has_code=False, base="0")
    assert together([*coded, late], rivals(("a", "b"))) == [("a", "b", "c")]
    assert together([*coded, replace(late, base="1")], rivals(("a", "b"))) == [("a", "b"), ("c",)]
    assert together([*coded, late], []) == [("a",), ("b",), ("c",)]
    assert together([*coded, late], rivals(("a", "c"))) == [("a", "c"), ("b",)]
    assert together([*coded, late], rivals(("a", "c"), ("b", "c"))) == [("a",), ("b",), ("c",)]


def test_one_id_for_two_candidates_is_refused():
    with pytest.raises(ValueError, match="one id"):
        tasks_of([member("a"), member("a")])


NAMES = "abcdefgh"
MEMBERS = st.lists(
    st.builds(
        member, st.sampled_from(NAMES), has_code=st.booleans(),
        base=st.sampled_from(["", "0", "1"]), tool=st.just("emdash"),
        task=st.sampled_from(["", "", "p", "q"]),
    ),
    max_size=8, unique_by=lambda member: member.id,
)  # fmt: skip
PAIRS = st.lists(st.sampled_from(list(itertools.combinations(NAMES, 2))), unique=True, max_size=9)


@given(MEMBERS, PAIRS, st.randoms())
def test_every_candidate_is_in_one_task_whatever_the_order(members, pairs, random):
    found = tasks_of(members, rivals(*pairs))
    assert sorted(name for task in found for name in task.members) == sorted(
        member.id for member in members
    )
    shuffled = random.sample(members, len(members))
    assert tasks_of(shuffled, rivals(*random.sample(pairs, len(pairs)))) == found
    by_task = {}
    for task in found:
        names = {m.task for m in members if m.id in task.members} - {""}
        assert len(names) <= 1
        for name in names:
            assert by_task.setdefault(name, task) is task


@given(MEMBERS, PAIRS)
def test_who_changes_no_code_neither_ties_nor_splits_those_who_do(members, pairs):
    coded = [member for member in members if member.has_code]
    ids = {member.id for member in coded}
    with_all = {
        tuple(name for name in task.members if name in ids)
        for task in tasks_of(members, rivals(*pairs))
    }
    assert with_all - {()} == {task.members for task in tasks_of(coded, rivals(*pairs))}


TEXTS = st.lists(st.sampled_from(["a = 1", "b = 2", "def f(): ...", "import os", ""]), max_size=7)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(TEXTS, st.tuples(TEXTS, TEXTS, TEXTS))
def test_the_relation_of_two_depends_on_these_two_alone(base, revisions):
    origin = {"a.py": "".join(f"{line}\n" for line in base)}
    texts = ["".join(f"{line}\n" for line in lines) for lines in revisions]
    edits = {name: one(t) for name, t in zip("abc", texts, strict=True) if t != origin["a.py"]}
    found = words(edits, origin)
    for a, b in itertools.combinations(edits, 2):
        assert words({a: edits[a], b: edits[b]}, origin).get((a, b)) == found.get((a, b))
        assert words({b: edits[b], a: edits[a]}, origin).get((a, b)) == found.get((a, b))


@pytest.mark.slow
def test_three_hundred_candidates_of_as_many_files_are_not_compared_in_pairs():
    edits = {f"c{n:03}": {f"f{n}.py": f"def f{n}():\n    return {n}\n"} for n in range(300)}
    found = of(edits)
    assert found.relations == ()
    assert len(found.tasks) == 300


def test_who_edits_a_file_that_the_target_deleted_creates_none():
    own = {"own_old": {"gone.py": side("a = 1\n")}, "own_new": {"gone.py": side("a = 2\n")}}
    a = {"conflicts": {"gone.py": "the target deleted this file"}, **own}
    edits = {"a": {"gone.py": "a = 2\n"}, "b": {"gone.py": "b = 1\n"}}
    [relation] = of(edits, a=a).relations
    assert "gone.py: a changes it and b creates it" in [r.message for r in relation.reasons]
    [relation] = of(edits).relations
    assert "both create gone.py" in [r.message for r in relation.reasons]
