"""What is read from a disk, what is refused, and with which words."""

import os
import shutil
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from excise_server.foundation.files import language_of, read_text
from excise_server.foundation.inputs import (
    MAX_BYTES,
    SourceError,
    check_text,
    megabytes,
    unique_ids,
)


def refusal(path, **options) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_text(str(path), **options)
    assert caught.value.name == str(path)
    assert str(path) in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a", "a"),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        ("ä\n".encode("utf-16"), "ä\n"),
        (b"\xfe\xff" + "ä\n".encode("utf-16-be"), "ä\n"),
        ("ä\n".encode("utf-32"), "ä\n"),
        ("a\x0cb\u2028c\x85d".encode(), "a\x0cb\u2028c\x85d"),
    ],
    ids=["empty", "no final newline", "mixed ends", "BOM", "UTF-16", "UTF-16BE", "UTF-32", "rare"],
)
def test_text_is_read_as_it_is(tmp_path, data, text):
    path = tmp_path / "a.py"
    path.write_bytes(data)
    assert read_text(str(path)) == text


def test_one_line_of_5_mb_is_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"x" * 5_000_000)
    assert len(read_text(str(path))) == 5_000_000


def test_the_limit_is_stated(tmp_path):
    path = tmp_path / "big"
    path.touch()
    os.truncate(path, 62_000_000)
    assert refusal(path).reason == "62.0 MB, limit 10 MB"
    path.write_bytes(b"a" * MAX_BYTES)
    assert len(read_text(str(path))) == MAX_BYTES
    path.write_bytes(b"a" * (MAX_BYTES + 1))
    assert refusal(path).reason == "10.000001 MB, limit 10 MB"


def test_the_limit_holds_for_the_text_too(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(("é" * 6_000_000).encode("latin-1"))
    assert refusal(path, encoding="latin-1").reason == "12.0 MB, limit 10 MB"


def test_a_size_never_looks_like_the_limit():
    assert [megabytes(size) for size in (0, 10_000_000, 10_049_999, 50_000_000)] == [
        "0.0 MB",
        "10.0 MB",
        "10.049999 MB",
        "50.0 MB",
    ]


def test_what_is_no_file(tmp_path):
    assert refusal(tmp_path / "none").reason == "no such file"
    assert refusal(tmp_path).reason == "it is a directory"
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "below").reason == "a part of the path is not a directory"
    (tmp_path / "link").symlink_to("none")
    assert refusal(tmp_path / "link").reason == "a link to a file that does not exist"
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic links" in refusal(tmp_path / "loop").reason
    assert refusal(tmp_path / ("n" * 300)).reason == "File name too long"
    assert refusal(f"{tmp_path}/nul\0").reason == "a path cannot contain a NUL character"
    with pytest.raises(SourceError, match="the path is empty"):
        read_text("")


def test_pipes_devices_and_sockets_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo").reason == "it is a named pipe"
    assert refusal("/dev/null").reason == "it is a device"
    assert refusal("/dev/zero").reason == "it is a device"
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/s")
        assert refusal(f"{short}/s").reason == "it is a socket"


def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")
    assert read_text(str(tmp_path / "b")) == "x"


def test_a_pipe_of_the_shell_is_read_where_it_is_asked_for():
    read, write = os.pipe()
    os.write(write, b"x = 1\n")
    os.close(write)
    try:
        assert refusal(f"/dev/fd/{read}").reason == "it is a named pipe"
        assert read_text(f"/dev/fd/{read}", descriptors=True) == "x = 1\n"
    finally:
        os.close(read)


@contextmanager
def without_privileges():
    """Files of mode 000 are readable for root: be nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_may_not_be_read():
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        (folder / "a").write_text("x")
        (folder / "a").chmod(0)
        with without_privileges():
            error = refusal(folder / "a")
        assert (error.reason, error.hint) == (
            "permission denied",
            "make it readable for this user",
        )
    finally:
        shutil.rmtree(folder)


def test_binary_and_undecodable_files_say_what_was_tried(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"ab\0c")
    error = refusal(path)
    assert error.reason == "binary: NUL character at offset 2"
    assert "--encoding utf-16-le" in error.hint
    path.write_bytes(b"caf\xe9\n")
    error = refusal(path)
    assert error.reason == "not utf-8: byte 0xe9 at offset 3"
    assert "--encoding latin-1" in error.hint
    assert read_text(str(path), encoding="latin-1") == "café\n"
    path.write_bytes("é".encode("utf-16") + b"x")
    assert refusal(path).reason.startswith("not utf-16: byte 0x78")
    assert refusal(path, encoding="ascii").reason.startswith("not ascii: byte 0xff")


@pytest.mark.parametrize("encoding", ["no-such", "hex", "undefined", "punycode", "idna"])
def test_an_encoding_that_is_none_is_refused(tmp_path, encoding):
    path = tmp_path / "a"
    path.write_bytes(b"\xff\xfea-\xe9")
    assert encoding in refusal(path, encoding=encoding).reason


def test_texts_that_no_parser_can_take():
    with pytest.raises(SourceError, match=r"lone surrogate U\+D800 at offset 1"):
        check_text("a\ud800")
    with pytest.raises(SourceError, match="NUL character at offset 0"):
        check_text("\0")
    with pytest.raises(SourceError, match=r"12\.0 MB, limit 10 MB"):
        check_text("é" * 6_000_000)
    assert check_text("\U0001f600") == "\U0001f600"


def test_ids_are_made_unique_whatever_they_are():
    assert unique_ids(["a", "a#2", "a", "a"]) == ["a", "a#2", "a#3", "a#4"]
    many = unique_ids(["x"] * 1000)
    assert len(set(many)) == 1000


def test_the_language_is_the_origins_or_else_the_first_that_tells():
    assert language_of("a.py", "", ["b.go"]) is None
    assert language_of("a", "#!/bin/sh\n", ["b.go"]) is None
    assert language_of("/dev/fd/63", "x", ["c", "b.go", "a.py"]) == "go"
    assert language_of("a", "", ["b"]) is None
