"""Which change sets are one program (docs/ideas.md): pair by pair and file by file, no keys.

What two texts of a file are to each other is given: `tests/core/test_levels.py` has its judges.
"""

from collections.abc import Callable, Mapping

WORDS = ("identical", "same code", "same up to names")

LevelOfTexts = Callable[[str, str, str], str | None]
"""Path and two texts; the index of the word in `WORDS` is its rank."""


def level(
    origin: Mapping[str, str],
    a: tuple[Mapping[str, str], Mapping[str, object], Mapping[str, str]],
    b: tuple[Mapping[str, str], Mapping[str, object], Mapping[str, str]],
    of_texts: LevelOfTexts,
) -> str | None:
    """Return the word for two change sets (texts, facts, facets), or None.

    It is the weakest of the words of all files that decide.
    """
    if all(side(origin, a, path) == side(origin, b, path) for path in {*all_of(a), *all_of(b)}):
        return "identical"
    paths_a, paths_b = deciding(origin, a), deciding(origin, b)
    if is_code(origin, a) != is_code(origin, b):
        return None
    rank = 1
    for path in paths_a | paths_b:
        sides = [
            side(origin, own, path) if path in paths else (origin.get(path, ""), ())
            for own, paths in ((a, paths_a), (b, paths_b))
        ]
        (text_a, facts_a), (text_b, facts_b) = sides
        created = [path in paths and path not in origin for paths in (paths_a, paths_b)]
        word = of_texts(path, text_a, text_b)
        if facts_a != facts_b or created[0] != created[1] or word is None:
            return None
        rank = max(rank, WORDS.index(word))
    return WORDS[rank]


def all_of(change_set) -> set[str]:
    texts, facts, _ = change_set
    return {*texts, *facts}


def side(origin, change_set, path) -> tuple[str, object]:
    """The text and the facts of a file."""
    texts, facts, _ = change_set
    return texts.get(path, origin.get(path, "")), facts.get(path, ())


def changed(origin, change_set) -> set[str]:
    return {
        path
        for path in all_of(change_set)
        if side(origin, change_set, path) != (origin.get(path, ""), ())
    }


def is_code(origin, change_set) -> bool:
    """Whether it changes any file that is no test, page or script of its own."""
    paths = changed(origin, change_set)
    return not paths or any(path not in change_set[2] for path in paths)


def deciding(origin, change_set) -> set[str]:
    """The files of code, if there are any, else all."""
    paths = changed(origin, change_set)
    return {path for path in paths if path not in change_set[2]} or paths
