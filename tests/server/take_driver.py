"""Forks of one process with everything imported, in which takes are stopped and followed by others.

Each line on standard input is a JSON object with ``do`` (``write``, ``next`` or ``undo``), ``top``
and the file ``out``. The answer is the id of the fork, which waits for a line in the pipe ``go``
before it does that. So a tracer can be attached to it at an exact place. The next line that is read
asks for its exit status.
"""

import json
import os
import select
import sys

import click

from excise_server.cli import main, take
from excise_server.cli.streams import say
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.git_patch import FileEdit
from excise_server.review.taking import Taken


def edits() -> list[FileEdit]:
    """Twenty files: edits, modes, creations, deletions, renames, links."""
    files = []
    for index in range(20):
        name, old = f"{'abc'[index % 3]}/f{index:02}.txt", Side("100644", text(index))
        new = Side("100644", text(index).replace(b"two", b"TWO"))
        if index in (3, 9, 15):
            files.append(FileEdit(f"new/{index}/made.txt", f"new/{index}/made.txt", None, new))
        elif index in (4, 10, 16):
            files.append(FileEdit(name, name, old, None))
        elif index in (5, 11):
            files.append(FileEdit(f"moved/{index}.txt", name, old, new))
        elif index in (6, 12):
            files.append(FileEdit(name, name, old, Side("100755", old.data)))
        elif index == 13:
            files.append(FileEdit(name, name, Side("120000", b"there"), Side("120000", b"here")))
        else:
            files.append(FileEdit(name, name, old, new))
    return files


def text(index: int) -> bytes:
    return f"{index} one\n{index} two\n{index} three\n".encode()


def run(asked: dict[str, str]) -> int:
    arguments = [".", asked["top"]]
    try:
        if asked["do"] == "write":
            take.write_taken(*arguments, Taken(tuple(edits()), (), ()))
            return 0
        if asked["do"] == "next":
            take.make_good(*arguments)
            return 0
        return main(["take", "--undo", "--origin", asked["top"]])
    except SourceError as error:
        say(str(error))
        return 2
    except (KeyboardInterrupt, click.Abort):
        return 130


def serve() -> None:
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writer)
            out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            select.select([reader], [], [])  # no call that a test counts
            code = run(asked)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        os.close(reader)
        print(child, flush=True)
        sys.stdin.buffer.readline()
        os.write(writer, b"\n")
        os.close(writer)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
