"""What only the scripts of benchmarks/ do with the library: they are run by hand, and seldom."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from excise import excision_score
from excise.evaluation import Item
from excise.patches import Pool, parse

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PATCH = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n zero(a, b);\n-one(a, b);\n+two(a, c, b);\n"


@pytest.fixture
def script(monkeypatch):
    """Import a script as it is when it is run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield __import__
    for name, module in list(sys.modules.items()):
        if str(BENCHMARKS) in str(getattr(module, "__file__", None)):
            del sys.modules[name]


def test_the_formula_of_conventions_is_the_score(script):
    conventions = script("conventions")
    texts = {
        "origin": "a = 1\nb = 2\n",
        "reference": "a = 3\nb = 2\n",
        "hypothesis": "a = 3\nb = 4\n",
    }
    item = Item.of(**texts, language="python")
    found = conventions.score(conventions.es(item), None)
    assert found == pytest.approx(excision_score(**texts, language="python").value)


def test_a_patch_has_as_many_features_for_the_peer(script):
    pool = Pool()
    pool.add(parse(PATCH))
    pool.add(parse(PATCH.replace(b"zero", b"three")))
    features = script("patches_scale").counted(pool.patches[0])
    assert features.total() == sum(count.a for count in pool.compare(0, 1).operations)
