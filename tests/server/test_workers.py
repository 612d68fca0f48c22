"""Whatever parses runs in processes that may die: what is left is equal results, or a note."""

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from excise import CancelFlag, Cancelled, Options
from excise.syntax import version
from excise.text import Revision
from excise_server.editor.analysis import Analyst, Snapshot
from excise_server.editor.findings import explain_file, explain_hunk, find
from excise_server.processes.lifetime import StopFlag
from excise_server.processes.parsers import Quarantine, shared_page
from excise_server.wire.worker import (
    Answer,
    BrokenFrameError,
    Scored,
    WorkFrame,
    framed,
    read_frame,
)
from excise_server.workers.scored import pack, unpack
from excise_server.workers.worker import Worker

pytestmark = pytest.mark.slow

PLAIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
SLOW = "|+\n" * 6_000
"""Many seconds of error recovery in the parser of Python, which looks at its flag meanwhile."""


def snapshot(origin: str, *texts: str, **more) -> Snapshot:
    revisions = tuple(Revision(f"r{number}", text) for number, text in enumerate(texts))
    more = {"language": "python", "buffer": origin, "version": 1} | more
    return Snapshot(more.pop("uri", "file:///a.py"), origin, revisions, **more)


OWN = PLAIN.replace("* 2", "* 3")
RENAMED = [
    "def f(a):\n    return a\n",
    *(f"def f(a):\n    {x} = a * a\n    return {x} + {x}\n" for x in ("s", "square")),
    "def f(a):\n    return a + 1\n",
]
SNAPSHOTS = {
    "three": snapshot(PLAIN, PLAIN.replace("+", "-"), PLAIN.replace("+", "*"), PLAIN),
    "bare": snapshot(PLAIN),
    "typed": snapshot(PLAIN, PLAIN.replace("+", "-"), buffer="# typed\n" + PLAIN),
    "line ends": snapshot("\ufeffa\r\nb\rc", "a\r\nB\nc", "a\nb\nC\n", language=None),
    "surrogates": Snapshot(
        "file:///\ud800.py",
        PLAIN,
        (Revision("\ud800", OWN, "\udfff"), Revision("\udfff", PLAIN.replace("+", "-"))),
        path="/\ud800.py",
        buffer=f"{PLAIN}# \ud800",
    ),
    "empty": snapshot("", "", "x\n"),
    "unknown": snapshot("a b", "a c", "c b", language=None, path=None),
    "broken": snapshot(PLAIN, "def (((\n", PLAIN.replace("def g", "deff g")),
    "lines": snapshot(PLAIN, OWN, options=Options("line")),
    "comments": snapshot(PLAIN, PLAIN + "# end\n", OWN, options=Options(comments="drop")),
    "renamed": snapshot(*RENAMED),
    "guarded": snapshot("> " * 255, "x", language="markdown"),
    "nobody open": snapshot(PLAIN, OWN, buffer=None, version=None),
    "deleted": snapshot(PLAIN, PLAIN.replace("+", "-"), "", OWN, deleted=frozenset({"r1"})),
    "own edits": Snapshot(
        "file:///o.py",
        PLAIN,
        (Revision("r", PLAIN.replace("+", "-")), Revision("buffer", OWN)),
        language="python",
        buffer=OWN,
    ),
}


@pytest.fixture
def worker(tmp_path):
    worker = Worker(Quarantine(tmp_path))
    yield worker
    worker.close()


def plain(analysis):
    """Everything that an analysis says."""
    matrix = analysis.comparison.matrix
    count = range(len(matrix.ids))
    return (
        analysis.snapshot,
        [[float(matrix.values[i, j]) for j in count] for i in count],
        [[(matrix.word(i, j), matrix.level(i, j)) for j in count] for i in count],
        tuple(matrix.no_ops),
        analysis.comparison.ranking,
        analysis.comparison.clusters,
        analysis.comparison.signature,
        analysis.comparison.notes,
        analysis.hunks,
        analysis.numbers,
        analysis.sites,
        analysis.given,
        analysis.decided,
        find(analysis),
        [explain_hunk(analysis, at) for at in range(len(analysis.hunks))],
        explain_file(analysis),
    )


def test_a_worker_says_what_the_library_says(worker):
    for name, wanted in SNAPSHOTS.items():
        for _ in range(2):  # the second time, the scores are known
            there = worker.analyse(wanted, StopFlag())
            assert plain(there) == plain(Analyst().analyse(wanted, CancelFlag())), name


