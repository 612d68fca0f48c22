"""How common words are: the table of `excise.patches.evidence`, from many repositories.

    EXCISE_DATA=DIR python benchmarks/background.py             writes the table of the package
    EXCISE_DATA=DIR python benchmarks/background.py REPOSITORY  prints JSON, without that one

Recipe: of each repository of duplicates_dev the share of patches that have a sub-token in a changed
line, and the share that have it in their message; the mean of both over all repositories, each of
which counts the same; rounded to a thousandth. Sub-tokens that fewer than three repositories have,
and shares below three thousandths, are left out.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from measure import rows

from excise.patches import parse
from excise.patches.evidence import Subtokens, plain_message
from excise.patches.features import IGNORED, compared

NAME = "bg1"
DATA = "duplicates_dev.jsonl.gz"
REPOSITORIES = 3
"""Repositories that must have a sub-token: no text of any one of them is in the table."""

LEAST = 3
"""Thousandths from which a share is in the table: below it weights hardly differ."""

TABLE = Path(__file__).parent.parent / "core/excise/patches/background.json"
Shares = dict[str, int]


class Counts:
    """Of each repository the patches, and in how many of them each sub-token is."""

    def __init__(self, found: Iterator[dict[str, Any]]) -> None:
        words = Subtokens()
        self.patches: Counter[str] = Counter()
        self.changes: dict[str, Counter[str]] = defaultdict(Counter)
        self.messages: dict[str, Counter[str]] = defaultdict(Counter)
        for row in found:
            name = row["repo"]
            self.patches[name] += 1
            files, _ = compared(parse(row["diff"].encode("utf-8", "surrogatepass")), IGNORED)
            changed = b"\n".join(
                line[1:]
                for pair in files
                for hunk in pair.hunks
                for line in hunk.lines
                if line[:1] != b" "
            )
            self.changes[name].update(set(words.of(changed.decode("utf-8", "replace"))))
            self.messages[name].update(set(words.of(plain_message(row["message"]))))

    def table(self, without: str = "") -> tuple[Shares, Shares]:
        """Return the shares in changes and in messages, in thousandths."""
        return self._shares(self.changes, without), self._shares(self.messages, without)

    def _shares(self, having: Mapping[str, Counter[str]], without: str) -> Shares:
        names = [name for name in self.patches if name != without]
        total: Counter[str] = Counter()
        repositories: Counter[str] = Counter()
        for name in names:
            for word, n in having[name].items():
                total[word] += n * 1_000_000 // self.patches[name]
                repositories[word] += 1
        shares = {word: round(n / len(names) / 1000) for word, n in total.items()}
        return {w: n for w, n in shares.items() if n >= LEAST and repositories[w] >= REPOSITORIES}


def main(arguments: list[str]) -> int:
    changes, messages = Counts(rows(DATA)).table(*arguments)
    name = f"{NAME}-without" if arguments else NAME
    text = json.dumps({"name": name, "changes": changes, "messages": messages}, sort_keys=True)
    if arguments:
        print(text)
    else:
        TABLE.write_text(f"{text}\n".replace(", ", ",\n"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
