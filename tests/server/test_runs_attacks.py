"""`--run`: commands that attack what runs them, or leave something. Nothing outlives its run.

Every attack is tried in a PID namespace of the test's own, so that one which succeeds ends
nothing but the test.
"""

import json
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's"),
]

NONE = "echo 0 > /proc/sys/user/max_{}_namespaces"
ROOT = "--user --map-root-user --mount"
# Nobody, without privileges, who owns what root owns outside.
USER = "unshare --user --map-user=65534 --map-group=65534"
PLACES = {
    # Options of unshare, what is prepared then, and what excise is started by.
    "root": ("--mount", ":", ""),
    "root without privileges": ("", ":", "setpriv --bounding-set -sys_admin --inh-caps -sys_admin"),
    "user": (ROOT, ":", USER),
    "root without namespaces": (ROOT, NONE.format("pid"), ""),
    "user without namespaces": (ROOT, f"{NONE.format('pid')}; {NONE.format('user')}", ""),
}
HELD = ("root", "root without privileges", "user")

INSIDE = """
import json, os, sys, threading, time
from excise_server.processes import runs as module
job = json.loads(sys.argv[1])
def end_when_started():
    while not os.path.exists(job["top"] + "/started"):
        time.sleep(0.01)
    os.kill(os.getpid(), job["signal"])
if job["signal"]:
    threading.Thread(target=end_when_started, daemon=True).start()
ended = module.run(job["command"], job["top"], seconds=job["seconds"], candidate="worktree:a")
output = ended.output.decode("latin-1")
print(json.dumps([ended.passed, ended.reason, output, module.holder()[1]]))
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
    return open("/proc/loadavg").read().split()[-1]
end = time.monotonic() + (60 if PATIENT else 0)
while (left := list(alive())) and time.monotonic() < end:  # the kernel needs a moment
    time.sleep(0.05)
last = last_started()
time.sleep(0.1)
print(left or (["a relay"] if last_started() != last else []))
"""


def attack(command, tmp_path, place="root", *, seconds=20.0, signal=0, leaves=False):
    """Run a command; return whether it passed, why not, and what it printed."""
    options, prepared, starter = PLACES[place]
    job = {"command": command, "top": str(tmp_path), "seconds": seconds, "signal": signal}
    inner = [*starter.split(), sys.executable, "-c", INSIDE, json.dumps(job)]
    left = LEFT.replace("PATIENT", str(not leaves))
    script = f'{prepared}; "$@"; echo; exec 9<&-; "$0" -c \'{left}\''
    outer = ["unshare", *options.split(), "--pid", "--fork", "--mount-proc", "--kill-child"]
    try:
        subprocess.run([*outer, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no namespace to try it in: {error}")
    ran = subprocess.run(
        [*outer, "bash", "-c", script, sys.executable, *inner],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    *found, last = ran.stdout.strip().split("\n")
    assert (last != "[]") == leaves, ran.stdout + ran.stderr
    if signal:
        return None
    passed, reason, output, weaker = json.loads(found[0] if found else ran.stderr)
    assert ("may outlive its run" in weaker) == (place not in HELD), weaker
    return passed, reason, output


PYTHON = f"'{sys.executable}' -I -S -c"
RELAY = """import os
os.fork(); os.fork(); os.fork()
while True:
    if os.fork(): os._exit(0)
    os.setsid()"""


@pytest.mark.parametrize("place", HELD)
def test_a_relay_that_no_sweep_catches_ends_with_its_run(tmp_path, place):
    assert attack(f"{PYTHON} '{RELAY}'", tmp_path, place)[0] is True


@pytest.mark.parametrize("place", PLACES)
def test_a_daemon_that_holds_the_output_ends_with_its_run_or_that_was_said(tmp_path, place):
    command = "(setsid sh -c 'setsid sleep 300 & sleep 300' &); sleep 0.2"
    assert attack(command, tmp_path, place, leaves=place not in HELD)[0] is True


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("harm", ["kill -9 $PPID; sleep 300", "trap '' TERM; sleep 300"])
def test_what_does_not_end_has_no_good_verdict_and_ends(tmp_path, place, harm):
    passed, _, _ = attack(f"sleep 301 & {harm}", tmp_path, place, seconds=1.0)
    assert passed is not True


@pytest.mark.parametrize(("place", "signal"), [*((p, 9) for p in HELD), ("user", 1), ("user", 15)])
def test_who_ends_excise_ends_the_run(tmp_path, place, signal):
    command = "touch started; trap '' HUP INT TERM; (setsid sleep 300 &); sleep 300"
    attack(command, tmp_path, place, signal=signal)


TRACE = """import ctypes, os, sys
libc = ctypes.CDLL(None)
for pid in (1, os.getppid()):
    if libc.ptrace(16, pid, 0, 0) == 0:
        os.waitpid(pid, 0x40000000)
        libc.ptrace(17, pid, 0, 9)
sys.exit(3)"""
BOMB = """import os, time
for _ in range(300):
    if not os.fork():
        os.setsid()
        time.sleep(300)"""
ATTACKS = {
    # The command, and whether it may pass.
    "kill everything": ("kill -9 -1; exit 3", False),
    "kill the first process": ("kill -9 1; kill -TERM 1; exit 3", False),
    "stop the first process": ("kill -STOP 1; kill -STOP $PPID; exit 3", False),
    "trace": (f"{PYTHON} '{TRACE}'", False),
    "close the output": ("exec 1>&- 2>&-; sleep 0.2; exit 3", False),
    "fill the output and stay": ("yes & yes & sleep 0.3; exit 3", False),
    "fork bomb": (f"{PYTHON} '{BOMB}'", True),
    "namespaces inside": (
        "(unshare -pf --mount-proc setsid sleep 300 &); sleep 0.3; exit 3",
        False,
    ),
    "uncover proc": ("umount /proc; ls /proc | grep -c '^[0-9]' && exit 3", False),
    "its group": ("kill -TERM 0; exit 3", False),
    "a signal": ("kill -SEGV $$", False),
}


@pytest.mark.parametrize("place", ["root", "user"])
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_gets_a_better_verdict_or_outlives_its_run(tmp_path, place, name):
    command, may_pass = ATTACKS[name]
    assert attack(command, tmp_path, place)[0] in ((True,) if may_pass else (False, None))


@pytest.mark.parametrize("place", PLACES)
def test_the_command_has_its_user_folder_environment_and_files(tmp_path, place):
    command = "id -u; pwd; echo $EXCISE_CANDIDATE; echo x > mine; ls -ln mine | cut -d' ' -f3; tty"
    user = "65534" if place == "user" else "0"
    shown = [user, str(tmp_path), "worktree:a", user, "not a tty"]
    assert attack(command, tmp_path, place)[2].split("\n")[:-1] == shown


def test_it_sees_the_processes_of_its_own_namespace(tmp_path):
    assert int(attack("ls /proc | grep -c '^[0-9]'", tmp_path)[2]) < 7