def test_the_scores_of_a_document_stay_the_same_object_while_only_lines_move(worker):
    first = worker.analyse(SNAPSHOTS["three"], StopFlag())
    moved = snapshot(PLAIN, *(r.text for r in first.snapshot.revisions), buffer="#\n" + PLAIN)
    again = worker.analyse(moved, StopFlag())
    assert again.comparison is first.comparison
    assert plain(again) == plain(Analyst().analyse(moved, CancelFlag()))


def test_a_key_parses_no_text_and_scores_no_pair(worker):
    wanted = SNAPSHOTS["three"]
    worker.analyse(wanted, StopFlag())
    done = worker.work
    assert done.parses > 0
    assert done.pairs == 3
    for number in range(5):
        worker.analyse(replace(wanted, buffer=f"# {number}\n{PLAIN}", version=number), StopFlag())
    assert (worker.work.parses, worker.work.pairs) == (done.parses, done.pairs)


# --- deaths ---


def in_parser(worker: Worker) -> None:
    """Wait until a parser of the worker has a text that it takes long for."""
    end = time.monotonic() + 60
    before = None
    while time.monotonic() < end:
        process = worker._process
        parsing = process.parsing() if process is not None and process._opened else None
        if parsing is not None and parsing == before:
            return
        before = parsing
        time.sleep(0.05)
    raise AssertionError("nothing was parsed")


def while_it_parses(worker: Worker, *acts) -> threading.Thread:
    """Do each of these once a parser has a text: ``act(pid)``, each of another process."""

    def run() -> None:
        seen = set()
        for act in acts:
            while True:
                in_parser(worker)
                process = worker._process
                if process is not None and process.pid not in seen:
                    break
                time.sleep(0.001)
            seen.add(process.pid)
            act(process.pid)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def deadly(number: int):
    return lambda pid: os.kill(pid, number)


def test_a_text_that_ends_its_worker_is_lexical_and_stays_so(worker, tmp_path):
    wanted = snapshot(PLAIN, SLOW, OWN)
    thread = while_it_parses(worker, deadly(signal.SIGSEGV))
    analysis = worker.analyse(wanted, StopFlag())
    thread.join()
    assert "the parser of python failed on this text" in str(analysis.comparison.notes[0])
    assert not analysis.comparison.notes[1]
    assert f"tok:python@{version()}/2+lexical" in analysis.comparison.signature
    assert ((tmp_path / "quarantine").stat().st_mode & 0o777) == 0o600
    again = Worker(Quarantine(tmp_path))
    try:
        assert plain(again.analyse(wanted, StopFlag())) == plain(analysis)
    finally:
        again.close()


def test_an_origin_that_ends_its_worker_makes_all_lexical(worker):
    thread = while_it_parses(worker, deadly(signal.SIGABRT))
    analysis = worker.analyse(snapshot(SLOW, PLAIN, OWN), StopFlag())
    thread.join()
    assert "tok:lexical" in analysis.comparison.signature
    assert all("the parser of python failed" in str(n) for n in analysis.comparison.notes)


def test_a_kill_from_outside_is_tried_again_before_the_text_is_blamed(worker, tmp_path):
    thread = while_it_parses(worker, deadly(signal.SIGKILL), deadly(signal.SIGKILL))
    analysis = worker.analyse(snapshot(PLAIN, SLOW, OWN), StopFlag())
    thread.join()
    assert "the parser of python failed on this text" in str(analysis.comparison.notes[0])
    assert len((tmp_path / "quarantine").read_text().splitlines()) == 1


def test_one_kill_from_outside_changes_nothing(worker, tmp_path):
    wanted = snapshot(PLAIN, "|+\n" * 1_000, OWN)
    thread = while_it_parses(worker, deadly(signal.SIGKILL))
    analysis = worker.analyse(wanted, StopFlag())
    thread.join()
    assert plain(analysis) == plain(Analyst().analyse(wanted, CancelFlag()))
    assert not (tmp_path / "quarantine").exists()


def test_a_worker_that_dies_between_requests_is_replaced(worker):
    before = plain(worker.analyse(SNAPSHOTS["three"], StopFlag()))
    os.kill(worker._process.pid, signal.SIGKILL)
    assert plain(worker.analyse(SNAPSHOTS["three"], StopFlag())) == before


