"""What the tree tells of files that candidates change: scripts left behind, and texts of prose.

Whoever looks for a bug leaves scripts behind that nothing else uses. Git is asked once, for all
candidates together, which lines of the target have the names of such files that no file has which
was read already. Where it cannot tell, they are code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.git.repository import Repository
from excise_server.git.search import FileLine, lines_with
from excise_server.git.trees import Listing, listing_of
from excise_server.review.candidate import Candidate
from excise_server.review.kinds import Kind, kind_of, script_stem, text_stem
from excise_server.sources.reading import Target

_SAMPLE = 1_000_000
"""Most bytes of files that are searched before git searches all."""

_NO_FILE = (b"", b"-")


def with_facets(
    repository: Repository, target: Target, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Return the candidates with what the target's tree tells of their files.

    Raises SourceError if git cannot list the files of the target. Raises UnansweredError if git
    takes too long.
    """
    sought = {candidate.id: _sought(candidate) for candidate in candidates}
    if not any(sought.values()):
        return tuple(candidates)
    listing = listing_of(repository, target.commit)
    saved = {path: side.data for path, side in target.saved.items() if side is not None}
    paths = {*listing, *saved}
    sought = {
        name: {path: word for path, word in words.items() if _is_apart(path, paths)}
        for name, words in sought.items()
    }
    words = {word for by_path in sought.values() for word in by_path.values()}
    named = _files_with(words, [*saved.items(), *_read(listing, candidates)])
    facets = {each.id: _facets(each, sought[each.id], named) for each in candidates}
    left = {sought[name][path] for name, by_path in facets.items() for path in by_path}
    lines = lines_with(repository, target.commit, left)
    if lines is None:
        return tuple(candidates)
    for word, files in _files_with(left, lines).items():
        named[word] |= files
    return tuple(replace(each, facets=_facets(each, sought[each.id], named)) for each in candidates)


def _read(listing: Listing, candidates: Iterable[Candidate]) -> Iterator[FileLine]:
    """Yield some of the target's files that were read for candidates: most words need no others."""
    left, seen = _SAMPLE, set[str]()
    for candidate in candidates:
        for path, side in candidate.old.items():
            is_file = side.mode not in (LINK, SUBMODULE) and path not in seen
            if is_file and listing.get(path, _NO_FILE)[1] == side.blob.encode():
                seen.add(path)
                left -= len(side.data)
                if left < 0:
                    return
                yield path, side.data


def _sought(candidate: Candidate) -> dict[str, str]:
    """Return, by path, the word that no other file may have."""
    sought = {}
    for path, side in candidate.new.items():
        if path not in candidate.old and side.mode not in (LINK, SUBMODULE):
            sought[path] = script_stem(path)
    for path in candidate.old.keys() | candidate.new.keys():
        if stem := text_stem(path):
            # Code that reads a page of the documentation names the file, not just its subject.
            sought[path] = f"{stem}.txt" if "/" in path else stem
    return {path: word for path, word in sorted(sought.items()) if word}


def _files_with(words: Iterable[str], lines: Iterable[FileLine]) -> dict[str, set[str]]:
    patterns = {
        word: (word.encode(), re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(word.encode())))
        for word in words
    }
    files: dict[str, set[str]] = defaultdict(set)
    for path, text in lines:
        for word, (encoded, pattern) in patterns.items():
            if encoded in text and pattern.search(text):
                files[word].add(path)
    return files


def _facets(
    candidate: Candidate, sought: Mapping[str, str], named: Mapping[str, set[str]]
) -> dict[str, Kind]:
    own = [(path, side.data) for path, side in candidate.new.items()]
    named_here = _files_with(set(sought.values()), own)
    facets: dict[str, Kind] = {}
    for path, word in sought.items():
        others = (named.get(word, set()) | named_here[word]) - {path}
        if path.endswith(".txt"):
            if all(text_stem(other) or kind_of(other) == "docs" for other in others):
                facets[path] = "docs"
        elif not others:
            facets[path] = "scratch"
    return facets


def _is_apart(path: str, paths: Collection[str]) -> bool:
    """Whether a script has a folder of its own, or is the only one of its kind in the top folder.

    In other folders, and beside others of its extension, a file may be found by where it is. Of
    texts that is not asked.
    """
    if path.endswith(".txt"):
        return True
    folder, _, name = path.rpartition("/")
    if folder:
        return not any(other.startswith(f"{folder}/") for other in paths)
    extension = name[name.rindex(".") :]
    return not any("/" not in other and other.endswith(extension) for other in paths)
