"""Hostile repositories: what they plant runs for a careless program, and never for us.

Each trap writes a marker file. The careless call comes first, so that a trap that does not work
fails its test.
"""

import os
import shutil
import sys

import pytest
from tests.server.git_repository import known, make, needs_git, reasons, texts

from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.git.command import Git
from excise_server.sources.collect import collect, open_repository
from excise_server.wire.sources import CHOICES

pytestmark = [
    pytest.mark.slow,
    needs_git,
    pytest.mark.skipif(sys.platform == "win32", reason="the traps are shell scripts"),
]


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def trap(tmp_path, marker):
    """Return a command that leaves the marker, whatever it is called with."""
    script = tmp_path / "trap"
    script.write_text(f"#!/bin/sh\necho run >> '{marker}'\nexit 1\n")
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """Return a repository with a branch, a worktree and a patch for every source to read."""
    made = make(tmp_path, monkeypatch, a__py="one\ntwo\n")
    made.git("checkout", "--quiet", "-b", "agent")
    made.commit(a__py="one\nagent\n")
    (made.path / "patches").mkdir()
    (made.path / "patches" / "1.patch").write_bytes(made.git("format-patch", "-1", "--stdout"))
    made.git("checkout", "--quiet", "main")
    made.git("worktree", "add", "--quiet", "-b", "tree", tmp_path / "tree")
    (tmp_path / "tree" / "a.py").write_text("one\ntree\n")
    return made


REVISIONS = {
    "worktree:tree": "one\ntree\n",
    "branch:agent": "one\nagent\n",
    "patch:1": "one\nagent\n",
}


def springs(repo, marker, *careless, **env):
    """Assert that the trap works on a careless call, and set it again."""
    repo.git(*careless, check=False, **env)
    assert marker.exists(), f"the trap does not work: git {careless}"
    marker.unlink()


def everything(repo, name="a.py"):
    """Ask every source with every origin; return the last answer."""
    for choice in CHOICES:
        found = collect(repo.context(name, origin=choice, patches=("patches",)))
    return found


def harmless(repo, marker):
    found = everything(repo)
    assert texts(found) == REVISIONS
    assert (found.refused, found.origin.text) == ((), "one\ntwo\n")
    assert not marker.exists()


def test_file_system_monitor(repo, marker, trap):
    repo.git("config", "core.fsmonitor", trap)
    springs(repo, marker, "status")
    harmless(repo, marker)


def test_hooks(repo, marker, trap):
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(trap, hooks / name)
    springs(repo, marker, "checkout", "a.py")
    os.utime(repo.path / "a.py", (1, 1))
    springs(repo, marker, "status")
    os.utime(repo.path / "a.py", (2, 2))
    harmless(repo, marker)
    repo.git("config", "core.hooksPath", hooks)
    harmless(repo, marker)


def test_textconv_external_diff_and_filters(repo, marker, trap):
    for name, value in (
        ("diff.evil.textconv", trap),
        ("diff.evil.command", trap),
        ("filter.evil.smudge", trap),
        ("filter.evil.clean", trap),
        ("merge.evil.driver", trap),
    ):
        repo.git("config", name, value)
    (repo.path / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil merge=evil\n")
    springs(repo, marker, "cat-file", "--textconv", "HEAD:a.py")
    springs(repo, marker, "cat-file", "--filters", "HEAD:a.py")
    springs(repo, marker, "diff", "main", "agent")
    harmless(repo, marker)
    repo.git("config", "diff.external", trap)
    springs(repo, marker, "diff", "main", "agent")
    harmless(repo, marker)


def test_pager_and_helpers(repo, marker, trap):
    repo.git("config", "core.pager", trap)
    repo.git("config", "core.alternateRefsCommand", trap)
    repo.git("config", "credential.helper", f"!{trap}")
    repo.git("config", "core.askPass", trap)
    repo.git("config", "core.editor", trap)
    repo.git("config", "alias.cat-file", f"!{trap}")
    springs(repo, marker, "credential", "fill", stdin=b"protocol=https\nhost=h\n\n")
    harmless(repo, marker)


def missing_blob(repo, trap):
    """Make a partial clone out of the repository: HEAD's file is to be fetched when asked for."""
    blob = repo.head("HEAD:a.py")
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://localhost/x"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialCloneFilter", "blob:none"),
        ("core.sshCommand", trap),
    ):
        repo.git("config", name, value)


