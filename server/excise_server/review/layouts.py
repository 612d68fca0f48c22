"""A table of the places where tools put their worktrees, and of the names of their branches.

A folder is matched in each of its spellings: as it is with ``/`` between the parts, from the user's
home (``~/..``), from Codex' own folder (``$CODEX_HOME/..``) and, beside the repository, from the
repository's name (``$REPOSITORY.suffix``). Most patterns hold below any folder, so that a listing
made in a container or over SSH is read as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["LAYOUTS", "Layout", "Roots", "is_windows", "parts_of", "spellings"]

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

    Attributes
    ----------
    tool : str
        The tool's name for people.
    word : str
        The word before the own name in a label.
    folders, branches, remotes : tuple of re.Pattern
        Patterns of the folder's spellings, of the branch, of the remote ref (``REMOTE/BRANCH``).
    label : {'tool and name', 'name', 'branch'}
        The parts of the label; ``branch`` is the own name if the branch is not known.
    only_with : re.Pattern, optional
        The pattern that a known branch must match for the folder to count.
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

    Parameters
    ----------
    folder, repository : str
        Top folders of the candidate and of the repository's main checkout; either may be empty.
    branch : str
        The candidate's branch, or empty. A folder beside the repository is spelled from the
        repository's name only if it ends in the branch (with ``-`` for ``/``).
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
