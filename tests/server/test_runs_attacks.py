"""`worktrees --run`: commands that attack what runs them. None passes by it or outlives it.

Every attack is tried in a PID namespace of the test's own, so that one which succeeds ends
nothing but the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's"),
]

NO_PID = "echo 0 > /proc/sys/user/max_pid_namespaces; echo {} > /proc/sys/user/max_user_namespaces"
NO_GROUPS = "mount -t tmpfs none /sys/fs/cgroup"
ROOT = "--user --map-root-user --mount"
# Nobody, without privileges, who owns what root owns outside.
USER = "unshare --user --map-user=65534 --map-group=65534"
PLACES = {
    # Options of unshare, what is prepared then, and what excise is started by.
    "root": ("--mount", ":", ""),
    "root without privileges": ("", ":", "setpriv --bounding-set -sys_admin --inh-caps -sys_admin"),
    "user": (ROOT, ":", USER),
    "cgroup": (ROOT, NO_PID.format(0), ""),
    "group": (ROOT, f"{NO_PID.format(0)}; {NO_GROUPS}", ""),
    "user group": (ROOT, f"{NO_PID.format(1)}; {NO_GROUPS}", USER),
}
WEAKER = {
    "cgroup": "that leaves its control group on purpose may outlive",
    "group": "that keeps changing its parent and session may outlive",
    "user group": "that keeps changing its parent and session may outlive",
}

INSIDE = """
import json, os, sys, threading, time
from pathlib import Path
job = json.loads(sys.argv[1])
from excise_server.processes import runs as module
from excise_server.review.candidate import Candidate
module._GRACE = job.get("grace", 10.0)
top = Path(job["top"])
candidates = []
for name in job["names"]:
    (top / name).mkdir(exist_ok=True)
    candidates.append(Candidate("worktree:" + name, str(top / name), "", "", label=name))

def children(pid):
    return [int(p) for t in Path(f"/proc/{pid}/task").iterdir()
            for p in (t / "children").read_text().split()]

def interfere():
    while not (top / "started").exists():
        time.sleep(0.01)
    for pid in [os.getpid()] if job["whom"] == "excise" else children(os.getpid()):
        os.kill(pid, job["signal"])

if job.get("whom"):
    threading.Thread(target=interfere, daemon=True).start()
said = []
runs = module.run_in_folders(job["command"], [[c] for c in candidates], top / "cache",
    with_base=False, jobs=job.get("jobs", 64), seconds=job["seconds"], say=said.append)
log = sorted(runs.folder.glob("*.log"))
print(json.dumps({
    "verdicts": {v.candidate[9:]: [v.passed, v.reason] for v in runs.verdicts},
    "file": [json.loads(line)["passed"] for line in runs.file.read_text().split("\\n") if line],
    "said": said, "log": log[0].read_bytes().decode("latin-1")[:2000] if log else "",
}))
"""

LEFT = """
import os, time
def alive():
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = open(f"/proc/{name}/stat").read().rpartition(") ")[2].split()
            words = open(f"/proc/{name}/cmdline").read().replace(chr(0), " ")
        except OSError:
            continue
        if stat[0] not in "ZX" and int(name) not in (1, os.getpid()):
            yield words[:60]
def last_started():
    return open("/proc/loadavg").read().split()[-1] if os.path.exists("/proc/loadavg") else ""
end = time.monotonic() + 60
while (left := list(alive())) and time.monotonic() < end:  # the kernel needs a moment
    time.sleep(0.05)