def test_a_promised_object_is_not_fetched(repo, marker, trap):
    missing_blob(repo, trap)
    springs(repo, marker, "cat-file", "blob", "HEAD:a.py")
    found = collect(repo.context(origin="head", patches=("patches",)))
    assert found.origin is None
    assert "origin" in reasons(found)
    everything(repo)
    assert not marker.exists()


@pytest.mark.parametrize(
    "kept", ["GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH", "protocol.allow=never"]
)
def test_each_of_the_guards_against_fetching_holds_alone(repo, marker, trap, monkeypatch, kept):
    missing_blob(repo, trap)
    guards = {"GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH"}
    environment = {
        k: v for k, v in Git.run.__globals__["_SET"].items() if k not in guards or k == kept
    }
    monkeypatch.setattr("excise_server.git.command._SET", environment)
    kept_options = (kept,) if "=" in kept else ()
    monkeypatch.setattr("excise_server.git.command._OVERRIDES", kept_options)
    if kept == "GIT_NO_LAZY_FETCH":
        springs(repo, marker, "cat-file", "blob", "HEAD:a.py")
        repo.git("cat-file", "blob", "HEAD:a.py", check=False, GIT_NO_LAZY_FETCH="1")
        if marker.exists():
            pytest.skip("this git does not know GIT_NO_LAZY_FETCH: needs 2.39.4 or 2.45")
    collect(repo.context(origin="head"))
    assert not marker.exists()


def test_without_any_guard_the_same_call_springs_the_trap(repo, marker, trap, monkeypatch):
    missing_blob(repo, trap)
    monkeypatch.setattr("excise_server.git.command._SET", {})
    monkeypatch.setattr("excise_server.git.command._OVERRIDES", ())
    collect(repo.context(origin="head"))
    assert marker.exists()


def test_remote_helper_and_proxy(repo, marker, trap):
    missing_blob(repo, trap)
    repo.git("config", "remote.origin.url", f"ext::{trap}")
    springs(repo, marker, "cat-file", "blob", "HEAD:a.py", GIT_ALLOW_PROTOCOL="ext")
    everything(repo)
    repo.git("config", "remote.origin.url", "git://localhost/x")
    repo.git("config", "core.gitProxy", trap)
    springs(repo, marker, "cat-file", "blob", "HEAD:a.py")
    everything(repo)
    assert not marker.exists()


def test_a_submodule_with_a_trap_in_its_config(repo, marker, trap, tmp_path, monkeypatch):
    inner = make(tmp_path, monkeypatch, "inner")
    inner.commit(s__py="sub\n")
    repo.git("submodule", "--quiet", "add", inner.path, "lib")
    repo.git("config", "core.fsmonitor", trap, cwd=repo.path / "lib")
    repo.git("config", "core.pager", trap, cwd=repo.path / "lib")
    springs(repo, marker, "status")
    harmless(repo, marker)
    found = everything(repo, "lib/s.py")
    assert not marker.exists()
    assert texts(found) == {}


def test_a_bare_repository_hidden_among_the_files(repo, marker, trap):
    bare = repo.path / "docs"
    shutil.copytree(repo.path / ".git", bare, ignore=shutil.ignore_patterns("worktrees"))
    (bare / "config").write_text(
        f"[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = {trap}\n"
    )
    (bare / "a.py").write_text("x\n")
    springs(repo, marker, "status", cwd=bare)
    found = collect(repo.context("docs/a.py", origin="head"))
    assert not marker.exists()
    assert reasons(found) == {"origin": "not in a git repository"}


