"""`--execute`: the tests of an item run against a hypothesis; no hostile one gets away.

Each attack is a program that reaches its end only if it succeeds. After each: no verdict later than
the time and little more, no process, not a byte outside.
"""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.server.command import excise
from tests.server.hostile_programs import (
    ABSENT,
    CALL,
    ENDLESS,
    FORGERIES,
    HONEST,
    NEWER_CALLS,
    PROGRAMS,
    REFUSED,
    SYSTEM_CALLS,
    TEST,
)
from tests.server.process_tree import DEADLINE, children, is_running, wait_until

import excise as excise_core
from excise_server.foundation.inputs import SourceError
from excise_server.processes import sandbox as module
from excise_server.processes.sandbox import TestOutcome as Outcome  # no class of tests
from excise_server.processes.sandbox import check_guards, run_all
from excise_server.records.lines import opened

pytestmark = pytest.mark.slow

try:
    check_guards()
except SourceError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)

TESTS = "def check(f):\n    assert f(2) == 3\n    assert f(-1) == 0\n\ncheck(f)\n"
GOOD = "def f(x):\n    return x + 1\n"
BAD = "def f(x):\n    return x\n"


def run(parts, seconds=20.0, command=None) -> Outcome:
    """Run one program."""
    [outcome] = run_all([parts], 1, seconds=seconds, command=command)
    return outcome


def test_what_passes_and_what_fails():
    hypotheses = {GOOD: "", BAD: "AssertionError", "def f(x:\n": "SyntaxError", "": "NameError"}
    for hypothesis, reason in hypotheses.items():
        parts = ["", "", hypothesis, TESTS]
        assert run(parts, seconds=60) == Outcome(not reason, reason)
    parts = ["import math\n", "K = 1\n", "def f(x):\n    return x + K + math.floor(0.5)\n", TESTS]
    assert run(parts, seconds=60).passed


# --- attacks ---

X86_64 = os.uname().machine == "x86_64"


def attack(code: str, *more: str, seconds: float = 20.0) -> Outcome:
    """Run a program; hold it to the time, and to leaving nothing that runs."""
    start = time.monotonic()
    verdict = run([CALL, code, *more], seconds=seconds)
    assert time.monotonic() - start < seconds + DEADLINE / 4
    wait_until(lambda: not sandboxed())
    return verdict


module.MEMORY += os.getpid()  # in the command line of each sandbox of this process


