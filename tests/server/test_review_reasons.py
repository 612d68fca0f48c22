"""What is said of groups: each fact is found where it is so, and only there."""

from collections import defaultdict
from dataclasses import replace

import pytest
from tests.edit_facts import facts_of
from tests.server.test_review_hunks import candidate, side

from excise.languages import resolve
from excise_server.review.hunks import review_files
from excise_server.review.reasons import REASONS, group_reasons
from excise_server.review.replayed import DELETED

CODE = "import os\n\n\ndef f(a):\n    return g(a)\n\n\ndef g(a):\n    return os.path.join(a)\n"
TEST = "def test_f():\n    assert f(1)\n"
ORIGIN = {"a.py": CODE, "b.py": "x = 1\n", "test_a.py": TEST, "README.md": "# A\n"}
FIX = CODE.replace("    return g(a)\n", "    return g(a or '')\n")


def change(name, **texts):
    """Return a candidate: ``a__py`` is ``a.py``; None deletes a file."""
    new = {path.replace("__", "."): text for path, text in texts.items()}
    old = {path: ORIGIN[path] for path in new if path in ORIGIN}
    return candidate(name, old, {path: text for path, text in new.items() if text is not None})


def facts_in(files):
    """Return what a matrix of these files knows of them, by candidate and path."""
    facts = defaultdict(dict)
    for file in files:
        for change in file.changes:
            if file.text is not None and change.text is not None:
                grammar = resolve(None, file.path, file.text)
                [facts[change.id][file.path]] = facts_of(file.text, [change.text], grammar)
    return facts


def reasons(*candidates, groups=None, broken=None):
    """Return what is said of each group, as (kind, text, members)."""
    members = groups or [[candidate.id] for candidate in candidates]
    files = review_files(candidates)
    found = group_reasons(candidates, members, files, broken or {}, facts_in(files))
    return [[(r.kind, r.text, tuple(r.members)) for r in of_group] for of_group in found]


def kinds(*candidates, **more):
    return [[kind for kind, _, _ in of_group] for of_group in reasons(*candidates, **more)]


def test_hunks_and_files_that_a_group_alone_changes():
    ada = change("ada", a__py=FIX, b__py="x = 2\n")
    bo = change("bo", a__py=FIX, b__py="x = 3\n")
    chen = change("chen", a__py=FIX.replace("join(a)", "join(a, a)"))
    found = reasons(ada, bo, chen, groups=[["ada", "bo"], ["chen"]])
    assert found == [
        [("alone", "alone changes b.py", ("ada", "bo"))],
        [("alone", "alone changes a.py#9", ("chen",))],
    ]


def test_one_group_is_not_alone_with_anything():
    assert kinds(change("ada", a__py=FIX), change("bo", a__py=FIX), groups=[["ada", "bo"]]) == [[]]


def test_many_places_are_counted():
    ada = change("ada", **{f"new{n}__py": f"x = {n}\n" for n in range(5)})
    assert "alone changes new0.py, new1.py, new2.py and 2 more" in [
        text for _, text, _ in reasons(ada, change("bo", a__py=FIX))[0]
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"test_b__py": TEST}, "adds tests: test_b.py"),
        ({"test_a__py": TEST + "    assert f(2)\n"}, "changes tests: test_a.py"),
        ({"test_a__py": None}, "deletes tests: test_a.py"),
    ],
)
def test_tests_that_are_added_changed_and_deleted(texts, said):
    (found,) = reasons(change("ada", a__py=FIX, **texts))
    assert [(kind, text) for kind, text, _ in found] == [("tests", said)]


def test_nobody_is_told_that_it_lacks_the_tests_of_others():
    ada, chen = (change(name, a__py=FIX, test_b__py=TEST) for name in ("ada", "chen"))
    bo = change("bo", a__py=FIX)
    (found,) = reasons(ada, bo, chen, groups=[["ada", "bo", "chen"]])
    assert found == [("tests", "adds tests: test_b.py", ("ada", "chen"))]


@pytest.mark.parametrize(
    "text",
    [
        CODE.replace("    return g(a)\n", "    # It is fast.\n    return g(a)\n"),
        CODE.replace("    return g(a)\n", '    """Return it."""\n    return g(a)\n'),
        CODE.replace("g(a)\n", "g( a )\n"),
    ],
)
def test_comments_docstrings_and_white_space_are_no_code(text):
    assert kinds(change("ada", a__py=text)) == [["comments-only"]]
    assert kinds(change("ada", a__py=text, b__py="x = 2\n")) == [[]], "another file has code"
    mode = change("ada", a__py=text)
    mode = replace(mode, new={"a.py": side(text, "100755")})
    assert kinds(mode) == [[]], "a mode is no comment"