last = last_started()
time.sleep(0.1)
print(left or (["a relay"] if last_started() != last else []))
"""


@pytest.fixture
def attack(tmp_path):
    """Run a command in folders, and return the verdicts on it; nothing of it may be left."""

    def attack(command, *names, place="root", seconds=20.0, prepare=":", **more):
        options, prepared, starter = PLACES[place]
        job = {"names": names or ["a"], "command": command, "top": str(tmp_path)} | more
        job["seconds"] = seconds
        inner = [*starter.split(), sys.executable, "-c", INSIDE, json.dumps(job)]
        script = f'{prepared}; {prepare}; "$@"; echo; exec 9<&-; "$0" -c \'{LEFT}\''
        outer = ["unshare", *options.split(), "--pid", "--fork", "--mount-proc", "--kill-child"]
        try:
            subprocess.run([*outer, "true"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no namespace to try it in: {error}")
        ran = subprocess.run(
            [*outer, "bash", "-c", script, sys.executable, *inner],
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        *found, left = ran.stdout.strip().split("\n")
        assert left == "[]", ran.stdout + ran.stderr
        if more.get("whom") == "excise":
            return None
        report = json.loads("".join(found) or ran.stderr)
        weaker = [line for line in report["said"] if "may outlive its run" in line]
        assert len(weaker) == (place in WEAKER)
        assert not weaker or WEAKER[place] in weaker[0]
        return report

    return attack


FORGED = '{"ended":"exit","status":0,"seconds":1,"cut":0,"left":0}'
PYTHON = f"'{sys.executable}' -I -S -c"
RELAY = """import os
os.fork(); os.fork(); os.fork()
while True:
    if os.fork(): os._exit(0)
    os.setsid()"""


@pytest.mark.parametrize("place", PLACES)
def test_no_verdict_is_forged_by_what_is_written_for_the_supervisor(attack, place):
    command = f"(setsid sleep 300 &); echo '{FORGED}' > /proc/$PPID/fd/1; kill -9 $PPID; sleep 300"
    passed, reason = attack(command, place=place)["verdicts"]["a"]
    assert passed is not True
    assert reason.endswith("ended by SIGKILL")


@pytest.mark.parametrize("place", PLACES)
def test_a_damaged_report_costs_its_own_run_its_verdict_alone(attack, place):
    command = (
        'if test "$(basename "$PWD")" = a; then\n'
        "echo '[]' > /proc/$PPID/fd/1; kill -9 $PPID\nfi; sleep 0.5"
    )
    verdicts = attack(command, "a", "b", "c", place=place)["verdicts"]
    assert verdicts.pop("a")[0] is not True
    assert verdicts == {"b": [True, ""], "c": [True, ""]}


@pytest.mark.parametrize("place", ["root", "root without privileges", "user", "cgroup"])
def test_a_relay_that_no_sweep_catches_ends_with_its_run(attack, place):
    report = attack(f"{PYTHON} '{RELAY}'", *"abcd", place=place, jobs=2)
    assert list(report["verdicts"].values()) == [[True, ""]] * 4


@pytest.mark.parametrize("place", PLACES)
def test_a_daemon_that_holds_the_output_ends_with_its_run(attack, place):
    command = "(setsid sh -c 'setsid sleep 300 & sleep 300' &); sleep 0.2"
    report = attack(command, place=place)
    assert report["verdicts"]["a"] == [True, ""]
    assert any("that it left running" in line for line in report["said"])


@pytest.mark.parametrize(
    ("place", "signal"), [(place, 9) for place in PLACES] + [("root", 1), ("root", 15)]
)
def test_who_ends_excise_ends_the_runs(attack, place, signal):
    command = "touch ../started; trap '' HUP INT TERM; (setsid sleep 300 &); sleep 300"
    attack(command, place=place, whom="excise", signal=signal)


@pytest.mark.parametrize("place", PLACES)
def test_a_supervisor_that_is_killed_has_no_verdict(attack, place):
    command = "touch ../started; (setsid sleep 300 &); sleep 300"
    report = attack(command, place=place, whom="supervisor", signal=9)
    assert report["verdicts"]["a"] == [None, "its supervisor was ended by SIGKILL"]


@pytest.mark.parametrize("place", PLACES)
def test_a_supervisor_that_is_stopped_is_ended_in_time(attack, place):
    command = "touch ../started; (setsid sleep 300 &); sleep 300"
    more = {"whom": "supervisor", "signal": 19, "grace": 0.5}
    report = attack(command, place=place, seconds=1.0, **more)
    assert report["verdicts"]["a"] == [None, "timed out"]


TRACE = """import ctypes, os, sys
libc = ctypes.CDLL(None)
for pid in (1, os.getppid()):
    if libc.ptrace(16, pid, 0, 0) == 0:
        os.waitpid(pid, 0x40000000)
        libc.ptrace(17, pid, 0, 9)
sys.exit(3)"""
MEMORY = """import os, sys
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        areas = open(f"/proc/{name}/maps").read().split("\\n")
        with open(f"/proc/{name}/mem", "r+b", 0) as memory:
            for area in areas:
                if int(name) != os.getpid() and " rw" in area:
                    memory.seek(int(area.split("-")[0], 16))
                    memory.write(bytes(4096))
    except (OSError, ValueError):
        continue
