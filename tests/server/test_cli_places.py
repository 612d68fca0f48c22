"""The place of an edit in the command: `--place`, the word for a pair, what matches elsewhere."""

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


def test_the_parts_add_up_to_the_head():
    ran = excise("compare", "-", "--explain", "--format", "json", stdin=TWO)
    alike = sum(
        count[0]
        for place in ran.json["explained"]["places"]
        for cells in (place["counts"]["add"], place["counts"]["delete"])
        for count in cells
    )
    moved = sum(match["n_grams"] for match in ran.json["explained"]["elsewhere"])
    whole = sum(
        count[2] for place in ran.json["explained"]["places"] for count in place["counts"]["add"]
    )
    assert (alike, moved) == (0, whole)
    assert ran.json["explained"]["value"] == (alike + moved / 4) / whole


def test_many_matches_are_cut_and_said(monkeypatch):
    monkeypatch.setattr("excise_server.report.regions.MAX_MATCHES", 1)
    sections = [f"one_{n}();\ntwo_{n}();\nthree_{n}();\n" for n in range(8)]
    a = [f"{text}put({n // 2});\n" if n % 2 else text for n, text in enumerate(sections)]
    b = [text if n % 2 else f"{text}put({n // 2});\n" for n, text in enumerate(sections)]
    two = document("".join(sections), "c", a="".join(a), b="".join(b))
    assert "at other places: --format json has all" in words("compare", "-", "--explain", stdin=two)


# --- the choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--clusters",), ("--explain",)])
@pytest.mark.parametrize("place", ["anchored", "pooled"])
def test_every_form_takes_a_place(options, place):
    measure = ("--measure", f"place:{place}")
    ran = excise("compare", "-", "--format", "json", *options, *measure, stdin=TWO)
    assert f"|place:{place}|" in ran.json["signature"]


@pytest.mark.parametrize(
    ("measure", "place"),
    [
        ("del:p", "pooled"),
        ("del:precision", "pooled"),
        ("del:f1", "anchored"),
        ("del:p|place:anchored", "anchored"),
        ("del:f1|place:pooled", "pooled"),
        ("del:f1|lcs:paper", "pooled"),
    ],
)
def test_the_place_of_a_score_follows_its_deletion(measure, place, tmp_path):
    paths = []
    for name, text in (("origin", ORIGIN), ("reference", FIRST), ("hypothesis", LAST)):
        path = tmp_path / f"{name}.c"
        path.write_text(text)
        paths.append(str(path))
    printed = excise("compare", *paths, "--measure", measure, "--format", "json").json
    assert f"|place:{place}|" in printed["signature"]
    if directed := printed.get("directed"):
        value, word = directed["value"], directed["word"]
    else:
        value, word = printed["matrix"]["similarity"][0][1], printed["matrix"]["words"][0][1]
    assert value == (1.0 if place == "pooled" else 0.25)
    assert word == "overlaps"
