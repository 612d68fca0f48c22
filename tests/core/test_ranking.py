"""The order of suggestions: cases, bad inputs, and the reasons that are printed with it."""

import pytest

from excise import ChangeSet, ContentError, OptionError, ScoreMatrix, rank

ORIGIN = '''import os


def mean(values, default=0):
    """Return the mean."""
    total = sum(values)
    if default:
        print(default)
    return total / len(values)


class Shape:
    def area(self):
        side = self.side
        return side
'''
FIX = ORIGIN.replace("total / len(values)", "total / len(values) if values else default")
LARGE = ORIGIN.replace(
    "    total = sum(values)\n",
    """\
    total = 0
    for value in values:
        if value is None or value != value:
            continue
        if isinstance(value, str):
            value = float(value.strip().replace(",", "."))
        total += value if value > default else default * abs(value - default)
""",
)
OTHER = ORIGIN.replace("    total", "    if not values:\n        return default\n    total")
WRONG = ORIGIN.replace("if default", "if total")


def alone(texts, intent="change", origin=ORIGIN, **options):
    """Rank revisions of one file."""
    options = {"language": "python"} | options
    return rank(ScoreMatrix.from_texts(origin, texts, **options), intent=intent)


def among(texts, intent="change", origin=ORIGIN):
    """Rank them as change sets of several files."""
    sets = {
        name: ChangeSet({"a.py": text} if text != origin else {}) for name, text in texts.items()
    }
    return rank(ScoreMatrix.from_change_sets({"a.py": origin}, sets), intent=intent)


PATHS = pytest.mark.parametrize("ranked", [alone, among])


@PATHS
@pytest.mark.parametrize("intent", ["fix", "change"])
def test_four_identical_fixes_stand_before_one_wrong_edit_of_two_tokens(ranked, intent):
    """The wrong edit is smaller than the fix, and was first while sizes were weighed."""
    texts = {"wrong": WRONG, **{f"fix{number}": LARGE for number in range(4)}}
    ranking = ranked(texts, intent)
    assert ranking[-1].id == "wrong"
    assert ranking[-1].edit_size == 2 < ranking[0].edit_size
    assert [(r.rank, r.makers) for r in ranking] == [(1, 4)] * 4 + [(5, 1)]
    assert [" ".join(r.why) for r in ranking] == ["4 of 5 make this edit"] * 4 + [""]


@PATHS
def test_comments_layout_and_file_ends_do_not_make_another_edit(ranked):
    texts = {
        "plain": FIX,
        "commented": FIX.replace("    total = ", "    # the sum\n    total = "),
        "at a line's end": FIX.replace("print(default)", "print(default)  # why?"),
        "spaced": FIX.replace("total = sum(", "total  =  sum( ").rstrip("\n"),
        "in a string": FIX.replace("print(default)", "print('# why?')"),
    }
    makers = {r.id: r.makers for r in ranked(texts)}
    assert makers == {**dict.fromkeys(texts, 4), "in a string": 1}


@pytest.mark.parametrize(
    ("path", "origin", "same", "other"),
    [
        ("a.c", "int a = 1;\n", "int a = 2; /* two\n lines */\n", "int a = 2; int lines;\n"),
        ("a.go", "package a\n\nvar A = 1\n", "package a\n\n// A is\nvar A = 2\n", "package b\n"),
        ("a.html", "<p>a</p>\n", "<p>b</p><!-- b -->\n", "<p>b</p><p></p>\n"),
        ("a.js", "f(1)\n", "f(2) // g(`${1}`)\n", "f(2) + `//`\n"),
    ],
)
def test_comments_are_what_the_grammar_of_each_language_says(path, origin, same, other):
    plain = same.split("/*")[0].split("// A")[0].split("<!--")[0].split(" //")[0]
    plain += {"a.go": "var A = 2\n", "a.html": "\n"}.get(path, "")
    texts = {"plain": plain, "same": same, "other": other}
    sets = {name: ChangeSet({path: text}) for name, text in texts.items()}
    for ranking in (
        alone(texts, origin=origin, language=None, path=path),
        rank(ScoreMatrix.from_change_sets({path: origin}, sets)),
    ):
        assert {r.id: r.makers for r in ranking} == {"plain": 2, "same": 2, "other": 1}


def test_long_texts_that_are_parsed_beside_their_origin_have_the_same_keys():
    """The tokens of lines that an edit left alone are inherited, their comments with them."""
    body = "".join(f"def f{i}(x):\n    # {i}\n    return x + {i}\n\n\n" for i in range(200))
    fix = body.replace("x + 7\n", "x + 8\n")
    texts = {
        "a": fix,
        "b": fix.replace("    # 9\n", "").replace("    # 99\n", "    # other\n    # lines\n"),
        "c": fix.replace("return x + 99\n", "return '# 99'\n"),
        "d": "# first\n" + fix.replace("# 0\n", "# nought\n") + "# last",
    }
    assert {r.id: r.makers for r in alone(texts, origin=body)} == {"a": 3, "b": 3, "c": 1, "d": 3}


