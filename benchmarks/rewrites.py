"""How far references and outputs are from their origin: why `REWRITE` is what it is.

    EXCISE_DATA=DIR python benchmarks/rewrites.py

Distances are Levenshtein's over characters, divided by the longer length.
"""

from __future__ import annotations

from measure import rows
from rapidfuzz.distance.Levenshtein import normalized_distance

LANGUAGES = ("python", "js", "java", "go", "cpp", "rust")
OUTPUTS = {
    "canitedit_18models_dev.jsonl.gz": "canitedit_dev.jsonl",
    "hef_python_many_models_dev.jsonl.gz": "humanevalfix_python.jsonl",
}
BOUNDS = (0.0, 0.4, 0.6, 0.7, 0.8, 0.9)


def main() -> None:
    """Print a row for each bound: references past it, and outputs with the share that passes."""
    files = [*(f"humanevalfix_{name}.jsonl" for name in LANGUAGES), "canitedit_dev.jsonl"]
    items = {name: list(rows(name)) for name in files}
    every = [(item["origin"], item["reference"]) for found in items.values() for item in found]
    references = [normalized_distance(*pair) for pair in every]
    columns = []
    for outputs, name in OUTPUTS.items():
        origins = {item["id"]: item["origin"] for item in items[name]}
        found = rows("labelled", outputs)
        pairs = [(o["passed"], normalized_distance(origins[o["id"]], o["revision"])) for o in found]
        columns.append(pairs)
    print(f"| NED at least | references | {' | '.join(OUTPUTS)} |\n|---|---|---|---|")
    for bound in BOUNDS:
        cells = [f"{sum(distance >= bound for distance in references):,}"]
        for pairs in columns:
            past = [passed for passed, distance in pairs if distance >= bound]
            cells.append(f"{len(past):,}, {sum(past) / len(past):.0%} pass")
        print(f"| {bound:.1f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