def sandboxed() -> list[int]:
    """Return the processes of this process's sandboxes."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"={module.MEMORY}\0".encode() in path.read_bytes():
                pids.append(int(path.parent.name))
    return pids


def all_below(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *all_below(child))]


@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_a_system_call_is_refused(name):
    (x86_64, aarch64), arguments = SYSTEM_CALLS[name]
    code = f"call(number({x86_64}, {aarch64}), {arguments})"
    assert attack(code) == Outcome(False, REFUSED)


@pytest.mark.parametrize("name", NEWER_CALLS)
def test_a_newer_system_call_is_not_there(name):
    number, arguments = NEWER_CALLS[name]
    code = f"try:\n    call({number}, {arguments})\nexcept OSError as error:\n"
    assert attack(code + "    assert error.errno != 38") == Outcome(False, "AssertionError")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_reach_its_end(name):
    code, reason = PROGRAMS[name]
    verdict = attack(code)
    assert not verdict.passed
    assert reason is None or verdict.reason == reason


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(name):
    assert attack(ENDLESS[name], seconds=1.0) == Outcome(False, "timeout")


@pytest.mark.parametrize("name", FORGERIES)
def test_no_verdict_is_forged_by_what_a_hypothesis_prints_writes_or_replaces(name):
    wrong = FORGERIES[name] + "\ndef f(x):\n    return x\n"
    assert not attack(wrong, TEST, seconds=3.0).passed
    inside = "def f(x):\n    " + FORGERIES[name].replace("\n", "\n    ") + "\n    return x\n"
    assert not attack(inside, TEST, seconds=3.0).passed


def test_what_no_process_of_its_own_could_tell_apart():
    """The limit, said in docs/evaluation.md: what lies to the tests passes them."""
    agreeable = "class Any:\n    def __eq__(self, other): return True\nf = lambda x: Any()\n"
    assert attack(agreeable, TEST).passed


@pytest.mark.skipif(not X86_64, reason="calls of other kinds exist on x86_64 alone")
@pytest.mark.parametrize("kind", ["x32", "32 bits"])
def test_calls_of_another_kind_end_the_process(kind):
    """Numbers mean other calls there, so that a filter by numbers would let them through."""
    x32 = "call(0x40000000 + 39)"
    # mov eax, 20 (getpid); int 0x80; ret
    compat = (
        "import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\n"
        "code.write(bytes.fromhex('b814000000cd80c3'))\n"
        "where = ctypes.addressof(ctypes.c_char.from_buffer(code))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(where)()"
    )
    assert attack(x32 if kind == "x32" else compat) == Outcome(False, "died")


def test_signals_to_the_watcher_do_nothing():
    code = (
        "for sender in (1, -1):\n    for n in range(1, 65):\n"
        "        try: os.kill(sender, n)\n        except OSError: pass\n"
    )
    good = code + "def f(x):\n    return x + 1\n"
    assert attack(good, TEST).passed
    assert attack(good, "assert f(2) == 4") == Outcome(False, "AssertionError")


def test_nothing_of_one_run_is_in_the_next():
    leave = "import builtins, random\nopen('x', 'w').write('y')\nbuiltins.left = 1\nrandom.seed(1)"
    assert attack(leave).passed
    assert attack("assert os.listdir('.') == []\nleft") == Outcome(False, "NameError")
    assert attack("assert not any('excise' in a for a in __import__('sys').argv)").passed


def test_terminals_fifos_and_folders_outside_are_out_of_reach(tmp_path):
    """All that is there to be written to, by whoever may: nothing of it is written to."""
    for folder in (tmp_path, *tmp_path.parents):
        with suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    fifo.chmod(0o666)
    near, far = pty.openpty()
    os.set_blocking(near, False)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        terminal = os.ttyname(far)
        os.chmod(terminal, 0o666)
        for path in (str(fifo), terminal):
            code = f"os.write(os.open({path!r}, os.O_WRONLY | os.O_NOCTTY), b'escaped')"
            assert attack(code) == Outcome(False, ABSENT)
        assert os.read(reader, 100) == b""
        with pytest.raises(BlockingIOError):
            os.read(near, 100)
    finally:
        for descriptor in (near, far, reader):
            os.close(descriptor)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o666)
    for code in ("open({new!r}, 'w')", "open({old!r}, 'w')", "os.unlink({old!r})",
                 "os.rename({old!r}, {new!r})", "os.chmod({old!r}, 0)"):  # fmt: skip
        outside = code.format(new=str(tmp_path / "new"), old=str(victim))
        assert attack(outside) == Outcome(False, ABSENT)
    assert victim.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["fifo", "victim"]


def test_what_computing_needs_is_there():
    """The guards take nothing from an honest program."""
    assert attack(HONEST).passed


# --- where a guard is missing, or an end comes from outside ---

CHECK = (
    "from excise_server.processes.sandbox import check_guards\n"
    "from excise_server.foundation.inputs import SourceError\n"
    "try:\n    check_guards()\nexcept SourceError as error:\n    print(error)\n"
)


@pytest.mark.parametrize("kind", ["user", "mnt", "uts", "pid", "net", "ipc"])
def test_without_a_guard_nothing_is_run_and_it_is_named(kind):
    """In a user namespace that may have no other of a kind, as containers are set up."""
    limit = f"echo 0 > /proc/sys/user/max_{kind}_namespaces && exec \"$0\" -c '{CHECK}'"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", limit, sys.executable]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no user namespace to try it in: {error}")
    assert "--execute cannot close off a run, so it runs nothing: " in ran.stdout


def test_without_bubblewrap_its_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PATH", str(tmp_path))
    ran = excise("eval", "-", *OPTIONS, "--execute", stdin=record(GOOD))
    assert ran.code == 2
    assert "--execute needs bwrap" in ran.err
    assert "install the package bubblewrap" in ran.err


UNPRIVILEGED = """
from excise_server.processes.sandbox import check_guards, run_all
check_guards()
print([each.reason for each in run_all([[""], ["import os; os.fork()"], ["open('/x', 'w')"]], 1)])
print([each.reason for each in run_all([["x"]], 1, command="grep -q x program && touch /usr/x")])
"""


def test_as_another_user_it_guards_the_same():
    """With this interpreter, handed on where the folders of root may hide it."""
    if os.geteuid() != 0:
        pytest.skip("the other tests run as another user already")
    as_user = "exec setpriv --reuid=1234 --regid=1234 --clear-groups --inh-caps=-all"
    roots = (Path(module.__file__).parents[2], Path(excise_core.__file__).parents[1])
    paths = [*map(str, roots), *filter(None, sys.path)]
    script = f'mount --bind "$0" /mnt && cd / && {as_user} /mnt/bin/python3 -c "$1"'
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, sys.base_prefix, UNPRIVILEGED],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(paths)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if "No module named 'excise_server'" in ran.stderr:
        pytest.skip("another user cannot read this checkout")
    assert ran.stdout == "['', 'PermissionError', 'OSError']\n['exit status 1']\n", ran.stderr


def test_on_an_unknown_machine_nothing_is_run():
    """A 32-bit personality: what `uname` tells is another machine, whose numbers nobody listed."""
    assert "does not know the system calls of i686" in checked_under("setarch", "i686")


def checked_under(*command: str) -> str:
    try:
        ran = subprocess.run(
            [*command, sys.executable, "-c", CHECK],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"{command[0]} does not work here: {error}")
    return ran.stdout


@pytest.mark.parametrize(
    ("rest", "judged"),
    [
        (b"passed " + b"w" * 16, ""),
        (b"passed " + b"w" * 17, "died"),
        (b"passed " + b"w" * 15, "died"),
        (b"passed passed " + b"w" * 16, "died"),
        (b" passed " + b"w" * 16, "died"),
        (b"failed KeyErrorpassed " + b"w" * 16, "died"),
        (b"failed KeyError", "KeyError"),
        (b"failed Secret", "died"),
        (b"failed \xff", "died"),
        (b"", "died"),
    ],
)
def test_a_report_means_what_all_of_its_bytes_say(rest, judged):
    report = b"started" + b"w" * 16 + rest
    assert module._outcome(report, 0, is_command=False) == Outcome(not judged, judged)
    with pytest.raises(SourceError, match="cannot close off a run"):
        module._outcome(rest, 0, is_command=False)


COMMAND = (sys.executable, "-c", "from excise_server.cli import main; raise SystemExit(main())")

OWNER = (
    "from excise_server.processes.sandbox import run_all\n"
    "print(list(run_all([['while True: pass']], 1, seconds=600)))\n"
)


def test_when_its_owner_is_killed_everything_ends():
    with subprocess.Popen([sys.executable, "-c", OWNER]) as owner:
        wait_until(lambda: len(all_below(owner.pid)) > 2)
        started = all_below(owner.pid)
        owner.kill()
    wait_until(lambda: not any(map(is_running, started)))


def test_what_is_not_waited_for_any_longer_ends():
    outcomes = run_all([[""], ["while True: pass"]], 2, seconds=600)
    assert next(outcomes).passed
    wait_until(sandboxed)
    outcomes.close()
    wait_until(lambda: not sandboxed())


def test_control_c_ends_the_command_and_all_it_runs(tmp_path):
    record = {"id": "t", "language": "python", "origin": "", "reference": "", "tests": "pass"}
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(record | {"hypothesis": "while True: pass"}))
    command = [
        *COMMAND,
        "eval",
        "--protocol",
        "correlation",
        str(data),
        "--execute",
        "--timeout",
        "600",
    ]
    running: list[int] = []

    def runs_on() -> bool:
        """Whether the same runs twice: the guards are tried on nothing first, which ends."""
        before, running[:] = running.copy(), all_below(ran.pid)
        time.sleep(0.5)
        return len(running) > 2 and before == running

    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as ran:
        try:
            wait_until(runs_on)
            os.killpg(ran.pid, signal.SIGINT)
            ran.wait(DEADLINE)
        finally:
            ran.kill()
    wait_until(lambda: not any(map(is_running, running)))


HEADERS = (
    "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "/usr/include/asm-generic/unistd.h",
)


@pytest.mark.parametrize("column", [0, 1])
def test_the_numbers_of_system_calls_are_those_of_the_kernel(column):
    """Of both machines, wherever the tests run: the generic header is that of aarch64."""
    try:
        header = Path(HEADERS[column]).read_text()
    except OSError:
        pytest.skip("the kernel's headers are not installed")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header)
    known = dict(lines)
    words = f"{module._REFUSED} {module._OF_PROCESSES}".split()
    calls = dict(zip(words[::3], words[1 + column :: 3], strict=True))
    named = {"_FCNTL": "fcntl", "_IOCTL": "ioctl", "_PRCTL": "prctl", "_PRLIMIT64": "prlimit64"}
    calls |= {call: str(getattr(module, name)[column]) for name, call in named.items()}
    calls["clone"] = str(module._CLONE[column])
    wrong = {call: number for call, number in calls.items() if known.get(call, "-") != number}
    assert wrong == {}


# --- the command ---------------------------------------------------------------------------------


def record(hypothesis: str, **more) -> str:
    base = {"id": "t", "language": "python", "origin": BAD, "reference": GOOD, "tests": TESTS}
    return json.dumps(base | {"hypothesis": hypothesis} | more) + "\n"


OPTIONS = ("--protocol", "correlation", "--measures", "em", "--bootstrap", "0")


def test_the_command_labels_and_correlates_and_says_that_it_runs_code(tmp_path):
    path = tmp_path / "labelled.jsonl"
    data = (
        record(GOOD, label=1) + record(BAD, label=1, count=2) + record("import os; os._exit(0)\n")
    )
    ran = excise(
        "eval", "-", *OPTIONS, "--execute", "--records", str(path), "--format", "json", stdin=data
    )
    assert ran.code == 0, ran.err
    assert "warning: --execute runs code from the records" in ran.err
    assert "1 agree with the label that was there, 2 do not" in ran.err
    counts = {"passed": 1, "failed": 3, "timed_out": 0, "agree": 1, "disagree": 2}
    assert ran.json["executed"] == counts
    assert ran.json["measures"]["em"]["pearson"] == pytest.approx(1.0)
    written = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    assert [(one["label"], one["verdict"]) for one in written] == [
        (1, "passed"),
        (0, "AssertionError"),
        (0, "died"),
    ]
    assert json.loads(record(GOOD, label=1)).items() <= written[0].items()


def test_what_timed_out_is_counted_by_its_name():
    data = record("while True: pass\n", count=2) + record(GOOD)
    ran = excise(
        "eval", "-", *OPTIONS, "--execute", "--timeout", "1", "--format", "json", stdin=data
    )
    assert ran.json["executed"]["failed"] == ran.json["executed"]["timed_out"] == 2
    assert "2 do not, of which 2 timed out" in ran.err


def test_without_being_asked_nothing_is_executed(tmp_path):
    marker = tmp_path / "ran"
    code = f"open({str(marker)!r}, 'w')\n"
    excise("eval", "-", *OPTIONS, stdin=record(code, label=1) + record(GOOD, label=0))
    assert not marker.exists()


def test_what_cannot_be_executed_is_named():
    data = record(GOOD) + record(BAD) + record(GOOD, language="java") + record(GOOD, tests=" ")
    data += record(GOOD, tests=3)
    ran = excise("eval", "-", *OPTIONS, "--execute", "--format", "json", stdin=data)
    assert ran.code == 1
    assert ran.json["not_executed"] == 3
    for part in (
        "line 3: no --execute LANGUAGE=COMMAND runs java",
        "line 4: 'tests' is missing",
        "line 5",
    ):
        assert part in ran.err


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_recorded_verdicts_are_reproduced(excise_data):
    """OctoCoder's outputs of forty items, in both verdicts, against what the data record."""
    with open(excise_data / "humanevalfix_python.jsonl", encoding="utf-8") as file:
        items = {item["id"]: item for item in map(json.loads, file)}
    checked = []
    with opened(str(excise_data / "labelled" / "hef_python_octocoder.jsonl")) as stream:
        for line in list(stream)[::4]:
            output = json.loads(line)
            item = items[output["id"]]
            parts = [item.get("import_", ""), item.get("test_setup", "")]
            found = run([*parts, output["revision"], item["tests"]], seconds=60)
            checked.append((found.passed, output["passed"]))
    assert len(checked) > 60
    assert {recorded for _, recorded in checked} == {True, False}
    assert all(found == recorded for found, recorded in checked)


