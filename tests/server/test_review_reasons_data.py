"""Reasons on outputs of real models: almost none that passes has one that speaks against it."""

import gzip
import json
from collections import Counter, defaultdict

import pytest
from tests.server.test_review_reasons import facts_in

from excise.patches import FilePair
from excise.text import normalise
from excise_server.foundation.changes import Side
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import FileChange, ReviewedFile
from excise_server.review.reasons import group_reasons

pytestmark = pytest.mark.slow

SETS = {
    "labelled/hef_python_astraios.jsonl": "humanevalfix_python.jsonl",
    "labelled/hef_python_many_models_dev.jsonl.gz": "humanevalfix_python.jsonl",
    "labelled/hef_java_astraios.jsonl": "humanevalfix_java.jsonl",
    "labelled/canitedit_18models_dev.jsonl.gz": "canitedit_dev.jsonl",
}
DEMOTE = ("broken", "no-code", "comments-only")


def rows(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("outputs", SETS)
def test_what_passes_has_no_reason_against_it(excise_data, outputs):
    origins = {row["id"]: row["origin"] for row in rows(excise_data / SETS[outputs])}
    passing = defaultdict(set)
    for row in rows(excise_data / outputs):
        if row["passed"] and normalise(row["revision"]) != normalise(origins[row["id"]]):
            passing[row["id"]].add(row["revision"])
    suffix = "java" if "java" in outputs else "py"
    total, said = 0, Counter()
    for item, texts in passing.items():
        origin = Side("100644", origins[item].encode(errors="replace"))
        sides = {str(n): Side("100644", text.encode(errors="replace"))
                 for n, text in enumerate(sorted(texts))}  # fmt: skip
        path = f"solution.{suffix}"
        pair = FilePair(path, path)
        changes = [
            FileChange(path, path, origin, side, n, pair, "code") for n, side in sides.items()
        ]
        file = ReviewedFile(path, origin, tuple(changes))
        candidates = [Candidate(n, "", "", "", old={path: origin}, new={path: side})
                      for n, side in sides.items()]  # fmt: skip
        total += len(candidates)
        groups, facts = [[n] for n in sides], facts_in([file])
        broken = {n: of_file[path].errors for n, of_file in facts.items()}
        for reasons in group_reasons(candidates, groups, [file], broken, facts):
            said.update({reason.kind for reason in reasons if reason.text.startswith("only adds")
                         or reason.kind in DEMOTE})  # fmt: skip
    assert total > 90
    assert sum(said.values()) <= 0.02 * total, said
