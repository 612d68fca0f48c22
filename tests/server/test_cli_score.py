"""`excise score`: two files and a number, or lines of records."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys

import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise, one_line

from excise_server.cli import main, score

ADA, BO, CHEN, *_ = SUGGESTIONS
RECORD = {
    "id": "r",
    "language": "python",
    "origin": "x = 1\n",
    "reference": "x = 2\n",
    "hypothesis": "x = 3\n",
}
KEYS = ["id", "score", "keep", "add", "delete", "notes", "signature"]


def scored(*records, options=(), code=0):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    ran = excise("score", "--jsonl", "-", *options, stdin="\n".join(lines))
    assert ran.code == code, ran.err
    return ran.lines


# --- files ---------------------------------------------------------------------------------------


def test_the_document_holds_the_number_and_its_reasons():
    ran = excise("score", "--origin", ORIGIN, "--reference", ADA, "--hypothesis", BO, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == {
        *("schema", "signature", "value", "score", "exact", "keep", "add", "delete"),
        *("reference", "notes", "regions", "word"),
    }
    assert ran.json["schema"] == 2
    assert ran.json["value"] == ran.json["score"] == 2579 / 3094
    assert ran.json["exact"] == "2579/3094"
    assert ran.json["keep"] is None
    assert (
        ran.json["signature"]
        == "es|gran:nested|lcs:star|place:pooled|del:p|n:4|comments:keep|tok:python@0.13.0|v:2"
    )
    assert sum(region["share"] for region in ran.json["regions"]) == pytest.approx(1)
    for region in ran.json["regions"]:
        assert set(region) == {"share", "place", "origin", "reference", "hypothesis", "counts"}
        assert set(region["origin"]) == {"lines", "span", "text", "tokens"}
        assert {key: len(counts) for key, counts in region["counts"].items()} == {
            "keep": 4,
            "add": 4,
            "delete": 4,
        }


def test_the_text_of_a_region_is_exact():
    ran = excise("score", "--origin", ORIGIN, "--reference", ADA, "--hypothesis", BO, "--json")
    texts = {}
    for name, path in (("origin", ORIGIN), ("reference", ADA), ("hypothesis", BO)):
        with open(path, encoding="utf-8") as file:
            texts[name] = file.read()
    for region in ran.json["regions"]:
        for name, text in texts.items():
            start, stop = region[name]["span"]
            assert region[name]["text"] == text[start:stop]


def test_of_several_references_the_best_one_counts():
    arguments = ("--origin", ORIGIN, "--reference", CHEN, "--reference", ADA, "--hypothesis", BO)
    ran = excise("score", *arguments, "--json")
    assert ran.json["reference"] == 1
    assert ran.json["exact"] == "2579/3094"
    assert ADA in excise("score", *arguments).out


def test_people_see_the_same_number_and_every_region():
    ran = excise("score", "--origin", ORIGIN, "--reference", ADA, "--hypothesis", BO)
    assert ran.code == 0
    for part in ("score", "0.83", "keep", "undefined", "region 1 of 4", "73 %", "es|gran:nested"):
        assert part in ran.out
    assert "\x1b" not in ran.out
    whole = "# Two customers can be promised the same piece: what is reserved still counts as free."
    assert f"    {whole}" in ran.out.split("\n")  # nothing is wrapped off a terminal


def test_every_choice_is_in_the_signature():
    options = ("--granularity", "line", "--lcs", "paper", "--comments", "drop", "--deletion", "f1")
    arguments = ("--origin", ORIGIN, "--reference", ADA, "--hypothesis", BO, "--language", "java")
    ran = excise("score", *arguments, *options, "--json")
    signature = "es|gran:line|lcs:paper|place:pooled|del:f1|n:4|comments:drop|tok:java@0.13.0|v:2"
    assert ran.json["signature"] == signature


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give --origin, --reference and --hypothesis, or --jsonl."),
        (("--origin", "a", "--hypothesis", "b"), "Give --origin, --reference and --hypothesis"),
        (("--jsonl", "-", "--origin", "a"), "--jsonl holds the texts"),
        (("--granularity", "word"), "'word' is not one of"),
        (("--encoding", "hex"), "not a text encoding"),
        (("--encoding", "klingon"), "not a text encoding"),
        (("file",), "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_explained(arguments, message):
    ran = excise("score", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Try 'excise score --help'" in ran.err


# --- lines of records ----------------------------------------------------------------------------


def test_a_record_becomes_a_line_of_seven_keys():
    (line,) = scored(RECORD)
    assert list(line) == KEYS
    assert line["id"] == "r"
    assert (line["score"], line["keep"], line["add"], line["delete"]) == (0.5, None, 0.0, 1.0)
    assert line["notes"] == []


def test_a_list_of_references_says_which_one_counted():
    (line,) = scored(RECORD | {"reference": ["x = 2\n", "x = 3\n"]})
    assert line["score"] == 1
    assert line["reference"] == 1
    (line,) = scored(RECORD | {"reference": ["x = 3\n"]})
    assert line["reference"] == 0


def test_language_wins_over_path_and_null_is_absent():
    def tokeniser(**given):
        (line,) = scored({key: RECORD[key] for key in RECORD if key != "language"} | given)
        return line["signature"].split("tok:")[1].split("|")[0]

    assert tokeniser(language="python", path="a.go") == "python@0.13.0"
    assert tokeniser(language=None, path="a.go") == "go@0.13.0"
    assert tokeniser(language="", path="a.go") == "go@0.13.0"
    assert tokeniser(language="python", path=None) == "python@0.13.0"
    assert tokeniser() == "lexical"
    (line,) = scored(RECORD, options=("--language", "rust"))
    assert "tok:rust" in line["signature"]


def test_an_unknown_language_is_a_note():
    (line,) = scored(RECORD | {"language": "klingon"})
    assert line["notes"] == ["lexical tokens: no grammar for 'klingon'"]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("{", "not JSON: "),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("[" * 100_000, "nested too deep"),
        ('{"id": ' + "9" * 5000 + "}", "not usable JSON"),
        ('{"id": NaN}', "'id' is not a finite number"),
        ('{"id": 1e999}', "'id' is not a finite number"),
        ({}, "'id' is missing"),
        (RECORD | {"id": None}, "'id' is neither a string nor a number"),
        (RECORD | {"id": True}, "'id' is neither a string nor a number"),
        ({"id": 1}, "'reference' is missing"),
        (RECORD | {"origin": None}, "'origin' is not a string"),
        (RECORD | {"reference": []}, "'reference' is an empty list"),
        (RECORD | {"reference": ["a", 1]}, "'reference[1]' is not a string"),
        (RECORD | {"hypothesis": "a\0"}, "'hypothesis': binary: NUL character at offset 1"),
        (RECORD | {"origin": "\ud800"}, "'origin': not Unicode text: lone surrogate U+D800"),
        (RECORD | {"language": 1}, "'language' is not a string"),
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
    wanted = bad.get("id") if isinstance(bad, dict) else None
    assert line["id"] == (None if isinstance(wanted, bool) else wanted)


def test_bytes_that_are_no_utf_8_cost_one_line():
    good = json.dumps(RECORD).encode()
    ran = excise("score", "--jsonl", "-", stdin=good + b"\n\xff\n" + good)
    assert ran.code == 1
    assert ran.lines[1] == {"id": None, "error": "line 2: not utf-8: byte 0xff at 0"}
    assert ran.lines[2]["score"] == 0.5
    assert ran.err == ("excise: 1 of 3 records could not be scored: see 'error' in their lines\n")


def test_blank_lines_crlf_and_a_byte_order_mark_are_no_records():
    good = json.dumps(RECORD).encode()
    ran = excise("score", "--jsonl", "-", stdin=b"\xef\xbb\xbf" + good + b"\r\n\r\n  \n" + good)
    assert [line["id"] for line in ran.lines] == ["r", "r"]
    assert excise("score", "--jsonl", "-", stdin=b"").out == ""


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
    assert main(["score", "--jsonl", "-"]) == 0
    assert before == [0, 1, 2, 3]


def test_a_failure_of_ours_costs_one_record_only(monkeypatch):
    real = score.excise.excision_score
    monkeypatch.setattr(
        score.excise,
        "excision_score",
        lambda **given: real(**given) if given["origin"] else 1 / 0,
    )
    lines = scored(RECORD | {"origin": ""}, RECORD, code=1)
    assert "ZeroDivisionError" in lines[0]["error"]
    assert lines[1]["score"] == 0.5


def test_records_come_from_a_file_too(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    ran = excise("score", "--jsonl", str(path))
    assert ran.lines[0]["score"] == 0.5
    one_line(excise("score", "--jsonl", str(tmp_path / "none")), "none", "no such file")
    one_line(excise("score", "--jsonl", str(tmp_path)), str(tmp_path), "directory")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file():
    def peak(records: int) -> int:
        word = "x" * 50_000
        record = json.dumps(RECORD | {"origin": word, "hypothesis": word}).encode() + b"\n"
        code = (
            "import resource, sys; from excise_server.cli import main\n"
            "assert main(['score', '--jsonl', '-']) == 0\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code], input=record * records, capture_output=True, check=True
        )
        assert ran.stdout.count(b"\n") == records
        return int(ran.stderr)

    # 40 MB more of input.
    assert peak(500) - peak(100) < 10_000


# --- real data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("granularity", ["nested", "line", "token"])
@pytest.mark.parametrize(("hypothesis", "value"), [("origin", 0.0), ("reference", 1.0)])
def test_humanevalfix_is_zero_for_nothing_and_one_for_the_fix(
    excise_data, granularity, hypothesis, value
):
    records = []
    for path in sorted(excise_data.glob("humanevalfix_*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                item = json.loads(line)
                texts = {key: item[key] for key in ("id", "language", "origin", "reference")}
                records.append(json.dumps(texts | {"hypothesis": item[hypothesis]}))
    lines = scored(*records, options=("--granularity", granularity))
    assert [line["score"] for line in lines] == [value] * 984


def summarised(tmp_path, *hypotheses, name="ours", **more):
    """A file with these hypotheses, each of a task of its own."""
    lines = [RECORD | {"id": at, "hypothesis": text} | more for at, text in enumerate(hypotheses)]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def test_a_summary_is_the_mean_of_the_lines(tmp_path):
    path = summarised(tmp_path, "x = 2\n", "x = 3\n", "x = 1\n")
    lines = excise("score", "--jsonl", path).lines
    ran = excise("score", "--jsonl", path, "--summary", "--json")
    system = ran.json["system"]
    assert system["mean"] == pytest.approx(sum(line["score"] for line in lines) / 3)
    assert (system["outputs"], system["tasks"], system["failed"]) == (3, 3, 0)
    assert system["signature"] == lines[0]["signature"] + "|bs:1000|seed:0"
    one_task = summarised(tmp_path, "x = 2\n", "x = 3\n", task="t")
    assert excise("score", "--jsonl", one_task, "--summary").out.endswith("1 tasks, 2 outputs)\n")


def test_a_summary_compares_with_a_baseline(tmp_path):
    ours = summarised(tmp_path, "x = 2\n", "x = 2\n", "x = 3\n")
    theirs = summarised(tmp_path, "x = 2\n", "x = 1\n", "x = 3\n", name="theirs")
    ran = excise("score", "--jsonl", ours, "--summary", "--baseline", theirs, "--json").json
    assert ran["difference"]["value"] == pytest.approx(
        ran["system"]["mean"] - ran["baseline"]["mean"]
    )
    lines = excise("score", "--jsonl", ours, "--summary", "--baseline", theirs).out.split("\n")
    assert [line.partition("|")[0][:10] for line in lines] == ["es", "baseline: ", "difference", ""]


def test_a_summary_counts_what_has_no_score(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n{{}}\n{json.dumps(RECORD | {'task': True})}\n")
    ran = excise("score", "--jsonl", str(path), "--summary", "--json")
    assert ran.code == 1
    assert (ran.json["system"]["outputs"], ran.json["system"]["failed"]) == (1, 2)
    assert "2 of 3 records could not be scored" in ran.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--summary",), "--summary goes with --jsonl"),
        (("--jsonl", "OURS", "--baseline", "OURS"), "--baseline with --summary"),
        (("--jsonl", os.devnull, "--summary"), "holds no records"),
        (("--jsonl", "OURS", "--summary", "--baseline", "LESS"), "1 tasks are in one of the two"),
        (("--jsonl", "OURS", "--summary", "--baseline", "gone"), "gone"),
    ],
)
def test_misuse_of_summaries_is_named(tmp_path, arguments, says):
    files = {
        "OURS": summarised(tmp_path, "x = 2\n", "x = 3\n"),
        "LESS": summarised(tmp_path, "x = 2\n", name="less"),
    }
    ran = excise("score", *(files.get(word, word) for word in arguments))
    assert ran.code == 2
    assert says in " ".join(ran.err.split())


def test_records_may_be_gzipped(tmp_path):
    packed = gzip.compress("".join(f"{json.dumps(RECORD)}\n" for _ in range(2)).encode())
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(packed)
    assert [line["score"] for line in excise("score", "--jsonl", str(path)).lines] == [0.5, 0.5]
    path.write_bytes(packed[:-9])
    ran = excise("score", "--jsonl", str(path))
    assert ran.code != 0
    assert "broken gzip" in ran.err
