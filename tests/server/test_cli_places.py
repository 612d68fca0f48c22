"""The place of an edit in the command: `--place`, the word for a pair, what matches elsewhere."""

from __future__ import annotations

import pytest
from tests.server.command import document, excise

ORIGIN = """\
static item *first_item(list *all) {
  size_t wanted = 0;
  item *result = list_get(all, wanted);
  return result;
}

static int list_size(list *all) {
  return all->used;
}

static item *last_item(list *all) {
  size_t wanted = all->used - 1;
  item *result = list_get(all, wanted);
  return result;
}
"""
GUARD = """\
  if (all->used == 0) {
    report_error("the list is empty");
    return NULL;
  }
"""
FIRST = ORIGIN.replace("  size_t wanted = 0;", f"{GUARD}  size_t wanted = 0;")
LAST = ORIGIN.replace("  size_t wanted = all", f"{GUARD}  size_t wanted = all")
TWO = document(ORIGIN, "c", first=FIRST, last=LAST)
"""One guard in two functions: it mends two bugs, and neither revision stands for the other."""


def words(*arguments, stdin):
    ran = excise(*arguments, stdin=stdin)
    assert (ran.code, ran.err) == (0, "")
    return " ".join(ran.out.split())


# --- the same guard in two functions -------------------------------------------------------------


def test_one_guard_in_two_functions_makes_two_clusters():
    ran = excise("cluster", "--origin", "-", "--json", stdin=TWO)
    assert [cluster["members"] for cluster in ran.json["clusters"]] == [["first"], ["last"]]
    together = excise("cluster", "--origin", "-", "--json", "--threshold", "1", stdin=TWO)
    (cluster,) = together.json["clusters"]
    assert cluster["words"] == ["same", "same text elsewhere"]
    shown = words("cluster", "--origin", "-", "--threshold", "1", stdin=TWO)
    assert "0.25" in shown
    assert "same text elsewhere" in shown


def test_one_guard_in_two_functions_in_a_matrix():
    ran = excise("matrix", "-", "--json", stdin=TWO)
    assert ran.json["similarity"] == [[1.0, 0.25], [0.25, 1.0]]
    assert ran.json["anchored"] == [[1.0, 0.0], [0.0, 1.0]]
    assert ran.json["anywhere"] == [[1.0, 1.0], [1.0, 1.0]]
    assert ran.json["contained"] == [[1.0, 0.0], [0.0, 1.0]]
    assert ran.json["words"] == [["same", "same text elsewhere"], ["same text elsewhere", "same"]]


def test_explain_says_what_matches_where():
    ran = excise("explain", "-", "--json", stdin=TWO)
    assert ran.json["word"] == "same text elsewhere"
    assert (ran.json["anchored"], ran.json["anywhere"], ran.json["value"]) == (0.0, 1.0, 0.25)
    assert ran.json["contained"] == {"a": 0.0, "b": 0.0}
    (match,) = ran.json["elsewhere"]
    n_grams = match["n_grams"]
    assert match == {"a": 0, "b": 1, "added": n_grams, "deleted": 0, "n_grams": n_grams}
    assert [place["regions"] for place in ran.json["places"]] == [[0], [1]]
    assert [region["place"] for region in ran.json["regions"]] == [0, 1]
    shown = words("explain", "-", stdin=TWO)
    assert f"{n_grams} n-grams that A adds at lines 2-5 (place 1)" in shown
    assert "B adds at lines 12-15 (place 2)" in shown


def test_what_is_deleted_elsewhere_is_named_by_lines_of_the_origin():
    two = document(f"{GUARD}x = 1;\ny = 2;\n{GUARD}", "c")
    texts = {"a": f"x = 1;\ny = 2;\n{GUARD}", "b": f"{GUARD}x = 1;\ny = 2;\n"}
    two["revisions"] = [{"id": name, "text": text} for name, text in texts.items()]
    shown = words("explain", "-", stdin=two)
    assert "that A deletes at lines 1-4 of the origin (place 1)" in shown
    assert "B deletes at lines 7-10 of the origin (place 2)" in shown


def test_the_parts_add_up_to_the_head():
    ran = excise("explain", "-", "--json", stdin=TWO)
    alike = sum(
        count[0]
        for place in ran.json["places"]
        for cells in (place["counts"]["add"], place["counts"]["delete"])
        for count in cells
    )
    moved = sum(match["n_grams"] for match in ran.json["elsewhere"])
    whole = sum(count[2] for place in ran.json["places"] for count in place["counts"]["add"])
    assert (alike, moved) == (0, whole)
    assert ran.json["value"] == (alike + moved / 4) / whole


