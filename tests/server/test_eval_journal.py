"""A killed evaluation goes on; a worker that dies costs one output; every core gives the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from tests.server.command import command_line, excise

from excise.evaluation import measures
from excise.evaluation.base import Measure, Value
from excise_server.evaluation.journal import Journal
from excise_server.evaluation.scoring import Job, Row, Scored, key_of, score_all
from excise_server.records.outputs import read_record

for needed in ("rapidfuzz", "sacrebleu"):
    pytest.importorskip(needed, reason="pip install '.[eval]'")

DEADLINE = 120.0
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
    keys = []
    for line in journal.read_bytes().split(b"\n")[:-1]:
        value = json.loads(line)
        if "k" in value:
            keys.append(value["k"])
    return keys


def wait_for(condition, process=None) -> None:
    until = time.monotonic() + DEADLINE
    while not condition():
        assert process is None or process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until, "nothing happened in two minutes"
        time.sleep(0.01)


def children(pid: int) -> set[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True)
    return {int(line) for line in listed.stdout.split()}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return not state.stdout.startswith("Z") and bool(state.stdout)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(data, tmp_path):
    journal = tmp_path / "journal"
    options = ["eval", str(data), "--measures", MEASURES, "--bootstrap", "20", "--json"]
    resumed = [*options, "--resume", str(journal), "--jobs", "2"]
    process = subprocess.Popen(command_line(*resumed), stdout=subprocess.PIPE)
    try:
        wait_for(lambda: journal.exists() and len(scored_keys(journal)) >= 20, process)
        workers = children(process.pid)
    finally:
        process.kill()
        process.communicate()
    done = scored_keys(journal)
    assert 20 <= len(done) < ROWS
    wait_for(lambda: not any(map(alive, workers)))

    ran = excise(*resumed)
    assert (ran.code, ran.err) == (0, "")
    every = scored_keys(journal)
    assert every[: len(done)] == done
    assert len(every) == len(set(every)) == ROWS
    assert ran.json == excise(*options, "--jobs", "1").json


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on(data, tmp_path):
    journal = tmp_path / "journal"
    options = ["eval", str(data), "--measures", MEASURES, "--resume", str(journal), "--jobs", "2"]
    process = subprocess.Popen(
        command_line(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: journal.exists() and len(scored_keys(journal)) >= 20, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert out == b""
    assert f"excise: interrupted; the same command continues from {journal}\n".encode() in err
    assert b"Traceback" not in err


def test_a_line_that_a_kill_cut_off_is_scored_again(data, tmp_path):
    journal = tmp_path / "journal"
    options = ["eval", str(data), "--measures", "nes", "--bootstrap", "0", "--json", "--jobs", "1"]
    first = excise(*options, "--resume", str(journal))
    journal.write_bytes(journal.read_bytes()[:-20])
    again = excise(*options, "--resume", str(journal))
    assert again.json == first.json
    kept = [line for line in journal.read_text().split("\n") if line.endswith("}")]
    assert len({json.loads(line)["k"] for line in kept if '"k"' in line}) == ROWS


def test_more_measures_are_added_to_what_is_there(data, tmp_path):
    journal = tmp_path / "journal"
    options = [
        "eval",
        str(data),
        "--bootstrap",
        "0",
        "--json",
        "--resume",
        str(journal),
        "--jobs",
        "1",
    ]
    excise(*options, "--measures", "nes")
    ran = excise(*options, "--measures", "nes,em")
    plain = excise(
        "eval", str(data), "--bootstrap", "0", "--json", "--measures", "nes,em", "--jobs", "1"
    )
    assert ran.json == plain.json
    last = [json.loads(line) for line in journal.read_text().split("\n")[-10:-1]]
    assert all(set(line["v"]) == {"em"} for line in last)


def test_a_value_under_another_signature_is_computed_anew(data, tmp_path):
    journal = tmp_path / "journal"
    options = ["eval", str(data), "--measures", "nes", "--bootstrap", "0", "--json", "--jobs", "1"]
    options += ["--resume", str(journal)]
    first = excise(*options)
    journal.write_text(journal.read_text().replace("unit:char", "unit:byte").replace("0.9", "0.1"))
    ran = excise(*options)
    assert ran.json == first.json
    assert "nes: the journal has it under another signature; computed again" in ran.err


@pytest.mark.parametrize("content", ["important notes\n", '{"id": 1}\n', "\n"])
def test_a_file_that_is_no_journal_is_left_alone(data, tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    ran = excise("eval", str(data), "--measures", "em", "--resume", str(path))
    assert ran.code == 2
    assert "no journal of excise eval" in ran.err
    assert path.read_text() == content


def test_a_journal_that_cannot_be_written_is_refused(data, tmp_path):
    ran = excise("eval", str(data), "--measures", "em", "--resume", str(tmp_path / "no" / "j"))
    assert ran.code == 2
    assert "no/j" in ran.err


def test_the_journal_keeps_the_signatures_that_values_had(tmp_path):
    path = str(tmp_path / "j")
    signatures = {"es": "es|tok:{}"}
    journal = Journal(path, signatures)
    for at, tokeniser in enumerate(["a", "a", "b", "a"]):
        signed = {"es": f"es|tok:{tokeniser}"}
        journal.add([Scored(str(at), changed=bool(at), values={"es": at / 8}, signatures=signed)])
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


def rows(job: Job, texts: list[str]) -> list[Row]:
    found = []
    for at, text in enumerate(texts):
        value = {"id": at, "origin": "", "reference": str(at), "hypothesis": text}
        one = read_record(at, value)
        found.append(Row(key_of(one, job), one, tuple(range(len(job.measures)))))
    return found


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_output_alone():
    job = Job((Measure(name="deadly", score=deadly, source="this test", key="d|v:1"),))
    texts = ["a" * (at + 1) for at in range(40)]
    texts[7], texts[30], texts[20] = "die", "fail", "nan"
    work = rows(job, texts)
    found = {one.key: one for one in score_all(job, work, 2)}
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
    job = Job(measures(["em", "nes"]))
    found = list(score_all(job, rows(job, ["", "a", "\ufeff", "\r\n", "\u2028"]), 1))
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


JOBS = [Job(()), Job((), "drop"), Job((), seed=0), Job((), seed=1)]
