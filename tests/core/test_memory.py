"""What is dropped is freed at once, without the cycle collector: a server that runs for days."""

import gc
import subprocess
import sys
import tracemalloc

import pytest

import excise
from excise import ChangeSet, ScoreMatrix

ORIGIN = "".join(f"value_{number} = compute({number})\n" for number in range(300))
TEXTS = [ORIGIN.replace("compute(7)", f"compute({number})") for number in range(4)]


def matrix():
    ScoreMatrix.from_texts(ORIGIN, TEXTS, language="python").hunks()


def raw_lines():
    ScoreMatrix.from_texts("a  b\n", ["a b\n", "a   b\n"]).hunks()


def replaced():
    ScoreMatrix.from_texts(ORIGIN, TEXTS, language="python").replaced("2", ORIGIN + "x = 1\n")


def change_sets():
    sets = {str(number): ChangeSet({"a.py": text}) for number, text in enumerate(TEXTS)}
    ScoreMatrix.from_change_sets({"a.py": ORIGIN}, sets)


def explained():
    score = excise.similarity(origin=ORIGIN, a=TEXTS[0], b=TEXTS[1], language="python")
    assert list(score.regions)


def replayed():
    excise.replay(ORIGIN, ORIGIN + "x\n", TEXTS[1])


@pytest.mark.slow
@pytest.mark.parametrize("work", [matrix, raw_lines, replaced, change_sets, explained, replayed])
def test_nothing_is_in_a_cycle(work):
    work()  # what is loaded and cached at first use is not its rubbish
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        work()
        gc.collect()
        cyclic = [type(item) for item in gc.garbage if type(item).__module__.startswith("excise")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert cyclic == []


@pytest.mark.slow
def test_a_parsed_text_is_freed():
    large = "".join(f"value_{number} = compute({number})\n" for number in range(2_000))
    texts = [f"{large}x = {number}\n" for number in range(2)]
    excise.align(large, texts[0], language="python")
    tracemalloc.start()
    try:
        for text in texts * 5:
            excise.align(large, text, language="python")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < len(large)  # the binding of the parser kept every text that it was given


LARGE_AMONG_SMALL = """
import resource
from excise import ScoreMatrix

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

origin = "".join(f"value_{n} = compute({n})\\n" for n in range(300))
small = [origin.replace("compute(7)", f"compute({n})") for n in (8, 9)]
large = small[0] + "x = 1  # and so on\\n" * 555_000
alone = ScoreMatrix.from_texts(origin, small, language="python")
before = peak()
beside = ScoreMatrix.from_texts(origin, [*small, large], language="python")
assert 10_000_000 < len(large) and peak() - before < 20 * len(large), (peak() - before) / len(large)
assert (beside.values[:2, :2] == alone.values).all() and 0 < beside.values[0, 2] < 1
assert beside.notes == ((), (), ("lexical tokens: over 1,000,000 bytes",))
assert beside.edit_sizes[:2] == alone.edit_sizes
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are measured in other units elsewhere")
def test_a_revision_of_ten_megabytes_among_small_ones():
    """It alone is read without its grammar, and takes a limited multiple of its size."""
    subprocess.run([sys.executable, "-c", LARGE_AMONG_SMALL], check=True)
