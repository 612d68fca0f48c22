"""`excise eval` on real outputs, against what a slow implementation of the definition gives.

B != O compares the texts as they came, but for white space around them.
"""

import gzip
import json

import pytest
from tests.server.command import excise

pytestmark = pytest.mark.slow

# r weighted by count / of distinct outputs / of distinct ones that differ from their origin, with
# comments dropped: computed by an implementation of the definition that shares no code with ours.
KNOWN = {
    "hef_python_octocoder.jsonl": {
        "es-line-star": (0.9127, 0.8552, 0.7846),
        "es-token-star": (0.9069, 0.8645, 0.7955),
        "es-nested-star": (0.9069, 0.8645, 0.7955),
    },
    "hef_python_astraios.jsonl": {
        "es-line-star": (0.9023, 0.7403, 0.6557),
        "es-token-star": (0.8977, 0.7546, 0.6940),
        "es-nested-star": (0.8977, 0.7546, 0.6940),
    },
    "hef_java_astraios.jsonl": {
        "es-line-star": (0.8831, 0.5055, 0.4854),
        "es-token-star": (0.8785, 0.4624, 0.4473),
        "es-nested-star": (0.8835, 0.4800, 0.4653),
    },
    "hef_python_many_models_dev.jsonl.gz": {
        "es-line-star": (0.7937, 0.6453, 0.6396),
        "es-token-star": (0.7935, 0.6597, 0.6552),
        "es-nested-star": (0.7929, 0.6583, 0.6538),
    },
}

TOLERANCE = {"hef_python_many_models_dev.jsonl.gz": 0.005}
"""Fifteen outputs stand there twice, and count once among the distinct ones."""

KEYS = ("pearson", "pearson_distinct", "pearson_distinct_changed")


def records(folder, name: str) -> bytes:
    """Join the outputs with the items that they belong to."""
    language = "java" if "java" in name else "python"
    with open(folder / f"humanevalfix_{language}.jsonl", encoding="utf-8") as file:
        items = {item["id"]: item for item in map(json.loads, file)}
    opener = gzip.open if name.endswith(".gz") else open
    joined = []
    with opener(folder / "labelled" / name, "rb") as file:
        for line in file:
            output = json.loads(line)
            item = items[output["id"]]
            record = {key: item[key] for key in ("origin", "reference", "language")}
            record |= {"id": output["id"], "hypothesis": output["revision"]}
            joined.append(record | {"label": output["passed"], "count": output["count"]})
    return "".join(json.dumps(record) + "\n" for record in joined).encode()


@pytest.mark.parametrize("name", KNOWN)
def test_correlations_with_tests_passed(excise_data, name):
    options = (
        "--protocol",
        "correlation",
        "--measure",
        "comments:drop",
        "--bootstrap",
        "0",
        "--format",
        "json",
    )
    found = excise(
        "eval", "-", "--measures", ",".join(KNOWN[name]), *options, stdin=records(excise_data, name)
    )
    assert found.code == 0, found.err
    for measure, expected in KNOWN[name].items():
        entry = found.json["measures"][measure]
        given = [entry[key] for key in KEYS]
        assert given[0] == pytest.approx(expected[0], abs=0.00006), measure
        assert given == pytest.approx(expected, abs=TOLERANCE.get(name, 0.00006)), measure


def test_a_shared_prefix_moves_no_excision_score(excise_data):
    """A third of OctoCoder's outputs, at every granularity; what ignores the origin moves."""
    lines = records(excise_data, "hef_python_octocoder.jsonl").split(b"\n")[:-1][::3]
    options = [
        *("--protocol", "correlation", "--measure", "comments:drop", "--bootstrap", "0"),
        *("--shared-prefix", "--format", "json"),
    ]
    measures = "es-line-star,es-token-star,es-nested-star,sari"
    found = excise("eval", "-", "--measures", measures, *options, stdin=b"\n".join(lines)).json
    moved = {name: entry["prefix"]["moved"] for name, entry in found["measures"].items()}
    assert [moved[f"es-{unit}-star"] for unit in ("line", "token", "nested")] == [0, 0, 0]
    assert moved["sari"] > len(lines) / 2
