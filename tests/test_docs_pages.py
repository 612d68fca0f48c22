"""Every page of the documentation does what it says: commands run, and links lead somewhere.

A page with ``<!-- run in: FOLDER -->`` has its ``console`` blocks run in a copy of that folder, as
on a terminal of 80 columns, and its ``python`` blocks one after the other; what follows each is
what they print. ``UPDATE_EXPECT=1`` writes it. Of all other commands the names and options are
checked.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from importlib import import_module
from pathlib import Path

import click
import pytest
from examples import tasks
from tests.server.git_repository import needs_git
from tests.terminal import shown

from excise_server.cli import COMMANDS
from excise_server.processes.example import build

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), ROOT / "README.md"])
RUN = re.compile(r"<!-- run in: (\w+) -->")
BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCTESTS = ("ideas.md", "notebook.md", "number.md")
RUNNING = [
    page for page in PAGES if RUN.search(page.read_text(encoding="utf-8")) or page.name in DOCTESTS
]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders that pages run in, each made once."""
    top = tmp_path_factory.mktemp("docs")
    (top / "repository").mkdir()
    (top / "empty").mkdir()
    made = {"shop": build(top / "repository"), "empty": top / "empty"}
    made["settings"] = tasks.build(top / "tasks" / "settings")
    made["examples"] = top / "examples"
    shutil.copytree(ROOT / "examples", made["examples"])
    made["inventory"] = made["examples"] / "inventory"
    return made


def ran(kind: str, text: str, folder: Path, names: dict) -> str:
    """Return what a block shows."""
    if kind == "console":
        rows = [line[2:] for line in text.split("\n") if line.startswith("$ ")]
        return "".join(f"$ {row}\n{shown(row, folder).rstrip()}\n" for row in rows)
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        exec(compile(text, "page", "exec"), names)
    return out.getvalue()


def with_results(page: str, folder: Path) -> str:
    """Return the page with what its blocks show now."""
    parts, end, names, printed = [], 0, {}, ""
    for block in BLOCK.finditer(page):
        kind, text = block.groups()
        if kind == "text":
            text = printed
        elif kind == "python":
            printed = ran(kind, text, folder, names)
        else:
            text = ran(kind, text, folder, names)
        parts += [page[end : block.start()], f"```{kind}\n{text}```"]
        end = block.end()
    return "".join(parts) + page[end:]


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize("page", RUNNING, ids=name)
def test_a_page_shows_what_happens(page, folders):
    text = page.read_text(encoding="utf-8")
    where = RUN.search(text)
    now = with_results(text, folders[where.group(1) if where else "empty"])
    assert "internal error" not in now
    if os.environ.get("UPDATE_EXPECT") and now != text:
        page.write_text(now, encoding="utf-8")
    assert now == page.read_text(encoding="utf-8")


def command_lines(page: str) -> list[list[str]]:
    """Every line of a block of shell that calls the command, as words."""
    fenced = re.findall(r"^```(?:sh|console|)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (\S.*)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.M)
    lines = [line for block in fenced for line in block.split("\n")] + indented
    found = []
    for line in lines:
        called = re.match(r"(?:\S*\$ )?(excise [a-z]+ .*|excise [a-z]+)$", line)
        if called:
            with contextlib.suppress(ValueError):  # a quote that the next line closes
                found.append(shlex.split(called.group(1), comments=True))
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_options_exist(page):
    for _, command, *words in command_lines(page.read_text(encoding="utf-8")):
        assert command in COMMANDS, command
        module = import_module(f"excise_server.cli.{command}")
        assert isinstance(module.command, click.Command)
        known = {option for own in module.command.params for option in own.opts} | {"--help"}
        stop = next((at for at, word in enumerate(words) if word in ("|", ">", "&&")), len(words))
        given = {word.partition("=")[0] for word in words[:stop] if word.startswith("--")}
        assert given <= known | {"--"}, (command, given - known)


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).replace("`", "") for head in heads]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


def test_every_page_is_in_the_navigation():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"([\w/-]+\.md)$", site, re.MULTILINE))
    top = {"architecture.md", "contributing.md", "changelog.md", "security.md"}
    pages = {str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)}
    assert listed == pages | top


def test_the_site_asks_nothing_of_the_network():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "  font: false\n" in site
    assert not re.search(r"https?://", re.sub(r"#.*", "", site))


def test_the_glossary_has_twelve_terms():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\*\*.+\*\*$", glossary, re.MULTILINE)) == 12
