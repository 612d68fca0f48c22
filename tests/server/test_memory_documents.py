"""Documents of reviews that are kept: the same answers, whatever happened to them or meanwhile."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial

import msgspec
import pytest
from tests.server.command import command_line, excise, spawn
from tests.server.git_repository import make, needs_git

from excise.syntax import PACK
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import Rejected
from excise_server.memory import documents
from excise_server.review.candidate import Candidate, Written
from excise_server.review.verdicts import Verdict
from excise_server.sources.candidates import Candidates

pytestmark = [pytest.mark.slow, needs_git]

TEXT = "def f(a):\n    return g(a)\n\n\ndef g(a):\n    return a\n"
GUARD = TEXT.replace("    return a\n", "    if a is None:\n        return 0\n    return a\n")
FORMATS = ("text", "json", "html", "markdown")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "excise" / "documents"


@pytest.fixture
def repo(tmp_path, monkeypatch, cache):
    made = make(tmp_path, monkeypatch, a__py=TEXT)
    for name, text in (("one", GUARD), ("two", GUARD.replace("0", "1")), ("three", TEXT + "x\n")):
        made.git("checkout", "--quiet", "-b", name, "main")
        made.commit(f"{name} is made", a__py=text)
    made.git("checkout", "--quiet", "main")
    return made


def asked(repo, *more):
    return ["review", "--repo", str(repo.path), "--git", "t*", "--git", "one", *more]


def look(repo, *more):
    ran = excise(*asked(repo, *more))
    assert ran.code == 0, ran.err
    return ran.out, ran.err


def names(cache):
    return sorted(file.name for file in cache.iterdir()) if cache.exists() else []


@pytest.fixture
def parsed(monkeypatch):
    """How many texts parsers got."""
    texts, audit = [], sys.audit

    def heard(event, *arguments):
        if event == "excise.parse":
            texts.append(arguments)
        audit(event, *arguments)

    monkeypatch.setattr(sys, "audit", heard)
    return texts


# --- a second look ---


def test_a_second_look_is_the_first_and_parses_nothing(repo, cache, parsed):
    first = {kind: look(repo, "--format", kind) for kind in FORMATS}
    hunks = look(repo, "--path", "a.py"), look(repo, "one")
    assert len(parsed) > 0
    # All of it was one review, and that of one candidate another.
    kept = names(cache)
    assert len(kept) == 2
    shutil.rmtree(cache)
    fresh = look(repo, "--format", "json")
    assert fresh == first["json"]
    parsed.clear()
    assert {kind: look(repo, "--format", kind) for kind in FORMATS} == first
    assert look(repo, "--path", "a.py") == hunks[0]
    assert parsed == []
    assert look(repo, "one") == hunks[1]
    assert parsed != []
    assert names(cache) == kept
    assert cache.stat().st_mode & 0o777 == cache.parent.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in cache.iterdir()} == {0o600}


def test_a_second_look_loads_neither_parsers_nor_arrays(repo, cache):
    program = (
        "import sys; from excise_server.cli import main; main(sys.argv[1:]);"
        " print(sorted({*sys.modules} & {'numpy', 'scipy', 'sklearn', 'tree_sitter'}))"
    )
    run = partial(
        subprocess.run,
        [sys.executable, "-c", program, *asked(repo, "--format", "json")],
        capture_output=True,
        check=True,
        timeout=120,
    )
    first, second = (run().stdout.decode().rpartition("}\n") for _ in range(2))
    assert first[0] == second[0] != ""
    assert "tree_sitter" in first[2]
    assert second[2] == "[]\n"


def test_whatever_is_different_is_another_document(repo, cache):
    look(repo, "--format", "json")
    for count, change in enumerate(
        (
            ["--intent", "fix"],
            ["--task", "1"],
            ["--issue", "it returns nothing"],
            ["--verdicts", f"one={repo.write('../one.jsonl', VERDICT)}"],
            ["--base", "one=one~1", "--base", "two=main~0", "--only", "one", "--only", "two"],
        ),
        start=2,
    ):
        look(repo, *change, "--format", "json")
        assert len(names(cache)) == count, change
    repo.git("checkout", "--quiet", "one")
    repo.commit("and more", a__py=GUARD.replace("0", "2"))
    repo.git("checkout", "--quiet", "main")
    out, _ = look(repo, "--format", "json")
    assert "return 2" in out
    assert len(names(cache)) == 7


VERDICT = '{"candidate": "one", "check": "unit", "passed": true}\n'


# --- names ---

SIDE = Side("100644", b"one\n", "b1")
CANDIDATE = Candidate("branch:one", "", "one", "c" * 40, old={"a": SIDE}, new={"a": SIDE})
FOUND = Candidates("o" * 40, (CANDIDATE,), rejected=(Rejected("branch:two", "gone"),))
VERDICTS = [Verdict(candidate="one", passed=True)]
OTHER = Written("Ada", "a@b.c", "now", "why")


def changed(value):
    """Return another value for a field, by what it has."""
    match value:
        case None:
            return 7
        case bool() | int() | float():
            return not value if isinstance(value, bool) else value + 1
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
        case dict():
            return {**value, "other": "y"}
        case tuple():
            return (*value, "other")
        case frozenset():
            return value | {"other"}
    raise AssertionError(value)


def mutants(record):
    for field in fields(record) if is_dataclass(record) else msgspec.structs.fields(record):
        value = getattr(record, field.name)
        change = replace if is_dataclass(record) else msgspec.structs.replace
        new = OTHER if field.name == "written" else changed(value)
        yield field.name, change(record, **{field.name: new})


def test_each_field_of_what_a_document_is_made_of_is_in_its_name(cache):
    def name(top="/r", found=FOUND, task="", intent="change", verdicts=VERDICTS):
        return documents._path(found, top, task, intent, verdicts).name

    def with_candidate(candidate):
        return replace(FOUND, found=(candidate,))

    made = {
        "as it is": name(),
        "top": name("/s"),
        "task": name(task="1"),
        "intent": name(intent="fix"),
        "no verdict": name(verdicts=[]),
        "candidates swapped": name(found=replace(FOUND, found=(CANDIDATE, CANDIDATE))),
    }
    for field, mutant in mutants(FOUND):
        made[f"candidates.{field}"] = name(found=mutant)
    for field, mutant in mutants(CANDIDATE):
        made[f"candidate.{field}"] = name(found=with_candidate(mutant))
    for field, mutant in mutants(replace(CANDIDATE, written=OTHER).written):
        with_other = replace(CANDIDATE, written=mutant)
        made[f"written.{field}"] = name(found=with_candidate(with_other))
    for field, mutant in mutants(SIDE):
        for side in ("old", "new"):
            with_other = replace(CANDIDATE, **{side: {"a": mutant}})
            made[f"{side}.{field}"] = name(found=with_candidate(with_other))
    for field, mutant in mutants(FOUND.rejected[0]):
        made[f"rejected.{field}"] = name(found=replace(FOUND, rejected=(mutant,)))
    for field, mutant in mutants(VERDICTS[0]):
        made[f"verdict.{field}"] = name(verdicts=[mutant])
    assert len(set(made.values())) == len(made) > 50
    assert name() == made["as it is"]


def test_a_field_of_an_unknown_kind_is_an_error(cache):
    @dataclass(frozen=True)
    class Later(Candidates):
        more: object = None

    assert documents._path(Later(FOUND.origin, FOUND.found)) != documents._path(FOUND)
    with pytest.raises(TypeError):
        documents._path(Later(FOUND.origin, FOUND.found, more=object()))


def test_names_that_are_not_utf8_are_not_kept_but_shown(repo, cache):
    repo.git("checkout", "--quiet", "one")
    (repo.path / os.fsdecode(b"\xff.py")).write_text(TEXT)
    repo.commit("odd")
    repo.git("checkout", "--quiet", "main")
    assert look(repo, "--format", "json") == look(repo, "--format", "json")
    assert names(cache) == []


def test_without_a_folder_nothing_is_kept(repo, cache, monkeypatch):
    first = look(repo)
    shutil.rmtree(cache)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/proc/nope")
    assert look(repo) == first
    assert names(cache) == []


# --- of another pack, or another version of ours ---


def test_a_document_of_another_pack_is_not_shown(repo, cache, tmp_path):
    packages = tmp_path / "packages" / f"{PACK.replace('-', '_')}-0.13.99.dist-info"
    packages.mkdir(parents=True)
    (packages / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACK}\nVersion: 0.13.99\n")
    with_it = os.environ | {"PYTHONPATH": str(packages.parent)}
    line = asked(repo, "--format", "json")
    first, other, again = (
        spawn(*line, env=env).stdout.decode() for env in (os.environ, with_it, os.environ)
    )
    assert first == again
    assert "python@0.13.99" in other
    assert "python@0.13.99" not in first
    assert len(names(cache)) == 2


def test_what_is_installed_tells_our_files_and_packages_apart(tmp_path, monkeypatch):
    own = [path for path, _, _ in documents._INSTALLED if not path.endswith("-info")]
    assert documents.__file__ in own
    assert any("_walk" in path and path.endswith((".so", ".pyd")) for path in own)
    assert not any("__pycache__" in path for path in own)
    before = documents._installed()
    assert before == documents._installed()
    monkeypatch.setattr(documents.excise, "__path__", [str(tmp_path)])
    without = documents._installed()
    (tmp_path / "new.py").write_text("1\n")
    first = documents._installed()
    os.utime(tmp_path / "new.py", (1, 1))
    assert len({str(each) for each in (before, without, first, documents._installed())}) == 4
    monkeypatch.undo()
    (tmp_path / "numpy-0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert documents._installed() != before


# --- damage ---


def damaged(way, file):
    """Damage the one document in some way."""
    data = file.read_bytes()
    target = file.parent.parent / "target"
    match way:
        case "empty":
            file.write_bytes(b"")
        case "short":
            file.write_bytes(data[:-1])
        case "long":
            file.write_bytes(data + b"\0")
        case "flipped":
            file.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        case "json":
            file.write_bytes(b'{"schema": 2}')
        case "another":  # a whole document, of something else
            body = data[32:]
            file.write_bytes(documents.sha256(b"0" * 64 + body).digest() + body)
        case "other shape":
            body = msgspec.msgpack.encode({"schema": 2, "signature": "x"})
            file.write_bytes(documents.sha256(file.name.encode() + body).digest() + body)
        case "link":
            file.rename(target)
            file.symlink_to(target)
        case "folder":
            file.unlink()
            file.mkdir()
        case "pipe":
            file.unlink()
            os.mkfifo(file)
        case "writable by others":
            file.chmod(0o666)
        case "somebody's":
            os.chown(file, 12345, 12345)
        case "folder is a link":
            file.parent.rename(target)
            file.parent.symlink_to(target)
        case "folder is open":
            file.parent.chmod(0o777)
        case "folder is a file":
            shutil.rmtree(file.parent)
            file.parent.write_text("no folder")


WAYS = (
    *("empty", "short", "long", "flipped", "json", "another", "other shape", "link", "folder"),
    *("pipe", "writable by others", "folder is a link", "folder is open", "folder is a file"),
    pytest.param("somebody's", marks=pytest.mark.skipif(os.name != "posix" or os.getuid() != 0,
                                                        reason="only root gives files away")),
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_document_is_made_anew_without_a_word(repo, cache, parsed, way):
    first = look(repo, "--format", "json")
    (name,) = names(cache)
    whole = (cache / name).read_bytes()
    damaged(way, cache / name)
    parsed.clear()
    assert look(repo, "--format", "json") == first
    assert parsed != []
    if way == "folder":  # which nobody removes
        assert (cache / name).is_dir()
    elif "folder" in way:
        assert not way.endswith("file") or cache.read_text() == "no folder"
        assert not cache.is_symlink() or (cache.parent / "target" / name).read_bytes() == whole
    else:  # and kept again
        assert (cache / name).read_bytes() == whole
        assert not (cache / name).is_symlink()
        assert (cache / name).stat().st_mode & 0o777 == 0o600
        parsed.clear()
        assert look(repo, "--format", "json") == first
        assert parsed == []


# --- full, and written by two ---


def test_where_there_is_no_room_the_review_goes_on(repo, cache):
    """A limit of the size of files fails as a full disk does: in the middle of writing."""
    limit = (
        "import resource, signal, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "from excise_server.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    line = asked(repo, "--format", "json")
    full = subprocess.run(
        [sys.executable, "-B", "-c", limit, *line], capture_output=True, timeout=120
    )
    assert full.returncode == 0, full.stderr
    assert full.stderr == b""
    assert names(cache) == []
    assert full.stdout.decode() == look(repo, "--format", "json")[0]
    assert len(names(cache)) == 1


def test_those_used_last_stay(cache, monkeypatch):
    cache.mkdir(parents=True, mode=0o700)

    def put(name, size, days):
        (cache / name).write_bytes(b"x" * size)
        when = time.time() - days * 86_400
        os.utime(cache / name, (when, when))

    for days, name in enumerate("abcd"):
        put(name, 100, days)
    put("old", 1, documents.DAYS + 1)
    documents._make_room(cache, 300)
    assert names(cache) == ["a", "b", "c"]
    documents._make_room(cache, 299)
    assert names(cache) == ["a", "b"]


def test_all_documents_have_a_limit_and_a_look_is_a_use(repo, cache, monkeypatch):
    look(repo)
    (first,) = names(cache)
    size = (cache / first).stat().st_size
    monkeypatch.setattr(documents, "MOST_BYTES", size * 2 + size // 2)
    os.utime(cache / first, (time.time() - 9, time.time() - 9))
    look(repo, "--intent", "fix")
    (second,) = set(names(cache)) - {first}
    os.utime(cache / second, (time.time() - 5, time.time() - 5))
    look(repo)  # a use of the first
    look(repo, "--issue", "it returns nothing")
    assert len(names(cache)) == 2
    assert first in names(cache)
    monkeypatch.setattr(documents, "MOST_BYTES", size // 2)
    look(repo, "one", "two")  # larger than all may be
    assert len(names(cache)) == 2


def test_several_processes_write_at_once(repo, cache):
    lines = [asked(repo, "--format", "json", *more) for more in ([], ["--intent", "fix"]) * 3]
    running = [
        subprocess.Popen(command_line(*line), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in lines
    ]
    outs = [process.communicate(timeout=120) for process in running]
    assert all(process.returncode == 0 for process in running)
    assert {err for _, err in outs} == {b""}
    assert len({out for out, _ in outs}) == 2
    assert len(names(cache)) == 2
    for line, (out, _) in zip(lines, outs, strict=True):
        assert spawn(*line).stdout == out
    assert len(names(cache)) == 2


# --- what is not kept ---


def test_what_a_parser_gave_up_on_is_not_kept(repo, cache, monkeypatch):
    """Its clock stops it, and how far it gets depends on the machine."""
    with monkeypatch.context() as patched:
        patched.setattr("excise_server.candidates.compared.PARSER_SECONDS", 0.0)
        slow = look(repo, "--format", "json")[0]
    assert "CPU seconds" in slow
    assert names(cache) == []
    out = look(repo, "--format", "json")[0]
    assert "CPU seconds" not in out
    assert len(names(cache)) == 1


def test_what_is_kept_from_a_parser_is_not_kept(repo, cache):
    """It ended a process, which may not be the text's fault."""
    from excise_server.processes.parsers import Quarantine

    texts = (TEXT, GUARD)
    bad = [documents.sha256(text.encode()).digest() + b"python" for text in texts]
    line = asked(repo, "--format", "json")
    for name in bad:
        assert Quarantine(cache.parent).add(name)
    without = spawn(*line).stdout.decode()
    assert "failed on this text" in without
    assert names(cache) == []
    (cache.parent / "quarantine").unlink()
    whole = spawn(*line).stdout.decode()
    assert "failed on this text" not in whole
    assert len(names(cache)) == 1


def test_what_is_refused_is_not_kept(repo, cache):
    assert excise(*asked(repo, "--task", "none")).code == 2
    assert names(cache) == []
