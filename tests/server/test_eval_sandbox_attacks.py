"""Attacks on the sandbox of `--execute`: each a program that reaches its end only if it succeeds.

After each: no verdict later than the time and a second, no process, not a byte outside.
"""

from __future__ import annotations

import os
import pty
import stat
import time
from contextlib import closing, suppress

import pytest
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
    TESTS,
)
from tests.server.sandbox_processes import children

from excise_server.evaluation.sandbox import Sandbox, Verdict, check_guards
from excise_server.foundation.inputs import SourceError

pytestmark = pytest.mark.slow

try:
    check_guards()
except SourceError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)

X86_64 = os.uname().machine == "x86_64"


@pytest.fixture(scope="module")
def sandbox():
    with closing(Sandbox()) as made:
        yield made


def attack(sandbox: Sandbox, code: str, *more: str, seconds: float = 20.0) -> Verdict:
    """Run a program; hold it to the time, and to leaving nothing that runs."""
    start = time.monotonic()
    verdict = sandbox.run([CALL, code, *more], seconds=seconds)
    assert time.monotonic() - start < seconds + 1
    assert not sandbox.closed
    # The template reaps the watcher after it has ended, and with it everything.
    while children(sandbox):
        assert time.monotonic() - start < seconds + 10
        time.sleep(0.01)
    return verdict


@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_a_system_call_is_refused(sandbox, name):
    (x86_64, aarch64), arguments = SYSTEM_CALLS[name]
    code = f"call(number({x86_64}, {aarch64}), {arguments})"
    assert attack(sandbox, code) == Verdict(False, REFUSED)


@pytest.mark.parametrize("name", NEWER_CALLS)
def test_a_newer_system_call_is_not_there(sandbox, name):
    number, arguments = NEWER_CALLS[name]
    code = f"try:\n    call({number}, {arguments})\nexcept OSError as error:\n"
    assert attack(sandbox, code + "    assert error.errno != 38") == Verdict(
        False, "AssertionError"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_reach_its_end(sandbox, name):
    code, reason = PROGRAMS[name]
    verdict = attack(sandbox, code)
    assert not verdict.passed
    assert reason is None or verdict.reason == reason


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(sandbox, name):
    assert attack(sandbox, ENDLESS[name], seconds=1.0) == Verdict(False, "timeout")


@pytest.mark.parametrize("name", FORGERIES)
def test_no_verdict_is_forged_by_what_a_hypothesis_prints_writes_or_replaces(sandbox, name):
    wrong = FORGERIES[name] + "\ndef f(x):\n    return x\n"
    assert not attack(sandbox, wrong, TESTS, seconds=3.0).passed
    inside = "def f(x):\n    " + FORGERIES[name].replace("\n", "\n    ") + "\n    return x\n"
    assert not attack(sandbox, inside, TESTS, seconds=3.0).passed


def test_what_no_process_of_its_own_could_tell_apart(sandbox):
    """The limit, said in docs/evaluation.md: what lies to the tests passes them."""
    agreeable = "class Any:\n    def __eq__(self, other): return True\nf = lambda x: Any()\n"
    assert attack(sandbox, agreeable, TESTS).passed


@pytest.mark.skipif(not X86_64, reason="calls of other kinds exist on x86_64 alone")
@pytest.mark.parametrize("kind", ["x32", "32 bits"])
def test_calls_of_another_kind_end_the_process(sandbox, kind):
    """Numbers mean other calls there, so that a filter by numbers would let them through."""
    x32 = "call(0x40000000 + 39)"
    # mov eax, 20 (getpid); int 0x80; ret
    compat = (
        "import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\n"
        "code.write(bytes.fromhex('b814000000cd80c3'))\n"
        "where = ctypes.addressof(ctypes.c_char.from_buffer(code))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(where)()"
    )
    assert attack(sandbox, x32 if kind == "x32" else compat) == Verdict(False, "died")


def test_signals_to_the_watcher_do_nothing(sandbox):
    code = (
        "for sender in (1, -1):\n    for n in range(1, 65):\n"
        "        try: os.kill(sender, n)\n        except OSError: pass\n"
    )
    good = code + "def f(x):\n    return x + 1\n"
    assert attack(sandbox, good, TESTS).passed
    assert attack(sandbox, good, "assert f(2) == 4") == Verdict(False, "AssertionError")


def test_nothing_of_one_run_is_in_the_next(sandbox):
    leave = "import builtins, random\nopen('x', 'w').write('y')\nbuiltins.left = 1\nrandom.seed(1)"
    assert attack(sandbox, leave).passed
    assert attack(sandbox, "assert os.listdir('.') == []\nleft") == Verdict(False, "NameError")
    assert attack(sandbox, "assert not any('excise' in a for a in __import__('sys').argv)").passed


def test_terminals_fifos_and_folders_outside_are_out_of_reach(sandbox, tmp_path):
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
            assert attack(sandbox, code) == Verdict(False, ABSENT)
        assert os.read(reader, 100) == b""
        with pytest.raises(BlockingIOError):
            os.read(near, 100)
    finally:
        for descriptor in (near, far, reader):
            os.close(descriptor)
    new = f"open({str(tmp_path / 'new')!r}, 'w')"
    assert attack(sandbox, new) == Verdict(False, ABSENT)
    assert os.listdir(tmp_path) == ["fifo"]


def test_what_computing_needs_is_there(sandbox):
    """The guards take nothing from an honest program."""
    assert attack(sandbox, HONEST).passed
