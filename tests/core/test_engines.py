"""Every engine, forced by its switch, returns the textbook walk; slow paths show in work counts."""

import gzip
import json
import mmap
import random
import subprocess
import sys
from array import array

import pytest
from tests.reference.lcs import canonical_lcs

from excise import languages
from excise.kernels import _lcs
from excise.text import normalise
from excise.tokens import Vocabulary, stream

ENGINES = ["auto", "myers", "bits", "checkpoints"]
ALPHABETS = [2, 3, 4, 6, 10, 50, 1000]
CASES = 20_000


def ints(symbols):
    return array("i", symbols)


def pairs(flat, n):
    found, place, shift = [], 0, 0
    for at in range(0, len(flat), 4):
        found += [(o, o + shift) for o in range(place, flat[at])]
        place, shift = flat[at + 1], flat[at + 3] - flat[at + 1]
    return found + [(o, o + shift) for o in range(place, n)]


def drawn(rng):
    """Draw unrelated sequences, or a sequence and an edited copy."""
    symbols = rng.choice(ALPHABETS)
    origin = [rng.randrange(symbols) for _ in range(rng.randrange(24))]
    if rng.random() < 0.5:
        return origin, [rng.randrange(symbols) for _ in range(rng.randrange(24))]
    revision = list(origin)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(revision) + 1)
        if rng.random() < 0.5:
            revision.insert(at, rng.randrange(symbols))
        else:
            del revision[at : at + 1]
    return origin, revision


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_engine_returns_the_textbook_walk(seed):
    rng = random.Random(seed)
    for _ in range(CASES // 4):
        origin, revision = drawn(rng)
        expected = list(canonical_lcs(origin, revision))
        for engine in ENGINES:
            flat = _lcs.edits(ints(origin), ints(revision), engine=engine)
            assert pairs(flat, len(origin)) == expected, (engine, origin, revision)


@pytest.mark.parametrize("symbols", [2, 6, 40, 3000])
@pytest.mark.parametrize("edited", [0.01, 0.2, 1.0])
def test_engines_agree_on_long_sequences(symbols, edited):
    rng = random.Random(symbols)
    origin = [rng.randrange(symbols) for _ in range(3000)]
    revision = [s if rng.random() >= edited else rng.randrange(symbols) for s in origin]
    del revision[100:150]
    found = {tuple(_lcs.edits(ints(origin), ints(revision), engine=e)) for e in ENGINES}
    assert len(found) == 1


def test_engines_agree_on_real_files(excise_data):
    with gzip.open(excise_data / "git_same_origin_dev.jsonl.gz", "rt") as rows:
        records = [json.loads(row) for row in rows]
    for record in records:
        vocabulary = Vocabulary()
        grammar = languages.resolve(None, record["path"], record["origin"])
        texts = [record["origin"], *(c["text"] for c in record["candidates"])]
        streams = [stream(normalise(text), grammar) for text in texts]
        origin, *revisions = (vocabulary.intern(s.tokens) for s in streams)
        for revision in revisions:
            found = {tuple(_lcs.edits(origin, revision, engine=e)) for e in ENGINES}
            assert len(found) == 1, record["id"]


def work(origin, revision, engine="auto"):
    done = []
    _lcs.edits(ints(origin), ints(revision), engine=engine, work_done=done)
    return done


def test_a_few_edits_cost_a_few_diagonals():
    origin = list(range(20_000))
    revision = list(origin)
    for at in (19_000, 12_000, 5_000, 77):
        revision[at] = -at % 7 + 30_000
    diagonals, words = work(origin, revision)
    assert diagonals <= (2 * 4 + 1) ** 2
    assert words == 0


def test_nothing_in_common_costs_next_to_nothing():
    n = 50_000
    diagonals, words = work(range(n), range(n, 2 * n))
    assert diagonals < 10 * n
    assert words == 0


def test_one_token_repeated_costs_nothing_but_the_ends():
    assert work([0] * 100_000, [0] * 90_000) == [0, 0]


def test_every_token_distinct_and_reversed_stays_within_one_word_a_cell_block():
    n = 6000
    diagonals, words = work(range(n), range(n - 1, -1, -1))
    assert diagonals < 20 * n
    assert words <= 2 * n * (n // 64 + 1)


def test_unrelated_files_do_not_pay_for_diagonals_first():
    rng = random.Random(1)
    n = 5000
    origin, revision = ([rng.randrange(800) for _ in range(n)] for _ in range(2))
    diagonals, words = work(origin, revision)
    assert diagonals < n
    assert words <= n * (n // 64 + 1)


def test_an_edited_copy_never_needs_bits():
    rng = random.Random(2)
    origin = [rng.randrange(6) for _ in range(20_000)]
    revision = [s if rng.random() >= 0.02 else rng.randrange(6) for s in origin]
    diagonals, words = work(origin, revision)
    assert words == 0
    assert diagonals < 20 * len(origin)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(50_000, 50_000, 5000), (100_000, 60_000, 6)])
def test_large_unrelated_inputs_keep_memory_below_a_quarter_of_the_bit_table(shape):
    n, m, symbols = shape
    rng = random.Random(3)
    origin, revision = ([rng.randrange(symbols) for _ in range(size)] for size in (n, m))
    words = work(origin, revision)[1]
    assert words > m * (n // 64) // 4  # checkpoints were redone: the table was never whole


def test_lengths_beyond_the_limit_are_refused():
    # Untouched pages of an anonymous map take no memory.
    with mmap.mmap(-1, 4 * (_lcs.MAX_LENGTH + 1)) as zeros:
        view = memoryview(zeros).cast("i")
        with pytest.raises(ValueError, match="too long"):
            _lcs.edits(view, array("i"))
        view.release()


def test_memory_that_cannot_be_had_is_an_error_and_leaves_nothing_behind():
    """In a process of its own: 1.2 GB of bit rows, where 300 MB may be had."""
    program = """
import random, resource
from array import array
from excise.kernels import _lcs
rng = random.Random(1)
o, a = (array("i", [rng.randrange(1000) for _ in range(100_000)]) for _ in range(2))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, resource.RLIM_INFINITY))
before = int(open("/proc/self/statm").read().split()[1])
for _ in range(5):
    try:
        _lcs.edits(o, a, engine="bits")
    except MemoryError as error:
        print(error)
print(_lcs.edits(o[:50], o[:50], engine="bits").tolist())
print(int(open("/proc/self/statm").read().split()[1]) - before < 1000)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "excise: out of memory while aligning\n" * 5 + "[]\nTrue\n"
