"""``excise cluster --git`` of heads: each head against its own merge base, in a real repository."""

import json

import pytest
from tests.server.command import excise, one_line
from tests.server.git_repository import Repo, needs_git

pytestmark = [needs_git, pytest.mark.slow]

CART = "class Cart:\n    def total(self, items):\n        subtotal = sum(items)\n" + "".join(
    f"        self.step_{n}()\n" for n in range(6)
)
OLD, NEW = "return subtotal - discount", "return max(subtotal - discount, {})"


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """Requests 1 and 2 fix one bug; 1 was merged, 2 left earlier, 3 stands on 2, 4 reverts 1."""
    place = tmp_path_factory.mktemp("git")
    patch = pytest.MonkeyPatch()
    made = Repo(place / "repo", place / "home").init()
    for name in ("GIT_CONFIG_GLOBAL", "HOME"):
        patch.setenv(name, made.env[name])
    text = CART + f"        {OLD}\n"
    made.commit("start", cart__py=text)
    heads = {}

    def request(number, start, title, author, **files):
        made.git("checkout", "--quiet", "-B", f"t{number}", start)
        heads[number] = made.commit(
            title, **files
        ) if author is None else amended(title, author, files)  # fmt: skip
        made.git("update-ref", f"refs/pull/{number}/head", "HEAD")

    def amended(title, author, files):
        made.commit(title, **files)
        made.git("commit", "--amend", "--quiet", "--no-edit", "--author", f"{author} <{author}@x>")
        return made.head()

    title = "Keep the total above zero when the discount is large"
    request(2, "main", title, "bo", cart__py=text.replace(OLD, NEW.format("0.0")))
    request(3, "t2", f"{title}: say so", "chen", docs__md="The total is never below zero.\n")
    made.git("checkout", "--quiet", "main")
    made.commit("moves on", other__py="x = 1\n" * 40)
    request(1, "main", title, "ada", cart__py=text.replace(OLD, NEW.format("0")))
    made.git("checkout", "--quiet", "main")
    made.git("merge", "--quiet", "--no-ff", "-m", "Merge request 1", "t1")
    request(4, "main", f'Revert "{title}"', "dana", cart__py=text)
    made.git("update-ref", "refs/pull/5/head", heads[2])
    made.git("checkout", "--quiet", "main")
    yield made
    patch.undo()


def found(repo, *arguments):
    asked = ("cluster", "--git", "pull/*", "--repo", str(repo.path), "--format", "json")
    ran = excise(*asked, *arguments)
    assert ran.code == 0, ran.err
    return ran.json


def pair_of(document, one, two):
    (pair,) = [p for p in document["pairs"] if {p["new"], p["other"]} == {one, two}]
    return pair


def test_heads_are_compared_by_what_is_their_own(repo):
    document = found(repo)
    pair = pair_of(document, "#1", "#2")
    assert (pair["level"], pair["otherwise"]) == ("likely", "")
    assert pair["where"] > 0.99
    assert pair["reasons"]["where"][0]["path"] == "cart.py"
    states = {entry["id"]: entry["state"] for entry in document["proposals"]}
    assert (states["#1"], states["#2"]) == ("merged", "")


def test_stacks_and_reverts_are_named(repo):
    document = found(repo)
    assert pair_of(document, "#2", "#3")["otherwise"] == "builds on"
    assert pair_of(document, "#1", "#4")["otherwise"] == "reverts"


def test_two_refs_of_one_commit_are_one(repo):
    document = found(repo)
    assert "#5 is the commit of #2" in document["about"]
    assert "#5" not in {entry["id"] for entry in document["proposals"]}


def test_what_the_main_line_has_is_said(repo):
    repo.git("update-ref", "refs/pull/6/head", "main~1^")
    try:
        assert any(note.startswith("#6: the main line has all") for note in found(repo)["about"])
    finally:
        repo.git("update-ref", "-d", "refs/pull/6/head")


def test_nothing_of_a_repository_is_run(repo, tmp_path):
    """Drivers, conversions and drivers of submodules that a repository names are not looked at."""
    mark = tmp_path / "ran"
    hook = f"touch {mark}; cat"
    settings = (("diff.evil.textconv", hook), ("diff.evil.command", hook), ("diff.external", hook),
                ("core.fsmonitor", hook), ("filter.evil.smudge", hook))  # fmt: skip
    for name, value in settings:
        repo.git("config", name, value)
    attributes = repo.path / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("*.py diff=evil filter=evil\n")
    try:
        assert pair_of(found(repo), "#1", "#2")["level"] == "likely"
        assert not mark.exists()
    finally:
        attributes.unlink()
        for name, _ in settings:
            repo.git("config", "--unset", name)


