"""The names of a candidate: its tool, its own name, and a label that is unique."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from excise_server.review.layouts import LAYOUTS, Layout, Roots, is_windows, parts_of, spellings
from excise_server.review.trailers import signed_by

__all__ = ["Name", "Roots", "Traces", "labels", "name_of"]

_COMMIT_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Traces:
    """The known facts about a candidate before it is read, empty where unknown.

    Attributes
    ----------
    folder : str
        The absolute path of its worktree or folder.
    branch : str
        Its branch without ``refs/heads/``; empty when detached.
    remote : str
        Its remote ref without ``refs/remotes/`` (``origin/fix``), if it comes from one.
    commit : str
        Its commit.
    given : str
        Its source's name for it: a patch's subject, a pull request's number, a client's label.
    repository : str
        The top folder of the repository's main checkout.
    trailers : tuple of str
        Trailer lines of its own commits.
    """

    folder: str = ""
    branch: str = ""
    remote: str = ""
    commit: str = ""
    given: str = ""
    repository: str = ""
    trailers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """The tool that made a candidate and the name that the tool gives it, empty if unknown.

    Attributes
    ----------
    tool : str
        The tool, by layout or else by trailers (``Claude Code``).
    own : str
        The candidate's name in the tool's layout; empty where only trailers name the tool.
    task : str
        The part of the own name that all candidates of one task share.
    forms : tuple of str
        Labels for it from short to telling, without regard to other candidates; never empty.
    """

    tool: str
    own: str
    task: str
    forms: tuple[str, ...]


def name_of(traces: Traces, roots: Roots | None = None) -> Name:
    """Return a candidate's name by the first layout that fits its folder, else its branch or ref.

    If no layout fits, trailers name the tool, and the candidate has the name that its source gives
    it, or else its branch or ref, or else the last part of its path.
    """
    if name := _by_folder(traces, roots or Roots()) or _by_branch(traces):
        return name
    ends = (traces.given, traces.branch, traces.remote, *parts_of(traces.folder)[-1:])
    resorts = (traces.folder, traces.commit[:_COMMIT_DIGITS], "unnamed")
    text = next(text for text in (*ends, *resorts) if text.strip())
    if signature := signed_by(traces.trailers):
        return Name(signature.tool, "", "", (text, f"{signature.word} {text}"))
    return Name("", "", "", (text,))


def labels(
    candidates: Sequence[Traces],
    roots: Roots | None = None,
    shown: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """Return a label for each candidate, the shortest of its forms that no other one has.

    Candidates that would share a label all take the next longer form: with the tool, with the
    shortest distinguishing end of the path (entire parts, never cut inside one), with the kind of
    ref, with the commit. Those that nothing tells apart are numbered in their order.

    Parameters
    ----------
    candidates : sequence of Traces
        All candidates of one review.
    roots : Roots, optional
        Folders of the user that layouts refer to.
    shown : callable
        How a label will be printed. Labels that look alike then (an escape character and the text
        of its escape), or differ in white space only, count as equal.
    """
    lengths = _telling_lengths([candidate.folder for candidate in candidates], shown)
    forms = [
        _all_forms(candidate, name_of(candidate, roots), lengths.get(candidate.folder, 0))
        for candidate in candidates
    ]
    level = [0] * len(forms)
    while True:
        texts = [form[depth] for form, depth in zip(forms, level, strict=True)]
        longer = [i for i in _sharing(texts, shown) if level[i] + 1 < len(forms[i])]
        if not longer:
            return _numbered(texts, shown)
        for i in longer:
            level[i] += 1


def _by_folder(traces: Traces, roots: Roots) -> Name | None:
    spelled = spellings(traces.folder, traces.branch, traces.repository, roots)
    for layout in LAYOUTS:
        if layout.only_with and traces.branch and not layout.only_with.fullmatch(traces.branch):
            continue
        for text in spelled:
            if match := _match(layout.folders, text):
                return _named(layout, match, traces.branch)
    return None


def _by_branch(traces: Traces) -> Name | None:
    far = traces.remote.partition("/")[2]
    for layout in LAYOUTS:
        match = (
            _match(layout.remotes, traces.remote)
            or _match(layout.branches, traces.branch)
            or _match(layout.branches, far)
        )
        if match:
            return _named(layout, match, traces.branch)
    return None


def _match(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.fullmatch(text))), None)


def _named(layout: Layout, match: re.Match[str], branch: str) -> Name:
    groups = match.groupdict()
    full_name = groups.get("full") or groups["own"]
    own_name = groups["own"] or full_name
    if layout.label == "branch":
        own_name = full_name = branch or own_name
    texts = [own_name, full_name] if layout.label != "tool and name" and own_name.strip() else []
    texts += [f"{layout.word} {own_name}", f"{layout.word} {full_name}"]
    return Name(layout.tool, own_name, groups.get("task") or "", tuple(dict.fromkeys(texts)))


def _all_forms(traces: Traces, name: Name, length: int) -> tuple[str, ...]:
    """Return the name's forms, followed by longer ones for names that share a label.

    ``length`` is the number of parts that tell the folder from the others, or 0 without a folder.
    """
    first = name.forms[0]
    behind = []
    if length:
        ends = [_end(traces.folder, length), _end(traces.folder, length + 1)]
        behind = [*([] if name.own else ends), *(f"{first} ({end})" for end in ends)]
    elif traces.branch:
        behind = [f"{first} (heads/{traces.branch})"]
    elif traces.remote:
        behind = [f"{first} (remotes/{traces.remote})"]
    if traces.commit:
        behind.append(f"{behind[-1] if behind else first} {traces.commit[:_COMMIT_DIGITS]}")
    return tuple(dict.fromkeys((*name.forms, *behind)))


def _telling_lengths(folders: Sequence[str], shown: Callable[[str], str]) -> dict[str, int]:
    """Return how many of the last parts of each folder no other folder ends in."""
    ends = {
        folder: tuple(_look(part, shown) for part in reversed(parts_of(folder)))
        for folder in folders
        if folder.strip()
    }
    length = dict.fromkeys(ends, 1)
    for (before, first), (after, second) in pairwise(sorted(ends.items(), key=itemgetter(1))):
        common = _common(first, second) + 1
        length[before] = max(length[before], common)
        length[after] = max(length[after], common)
    return length


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _end(folder: str, length: int) -> str:
    """Return the last parts of a folder, or the absolute folder itself for all parts."""
    separator = "\\" if is_windows(folder) and "\\" in folder else "/"
    parts = parts_of(folder)
    if length >= len(parts):
        return folder.rstrip(separator) or folder
    return separator.join(parts[-length:])


def _sharing(texts: Sequence[str], shown: Callable[[str], str]) -> list[int]:
    """Return the indices of texts that look like another one."""
    alike = defaultdict[str, list[int]](list)
    for i, text in enumerate(texts):
        alike[_look(text, shown)].append(i)
    return [i for indices in alike.values() if len(indices) > 1 for i in indices]


def _numbered(texts: Sequence[str], shown: Callable[[str], str]) -> tuple[str, ...]:
    reserved = {_look(text, shown) for text in texts}
    seen = set[str]()
    unique = []
    for text in texts:
        label, number = text, 1
        while (look := _look(label, shown)) in seen or (number > 1 and look in reserved):
            number += 1
            label = f"{text} #{number}"
        seen.add(look)
        unique.append(label)
    return tuple(unique)


def _look(text: str, shown: Callable[[str], str]) -> str:
    return " ".join(shown(text).split())
