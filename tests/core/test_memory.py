"""What is dropped is freed at once, without the cycle collector: a server that runs for days."""

import gc
import tracemalloc

import pytest

import excise
from excise import ChangeMatrix, ChangeSet, ScoreMatrix

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
    ChangeMatrix.from_change_sets({"a.py": ORIGIN}, sets)


def explained():
    score = excise.similarity(origin=ORIGIN, a=TEXTS[0], b=TEXTS[1], language="python")
    assert list(score.regions)


def replayed():
    excise.replay(ORIGIN, ORIGIN + "x\n", TEXTS[1])


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


def test_a_parsed_text_is_freed():
    large = "".join(f"value_{number} = compute({number})\n" for number in range(10_000))
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