# --- commands: other languages -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("grep -q '^two$' program", ""),
        ("exit 3", "exit status 3"),
        ("no-such-compiler program", "exit status 127"),
        ("kill -9 $$", "exit status 137"),
        ("sleep 60", "timeout"),
        ("(sleep 60 &); exec sleep 60", "timeout"),
        ("yes", "timeout"),
        ("yes | head -c 1000000000", ""),  # 1 GB of output, which nobody keeps
        ("yes > file", "exit status 153"),  # SIGXFSZ, at 64 MB
        ("cat < /dev/stdin; cat", ""),  # nothing to wait for
    ],
)
def test_a_command_has_the_verdict_of_its_exit_status(command, reason):
    seconds = 2 if reason == "timeout" else 60
    found = run(["one\n", "two\n"], seconds=seconds, command=command)
    assert found == Outcome(not reason, reason)


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "ls /home",
        "ls /sys",
        "cat /proc/self/status",
        "touch /usr/file",
        "echo > /dev/tcp",
        "mount -t tmpfs none /tmp",
        "unshare -U true",
        "mkfifo pipe && exit 1",
        "chmod 4755 program && test -u program && exit 1",
        "printf 'passed' >&3",
    ],
)
def test_a_command_cannot_get_out(command):
    found = run([""], seconds=10, command=f"({command}) 2>/dev/null")
    assert not found.passed


