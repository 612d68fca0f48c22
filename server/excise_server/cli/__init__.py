"""The command `excise`: one module per command, and one place where errors become exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from excise_server.cli.streams import say, set_up_streams
from excise_server.foundation.escape import printable
from excise_server.foundation.streams import OutputError, open_streams
from excise_server.version import VERSION

# The summary of each command, whose module is imported when it is used, and not to list this.
COMMANDS = {
    "review": "What did they do, and which do I take? Runs if no command is named.",
    "take": "Give me that, so that it works: as one patch, or in my files.",
    "land": "These are different tasks: what lands together, in which order, what breaks?",
    "since": "What has changed since I looked?",
    "cluster": "Which of hundreds of patches are one issue, one edit?",
    "compare": "The numbers of a file's revisions: every pair, the order, what diverges.",
    "eval": "How good are the outputs of a system?",
    "serve": "Run the language server, for editors.",
    "mcp": "Serve candidates to agents (Model Context Protocol).",
    "demo": "Make a repository with eight worktrees, to try all of this on.",
}

# These parse their input in a fork: if a text ends the process, another fork starts again.
_PARSING = {"review", "take", "land", "cluster", "compare"}

EPILOG = """\b
Exit codes:
  0    done
  1    something was left out, or did not pass; each is named with its reason
  2    wrong usage, or an input that cannot be read at all
  70   an error of excise itself
  130  interrupted
  141  the reader of the output went away"""


def _with_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, which begin with ``review`` if they name no command.

    >>> _with_command([]), _with_command(["--git", "pull/*"]), _with_command(["--help"])
    (['review'], ['review', '--git', 'pull/*'], ['--help'])
    """
    own = {"-h", "--help", "--version"}
    if arguments and (arguments[0] in own or not arguments[0].startswith("-")):
        return list(arguments)
    return ["review", *arguments]


class _Commands(click.Group):
    """The commands, imported late."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"{__name__}.{cmd_name}"), "command")  # noqa: B009
        assert isinstance(command, click.Command)
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0].casefold(), COMMANDS)
            hint = (
                f"Did you mean {' or '.join(near)}?"
                if near
                else f"There are {', '.join(COMMANDS)}."
            )
            raise click.UsageError(f"No such command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click would exit silently with code 1
            raise _ReaderGoneError from error


class _ReaderGoneError(Exception):
    pass


@click.command(
    cls=_Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="excise", message="%(prog)s %(version)s")
def excise() -> None:
    """Several proposals for the same thing: which say the same, which differ, and where.

    Without a command, excise reviews the worktrees of the repository that you are in. Candidates
    are named alike everywhere: --git PATTERN for branches, pull requests (#12, pull/75*), tags and
    commits, --patches PATH for patches and mailboxes, --origin DIR for folders without git.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Errors are one line on standard error."""
    words = _with_command(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        open_streams()
    survives = words[0] in _PARSING or words[0] == "eval"
    if arguments is not None or not survives or os.name != "posix":
        return _main(words)
    from excise_server.processes.outlive import outlive, settle

    # Syntax is hundreds of thousands of objects that stay: to look for garbage among them again and
    # again took a sixth of a landing of 107 candidates, and found next to none.
    gc.set_threshold(100_000, 50, 50)
    if words[0] == "eval" or "--run" in (word.partition("=")[0] for word in words):
        # `begin_parsing` forks where they begin to parse: what ran before must not be repeated.
        code = _main(words, forks=True)
    else:
        outlive()
        code = _main(words)
    settle()
    return code


def _main(arguments: Sequence[str], forks: bool = False) -> int:
    set_up_streams()
    try:
        code = _run(arguments, forks)
        sys.stdout.flush()
        return code
    except (_ReaderGoneError, BrokenPipeError):
        code = 141
    except OutputError as error:
        say(f"cannot write to standard output: {error.strerror}")
        code = 1
    except KeyboardInterrupt:  # once the command is done: until then, click makes it an Abort
        return 130
    # The rest of the buffered output goes nowhere; the interpreter would complain at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _run(arguments: Sequence[str], forks: bool) -> int:
    try:
        code = excise.main(arguments, prog_name="excise", standalone_mode=False, obj=forks)
    except click.UsageError as error:
        if error.ctx is not None:
            hint = f"Try '{error.ctx.command_path} --help'."
            print(error.ctx.get_usage(), hint, sep="\n", file=sys.stderr)
        print(f"Error: {printable(error.format_message())}", file=sys.stderr)
        return error.exit_code
    except click.ClickException as error:
        say(error.format_message())
        return error.exit_code
    except MemoryError:
        say("not enough memory for texts of this size; give fewer or smaller ones")
        return 2
    except click.Abort:
        say("interrupted")
        return 130
    except (_ReaderGoneError, OutputError):
        raise
    except Exception as error:  # the last resort: a bug is also reported in one line
        from excise.errors import ExciseError
        from excise_server.foundation.inputs import SourceError, UnansweredError

        if isinstance(error, SourceError | UnansweredError | ExciseError):
            say(str(error))
            return 2
        for what, works in (("read standard input", lambda: os.read(0, 0)),
                            ("find the current folder", os.getcwd)):  # fmt: skip
            try:
                works()
            except OSError as reason:
                say(f"cannot {what}: {reason.strerror}")
                return 2
        if os.environ.get("EXCISE_TRACEBACK"):
            raise
        failure = f"{type(error).__name__}: {error}"
        say(f"internal error: {failure}; please report it, with what EXCISE_TRACEBACK=1 shows")
        return 70
    return code if isinstance(code, int) else 0
