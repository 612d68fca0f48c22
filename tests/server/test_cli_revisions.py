"""`excise matrix`, `rank`, `cluster` and `explain`: their documents, and what people see."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.server.command import (
    NAMES,
    ORIGIN,
    SUGGESTIONS,
    document,
    excise,
    one_line,
    spawn,
)
from tests.terminal import on_terminal

import excise as library
from excise import ScoreMatrix, cluster
from excise_server.report.tables import cluster_table, matrix_table

SIGNATURE = "es|gran:nested|lcs:star|place:anchored|del:f1|n:4|comments:keep|tok:python@0.13.0|v:2"
SMALL = document("x = 1\ny = 2\n", "python", a="x = 2\ny = 2\n", b="x = 2\ny = 2\n", c="x = 1\n")


def test_matrix_document():
    ran = excise("matrix", ORIGIN, *SUGGESTIONS, "--json")
    assert (ran.code, ran.err) == (0, "")
    pairs = ("similarity", "anchored", "anywhere", "contained", "words")
    assert set(ran.json) == {"schema", "signature", "revisions", *pairs, "notes", "rejected"}
    assert ran.json["schema"] == 2
    assert ran.json["signature"] == SIGNATURE
    assert ran.json["revisions"] == SUGGESTIONS
    assert ran.json["rejected"] == []
    assert ran.json["notes"] == {SUGGESTIONS[4]: ["whitespace-only"]}
    texts = {path: Path(path).read_text() for path in (ORIGIN, *SUGGESTIONS)}
    expected = library.ScoreMatrix.from_texts(
        texts[ORIGIN], [texts[path] for path in SUGGESTIONS], language="python"
    )
    assert ran.json["similarity"] == expected.values.tolist()


def test_rank_document():
    ran = excise("rank", ORIGIN, *SUGGESTIONS, "--json")
    assert set(ran.json) == {
        "schema", "signature", "intent", "disagree", "ranking", "rejected",
    }  # fmt: skip
    for entry in ran.json["ranking"]:
        assert list(entry) == [
            "id", "rank", "makers", "mean_similarity", "why", "edit_size", "no_op", "stub",
            "broken", "syntax_errors", "notes",
        ]  # fmt: skip
    order = [NAMES[SUGGESTIONS.index(entry["id"])] for entry in ran.json["ranking"]]
    assert order == ["ada", "bo", "dana", "chen", "eli"]
    assert ran.json["ranking"][-1]["notes"] == ["whitespace-only"]
    assert [entry["rank"] for entry in ran.json["ranking"]] == [1, 2, 3, 4, 5]


def test_cluster_document():
    ran = excise("cluster", "--origin", ORIGIN, *SUGGESTIONS, "--json")
    keys = {"schema", "signature", "threshold", "linkage", "clusters", "notes", "rejected"}
    assert set(ran.json) == keys
    assert (ran.json["threshold"], ran.json["linkage"]) == (0.5, "average")
    ada, bo = SUGGESTIONS[:2]
    assert ran.json["clusters"][0] == {
        "members": [ada, bo],
        "representative": ada,
        "min_similarity": 2579 / 3094,
        "words": ["same", "overlaps"],
        "reasons": [],
    }
    assert [reason["kind"] for reason in ran.json["clusters"][-1]["reasons"]] == [
        "comments-only",
        "alone",
    ]
    members = [name for cluster in ran.json["clusters"] for name in cluster["members"]]
    assert sorted(members) == SUGGESTIONS


def test_threshold_and_linkage_are_obeyed_and_said():
    arguments = ("cluster", "--origin", ORIGIN, *SUGGESTIONS, "--json")
    ran = excise(*arguments, "--threshold", "0.1", "--linkage", "complete")
    assert (ran.json["threshold"], ran.json["linkage"]) == (0.1, "complete")
    assert len(ran.json["clusters"]) == 5
    assert len(excise(*arguments, "--threshold", "1").json["clusters"]) < 4
    assert "0<=x<=1" in excise(*arguments, "--threshold", "2").err
    assert excise(*arguments, "--linkage", "ward").code == 2


def test_explain_document():
    ran = excise("explain", ORIGIN, *SUGGESTIONS[:2], "--json")
    assert set(ran.json) == {
        *("schema", "signature", "revisions", "value", "score", "exact"),
        *("keep", "add", "delete", "notes", "regions", "places", "elsewhere"),
        *("anchored", "anywhere", "contained", "word"),
    }
    assert ran.json["revisions"] == SUGGESTIONS[:2]
    assert ran.json["signature"] == SIGNATURE
    assert ran.json["exact"] == "2579/3094"
    first = ran.json["regions"][0]
    assert set(first) == {"share", "place", "origin", "a", "b", "counts"}
    assert first["a"]["text"] == "available = item.on_hand - item.reserved"
    assert first["a"]["lines"] == [42, 43]
    assert first["counts"]["delete"] == [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_no_command_of_pairs_takes_the_directed_form():
    for command in ("matrix", "rank", "explain"):
        ran = excise(command, ORIGIN, *SUGGESTIONS[:2], "--deletion", "precision")
        assert (ran.code, ran.out) == (2, "")
        assert "--deletion" in ran.err


# --- a document on standard input ----------------------------------------------------------------


@pytest.mark.parametrize("command", [("matrix",), ("rank",), ("cluster", "--origin")])
def test_a_document_is_read_from_standard_input(command):
    ran = excise(*command, "-", "--json", stdin=SMALL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["signature"] == SIGNATURE
    ids = ran.json.get("revisions") or [
        name
        for entry in ran.json.get("clusters", ran.json.get("ranking"))
        for name in entry.get("members", [entry.get("id")])
    ]
    assert ids == ["a", "b", "c"]


def test_explain_takes_exactly_two_from_standard_input():
    two = document("x = 1\n", "python", a="x = 2\n", b="x = 3\n")
    ran = excise("explain", "-", "--json", stdin=two)
    assert ran.json["revisions"] == ["a", "b"]
    assert [region["a"]["text"] for region in ran.json["regions"]] == ["2"]
    assert "region 1 of 1" in excise("explain", "-", stdin=two).out
    ran = excise("explain", "-", stdin=SMALL)
    one_line(ran, "it holds 3 revisions", "compares exactly two")
    assert "not 1" in excise("explain", ORIGIN, ORIGIN).err


def test_ties_share_a_rank():
    ran = excise("rank", "-", "--json", stdin=SMALL)
    assert [(e["id"], e["rank"]) for e in ran.json["ranking"]] == [("a", 1), ("b", 1), ("c", 3)]


def test_a_lone_revision_agrees_with_nobody():
    lone = document("x\n", a="y\n")
    ran = excise("rank", "-", "--json", stdin=lone)
    assert ran.json["ranking"][0]["mean_similarity"] is None
    assert excise("matrix", "-", "--json", stdin=lone).json["similarity"] == [[1.0]]
    assert "makes it" not in excise("rank", "-", stdin=lone).out
    cluster = excise("cluster", "--origin", "-", "--json", stdin=lone).json["clusters"]
    assert cluster == [
        {
            "members": ["a"],
            "representative": "a",
            "min_similarity": 1.0,
            "words": ["same"],
            "reasons": [],
        }
    ]


def test_language_wins_over_path_and_the_option_over_both():
    def tokeniser(*options, **given):
        ran = excise("matrix", "-", "--json", *options, stdin=SMALL | given)
        return ran.json["signature"].split("tok:")[1].split("|")[0]

    assert tokeniser(language=None, path="a.go") == "go@0.13.0"
    assert tokeniser(language="python", path="a.go") == "python@0.13.0"
    assert tokeniser("--language", "js", path="a.go") == "javascript@0.13.0"
    assert tokeniser(language=None, path=None) == "lexical"


def test_the_same_revision_twice_keeps_both():
    one = SUGGESTIONS[0]
    ran = excise("matrix", ORIGIN, one, one, "--json")
    assert ran.code == 0
    assert ran.json["revisions"] == [one, f"{one}#2"]
    assert ran.json["similarity"] == [[1.0, 1.0], [1.0, 1.0]]
    assert ran.json["notes"] == {f"{one}#2": ["given more than once"]}
    twice = SMALL | {"revisions": [{"id": "a", "text": "p"}, {"id": "a", "text": "q"}]}
    assert excise("matrix", "-", "--json", stdin=twice).json["revisions"] == ["a", "a#2"]


def test_a_revision_equal_to_the_origin_is_no_edit():
    texts = document("x = 1\n", "python", same="x = 1\n", crlf="x = 1\r\n", edit="x = 2\n")
    ran = excise("rank", "-", "--json", stdin=texts)
    assert [(e["id"], e["no_op"]) for e in ran.json["ranking"]] == [
        ("edit", False),
        ("same", True),
        ("crlf", True),
    ]
    assert "changes nothing" in excise("rank", "-", stdin=texts).out


# --- for people ----------------------------------------------------------------------------------


def on_a_terminal(*parts, width=80):
    """Return the lines as a terminal of that width shows them, without colours."""
    out = Console(
        file=io.StringIO(), force_terminal=True, width=width, markup=False, highlight=False
    )
    out.print(*parts, sep="\n")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.file.getvalue())
    return [line.rstrip() for line in plain.split("\n")]


def small():
    texts = {revision["id"]: revision["text"] for revision in SMALL["revisions"]}
    return ScoreMatrix.from_texts(SMALL["origin"], texts, language=SMALL["language"])


def test_people_see_a_matrix_with_numbered_columns():
    assert on_a_terminal(*matrix_table(small(), 80))[:4] == [
        "       1    2    3",
        "1 a    1 1.00 0.18",
        "2 b 1.00    1 0.18",
        "3 c 0.18 0.18    1",
    ]


def test_a_wide_matrix_is_folded_and_loses_no_column():
    texts = {f"revision-{n}": f"x = {n}\n" for n in range(40)}
    lines = on_a_terminal(*matrix_table(ScoreMatrix.from_texts("x\n", texts), 80))
    heads = [line.split() for line in lines if line.startswith("   ")]
    assert [int(column) for head in heads for column in head] == list(range(1, 41))
    assert all(len(line) <= 80 for line in lines)


def test_people_see_who_stands_for_a_cluster():
    matrix = small()
    assert on_a_terminal(cluster_table(matrix, cluster(matrix)))[1:4] == [
        "      1  ●  a",
        "            b         1.00 ━━━━━━━━━━  same",
        "      2  ●  c",
    ]


def test_off_a_terminal_a_record_is_a_line_of_cells_and_ids_are_whole():
    long = {f"{'folder/' * 30}{name}": text for name, text in (("a", "y\n"), ("b", "z\n"))}
    stdin = document("x\n")
    stdin["revisions"] = [{"id": name, "text": text} for name, text in long.items()]
    for command in (("matrix",), ("rank",), ("cluster", "--origin")):
        ran = excise(*command, "-", stdin=stdin)
        rows = [line.split("\t") for line in ran.out.split("\n") if "\t" in line]
        assert len(rows) == 3
        assert len({len(row) for row in rows}) == 1
        assert {cell for row in rows for cell in row} >= set(long)
        assert ran.out.count("es|gran:nested|") == 1
    matrix = ScoreMatrix.from_texts("x\n", long)
    lines = on_a_terminal(cluster_table(matrix, cluster(matrix)), width=60)
    assert all(len(line) <= 60 for line in lines)
    assert sum("…" in line for line in lines) == 2, "cut in the middle, and in one line each"
    printed = excise("cluster", "--origin", "-", stdin=SMALL).out.split("\n")
    assert [line.split("\t")[0] for line in printed[:4]] == ["cluster", "1", "1", "2"]


def test_no_number_is_rounded_to_what_it_is_not():
    from excise_server.report.tables import number

    assert [number(value).plain for value in (1.0, 0.999, 0.0, 0.001, None, 0.5)] == [
        "1.00",
        ">.99",
        "0.00",
        "<.01",
        "–",
        "0.50",
    ]


EXPLAINED = """\
origin  standard input
A       a
B       b