def test_alternates_and_replaced_objects(repo, marker, trap, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(repo.path / ".git", other)
    alternates = repo.path / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{other}/objects\n/dev/zero\n")
    repo.git("config", "core.alternateRefsCommand", trap)
    springs(repo, marker, "rev-list", "--alternate-refs")
    fake = repo.git("hash-object", "-w", "--stdin", stdin=b"replaced\n").decode().strip()
    repo.git("replace", repo.head("HEAD:a.py"), fake)
    assert repo.git("cat-file", "blob", "HEAD:a.py") == b"replaced\n"
    harmless(repo, marker)


@pytest.mark.parametrize("name", ["--upload-pack=trap", "--output=marker", "-c", "--exec=trap"])
def test_branches_named_like_options(repo, marker, name):
    commit = repo.head("agent")
    ref = repo.path / ".git" / "refs" / "heads" / name
    ref.write_text(f"{commit}\n")
    if name == "--output=marker":
        repo.git(
            "log",
            "-p",
            name,
            "main",
            check=False,
            cwd=marker.parent,
            GIT_DIR=str(repo.path / ".git"),
        )
        assert marker.exists(), "the trap does not work"
        marker.unlink()
    found = everything(repo)
    (revision,) = texts(found).keys() - {"worktree:tree", "patch:1"}
    assert texts(found)[revision] == REVISIONS["branch:agent"]
    assert {"branch:agent", f"branch:{name}"} <= {revision, *known(found)[revision].names}
    assert not marker.exists()
    assert not (repo.path / "marker").exists()


def test_patterns_of_branches_are_no_options(repo, marker):
    for pattern in ("--shell", "--format=x", "-h", "x\0y", "../tags/**", "", "main\nagent"):
        found = collect(repo.context(git=(pattern,), worktrees=False))
        assert found.revisions == (), pattern
        assert found.origin is not None


def test_the_environment_cannot_point_elsewhere(repo, marker, trap, tmp_path, monkeypatch):
    for name, value in (
        ("GIT_DIR", str(tmp_path / "nowhere")),
        ("GIT_WORK_TREE", "/"),
        ("GIT_INDEX_FILE", "/dev/null"),
        ("GIT_OBJECT_DIRECTORY", "/dev"),
        ("GIT_SSH_COMMAND", trap),
        ("GIT_ASKPASS", trap),
        ("GIT_EXTERNAL_DIFF", trap),
        ("GIT_TRACE", str(marker)),
        ("GIT_TRACE2_EVENT", str(marker)),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", trap),
    ):
        monkeypatch.setenv(name, value)
    harmless(repo, marker)


def test_a_program_called_git_in_the_workspace(repo, marker, trap, monkeypatch):
    shutil.copy(trap, repo.path / "git")
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    harmless(repo, marker)


def test_an_untrusted_workspace_starts_no_git(repo, marker, trap, monkeypatch, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(trap, folder / "git")
    monkeypatch.setenv("PATH", str(folder))
    collect(repo.context())
    assert marker.exists(), "the trap does not work"
    marker.unlink()
    for choice in CHOICES:
        found = collect(repo.context(trusted=False, origin=choice, patches=("patches",)))
        untrusted = "git is never started in a workspace that is not trusted"
        assert reasons(found)["git"] == untrusted
        # A patch of the saved text needs no git.
        assert texts(found) == {"patch:1": "one\nagent\n"}
        assert (found.origin is not None) == (choice == "saved")
    assert not marker.exists()


def secret_repository(tmp_path, monkeypatch):
    """Return a repository outside of the workspace that nobody may be led to."""
    secret = make(tmp_path, monkeypatch, "secret")
    secret.commit(a__py="secret\n")
    return secret


def leaks(found):
    texts = [(revision.id, revision.text, revision.label) for revision in found.revisions]
    return "secret" in repr((found.origin, texts, [version.base for version in found.versions]))


def test_a_listed_worktree_that_is_none(repo, tmp_path, monkeypatch):
    secret = secret_repository(tmp_path, monkeypatch)
    entry = repo.path / ".git" / "worktrees" / "evil"
    shutil.copytree(repo.path / ".git" / "worktrees" / "tree", entry)
    (entry / "gitdir").write_text(f"{secret.path}/.git\n")
    listed = [tree.path for tree in open_repository(repo.context()).worktrees()]
    assert str(secret.path) in listed, "the trap does not work"
    found = everything(repo)
    assert not leaks(found)
    assert reasons(found) == {f"worktree:{secret.path}": "its .git is another repository"}
    assert texts(found) == REVISIONS


def test_a_worktree_whose_git_file_points_elsewhere(repo, tmp_path, monkeypatch):
    secret = secret_repository(tmp_path, monkeypatch)
    secret.git("worktree", "add", "--quiet", "-b", "x", tmp_path / "other")
    link = tmp_path / "tree" / ".git"
    right = link.read_text()
    cases = {
        (tmp_path / "other" / ".git").read_text(): "its .git does not point back to the repository",
        f"gitdir: {repo.path}/.git/worktrees/../worktrees/none\n": "its .git cannot be read",
        f"gitdir: {repo.path}/.git\n": "its .git does not point back to the repository",
        "gitdir: \n": "its .git cannot be read: it does not name a repository",
        "nothing": "its .git cannot be read: it does not name a repository",
        "x" * 9000: "its .git cannot be read: 9000 bytes",
    }
    for content, reason in cases.items():
        link.write_text(content)
        found = everything(repo)
        assert reasons(found)[f"worktree:{tmp_path / 'tree'}"].startswith(reason)
        assert "worktree:tree" not in texts(found)
    link.unlink()
    os.mkfifo(link)
    assert reasons(everything(repo))[f"worktree:{tmp_path / 'tree'}"].endswith("it is a named pipe")
    link.unlink()
    link.write_text(right)
    back = repo.path / ".git" / "worktrees" / "tree" / "gitdir"
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.py").write_text("copied\n")
    shutil.copy(link, tmp_path / "copy" / ".git")
    back.write_text(f"{tmp_path / 'copy' / '.git'}\n")
    assert texts(everything(repo))["worktree:copy"] == "copied\n"  # moved: both name each other
    back.write_text(f"{tmp_path / 'tree'}/../copy/../other/.git\n")
    assert "worktree:other" not in texts(everything(repo))


@pytest.mark.parametrize("how", ["file", "link", "worktree", "commondir", "core.worktree"])
def test_a_workspace_that_names_a_repository_elsewhere(tmp_path, monkeypatch, how):
    secret = secret_repository(tmp_path, monkeypatch)
    work = tmp_path / "innocent"
    work.mkdir()
    (work / "a.py").write_text("mine\n")
    store = secret.path / ".git"
    match how:
        case "file":
            (work / ".git").write_text(f"gitdir: {store}\n")
        case "link":
            (work / ".git").symlink_to(store)
        case "worktree":
            secret.git("worktree", "add", "--quiet", "-b", "x", tmp_path / "theirs")
            shutil.copy(tmp_path / "theirs" / ".git", work / ".git")
        case "commondir":
            (work / "fake").mkdir()
            (work / "fake" / "HEAD").write_text("ref: refs/heads/main\n")
            (work / "fake" / "commondir").write_text(f"{store}\n")
            (work / "fake" / "gitdir").write_text(f"{work}/.git\n")
            (work / ".git").write_text(f"gitdir: {work}/fake\n")
        case "core.worktree":
            secret.git("init", "--quiet", work)
            secret.git("config", "core.worktree", secret.path, cwd=work)
    if how != "core.worktree":
        naive = secret.git("cat-file", "blob", "HEAD:a.py", cwd=work)
        assert naive == b"secret\n", "the trap does not work"
    context = secret.context(work / "a.py", folders=[work], origin="head")
    with pytest.raises(SourceError, match="the repository is not used"):
        open_repository(context)
    found = collect(context)
    assert not leaks(found)
    assert reasons(found)["git"].startswith("the repository is not used: ")


def test_a_file_of_a_worktree_that_is_a_link_out(repo, tmp_path):
    (tmp_path / "passwords").write_text("secret\n")
    path = tmp_path / "tree" / "a.py"
    path.unlink()
    path.symlink_to(tmp_path / "passwords")
    found = everything(repo)
    assert not leaks(found)
    assert reasons(found) == {"worktree:tree": "a link or a submodule, not a text file"}
    path.unlink()
    os.mkfifo(path)
    assert reasons(everything(repo)) == {"worktree:tree": "it is a named pipe"}


def test_a_hanging_config_is_given_up(repo, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    repo.git("config", "include.path", tmp_path / "pipe")
    git = Git(str(repo.path), seconds=0.2)
    with pytest.raises(UnansweredError, match="took over"):
        git.run("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "name",
    [
        ".git/HEAD",
        ".git/index",
        ".git/config",
        ".git/packed-refs",
        ".git/refs/heads/pipe",
        ".git/refs/heads/deep/pipe",
        ".git/info/exclude",
        ".git/shallow",
        ".gitignore",
        ".git",
    ],
)
def test_a_pipe_in_a_place_of_gits_is_refused_before_git_is_asked(repo, name):
    path = repo.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rename(repo.path / "moved")
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    reason = f"the repository is not used: {path.name} in it is not a file"
    assert reasons(everything(repo))["git"] == reason


def test_pipes_of_a_worktrees_own_are_refused(repo, tmp_path):
    own = repo.path / ".git" / "worktrees" / "tree"
    (own / "index").unlink()
    os.mkfifo(own / "index")
    context = repo.context(tmp_path / "tree" / "a.py", folders=[tmp_path])
    with pytest.raises(SourceError, match="index in it is not a file"):
        open_repository(context)


def test_after_a_call_that_hangs_git_is_not_asked_again(repo, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    repo.git("config", "include.path", tmp_path / "pipe")
    git = Git(str(repo.path), seconds=0.2)
    with pytest.raises(UnansweredError, match="took over"):
        git.run("rev-parse", "HEAD")
    with pytest.raises(UnansweredError, match=r"was not run: git rev-parse took over 0\.2 s"):
        git.at(str(tmp_path)).run("rev-parse", "HEAD")