def test_whatever_a_record_holds_is_written_to_the_file():
    text = "\x00\ud800é\u2028" + "x" * 1_000_000
    size = len(text.encode("utf-8", "replace"))
    assert run([text], seconds=20, command=f"test $(wc -c < program) = {size}").passed
    endless = run(["x" * 70_000_000], seconds=20, command="true")  # above the 64 MB of a file
    assert not endless.passed


def test_a_command_cannot_fork_without_end():
    found = run([""], seconds=3, command="f() { f | f & }; f; sleep 60")
    assert not found.passed
    assert run([""], seconds=10, command="true").passed


def test_no_process_of_a_command_is_left():
    before = children(os.getpid())
    run([""], seconds=10, command="(setsid sleep 61 &) ; exit 0")
    wait_until(lambda: not any("sleep\x0061" in line for line in running_commands()))
    assert children(os.getpid()) == before


def running_commands():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text()


LANGUAGES = {
    "js": (
        "node",
        '(echo "console.assert = require(\\"assert\\");"; cat program) > t.js; node t.js',
        "const f = x => x + {};\n",
        "console.assert(f(2) === 3)\n",
    ),
    "cpp": (
        "g++",
        "g++ -x c++ program -o t && ./t",
        "int f(int x) {{ return x + {}; }}\n",
        "#undef NDEBUG\n#include <assert.h>\nint main() { assert(f(2) == 3); }\n",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages_are_labelled_by_a_command(tmp_path, language):
    program, command, text, tests = LANGUAGES[language]
    if not any(Path(folder, program).exists() for folder in ("/usr/bin", "/bin")):
        pytest.skip(f"no {program} in /usr/bin")
    common = {"language": language, "origin": "", "reference": "", "tests": tests}
    rows = [
        {"id": str(added), **common, "hypothesis": text.format(added), "label": int(added == 1)}
        for added in (1, 2)
    ]
    rows += [{"id": "go", **common, "language": "go", "hypothesis": ""}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = excise(
        "eval", str(path), "--protocol", "correlation", "--measures", "em", "--bootstrap", "0",
        "--format", "json", "--timeout", "60", "--execute", f"{language}={command}",
    )  # fmt: skip
    assert found.code == 1
    assert "LANGUAGE=COMMAND runs go" in found.err
    document = json.loads(found.out)
    assert document["executed"] == {
        "passed": 1, "failed": 1, "timed_out": 0, "agree": 2, "disagree": 0,
    }  # fmt: skip
    assert document["not_executed"] == 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--execute", "js=no-such-node program"), "there is no no-such-node in /usr"),
        (("--execute", "js"), "write LANGUAGE=COMMAND"),
        (("--execute", "klingon=true"), "write LANGUAGE=COMMAND"),
        (("--execute", "js= "), "write LANGUAGE=COMMAND"),
        (("--execute", "js=a", "--execute", "javascript=b"), "has one already"),
    ],
)
def test_a_command_that_cannot_run_is_refused_by_name(tmp_path, options, why):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "origin": "", "reference": "", "hypothesis": "", "label": 1}\n')
    found = excise("eval", str(path), "--protocol", "correlation", "--measures", "em", *options)
    assert found.code != 0
    assert why in found.err
