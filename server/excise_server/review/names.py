"""The names of a candidate: its tool, its own name, and a label that is unique.

Two tables say which tool made it: where tools put their worktrees and what they call their
branches, and how they sign commits. A folder is matched in each of its spellings: as it is with
``/`` between the parts, from the user's home (``~/..``), from Codex' own folder
(``$CODEX_HOME/..``) and, beside the repository, from the repository's name
(``$REPOSITORY.suffix``). Most patterns hold below any folder, so that a listing made in a container
or over SSH is read as well.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Literal

_KEYS = ("co-authored-by", "assisted-by")
_ADDRESS = re.compile(r"<([^<>]*)>\s*\Z")
_NOREPLY = r"(?:\d+\+)?{}@users\.noreply\.github\.com"


@dataclass(frozen=True, slots=True)
class Signature:
    """How one tool signs: its addresses, and the words that name it if there is no address."""

    tool: str
    word: str
    addresses: re.Pattern[str]
    words: re.Pattern[str]


def _signature(tool: str, word: str, addresses: str, words: str) -> Signature:
    return Signature(tool, word, re.compile(addresses), re.compile(rf"(?:{words})(?![\w-])"))


_GITHUB_COPILOT = _NOREPLY.format(r"copilot(?:-swe-agent\[bot\])?")

SIGNATURES: tuple[Signature, ...] = (
    _signature("Claude Code", "claude", r"noreply@anthropic\.com", "claude(?: code)?|claude-code"),
    _signature("Codex", "codex", r"(?:noreply|codex)@openai\.com", "(?:openai )?codex"),
    _signature("Cursor", "cursor", r"cursoragent@cursor\.com", "cursor"),
    _signature(
        "Copilot", "copilot", f"{_GITHUB_COPILOT}|copilot@github.com", "(?:github )?copilot"
    ),
    _signature("Qwen Code", "qwen", r"qwen-coder@alibabacloud\.com", "qwen(?:-(?:coder|code))?"),
    _signature("opencode", "opencode", r"noreply@opencode\.ai", "opencode"),
    _signature("Aider", "aider", r"(?:noreply|aider)@aider\.chat", "aider"),
    _signature("Amp", "amp", r"amp@ampcode\.com", "amp"),
    _signature("OpenHands", "openhands", r"openhands@all-hands\.dev", "openhands"),
    _signature("Jules", "jules", _NOREPLY.format(r"google-labs-jules\[bot\]"), "jules"),
    _signature("Devin", "devin", _NOREPLY.format(r"devin-ai-integration\[bot\]"), "devin"),
)
"""The signatures of tools. People with a tool's first name differ by their address."""


def signed_by(trailers: tuple[str, ...]) -> Signature | None:
    """Return the tool that most of the trailers name, the first in `SIGNATURES` among equals.

    - ``trailers``: trailer lines (``Co-Authored-By: Claude <noreply@anthropic.com>``), in any
      order. Other keys are ignored. If there is an address, only the address counts.
    """
    votes = Counter(signature.tool for line in trailers if (signature := _signature_in(line)))
    return max(
        (signature for signature in SIGNATURES if signature.tool in votes),
        key=lambda signature: votes[signature.tool],
        default=None,
    )


def _signature_in(line: str) -> Signature | None:
    key, _, value = line.partition(":")
    if key.strip().lower() not in _KEYS:
        return None
    value = value.strip().lower()
    if address := _ADDRESS.search(value):
        return next((s for s in SIGNATURES if s.addresses.fullmatch(address[1].strip())), None)
    return next((s for s in SIGNATURES if s.words.match(value)), None)


_WINDOWS = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)|\\\\")
_ANY_HOME = re.compile(r"/root|/(?:home|Users)/[^/]+|[A-Za-z]:/Users/[^/]+")
_HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders of the user that layouts refer to, empty if unknown.

    Without ``home``, ``/home/NAME``, ``/Users/NAME`` and ``/root`` are taken for homes.
    """

    home: str = ""
    codex_home: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The traces of one tool.

    Every pattern must match the entire text. Its group ``own`` is the tool's name for the
    candidate, ``full`` (optional) a longer form that tells more apart, ``task`` (optional) the part
    that candidates of one task share.

    - ``word``: the word before the own name in a label.
    - ``folders``, ``branches``, ``remotes``: patterns of the folder's spellings, of the branch, of
      the remote ref (``REMOTE/BRANCH``).
    - ``label``: the parts of the label; ``branch`` is the own name if the branch is not known.
    - ``only_with``: the pattern that a known branch must match for the folder to count.
    """

    tool: str
    word: str
    folders: tuple[re.Pattern[str], ...] = ()
    branches: tuple[re.Pattern[str], ...] = ()
    remotes: tuple[re.Pattern[str], ...] = ()
    label: Literal["tool and name", "name", "branch"] = "tool and name"
    only_with: re.Pattern[str] | None = None


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.DOTALL) for pattern in patterns)


