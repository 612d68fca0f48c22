"""``excise review --patches``: patches as whole files, of the texts that a repository has."""

import json
import os

import pytest
from tests.server.command import excise, ids_of
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, worktree, write

pytestmark = [pytest.mark.slow, needs_git]

NO_KEY = "Expecting property name enclosed in double quotes"
TEXT = "".join(f"def f{n}(a, b):\n    return a + {n}\n\n" for n in range(12))
EDIT = ("return a + 5\n", "return a * b + 5\n")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=TEXT, b__py="b = 1\n")


def propose(repo, *steps, start="main", message="fix", options=()):
    """Commit files (None: deleted) on a branch that is gone again; return the patches of it."""
    repo.git("checkout", "--quiet", "--detach", start)
    base = repo.head()
    for files in steps:
        for name, text in files.items():
            if text is None:
                repo.git("rm", "--quiet", name)
            else:
                repo.write(name, text)
        repo.commit(message)
    mails = repo.git("format-patch", "--stdout", "--no-signature", *options, base)
    repo.git("checkout", "--quiet", "main")
    return mails


def drift(repo, count, text=TEXT):
    """Commit to main, far from the function that is edited."""
    for n in range(count):
        text = f"import m{n}\n" + text
        repo.commit(a__py=text)
    return text


def compared(repo, tmp_path, patches, *options, code=0):
    folder = tmp_path / "p"
    for name, data in patches.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    ran = excise(
        "review", "--repo", str(repo.path), "--patches", str(folder), "--format", "json", *options
    )
    assert ran.code == code, ran.err
    return ran.json


def reasons(found):
    return {rejected["id"]: rejected["reason"] for rejected in found["rejected"]}


def entry(found, name):
    name = f"patch:{name}".removesuffix(".patch")
    return next(row for row in found["candidates"] if row["id"] == name)


def files(found, name):
    return {
        file["path"]: (file["status"], file["added"], file["deleted"])
        for file in entry(found, name)["files"]
    }


def test_one_edit_of_five_ages_is_one_change(repo, tmp_path):
    patches, text = {}, TEXT
    for age in range(5):
        patches[f"{age}.patch"] = propose(repo, {"a.py": text.replace(*EDIT)})
        text = drift(repo, 4, text)
    found = compared(repo, tmp_path, patches)
    assert found["similarity"] == [[1.0] * 5] * 5
    assert [group["members"] for group in found["tasks"][0]["groups"]] == [ids_of(found)]
    assert (found["basis"], found["origin"]) == ("origin", repo.head())
    assert {(row["kind"], row["folder"]) for row in found["candidates"]} == {("patch", None)}
    assert all(len(row["identical"]) == 4 for row in found["candidates"])
    assert {row["digest"] for row in found["candidates"]} != {entry(found, "0.patch")["digest"]}
    shown = excise("review", "--repo", str(repo.path), "--patches", str(tmp_path / "p")).out
    assert shown.splitlines()[0].endswith(f"onto {repo.head()[:8]}")
    assert "5 identical: 0, 1, 2, 3, 4\n" in shown


def test_a_series_composes_in_order(repo, tmp_path):
    steps = (
        {"a.py": TEXT.replace(*EDIT), "new.py": "one = 1\n"},
        {"a.py": TEXT.replace(*EDIT).replace("a + 9", "a + 90"), "b.py": None},
        {"new.py": "one = 1\ntwo = 2\n"},
    )
    series = propose(repo, *steps)
    whole = propose(repo, {"a.py": steps[1]["a.py"], "b.py": None, "new.py": "one = 1\ntwo = 2\n"})
    found = compared(repo, tmp_path, {"series.mbox": series, "whole.patch": whole})
    assert found["similarity"] == [[1, 1], [1, 1]]
    assert entry(found, "series")["identical"] == ["patch:whole"]
    assert files(found, "series") == {
        "a.py": ("modified", 2, 2),
        "b.py": ("deleted", 0, 1),
        "new.py": ("created", 2, 0),
    }
    # The files that `git format-patch -o` writes are that series.
    first, *rest = series.split(b"\nFrom ")
    parts = {"0.patch": first + b"\n"} | {
        f"{n}.patch": b"From " + part + b"\n" for n, part in enumerate(rest, start=1)
    }
    found = compared(repo, tmp_path, {f"parts/{name}": data for name, data in parts.items()})
    assert len(found["candidates"]) == 3
    assert entry(found, "series")["identical"] == ["patch:parts/0", "patch:whole"]