def test_an_edit_of_several_files_is_the_same_only_if_it_is_in_all_of_them():
    origin = {"a.py": "a = 1\n", "b.py": "b = 1\n", "c.md": "c\n"}
    both = {"a.py": "a = 2\n", "b.py": "b = 2\n"}
    sets = {
        "both": ChangeSet(both),
        "commented": ChangeSet({**both, "b.py": "b = 2  # two\n"}),
        "one": ChangeSet({"a.py": "a = 2\n"}),
        "swapped": ChangeSet({"a.py": "b = 2\n", "b.py": "a = 2\n"}),
        "executable": ChangeSet(both, {"a.py": ("mode 755",)}),
        "created": ChangeSet({**both, "d.py": ""}, {"d.py": ("created",)}),
    }
    makers = {r.id: r.makers for r in rank(ScoreMatrix.from_change_sets(origin, sets))}
    assert makers == {**dict.fromkeys(sets, 1), "both": 2, "commented": 2}


def test_a_file_that_no_grammar_can_read_counts_by_its_text():
    huge = "x = 1\n" * 200_000
    sets = {
        name: ChangeSet({"a.py": text})
        for name, text in {"a": huge, "b": huge, "c": huge + "# c\n", "d": "x = 2\n"}.items()
    }
    makers = {r.id: r.makers for r in rank(ScoreMatrix.from_change_sets({"a.py": "x = 0\n"}, sets))}
    assert makers == {"a": 2, "b": 2, "c": 1, "d": 1}


@PATHS
def test_the_intent_says_whether_sizes_count(ranked):
    texts = {"small": WRONG, "near": OTHER, "too": OTHER.replace("return default", "return 0")}
    [small, *_], [*near, far] = ranked(texts, "fix"), ranked(texts, "change")
    assert (small.id, small.rank, small.edit_size) == ("small", 1, 2)
    assert small.why == ("fewest tokens",)
    assert far.id == "small"
    assert {r.why for r in (*near, far)} == {()}


@PATHS
def test_of_two_the_smaller_edit_leads_as_both_are_as_near_to_each_other(ranked):
    for intent in ("fix", "change"):
        first, second = ranked({"large": OTHER, "small": WRONG}, intent)
        assert (first.id, second.id) == ("small", "large")
        assert first.mean_similarity == second.mean_similarity
        assert first.why == ("fewest tokens",)


def test_what_a_revision_does_beside_text_is_said_before_white_space():
    facts = {
        "moved": {"a.py": ("rename from a.py", "to b.py")},
        "runs": {"a.py": ("mode 100644 to 100755",)},
        "data": {"b.bin": ("binary", "0" * 40)},
        "empty": {"e.py": ("created",)},
        "ends": {"a.py": ("only converts line ends from LF to CRLF", "0" * 64)},
    }
    sets = {name: ChangeSet({}, own) for name, own in facts.items()}
    ranking = rank(ScoreMatrix.from_change_sets({"a.py": ORIGIN}, sets))
    assert {r.id: (r.why[0], r.stub) for r in ranking} == {
        "moved": ("renames a.py to b.py", False),
        "runs": ("makes a.py executable", False),
        "data": ("changes the binary file b.bin", False),
        "empty": ("adds the empty file e.py", False),
        "ends": ("only converts line ends from LF to CRLF (a.py)", False),
    }


@PATHS
def test_whole_then_broken_then_without_code_then_nothing_however_many_make_it(ranked):
    texts = {"whole": OTHER}
    for number in range(4):
        texts |= {
            f"broken{number}": FIX.replace("default=0", ""),
            f"idle{number}": ORIGIN + "# nothing\n",
            f"no-op{number}": ORIGIN,
        }
    ranking = ranked(texts)
    assert [r.id[:4] for r in ranking] == ["whol"] + ["brok"] * 4 + ["idle"] * 4 + ["no-o"] * 4
    assert ranking[1].why[0] == "broken: uses default, which nothing defines"
    assert ranking[5].why == ("changes no code, only comments or layout",)
    assert ranking[9].why == ("changes nothing",)


