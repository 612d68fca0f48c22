"""The table of sources of candidates: for commands, servers and open documents alike."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

OriginChoice = Literal["saved", "head", "index"]
"""The setting: which text the revisions are compared with."""

CHOICES: tuple[OriginChoice, ...] = get_args(OriginChoice)

ENDINGS = (".patch", ".diff", ".mbox", ".eml", ".jsonl")
"""The names of files with patches end so."""

_PATCHES = (f"**/*.{{{','.join(ending[1:] for ending in ENDINGS)}}}",)


@dataclass(frozen=True, slots=True)
class Source:
    """One source: the words before the colon of its ids, and its function in ``sources/``.

    ``list_..`` lists candidates of a repository, for all; ``find..`` finds versions of one
    document, for editors. `watch` has globs of what the list depends on: below git's common folder,
    or below each of its folders, if it takes paths (`has_folders`), and not patterns. Servers take
    folders inside the workspace alone. `help` and `tool_help` (empty: the same) are about its
    option and its argument of a tool. Without help, commands and requests cannot choose it.
    """

    kinds: tuple[str, ...]
    function: str
    watch: tuple[str, ...] = ()
    help: str = ""
    tool_help: str = ""
    has_folders: bool = False


def _source(default: object, *about: Any, **more: Any) -> Any:  # noqa: ANN401 - of its default
    """Declare a setting with its default, and its `Source`."""
    return field(default=default, metadata={"source": Source(*about, **more)})


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The settings of the user, and the table of all sources: a new one is one file and one line.

    Options of commands, arguments of tools and fields of requests have the same words.

    - ``origin``: the text to compare revisions with, unless a better one is known.
    - ``worktrees``: take the file from the other worktrees, uncommitted changes included.
    - ``git``: what git has besides: branches, local and remote (``agent/*``, ``origin/pr-*``),
      fetched requests (``pull/75*``, ``#12``, ``!12``), full names of refs, tags, commits, ranges
      (``main..topic``). Patterns are those of ``git for-each-ref``; none: off.
    - ``conflicts``: take the sides of a conflicted file.
    - ``files``: globs of files beside the document. ``${file}``, ``${stem}`` and ``${extension}``
      are replaced by its name and the two parts of its name.
    - ``patches``: folders of patches, mailboxes, and agents' diffs or predictions, relative to a
      workspace folder.
    """

    origin: OriginChoice = "saved"
    worktrees: bool = _source(True, ("worktree",), "registry.list_checkouts", ("worktrees/**",))
    git: tuple[str, ...] = _source(
        (
            "refs/heads/**",
            "container-use/**",
            "origin/claude/**",
            "origin/codex/**",
            "origin/copilot/**",
        ),
        ("branch", "remote", "ref", "commit"),
        "registry.list_checkouts",
        ("refs/**", "packed-refs"),
        "Branches, pull requests (#12, pull/75*), tags, commits, ranges (main..topic).",
    )
    conflicts: bool = _source(True, ("conflict",), "conflicts.find")
    files: tuple[str, ...] = _source(
        ("${file}.suggestion-*", "${file}.orig", "${file}.rej"), ("file",), "beside.find_files"
    )
    patches: tuple[str, ...] = _source(
        (),
        ("patch",),
        "patches.list_patches",
        _PATCHES,
        "Patches, mailboxes, runs of agents and predictions (*.jsonl), of a file or folder.",
        "Folders of patches and runs of agents, below the folder.",
        has_folders=True,
    )


SOURCES: dict[str, Source] = {
    each.name: each.metadata["source"] for each in fields(SourceSettings) if each.metadata
}
CHOSEN = tuple(name for name, source in SOURCES.items() if source.help)
"""The sources that commands and requests choose."""
