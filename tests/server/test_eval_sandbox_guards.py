"""The sandbox of `--execute` where a guard is missing, or an end comes from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.sandbox_processes import (
    children,
    children_of,
    running,
    wait_until,
    watchers,
)

from excise_server.evaluation.jail import processes, seccomp
from excise_server.evaluation.sandbox import MEMORY, Sandbox, Sandboxes, Verdict, check_guards
from excise_server.foundation.inputs import SourceError

pytestmark = pytest.mark.slow

try:
    check_guards()
except SourceError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)


@pytest.fixture(scope="module")
def sandbox():
    with closing(Sandbox()) as made:
        yield made


CHECK = (
    "from excise_server.evaluation.sandbox import check_guards\n"
    "from excise_server.foundation.inputs import SourceError\n"
    "try:\n    check_guards()\nexcept SourceError as error:\n    print(error)\n"
)


@pytest.mark.parametrize(
    ("namespaces", "guard"),
    [
        ("user", "user namespace"),
        ("mnt", "files"),
        ("uts", "name of the machine"),
        ("pid", "namespaces of a run"),
        ("net", "namespaces of a run"),
        ("ipc", "namespaces of a run"),
    ],
)
def test_without_a_guard_nothing_is_run_and_it_is_named(namespaces, guard):
    """In a user namespace that may have no other of a kind, as containers are set up."""
    limit = f"echo 0 > /proc/sys/user/max_{namespaces}_namespaces && exec \"$0\" -c '{CHECK}'"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", limit, sys.executable]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no user namespace to try it in: {error}")
    assert f"cannot guard {guard} (" in ran.stdout


def test_on_an_unknown_machine_nothing_is_run():
    """A 32-bit personality: what `uname` tells is another machine, whose numbers nobody listed."""
    assert "cannot guard system calls (" in checked_under("setarch", "i686")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone is not held to a limit of processes")
def test_who_is_root_and_nobody_else_starts_no_threads():
    """In a user namespace that knows root alone, the stranger would be root outside."""
    assert "cannot guard threads (" in checked_under("unshare", "--user", "--map-root-user")


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
        (b"passed " + b"w" * 16, {"passed": ""}),
        (b"passed " + b"w" * 17, {"failed": "died"}),
        (b"passed " + b"w" * 15, {"failed": "died"}),
        (b"passed passed " + b"w" * 16, {"failed": "died"}),
        (b" passed " + b"w" * 16, {"failed": "died"}),
        (b"failed KeyErrorpassed " + b"w" * 16, {"failed": "died"}),
        (b"failed KeyError", {"failed": "KeyError"}),
        (b"failed Secret", {"failed": "died"}),
        (b"failed \xff", {"failed": "died"}),
        (b"refused files", {"failed": "died"}),
        (b"", {"failed": "died"}),
    ],
)
def test_a_report_means_what_all_of_its_bytes_say(rest, judged):
    assert processes._judge(b"guarded " + b"w" * 16 + rest) == judged
    without_guards = {"refused": "files"} if rest == b"refused files" else {"failed": "died"}
    assert processes._judge(rest) == without_guards


COMMAND = (sys.executable, "-c", "from excise_server.cli import main; raise SystemExit(main())")

OWNER = (
    "import sys\nfrom excise_server.evaluation.sandbox import Sandbox\n"
    "sandbox = Sandbox()\nprint(sandbox._template.pid, flush=True)\n"
    "sandbox.run(['while True: pass'], seconds=600)\n"
)


def test_when_its_owner_is_killed_everything_ends():
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE) as owner:
        template = int(owner.stdout.readline())
        wait_until(lambda: children_of(children_of(template)))
        watcher = children_of(template)
        owner.kill()
    wait_until(lambda: not running(watcher))
    wait_until(lambda: not running(str(template)))


def test_when_its_template_is_killed_the_run_has_died():
    with closing(Sandbox()) as sandbox:
        verdicts: list[Verdict] = []
        thread = threading.Thread(
            target=lambda: verdicts.append(sandbox.run(["while True: pass"], seconds=30))
        )
        thread.start()
        wait_until(lambda: children(sandbox) and children_of(children(sandbox)))
        os.kill(sandbox._template.pid, 9)
        thread.join(10)
        assert verdicts == [Verdict(False, "died")]


def test_a_sandbox_that_ended_is_replaced():
    with closing(Sandboxes()) as sandboxes:
        assert sandboxes.run([""]).passed
        (broken,) = sandboxes._all
        os.kill(broken._template.pid, 9)
        wait_until(lambda: broken.closed)
        assert sandboxes.run([""]).passed
        assert len(sandboxes._all) == 2


def test_control_c_ends_the_command_and_all_it_runs(tmp_path):
    record = {"id": "t", "language": "python", "origin": "", "reference": "", "tests": "pass"}
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(record | {"hypothesis": "while True: pass"}))
    command = [*COMMAND, "eval", str(data), "--execute", "--timeout", "600"]
    watching: list[str] = []

    def runs_on() -> bool:
        """Whether the same is watched twice: the guards are tried on nothing first, which ends."""
        before, watching[:] = watching.copy(), watchers(ran.pid)
        time.sleep(0.5)
        return bool(watching) and before == watching

    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as ran:
        try:
            wait_until(runs_on)
            os.killpg(ran.pid, signal.SIGINT)
            ran.wait(20)
        finally:
            ran.kill()
    (watcher,) = watching
    wait_until(lambda: not running(watcher))


def test_memory_of_all_processes_is_limited_where_groups_can_be_had(sandbox):
    if not sandbox.memory_group:
        pytest.skip("no control group (version 2) that limits memory can be made here")
    assert int(Path(sandbox.memory_group, "memory.max").read_text()) < 1.2 * MEMORY
    assert str(sandbox._template.pid) in Path(sandbox.memory_group, "cgroup.procs").read_text()
    with closing(Sandbox()) as other:
        assert Path(other.memory_group).is_dir()
    assert not Path(other.memory_group).exists()


HEADERS = {
    1: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    2: "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("column", HEADERS)
def test_the_numbers_of_system_calls_are_those_of_the_kernel(column):
    """Of both machines, wherever the tests run: the generic header is that of aarch64."""
    try:
        header = Path(HEADERS[column]).read_text()
    except OSError:
        pytest.skip("the kernel's headers are not installed")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header)
    known = {{"fstatat": "newfstatat"}.get(name, name): number for name, number in lines}
    listed = [line for line in seccomp.ALLOWED.split("\n") if not line.startswith("#")]
    calls = [call.split() for call in " ".join(listed).split(",") if call.strip()]
    checked = [call for call in calls if call[column] != "-"]
    assert len(checked) > 100
    assert [call for call in checked if known.get(call[0]) != call[column]] == []