def test_bad_questions(repo, tmp_path):
    git = ("cluster", "--git", "nothing/*", "--repo")
    one_line(excise(*git, str(repo.path)), "no ref matches", "fetch")
    one_line(excise(*git, str(tmp_path)), "not in a git repository")
    one_line(excise(*git, str(tmp_path / "none")), "no such folder")
    one_line(excise(*git, str(repo.path), "--onto", "gone"), "unknown revision 'gone'")
    assert excise(*git, "a", "b").code == 2
    assert excise("cluster", "x.patch", "--onto", "main").code == 2


def test_a_shallow_clone_says_what_it_cannot_compare(repo, tmp_path):
    """Heads whose history is cut off before the main line have no merge base."""
    clone = str(tmp_path / "shallow")
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.path}", clone)
    repo.git("fetch", "--quiet", "--depth=1", "origin", "+refs/pull/*:refs/pull/*", cwd=clone)
    ran = excise("cluster", "--git", "pull/*", "--repo", clone, "--format", "json")
    assert ran.code == 1
    reasons = {left["reason"] for left in ran.json["rejected"]}
    assert reasons == {"its history has nothing in common with the main line"}


# --- is somebody doing this already? ---


def like(repo, name, *arguments, code=0):
    asked = ("cluster", "--like", name, "--git", "pull/*", "--repo", str(repo.path))
    ran = excise(*asked, "--format", "json", *arguments)
    assert ran.code == code, ran.err
    return ran.json if code == 0 else ran


def test_a_branch_a_request_a_commit_and_a_file_are_asked_about_alike(repo, tmp_path):
    expected = pair_of(found(repo), "#1", "#2")
    diff = tmp_path / "x.patch"
    diff.write_bytes(repo.git("format-patch", "--stdout", "-1", "t2"))
    numbers = ("what", "where", "why", "same_edit", "word", "probability")
    for name in ("t2", repo.git("rev-parse", "t2").decode().strip(), str(diff)):
        document = like(repo, name)
        by_other = {pair["other"]: pair for pair in document["pairs"]}
        assert {pair["new"] for pair in document["pairs"]} == {document["pairs"][0]["new"]}
        assert [by_other["#1"][key] for key in numbers] == [expected[key] for key in numbers]
        assert by_other["#2"]["word"] == "same edit"
    own = like(repo, "#2")
    assert "#2" not in {pair["other"] for pair in own["pairs"]}
    assert (own["asked"], own["among"]) == (1, 3)
    merged = like(repo, "main~1")
    assert merged["asked"] == 1


def test_what_cannot_be_asked_about(repo, tmp_path):
    one_line(like(repo, "gone", code=2), "no file, branch, request or commit has this name")
    one_line(like(repo, "t*", code=2), "branches have this name")
    empty = tmp_path / "none.patch"
    empty.write_text("no diff at all\n")
    one_line(like(repo, str(empty), code=2), "no diff in it", "one patch or series")
    one_line(like(repo, str(tmp_path), code=2), "no diff in it")


# --- what the host says ---


def told(tmp_path, *pulls):
    path = tmp_path / "pulls.json"
    path.write_text(json.dumps(pulls))
    return ["--pulls", str(path)]


def test_titles_bodies_and_authors_are_the_hosts(repo, tmp_path):
    listed = told(
        tmp_path,
        {
            "number": 2, "title": "Total:\n never  below zero", "author": {"login": "bo-at-host"},
            "body": "Customers were paid for a cart.", "state": "CLOSED", "labels": ["more"],
        },
        {"number": 1, "title": "As of the API", "user": {"login": "ada"}, "merged_at": "2026"},
        {"number": 99, "title": "not fetched", "body": None},
    )  # fmt: skip
    before, document = found(repo), found(repo, *listed)
    entries = {entry["id"]: entry for entry in document["proposals"]}
    assert entries["#2"]["title"] == "Total: never below zero"
    assert (entries["#2"]["author"], entries["#2"]["state"]) == ("bo-at-host", "closed")
    assert (entries["#1"]["title"], entries["#1"]["state"]) == ("As of the API", "merged")
    assert "#99" not in entries
    pair, told_of = pair_of(before, "#1", "#2"), pair_of(document, "#1", "#2")
    assert (told_of["what"], told_of["where"]) == (pair["what"], pair["where"])
    assert told_of["why"] < pair["why"]  # the titles are no longer the same


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"title": "x"}]', '[{"number": "1"}]', "[" * 100_000, "\udcff"]
)
def test_what_is_not_a_list_of_pull_requests(repo, tmp_path, text):
    path = tmp_path / "pulls.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    arguments = ["--git", "pull/*", "--repo", str(repo.path), "--pulls"]
    ran = excise("cluster", *arguments, str(path))
    one_line(ran, str(path), "not a list of pull requests", "gh pr list")
    one_line(excise("cluster", *arguments, str(tmp_path / "none.json")), "none.json")


def test_a_list_of_pull_requests_is_about_a_repository(tmp_path):
    ran = excise("cluster", str(tmp_path), *told(tmp_path))
    assert (ran.code, "--pulls needs --git" in ran.err) == (2, True)