PLANTED = {
    "dead parameter": ORIGIN.replace("default=0", "default=0, strict=False"),
    "dead annotated parameter": ORIGIN.replace("area(self", "area(self, unit: str = 'm'"),
    "comment": ORIGIN.replace("    total", "    # the sum\n    total"),
    "comment at a line's end": ORIGIN.replace("return side", "return side  # squared?"),
    "white space": ORIGIN.replace("total = sum(", "total  =  sum( "),
    "blank lines": ORIGIN.replace("    total", "\n\n    total"),
    "unused local": ORIGIN.replace("    total", "    result = None\n    total"),
    "unused constant": ORIGIN.replace("\n\ndef", "\nEPSILON = 1e-9\n\n\ndef"),
    "unused import": ORIGIN.replace("import os\n", "import os\nimport math\n"),
    "unused attribute": ORIGIN.replace("side = self", "self.cached = None\n        side = self"),
    "docstring": ORIGIN.replace("Return the mean.", "Return the mean of some values."),
    "new docstring": ORIGIN.replace("        side =", '        """Return it."""\n        side ='),
    "private helper": ORIGIN.replace("class Shape", "def _help(x):\n    return x\n\n\nclass Shape"),
    "pass": ORIGIN.replace("    total = sum", "    pass\n    total = sum"),
    "two of them": ORIGIN.replace("default=0", "default=0, strict=False") + "# done\n",
    "no-op": ORIGIN,
}


@PATHS
@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize(("copies", "fixes"), [(1, [FIX, OTHER]), (4, [FIX])])
def test_an_edit_without_code_is_never_first_however_many_make_it(ranked, name, copies, fixes):
    texts = {f"fix{i}": text for i, text in enumerate(fixes)}
    texts |= {f"stub{i}": PLANTED[name] for i in range(copies)}
    ranking = ranked(texts)
    assert all(r.id.startswith("fix") for r in ranking[: len(fixes)])
    assert all(r.rank > len(fixes) and r.why for r in ranking[len(fixes) :])
    assert ranked({"stub": PLANTED[name]})[0].rank == 1


def test_errors_that_the_origin_has_too_are_not_introduced():
    ranking = alone({"a": "f(1\n", "b": "g(\n"}, origin="f(\n")
    assert not any(r.syntax_errors or r.broken for r in ranking)
    assert all("syntax errors: origin, revision" in r.notes for r in ranking)


def test_without_a_grammar_nothing_is_known_of_syntax():
    [found] = alone({"a": "def f(x:\n"}, language=None)
    assert (found.syntax_errors, found.broken) == (False, ())


# --- bad inputs ----------------------------------------------------------------------------------


def test_none_and_a_lone_one():
    for texts in ([], {}):
        assert rank(ScoreMatrix.from_texts("a", texts)) == ()
    [lone] = rank(ScoreMatrix.from_texts("a", ["a b"]))
    assert (lone.rank, lone.makers, lone.mean_similarity, lone.why) == (1, 1, None, ())
    [idle] = rank(ScoreMatrix.from_texts("a", ["a"]))
    assert (idle.rank, idle.why) == (1, ("changes nothing",))
    assert rank(ScoreMatrix.from_change_sets({}, {})) == ()


@PATHS
@pytest.mark.parametrize("text", [ORIGIN, FIX, WRONG + "(", ORIGIN + "# a\n", ""])
def test_all_equal_share_the_first_rank(ranked, text):
    ranking = ranked(dict.fromkeys("cabd", text))
    assert {r.rank for r in ranking} == {1}
    assert [r.id for r in ranking] == list("cabd")


@PATHS
def test_all_broken_are_ordered_as_whole_ones_are(ranked):
    texts = {"alone": WRONG + "(", "a": FIX + "(", "b": FIX + "("}
    ranking = ranked(texts)
    assert [r.id for r in ranking] == ["a", "b", "alone"]
    assert all(r.broken and r.why[0].startswith("broken: ") for r in ranking)


def test_ready_made_sequences_and_options_have_codes_as_well():
    words = ["one"] * 3 + ["two"] * 2
    for options in ({}, {"granularity": "line"}, {"granularity": "token"}, {"comments": "drop"}):
        found = rank(ScoreMatrix.from_texts("a b", [f"a {word}" for word in words], **options))
        assert [r.rank for r in found] == [1] * 3 + [4] * 2
    given = rank(ScoreMatrix.from_texts(["a"], [["a", word] for word in words]))
    assert [r.makers for r in given] == [3, 3, 3, 2, 2]


@pytest.mark.parametrize("intent", ["", "Fix", "feature", None, 1])
def test_an_unknown_intent_is_refused_with_the_two_that_there_are(intent):
    with pytest.raises(OptionError, match="fix or change"):
        rank(ScoreMatrix.from_texts("a", ["b"]), intent=intent)


def test_what_is_no_matrix_is_refused():
    with pytest.raises(ContentError, match="ScoreMatrix"):
        rank([[1.0]])