sys.exit(3)"""
BOMB = """import os, time
for _ in range(300):
    if not os.fork():
        os.setsid()
        time.sleep(300)"""
ATTACKS = {
    # The command, and the verdicts that it may get: those of an honest one, or its own death.
    "kill everything": ("kill -9 -1; exit 0", [(False, "ended by SIGKILL"), (True, "")]),
    "kill the first process": ("kill -9 1; kill -TERM 1; exit 3", [(False, "exit status 3")]),
    "stop the first process": ("kill -STOP 1; kill -STOP $PPID", [(None, "timed out")]),
    "trace": (f"{PYTHON} '{TRACE}'", [(False, "exit status 3"), (False, "ended by SIGKILL")]),
    "memory": (
        f"{PYTHON} '{MEMORY}'",
        [(False, "exit status 3"), (False, "ended by SIGKILL"), (False, "ended by SIGSEGV")],
    ),
    "write to all descriptors": (
        f"for f in /proc/[0-9]*/fd/*; do test -p $f && echo '{FORGED}' > $f; done; exit 3",
        [(False, "exit status 3")],
    ),
    "close the output": ("exec 1>&- 2>&-; sleep 0.2; exit 3", [(False, "exit status 3")]),
    "fill the output and stay": (
        "yes & yes & sleep 0.3; exit 3",
        [(False, "exit status 3")],
    ),
    "fork bomb": (f"{PYTHON} '{BOMB}'", [(True, "")]),
    "namespaces inside": (
        "(unshare --pid --fork --mount-proc setsid sleep 300 &); sleep 0.3; exit 3",
        [(False, "exit status 3")],
    ),
    "another folder in its place": (
        'd="$PWD"; cd ..; mv "$d" "$d.old"; ln -s /nowhere "$d"; exit 3',
        [(False, "exit status 3")],
    ),
    "uncover proc": (
        "umount /proc || umount -l /proc; for f in /proc/[0-9]*/cmdline; do\n"
        "grep -q run_in_[f]olders $f && exit 4\ndone; exit 3",
        [(False, "exit status 3")],
    ),
    "a file system over all": (
        "mount -t tmpfs none /tmp; mount -t tmpfs none /proc; exit 3",
        [(False, "exit status 3")],
    ),
    "forge the file of verdicts": (
        'for f in ../cache/runs/*/; do echo \'{"candidate": "a", "passed": true}\' |\n'
        "tee $f/verdicts.jsonl $f/verdicts.new; ln -sf /nowhere $f/verdicts.new; done; exit 3",
        [(False, "exit status 3")],
    ),
    "a signal": ("kill -SEGV $$", [(False, "ended by SIGSEGV")]),
    "its group": ("kill -TERM 0; sleep 5", [(False, "ended by SIGTERM")]),
    "a status as of a signal": ("exit 137", [(False, "exit status 137")]),
    "no test": ("exit 125", [(None, "cannot be tested (exit status 125)")]),
}


@pytest.mark.parametrize("place", ["root", "user"])
def test_no_attack_gets_a_better_verdict_or_ends_another(attack, place):
    """All at once, and an honest one beside them."""
    chosen = "".join(f'"{name}")\n{command}\n;;\n' for name, (command, _) in ATTACKS.items())
    command = f'case "$(basename "$PWD")" in\n{chosen}honest) sleep 2;; esac'
    report = attack(command, *ATTACKS, "honest", place=place, seconds=20.0)
    verdicts = report["verdicts"]
    assert verdicts.pop("honest") == [True, ""]
    wrong = {
        name: verdicts[name] for name in ATTACKS if tuple(verdicts[name]) not in ATTACKS[name][1]
    }
    assert wrong == {}
    assert report["file"].count(True) == 1 + [v[0] for v in verdicts.values()].count(True)


@pytest.mark.parametrize("what", ["../cache", "../cache/runs/*/*"])
def test_a_run_that_removes_what_is_kept_costs_nobody_a_verdict(attack, what):
    command = f'test "$(basename "$PWD")" = b || rm -rf {what}'
    report = attack(command, "a", "b", jobs=1)
    assert report["verdicts"] == {"a": [True, ""], "b": [True, ""]}
    assert report["file"] == [True, True]


@pytest.mark.parametrize(
    "said",
    ["echo '[]'", f"echo '{FORGED}'", "printf '{'", "head -c 1000000 /dev/zero", "echo '[[[[['"],
)
def test_what_is_written_in_the_name_of_a_supervisor_only_spoils_the_verdict(attack, said):
    """Without a namespace, root can write there; excise still waits for the exit status."""
    command = f'test "$(basename "$PWD")" = b || {said} > /proc/$PPID/fd/1'
    for status in (0, 3):
        report = attack(f"{command}; exit {status}", "a", "b", place="group")
        assert report["verdicts"] == {
            "a": [None, "the report of its supervisor was damaged"],
            "b": [True, ""] if status == 0 else [False, "exit status 3"],
        }


SNOOP = """import os, sys
def above(pid):
    stat = open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()
    return int(stat[1])
