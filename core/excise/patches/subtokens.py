"""Words as people choose them: the parts of camelCase and snake_case, and the whole beside them."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["Subtokens"]

# ASCII letters, digits, `_` and `$`, and whatever is written beyond ASCII but for its punctuation:
# `\w` would cut scripts with combining marks into consonants.
_WORD = re.compile(
    r"[^\x00-\x23\x25-\x2f:-@\[-^`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\s"
    r"\u2000-\u206f\u2190-\u2bff\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+"
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Scripts without blanks between words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_OTHER = re.compile(rf"[{_UNSPACED}]+|[^\d_$\s{_UNSPACED}]+|\d+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LONGEST = 80
"""Characters of a word that is cut into parts; longer ones are data, and count as one."""


class Subtokens:
    """Cuts texts into sub-tokens and remembers the cuts of each word."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        """Start with nothing remembered."""
        self._parts = _Parts()

    def of(self, text: str) -> Counter[str]:
        """Count the sub-tokens of a text, in lower case.

        >>> sorted(Subtokens().of("parseURL(base_url)"))
        ['base', 'base_url', 'parse', 'parseurl', 'url']
        """
        found: Counter[str] = Counter()
        for word, n in Counter(_WORD.findall(text)).items():
            for part in self._parts[word]:
                found[part] += n
        return found


class _Parts(dict[str, tuple[str, ...]]):
    def __missing__(self, word: str) -> tuple[str, ...]:
        self[word] = parts = _parts(word)
        return parts


def _parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word, of two characters or more, and the whole if they are several."""
    if len(word) > _LONGEST:
        return (word.lower(),)
    if word.isascii():
        parts = [part.lower() for part in _PART.findall(word) if len(part) > 1]
    else:
        parts = [piece for part in _OTHER.findall(word.lower()) for piece in _pieces(part)]
    return (*parts, word.lower()) if len(parts) > 1 else tuple(parts)


def _pieces(part: str) -> list[str]:
    """Return a part, or of a script without blanks each two neighbours."""
    if len(part) < 3 or not _IS_UNSPACED.match(part):
        return [part]
    return [part[at : at + 2] for at in range(len(part) - 1)]
