"""The command `excise`: one module per command, and one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import click

from excise_server.cli.streams import say, set_up_streams
from excise_server.foundation.escape import printable
from excise_server.version import VERSION

# The summary of each command, whose module is imported when it is used, and not to list this.
COMMANDS = {
    "score": "Score a hypothesis against a reference.",
    "matrix": "Compare every pair of revisions of a file.",
    "rank": "Order the revisions of a file: first the edit that most make.",
    "explain": "Show where two revisions of a file diverge.",
    "cluster": "Group patches, or revisions of a file, that are alike.",
    "duplicates": "Find patches that may be about the same issue.",
    "review": "Show what candidates did, for deciding, or their hunks side by side.",
    "land": "Put candidates of different tasks together, and say what fits.",
    "take": "Put together what you choose of candidates, as one patch.",
    "eval": "Correlate measures with a label, on your own data.",
    "serve": "Run the language server.",
    "mcp": "Serve candidates to agents (Model Context Protocol).",
}

# These parse their input in a fork: if a text ends the process, another fork starts again.
_PARSING = {"score", "matrix", "rank", "explain", "cluster", "review", "take", "land"}

EPILOG = """\b
Exit codes:
  0    everything was scored
  1    some records or revisions could not be scored; each is named with its reason
  2    wrong usage, or an input that cannot be read at all
  70   an error of excise itself
  130  interrupted
  141  the reader of the output went away"""


class _Commands(click.Group):
    """The commands, imported late."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"{__name__}.{cmd_name}"), "command")  # noqa: B009
        assert isinstance(command, click.Command)
        command.epilog, command.short_help = EPILOG, COMMANDS[cmd_name]
        return command

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
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="excise", message="%(prog)s %(version)s")
@click.pass_context
def excise(ctx: click.Context) -> int:
    """Score revisions of a file: which say the same, which differ, and where.

    Every scoring command takes files and prints for people; with --json, for programs
    (docs/json.md). Language and tokeniser follow from the file names unless --language is given.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return 2
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Errors are one line on standard error."""
    if arguments is not None or not _PARSING.intersection(sys.argv[1:2]) or os.name != "posix":
        return _main(arguments)
    from excise_server.processes.outlive import outlive, settle

    if "--run" in {argument.partition("=")[0] for argument in sys.argv}:
        # `begin_parsing` forks after the user's command, which another fork must not repeat.
        code = _main(arguments, before_parsing=outlive)
    else:
        outlive()
        code = _main(arguments)
    settle()
    return code


def _main(
    arguments: Sequence[str] | None, before_parsing: Callable[[], None] = lambda: None
) -> int:
    set_up_streams()
    try:
        code = _run(arguments, before_parsing)
        sys.stdout.flush()
    except (_ReaderGoneError, BrokenPipeError):
        # Nobody reads the buffered output; the interpreter would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:  # once the command is done: until then, click makes it an Abort
        return 130
    return code


def _run(arguments: Sequence[str] | None, before_parsing: Callable[[], None]) -> int:
    try:
        code = excise.main(arguments, prog_name="excise", standalone_mode=False, obj=before_parsing)
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
        return 130
    except _ReaderGoneError:
        raise
    except Exception as error:  # the last resort: a bug is also reported in one line
        from excise.errors import ExciseError
        from excise_server.foundation.inputs import SourceError, UnansweredError

        if isinstance(error, SourceError | UnansweredError | ExciseError):
            say(str(error))
            return 2
        if os.environ.get("EXCISE_TRACEBACK"):
            raise
        failure = f"{type(error).__name__}: {error}"
        say(f"internal error: {failure}; please report it, with what EXCISE_TRACEBACK=1 shows")
        return 70
    return code if isinstance(code, int) else 0
