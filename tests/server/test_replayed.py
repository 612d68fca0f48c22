"""What is merged beyond git, what is a conflict although lines merge, and files as a whole."""

import pytest

from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import CREATED, DELETED, OTHER_PARENT, REWROTE, SAME_LINES
from excise_server.review.replayed import replay_files as replayed
from excise_server.review.taking import Choice, take


def replay(path, base, target, candidate):
    sides = [
        {} if text is None else {path: text if isinstance(text, Side) else side(text)}
        for text in (base, candidate)
    ]
    now = target if isinstance(target, Side | None) else side(target)
    return replayed(*sides, {path: now}, {})


def side(text):
    return Side("100644", text.encode())


F, G = "def f():\n    return 1\n\n\n", "def g():\n    return 2\n\n\n"
REST = "def z():\n    return 0\n"
TOP, OLD = "# Changes\n\n## Unreleased\n\n", "## 1.0\n\n- First\n"


@pytest.mark.parametrize(
    ("path", "before", "target", "candidate", "after"),
    [
        ("m.py", "", F, G, REST),
        ("m.py", "import a\n", "from q import k\n", "from r import n\n", "x = 1\n"),
        ("p.json", '{\n  "a": 1,\n', '  "b": 1,\n', '  "c": 1,\n', '  "z": 1\n}\n'),
        ("c.yml", "a: 1\n", "b: 1\n", "c: 1\n", "z: 1\n"),
        ("CHANGELOG.md", TOP + "- Zero\n", "- One, #1\n", "- Two, #2\n", "\n" + OLD),
    ],
)
def test_members_of_other_names_are_merged_beyond_git(path, before, target, candidate, after):
    """The target's come first."""
    files = replay(path, *(before + own + after for own in ("", target, candidate)))
    assert files.conflicts == {}
    assert files.new[path].text == before + target + candidate + after
    lo, *lines = (text.count("\n") for text in (before, target, candidate))
    assert files.beyond_git == {path: ((lo, lo + sum(lines)),)}


@pytest.mark.parametrize(
    ("path", "before", "target", "candidate", "after"),
    [
        ("m.py", "", F, F.replace("1", "2"), REST),  # one name
        ("m.py", "import a\n", "from q import k\n", "from r import k\n", "x = 1\n"),
        ("m.py", "def f():\n", "    a()\n", "    b()\n", "    c()\n"),  # steps
        ("m.py", "", F, "@act\n" + G, REST),
        ("X.java", "import a.B;\n", "import a.List;\n", "import b.List;\n", "class X {}\n"),
        ("x.rs", "use a::B;\n", "use a::List;\n", "use b::{Set, List};\n", "fn x() {}\n"),
        ("s.go", 'package m\nimport (\n\t"fmt"\n', '\t"math/rand"\n', '\t"crypto/rand"\n', ")\n"),
        ("c.yml", "steps:\n  - name: a\n", "    if: x\n", "    env: y\n", "  - name: z\n"),
        ("c.yml", "a: 1\n", "b: &b 1\n", "c: 1\n", "z: 1\n"),
        ("c.css", "a { top: 0 }\n", "b { top: 1 }\n", "c { top: 1 }\n", "z { top: 0 }\n"),
        ("Makefile", "a:\n\ttrue\n", "b:\n\ttrue\n", "c:\n\ttrue\n", "z:\n\ttrue\n"),
        (".gitignore", "a\n", "b\n", "c\n", "z\n"),
        ("CHANGELOG.md", TOP, "- One\n\n## 2.0\n\n", "- Two\n\n", OLD),
        ("CHANGELOG.md", TOP, "- Better, #7\n\n", "- Good, #7\n\n", OLD),
    ],
)
def test_what_is_not_of_that_kind_is_a_conflict(path, before, target, candidate, after):
    files = replay(path, *(before + own + after for own in ("", target, candidate)))
    assert (files.conflicts, files.beyond_git) == ({path: SAME_LINES}, {})


def test_a_line_that_would_come_into_another_parent_is_a_conflict():
    base = "def f():\n    a()\n    b()\n    c()\n    d()\n    e()\n"
    target = base.replace("    b()\n", "    b()\n\n\ndef g():\n")
    files = replay("m.py", base, target, base.replace("    d()\n", "    d()\n    new()\n"))
    assert (files.conflicts, files.disputed) == ({"m.py": OTHER_PARENT}, {"m.py": ((8, 8),)})
    renamed = base.replace("def f", "def other").replace("    b()\n", "    if b():\n        x()\n")
    files = replay("m.py", base, renamed, base.replace("    d()\n", "    d()\n    new()\n"))
    assert files.conflicts == {}


@pytest.mark.parametrize(
    ("base", "target", "candidate", "reason"),
    [
        (None, "a\n", "b\n", CREATED),
        ("a\n", None, "b\n", DELETED),
        ("a\n", "b\n", None, REWROTE),
        (Side(LINK, b"a"), Side(LINK, b"b"), Side(LINK, b"c"), REWROTE),
        ("a\0", "b\0", "c\0", REWROTE),
        ("a\n", "b\n", Side("100644", "c\n".encode("utf-16")), REWROTE),
    ],
)
def test_files_of_which_git_has_no_lines_to_merge(base, target, candidate, reason):
    assert replay("m.txt", base, target, candidate).conflicts == {"m.txt": reason}


def candidate(name, path, base, target, text):
    files = replay(path, base, target, text)
    return Candidate(
        name, "", "", "", label=name, old=files.old, new=files.new, conflicts=files.conflicts,
        disputed=files.disputed, beyond_git=files.beyond_git,
    )  # fmt: skip


def test_hunks_beside_each_other_go_together_if_both_are_named():
    one, two = (candidate(name, "m.txt", "a\nb\nc\n", "a\nb\nc\n", text)
                for name, text in (("one", "A\nb\nc\n"), ("two", "a\nB\nc\n")))  # fmt: skip
    with pytest.raises(SourceError, match="two choices conflict"):
        take([[one, two]], [Choice("one"), Choice("two")])
    named = [Choice("one", "m.txt", (0, 1)), Choice("two", "m.txt", (1, 2))]
    taken = take([[one], [two]], named)
    assert taken.files[0].new == side("A\nB\nc\n")
    assert taken.beyond_git == {"m.txt": ((0, 2),)}
    assert "beside each other: read m.txt:2" in taken.notes


def test_what_is_merged_beyond_git_is_said_by_a_take():
    taken = take([[candidate("one", "m.py", REST, F + REST, G + REST)]], [Choice("one")])
    assert taken.files[0].new == side(F + G + REST)
    assert taken.beyond_git == {"m.py": ((4, 8),)}
    assert "merged beyond git: read m.py" in taken.notes
