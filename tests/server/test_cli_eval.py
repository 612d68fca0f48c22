"""`excise eval`: records in, a table of correlations out."""

import csv
import gzip
import io
import json
import sys

import numpy as np
import pytest
from scipy import stats
from tests.server.command import excise, one_line

import excise as library
from excise.evaluation import base

pytestmark = pytest.mark.slow

for needed in ("matplotlib", "rapidfuzz"):
    pytest.importorskip(needed, reason="pip install '.[eval]'")

ORIGIN = "def f(x):\n    y = x + 1\n    return y\n"
FIXED = ORIGIN.replace("+ 1", "- 1")
TEXTS = [
    FIXED,
    ORIGIN,
    ORIGIN.replace("+ 1", "- 2"),
    ORIGIN.replace("y = x + 1", "y = x - 1  # fixed"),
    ORIGIN + "\nprint(f(1))\n",
    FIXED + "\nprint(f(1))\n",
]
LABELS = [1, 0, 0, 1, 0, 1]
COUNTS = [3, 5, 1, 2, 1, 1]
FAST = ("--protocol", "correlation", "--measures", "es-nested,em,nes", "--bootstrap", "100")


def record(text: str = FIXED, label=1, count: int = 1, **more) -> dict:
    base = {"id": "t/0", "language": "python", "origin": ORIGIN, "reference": FIXED}
    return base | {"hypothesis": text, "label": label, "count": count} | more


def records() -> list[dict]:
    return [
        record(text, label, count, id=f"t/{at // 2}")
        for at, (text, label, count) in enumerate(zip(TEXTS, LABELS, COUNTS, strict=True))
    ]


def lines(found) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in found)


def evaluated(found=None, *options: str, code: int = 0):
    ran = excise("eval", "-", *FAST, *options, "--format", "json", stdin=lines(found or records()))
    assert ran.code == code, ran.err
    return ran.json


# --- what comes out ------------------------------------------------------------------------------


def test_the_document_has_the_promised_shape():
    found = evaluated()
    assert (found["n"], found["tasks"], found["distinct"]) == (13, 3, 6)
    assert found["signature"].startswith("eval|comments:keep|bootstrap:100|cluster:id|")
    assert list(found["measures"]) == ["es-nested", "em", "nes"]
    assert found["skipped"] == {}
    for entry in found["measures"].values():
        assert {"pearson", "ci", "ci_task", "spearman", "pearson_changed", "signature"} <= set(
            entry
        )
        assert entry["ci"][0] <= entry["pearson"] <= entry["ci"][1]


