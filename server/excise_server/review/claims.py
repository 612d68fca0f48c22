"""What is said of a candidate by itself, by its own diff: its own base to its own head. Pure.

What the target did meanwhile, and how the two merge, is no part of it: a text that a merge has made
says nothing about its author.
"""

from __future__ import annotations

import configparser
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from excise import languages
from excise.broken import Broken, errors_said
from excise.facts import EditFacts
from excise.order_free import Level
from excise.preparation import Readings
from excise.reading import PARSER_SECONDS, Reading, is_large
from excise_server.foundation.changes import LINK, SUBMODULE, Side, renamed_files
from excise_server.foundation.escape import printable, shown_name
from excise_server.review.candidate import Candidate

CONFIGURED = frozenset((
    "pyproject.toml", "ruff.toml", ".ruff.toml", "setup.cfg", "tox.ini", ".flake8", ".pylintrc",
    "pylintrc",
))  # fmt: skip
"""Names of files in which a project says which names are there without a definition."""

_KEYS = ("builtins", "additional-builtins", "additional_builtins")
_WORD = re.compile(r"\w+")
_GIVES = re.compile(
    r"\bbuiltins(?:__)?\.(\w+)\s*=(?!=)"
    r"""|\bsetattr\(\s*_*builtins?_*\s*,\s*['"](\w+)|builtins?_*\.__dict__\[['"](\w+)"""
)


class Claim(NamedTuple):
    """Something that is proved of a candidate.

    - ``word``: ``broken``; ``collides``, with what the target has since its base; or ``not read``:
      a grammar cannot read the line, and could before.
    - ``path``, ``line``: the place in the candidate's own text.
    - ``message``: a phrase that follows "it".
    - ``is_syntax``: whether it breaks the syntax of the file.
    """

    word: Literal["broken", "collides", "not read"]
    path: str
    line: int
    message: str
    is_syntax: bool = False


def own_claims(
    candidate: Candidate, readings: Readings, given: frozenset[str] = frozenset()
) -> tuple[Claim, ...]:
    """Return what is broken in a candidate's own head and was not at its own base.

    Of its code and its tests, that is; of a new file of tests, which may be an example of what is
    wrong, only names count.

    - ``given``: names that the project has without a definition.
    """
    old, new = candidate.own
    renames = renamed_files(old, new) if new.keys() - old.keys() and old.keys() - new.keys() else {}
    texts = {
        path: (_text(old.get(renames.get(path, path))), _text(side))
        for path, side in sorted(new.items())
        if candidate.kind_of(path) in ("code", "tests")
    }
    several = len(texts) > 1
    claims = []
    for path, (before, after) in texts.items():
        if before is None or after is None or is_large(after) or is_large(before):
            continue
        grammar = languages.resolve(None, path, before or after)
        reading = Reading(grammar, timeout=PARSER_SECONDS, path=path)
        broken, line = readings.broken(before, after, reading, given)
        if not before and candidate.kind_of(path) == "tests":
            broken = tuple(each for each in broken if each.kind == "name")
        # First the names that no other file of the candidate has.
        others = "\n".join(text for other, (_, text) in texts.items() if other != path and text)
        ordered = sorted(broken, key=lambda each: _has_word(others, each))
        where = f" ({shown_name(path)})" if several else ""
        claims += [
            Claim("broken", path, ordered[0].line, f"{printable(error)}{where}",
                  any(each.kind == "syntax" for each in ordered))
            for error in errors_said(ordered)
        ]  # fmt: skip
        if line:
            version = ".".join(map(str, sys.version_info[:2]))
            why = f", newer than Python {version} here" if grammar == "python" else ""
            claims.append(Claim("not read", path, line, f"not read: line {line}{where}{why}"))
    return tuple(claims)


def own_code(candidate: Candidate, readings: Readings) -> dict[str, EditFacts]:
    """Return the facts about the code of a candidate's own diff, by path in the target."""
    old, new = candidate.own
    facts = {}
    for path in sorted(old.keys() | new.keys()):
        if candidate.kind_of(path) != "code":
            continue
        before, after, own = _text(old.get(path)), _text(new.get(path)), EditFacts()
        if before and after and not is_large(before) and not is_large(after):
            grammar = languages.resolve(None, path, before)
            reading = Reading(grammar, timeout=PARSER_SECONDS, path=path)
            if grammar is not None:
                [own] = readings.facts(before, [after], reading, None)
        facts[candidate.moves.get(path, path)] = own
    return facts


def given_twice(
    candidate: Candidate, names_of: Callable[[str, str], Mapping[tuple[Level, str], list[str]]]
) -> Iterator[Claim]:
    """Yield the names that a candidate gives, and the target, too, since its base.

    Both are in the text that git merges; the second one wins, or no compiler takes it.

    - ``names_of``: returns the names that a text gives (`excise.order_free.names_given`).
    """
    own_old, own_new = candidate.own
    for path, side in candidate.new.items():
        texts = [_text(own_old.get(path)), _text(own_new.get(path)), _text(side)]
        target = _text(candidate.old.get(path))
        if path in candidate.conflicts or not target or target == texts[0] or None in texts:
            continue
        # Most often no name of the target is on lines that both sides add, and nothing is parsed.
        before = set((texts[0] or "").split("\n"))
        words = set[str].intersection(
            *(
                set(_WORD.findall("\n".join(set((text or "").split("\n")) - before)))
                for text in (texts[1], target)
            )
        )
        now = names_of(path, target)
        new = [k for k, of in now.items() if len(of) == 1 and words.issuperset(_WORD.findall(k[1]))]
        if not new:
            continue
        base, head, merged = (names_of(path, text or "") for text in texts)
        for key in new:
            counts = [len(given.get(key, ())) for given in (base, head, merged)]
            is_twice = counts == [0, 1, 2]
            if is_twice and not is_one_thing(path, head[key], now[key]):
                message = f"both it and the target give {printable(key[1])} ({shown_name(path)})"
                yield Claim("collides", path, 0, message)


def is_one_thing(path: str, mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether what gives one name twice does no harm: equal imports of one thing, for example."""
    return path.endswith((".py", ".java", ".rb")) and mine == theirs


def _text(side: Side | None) -> str | None:
    if side is None:
        return ""
    return None if side.mode in (LINK, SUBMODULE) else side.text


def _has_word(text: str, broken: Broken) -> bool:
    return bool(broken.name and re.search(rf"\b{re.escape(broken.name)}\b", text))


def names_given(files: Iterable[tuple[str, str]], lines: Iterable[str]) -> Iterator[str]:
    """Yield the names that a project has without a definition.

    - ``files``: paths of `CONFIGURED`, with texts.
    - ``lines``: lines of Python that name ``builtins``.
    """
    for path, text in files:
        try:
            if path.endswith(".toml"):
                yield from _configured(tomllib.loads(text))
                continue
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            yield from _configured({name: dict(section) for name, section in parser.items()})
        except (ValueError, configparser.Error, RecursionError):
            continue
    for line in lines:
        for match in _GIVES.finditer(line):
            yield from filter(None, match.groups())


def _configured(table: Mapping[str, Any]) -> Iterator[str]:
    waiting: list[Any] = [table]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            for key, value in found.items():
                if key in _KEYS:
                    words = value if isinstance(value, list) else re.split(r"[,\s]+", str(value))
                    yield from (str(word).strip() for word in words)
                elif isinstance(value, dict):
                    waiting.append(value)
