"""`excise compare`: its document, and what people see."""

import json
import re
from pathlib import Path

import pytest
from tests.server.command import (
    ORIGIN,
    SUGGESTIONS,
    document,
    excise,
    spawn,
)

import excise as library

SIGNATURE = (
    "pes|gran:nested|lcs:star|place:anchored|del:f1|n:4|comments:keep|tok:python@0.13.0/2|v:2"
)
SMALL = document("x = 1\ny = 2\n", "python", a="x = 2\ny = 2\n", b="x = 2\ny = 2\n", c="x = 1\n")


def test_the_document():
    ran = excise("compare", ORIGIN, *SUGGESTIONS, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    pairs = ("similarity", "anchored", "anywhere", "contained", "words")
    assert set(ran.json["matrix"]) == set(pairs)
    order = ("intent", "disagree", "ranking")
    keys = {"schema", "signature", "revisions", "matrix", *order, "notes", "rejected"}
    assert set(ran.json) == keys
    assert ran.json["schema"] == 2
    assert ran.json["signature"] == SIGNATURE
    assert ran.json["revisions"] == SUGGESTIONS
    assert ran.json["rejected"] == []
    assert ran.json["notes"] == {SUGGESTIONS[4]: ["whitespace-only"]}
    texts = {path: Path(path).read_text() for path in (ORIGIN, *SUGGESTIONS)}
    expected = library.ScoreMatrix.from_texts(
        texts[ORIGIN], [texts[path] for path in SUGGESTIONS], language="python"
    )
    assert ran.json["matrix"]["similarity"] == expected.values.tolist()


# --- for people ----------------------------------------------------------------------------------


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


ORIGIN_TEXT = "def f(x):\n    return x + 1\n"
TWO = document(
    ORIGIN_TEXT,
    "python",
    a=ORIGIN_TEXT.replace("x + 1", "x + 2 + 2"),
    b=ORIGIN_TEXT.replace("x + 1", "g(x)"),
)


def test_explain_lists_exactly_the_tokens_that_the_score_counts():
    ran = excise("compare", "-", "--explain", "--format", "json", stdin=TWO)
    printed = excise("compare", "-", "--explain", stdin=TWO).out.split("region ")[1:]
    assert len(printed) == len(ran.json["explained"]["regions"]) > 1
    for region, view in zip(ran.json["explained"]["regions"], printed, strict=True):
        for name, row in (("keep", "kept"), ("add", "added"), ("delete", "deleted")):
            both, a, b = region["counts"][name][0]
            found = re.search(rf"^   {row} .*\n((?:      .*\n)*)", view, re.MULTILINE)
            counts = {"both": 0, "only A": 0, "only B": 0}
            for line in found[1].split("\n")[:-1] if found else ():
                counts[line[:16].strip()] = len(line[16:].split())
            assert [*counts.values()] == [both, a - both, b - both]


@pytest.mark.slow
def test_a_region_of_a_minified_file_is_shown_with_a_little_around_it():
    origin = "let a=1;" * 5_000
    a, b = (f"{origin[:16_000]}let a={n};{origin[16_008:]}" for n in (2, 3))
    out = excise("compare", "-", "--explain", stdin=document(origin, "js", a=a, b=b)).out
    assert len(out) < 4_000
    assert "=1;let a=2;let a=1" in "".join(out.split()).replace("leta", "let a")


@pytest.mark.slow
def test_the_real_command_reads_and_writes_pipes():
    ran = spawn("compare", "-", "--format", "json", stdin=json.dumps(SMALL).encode())
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["revisions"] == ["a", "b", "c"]
