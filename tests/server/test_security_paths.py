"""Paths that leave the workspace, and files that are none, are refused, also in a race."""

import os
import socket
import sys
from contextlib import suppress

import pytest

from excise_server.foundation import files
from excise_server.foundation.files import contained, list_folder, read_bytes, text_of
from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.sources.collect import collect
from excise_server.sources.finding import Context
from excise_server.wire.sources import SourceSettings

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("inside\n")
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "work-not").mkdir()
    (tmp_path / "work-not" / "a.py").write_text("secret\n")
    return folder


def refusal(path, *folders, **options) -> str:
    with pytest.raises(SourceError) as caught:
        read_bytes(str(path), [str(folder) for folder in folders], **options)
    return caught.value.reason


def test_a_file_inside_is_read(work):
    (work / "deep" / "er").mkdir(parents=True)
    (work / "deep" / "er" / "b").write_bytes(b"\0x")
    assert read_bytes(f"{work}/a.py", [str(work)]) == b"inside\n"
    assert read_bytes(f"{work}/deep/../deep//er/b", ["/nowhere", f"{work}/"]) == b"\0x"
    assert read_bytes(f"{work}/a.py", [str(work.parent), str(work)]) == b"inside\n"


def test_what_is_outside(work, tmp_path):
    outside = "outside the workspace folders"
    for path in (
        tmp_path / "secret",
        work / ".." / "secret",
        tmp_path / "work-not" / "a.py",
        work / "none" / ".." / ".." / "secret",
        "/etc/passwd",
        "a.py",
    ):
        assert refusal(path, work) == outside
    assert refusal(work / "a.py") == outside
    assert refusal(f"{work}/a\0.py", work) == "a path cannot contain a NUL character"
    assert refusal(work / "none", work) == "no such file"


@posix
def test_links(work, tmp_path):
    (work / "in").symlink_to("a.py")
    (work / "out").symlink_to("../secret")
    (work / "far").symlink_to(tmp_path)
    (work / "loop").symlink_to("loop")
    assert read_bytes(str(work / "in"), [str(work)]) == b"inside\n"
    assert refusal(work / "out", work) == "outside the workspace folders"
    assert refusal(work / "far" / "secret", work) == "outside the workspace folders"
    assert refusal(work / "loop", work)
    (tmp_path / "door").symlink_to(work)
    assert read_bytes(str(tmp_path / "door" / "a.py"), [str(work)]) == b"inside\n"
    assert read_bytes(str(work / "a.py"), [str(tmp_path / "door")]) == b"inside\n"


@posix
def test_what_is_no_regular_file(work):
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(work)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
    assert refusal(work / "pipe", work) == "it is a named pipe"
    assert refusal(work / "socket", work) == "it is a socket"
    assert refusal(work, work) == "it is a directory"
    system = "a system path, not a file of the workspace"
    for path in ("/dev/null", "/proc/self/environ", "/dev/stdin", "/sys/kernel/notes"):
        assert refusal(path, "/") == system
    (work / "environ").symlink_to("/proc/self/environ")
    assert refusal(work / "environ", work, "/") == system


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mknod needs root")
def test_a_device_in_the_workspace(work):
    try:
        os.mknod(work / "zero", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("mknod is not allowed here, not even for root")
    assert refusal(work / "zero", work) == "it is a device"


def test_the_limit_is_stated(work):
    path = work / "big"
    path.touch()
    os.truncate(path, 62_000_000)
    assert refusal(path, work) == "62.0 MB, limit 10 MB"
    os.truncate(path, MAX_BYTES)
    assert len(read_bytes(str(path), [str(work)])) == MAX_BYTES
    with pytest.raises(SourceError, match=r"10\.000001 MB, limit 10 MB"):
        text_of(b"a" * (MAX_BYTES + 1))


@posix
@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_link_put_there_after_the_check(work, tmp_path, monkeypatch, where):
    """The race, made certain: the check sees files, the opening sees links."""
    (work / "d").mkdir()
    (work / "d" / "secret").write_text("harmless\n")
    checked = contained

    def swap(path, folders):
        answer = checked(path, folders)
        os.rename(work / "d", work / "old")
        if where == "folder":
            (work / "d").symlink_to(tmp_path)
        else:
            (work / "d").mkdir()
            (work / "d" / "secret").symlink_to(tmp_path / "secret")
        return answer

    monkeypatch.setattr(files, "contained", swap)
    reason = refusal(work / "d" / "secret", work)
    reasons = ("it became a link while being opened", "a part of the path is not a directory")
    assert reason in reasons
    # The careless way, on the same files, reads what it must not.
    assert (work / "d" / "secret").read_text() == "secret\n"


@posix
def test_a_pipe_put_there_after_the_look(work, monkeypatch):
    looked = os.stat

    def swap(path, **options):
        answer = looked(path, **options)
        if path == "a.py" and "dir_fd" in options:
            os.unlink(work / "a.py")
            os.mkfifo(work / "a.py")
        return answer

    monkeypatch.setattr(os, "stat", swap)
    assert refusal(work / "a.py", work) == "it is a named pipe"


@posix
def test_no_descriptor_stays_open(work, tmp_path):
    (work / "d").mkdir()
    os.mkfifo(work / "d" / "pipe")
    before = len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0
    for path in (work / "a.py", work / "d" / "pipe", work / "none" / "x", tmp_path / "secret"):
        for _ in range(5):
            with suppress(SourceError):
                read_bytes(str(path), [str(work)])
    if before:
        assert len(os.listdir("/dev/fd")) == before


@posix
def test_where_folders_cannot_be_opened(work, tmp_path, monkeypatch):
    """The way of Windows, on the files of this machine."""
    monkeypatch.setattr(files, "_AT", False)
    assert read_bytes(str(work / "a.py"), [str(work)]) == b"inside\n"
    os.mkfifo(work / "pipe")
    assert refusal(work / "pipe", work) == "it is a named pipe"
    assert refusal(tmp_path / "secret", work) == "outside the workspace folders"
    checked = contained

    def swap(path, folders):
        answer = checked(path, folders)
        os.rename(work / "d", work / "old")
        (work / "d").symlink_to(tmp_path)
        return answer

    (work / "d").mkdir()
    (work / "d" / "secret").write_text("harmless\n")
    monkeypatch.setattr(files, "contained", swap)
    assert refusal(work / "d" / "secret", work) == "it changed while being opened"


def test_folders_are_listed_up_to_a_limit(work, tmp_path, monkeypatch):
    assert list_folder(str(work), [str(work)]) == ["a.py"]
    for path in (tmp_path, work / "none", work / "a.py"):
        with pytest.raises(SourceError):
            list_folder(str(path), [str(work)])
    monkeypatch.setattr(files, "MAX_ENTRIES", 2)
    for name in "bcd":
        (work / name).touch()
    with pytest.raises(SourceError, match="more than 2 files in the folder"):
        list_folder(str(work), [str(work)])


@pytest.mark.parametrize("trusted", [True, False])
def test_a_document_outside_has_no_sources(work, tmp_path, trusted):
    (tmp_path / "secret.suggestion-1").write_text("secret\n")
    for folders in ((str(work),), ()):
        settings = SourceSettings(patches=("p",))
        context = Context(str(tmp_path / "secret"), folders, trusted, settings)
        found = collect(context)
        assert (found.origin, found.revisions) == (None, ())
        assert {r.reason for r in found.refused} == {"outside the workspace folders"}