def test_comments_of_other_languages():
    old, new = "int f(int a) { return a; }\n", "/* f */ int f(int a) { return a; }\n"
    assert kinds(candidate("ada", {"a.c": old}, {"a.c": new})) == [["comments-only"]]
    more = new.replace("return a", "return 2 * a")
    assert kinds(candidate("ada", {"a.c": old}, {"a.c": more})) == [[]]


def test_a_candidate_without_code():
    (found,) = reasons(change("ada", README__md="# B\n", test_b__py=TEST))
    assert found[0][:2] == ("no-code", "changes no code, only tests and docs")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (CODE.replace("def f(a)", "def f(a, strict=False)"), "strict"),
        (CODE.replace("    return g(a)", "    limit = 3\n    return g(a)"), "limit"),
    ],
)
def test_names_that_nobody_reads(text, names):
    (found,) = reasons(change("ada", a__py=text))
    assert found == [
        ("unread-names", f"only adds names that are never read: {names} (a.py)", ("ada",)),
    ]
    (found,) = reasons(change("ada", a__py=text.replace("join(a)", "join(a, a)")))
    assert found[0][1] == f"adds names that are never read: {names} (a.py)"
    reader = f"import a\n\n\na.f(1, {names}=1)\n"
    assert kinds(change("ada", a__py=text, c__py=reader)) == [[]], "another file has the name"
    assert kinds(change("ada", a__py=text, test_c__py=reader)) == [["tests"]], "or a test"


def test_a_parameter_that_is_read_is_no_reason():
    text = CODE.replace("def f(a)", "def f(a, strict)").replace(
        "g(a)\n\n", "g(a if strict else 0)\n\n", 1
    )
    assert kinds(change("ada", a__py=text)) == [[]]


def test_what_is_broken_is_said_as_it_is_given():
    (found,) = reasons(change("ada", a__py=FIX), broken={"ada": ("uses h, which nothing defines",)})
    assert found[0] == ("broken", "uses h, which nothing defines", ("ada",))


def test_deleted_lines_of_code():
    (found,) = reasons(change("ada", a__py=CODE.replace("import os\n", "").replace("os.", "")))
    assert "deletes" not in {kind for kind, _, _ in found}, "it adds a line, too"
    short = "def f(a):\n    return a\n"
    long = short + "".join(f"x{n} = {n}\n" for n in range(12))
    (found,) = reasons(candidate("ada", {"c.py": long}, {"c.py": short}))
    assert ("deletes", "only deletes 12 lines of code", ("ada",)) in found
    (found,) = reasons(candidate("ada", {"c.py": long}, {"c.py": short + "y = 1\n"}))
    assert ("deletes", "deletes 12 lines of code and adds 1", ("ada",)) in found
    assert "deletes" not in kinds(candidate("ada", {"README.md": long}, {"README.md": "x\n"}))[0]


def test_of_a_file_in_conflict_its_own_diff_is_said():
    short, long = "a = 1\n", "".join(f"x{n} = {n}\n" for n in range(12))
    replayed = candidate("ada", {"c.py": long}, {"c.py": short})
    own = candidate("ada", {"c.py": short}, {"c.py": "a = 2\n"})
    ada = replace(replayed, conflicts={"c.py": "the target changed it, too"})
    assert "deletes" in kinds(ada)[0]
    assert "deletes" not in kinds(replace(ada, own_old=own.old, own_new=own.new))[0]
    moved = replace(ada, own_old={"b.py": own.old["c.py"]}, own_new={"b.py": own.new["c.py"]})
    assert "deletes" not in kinds(replace(moved, moves={"b.py": "c.py"}))[0]


def test_conflicts_of_deleted_files_are_told_apart():
    both = {"a.py": DELETED, "b.py": "the target changed these lines, too"}
    (found,) = reasons(replace(change("ada", a__py=FIX), conflicts=both))
    assert found[0][1] == "conflicts with the target, which deleted a.py, and in b.py"


def test_a_conflict_comes_first_and_says_of_whom_it_is_true():
    ada = replace(change("ada", a__py=FIX), conflicts={"a.py": "the target changed it, too"})
    bo = change("bo", a__py=FIX, test_b__py=TEST)
    (found,) = reasons(ada, bo, groups=[["ada", "bo"]])
    assert found[0] == ("conflict", "conflicts with the target in a.py", ("ada",))
    order = [REASONS.index(kind) for kind, _, _ in found]
    assert order == sorted(order)


def test_binary_data_and_created_files_say_nothing_of_names():
    data = replace(candidate("ada"), new={"a.py": side(b"\0")})
    assert kinds(data) == [[]]
    assert kinds(candidate("ada", {}, {"c.py": "def f(a, unused):\n    return a\n"})) == [[]]