def test_a_worker_that_nobody_asks_ends_and_is_replaced(worker):
    worker._idle = 0.01
    before = plain(worker.analyse(SNAPSHOTS["three"], StopFlag()))
    first = worker._process
    assert first._process.wait(60) == 0
    assert plain(worker.analyse(SNAPSHOTS["three"], StopFlag())) == before
    assert worker._process is not first


def cancelled(worker: Worker, *acts) -> None:
    flag = StopFlag()
    thread = while_it_parses(worker, lambda pid: [*(act(pid) for act in acts), flag.cancel()])
    with pytest.raises(Cancelled):
        worker.analyse(snapshot(PLAIN, SLOW, OWN), flag)
    thread.join()


def test_a_cancelled_text_is_not_quarantined(worker, tmp_path):
    cancelled(worker)
    pid = worker._process.pid
    assert plain(worker.analyse(SNAPSHOTS["three"], StopFlag()))
    assert worker._process.pid == pid, "a worker that stops by itself is kept"
    assert not (tmp_path / "quarantine").exists()


class CrossedFlag(StopFlag):
    """A flag whose listener can be called when the answer has already come."""

    def listen(self, listener) -> None:
        self.crossing = listener
        super().listen(listener)


def test_a_cancel_that_crosses_its_answer_stops_no_other_request(worker):
    for name in ("three", "own edits"):
        flag = CrossedFlag()
        worker.analyse(snapshot(PLAIN, f"{name}\n", OWN), flag)
        flag.crossing()
        assert plain(worker.analyse(SNAPSHOTS[name], StopFlag()))


def test_a_worker_that_does_not_stop_is_ended(worker, tmp_path):
    cancelled(worker, deadly(signal.SIGSTOP))
    assert worker._process is None
    assert plain(worker.analyse(SNAPSHOTS["three"], StopFlag()))
    assert not (tmp_path / "quarantine").exists()


