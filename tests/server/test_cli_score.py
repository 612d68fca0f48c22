"""Directed scores: of files by `excise compare`, of records by `excise eval`."""

import io
import json
import subprocess
import sys

import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, document, excise, one_line

from excise_server.cli import main, scored_records

ADA, BO, CHEN, *_ = SUGGESTIONS
RECORD = {
    "id": "r",
    "language": "python",
    "origin": "x = 1\n",
    "reference": "x = 2\n",
    "hypothesis": "x = 3\n",
}


def scored(*records, options=(), code=0):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    ran = excise("eval", "-", "--format", "jsonl", *options, stdin="\n".join(lines))
    assert ran.code == code, ran.err
    return ran.lines


# --- files ---------------------------------------------------------------------------------------


def directed(*arguments, measure="del:p"):
    return excise("compare", ORIGIN, *arguments, "--measure", measure, "--format", "json")


def test_the_text_of_a_region_is_exact():
    ran = directed(ADA, BO)
    texts = {}
    for name, path in (("origin", ORIGIN), ("reference", ADA), ("hypothesis", BO)):
        with open(path, encoding="utf-8") as file:
            texts[name] = file.read()
    for region in ran.json["directed"]["regions"]:
        for name, text in texts.items():
            start, stop = region[name]["span"]
            assert region[name]["text"] == text[start:stop]


def test_of_several_references_the_best_one_counts():
    ran = directed(CHEN, ADA, BO)
    assert ran.json["directed"]["reference"] == 1
    assert ran.json["directed"]["exact"] == "2579/3094"
    assert ADA in excise("compare", ORIGIN, CHEN, ADA, BO, "--measure", "del:p").out


def test_every_choice_is_in_the_signature():
    measure = "gran:line|lcs:paper|comments:drop|del:f1"
    ran = directed(ADA, BO, "--language", "java", measure=measure)
    signature = "es|gran:line|lcs:paper|place:pooled|del:f1|n:4|comments:drop|tok:java@0.13.0/2|v:2"
    assert ran.json["signature"] == signature
    again = directed(ADA, BO, "--language", "java", measure=signature)
    assert again.json == ran.json


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("granularity:line", "'granularity:line' is no part of a measure"),
        ("gran", "write KEY:VALUE|.. with gran, lcs, place, del, comments"),
        ("lcs:paper|lcs:star", "lcs is given twice: paper and star"),
        ("lcs:best", "it must be one of star, paper"),
        ("lcs:paper|place:anchored", "it can only be 'pooled'"),
        (
            "es|gran:nested|lcs:star|del:f1|n:4|comments:keep|tok:python@0.13.0/2|v:1",
            "computes v:2",
        ),
        ("n:5", "computes n:4"),
        ("\x1b[31m", "is no part of a measure"),
    ],
)
def test_a_measure_that_is_none_is_refused(measure, reason):
    ran = excise("compare", ORIGIN, ADA, BO, "--measure", measure)
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err
    assert "\x1b" not in ran.err


def test_a_measure_of_another_tokeniser_is_refused():
    ran = directed(ADA, BO, measure="tok:java@0.13.0/2")
    assert (ran.code, ran.out) == (2, "")
    assert "the measure has tok:java@0.13.0/2, and these texts tok:python@0.13.0/2" in ran.err
    assert directed(ADA, BO, measure="tok:python@0.13.0/2").code == 0


def test_a_directed_measure_takes_a_reference():
    ran = directed(ADA)
    assert ran.code == 2
    assert "ORIGIN REFERENCE.. HYPOTHESIS" in ran.err
    for option in ("--clusters", "--explain"):
        ran = excise("compare", ORIGIN, ADA, BO, "--measure", "del:p", option)
        assert ran.code == (2 if option == "--clusters" else 0)


def test_two_revisions_of_a_document_are_named():
    texts = {"a": "x = 2\n", "b": "x = 3\n", "c": "x = 2\n"}
    given = document("x = 1\n", "python", **texts)
    ran = excise("compare", "-", "c", "a", "--explain", "--format", "json", stdin=given)
    assert ran.json["revisions"] == ["c", "a"]
    assert ran.json["explained"]["word"] == "identical"
    one_line(excise("compare", "-", "c", "A", stdin=given), "no revision is called A", "did you")
    ran = excise("compare", "-", "--explain", stdin=given)
    assert "--explain shows two revisions, not 3" in ran.err


# --- lines of records ----------------------------------------------------------------------------


def test_language_wins_over_path_and_null_is_absent():
    def tokeniser(**given):
        (line,) = scored({key: RECORD[key] for key in RECORD if key != "language"} | given)
        return line["signature"].split("tok:")[1].split("|")[0]

    assert tokeniser(language="python", path="a.go") == "python@0.13.0/2"
    assert tokeniser(language=None, path="a.go") == "go@0.13.0/2"
    assert tokeniser(language="", path="a.go") == "go@0.13.0/2"
    assert tokeniser(language="python", path=None) == "python@0.13.0/2"
    assert tokeniser() == "lexical"
    (line,) = scored(RECORD, options=("--language", "rust"))
    assert "tok:rust" in line["signature"]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"id": ' + "9" * 5000 + "}", "not usable JSON"),
        (RECORD | {"origin": "x" * 10_000_001}, "'origin': 10.000001 MB, limit 10 MB"),
    ],
)
def test_a_bad_record_becomes_a_line_and_the_others_are_scored(bad, error):
    first, line, last = scored(RECORD, bad, RECORD | {"id": 2}, code=1)
    assert first["score"] == last["score"] == 0.5
    assert last["id"] == 2
    assert list(line) == ["id", "error"]
    assert line["error"].startswith("line 2: ")
    assert error in line["error"]


