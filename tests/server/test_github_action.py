"""The action: its own steps over a real local repository, with a `gh` that has recorded answers."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.git_repository import Repo, needs_git
from tests.server.test_cluster_heads import CART, NEW, OLD

pytestmark = [
    needs_git,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("jq") is None, reason="no jq here"),
]

ACTION = (Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8")
TITLE = "Keep the total above zero when the discount is large"
HOSTILE = (
    "@all #1 acme/shop#2 [x](javascript:y) <img src=x> `code` ![i](http://e) deadbeef\u202e --> |"
)
MARK = "<!-- excise cluster -->"
GH = r"""#!/usr/bin/env python3
import json, os, subprocess, sys
given = sys.argv[1:]
host = json.load(open(os.environ["HOST"]))
def option(name):
    return given[given.index(name) + 1] if name in given else None
if given[:2] == ["pr", "view"] and given[2] in host["pulls"]:
    answer = host["pulls"][given[2]]
elif given[:2] == ["pr", "list"]:
    into = [pull for pull in host["pulls"].values() if pull["baseRefName"] == option("--base")]
    answer = into[: int(option("--limit"))]
elif given[0] == "api" and "--method" not in given:
    answer = host["comments"]
elif given[0] == "api" or given[:2] == ["pr", "comment"]:
    body = option("--body-file") or option("-F").removeprefix("body=@")
    answer = None
    with open(os.environ["HOST"] + ".written", "a") as file:
        print(json.dumps([given, open(body).read()]), file=file)
else:
    sys.exit("gh: no such pull request")
text = json.dumps(answer)
jq = option("--jq")
print(subprocess.run(["jq", "-rc", jq], input=text, check=True, text=True, stdout=-1).stdout
      if jq else text, end="")