_OWN = "(?P<own>[^/]+)"
_REST = "(?P<own>.+)"
# emdash appends five random characters to the user's name of the task.
_EMDASH = "(?P<own>(?P<task>[^/]+)-[a-z0-9]{5}|[^/]+)"
_COPILOT = r"copilot/(?P<own>.+)", r"(?:.*/)?copilot-worktree-(?P<own>.+)"

LAYOUTS: tuple[Layout, ...] = (
    Layout(
        "Claude Code",
        "claude",
        folders=_patterns(rf".*/\.claude/worktrees/{_OWN}"),
        branches=_patterns(rf"worktree-{_REST}", rf"claude/{_REST}"),
    ),
    Layout(
        "Codex",
        "codex",
        folders=_patterns(
            rf".*/\.codex/worktrees/(?P<own>{_HEX}+)/[^/]+",
            rf"\$CODEX_HOME/worktrees/(?P<own>{_HEX}+)/[^/]+",
        ),
        branches=_patterns(rf"codex/{_REST}"),
    ),
    Layout(
        "Cursor",
        "cursor",
        folders=_patterns(rf".*/\.cursor/worktrees/[^/]+/{_OWN}"),
        branches=_patterns(rf"cursor/{_REST}"),
    ),
    Layout(
        "Copilot",
        "copilot",
        folders=_patterns(rf".*/copilot-worktrees/[^/]+/{_OWN}"),
        branches=_patterns(*_COPILOT),
    ),
    # VS Code puts worktrees that people make by hand at the same place: the branch tells.
    Layout(
        "Copilot",
        "copilot",
        folders=_patterns(rf".*/[^/]+\.worktrees/(?:copilot-worktree-)?{_OWN}"),
        only_with=re.compile("|".join(_COPILOT).replace("?P<own>", "?:"), re.DOTALL),
    ),
    Layout("Kilo", "kilo", folders=_patterns(rf".*/\.kilo(?:code)?/worktrees/{_OWN}")),
    Layout(
        "Qwen Code",
        "qwen",
        folders=_patterns(rf".*/\.qwen/worktrees/{_OWN}"),
        branches=_patterns(rf"worktree/{_REST}", f"(?P<own>agent-{_HEX}{{7}})"),
    ),
    Layout(
        "emdash",
        "emdash",
        folders=_patterns(
            rf"~/emdash/worktrees/[^/]+/(?:.+/)?{_EMDASH}",
            rf".*/\.emdash/worktrees/[^/]+/(?:.+/)?{_EMDASH}",
        ),
        branches=_patterns(rf"emdash/{_EMDASH}"),
    ),
    Layout(
        "vibe-kanban",
        "vibe",
        folders=_patterns(
            rf".*/\.?vibe-kanban/worktrees/(?P<full>(?:vk-)?{_HEX}+-(?P<own>(?P<task>[^/]*)))(?:/[^/]+)?"
        ),
        branches=_patterns(f"vk/(?P<full>{_HEX}+-(?P<own>(?P<task>.*)))"),
    ),
    Layout(
        "Claude Squad",
        "claude-squad",
        folders=_patterns(rf".*/\.claude-squad/worktrees/(?P<own>.+)_{_HEX}+"),
        label="branch",
    ),
    Layout(
        "uzi",
        "uzi",
        folders=_patterns(r".*/\.local/share/uzi/worktrees/(?P<full>(?P<own>[^/-]+)(?:-[^/]*)?)"),
        label="name",
    ),
    Layout("container-use", "container", remotes=_patterns(rf"container-use/{_REST}")),
    Layout(
        "Conductor",
        "conductor",
        folders=_patterns(rf"~/conductor/workspaces/[^/]+/{_OWN}", rf".*/\.conductor/{_OWN}"),
        label="name",
    ),
    Layout(
        "opencode",
        "opencode",
        folders=_patterns(rf".*/opencode/worktree/{_HEX}+/{_OWN}"),
        branches=_patterns(rf"opencode/{_REST}"),
        label="name",
    ),
    Layout("worktrunk", "worktrunk", folders=_patterns(rf"\$REPOSITORY\.{_OWN}"), label="branch"),
)
"""The layouts, the more specific ones first."""


def parts_of(folder: str) -> tuple[str, ...]:
    r"""Return the parts of a path, also of a Windows path read elsewhere.

    >>> parts_of("/src/httpx/"), parts_of(r"C:\src\httpx")
    (('src', 'httpx'), ('C:', 'src', 'httpx'))
    """
    parts = re.split(r"[\\/]", folder) if is_windows(folder) else folder.split("/")
    return tuple(part for part in parts if part)


def spellings(folder: str, branch: str, repository: str, roots: Roots) -> tuple[str, ...]:
    """Return the texts of a folder that the patterns of `LAYOUTS` are matched with.

    - ``folder``, ``repository``: top folders of the candidate and of the repository's main
      checkout; either may be empty.
    - ``branch``: the candidate's branch, or empty. A folder beside the repository is spelled from
      the repository's name only if it ends in the branch (with ``-`` for ``/``).
    """
    parts = parts_of(folder)
    if not parts:
        return ()
    plain = "/".join(parts if is_windows(folder) else ("", *parts))
    texts = [plain]
    homes = [_below(folder, roots.home)] if roots.home else []
    if not roots.home and (match := _ANY_HOME.match(plain)):
        homes = [plain[match.end() :]]
    texts += [f"~{rest}" for rest in homes if rest.startswith("/")]
    texts += [f"$CODEX_HOME{rest}" for rest in [_below(folder, roots.codex_home)] if rest]
    beside = parts_of(repository)
    if beside and parts[:-1] == beside[:-1] and parts[-1].startswith(f"{beside[-1]}."):
        suffix = parts[-1].removeprefix(f"{beside[-1]}.")
        if suffix == re.sub(r"[\\/]", "-", branch):
            texts.append(f"$REPOSITORY.{suffix}")
    return tuple(texts)


