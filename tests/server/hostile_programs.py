"""Programs that attack the sandbox of `--execute`; each reaches its end only if it succeeds.

Tables alone, which are read side by side: hence the length.
"""

import os

CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*map(ctypes.c_long, arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result
def number(x86_64, aarch64):
    return x86_64 if os.uname().machine == "x86_64" else aarch64
"""


REFUSED = "PermissionError"
ABSENT = "FileNotFoundError"

SYSTEM_CALLS = {
    # More memory than the limit: segments of System V belong to nobody's address space.
    "shmget": ((29, 194), "0, 1 << 30, 0o1600"),
    "msgget": ((68, 186), "0, 0o1600"),
    "semget": ((64, 190), "0, 1, 0o1600"),
    "mq_open": ((240, 180), "0, 0o102, 0o600, 0"),
    # Files in memory, to be run or to fill the machine.
    "memfd_create": ((319, 279), "0, 0"),
    # Doors of the kernel through which exploits came.
    "userfaultfd": ((323, 282), "0"),
    "bpf": ((321, 280), "0, 0, 0"),
    "perf_event_open": ((298, 241), "0, 0, -1, -1, 0"),
    "keyctl": ((250, 219), "0, -3, 0"),
    "add_key": ((248, 217), "0, 0, 0, 0, -3"),
    "modify_ldt": ((154, 999), "0, 0, 0"),
    # Another process of the same namespace, its watcher: reading, writing, stopping it.
    "ptrace": ((101, 117), "16, 1, 0, 0"),
    "process_vm_readv": ((310, 270), "1, 0, 0, 0, 0, 0"),
    "process_vm_writev": ((311, 271), "1, 0, 0, 0, 0, 0"),
    "prlimit64 of the watcher": ((302, 261), "1, 0, 0, 0"),
    "kcmp": ((312, 272), "1, 2, 0, 0, 0"),
    # A new user namespace has every capability again.
    "unshare": ((272, 97), "0x10000000"),
    "setns": ((308, 268), "0, 0"),
    # Putting back what was taken away.
    "mount": ((165, 40), "0, 0, 0, 0x1020, 0"),
    "umount2": ((166, 39), "0, 2"),
    "pivot_root": ((155, 41), "0, 0"),
    "chroot": ((161, 51), "0"),
    "open_by_handle_at": ((304, 265), "0, 0, 0"),
    "setuid": ((105, 146), "0"),
    "setgroups": ((116, 159), "0, 0"),
    "capset": ((126, 91), "0, 0"),
    "personality": ((135, 92), "0x40000"),
    "seccomp": ((317, 277), "1, 0, 0"),
    # prctl: may be looked at again, outlives its parent, is traced by anybody.
    "PR_SET_DUMPABLE": ((157, 167), "4, 1, 0, 0, 0"),
    "PR_SET_PDEATHSIG": ((157, 167), "1, 0, 0, 0, 0"),
    "PR_SET_PTRACER": ((157, 167), "0x59616d61, -1, 0, 0, 0"),
    # Processes, by every way there is: a vfork or clone without a thread's flags.
    "clone": ((56, 220), "17, 0, 0, 0, 0"),
    "clone into namespaces": ((56, 220), "0x10000000 | 17, 0, 0, 0, 0"),
    "a thread in namespaces": ((56, 220), "0x10000000 | 0x3d0f00, 0, 0, 0, 0"),
    "execveat": ((322, 281), "0, 0, 0, 0, 0x1000"),
    # The machine's clock, disks, priorities and log.
    "sync": ((162, 81), ""),
    "settimeofday": ((164, 170), "0, 0"),
    "reboot": ((169, 142), "0, 0, 0, 0"),
    "syslog": ((103, 116), "3, 0, 0"),
    "sched_setscheduler": ((144, 119), "0, 1, 0"),
    "setpriority": ((141, 140), "0, 0, -20"),
    "mlockall": ((151, 230), "3"),
    "inotify_init1": ((294, 26), "0"),
    "setsid": ((112, 157), ""),
    "setpgid": ((109, 154), "0, 0"),
    # Sockets of every family, and those that come in pairs.
    "AF_UNIX": ((41, 198), "1, 1, 0"),
    "AF_INET": ((41, 198), "2, 1, 0"),
    "AF_NETLINK": ((41, 198), "16, 3, 0"),
    "AF_VSOCK": ((41, 198), "40, 1, 0"),
    "socketpair": ((53, 199), "1, 1, 0, 0"),
}


NEWER_CALLS = {
    "io_uring_setup": (425, "8, 0"),
    "pidfd_open": (434, "1, 0"),
    "clone3": (435, "0, 0"),
    "openat2": (437, "0, 0, 0, 0"),
    "pidfd_getfd": (438, "0, 0, 0"),
    "process_madvise": (440, "0, 0, 0, 0, 0"),
    "mount_setattr": (442, "-100, 0, 0, 0, 0"),
    "landlock_create_ruleset": (444, "0, 0, 0"),
    "one that will come": (2000, ""),
}


INTERPRETER = "os.__file__"

PROGRAMS = {
    # Survivors: forked twice, in a session of their own.
    "double fork": ("if not os.fork():\n    os.setsid()\n    os.fork()", REFUSED),
    "posix_spawn": ("os.posix_spawn('/bin/sh', ['sh'], {})", REFUSED),
    "exec": ("os.execv('/bin/sh', ['sh'])", "died"),  # closed off as before, and no verdict
    "subprocess": ("import subprocess\nsubprocess.run(['true'])", REFUSED),
    "a connection": ("import socket\nsocket.create_connection(('127.0.0.1', 9), 5)", REFUSED),
    # Whoever started it: the environment, the modules, the processes.
    "the environment": ("assert {'PATH', 'HOME'} & set(os.environ)", "AssertionError"),
    "that of others": ("open('/proc/1/environ')", ABSENT),
    "a process outside": (f"os.kill({os.getpid()}, 0)", "ProcessLookupError"),
    "modules of ours": (
        "import sys\nassert [name for name in sys.modules if 'excise' in name]",
        "AssertionError",
    ),
    # The watcher and what it sees, by way of /proc.
    "memory of its own": ("open('/proc/self/mem', 'r+b')", ABSENT),
    "root of the watcher": ("os.listdir('/proc/1/root')", ABSENT),
    "descriptors by name": ("os.listdir('/proc/self/fd')", ABSENT),
    "a bind mount": ("assert libc.mount(None, b'/', None, 0x1000 | 32, None) == 0", None),
    "proc mounted anew": ("assert libc.mount(b'p', b'/tmp', b'proc', 0, None) == 0", None),
    # Files of the machine.
    "passwd": ("open('/etc/passwd')", ABSENT),
    "this one": (f"open({__file__!r})", ABSENT),
    "devices": ("os.open('/dev/tty', os.O_RDWR)", ABSENT),
    "other devices": ("assert os.listdir('/dev') != ['null']", "AssertionError"),
    "the device itself": ("os.chmod('/dev/null', 0o777)", None),
    "shared memory": ("open('/dev/shm/x', 'w')", ABSENT),
    "dots": ("open('../../../../../../../etc/passwd')", ABSENT),
    "a symbolic link": ("os.symlink('/etc', 'x')\nopen('x/passwd')", ABSENT),
    "a hard link": (f"os.link({INTERPRETER}, 'x')", "OSError"),
    "a rename": (f"os.rename({INTERPRETER}, 'x')", "OSError"),
    "the interpreter": (f"open({INTERPRETER}, 'a')", None),
    "its mode": (f"os.chmod({INTERPRETER}, 0o777)", None),
    "its times": (f"os.utime({INTERPRETER})", None),
    "the root": ("open('/x', 'w')", None),
    "packages": ("import pip", "ModuleNotFoundError"),
    "ours": ("import excise_server", "ModuleNotFoundError"),
    "a device": ("os.mknod('x', 0o20666, os.makedev(1, 1))", REFUSED),
    # Descriptors that something outside left open: any that is a folder, a file or a socket.
    "inherited descriptors": (
        "import stat\nkinds = []\nfor fd in range(1024):\n"
        "    try: kinds.append(os.fstat(fd).st_mode)\n    except OSError: pass\n"
        "assert any(stat.S_ISDIR(k) or stat.S_ISREG(k) or stat.S_ISSOCK(k) for k in kinds)",
        "AssertionError",
    ),
    "a way out of a descriptor": (
        "for fd in range(64):\n    try: os.fchdir(fd)\n    except OSError: continue\n    break\n"
        "else: raise KeyError",
        "KeyError",
    ),
    # The word, or anything else, on a descriptor that can be read.
    "a word to read": (
        "import select\nready, _, _ = select.select([0, 3], [], [], 0.2)\n"
        "assert os.read(0, 1) or os.read(3, 1)",
        None,
    ),
    # A line typed into the terminal of the user.
    "TIOCSTI": ("import fcntl\nfcntl.ioctl(0, 0x5412, b'x')", REFUSED),
    "TIOCLINUX": ("import fcntl\nfcntl.ioctl(1, 0x541C, b'x')", REFUSED),
    "signals by descriptors": ("import fcntl\nfcntl.fcntl(0, 8, 1)", REFUSED),  # F_SETOWN
    # Memory, in other coin.
    "address space": ("x = bytearray(8_000_000_000)", "MemoryError"),
    "many objects": ("x = []\nwhile True: x.append(bytearray(10_000_000))", None),
    "mmap": ("import mmap\nmmap.mmap(-1, 8_000_000_000)", None),
    "many mappings": ("import mmap\nx = [mmap.mmap(-1, 1 << 28) for _ in range(30)]", None),
    "a full folder": (
        "for n in range(60):\n    open(str(n), 'wb').write(bytes(1 << 19))",
        "OSError",
    ),
    "a long file": ("open('x', 'wb').write(bytes(1 << 22))", "OSError"),
    "a file with a hole": ("os.truncate(os.open('x', 66), 1 << 40)", None),
    "many descriptors": ("x = [os.pipe() for _ in range(500)]", "OSError"),
    "many threads": (
        "import threading, time\nthreading.stack_size(32768)\n"
        "for _ in range(5000): threading.Thread(target=time.sleep, args=(60,)).start()",
        "RuntimeError",
    ),
    "higher limits": (
        "import resource\nfor name in (resource.RLIMIT_AS, resource.RLIMIT_NPROC):\n"
        "    resource.setrlimit(name, (-1, -1))",
        None,
    ),
    "deep recursion": ("def f(): f()\nf()", "RecursionError"),
    "deep nesting": ("eval('(' * 100_000 + ')' * 100_000)", None),
    "an end by its own hand": ("os.kill(os.getpid(), 9)", "died"),
    "a crash": ("ctypes.string_at(0)", "died"),
    # 80 characters of a file by the name of an exception: only Python's own names are told.
    "a name": (f"raise type(open({INTERPRETER}).read(80), (Exception,), {{}})", "Exception"),
    "a name of a child": ("class Secret(LookupError): pass\nraise Secret", "LookupError"),
    "a name that was given": (
        "class E(KeyError): pass\nE.__name__ = 'x' * 80\nraise E",
        "KeyError",
    ),
    "a name of Python's": (
        "class E(ArithmeticError): pass\nE.__name__ = 'KeyError'\nraise E",
        "ArithmeticError",
    ),
    "a lying metaclass": (
        "class M(type):\n    __name__ = property(lambda c: os._exit(0))\n"
        "    __mro__ = property(lambda c: (KeyError,))\n"
        "    def __getattribute__(c, n): return os._exit(0)\n"
        "class E(ValueError, metaclass=M): pass\nraise E",
        "ValueError",
    ),
    "a lying exception": (
        "class E(ValueError):\n    __class__ = property(lambda e: KeyError)\n"
        "    __str__ = __repr__ = __del__ = lambda e: os._exit(0)\nraise E",
        "ValueError",
    ),
    "an exception of nobody": ("raise BaseException('passed')", "BaseException"),
    "a group": ("raise BaseExceptionGroup('x', [KeyError()])", None),
}


ENDLESS = {
    # Its process group, which was the watcher's: stopped or killed with it, nobody was left.
    "stop the group": "os.kill(0, 19)",
    "stop itself": "os.kill(os.getpid(), 19)",
    "deaf": "import signal\nfor n in set(range(1, 65)) - {9, 19, 32, 33}:\n"
    "    signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
    "blocked": "import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass",
    "in threads": "import threading\ndef spin():\n    while True: pass\n"
    "for _ in range(4): threading.Thread(target=spin).start()\nspin()",
    "an end that waits": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,)).start()\ntime.sleep(60)",
    "handlers that raise": "import signal\ndef again(*_):\n    signal.setitimer(0, 0.01)\n"
    "signal.signal(14, again)\nsignal.setitimer(0, 0.01)\nwhile True: pass",
    "no exception ends it": "while True:\n    try: raise KeyError\n    except BaseException: pass",
    "a long number": "x = 10 ** 10 ** 9",
    "a regular expression": "import re\nre.match('(a*)*b', 'a' * 60)",
}


TEST = "assert f(2) == 3\n"
FORGERIES = {
    "kill the group": "os.kill(0, 9)",
    "leave": "os._exit(0)",
    "leave politely": "raise SystemExit(0)",
    "leave at once": "call(number(231, 94), 0)",  # exit_group
    "close everything": "os.closerange(0, 1024)",
    "put another in its place": "os.dup2(os.open('x', 66), 3)",
    "say so": "print('passed', flush=True)",
    "write on everything": "for fd in range(64):\n    try: os.write(fd, b'passed ' + bytes(16))\n"
    "    except OSError: pass\nos._exit(0)",
    "refuse in the name of the guards": "os.write(3, b'refused files')\nos._exit(0)",
    "repeat whatever can be read": "heard = b''\nfor fd in range(3, 64):\n    try:\n"
    "        os.set_blocking(fd, False)\n        heard += os.read(fd, 64)\n"
    "    except OSError: pass\n"
    "for fd in range(3, 64):\n    try: os.write(fd, b'passed ' + heard[-16:])\n"
    "    except OSError: pass\nos._exit(0)",
    "variables of all who called": "import sys\nframe = sys._getframe()\nwhile frame:\n"
    "    for space in (frame.f_locals, frame.f_globals):\n"
    "        for value in list(space.values()):\n"
    "            if isinstance(value, bytes) and len(value) > 15:\n"
    "                os.write(3, value if b'passed' in value else b'passed ' + value[-16:])\n"
    "    frame = frame.f_back\nos._exit(0)",
    "no tests left": "import sys\nframe = sys._getframe()\nwhile frame:\n"
    "    for value in list(frame.f_locals.values()):\n"
    "        if isinstance(value, list): value.clear()\n"
    "        if isinstance(value, dict) and 'parts' in value: value.clear()\n"
    "    frame = frame.f_back",
    # From Python 3.13 on, this changes the variables.
    "other variables": "import sys\nframe = sys._getframe().f_back\nwhile frame:\n"
    "    for name, value in list(frame.f_locals.items()):\n"
    "        frame.f_locals[name] = print if callable(value) else ''\n"
    "    frame = frame.f_back",
    # A debugger's jump, in every caller, to each line that it can reach, the last one first.
    "jump over the tests": "import sys\ndef jump(frame, event, _):\n    if event == 'line':\n"
    "        for line in range(frame.f_lineno + 30, frame.f_lineno, -1):\n"
    "            try: frame.f_lineno = line\n            except ValueError: continue\n"
    "            break\n    return jump\n"
    "frame = sys._getframe()\nwhile frame:\n    frame.f_trace = jump\n    frame = frame.f_back\n"
    "sys.settrace(lambda *_: None)",
    "flood": "for _ in range(1000): os.write(3, bytes(4096))",
    "exit hooks": "import atexit\natexit.register(print, 'passed')\nraise SystemExit(0)",
    "an excepthook": "import sys\nsys.excepthook = lambda *a: os._exit(0)\nraise KeyError",
    "other builtins": "import builtins\nbuiltins.exec = builtins.compile = lambda *a: None\n"
    "builtins.AssertionError = SystemExit",
    "another os": "import sys\nos.write = os._exit = print\nsys.modules['os'] = None",
    "another main": "import sys\nsys.modules['__main__'] = None\nsys.modules.clear()",
    "a trace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
    "optimised": "import sys\nsys.flags = None\n__debug__\nsys.dont_write_bytecode = True",
    "an alarm at the end": "import signal\ndef leave(*_): os._exit(0)\n"
    "signal.signal(14, leave)\nsignal.setitimer(0, 0.05)\nimport time\ntime.sleep(10)",
    "a thread that says it": "import threading\ndef say():\n"
    "    while True: os.write(3, b'passed ' + bytes(16))\n"
    "threading.Thread(target=say, daemon=True).start()",
    "an exception from a thread": "import threading\nmain = threading.get_ident()\n"
    "ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(OSError))\n"
    "for _ in range(100): pass",
}


HONEST = """
import asyncio.events, bz2, csv, decimal, hashlib, lzma, pickle, random, secrets, shutil, sqlite3
import ssl, tempfile, threading, unittest, uuid, zlib, zoneinfo
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
@dataclass
class Point:
    x: int
assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
with ThreadPoolExecutor(4) as threads:
    assert list(threads.map(abs, [-1, 2])) == [1, 2]
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/a", "w") as file:
        file.write("b")
    shutil.copy2(folder + "/a", folder + "/b")
    assert open(folder + "/b").read() == "b"
base = sqlite3.connect("base")
base.execute("create table t (x)")
base.commit()
base.close()
class Case(unittest.TestCase):
    def test(self):
        with self.assertRaises(EOFError):
            input()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
assert unittest.TextTestRunner().run(suite).wasSuccessful()
print("x" * 1_000_000)
assert secrets.token_hex() != secrets.token_hex()
assert zlib.decompress(zlib.compress(b"x")) == b"x"
assert os.getcwd() == "/tmp"
with open(os.devnull, "r+b", 0) as nothing:
    assert nothing.write(b"x") and nothing.read() == b""
"""
