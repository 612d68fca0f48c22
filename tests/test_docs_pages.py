"""Every page of the documentation does what it says: commands run, and links lead somewhere.

The ``console`` blocks of a tutorial are run from the top of a clone as a reader types them, on a
terminal of 80 columns, and its ``python`` blocks one after the other; what follows each is what
they print. So are those of a page with ``<!-- run in: FOLDER -->``, in that folder.
``UPDATE_EXPECT=1`` writes it. Of all other commands the names and options are checked.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
from importlib import import_module
from pathlib import Path

import click
import pytest
from tests.server.git_repository import needs_git
from tests.terminal import shown

from excise_server.cli import COMMANDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), ROOT / "README.md"])
RUN = re.compile(r"<!-- run in: (\w+) -->")
BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCTESTS = ("ideas.md", "notebook.md", "number.md", "tasks.md")
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]
RUNNING = [
    page
    for page in PAGES
    if RUN.search(page.read_text(encoding="utf-8")) or page.name in DOCTESTS or page in TUTORIALS
]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def clone(tmp_path):
    """What a clone has that pages use."""
    shutil.copytree(ROOT / "examples", tmp_path / "clone" / "examples")
    return tmp_path / "clone"


class Reader:
    """Who types the blocks of a page, in one terminal and one session of Python."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names, self.printed = folder, {}, ""
        self._left_in = folder.parent / "folder"

    def types(self, kind: str, text: str) -> str:
        """Return what a block shows."""
        if kind == "text":
            return self.printed
        if kind == "console":
            rows = [line[2:] for line in text.split("\n") if line.startswith("$ ")]
            return "".join(f"$ {row}\n{self._shell(row)}" for row in rows)
        out = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            exec(compile(text, "page", "exec"), self.names)
        self.printed = out.getvalue()
        return text

    def _shell(self, row: str) -> str:
        said = shown(f"{row}\npwd > {shlex.quote(str(self._left_in))}", self.folder).rstrip()
        self.folder = Path(self._left_in.read_text().strip())
        return f"{said}\n" if said else ""


def with_results(page: str, folder: Path) -> str:
    """Return the page with what its blocks show now."""
    parts, end, reader = [], 0, Reader(folder)
    for block in BLOCK.finditer(page):
        kind, text = block.groups()
        parts += [page[end : block.start()], f"```{kind}\n{reader.types(kind, text)}```"]
        end = block.end()
    return "".join(parts) + page[end:]


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize("page", RUNNING, ids=name)
def test_a_page_shows_what_happens(page, clone):
    text = page.read_text(encoding="utf-8")
    where = RUN.search(text)
    now = with_results(text, clone / where.group(1) if where else clone)
    assert "internal error" not in now
    if os.environ.get("UPDATE_EXPECT") and now != text:
        page.write_text(now, encoding="utf-8")
    assert now == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", TUTORIALS, ids=name)
def test_a_tutorial_answers_after_four_commands_at_most(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert not RUN.search(page.read_text(encoding="utf-8"))
    typed = []
    for kind, text in blocks:
        if kind == "python":
            typed.append(("python", ""))
        typed += [
            (row.partition("\n")[0], row.partition("\n")[2])
            for row in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
        ]
    if page.name != "notebook.md":
        assert any(re.search(r"^(cd|excise demo)\b", row) for row, _ in typed[:2])
    answers = [
        answer
        for row, answer in typed[:4]
        if row == "python" or (re.match(r"excise\b", row) and "demo" not in row)
    ]
    assert answers
    assert not re.search(r"^(excise: |Error|Usage)", "\n".join(answers), re.MULTILINE)


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
    """Return the anchors of headings that are one where files are shown and on the site."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).replace("`", "") for head in heads]
    slugs = [re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in plain]
    return {slug for slug in slugs if "--" not in slug}


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


@pytest.mark.parametrize("page", [p for p in PAGES if p.is_relative_to(DOCS)], ids=name)
def test_a_page_is_called_in_the_navigation_what_its_title_says(page):
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    title = re.match(r"# (.+)", page.read_text(encoding="utf-8"))
    path = page.relative_to(DOCS).as_posix()
    assert title is not None
    assert f"- {title[1]}: {path}\n" in site or path == "index.md"


WORDS = """
    alignment base breaks broken candidate cluster collides conserved digest evidence group hunk
    intent level origin place revision rivals signature slot target task unit verdict
"""


def test_the_glossary_has_every_word_with_a_link_to_its_page():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(.+)\*\*\n:   (.+(?:\n    .+)*)", glossary, re.MULTILINE)
    assert {term.lower() for term, _ in entries} >= set(WORDS.split())
    for term, text in entries:
        assert "](" in text, term
        assert len(re.sub(r"\]\([^)]*\)", "]", text).split()) < 60, term


def test_the_guide_to_vs_code_has_every_setting_and_command_of_the_extension():
    page = (ROOT / "docs" / "vscode.md").read_text(encoding="utf-8")
    manifest = json.loads((ROOT / "vscode-client" / "package.json").read_text(encoding="utf-8"))
    parts = manifest["contributes"]
    settings = {name for part in parts["configuration"] for name in part["properties"]}
    assert {
        f"excise.{n}" for n in re.findall(r"^\| `([a-zA-Z.]*[a-zA-Z])` \| ", page, re.MULTILINE)
    } == settings
    titles = {command["title"].split(":")[0].removesuffix("...") for command in parts["commands"]}
    assert {title for title in titles if f"**{title}**" not in page} == set()
    keys = {key["key"].title() for key in parts["keybindings"]}
    assert {key for key in keys if f"`{key}`" not in page} == set()


def test_the_guide_to_hosts_shows_the_client_that_is_tested():
    page = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    client = (ROOT / "examples" / "hosts" / "host.ts").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```ts\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown in client
