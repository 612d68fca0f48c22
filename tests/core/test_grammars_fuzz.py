"""No shape ends a process or hangs it: hostile texts for every grammar, in child processes."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from tests.core import fuzz_grammars
from tests.reference import budget

from excise import languages

pytestmark = pytest.mark.slow

BATCH = 12
STRIDE = 1 if budget.PROFILE == "nightly" else 211
GRAMMARS = languages.names()
BATCHES = [GRAMMARS[start : start + BATCH] for start in range(0, len(GRAMMARS), BATCH)]


@pytest.mark.parametrize("grammars", BATCHES, ids=lambda grammars: f"{grammars[0]}-{grammars[-1]}")
def test_no_text_ends_the_process(grammars):
    ran = subprocess.run(
        [sys.executable, "-m", fuzz_grammars.__name__, str(STRIDE), *grammars],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    *_, last = ran.stdout.strip().split("\n")
    if ran.returncode:
        grammar, number = last.split()
        text = next(itertools.islice(fuzz_grammars.texts(grammar), int(number), None))
        pytest.fail(f"{grammar} ends with {ran.returncode} at {text[:200]!r}; {ran.stderr[-500:]}")
    read = int(last.split()[1].strip(","))
    assert read >= len(grammars), "the stride left a grammar out"
