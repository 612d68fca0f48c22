"""The command as a process of a terminal: nothing raw, no traceback, quiet ends, a fast start."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import unicodedata

import click
import pytest
from rich.console import Console
from tests.server.command import (
    ORIGIN,
    SUGGESTIONS,
    command_line,
    document,
    excise,
    plain_environment,
    spawn,
)
from tests.terminal import on_terminal

from excise_server.foundation.escape import printable, source_text
from excise_server.report.blocks import Cell, PageBlock, terminal

pytestmark = pytest.mark.slow

# All that a terminal may be told by us: colours, and on a progress bar the cursor and the line.
OURS = re.compile(r"\x1b\[[\d;]*m")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066\u200b\r\x08\x00".replace("\x00", "")


# --- escaping ------------------------------------------------------------------------------------


def test_every_character_that_is_obeyed_or_invisible_is_escaped():
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for code in range(0x110000):
        char = chr(code)
        hidden = unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        if hidden or unicodedata.bidirectional(char) in bidi or char in "\u200b\u200d\ufeff\xad":
            assert printable(char).isascii(), hex(code)
            assert printable(char).isprintable(), hex(code)
    for text in ("plain ASCII ~", "äöü ß 漢字 \U0001f600 العربية e\u0301", "\xa0"):
        assert printable(text) == text


def test_escapes_tell_which_character_it_was():
    assert printable("\t\n\r\x07\x1b\x7f\x9b") == "\\t\\n\\r\\x07\\x1b\\x7f\\x9b"
    assert printable("\u202e\u2028\ufeff\udcff") == "\\u202e\\u2028\\ufeff\\udcff"
    assert printable("\U000e0041") == "\\U000e0041"


def test_source_text_keeps_its_lines_and_shows_its_tabs():
    assert source_text("a\n\tb\x0c\u2028c\n") == "a\n→   b\\x0c\\u2028c\n"


@pytest.mark.parametrize(
    "command", [("compare",), ("compare", "--clusters"), ("compare", "--explain")]
)
@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_hostile_texts_and_ids_are_inert(command, options):
    hostile = document(f"x = 1 # {HOSTILE}\n") | {
        "language": HOSTILE,
        "revisions": [
            {"id": f"[red]{HOSTILE}", "text": f"x = 2\t# {HOSTILE}{HOSTILE}\n"},
            {"id": f"b{HOSTILE}", "text": f"{HOSTILE}\n"},
        ],
    }
    for ran in (
        excise(*command, "-", *options, stdin=hostile),
        excise(*command, "-", *options, stdin=hostile | {"origin": f"{HOSTILE}\0"}),
    ):
        for char in ran.out + ran.err:
            assert char in "\n\t" or printable(char) == char
    if not options:
        assert "[red]" in "".join(excise(*command, "-", stdin=hostile).out.split())


def test_hostile_words_of_the_command_line_are_inert(tmp_path):
    path = str(tmp_path / HOSTILE)
    for arguments in (
        ("compare", ORIGIN, path),
        ("compare", path, ORIGIN),
        ("eval", path),
        (path,),
        ("compare", f"--{HOSTILE}"),
        ("compare", ORIGIN, ORIGIN, "--encoding", HOSTILE),
        ("compare", ORIGIN, ORIGIN, "--measure", HOSTILE),
        ("eval", path, "--format", "jsonl"),
    ):
        ran = excise(*arguments)
        assert ran.code > 0
        assert ran.err
        for char in ran.out + ran.err:
            assert char in "\n\t" or printable(char) == char


def test_on_a_terminal_there_are_colours_and_nothing_else_of_the_kind():
    shown = on_terminal("compare", "--explain", ORIGIN, *SUGGESTIONS[:2])
    assert OURS.search(shown)
    rest = OURS.sub("", shown)
    assert "region 1 of 4" in rest
    assert "\x1b" not in rest
    assert max(map(len, rest.replace("\r", "").split("\n"))) <= 80


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_declined(env):
    shown = on_terminal("compare", ORIGIN, *SUGGESTIONS, env=env)
    assert not re.search(r"\x1b\[[\d;]*3\d", shown)


def test_without_a_terminal_there_are_no_colours_and_no_blanks_at_line_ends():
    for command in (("compare",), ("compare", "--clusters")):
        out = spawn(*command, ORIGIN, *SUGGESTIONS, env=plain_environment()).stdout.decode()
        assert "\x1b" not in out
        assert " \n" not in out


def test_a_narrow_encoding_gets_something_plain():
    env = plain_environment(PYTHONIOENCODING="ascii")
    out = spawn("compare", "--clusters", ORIGIN, *SUGGESTIONS[:2], env=env).stdout
    assert re.search(rb"(?m)^   \* .*suggestion-ada$", out)
    assert b"\\u" not in out


# --- progress ------------------------------------------------------------------------------------


def test_a_bar_is_shown_on_a_terminal_when_its_time_has_come():
    code = (
        "import sys; from excise_server.cli import progress\n"
        "progress.DELAY = 0\n"
        "with progress.progress('Scoring', 3) as advance:\n"
        "    advance(1)\n"
        "    sys.stdin.read()\n"  # until the bar has been seen
    )
    ours, theirs = pty.openpty()
    env = plain_environment(TERM="xterm", COLUMNS="80")
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=theirs, env=env
    ) as process:
        shown = b""
        while b"Scoring" not in shown:
            shown += os.read(ours, 65536)
        process.communicate(timeout=60)
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0


def test_no_bar_without_a_terminal():
    assert spawn("compare", ORIGIN, *SUGGESTIONS).stderr == b""


# --- ends ----------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error():
    record = {"id": 1, "origin": "a", "reference": "b", "hypothesis": "c"}
    line = (json.dumps(record) + "\n").encode()
    with subprocess.Popen(
        command_line("eval", "-", "--format", "jsonl"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        try:
            process.stdin.write(line * 100)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_output_that_cannot_be_written_at_the_end_is_no_error_either():
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        command_line("compare", ORIGIN, *SUGGESTIONS, "--format", "json"),
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(write)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_an_interrupt_ends_quietly_with_130():
    with subprocess.Popen(
        command_line("eval", "-", "--format", "jsonl"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"[]\n")
        process.stdin.flush()
        assert process.stdout.readline()  # it runs, and waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130  # before its input ends, which would end it, too
        assert b"Traceback" not in process.stderr.read()


def test_an_interrupt_after_the_command_is_as_quiet(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("excise_server.cli._run", interrupted)
    ran = excise("compare", ORIGIN, ORIGIN)
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_an_error_of_ours_is_one_line(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("\x1b[31m")

    monkeypatch.setattr("excise_server.cli.inputs.read_revisions", broken)
    ran = excise("compare", ORIGIN, ORIGIN)
    assert ran.code == 70
    assert ran.err.startswith("excise: internal error: ZeroDivisionError: \\x1b[31m; please report")
    assert ran.err.count("\n") == 1
    monkeypatch.setenv("EXCISE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        excise("compare", ORIGIN, ORIGIN)


# --- start ---------------------------------------------------------------------------------------

NOTHING_HEAVY = {"excise", "rich", "pygls", "lsprotocol", "email.message", "importlib.metadata"}
OF_REPOSITORIES = {f"excise_server.{name}" for name in ("git.repository", "cli.patches", "queue")}


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (("--help",), NOTHING_HEAVY),
        (("--version",), NOTHING_HEAVY),
        (("eval", "--help"), {"excise.evaluation", "numpy", "rich"}),
        (
            *[("compare", ORIGIN, ORIGIN, ORIGIN, "--measure", "del:p")],
            {"sklearn", "scipy", "numpy", "pygls", "lsprotocol"},
        ),
        (
            ("eval", "-", "--format", "jsonl"),
            {"sklearn", "scipy", "numpy", "rich", "pygls", "lsprotocol"},
        ),
        (("compare", ORIGIN, ORIGIN, "--format", "json"), {"sklearn", "scipy", "rich", "pygls"}),
        (
            ("compare", "--clusters", *[ORIGIN] * 3, "--format", "json"),
            {"sklearn", "scipy", "pygls"} | OF_REPOSITORIES,
        ),
    ],
    ids=["help", "version", "help of eval", "directed", "score lines", "compare", "clusters"],
)
def test_what_is_not_needed_is_not_imported(arguments, never):
    line = command_line(*arguments)
    line[2] = line[2].replace(
        "sys.exit(main())", "code = main(); print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run(line, capture_output=True, input=b"", timeout=60)
    assert ran.returncode == 0
    assert never & set(ran.stderr.decode().split()) == set()


def test_help_and_version():
    ran = excise("--help")
    assert ran.code == 0
    for command in ("review", "take", "compare", "eval", "cluster", "serve"):
        assert f"\n  {command} " in ran.out
        for_one = excise(command, "--help")
        assert for_one.code == 0
        assert "Exit codes:" not in for_one.out
    assert "130  interrupted" in ran.out
    assert re.fullmatch(r"excise \d+\.\d+\.\d+\n", excise("--version").out)
    assert "No such command 'nonsense'. There are review, take" in excise("nonsense").err
    assert "No such command 'Reveiw'. Did you mean review?" in excise("Reveiw").err
    assert "Did you mean" in excise("review", "--formt", "json").err


def test_without_a_command_candidates_are_reviewed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert excise().err == excise("review").err != ""
    assert excise("--git", "agent/*").err == excise("review", "--git", "agent/*").err


def test_the_table_of_commands_says_what_each_says_of_itself():
    from excise_server.cli import COMMANDS
    from excise_server.cli import excise as group

    context = click.Context(group)
    assert group.list_commands(context) == list(COMMANDS)
    for name, line in COMMANDS.items():
        assert group.get_command(context, name).get_short_help_str(limit=99) == line
        assert f"  {name} " in excise("--help").out


@pytest.mark.parametrize("columns", [20, 40, 400])
def test_few_columns_lose_no_cell(columns):
    rows = [[Cell(head) for head in ("revision", "makers", "tokens", "size", "notes")]]
    for row in range(3):
        cells = (Cell(f"{row}.{cell}", "number") for cell in range(4))
        rows.append([Cell("a" * 30 + str(row)), *cells])
    out = Console(file=io.StringIO(), force_terminal=True, width=columns, color_system=None)
    for line in terminal([PageBlock("table", rows=rows)], out):
        out.print(line)
    # A word without a style is cut as well.
    for line in terminal([PageBlock("text", cells=[Cell("a" * 2 * columns), Cell("b")])], out):
        out.print(line)
    printed = out.file.getvalue()
    assert re.findall(r"\d\.\d", printed) == [f"{r}.{c}" for r in range(3) for c in range(4)]
    assert max(map(len, printed.split("\n"))) <= columns
