"""Running git where everything in the repository may be hostile: its config, refs, links, names.

Only plumbing that reads is ever run (`ALLOWED`), but for the few commands that make a new branch
or commit to the one that is checked out (`WRITES`): they touch no working tree, and no index but
one that the caller made, or the repository's under git's own lock (`branches`). What merges and
writes the results does so in a scratch repository of ours (`SCRATCH`, `merges`). Nothing that a
repository's config can name is executed: there is no pager, hook, filter, file system monitor,
helper or textconv in these commands, and those that a later git might start are overridden. A
missing object is never fetched, because every transport is forbidden twice. No terminal, no prompt,
no lock is taken by what reads.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress

from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.processes.lifetime import start_tied, wait_for_end

ALLOWED = frozenset(
    {
        "cat-file",
        "check-attr",
        "check-ref-format",
        "config --get",
        "config --get-regexp",
        "diff-tree",
        "for-each-ref",
        "grep",
        "ls-files",
        "ls-tree",
        "merge-base",
        "rev-list",
        "rev-parse",
        "worktree list",
    }
)
"""The commands that `Git.run` takes without an index."""

WRITES = frozenset(
    {"commit-tree", "hash-object", "read-tree", "update-index", "update-ref", "write-tree"}
)
"""The commands that it takes with one."""

SCRATCH = frozenset({"cat-file", "diff-tree", "fast-import", "merge-tree", "version"})
"""The commands that it takes in a scratch repository of ours (`merges`), where nothing is lost."""

_WRITING = ("commit.gpgSign=false", "core.logAllRefUpdates=true", "core.splitIndex=false")
"""What is overridden in these, too: no program signs, and nothing is beside the index."""

MAX_OUTPUT = 110_000_000
"""The largest output of one call, far above that of any question."""

SECONDS = 60.0
"""After so many seconds a call hangs: work is bounded by bytes and counts, not by this."""

_TICK = 0.05

# The running processes, of all threads: an exit in a hurry must not leave them behind.
_running: set[subprocess.Popen[bytes]] = set()

_OVERRIDES = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.untrackedCache=false",
    "core.sshCommand=",
    "core.gitProxy=",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    "credential.helper=",
    "diff.external=",
    "diff.suppressBlankEmpty=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_FILES = {"core.attributesfile": "attributes", "core.excludesfile": "ignore"}
"""Settings that name a file, and its name below the user's folder where nothing is set."""

_READS_FILES = frozenset({"check-attr", "grep", "ls-files"})
"""The commands that read these files."""

