"""How often the two forms of section 3 are shorter than the longest three-way subsequence.

EXCISE_DATA=DIR python benchmarks/shorter.py
"""

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.reference import streams
from tests.reference.exact import TooLargeError
from tests.reference.regions import conserved


def real_triples(data: Path) -> Iterator[tuple[str, str, str, str]]:
    """The grammar, origin, reference and hypothesis of each distinct output of a model."""
    for items, outputs in (
        ("humanevalfix_python.jsonl", "hef_python_octocoder.jsonl"),
        ("humanevalfix_python.jsonl", "hef_python_astraios.jsonl"),
        ("humanevalfix_python.jsonl", "hef_python_many_models_dev.jsonl.gz"),
        ("humanevalfix_java.jsonl", "hef_java_astraios.jsonl"),
        ("canitedit_dev.jsonl", "canitedit_18models_dev.jsonl.gz"),
    ):
        by_id = {item["id"]: item for item in rows(data / items)}
        texts = {(row["id"], row["revision"]) for row in rows(data / "labelled" / outputs)}
        for name, hypothesis in sorted(texts):
            item = by_id[name]
            yield item["language"], item["origin"], item["reference"], hypothesis


def rows(path: Path) -> Iterator[dict]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Count the triples in which all three differ, and those where a form falls short."""
    counts: dict[str, Counter] = {granularity: Counter() for granularity in ("token", "line")}
    for grammar, *texts in dict.fromkeys(real_triples(Path(os.environ["EXCISE_DATA"]))):
        three = [streams.from_text(streams.normalise(text), grammar) for text in texts]
        for granularity, seen in counts.items():
            values = [[unit.value for unit in streams.units(one, granularity)] for one in three]
            if any(
                one == other for one, other in zip(values, values[1:] + values[:1], strict=True)
            ):
                continue  # every way finds the same
            options = {"granularity": granularity, "symmetric": False}
            try:
                longest = len(conserved(*three, lcs="exact", **options))
            except TooLargeError:
                seen["too large"] += 1
                continue
            seen["triples"] += 1
            for lcs in ("star", "paper"):
                seen[lcs] += len(conserved(*three, lcs=lcs, **options)) < longest
    for granularity, seen in counts.items():
        total = seen["triples"]
        print(f"{granularity}: {total:,} triples, {seen['too large']:,} more are too large")
        for lcs in ("star", "paper"):
            print(f"    {lcs} is shorter in {seen[lcs]:,} ({seen[lcs] / total:.1%})")


if __name__ == "__main__":
    sys.exit(main())