def test_the_correlation_is_that_of_the_outputs_written_out():
    """Scores by the library, one by one; correlation by scipy."""
    values = [
        library.excision_score(
            origin=ORIGIN, reference=FIXED, hypothesis=text, language="python"
        ).value
        for text in TEXTS
    ]
    x, y = np.repeat(values, COUNTS), np.repeat(LABELS, COUNTS)
    entry = evaluated()["measures"]["es-nested"]
    assert entry["pearson"] == pytest.approx(stats.pearsonr(x, y)[0])
    assert entry["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
    assert entry["mean"] == pytest.approx(x.mean())
    kept = np.repeat([text != ORIGIN for text in TEXTS], COUNTS)
    assert entry["pearson_changed"] == pytest.approx(stats.pearsonr(x[kept], y[kept])[0])
    assert entry["changed"]["n"] == kept.sum()
    assert entry["pearson_distinct"] == pytest.approx(stats.pearsonr(values, LABELS)[0])


def test_an_echo_is_one_whatever_space_is_around_it_but_not_with_another_comment():
    found = [*records(), record(f"\n{ORIGIN}\n", 0, 2), record(ORIGIN + "# a comment\n", 0, 4)]
    for comments in ("keep", "drop"):
        assert evaluated(found, "--measure", f"comments:{comments}")["n_changed"] == 8 + 4


def test_count_says_how_often():
    """One record that occurred thrice is three records."""
    thrice = [one for one in records() for _ in range(one["count"])]
    ones = [one | {"count": 1} for one in thrice]
    assert evaluated(ones) == evaluated()


def test_the_processes_do_not_change_a_number(monkeypatch):
    many = [
        record(ORIGIN + f"y{at} = {at}\n" * (at % 3), at % 2, id=f"t/{at // 4}") for at in range(40)
    ]
    monkeypatch.setenv("EXCISE_JOBS", "1")
    one = excise("eval", "-", *FAST, "--format", "json", stdin=lines(many))
    monkeypatch.setenv("EXCISE_JOBS", "2")
    two = excise("eval", "-", *FAST, "--format", "json", stdin=lines(many))
    assert one.json == two.json


def test_the_shared_prefix_moves_what_it_moves():
    entry = evaluated(None, "--shared-prefix")["measures"]
    assert entry["es-nested"]["prefix"]["moved"] == 0
    assert entry["es-nested"]["prefix"]["pearson"] == entry["es-nested"]["pearson"]
    assert entry["nes"]["prefix"]["moved"] == 5  # all but the fix
    assert entry["nes"]["prefix"]["pearson"] != entry["nes"]["pearson"]


def test_every_measure_is_compared_with_one_of_them():
    entry = evaluated(None, "--baseline", "nes")["measures"]
    assert "difference" not in entry["nes"]
    for name in ("es-nested", "em"):
        found = entry[name]["difference"]
        assert found["value"] == pytest.approx(entry[name]["pearson"] - entry["nes"]["pearson"])
        assert found["ci"][0] <= found["ci"][1]
        assert 0 < found["p"] <= 1
        assert 0 < found["p_task"] <= 1


def test_the_measure_to_compare_with_is_computed_too():
    ran = excise(
        "eval",
        "-",
        "--protocol",
        "correlation",
        "--measures",
        "em",
        "--baseline",
        "nes",
        "--format",
        "json",
        stdin=lines(records()),
    )
    assert list(ran.json["measures"]) == ["em", "nes"]


def test_csv_and_latex_hold_the_numbers_of_the_document():
    pearson = evaluated()["measures"]["em"]["pearson"]
    rows = list(
        csv.DictReader(
            io.StringIO(excise("eval", "-", *FAST, "--format", "csv", stdin=lines(records())).out)
        )
    )
    assert [row["measure"] for row in rows] == ["es-nested", "em", "nes"]
    assert float(rows[1]["pearson"]) == pearson
    latex = excise("eval", "-", *FAST, "--format", "latex", stdin=lines(records())).out
    assert f"em & {pearson:.3f}".replace("0.", ".") in latex
    assert latex.count("\\\\") == 4


@pytest.mark.parametrize(
    ("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_a_plot_is_a_picture_and_of_the_same_data_the_same(tmp_path, ending, head):
    pictures = []
    for name in ("one", "other"):
        path = tmp_path / f"{name}.{ending}"
        ran = excise("eval", "-", *FAST, "--plot", str(path), stdin=lines(records()))
        assert ran.code == 0, ran.err
        pictures.append(path.read_bytes())
    assert pictures[0].startswith(head)
    assert pictures[0] == pictures[1]


def test_gzip_is_unpacked_from_a_file_and_from_standard_input(tmp_path):
    packed = gzip.compress(lines(records()).encode())
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(packed)
    assert excise("eval", str(path), *FAST, "--format", "json").json == evaluated()
    assert excise("eval", "-", *FAST, "--format", "json", stdin=packed).json == evaluated()


# --- bad input -----------------------------------------------------------------------------------


def test_ids_that_come_again_are_outputs_of_one_task():
    found = [one | {"id": 1} for one in records()]
    assert evaluated(found)["tasks"] == 1
    assert evaluated([*found, record(FIXED, 0, id="1")])["tasks"] == 2


def test_a_broken_line_in_the_middle_of_many_costs_only_itself(tmp_path):
    """In 1,000 lines, of which few are distinct so that they are scored once."""
    row = [json.dumps(one) for one in records()]
    many = [row[at % len(row)] for at in range(1_000)]
    many[500] = '{"id": "t/0", "origin": '
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(many))
    ran = excise("eval", str(path), *FAST, "--bootstrap", "10", "--format", "json")
    assert ran.code == 1
    assert ran.json["rejected"] == [
        {"line": 501, "id": None, "reason": "not JSON: Expecting value at column 25"}
    ]
    assert ran.json["distinct"] == 6
    assert ran.json["n"] == sum(COUNTS[at % 6] for at in range(1_000) if at != 500)
    assert "line 501" in ran.err


def test_gzip_that_is_cut_off_is_refused_with_the_way_out():
    packed = gzip.compress(lines(records() * 100).encode())
    one_line(excise("eval", "-", *FAST, stdin=packed[:-30]), "broken gzip", "fetch it again")


@pytest.fixture
def without(monkeypatch):
    """Make a library look as if it were not installed."""

    def hide(name: str) -> None:
        find = base.find_spec
        monkeypatch.setattr(
            base, "find_spec", lambda module: find(module) if module != name else None
        )
        monkeypatch.setitem(sys.modules, name, None)

    return hide


def test_a_library_that_is_not_installed_is_named_with_its_command(without):
    without("rapidfuzz")
    ran = excise("eval", "-", *FAST, "--format", "json", stdin=lines(records()))
    assert ran.code == 0
    assert "pip install '.[eval]'" in ran.json["skipped"]["nes"]
    assert list(ran.json["measures"]) == ["es-nested", "em"]
    assert "left out: nes: rapidfuzz is not installed" in ran.err


def test_a_plot_without_matplotlib_is_refused_before_any_work(without):
    without("matplotlib")
    ran = excise("eval", "-", *FAST, "--plot", "a.png", stdin=lines(records()))
    assert (ran.code, ran.out) == (2, "")
    assert "matplotlib is not installed; install the extra 'eval': pip install" in ran.err
