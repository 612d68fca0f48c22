"""Case archives: sources and what is expected of them, in one text file.

A header line ``-- name --`` starts a section, which reaches to the next header. Sections named
``expect ...`` hold results; ``UPDATE_EXPECT=1`` rewrites them, and the diff is to be reviewed.
Only ``\\n`` ends a line here, so a source may hold form feeds and Unicode line separators.
"""

import os
import re
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

_HEADER = re.compile(r"^-- (.+) --\n", re.MULTILINE)
_EXPECT = "expect "


def read(path: Path) -> dict[str, str]:
    """Return the sections of an archive by name, in order."""
    text = path.read_bytes().decode()
    before, *parts = _HEADER.split(text)
    assert not before, f"{path}: text before the first header"
    names, bodies = parts[::2], parts[1::2]
    assert len(set(names)) == len(names), f"{path}: two sections of one name"
    return dict(zip(names, bodies, strict=True))


def check(path: Path, results: Mapping[str, str]) -> None:
    """Compare results with the ``expect`` sections: the same names, the same texts.

    Raises
    ------
    AssertionError
        With the difference as a diff, unless it is to be accepted.
    """
    sections = read(path)
    sources = {name: body for name, body in sections.items() if not name.startswith(_EXPECT)}
    results = {f"{_EXPECT}{name}": _ended(body) for name, body in results.items()}
    for name, body in results.items():
        assert not _HEADER.search(body), f"{path.name}: {name} holds a line like a header"
    if sections == sources | results:
        return
    wanted = _joined(sources | results)
    if os.environ.get("UPDATE_EXPECT") == "1":
        path.write_bytes(wanted.encode())
        return
    difference = unified_diff(
        *(text.split("\n") for text in (_joined(sections), wanted)),
        path.name,
        "the results",
        lineterm="",
    )
    raise AssertionError(
        "\n".join([f"{path.name}: UPDATE_EXPECT=1 accepts the results", *difference])
    )


def _ended(body: str) -> str:
    return body if not body or body.endswith("\n") else f"{body}\n"


def _joined(sections: Mapping[str, str]) -> str:
    return "".join(f"-- {name} --\n{_ended(body)}" for name, body in sections.items())
