"""What the README and the first page of the documentation tell a newcomer to type works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.git_repository import needs_git
from tests.terminal import shown

from excise_server.processes.example import build

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def block(language: str, at: int = 0, page: str = README) -> str:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [text for name, text in blocks if name == language][at]


def commands() -> list[str]:
    lines = block("sh", 0, INDEX).split("\n")
    return [line.split(" # ")[0].strip() for line in lines if line.startswith("excise ")]


def test_there_are_two_commands_for_everything():
    assert re.findall(r"^make (\w+)", block("sh", 1), re.MULTILINE) == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}: $(READY)" in makefile for target in ("demo", "test"))


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_commands(command):
    folder = ROOT / "examples" / "inventory"
    words = [
        word
        for pattern in shlex.split(command)[1:]
        for word in (sorted(p.name for p in folder.glob(pattern)) if "*" in pattern else [pattern])
    ]
    program = "import sys; from excise_server.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    name = "es" if "--measure" in words else "pes"  # the papers' own score, or with places
    assert re.search(rf"\b{name}\|gran:nested\|", done.stdout.decode())


@pytest.mark.slow
def test_the_library_in_ten_lines():
    program = block("python")
    assert len([line for line in program.split("\n") if line.strip()]) <= 11
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout == block("text")


@pytest.mark.slow
@needs_git
def test_what_review_prints(tmp_path):
    shop = build(tmp_path)
    guide = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
    for at, page in ((0, README), (1, README), (0, guide), (1, guide)):
        prompt, expected = block("console", at, page).split("\n", 1)
        expected = expected.removesuffix("...\n")
        printed = shown(prompt.removeprefix("shop$ "), shop)
        assert "\n".join(line.rstrip() for line in printed.split("\n")).startswith(
            expected.rstrip()
        )


@pytest.mark.slow
@needs_git
def test_three_commands_to_try_it_show_its_first_page(tmp_path):
    install, *rows = block("sh").strip().split("\n")
    assert install == "pip install ."
    assert rows[0].startswith("excise demo ")
    printed = shown("\n".join(rows), tmp_path)
    assert block("console").partition("\n")[2].rstrip() in printed
    assert README.count("\n", 0, README.index("```console")) < 10


def test_it_names_the_command_that_editors_start():
    from excise_server.cli.serve import command

    assert "`excise serve`" in README
    assert "--stdio" in {option for own in command.params for option in own.opts}


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_pictures_ask_nothing_of_the_network():
    for picture in (ROOT / "docs" / "images").glob("*.svg"):
        svg = picture.read_text(encoding="utf-8")
        assert "@font-face" not in svg
        assert not re.search(r"(href|src|url\()\s*=?\s*[\"']?https?:", svg)
