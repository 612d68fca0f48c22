"""The action: its own steps, run on recorded answers of the API over a real local repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.server.git_repository import Repo, needs_git
from tests.server.test_cluster_heads import CART, NEW, OLD

from excise_server.github.__main__ import main
from excise_server.github.pulls import read_pulls

pytestmark = [needs_git, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
USES = re.compile(r"uses: (.*)")
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
TITLE = "Keep the total above zero when the discount is large"
HOSTILE = (
    "@all #1 acme/shop#2 [x](javascript:y) <img src=x> `code` ![i](http://e) deadbeef\u202e --> |"
)
BOT = "github-actions[bot]"


def steps() -> dict[str, tuple[str, dict[str, str]]]:
    """The scripts of the steps by their names, with what their environment is made of."""
    found = {}
    for step in re.split(r"^    - name: ", ACTION, flags=re.M)[1:]:
        name, _, rest = step.partition("\n")
        script = re.search(r"^      run: \|\n((?:        .*\n?)+)", rest, re.M)
        if script:
            env = dict(re.findall(r"^        (EXCISE_\w+): \$\{\{ (.+?) \}\}$", rest, re.M))
            found[name] = re.sub(r"^ {8}", "", script[1], flags=re.M), env
    return found


def defaults() -> dict[str, str]:
    block = ACTION.partition("inputs:\n")[2].partition("outputs:\n")[0]
    found = re.findall(r"^  ([\w-]+):\n    description: .*\n    default: (.*)$", block, re.M)
    return {name: value.strip('"') for name, value in found}


class Host:
    """A host that answers what was written down, and remembers what is written to it."""

    def __init__(self, repo: Repo, heads: dict[int, dict]) -> None:
        self.repo, self.heads = repo, heads
        self.comments: list[dict] = []
        self.writes: list[tuple[str, str, dict]] = []
        self.asked: list[str] = []
        self.broken: dict[str, tuple[int, dict, bytes]] = {}
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply(*host.answer(self.path, self.headers))

            def do_POST(self):
                data = json.loads(self.rfile.read(int(self.headers["content-length"])))
                host.writes.append((self.command, self.path, data))
                self.reply(201, {}, b"{}")

            do_PATCH = do_POST

            def reply(self, status, headers, body):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                cut = headers.get("x-cut")
                self.send_header("content-length", str(len(body) + (99 if cut else 0)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def forget(self) -> None:
        self.comments, self.writes, self.asked, self.broken = [], [], [], {}

    def answer(self, path: str, headers) -> tuple[int, dict, bytes]:
        self.asked.append(path)
        assert headers["authorization"] == "Bearer secret"
        for part, broken in self.broken.items():
            if part in path + " " + headers["accept"]:
                return broken
        if found := re.fullmatch(r"/repos/acme/shop/pulls/(\d+)", path):
            number = int(found[1])
            if number not in self.heads:
                return 404, {}, b"{}"
            if "diff" in headers["accept"]:
                return 200, {}, self.repo.git("diff", f"main...refs/pull/{number}/head")
            return 200, {}, json.dumps(self.heads[number]).encode()
        if found := re.fullmatch(r"/repos/acme/shop/compare/(\w+)\.\.\.(\w+)", path):
            assert "diff" in headers["accept"]
            diff = self.repo.git("diff", f"{found[1]}...{found[2]}", check=False)
            return (200, {}, diff) if diff else (404, {}, b"{}")
        page = int(re.search(r"[?&]page=(\d+)", path)[1])
        listed = self.comments if "/comments" in path else list(self.heads.values())
        return 200, {}, json.dumps(listed if page == 1 else []).encode()


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    place = tmp_path_factory.mktemp("host")
    repo = Repo(place / "repo", place / "home").init()
    text = CART + f"        {OLD}\n"
    repo.commit("start", cart__py=text, other__py="def label(price):\n    return str(price)\n")
    heads = {}

    def request(number, title, login, start="main", base="main", **files):
        repo.git("checkout", "--quiet", "-B", f"t{number}", start)
        sha = repo.commit(title, **files)
        repo.git("update-ref", f"refs/pull/{number}/head", "HEAD")
        heads[number] = {
            "number": number,
            "title": title,
            "body": "<!-- template -->\nA large discount made the total negative.",
            "user": {"login": login},
            "state": "open",
            "merged_at": None,
            "head": {"sha": sha, "ref": f"t{number}", "repo": {"full_name": "acme/shop"}},
            "base": {"ref": base, "sha": repo.head(base), "repo": {"full_name": "acme/shop"}},
        }

    request(1, TITLE, "ada", cart__py=text.replace(OLD, NEW.format("0")))
    request(2, f"{TITLE} {HOSTILE}", "bo", cart__py=text.replace(OLD, NEW.format("0.0")))
    request(
        3, "Labels are in euros", "chen", other__py="def label(price):\n    return f'{price} e'\n"
    )
    request(4, TITLE, "ada", cart__py=text.replace(OLD, NEW.format("0 + 0")))
    request(5, f"{TITLE}, part two", "dana", "t1", "t1", docs__md="Never below zero.\n")
    repo.git("checkout", "--quiet", "main")
    made = Host(repo, heads)
    yield made
    made.server.shutdown()


@pytest.fixture
def run(host, tmp_path):
    """Run the step that compares, in a shell, as a runner would."""
    host.forget()
    (tmp_path / "excise-venv").symlink_to(sys.prefix)

    def started(number="1", shell=True, step="Compare", server="", **inputs):
        script, names = steps()[step]
        values = defaults() | {"pull-request": number, "token": "secret"}
        values["github.event.pull_request.base.sha"] = host.heads[1]["base"]["sha"]
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        env = {name: values[text.removeprefix("inputs.")] for name, text in names.items()}
        env |= {
            "PATH": os.environ["PATH"],
            "GITHUB_API_URL": host.url,
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_SERVER_URL": server,
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "RUNNER_TEMP": str(tmp_path),
        }
        if not shell:
            return main(env)
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )

    started.folder = tmp_path
    return started


def test_a_dry_run_prints_the_comment_and_writes_nothing(run, host):
    done = run()
    assert done.returncode == 0, done.stderr
    assert host.writes == []
    lines = done.stdout.split("\n")
    assert lines[0] == "<!-- excise cluster -->"
    (found,) = [line for line in lines if line.startswith("- #")]
    numbers = r"what \S+  where \S+  why \S+  \(edits alike \S+\)"
    form = rf"- #2 .* by `bo`: \*\*likely the same issue\*\*  {numbers}"
    assert re.fullmatch(form, found)
    assert any(
        re.match(r"  - both touch `cart\.py:\d+` `return subtotal - discount`", x) for x in lines
    )
    outputs = dict(x.split("=", 1) for x in (run.folder / "output").read_text().split())
    assert outputs["likely"] == "1"
    report = json.loads(Path(outputs["report"]).read_text())
    assert {p["other"]: p["otherwise"] for p in report["pairs"]} == {
        "#2": "",
        "#4": "by the same author",
        "#5": "builds on",
    }


def test_texts_of_strangers_are_inert(run):
    shown = run().stdout
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)
    assert not re.search(r"@|<(?!!-- excise)|javascript|!\[|\]\(|deadbeef|\u202e", outside)
    assert set(re.findall(r"#\d+", outside)) == {"#2"}


def test_the_comment_is_made_once_and_edited_in_place(run, host):
    assert "created" in run(dry_run="false").stdout
    (_, where, sent), (_, label, labels) = host.writes
    assert (where, label) == (
        "/repos/acme/shop/issues/1/comments",
        "/repos/acme/shop/issues/1/labels",
    )
    assert labels == {"labels": ["possible-duplicate"]}
    stranger = {"id": 1, "user": {"login": "eve"}, "body": sent["body"]}
    own = {"id": 2, "user": {"login": BOT}, "body": sent["body"]}
    host.comments, host.writes = [stranger, own], []
    assert "up to date" in run(dry_run="false").stdout
    assert [path for _, path, _ in host.writes] == ["/repos/acme/shop/issues/1/labels"]
    own["body"] = "<!-- excise cluster -->\nolder"
    host.writes = []
    assert "updated" in run(dry_run="false", label="").stdout
    assert [x[:2] for x in host.writes] == [("PATCH", "/repos/acme/shop/issues/comments/2")]


def test_nothing_below_likely_is_said(run, host):
    done = run("3", dry_run="false")
    assert (done.returncode, host.writes) == (0, [])
    assert "nothing to report" in done.stdout
    host.comments = [{"id": 7, "user": {"login": BOT}, "body": "<!-- excise cluster -->\nold"}]
    run("3", dry_run="false")
    ((_, path, sent),) = host.writes
    assert path.endswith("/comments/7")
    assert "Nothing" in sent["body"]


def test_a_stack_is_named_and_not_said(run):
    run("5")
    report = json.loads((run.folder / "excise.json").read_text())
    assert {pair["other"]: pair["otherwise"] for pair in report["pairs"]}["#1"] == "builds on"


def test_diffs_are_kept_by_head(run, host):
    run()
    first = [path for path in host.asked if re.search(r"/pulls/\d+$", path)]
    host.asked = []
    run()
    assert len(first) == 6
    assert host.asked[0] == "/repos/acme/shop/pulls/1"
    assert len([path for path in host.asked if re.search(r"/pulls/\d+$", path)]) == 1


LIMIT = 403, {"x-ratelimit-remaining": "0"}, b"{}"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"pulls/1": LIMIT}, "rate limit"),
        ({"pulls?": (429, {}, b"{}")}, "rate limit"),
        ({"pulls/1": (401, {}, b"{}")}, "token is not accepted"),
        ({"pulls/1 application/vnd.github.v3.diff": (406, {}, b"")}, "too large"),
        ({"pulls?": (200, {}, b'[{"number": 2')}, "truncated or not valid JSON"),
        ({"pulls?": (200, {}, b"[" * 200_000)}, "truncated or not valid JSON"),
        ({"pulls/1": (200, {}, b'{"a":' * 200_000)}, "truncated or not valid JSON"),
        ({"pulls?": (200, {"x-cut": "1"}, b"[]")}, "incomplete answer"),
        ({"pulls?": (200, {}, b"{}")}, "not a JSON list"),
        ({"pulls/1": (302, {"location": "http://localhost:1/x"}, b"")}, "another host"),
        ({"pulls/1": (200, {}, b'{"number": "1; rm -rf /", "head": {"sha": "../x"}}')}, "$.number"),
    ],
)
def test_bad_answers_are_named(run, host, capsys, broken, said):
    host.broken = broken
    assert run(dry_run="false", shell=False) == 1
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1, err
    assert host.writes == []
    assert "secret" not in err + out


def test_what_could_not_be_compared_is_named(run, host):
    host.broken = {"pulls/4 application/vnd.github.v3.diff": (406, {}, b"")}
    done = run()
    assert "left out: #4: the diff is too large" in done.stderr
    assert "- #2" in done.stdout
    for path in (run.folder / "excise-diffs").iterdir():
        path.unlink()
    host.broken = {"pulls/3 application/vnd.github.v3.diff": LIMIT}
    done = run()
    assert "rate limit of the API is reached: 1 of 4 were compared" in done.stderr
    assert "- #2" in done.stdout


def test_only_diffs_of_this_run_stay_in_the_cache(run, host):
    cache = run.folder / "excise-diffs"
    cache.mkdir()
    old = cache / f"9-{'0' * 40}.diff"
    foreign = cache / "notes.txt"
    for path in (old, cache / f"{old.name}.part", foreign):
        path.write_text("old")
    assert run().returncode == 0
    kept = {path.name for path in cache.iterdir()}
    assert kept == {foreign.name} | {
        f"{number}-{head['head']['sha']}.diff" for number, head in host.heads.items()
    }


@pytest.mark.parametrize("number", ["", "0", "-1", "1\n2", "x", "$(id)", "9" * 40])
def test_numbers_are_numbers(run, host, capsys, number):
    assert run(number, shell=False) == 1
    assert "EXCISE_PULL_REQUEST must be a number" in capsys.readouterr().err
    assert host.asked == []


def test_the_action_takes_nothing_by_name_and_no_text_into_a_script():
    install, _ = steps()["Install from this action's folder"]
    by_hash, own = re.findall(r" install (.*)", install)
    assert "--require-hashes" in by_hash
    assert by_hash.endswith('-r "$GITHUB_ACTION_PATH/.github/action.txt"')
    assert {"--no-deps", "--no-index", "--no-build-isolation"} <= set(own.split())
    assert own.endswith(' "$GITHUB_ACTION_PATH"')
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\S+", u) for u in USES.findall(ACTION))
    assert not any("${{" in script for script, _ in steps().values())
    assert "actions/checkout" not in ACTION
    assert defaults()["dry-run"] == "true"


def test_requests_into_one_branch_are_no_stack_though_that_branch_is_one_too():
    ends = {1: ("f1", "develop"), 2: ("f2", "develop"), 3: ("develop", "main"), 4: ("g", "f1")}

    def pull(number: int) -> dict:
        head, base = (
            {"ref": name, "sha": f"{number:040x}", "repo": {"full_name": "acme/shop"}}
            for name in ends[number]
        )
        return {"number": number, "title": "x", "head": head, "base": base, "state": "open"}

    class Answers:
        def one(self, path: str) -> dict:
            return pull(1)

        def listed(self, path: str, most: int) -> list[dict]:
            return [pull(number) for number in ends]

        def diff(self, number: int) -> bytes:
            return f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x = 0\n+x = {number}\n".encode()

    found = read_pulls(Answers(), 1, 10)
    stacked = {other.id: found.proposals[0].is_stacked_with(other) for other in found.proposals[1:]}
    assert stacked == {"#2": False, "#3": True, "#4": True}


@pytest.fixture
def served(host, tmp_path):
    """A bare copy of the host's repository, which no ref of request 4 is in: as after a push."""
    path = tmp_path / "server" / "acme" / "shop"
    host.repo.git("clone", "--quiet", "--mirror", str(host.repo.path), str(path))
    for ref in ("refs/heads/t4", "refs/pull/4/head"):
        host.repo.git("update-ref", "-d", ref, cwd=path)
    host.repo.git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=path)
    return path


