"""A take that is stopped, or meets a save, at every system call: nothing is torn, nothing is lost.

A fork of `take_driver` does the take, and strace sends it a signal, or stops it while a file is
saved, at its nth system call; then the next command runs. After it, all files are old or all are
new, but for the one that was saved, which is the save. `EXCISE_TAKE_POINTS` is the number of places
for each way to stop it, or `all`.
"""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.server.git_repository import GIT, needs_git
from tests.server.take_driver import edits
from tests.server.tree import build, snapshot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("strace") is None, reason="strace is missing: apt-get install it"
    ),
]

POINTS = os.environ.get("EXCISE_TAKE_POINTS", "25")
CHANGING = (
    "mkdir,mkdirat,write,pwrite64,fsync,fchmod,fchown,ftruncate,flock,renameat2,renameat,rename,"
    "linkat,unlinkat,unlink,rmdir,symlinkat,openat"
)
LOOKING = CHANGING + ",newfstatat,fstat,read,readlinkat,getdents64"
SAVE = b"what the user saved, and would not like to lose\n"


@pytest.fixture(scope="module")
def driver():
    """A process with everything imported, whose journals are in a folder of their own."""
    # A file system in memory: it has no disk to wait for, in some fifty calls of fsync.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="excise-stopped-", dir=memory) as folder:
        environment = os.environ | {"XDG_CACHE_HOME": f"{folder}/cache", "PYTHONPATH": os.getcwd()}
        with subprocess.Popen(
            [sys.executable, "-m", "tests.server.take_driver"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=os.getcwd(),
        ) as process:  # fmt: skip
            yield Driver(process, Path(folder))
            process.stdin.close()


class Driver:
    def __init__(self, process, folder):
        self.process, self.folder = process, folder
        self.top, self.cache = folder / "top", folder / "cache"

    def fresh(self):
        for path in (self.top, self.cache):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        build(self.top, ((edit.old_path, edit.old) for edit in edits()))

    @contextmanager
    def started(self, do):
        """Fork, and wait at the beginning; let it go on by calling the second value."""
        out = self.folder / "out"
        line = {"do": do, "top": str(self.top), "out": str(out)}
        self._send(json.dumps(line).encode())
        child = int(self.process.stdout.readline())

        def go():
            self._send(b"go")

        yield child, go

    def ended(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        assert ready, "it hangs"
        return int(self.process.stdout.readline()), (self.folder / "out").read_text()

    def run(self, do):
        with self.started(do) as (_, go):
            go()
            return self.ended()

    def _send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    @contextmanager
    def traced(self, child, *options):
        log = self.folder / "strace.log"
        log.write_text("")
        command = ["strace", "-f", "-o", str(log), *options, "-p", str(child)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as tracer:
            said = tracer.stderr.readline()
            assert b"attached" in said, said  # from here on it sees every call
            yield log
            tracer.wait(60)

    def calls(self, do, traced):
        """Return the system calls of a run in their order: each name, and the how manieth it is."""
        with self.started(do) as (child, go), self.traced(child, "-e", f"trace={traced}") as log:
            go()
            assert self.ended()[0] == 0
        names = re.findall(r"^[0-9]+ +(\w+)\(", log.read_text(), re.MULTILINE)
        counted = Counter[str]()
        calls = []
        for name in names:
            counted[name] += 1
            calls.append((name, counted[name]))
        return calls

    def stopped(self, do, call, what):
        """Do something to a run at one of its calls; return its exit code and what it said."""
        with self.started(do) as (child, go):
            inject = f"inject={call[0]}:{what}:when={call[1]}"
            with self.traced(child, "-e", f"trace={call[0]}", "-e", inject):
                go()
                return self.ended()

    def paused(self, do, call, act):
        """Do something while a run stands at one of its calls; return its exit code and words."""
        with self.started(do) as (child, go):
            inject = f"inject={call[0]}:signal=STOP:when={call[1]}"
            with self.traced(child, "-e", f"trace={call[0]}", "-e", inject) as log:
                go()
                for _ in range(60_000):
                    if "stopped by SIGSTOP" in log.read_text():
                        break
                    time.sleep(0.001)
                else:
                    raise AssertionError("it does not come to that call")
                act()
                os.kill(child, signal.SIGCONT)
                return self.ended()


@pytest.fixture
def states(driver):
    """All files before the take, and after it."""
    driver.fresh()
    before = snapshot(driver.top)
    code, said = driver.run("write")
    assert code == 0, said
    after = snapshot(driver.top)
    assert len(set(before.items()) ^ set(after.items())) > 30
    return before, after


def places(calls):
    """Return the calls at which to stop, each with its number: all, or so many spread over all."""
    count = len(calls)
    wanted = count if POINTS == "all" else min(int(POINTS), count)
    numbers = sorted({index * (count - 1) // max(wanted - 1, 1) for index in range(wanted)})
    return [(number, calls[number]) for number in numbers]


@pytest.mark.parametrize("sent", ["INT", "TERM", "HUP", "KILL"])
@pytest.mark.parametrize("do", ["write", "undo"])
def test_a_signal_at_every_call_leaves_all_old_or_all_new(driver, states, do, sent, capsys):
    if do == "undo":
        states = states[::-1]

    def fresh():
        driver.fresh()
        if do == "undo":
            assert driver.run("write")[0] == 0

    fresh()
    calls = driver.calls(do, CHANGING)
    torn, lost, old = [], [], 0
    for number, call in places(calls):
        fresh()
        code, said = driver.stopped(do, call, f"signal={sent}")
        assert code in (0, 130, -getattr(signal, f"SIG{sent}")), said
        between = snapshot(driver.top)
        _, then = driver.run("next")
        now = snapshot(driver.top)
        if now not in states:
            torn.append((number, call))
        old += now == states[0]
        known = {data for _, data in now.values()} | asides(driver)
        if not {data for _, data in between.values()} <= known:
            lost.append((number, call))
        if sent == "KILL":
            if between not in states:
                assert "interrupted" in then, number
                assert "a/f00.txt" in then or "and" in then
        else:
            assert between in states, "it puts back at once"
            if code != 0 and between == states[1]:
                done = ("after all files were written", "created: ", "restored: ")
                assert any(words in said for words in done)
            elif "interrupted; " in said:
                assert "all files are as they were" in said
    with capsys.disabled():
        print(f"\n{do}, {sent}: {len(places(calls))} of {len(calls)} places, {old} rolled back: "
              f"{len(torn)} torn, {len(lost)} lost")  # fmt: skip
    assert (torn, lost) == ([], [])


@needs_git
def test_a_kill_leaves_nothing_that_git_shows_where_asides_are_in_the_tree(
    driver, states, tmp_path, monkeypatch, capsys
):
    """The journal is on another file system than the tree, as that of a worktree can be."""
    if tmp_path.stat().st_dev == driver.folder.stat().st_dev:
        pytest.skip("there is no second file system here")
    monkeypatch.setattr(driver, "top", tmp_path / "top")
    repository = tmp_path / "git"
    subprocess.run([GIT, "init", "-q", "--bare", str(repository)], check=True)
    git = [GIT, f"--git-dir={repository}", f"--work-tree={driver.top}", "-c", "core.bare=false"]
    driver.fresh()
    calls = driver.calls("write", CHANGING)
    torn, shown = [], []
    for number, call in places(calls):
        driver.fresh()
        driver.stopped("write", call, "signal=KILL")
        others = [*git, "ls-files", "--others", "--exclude-standard"]
        names = subprocess.run(others, cwd=driver.top, check=True, capture_output=True).stdout
        if b".excise" in names or b"f00.txt" not in names:
            shown.append((number, call))
        driver.run("next")
        now = snapshot(driver.top)
        if {name: now[name] for name in now if not name.startswith(".excise-")} not in states:
            torn.append((number, call))
    with capsys.disabled():
        print(f"\nasides in the tree: {len(places(calls))} of {len(calls)} places: "
              f"{len(torn)} torn, {len(shown)} shown by git")  # fmt: skip
    assert (torn, shown) == ([], [])


def asides(driver):
    kept = set()
    for path in driver.cache.rglob("*"):
        if path.is_symlink():
            kept.add(os.readlink(path).encode())
        elif path.is_file():
            kept.add(path.read_bytes())
    return kept


SAVED = [
    path
    for edit in edits()
    for path in dict.fromkeys((edit.old_path, edit.path))
    if edit.old is None or edit.old.mode != "120000"
]


@pytest.mark.parametrize("how", ["by rename", "in place"])
def test_a_save_at_every_call_is_there_afterwards(driver, states, how, capsys):
    driver.fresh()
    calls = driver.calls("write", LOOKING)
    torn, lost, aside = [], [], 0
    existing = [path for path in SAVED if path in states[0]]
    for number, call in places(calls):
        driver.fresh()
        paths = existing if how == "in place" else SAVED
        path = paths[number * 7 % len(paths)]
        with ExitStack() as stack:
            if how == "in place":
                editor = stack.enter_context(open(driver.top / path, "r+b"))

                def save(editor=editor):
                    os.truncate(editor.fileno(), 0)
                    os.pwrite(editor.fileno(), SAVE, 0)
            else:

                def save(path=path):
                    (driver.top / path).parent.mkdir(parents=True, exist_ok=True)
                    saved = driver.folder / "saved"
                    saved.write_bytes(SAVE)
                    saved.rename(driver.top / path)

            code, said = driver.paused("write", call, save)
        _, then = driver.run("next")
        now = snapshot(driver.top)
        others = {name: kept for name, kept in now.items() if name != path}
        if others not in [{n: k for n, k in state.items() if n != path} for state in states]:
            torn.append((number, call, path))
        is_there = now.get(path, (0, b""))[1] == SAVE
        if not is_there:
            # It was written into the earlier file after that had been exchanged for the new one.
            named = re.search(rf"{re.escape(path)}: what was saved .* is in (\S+)", then + said)
            is_there = how == "in place" and named is not None
            is_there = is_there and Path(named[1]).read_bytes() == SAVE
            is_there = is_there and now.get(path) == states[1].get(path)
            aside += is_there
        if not is_there:
            lost.append((number, call, path))
        if code != 0:
            assert path in said, said
    with capsys.disabled():
        print(f"\nsave {how}: {len(places(calls))} of {len(calls)} places, {aside} of them kept "
              f"aside and named: {len(torn)} torn, {len(lost)} lost")  # fmt: skip
    assert (torn, lost) == ([], [])


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_error_of_any_writing_call_leaves_all_as_it_was(driver, states, error, capsys):
    failing = "mkdir,mkdirat,write,fsync,renameat2,renameat,symlinkat,unlinkat"
    driver.fresh()
    calls = driver.calls("write", failing)
    torn = []
    for number, call in places(calls):
        driver.fresh()
        code, said = driver.stopped("write", call, f"error={error}")
        now = snapshot(driver.top)
        # 1: it was done, and only what it had to say could not be written.
        expected = {0: [states[1]], 1: states, 2: [states[0]]}[code]
        if now not in expected or (code == 1 and ", in say\n" not in said):
            torn.append((number, call, code, said))
    with capsys.disabled():
        print(f"\n{error}: {len(places(calls))} of {len(calls)} calls: {len(torn)} torn")
    assert torn == []
