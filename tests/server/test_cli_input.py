"""Bad input: a clear error or a stated note, and nothing lost."""

import os

import pytest
from tests.server.command import ORIGIN, SUGGESTIONS, excise, one_line, spawn

COMMANDS = [("compare",), ("compare", "--clusters")]
BAD = {
    "missing": "no such file",
    "directory": "it is a directory",
    "binary": "binary: NUL character at offset 1",
    "latin": "not utf-8: byte 0xe9 at offset 0",
    "huge": "50.0 MB, limit 10 MB",
    "fifo": "it is a named pipe",
}


@pytest.fixture
def bad(tmp_path):
    """One path for each reason to refuse it."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "binary").write_bytes(b"a\0")
    (tmp_path / "latin").write_bytes(b"\xe9t\xe9\n")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 50_000_000)
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_unreadable_revisions_are_rejected_and_the_rest_is_scored(bad, command):
    paths = [str(bad / name) for name in BAD]
    ran = excise(*command, ORIGIN, *paths, *SUGGESTIONS[:2], "--format", "json")
    assert ran.code == 1
    expected = [{"id": str(bad / name), "reason": reason} for name, reason in BAD.items()]
    assert ran.json["rejected"] == expected
    assert ran.err.count("\n") == len(BAD)
    for name, reason in BAD.items():
        assert f"left out: cannot read {bad / name}: {reason}; " in ran.err or name == "huge"
    assert str(SUGGESTIONS[0]) in ran.out
    for_people = excise(*command, ORIGIN, *paths, *SUGGESTIONS[:2])
    assert for_people.code == 1
    assert for_people.err == ran.err


@pytest.mark.parametrize("name", BAD)
def test_an_unreadable_origin_is_one_line(bad, name):
    path = str(bad / name)
    for command in COMMANDS:
        one_line(excise(*command, path, ORIGIN, "--format", "json"), path, BAD[name])
    one_line(excise("compare", "--explain", path, ORIGIN, ORIGIN), path, BAD[name])
    one_line(excise("compare", "--explain", ORIGIN, ORIGIN, path), path, BAD[name])
    ran = excise("compare", "--measure", "del:p", ORIGIN, ORIGIN, path)
    one_line(ran, path, BAD[name])


# --- texts that are unusual, and scored ----------------------------------------------------------


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace("\n", "\r\n", 1).encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-32"),
    ],
    ids=["plain", "CRLF", "CR", "mixed", "BOM", "UTF-16", "UTF-32"],
)
def test_how_a_text_is_written_does_not_change_its_score(tmp_path, encode):
    origin, edit = "x = 'ä'\ny = 2\n", "x = 'ö'\ny = 2\n"
    for name, text in (("o.py", origin), ("same", origin), ("edit", edit)):
        (tmp_path / name).write_bytes(encode(text) if name != "o.py" else text.encode())
    (tmp_path / "plain").write_text(edit)
    paths = [str(tmp_path / name) for name in ("o.py", "same", "edit", "plain")]
    ran = excise("compare", *paths, "--format", "json")
    assert ran.json["matrix"]["similarity"] == [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    assert ran.json["notes"] == {}
    ran = excise("compare", *paths, "--format", "json")
    assert [e["no_op"] for e in ran.json["ranking"]] == [False, False, True]


@pytest.mark.slow
def test_one_line_of_5_mb(tmp_path):
    line = "x" * 20 + " = 1; " + "y = 2; " * 700_000
    (tmp_path / "o.py").write_text(line)
    (tmp_path / "a.py").write_text(line + "z = 3")
    (tmp_path / "b.py").write_text(line + "z = 4")
    paths = [str(tmp_path / name) for name in ("o.py", "a.py", "b.py")]
    ran = excise("compare", *paths, "--format", "json")
    assert ran.code == 0
    assert "tok:lexical" in ran.json["signature"]
    assert ran.json["notes"][paths[1]] == ["lexical tokens: over 1,000,000 bytes"]


# --- five more of our own ------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pipe_of_the_shell_may_be_the_origin(tmp_path):
    path = tmp_path / "revision.py"
    path.write_text("x = 2\n")
    read, write = os.pipe()
    os.write(write, b"x = 1\n")
    os.close(write)
    ran = spawn("compare", f"/dev/fd/{read}", str(path), "--format", "json", pass_fds=[read])
    os.close(read)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"tok:python" in ran.stdout  # the revision's name tells


def test_a_path_may_look_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--format").write_text("x = 1\n")
    (tmp_path / "o.py").write_text("x\n")
    ran = excise("compare", "--format", "json", "--", "o.py", "--format")
    assert ran.json["revisions"] == ["--format"]


@pytest.mark.slow
def test_a_path_of_undecodable_bytes_is_an_id(tmp_path):
    path = os.fsencode(tmp_path) + b"/r\xff\x1b.py"
    with open(path, "wb") as file:
        file.write(b"x = 2\n")
    ran = spawn("compare", ORIGIN, os.fsdecode(path), "--format", "json")
    assert b"r\\udcff\\u001b.py" in ran.stdout
    ran = spawn("compare", ORIGIN, os.fsdecode(path))
    assert b"r\\udcff\\x1b.py" in b"".join(ran.stdout.split())
    ran = spawn("compare", ORIGIN, os.fsdecode(path) + ".not")
    assert b"r\\udcff\\x1b.py.not: no such file" in ran.stderr


def test_a_document_that_is_nested_too_deep_is_one_line():
    one_line(excise("compare", "-", stdin="[" * 100_000), "nested too deep", "; give ")


@pytest.mark.slow
def test_standard_input_that_is_closed():
    ran = spawn("compare", "-", stdin=b"")
    assert ran.returncode == 2
    assert b"not JSON" in ran.stderr
