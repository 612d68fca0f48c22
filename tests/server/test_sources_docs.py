"""docs/sources.md names every setting with its default, every command of git and every limit."""

import json
import re
from dataclasses import asdict
from pathlib import Path

from excise_server.foundation import files
from excise_server.foundation.inputs import MAX_BYTES
from excise_server.git import checkouts
from excise_server.git.command import ALLOWED
from excise_server.sources import beside, patches
from excise_server.wire.sources import CHOICES, SourceSettings

TEXT = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")


def test_the_settings_and_their_defaults():
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+) \|$", TEXT, re.MULTILINE)
    shown = {name: default for name, default, _ in rows}
    defaults = asdict(SourceSettings())
    assert list(shown) == list(defaults)
    for name, default in defaults.items():
        assert shown[name] == (default if isinstance(default, str) else json.dumps(default))
    assert all(f"`{choice}`" in rows[0][2] for choice in CHOICES)


def test_the_commands_of_git():
    (sentence,) = re.findall(r"and only as (.+?)\. These", TEXT, re.DOTALL)
    assert set(re.findall(r"`(.+?)`", sentence)) == ALLOWED


def test_the_limits():
    (sentence,) = re.findall(r"^Limits, (.+?)\.$", TEXT, re.MULTILINE | re.DOTALL)
    sentence = " ".join(sentence.split())
    for limit in (
        f"{MAX_BYTES // 1_000_000} MB per text",
        f"{checkouts.MAX_WORKTREES} newest worktrees",
        f"{checkouts.MAX_REFS} branches",
        f"{beside.MAX_FILES} files beside",
        f"{patches.MAX_PATCHES} patches",
        f"{files.MAX_ENTRIES:,} entries",
    ):
        assert limit in sentence