def test_many_matches_are_cut_and_said(monkeypatch):
    monkeypatch.setattr("excise_server.report.regions.MAX_MATCHES", 1)
    sections = [f"one_{n}();\ntwo_{n}();\nthree_{n}();\n" for n in range(8)]
    a = [f"{text}put({n // 2});\n" if n % 2 else text for n, text in enumerate(sections)]
    b = [text if n % 2 else f"{text}put({n // 2});\n" for n, text in enumerate(sections)]
    two = document("".join(sections), "c", a="".join(a), b="".join(b))
    assert "at other places: --json has all" in words("explain", "-", stdin=two)


# --- the choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("matrix",), ("rank",), ("cluster", "--origin"), ("explain",)])
@pytest.mark.parametrize("place", ["anchored", "pooled"])
def test_every_command_takes_a_place(command, place):
    ran = excise(*command, "-", "--json", "--place", place, stdin=TWO)
    assert f"|place:{place}|" in ran.json["signature"]


def test_pooled_is_the_number_of_the_paper_and_the_word_stays():
    ran = excise("explain", "-", "--json", "--place", "pooled", stdin=TWO)
    assert (ran.json["value"], ran.json["word"]) == (1.0, "same text elsewhere")
    assert ran.json["anchored"] == ran.json["anywhere"] == 1.0
    assert excise("matrix", "-", "--json", "--place", "pooled", stdin=TWO).json["words"][0] == [
        "same",
        "same text elsewhere",
    ]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ((), "pooled"),
        (("--deletion", "f1"), "anchored"),
        (("--place", "anchored"), "anchored"),
        (("--deletion", "f1", "--place", "pooled"), "pooled"),
        (("--deletion", "f1", "--lcs", "paper"), "pooled"),
    ],
)
def test_the_place_of_a_score_follows_its_deletion(options, place, tmp_path):
    paths = {}
    for name, text in (("origin", ORIGIN), ("reference", FIRST), ("hypothesis", LAST)):
        path = tmp_path / f"{name}.c"
        path.write_text(text)
        paths[f"--{name}"] = str(path)
    arguments = [part for pair in paths.items() for part in pair]
    ran = excise("score", *arguments, *options, "--json")
    assert f"|place:{place}|" in ran.json["signature"]
    assert ran.json["value"] == (1.0 if place == "pooled" else 0.25)
    assert ran.json["word"] == "same text elsewhere"


def test_records_take_a_place():
    record = '{"id": 1, "origin": "x", "reference": "y", "hypothesis": "z"}'
    ran = excise("score", "--jsonl", "-", "--place", "anchored", stdin=record)
    assert "|place:anchored|" in ran.lines[0]["signature"]


def test_the_papers_columns_have_no_places():
    ran = excise("matrix", "-", "--lcs", "paper", "--place", "anchored", stdin=TWO)
    assert (ran.code, ran.out) == (2, "")
    assert "--lcs paper has no places: drop --place anchored." in ran.err
    assert "place:pooled" in excise("matrix", "-", "--lcs", "paper", stdin=TWO).out


def test_patches_have_one_form():
    ran = excise("cluster", "-", "--place", "pooled")
    assert (ran.code, ran.out) == (2, "")
    assert "--place need --origin" in ran.err


# --- the word ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("x = 2\n", "x = 2\n", "same"),
        ("x = f(1, 2)\n", "x = f(1, 2)\ny = g(3)\nz = h(4)\n", "B contains A"),
        ("x = f(1, 2)\ny = g(3)\nz = h(4)\n", "x = f(1, 2)\n", "A contains B"),
        ("x = 2\n", "y = 1\n", "different"),
    ],
)
def test_the_word_has_a_direction(a, b, said):
    out = excise("explain", "-", stdin=document("x = 1\n", "python", a=a, b=b)).out
    assert f"\n{said}\n" in out


def test_constants_permuted_in_two_ways_are_not_the_same():
    two = document("x = [1, 2, 3]\n", "python", a="x = [2, 3, 1]\n", b="x = [3, 1, 2]\n")
    ran = excise("explain", "-", "--json", stdin=two)
    assert ran.json["word"] != "same"
    assert ran.json["value"] < 1
