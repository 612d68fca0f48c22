"""A killed evaluation goes on; a worker that dies costs one output; every core gives the same."""

import json
import os
import signal
import subprocess

import pytest
from tests.server.command import command_line, excise
from tests.server.process_tree import DEADLINE, children, is_running, wait_until

from excise.evaluation import measures
from excise.evaluation.base import Measure, Value
from excise_server.evaluation.journal import Journal
from excise_server.evaluation.scoring import Job, OutputValues, Row, key_of, score_all
from excise_server.records.outputs import read_record

pytestmark = pytest.mark.slow

for needed in ("rapidfuzz", "sacrebleu"):
    pytest.importorskip(needed, reason="pip install '.[eval]'")

ROWS = 200
MEASURES = "es-nested,nes,chrf"
ORIGIN = "".join(f"x{at} = {at}\n" for at in range(ROWS))


def record(at: int) -> dict:
    hypothesis = ORIGIN.replace(f"x{at} = {at}\n", f"x{at} = {at + at % 3}\n" * (1 + at % 5))
    reference = ORIGIN.replace(f"x{at} = {at}\n", f"x{at} = {at + 1}\n")
    base = {"id": at // 4, "language": "python", "origin": ORIGIN}
    return base | {"reference": reference, "hypothesis": hypothesis, "label": int(at % 3 == 1)}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record(at)) + "\n" for at in range(ROWS)))
    return path


def scored_keys(journal) -> list[str]:
    """Return the keys of the whole lines that hold values."""
    values = map(json.loads, journal.read_bytes().split(b"\n")[:-1])
    return [value["k"] for value in values if "k" in value]


def test_a_killed_run_goes_on_where_it_was(data, tmp_path):
    journal = tmp_path / "journal"
    options = [
        "eval",
        str(data),
        "--protocol",
        "correlation",
        "--measures",
        MEASURES,
        "--bootstrap",
        "20",
        "--format",
        "json",
    ]
    resumed = [*options, "--resume", str(journal)]
    process = subprocess.Popen(command_line(*resumed), stdout=subprocess.PIPE)
    try:
        wait_until(lambda: journal.exists() and len(scored_keys(journal)) >= 20)
        workers = children(process.pid)
    finally:
        process.kill()
        process.communicate()
    done = scored_keys(journal)
    assert 20 <= len(done) < ROWS
    wait_until(lambda: not any(map(is_running, workers)))

    ran = excise(*resumed)
    assert (ran.code, ran.err) == (0, "")
    every = scored_keys(journal)
    assert every[: len(done)] == done
    assert len(every) == len(set(every)) == ROWS
    assert ran.json == excise(*options).json


