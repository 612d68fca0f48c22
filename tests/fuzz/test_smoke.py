"""A few inputs of every target, always the same: what `make fuzz` would find at once."""

import shutil
import sys

import pytest
from tests.fuzz import lane
from tests.fuzz.targets import TARGETS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the lane limits CPU time by signals"),
]

INPUTS = {"session": 1, "repositories": 6, "growth": 4, "grammars": 120}
"""Where not 200 are tried: fewer where one costs more."""


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_found_at_once(name, tmp_path):
    if name == "repositories" and shutil.which("git") is None:
        pytest.skip("git is missing: apt-get install git")
    inputs = INPUTS.get(name, 200)
    outcome = lane.run(name, seed=1, seconds=300, kept=tmp_path, inputs=inputs)
    assert outcome.findings == []
    assert outcome.inputs >= inputs