def test_a_worker_whose_parent_has_gone_ends_without_a_trace():
    command = [sys.executable, "-I", "-m", "excise_server.workers.child", "-1", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        child.stdout.close()  # before it says that it is ready
        assert child.stderr.read() == b""
        assert child.wait() == 0


# --- frames ---


def test_frames_that_are_cut_or_promise_too_much():
    def reading(data: bytes):
        rest = bytearray(data)

        def read(size: int) -> bytes:
            piece = bytes(rest[:size])
            del rest[:size]
            return piece

        return read

    assert read_frame(reading(framed(b"abc"))) == b"abc"
    assert read_frame(reading(b"")) is None
    for cut in range(1, 7):
        with pytest.raises(BrokenFrameError):
            read_frame(reading(framed(b"abc")[:cut]))
    with pytest.raises(BrokenFrameError):
        read_frame(reading(b"\xff\xff\xff\xff" + b"x" * 100))


@pytest.mark.parametrize("renamed", [(0, 3, ()), (-3, 1, ()), (0, 2, (("s", "t"),)), (0, 0, ())])
def test_names_of_a_pair_that_cannot_be_are_refused(renamed):
    wanted = snapshot(*RENAMED)
    analysis = Analyst().analyse(wanted, CancelFlag())
    message = pack(analysis, 1, WorkFrame(0, 0, 0), 1, whole=True)
    assert message.scores.renamed == ((0, 1, (("s", "square"),)),)
    unpack(wanted, message, None)
    scores = msgspec.structs.replace(message.scores, renamed=(renamed,))
    with pytest.raises(BrokenFrameError):
        unpack(wanted, msgspec.structs.replace(message, scores=scores), None)


def mutant(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(changed):
            changed[at] = rng.choice([0, 0x7F, 0x80, 0xFF, 0xC0, 0xDF, rng.randrange(256)])
        elif kind == 1:
            del changed[at : at + rng.randint(1, 9)]
        elif kind == 2:
            changed[at:at] = rng.randbytes(rng.randint(1, 9))
        elif kind == 3:
            changed[at : at + 8] = rng.choice(
                [
                    b"\xff" * 8,
                    b"\0" * 8,
                    b"\0\0\0\0\0\0\xf8\x7f",
                    b"\x7f\xef\xff\xff\xff\xff\xff\xff",
                ]
            )
        else:
            changed = changed[:at] + changed[max(at - 20, 0) :]
    return bytes(changed)


def test_what_a_worker_forges_is_refused_or_can_be_shown():
    rng = random.Random(15)
    decoder = msgspec.msgpack.Decoder(Answer)
    refused = shown = 0
    for name in ("three", "own edits", "typed", "broken"):
        wanted = SNAPSHOTS[name]
        analysis = Analyst().analyse(wanted, CancelFlag())
        real = msgspec.msgpack.encode(pack(analysis, 1, WorkFrame(0, 0, 0), 1, whole=True))
        assert plain(unpack(wanted, decoder.decode(real), None)[1]) == plain(analysis)
        for _ in range(1_500):
            try:
                answer = decoder.decode(mutant(real, rng))
                if not isinstance(answer, Scored):
                    continue
                forged = unpack(wanted, answer, None)[1]
            except (BrokenFrameError, msgspec.MsgspecError, RecursionError, ValueError):
                refused += 1
                continue
            plain(forged)
            shown += 1
    assert refused > 1_000
    assert shown > 10


# --- what cannot be had ---


def test_without_a_worker_everything_is_done_here_and_said_once(tmp_path):
    code = """
import logging, os, resource, sys
from tests.server.test_workers import SNAPSHOTS, plain
from excise import CancelFlag
from excise_server.processes.lifetime import StopFlag
from excise_server.editor.analysis import Analyst
from excise_server.workers.worker import Worker
from excise_server.processes.parsers import Quarantine, cache_folder
logging.basicConfig(level=logging.WARNING)
how = sys.argv[1]
expected = {n: plain(Analyst().analyse(SNAPSHOTS[n], CancelFlag())) for n in ("three", "own edits")}
if how == "limit":
    if os.getuid() == 0:
        os.setgid(65534); os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
elif how == "missing":
    sys.executable = "/nonexistent/python"
else:
    sys.executable = "/bin/false"
worker = Worker(Quarantine(cache_folder()))
worker.warm()
for name, wanted in expected.items():
    assert plain(worker.analyse(SNAPSHOTS[name], StopFlag())) == wanted
"""
    root = Path(__file__).parents[2]
    for how in ("missing", "false", "limit"):
        ran = subprocess.run(
            [sys.executable, "-c", code, how],
            cwd=root,
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr.count("scoring in this process") == 1, ran.stderr


# --- the list on disk ---

TEXT = bytes(range(32)) + b"yaml"
OTHER_TEXT = bytes(32) + b"c"


def test_the_list_is_read_by_the_next_process(tmp_path):
    first = Quarantine(tmp_path)
    assert first.add(TEXT)
    assert not first.add(TEXT)
    assert Quarantine(tmp_path).names == first.names == (TEXT,)


def test_another_pack_may_read_what_this_one_cannot(tmp_path):
    Quarantine(tmp_path).add(TEXT)
    path = tmp_path / "quarantine"
    path.write_text(path.read_text().replace(version(), "0.0.1"))
    assert Quarantine(tmp_path).names == ()


def test_a_damaged_list_is_said_once_and_read_as_far_as_it_goes(tmp_path, caplog):
    Quarantine(tmp_path).add(TEXT)
    path = tmp_path / "quarantine"
    path.write_bytes(b"\xff\0nonsense\n" + path.read_bytes() + b"deadbeef ya")
    damaged = Quarantine(tmp_path)
    assert damaged.names == (TEXT,)
    damaged.add(OTHER_TEXT)
    assert len(caplog.records) == 1
    assert len(Quarantine(tmp_path).names) == 2, "a cut last line spoils no other"


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "file above"])
def test_a_list_that_cannot_be_had_is_said_once(tmp_path, caplog, kind):
    folder = tmp_path / "cache"
    path = folder / "quarantine"
    if kind == "file above":
        folder.write_text("")
    else:
        folder.mkdir()
        makers = {"folder": path.mkdir, "fifo": lambda: os.mkfifo(path)}
        makers.get(kind, lambda: path.symlink_to(tmp_path / "elsewhere"))()
    caplog.set_level(logging.WARNING)
    kept = Quarantine(folder)
    kept.add(TEXT)
    kept.add(OTHER_TEXT)
    assert len(kept.names) == 2
    assert len(caplog.records) == 1
    assert not (tmp_path / "elsewhere").exists()


def test_a_damaged_note_names_nothing():
    note, page = shared_page()
    os.close(page)
    try:
        assert note.read() is None
        note.begin(TEXT)
        assert note.read() == TEXT
        for at, value in ((0, 200), (0, 32), (33, 0x2F), (0, 7)):
            note.begin(TEXT)
            note._page[at] = value
            assert note.read() is None
        note.end()
        assert note.read() is None
    finally:
        note.close()
