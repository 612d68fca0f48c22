"""docs/measures.md says what the measures say."""

import math
from pathlib import Path

from excise.evaluation import MEASURES

GUIDE = Path(__file__).parent.parent.parent.parent / "docs" / "measures.md"


def rows():
    text = GUIDE.read_text(encoding="utf-8")
    table = text[text.index("| name | source |") :].split("\n\n")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_table_has_every_measure_in_order():
    assert [row[0].strip("`") for row in rows()] == list(MEASURES)


def test_a_row_says_what_its_measure_says():
    for name, source, span, origin, several, by, zero, _ in rows():
        found = MEASURES[name.strip("`")]
        assert source == found.source
        low, high = span.removesuffix(" (small is good)").split(" to ")
        assert float(low) == found.low
        assert math.isclose(float(high.replace("∞", "inf")), found.high, rel_tol=1e-3)
        assert span.endswith("(small is good)") != found.larger_is_better
        assert (origin == "yes") == found.needs_origin
        assert several == found.several
        if found.resource in (None, "synonyms"):
            assert by == (found.package or "own")
        assert zero
        # What the table promises about 0/0 is in the docstring too.
        assert (zero == "none") == ("0/0" not in found.description)