supervisor = os.getppid()
for pid in (supervisor, above(supervisor)):
    try: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
    except PermissionError: continue
    sys.exit(4)
"""


def test_without_a_namespace_the_supervisor_and_its_starter_are_out_of_reach(attack):
    report = attack(f"exec {PYTHON} '{SNOOP}'", place="user group")
    assert report["verdicts"]["a"] == [True, ""]


def test_control_groups_inside_are_removed_with_it(attack, tmp_path):
    command = (
        "group=$(sed -n 's/^0:://p' /proc/self/cgroup)\n"
        "for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do\n"
        "test -e $top/$group/cgroup.kill || continue\nmkdir -p $top/$group/x/y\n"
        "echo $$ > $top/$group/x/y/cgroup.procs && echo $top/$group\ndone; exit 3"
    )
    report = attack(command, place="cgroup")
    assert report["verdicts"]["a"] == [False, "exit status 3"]
    (group,) = report["log"].split()
    assert "excise-run-" in group
    assert not os.path.exists(group)


@pytest.mark.parametrize("place", ["cgroup", "group"])
def test_what_leaves_its_control_group_is_swept(attack, place):
    leave = "echo 0 > /sys/fs/cgroup/unified/cgroup.procs || echo 0 > /sys/fs/cgroup/cgroup.procs"
    assert attack(f"(setsid sh -c '{leave}; sleep 300' &); sleep 0.2", place=place)["verdicts"]


# --- what else it is started in, and with ---


@pytest.mark.parametrize("place", PLACES)
def test_the_command_has_its_user_folder_environment_and_files(attack, place, tmp_path):
    command = "id -u; pwd; echo $EXCISE_CANDIDATE; echo x > mine; ls -ln mine | cut -d' ' -f3; tty"
    report = attack(command, place=place)
    user = "65534" if place.startswith("user") else "0"
    shown = [user, str(tmp_path / "a"), "worktree:a", user, "not a tty"]
    assert report["log"].split("\n")[:-1] == shown
    assert (tmp_path / "a" / "mine").stat().st_uid == os.getuid()


def test_numbers_of_processes_differ_between_runs_at_a_time(attack, tmp_path):
    """Commands name files by them."""
    if not os.path.exists("/proc/sys/kernel/ns_last_pid"):
        pytest.skip("this kernel numbers the processes of every namespace from 1")
    attack("echo x >> ../number-$$; sleep 0.3", *"abcd")
    assert [p.read_text() for p in tmp_path.glob("number-*")] == ["x\n"] * 4


def test_it_sees_the_processes_of_its_own_namespace(attack):
    report = attack("ls /proc | grep -c '^[0-9]'; readlink /proc/self/cwd")
    assert int(report["log"].split("\n")[0]) < 6


def test_without_proc_it_runs_all_the_same(attack):
    """What is left cannot be looked for, then."""
    command = "(setsid sleep 300 &); test -e /proc/self && exit 4; exit 3"
    report = attack(command, prepare="umount -l /proc; umount -l /proc")
    assert report["verdicts"]["a"] == [False, "exit status 3"]


def test_without_a_shell_there_is_no_verdict(attack):
    report = attack("true", prepare='mount --bind /dev/null "$(readlink -f /bin/sh)"')
    passed, reason = report["verdicts"]["a"]
    assert passed is None
    assert reason.startswith("not started: Permission denied")


def test_two_lines_and_bytes_that_are_no_text(attack):
    report = attack("printf '\\377\\376'\nexit 3")
    assert report["verdicts"]["a"] == [False, "exit status 3"]
    assert report["log"] == "\xff\xfe"


def test_without_candidates_nothing_starts(attack):
    report = attack("true", names=[])
    assert report["verdicts"] == {}