_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES")
_SET = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OURS = {"GIT_ATTR_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""What is set in a scratch repository, too: neither the system nor the user configures it."""

_DROPPED = ("SSH_ASKPASS", "PAGER", "LANGUAGE")


class GitError(SourceError):
    """Git answered with an error."""


class NoRepositoryError(GitError):
    """The folder is in no repository."""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which git obeys only us and the user's own configuration.

    >>> "GIT_DIR" in clean_environment({"GIT_DIR": "/x"}), clean_environment({"HOME": "/h"})["HOME"]
    (False, '/h')
    """
    cleaned = {
        name: value
        for name, value in environment.items()
        if name not in _DROPPED and (not name.upper().startswith("GIT_") or name in _KEPT)
    }
    return cleaned | _SET


def find_git() -> str | None:
    """Return the git on PATH, ignoring relative entries, as they could name the workspace."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        executable = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(executable) and os.access(executable, os.X_OK):
            return executable
    return None


class Git:
    """Git in one folder.

    Raises SourceError if git is not installed.

    - ``is_bare``: whether the folder itself is a bare repository.
    - ``is_scratch``: whether it is a scratch repository of ours, which holds nothing of anybody.
    """

    def __init__(
        self,
        folder: str,
        *,
        executable: str | None = None,
        seconds: float | None = None,
        is_bare: bool = False,
        is_scratch: bool = False,
    ) -> None:
        """Find git without starting anything."""
        git = executable or find_git()
        if git is None:
            raise SourceError("git is not installed: no git on PATH", hint="install git")
        self.folder, self._executable = folder, git
        self._seconds = SECONDS if seconds is None else seconds
        self._bare = ["-c", "safe.bareRepository=all"] if is_bare else []
        self._is_scratch = is_scratch
        # What made one call hang would make all others hang: the calls that were given up.
        self._given_up: list[str] = []
        self._users: list[str] = []

    def at(self, folder: str) -> Git:
        """Return the same git in another folder."""
        git = Git(folder, executable=self._executable, seconds=self._seconds)
        git._given_up, git._users = self._given_up, self._users
        return git

    def scratch(self, folder: str) -> Git:
        """Return the same git in a scratch repository of ours."""
        return Git(folder, executable=self._executable, seconds=self._seconds, is_scratch=True)

    def _users_files(self) -> list[str]:
        """Return settings that name the user's files in place of those that a repository names.

        Raises SourceError if git would wait for one, or never end reading it.
        """
        if not self._users:
            pattern = f"^({'|'.join(map(re.escape, _FILES))})$"
            options = ("--get-regexp", "-z", "--show-scope", pattern)
            fields = self.run("config", *options, status=(0, 1)).split(b"\0")
            folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
            files = {key: os.path.join(folder, "git", name) for key, name in _FILES.items()}
            for scope, setting in zip(fields[::2], fields[1::2], strict=False):
                key, _, value = os.fsdecode(setting).partition("\n")
                if scope == b"global":
                    files[key] = os.path.join(self.folder, os.path.expanduser(value))
            for key, path in files.items():
                with suppress(OSError):
                    if not stat.S_ISREG(os.stat(path).st_mode) and path != os.devnull:
                        raise SourceError(f"{key} of your git names {path!a}: not a regular file")
            self._users += [part for each in files.items() for part in ("-c", "=".join(each))]
        return self._users

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        status: tuple[int, ...] = (0,),
        git_dir: str = "",
        warnings: list[str] | None = None,
        index: str = "",
        environment: Mapping[str, str] | None = None,
        common: str = "",
    ) -> bytes:
        """Return what a plumbing command prints.

        Raises NoRepositoryError if the folder is in no repository. Raises GitError if git fails or
        prints too much. Raises UnansweredError if it takes too long, or another call did.

        - ``status``: the exit statuses of success.
        - ``git_dir``: the repository, instead of the one that holds the folder.
        - ``warnings``: receives what git says of a command that succeeds, line by line.
        - ``index``: the file of the index of a command that writes, which is not the repository's.
        - ``environment``: what else such a command reads, as ``GIT_AUTHOR_NAME``.
        - ``common``: the folder of its config and objects, instead of the repository's.
        """
        words = 2 if arguments[0] in ("config", "worktree") else 1
        command = " ".join(arguments[:words])
        if command not in (WRITES if index else SCRATCH if self._is_scratch else ALLOWED):
            use = "make a branch" if index else "only read"
            raise ValueError(f"git {command} is not one of the commands that {use}")
        if self._given_up:
            raise UnansweredError(f"git {command} was not run: {self._given_up[0]}")
        line = [self._executable, "--no-pager"]
        for override in (*_OVERRIDES, *(_WRITING if index else ())):
            line += ["-c", override]
        line += self._users_files() if command in _READS_FILES and not self._is_scratch else ()
        own = {"GIT_INDEX_FILE": index, **(environment or {})} if index else {}
        own |= _OURS if self._is_scratch else {}
        own |= {"GIT_COMMON_DIR": common} if common else {}
        line += [*self._bare, *([f"--git-dir={git_dir}"] if git_dir else []), *arguments]
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
            with tempfile.TemporaryFile() as errors:
                source.write(stdin)
                source.seek(0)
                try:
                    process = start_tied(  # no shell; the path is absolute
                        line,
                        cwd=self.folder,
                        env=clean_environment(os.environ) | own,
                        stdin=source.fileno(),
                        stdout=out.fileno(),
                        stderr=errors.fileno(),
                        # Its own session: no terminal to ask on, and one group to end.
                        start_new_session=True,
                    )
                except (OSError, ValueError) as error:
                    raise GitError(f"git cannot be started: {error}") from error
                _running.add(process)
                try:
                    self._wait(process, command, out.fileno(), errors.fileno())
                finally:
                    _running.discard(process)
                errors.seek(0)
                message = errors.read(4000).decode("utf-8", "replace")
            out.seek(0)
            if process.returncode not in status:
                raise _failure(command, process.returncode, message)
            if warnings is not None:
                warnings += message.split("\n")
            return out.read()

    def _wait(self, process: subprocess.Popen[bytes], command: str, *outputs: int) -> None:
        """Wait for the end, and end it if it takes too long or prints too much."""
        end = time.monotonic() + self._seconds
        while process.returncode is None:
            wait_for_end(process, min(_TICK, end - time.monotonic()))
            if any(os.fstat(output).st_size > MAX_OUTPUT for output in outputs):
                _end(process)
                raise GitError(f"git {command} printed over {MAX_OUTPUT // 1_000_000} MB: stopped")
            if process.returncode is None and time.monotonic() >= end:
                _end(process)
                self._given_up.append(f"git {command} took over {self._seconds:g} s")
                raise UnansweredError(
                    f"{self._given_up[0]}: stopped", hint="try again when less else is running"
                )


def end_all() -> None:
    """End every running git, as the program is about to exit and needs no answers."""
    for process in list(_running):
        _kill(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _failure(command: str, status: int, message: str) -> GitError:
    """Return what git's refusal means to the user."""
    if message.startswith("setpriv: "):
        return GitError(f"git cannot be started: {message.strip().rpartition(': ')[2]}")
    if "not a git repository" in message:
        return NoRepositoryError("not in a git repository")
    if "must be run in a work tree" in message:
        return NoRepositoryError("inside the .git folder of a repository")
    if "cannot use bare repository" in message:
        return NoRepositoryError("in a bare repository, which has no working tree")
    if match := re.search(r"dubious ownership in repository at '(.+)'", message):
        return GitError(
            f"git refuses the repository at {match[1]}: another user owns it",
            hint="if you trust it: git config --global --add safe.directory PATH",
        )
    if re.search("tell me who you are|empty ident|unable to auto-detect email", message):
        hint = "git config --global user.name NAME; git config --global user.email MAIL"
        return GitError("git does not know who you are", hint=hint)
    lines = [line for line in message.split("\n") if line.startswith(("fatal: ", "error: "))]
    return GitError(f"git {command} failed: {lines[-1] if lines else f'exit status {status}'}")