def test_an_interrupt_says_how_to_go_on(data, tmp_path):
    journal = tmp_path / "journal"
    options = [
        "eval",
        str(data),
        "--protocol",
        "correlation",
        "--measures",
        MEASURES,
        "--resume",
        str(journal),
    ]
    process = subprocess.Popen(
        command_line(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until(lambda: journal.exists() and len(scored_keys(journal)) >= 20)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert out == b""
    assert f"excise: interrupted; the same command continues from {journal}\n".encode() in err
    assert b"Traceback" not in err


@pytest.fixture
def evaluated(data):
    """Evaluate the data in one process, with a journal or without; return what was printed."""

    def run(measures: str, journal=None):
        options = [
            "--protocol",
            "correlation",
            "--measures",
            measures,
            "--bootstrap",
            "0",
            "--format",
            "json",
        ]
        options += ["--resume", str(journal)] if journal else []
        return excise("eval", str(data), *options)

    return run


def test_a_line_that_a_kill_cut_off_is_scored_again(evaluated, tmp_path):
    journal = tmp_path / "journal"
    first = evaluated("nes", journal)
    journal.write_bytes(journal.read_bytes()[:-20])
    assert evaluated("nes", journal).json == first.json
    kept = [line for line in journal.read_text().split("\n") if line.endswith("}")]
    assert len({json.loads(line)["k"] for line in kept if '"k"' in line}) == ROWS


def test_more_measures_are_added_to_what_is_there(evaluated, tmp_path):
    journal = tmp_path / "journal"
    evaluated("nes", journal)
    assert evaluated("nes,em", journal).json == evaluated("nes,em").json
    last = [json.loads(line) for line in journal.read_text().split("\n")[-10:-1]]
    assert all(set(line["v"]) == {"em"} for line in last)


def test_a_value_under_another_signature_is_computed_anew(evaluated, tmp_path):
    journal = tmp_path / "journal"
    first = evaluated("nes", journal)
    journal.write_text(journal.read_text().replace("unit:char", "unit:byte").replace("0.9", "0.1"))
    ran = evaluated("nes", journal)
    assert ran.json == first.json
    assert "nes: the journal has it under another signature; computed again" in ran.err


@pytest.mark.parametrize("content", ["important notes\n", '{"id": 1}\n', "\n"])
def test_a_file_that_is_no_journal_is_left_alone(evaluated, tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    ran = evaluated("em", path)
    assert ran.code == 2
    assert "no journal of excise eval" in ran.err
    assert path.read_text() == content


def test_the_journal_keeps_the_signatures_that_values_had(tmp_path):
    path = str(tmp_path / "j")
    signatures = {"es": "es|tok:{}"}
    journal = Journal(path, signatures)
    for at, tokeniser in enumerate(["a", "a", "b", "a"]):
        signed = {"es": f"es|tok:{tokeniser}"}
        values = {"es": at / 8}
        journal.add(OutputValues(str(at), changed=bool(at), values=values, signatures=signed))
    journal.close()
    again = Journal(path, signatures)
    again.close()
    assert [one.signatures["es"][-1] for one in again.known.values()] == ["a", "a", "b", "a"]
    assert [one.values["es"] for one in again.known.values()] == [0, 0.125, 0.25, 0.375]
    assert [one.changed for one in again.known.values()] == [False, True, True, True]


# --- workers -------------------------------------------------------------------------------------


def deadly(item) -> Value:
    """A measure that takes its process with it on one output, and fails on another."""
    if item.hypothesis == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item.hypothesis == "fail":
        raise RuntimeError("no such luck")
    if item.hypothesis == "nan":
        return Value(float("nan"))
    return Value(float(len(item.hypothesis)))


def rows(texts: list[str], measures: tuple[Measure, ...]) -> list[Row]:
    values = (
        {"id": at, "origin": "", "reference": str(at), "hypothesis": text}
        for at, text in enumerate(texts)
    )
    records = [read_record(1, value) for value in values]
    return [Row(key_of(one, Job()), one, measures) for one in records]


def test_a_worker_that_dies_costs_its_output_alone():
    texts = ["a" * (at + 1) for at in range(40)]
    texts[7], texts[30], texts[20] = "die", "fail", "nan"
    work = rows(texts, (Measure(name="deadly", score=deadly, source="this test", key="d|v:1"),))
    found = {one.key: one for one in score_all(Job(), work, 2)}
    assert len(found) == 40
    for row, text in zip(work, texts, strict=True):
        one = found[row.key]
        if text == "die":
            assert "died" in one.errors["deadly"]
        elif text == "fail":
            assert one.errors == {"deadly": "RuntimeError: no such luck"}
        elif text == "nan":
            assert one.errors == {"deadly": "nan is not a finite value"}
        else:
            assert one.values == {"deadly": float(len(text))}


def test_odd_texts_fail_no_measure():
    work = rows(["", "a", "\ufeff", "\r\n", "\u2028"], measures(["em", "nes"]))
    found = list(score_all(Job(), work, 1))
    assert all(not one.errors for one in found)
    assert [one.changed for one in found] == [False, True, False, False, True]


def test_keys_tell_apart_what_a_measure_would():
    base = {"id": 1, "origin": "ab", "reference": "c", "hypothesis": "d"}
    variants = [
        base,
        base | {"origin": "a", "reference": ["bc"]},
        base | {"reference": ["c", "d"], "hypothesis": "d"},
        base | {"language": "python"},
        base | {"path": "python"},
    ]
    keys = {key_of(read_record(1, one), job) for one in variants for job in JOBS}
    assert len(keys) == len(variants) * len(JOBS)
    same = [key_of(read_record(1, base | {"id": 2, "label": 1, "count": 3}), JOBS[0])]
    assert same == [key_of(read_record(1, base), JOBS[0])]


JOBS = [Job(), Job("drop"), Job(seed=0), Job(seed=1)]