similarity  0.28  ━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  keep      0.00  ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  add       0.00  ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  delete    0.83  ━━━━━━━━━━━━━━━━━━━━╌╌╌╌
overlaps
es|gran:nested|lcs:star|place:anchored|del:f1|n:4|comments:keep|tok:python@0.13.0|v:2

"""
SIDE_BY_SIDE = """\
region 1 of 2 · 18 % of all divergent 1-4-grams ────────────────────────────────
         origin 2                A 2                     B 2
         (nothing)               (nothing)               return g(x)

         both                    only A                  only B
added    –                       –                       g (
0.00

region 2 of 2 · 82 % of all divergent 1-4-grams ────────────────────────────────
         origin 2                A 2                     B 2
         return x + 1            return x + 2 + 2        return g(x)

         both                    only A                  only B
kept     –                       +                       –
0.00
added    –                       + 2 2                   )
0.00
deleted  1                       –                       +
0.83
"""
BELOW = """\
region 1 of 2 · 18 % of all divergent 1-4-grams
origin 2
    (nothing)
A 2
    (nothing)
B 2
    return g(x)
		both	only A	only B
added	0.00	–	–	g (

region 2 of 2 · 82 % of all divergent 1-4-grams
origin 2
    return x + 1
A 2
    return x + 2 + 2
B 2
    return g(x)
		both	only A	only B
kept	0.00	–	+	–
added	0.00	–	+ 2 2	)
deleted	0.83	1	–	+
"""
ORIGIN_TEXT = "def f(x):\n    return x + 1\n"
TWO = document(
    ORIGIN_TEXT,
    "python",
    a=ORIGIN_TEXT.replace("x + 1", "x + 2 + 2"),
    b=ORIGIN_TEXT.replace("x + 1", "g(x)"),
)


def test_explain_is_readable_side_by_side():
    shown = on_terminal("explain", "-", stdin=json.dumps(TWO), env={"TERM": "dumb"})
    assert "\n".join(line.rstrip() for line in shown.split("\n")).endswith(SIDE_BY_SIDE)


def test_off_a_terminal_explain_wraps_nothing_and_has_a_record_a_line():
    assert excise("explain", "-", stdin=TWO).out == EXPLAINED + BELOW
    name, line = "n" * 200, f"value = {' + '.join('abcdefgh' * 20)}\n"
    two = document("value = 1\n", **{name: line, "b": "value = 2\n"})
    shown = excise("explain", "-", stdin=two).out.split("\n")
    assert f"A       {name}" in shown
    assert f"    {line.rstrip()}" in shown


def test_explain_lists_exactly_the_tokens_that_the_score_counts():
    ran = excise("explain", "-", "--json", stdin=TWO)
    printed = excise("explain", "-", stdin=TWO).out.split("region ")[1:]
    assert len(printed) == len(ran.json["regions"]) > 1
    for region, view in zip(ran.json["regions"], printed, strict=True):
        for name, row in (("keep", "kept"), ("add", "added"), ("delete", "deleted")):
            both, a, b = region["counts"][name][0]
            lines = [line for line in view.split("\n") if line.startswith(f"{row}\t")]
            if not (a or b):
                assert lines == []
                continue
            cells = [cell.split() for cell in lines[0].split("\t")[2:]]
            counts = [0 if cell == ["–"] else len(cell) for cell in cells]
            assert counts == [both, a - both, b - both]


@pytest.mark.parametrize("comments", ["keep", "drop"])
def test_explain_without_comments_shows_the_text_that_was_scored(comments):
    two = document("# one\nx = 1 # a\n", "python", a="# two\nx = 2 # b\n", b="x = 3\n")
    ran = excise("explain", "-", "--comments", comments, stdin=two)
    assert ("# two" in ran.out) == (comments == "keep")
    assert ran.code == 0


def test_what_agrees_wholly_has_regions_and_what_is_equal_has_none():
    both = document("x = 1\n", "python", a="x = 2\n", b="x = 2\n")
    assert "1.00" in excise("explain", "-", stdin=both).out
    none = document("x = 1\n", "python", a="x = 1\n", b="x = 1\n")
    assert "No divergent region" in excise("explain", "-", stdin=none).out


@pytest.mark.slow
def test_a_huge_segment_is_cut_and_says_so():
    two = document("", a="a " * 200_000, b="b")
    ran = excise("explain", "-", stdin=two)
    assert "395,999 more characters" in " ".join(ran.out.split())
    assert "199,960 more" in " ".join(ran.out.split())
    assert len(ran.out) < 50_000
    assert (
        len(excise("explain", "-", "--json", stdin=two).json["regions"][0]["a"]["text"]) > 399_000
    )


@pytest.mark.slow
def test_a_region_of_a_minified_file_is_shown_with_a_little_around_it():
    origin = "let a=1;" * 20_000
    a, b = (f"{origin[:80_000]}let a={n};{origin[80_008:]}" for n in (2, 3))
    out = excise("explain", "-", stdin=document(origin, "js", a=a, b=b)).out
    assert len(out) < 4_000
    assert "=1;let a=2;let a=1" in "".join(out.split()).replace("leta", "let a")


def test_the_real_command_reads_and_writes_pipes():
    ran = spawn("matrix", "-", "--json", stdin=json.dumps(SMALL).encode())
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["revisions"] == ["a", "b", "c"]