"""


def steps() -> dict[str, tuple[str, dict[str, str]]]:
    """The scripts of the steps by their names, with what their environment is made of."""
    found = {}
    for step in re.split(r"^    - name: ", ACTION, flags=re.M)[1:]:
        name, _, rest = step.partition("\n")
        script = re.search(r"^      run: \|\n((?:        .*\n?)+)", rest, re.M)
        assert script is not None
        env = dict(re.findall(r'(\w+): "\$\{\{ (.+?) \}\}"', rest))
        found[name] = re.sub(r"^ {8}", "", script[1], flags=re.M), env
    return found


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """A repository of pull requests, and what its host says of them."""
    place = tmp_path_factory.mktemp("host")
    repo = Repo(place / "acme" / "shop", place / "home").init()
    text = CART + f"        {OLD}\n"
    repo.commit("start", cart__py=text, other__py="def label(price):\n    return str(price)\n")
    repo.git("branch", "v1")
    pulls = {}

    def request(number, title, login, base="main", **files):
        repo.git("checkout", "--quiet", "-B", f"t{number}", "main")
        repo.commit(title, **files)
        repo.git("update-ref", f"refs/pull/{number}/head", "HEAD")
        pulls[str(number)] = {
            "number": number, "title": title, "author": {"login": login}, "state": "OPEN",
            "body": "<!-- template -->\nA large discount made the total negative.",
            "baseRefName": base,
        }  # fmt: skip

    request(1, TITLE, "ada", cart__py=text.replace(OLD, NEW.format("0")))
    request(2, f"{TITLE} {HOSTILE}", "bo", cart__py=text.replace(OLD, NEW.format("0.0")))
    labels = "def label(price):\n    return f'{price} e'\n"
    request(3, "Labels are in euros", "chen", other__py=labels)
    request(4, TITLE, "ada", cart__py=text.replace(OLD, NEW.format("0 + 0")))
    request(5, TITLE, "dana", "v1", cart__py=text.replace(OLD, NEW.format("-0")))
    repo.git("checkout", "--quiet", "main")
    return place, pulls


@pytest.fixture
def run(host, tmp_path):
    """Run a step in a shell, as a runner would; return what it did and what it wrote."""
    place, pulls = host
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)

    def started(number="1", step="Compare", comments=(), **inputs):
        script, names = steps()[step]
        place_now = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        place_now.mkdir()
        (place_now / "excise-venv").symlink_to(sys.prefix)
        recorded = place_now / "host.json"
        recorded.write_text(json.dumps({"pulls": pulls, "comments": comments}))
        values = {
            "inputs.pull-request": number, "inputs.token": "secret", "inputs.limit": "300",
            "inputs.dry-run": "true", "inputs.bot": "github-actions[bot]",
            "github.repository": "acme/shop",
        }  # fmt: skip
        values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        env = {name: values[text] for name, text in names.items()} | {
            "PATH": f"{gh.parent}:{os.environ['PATH']}",
            "HOME": str(place_now),
            "HOST": str(recorded),
            "GITHUB_SERVER_URL": f"file://{place}",
            "GITHUB_OUTPUT": str(place_now / "output"),
            "RUNNER_TEMP": str(place_now),
        }
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
        written = place_now / "host.json.written"
        writes = (
            [*map(json.loads, written.read_text().split("\n")[:-1])] if written.exists() else []
        )
        output = place_now / "output"
        outputs = (
            dict(x.split("=", 1) for x in output.read_text().split()) if output.exists() else {}
        )
        return done, writes, outputs

    return started


def test_a_dry_run_prints_the_comment_and_writes_nothing(run):
    done, writes, outputs = run()
    assert done.returncode == 0, done.stderr
    assert writes == []
    mark, said, *rest = done.stdout.split("\n")
    assert (mark, said) == (MARK, "May be about the same issue, by what the diffs do: #2.")
    assert any(
        re.fullmatch(r" *- both touch `cart\.py:\d+` `return subtotal - discount`", x) for x in rest
    )
    assert outputs["likely"] == "1"
    report = json.loads(Path(outputs["report"]).read_text())
    said = {pair["other"]: pair["otherwise"] for pair in report["pairs"]}
    assert said == {"#2": "", "#4": "by the same author"}  # neither itself nor one into v1
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", done.stdout)
    assert not re.search(r"@|<(?!!-- excise)|javascript|!\[|\]\(|deadbeef|\u202e", outside)
    assert set(re.findall(r"#\d+", outside)) == {"#2"}


def test_the_comment_is_made_once_and_edited_in_place(run):
    _, ((given, body),), _ = run(dry_run="false")
    assert given[:3] == ["pr", "comment", "1"]
    assert body.startswith(f"{MARK}\nMay be about the same issue")
    comments = [
        {"id": 1, "user": {"login": "eve"}, "body": body},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "of another action"},
        {"id": 3, "user": {"login": "github-actions[bot]"}, "body": f"{MARK}\nolder"},
    ]
    _, ((given, again),), _ = run(dry_run="false", comments=comments)
    assert "repos/acme/shop/issues/comments/3" in given
    assert again == body


def test_nothing_below_likely_is_said(run):
    done, writes, outputs = run("3", dry_run="false")
    assert (done.returncode, writes, outputs["likely"]) == (0, [], "0")
    old = {"id": 7, "user": {"login": "github-actions[bot]"}, "body": f"{MARK}\nold"}
    _, ((_, body),), _ = run("3", dry_run="false", comments=[old])
    assert (
        body
        == f"{MARK}\nMay be about the same issue, by what the diffs do: no open pull request.\n\n"
    )


@pytest.mark.parametrize("number", ["", "0", "-1", "1\n2", "x", "$(id)", "9" * 40])
def test_numbers_are_numbers(run, number):
    done, writes, outputs = run(number)
    assert (done.returncode, writes, outputs) == (2, [], {})
    assert "pull-request and limit must be numbers" in done.stdout


def test_a_pull_request_that_is_not_there_fails(run):
    done, writes, _ = run("77", dry_run="false")
    assert done.returncode != 0
    assert "no such pull request" in done.stderr
    assert writes == []


def test_inputs_that_left_are_refused_by_name_with_the_way_out(run):
    done, _, _ = run(step="Refuse inputs that left")
    assert done.returncode == 2
    assert "excise since OLD NEW" in done.stdout
    assert "gh pr edit NUMBER --add-label NAME" in done.stdout
    assert "if: inputs.before != '' || inputs.label != ''" in ACTION


def test_the_action_takes_nothing_by_name_and_no_text_into_a_script():
    install, _ = steps()["Install from this action's folder"]
    by_hash, own = re.findall(r" install (.*)", install)
    assert "--require-hashes" in by_hash
    assert by_hash.endswith('-r "$GITHUB_ACTION_PATH/.github/action.txt"')
    assert {"--no-deps", "--no-index", "--no-build-isolation"} <= set(own.split())
    assert own.endswith(' "$GITHUB_ACTION_PATH"')
    assert not any("${{" in script for script, _ in steps().values())
    assert "uses:" not in ACTION
    assert "checkout" not in ACTION.replace("checked out", "")