def test_renames_of_the_patch_and_of_the_target(repo, tmp_path):
    moved = {"a.py": None, "sub/c.py": TEXT.replace(*EDIT)}
    patches = {
        "move.patch": propose(repo, moved, options=("-M",)),
        "edit.patch": propose(repo, {"a.py": TEXT.replace(*EDIT)}),
    }
    assert b"rename to sub/c.py" in patches["move.patch"]
    found = compared(repo, tmp_path, patches)
    assert files(found, "move.patch") == {"sub/c.py": ("renamed", 1, 1)}
    text = drift(repo, 1)
    repo.git("mv", "a.py", "z.py")
    repo.commit("moved")
    drifted = compared(repo, tmp_path, {})
    assert files(drifted, "edit.patch") == {"z.py": ("modified", 1, 1)}
    assert "a.py is z.py in the target" in entry(drifted, "edit.patch")["notes"]
    assert text.startswith("import m0")
    older = compared(repo, tmp_path, {}, "--onto", "HEAD~2")
    assert files(older, "edit.patch") == {"a.py": ("modified", 1, 1)}


def test_a_file_that_the_target_moved_and_rewrote_is_not_followed(repo, tmp_path):
    patches = {"edit.patch": propose(repo, {"a.py": TEXT.replace(*EDIT)})}
    repo.git("mv", "a.py", "z.py")
    repo.commit("moved")
    lines = TEXT.split("\n")
    repo.commit(z__py="\n".join(lines[: len(lines) // 4]) + "\n" + "rewritten = 1\n" * 60)
    found = compared(repo, tmp_path, patches)
    assert entry(found, "edit.patch")["conflicts"] == [
        {"path": "a.py", "kind": "modify/delete", "reason": "the target deleted this file"}
    ]


def test_pure_renames_modes_and_binaries(repo, tmp_path, monkeypatch):
    repo.commit(pic__png=b"\0one", other__png=b"\0two")
    repo.git("checkout", "--quiet", "--detach", "main")
    repo.git("mv", "a.py", "moved.py")
    (repo.path / "b.py").chmod(0o755)
    repo.commit("no text changes")
    quiet = repo.git("format-patch", "--stdout", "-1", "-M")
    repo.git("checkout", "--quiet", "main")
    patches = {
        "quiet.patch": quiet,
        "pic.patch": propose(repo, {"pic.png": b"\0new", "b.py": "b = 2\n"}),
    }
    assert quiet.count(b"\nindex ") == 0
    found = compared(repo, tmp_path, patches)
    assert files(found, "quiet.patch") == {
        "b.py": ("modified", 0, 0),
        "moved.py": ("renamed", 0, 0),
    }
    assert set(files(found, "pic.patch")) == {"pic.png", "b.py"}
    other = make(tmp_path, monkeypatch, "other")
    other.commit(a__py=TEXT, b__py="b = 1\n", pic__png=b"\0one")
    patch = propose(other, {"pic.png": b"\0newer", "b.py": "b = 2\n"})
    found = compared(repo, tmp_path, {"pic.patch": patch})
    assert set(files(found, "pic.patch")) == {"b.py"}
    assert "pic.png: the patch is binary" in " ".join(entry(found, "pic.patch")["notes"])


def test_what_has_landed_and_what_conflicts(repo, tmp_path):
    patches = {
        "landed.patch": propose(repo, {"a.py": TEXT.replace(*EDIT)}),
        "conflict.patch": propose(repo, {"a.py": TEXT.replace("a + 5", "a - 5")}),
        "born.patch": propose(repo, {"c.py": "c = 1\n"}),
    }
    repo.commit(a__py=TEXT.replace(*EDIT), c__py="c = 2\n")
    found = compared(repo, tmp_path, patches)
    assert [one["id"] for one in found["landed"]] == ["patch:landed"]
    assert entry(found, "conflict.patch")["conflicts"] == [
        {"path": "a.py", "kind": "content", "reason": "the target changed these lines, too"}
    ]
    assert entry(found, "born.patch")["conflicts"] == [
        {"path": "c.py", "kind": "add/add", "reason": "the target created this file, too"}
    ]


def test_forms_of_one_patch(repo, tmp_path):
    edit = {"a.py": TEXT.replace(*EDIT)}
    plain = propose(repo, edit)
    patches = {
        "attach.eml": propose(repo, edit, options=("--attach",)),
        "crlf.eml": plain.split(b"\n", 1)[1].replace(b"\n", b"\r\n"),
        "full.patch": propose(repo, edit, options=("--full-index",)),
        "none.patch": propose(repo, edit, options=("-U0",)),
        "plain.patch": plain,
    }
    found = compared(repo, tmp_path, patches)
    assert found["similarity"] == [[1.0] * 5] * 5
    assert all(len(row["identical"]) == 4 for row in found["candidates"])


def test_what_is_not_comparable_is_listed(repo, tmp_path, monkeypatch):
    good = propose(repo, {"a.py": TEXT.replace(*EDIT)})
    index = next(line for line in good.split(b"\n") if line.startswith(b"index "))
    old, new = index.split(b" ")[1].split(b"..")
    leaving = {
        f"leave{n}.patch": good.replace(b"a/a.py", b"a/" + path).replace(b"b/a.py", b"b/" + path)
        for n, path in enumerate((b"../a.py", b"/etc/a.py", b".git/a.py", b"x/../../a.py"))
    }
    other = make(tmp_path, monkeypatch, "other")
    other.commit(a__py=TEXT + "more\n")
    patches = {
        "context.patch": good.replace(b" def f5", b" def g5"),
        "cut.patch": good[: good.index(b" def f6")],
        "expression.patch": good.replace(old, b"HEAD:a.py"),
        "good.patch": good,
        "merge.patch": b"diff --cc a.py\n@@@ -1 -1 +1 @@@\n",
        "no-index.patch": good.replace(index + b"\n", b""),
        "result.patch": good.replace(new, b"abcdef1"),
        "twice.patch": good + good.partition(b"\n---\n")[2],
        "empty.patch": b"",
        "unknown.patch": propose(other, {"a.py": TEXT.replace(*EDIT) + "more\n"}),
        **leaving,
    }
    (tmp_path / "p").mkdir()
    os.symlink("/etc/passwd", tmp_path / "p" / "link.patch")
    found = compared(repo, tmp_path, patches, code=1)
    # Where no text is known by its name, the lines decide, as for `git apply`.
    same = ["patch:expression", "patch:good", "patch:no-index", "patch:result", "patch:unknown"]
    assert ids_of(found) == same
    assert all(len(row["identical"]) == 4 for row in found["candidates"])
    said = reasons(found)
    wanted = {
        "patch:context": "a.py: hunk 1 does not apply: line 16 has another text",
        "patch:cut": "the hunk ends",
        "patch:empty": "an empty message",
        "patch:link": "outside",
        "patch:merge": "a combined diff",
        "patch:twice": "a.py: hunk 1 does not apply: line 17 has another text",
    } | {f"patch:leave{n}": "the path is outside the tree" for n in range(4)}
    assert said.keys() == wanted.keys()
    for name, reason in wanted.items():
        assert reason in said[name]


def test_the_file_of_one_message_twice(repo, tmp_path):
    mails = propose(repo, {"b.py": "b = 2\n"}, {"b.py": "b = 3\n"})
    diffs = [part.partition(b"\n---\n")[2] for part in mails.split(b"\nFrom ")]
    found = compared(repo, tmp_path, {"twice.patch": b"\n".join(diffs)})
    assert files(found, "twice.patch") == {"b.py": ("modified", 1, 1)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("R", "--patches", "P", "--onto", "nobody"), "unknown revision 'nobody'"),
        (("/nonexistent", "--patches", "P"), "no such folder"),
        (("R", "--patches", "none.patch"), "none.patch"),
        (("R", "--patches", "EMPTY"), "no patch in it"),
    ],
)
def test_misuse(repo, tmp_path, arguments, said):
    (tmp_path / "x.patch").write_bytes(propose(repo, {"b.py": "b = 2\n"}))
    (tmp_path / "empty").mkdir()
    places = {"R": str(repo.path), "P": str(tmp_path / "x.patch"), "EMPTY": str(tmp_path / "empty")}
    ran = excise("review", "--repo", *(places.get(argument, argument) for argument in arguments))
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_versions_of_a_series_are_candidates(repo, tmp_path):
    patches = {
        "v1.patch": propose(repo, {"b.py": "b = 2\n"}),
        "v2.patch": propose(repo, {"b.py": "b = 3\n"}, options=("-v2",)),
    }
    found = compared(repo, tmp_path, patches)
    assert sorted(ids_of(found)) == ["patch:v1", "patch:v2"]
    shown = excise("cluster", str(tmp_path / "p"), "--format", "json").json
    replaced = {e["id"]: e["replaced_by"] for e in shown["patches"]}
    assert replaced == {"v1.patch": "v2.patch", "v2.patch": ""}


def test_a_patch_is_what_the_same_worktree_is(repo, tmp_path):
    edit, other = TEXT.replace(*EDIT), TEXT.replace("a + 5", "a - 5")
    patches = {
        "ada.patch": propose(repo, {"a.py": edit, "new.py": "n = 1\n"}),
        "bo.patch": propose(repo, {"a.py": other}),
    }
    write(worktree(repo, "ada2", a__py=edit), "new.py", "n = 1\n")
    worktree(repo, "bo2", a__py=other)
    found = compared(repo, tmp_path, patches)
    entries = by_id(found)
    for name in ("ada", "bo"):
        assert entries[name]["identical"] == [f"worktree:{name}2"]
        assert entries[name]["digest"] == entries[f"{name}2"]["digest"]
        assert entries[name]["files"] == entries[f"{name}2"]["files"]
        assert (entries[name]["kind"], entries[name]["label"]) == ("patch", name)
    only = compared(repo, tmp_path, {}, "--only", "b*")
    assert ids_of(only) == ["worktree:bo2", "patch:bo"]


def test_predictions_are_tasks_by_their_instance(repo, tmp_path):
    one, two = (
        propose(repo, {"a.py": TEXT.replace("a + 5", new)}).decode() for new in ("5 * a", "a - 5")
    )
    lines = [
        {"instance_id": "x-1", "model_name_or_path": "gpt", "model_patch": one},
        {"instance_id": "x-1", "model_name_or_path": "opus", "model_patch": one},
        {"instance_id": "x-2", "model_patch": two},
        {"instance_id": "x-3", "model_patch": ""},
        {"instance_id": "x-4"},
        ["x-5"],
    ]
    text = (
        "\n".join(map(json.dumps, lines))
        + "\n\n{\n"
        + '{"instance_id": "\\ud800", "model_patch": ""}'
    )
    found = compared(repo, tmp_path, {"p.jsonl": text.encode()}, code=1)
    assert [task["members"] for task in found["tasks"]] == [
        ["patch:gpt/x-1", "patch:opus/x-1"], ["patch:p/x-2"],
    ]  # fmt: skip
    assert found["tasks"][0]["name"] == "x-1"
    assert [(r["id"], r["reason"]) for r in found["rejected"]] == [
        ("patch:p/x-3", "line 4: no diff in it"),
        ("patch:p line 5", "line 5: model_patch is missing, or not a text"),
        ("patch:p line 6", "line 6: not a JSON object"),
        ("patch:p line 8", f"line 8: not JSON: {NO_KEY} at column 2"),
        ("patch:p line 9", "line 9: not Unicode text: a lone surrogate"),
    ]


def test_a_patch_without_the_names_of_its_texts_needs_their_commit(repo, tmp_path):
    """With them, what the target did since is not its edit."""
    mail = propose(repo, {"a.py": TEXT.replace(*EDIT)})
    repo.commit(a__py=TEXT.replace("def f4(", "def g4(").replace("def f5(", "def g5("))
    index = next(line for line in mail.split(b"\n") if line.startswith(b"index "))
    patches = {"with.patch": mail, "without.patch": mail.replace(index + b"\n", b"")}
    found = compared(repo, tmp_path, patches, code=1)
    assert files(found, "with.patch") == {"a.py": ("modified", 1, 1)}
    assert "hunk 1 does not apply" in reasons(found)["patch:without"]
    found = compared(repo, tmp_path, {}, "--base", "without=HEAD~1")
    assert files(found, "without.patch") == {"a.py": ("modified", 1, 1)}
    assert entry(found, "without.patch")["behind"] == 1