def _below(folder: str, root: str) -> str:
    """Return what follows the root with its leading slash, or "" if the folder is not below
    it.
    """
    parts, above = parts_of(folder), parts_of(root)
    head = parts[: len(above)]
    if is_windows(folder):  # which is case-insensitive
        head, above = (tuple(part.casefold() for part in side) for side in (head, above))
    below = parts[len(above) :]
    return "/".join(("", *below)) if above and head == above and below else ""


def is_windows(folder: str) -> bool:
    """Return whether a path begins as Windows paths do, whatever this machine is."""
    return _WINDOWS.match(folder) is not None


_COMMIT_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Traces:
    """The known facts about a candidate before it is read, empty where unknown.

    - ``folder``: the absolute path of its worktree or folder.
    - ``branch``: its branch without ``refs/heads/``; empty when detached.
    - ``remote``: its remote ref without ``refs/remotes/`` (``origin/fix``), if it comes from one.
    - ``given``: its source's name for it: a patch's subject, a pull request's number, a client's
      label.
    - ``repository``: the top folder of the repository's main checkout.
    - ``trailers``: trailer lines of its own commits.
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

    - ``tool``: the tool, by layout or else by trailers (``Claude Code``).
    - ``own``: the candidate's name in the tool's layout; empty where only trailers name the tool.
    - ``task``: the part of the own name that all candidates of one task share.
    - ``forms``: labels for it from short to telling, without regard to other candidates; never
      empty.
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
        return Name(signature.tool, "", "", (text, f"{signature.word}-{text}"))
    return Name("", "", "", (text,))


def labels(
    candidates: Sequence[Traces], roots: Roots | None = None, shown: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Return a label for each candidate, one word: the shortest of its forms that no other one has.

    Candidates that would share a label all take the next longer form: with the tool, with the
    shortest distinguishing end of the path (entire parts, never cut inside one), with the kind of
    ref, with the commit. Those that nothing tells apart are numbered in their order.

    - ``candidates``: all candidates of one review.
    - ``roots``: folders of the user that layouts refer to.
    - ``shown``: how a label will be printed. Labels that look alike then (an escape character and
      the text of its escape), or differ in white space only, count as equal.
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
    texts += [f"{layout.word}-{own_name}", f"{layout.word}-{full_name}"]
    return Name(layout.tool, own_name, groups.get("task") or "", tuple(dict.fromkeys(texts)))


def _all_forms(traces: Traces, name: Name, length: int) -> tuple[str, ...]:
    """Return the name's forms, followed by longer ones for names that share a label.

    ``length`` is the number of parts that tell the folder from the others, or 0 without a folder.
    """
    first = name.forms[0]
    behind = []
    if length:
        ends = [_end(traces.folder, length), _end(traces.folder, length + 1)]
        behind = [*([] if name.own else ends), *(f"{first}@{end}" for end in ends)]
    elif traces.branch:
        behind = [f"{first}@heads/{traces.branch}"]
    elif traces.remote:
        behind = [f"{first}@remotes/{traces.remote}"]
    if traces.commit:
        behind.append(f"{behind[-1] if behind else first}-{traces.commit[:_COMMIT_DIGITS]}")
    return tuple(dict.fromkeys(map(_without_blanks, (*name.forms, *behind))))


_BLANKS = re.compile(r"[^\S\t-\r\x1c-\x1f\x85\u2028\u2029]+")


def _without_blanks(text: str) -> str:
    """Return a text with a hyphen for blanks, so that a label is one word of a command line.

    Tabs and line ends stay: they are shown by their escapes.
    """
    return _BLANKS.sub("-", text.strip(" ")) or "unnamed"


def _telling_lengths(folders: Sequence[str], shown: Callable[[str], str]) -> dict[str, int]:
    """Return how many of the last parts of each folder no other folder ends in."""
    ends = {
        folder: tuple(_look(part, shown) for part in reversed(parts_of(folder)))
        for folder in folders
        if folder.strip()
    }
    length = dict.fromkeys(ends, 1)
    for (before, first), (after, second) in pairwise(sorted(ends.items(), key=itemgetter(1))):
        common = common_start(first, second) + 1
        length[before] = max(length[before], common)
        length[after] = max(length[after], common)
    return length


def common_start(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many parts two sequences have in common before the first that differ."""
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
            label = f"{text}#{number}"
        seen.add(look)
        unique.append(label)
    return tuple(unique)


def _look(text: str, shown: Callable[[str], str]) -> str:
    return " ".join(shown(text).split())