@pytest.mark.parametrize("is_gone", [False, True])
def test_after_a_forced_push_a_comment_says_what_changed(run, host, served, is_gone):
    before = host.heads[4]["head"]["sha"]
    if is_gone:
        host.repo.git("gc", "--quiet", "--prune=now", cwd=served)
    server = f"file://{served.parents[1]}"
    fetched = run(step="Fetch the head before a forced push", server=server, before=before)
    assert fetched.returncode == 0, fetched.stderr
    assert "secret" not in fetched.stdout + fetched.stderr
    printed = run(before=before, dry_run="false", label="")
    assert printed.returncode == 0, printed.stderr
    bodies = [body["body"] for _, path, body in host.writes if path.endswith("/comments")]
    (said,) = (body for body in bodies if body.startswith("<!-- excise since -->"))
    assert "1 of 1 hunk changed" in said
    assert "+" in said
    assert "-" in said
    assert ("without a tree" in said, "diffs are compared" in said) == (is_gone, is_gone)
    host.comments = [{"id": 7, "user": {"login": BOT}, "body": said}]
    host.writes.clear()
    assert "since: the comment is up to date" in run(before=before, dry_run="false").stdout


@pytest.mark.parametrize(
    ("before", "said"), [("0" * 40, "not compared with 0000000000"), ("x;rm", "")]
)
def test_an_old_head_that_is_gone_stops_nothing(run, host, before, said):
    ran = run(before=before)
    assert ran.returncode == 0
    assert said in ran.stderr
    assert "<!-- excise cluster -->" in ran.stdout