def test_blank_lines_crlf_and_a_byte_order_mark_are_no_records():
    good = json.dumps(RECORD).encode()
    ran = excise(
        "eval", "-", "--format", "jsonl", stdin=b"\xef\xbb\xbf" + good + b"\r\n\r\n  \n" + good
    )
    assert [line["id"] for line in ran.lines] == ["r", "r"]
    assert excise("eval", "-", "--format", "jsonl", stdin=b"").out == ""


def test_a_line_over_the_limit_is_skipped_whole(monkeypatch):
    monkeypatch.setattr("excise_server.records.lines.MAX_JSON", 400)
    lines = scored(RECORD, RECORD | {"origin": "x" * 5000}, RECORD, code=1)
    assert [line.get("score") for line in lines] == [0.5, None, 0.5]
    assert lines[1] == {"id": None, "error": "line 2: too long, limit 200 MB"}


def test_each_result_is_written_before_the_next_record_is_read(monkeypatch):
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    before = []

    class Slow(io.BytesIO):
        def readline(self, size=-1):
            before.append(written.buffer.getvalue().count(b"\n"))
            return super().readline(size)

        def peek(self, size=0):
            return self.getvalue()[self.tell() : self.tell() + size]

    lines = Slow((json.dumps(RECORD) + "\n").encode() * 3)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines))
    monkeypatch.setattr("sys.stdout", written)
    assert main(["eval", "-", "--format", "jsonl"]) == 0
    assert before == [0, 1, 2, 3]


def test_a_failure_of_ours_costs_one_record_only(monkeypatch):
    real = scored_records.excise.excision_score
    monkeypatch.setattr(
        scored_records.excise,
        "excision_score",
        lambda **given: real(**given) if given["origin"] else 1 / 0,
    )
    lines = scored(RECORD | {"origin": ""}, RECORD, code=1)
    assert "ZeroDivisionError" in lines[0]["error"]
    assert lines[1]["score"] == 0.5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file():
    def peak(records: int) -> int:
        word = "x" * 50_000
        record = json.dumps(RECORD | {"origin": word, "hypothesis": word}).encode() + b"\n"
        code = (
            "import resource, sys; from excise_server.cli import main\n"
            "assert main(['eval', '-', '--format', 'jsonl']) == 0\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code], input=record * records, capture_output=True, check=True
        )
        assert ran.stdout.count(b"\n") == records
        return int(ran.stderr)

    # 40 MB more of input.
    assert peak(500) - peak(100) < 10_000


# --- summaries and packed records ----------------------------------------------------------------


def summarised(tmp_path, *hypotheses, name="ours", **more):
    """A file with these hypotheses, each of a task of its own."""
    lines = [RECORD | {"id": at, "hypothesis": text} | more for at, text in enumerate(hypotheses)]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def test_a_summary_is_the_mean_of_the_lines(tmp_path):
    path = summarised(tmp_path, "x = 2\n", "x = 3\n", "x = 1\n")
    lines = excise("eval", path, "--format", "jsonl").lines
    ran = excise("eval", path, "--format", "json")
    system = ran.json["system"]
    assert system["mean"] == pytest.approx(sum(line["score"] for line in lines) / 3)
    assert (system["outputs"], system["tasks"], system["failed"]) == (3, 3, 0)
    assert system["signature"] == lines[0]["signature"] + "|bs:1000|seed:0"
    one_task = summarised(tmp_path, "x = 2\n", "x = 3\n", task="t")
    assert excise("eval", one_task).out.endswith("1 tasks, 2 outputs)\n")


def test_a_rewrite_is_noted_beside_its_score_and_counted():
    pytest.importorskip("rapidfuzz", reason="pip install '.[eval]'")
    origin = "".join(f"line {number} of the origin\n" for number in range(10))
    near = origin.replace("line 3", "line x")
    texts = {"near": near, "far": "def f(x):\n    return x\n" * 20, "empty": ""}
    rows = [
        {"id": name, "language": "python", "origin": origin, "reference": near, "hypothesis": text}
        for name, text in texts.items()
    ]
    rows.append(rows[1] | {"id": "short", "origin": "a = 1", "reference": "b"})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    found = {
        row["id"]: row["notes"]
        for row in excise("eval", "-", "--format", "jsonl", stdin=lines).lines
    }
    noted = {name: [note for note in notes if "rewrite" in note] for name, notes in found.items()}
    assert [name for name, notes in noted.items() if notes] == ["far", "empty"]
    assert noted["empty"] == ["rewrite: NED 1.00 of the origin"]
    assert "2 of 4 hypotheses rewrite their origin" in excise("eval", "-", stdin=lines).err
