"""What the product must not say: how sure it is of an order, in any word that claims to know."""

import json
import re
from pathlib import Path

import click
import pytest

from excise.agreement import WORDS
from excise_server.cli import COMMANDS, excise

ROOT = Path(__file__).parents[1]
READ = [
    *(ROOT / "core").rglob("*.py*"),
    *(ROOT / "server").rglob("*.py"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "docs" / "schema").glob("*.json"),
    *(ROOT / "vscode-client" / "src").rglob("*.ts"),
    *(ROOT / "vscode-client" / "walkthrough").glob("*"),
    *(ROOT / "examples").rglob("*.py"),
    *ROOT.glob("*.md"),
    *(ROOT / name for name in ("mkdocs.yml", "Makefile", "pyproject.toml", "CITATION.cff")),
    *(ROOT / "vscode-client" / name for name in ("package.json", "README.md", "excise.d.ts")),
]
TEXTS = [
    path
    for path in READ
    if path.is_file() and path.suffix not in (".pyc", ".png") and path.name != "CHANGELOG.md"
]
CLAIM = re.compile(r"\bconfiden(ce|t)\w*|agreement says", re.IGNORECASE)
INTERVAL = re.compile(r"confidence intervals?", re.IGNORECASE)
THE_ONE = re.compile(r"^## Why no order says how sure it is\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


def claims(text: str) -> list[str]:
    """Return the words that claim to know, those about intervals of measurements aside."""
    return [found[0] for found in CLAIM.finditer(INTERVAL.sub("", text))]


def test_no_page_answer_or_document_says_how_sure_an_order_is():
    assert len(TEXTS) > 300
    said = {}
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        if path == ROOT / "docs" / "ranking.md":
            text, paragraphs = THE_ONE.subn("", text)
            assert paragraphs == 1
        if found := claims(text):
            said[str(path.relative_to(ROOT))] = found
    assert said == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_says_it_or_weighs_anything(name):
    context = click.Context(excise)
    command = excise.get_command(context, name)
    shown = command.get_help(click.Context(command, info_name=name))
    assert claims(shown) == []
    assert "agreement" not in shown.lower()
    assert "score = " not in shown


OLD_COMMAND = re.compile(r"\bexcise (?:worktrees|rank|matrix|explain|duplicates|score)\b")
OLD_OPTION = re.compile(r"(?<![\w-])--(?:branches|include-target|html|linkage|threshold|batch)\b")


def test_no_page_help_or_product_names_a_command_that_is_gone():
    scripts = [*ROOT.glob(".github/**/*.yml"), *(ROOT / "benchmarks").glob("*.py")]
    said = {
        str(path.relative_to(ROOT)): found[0]
        for path in (*TEXTS, *scripts)
        if (found := OLD_COMMAND.search(path.read_text(encoding="utf-8")))
    }
    assert said == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_names_a_command_or_an_option_that_is_gone(name):
    command = excise.get_command(click.Context(excise), name)
    shown = command.get_help(click.Context(command, info_name=f"excise {name}"))
    assert not OLD_COMMAND.search(shown)
    assert not OLD_OPTION.search(shown)


def test_every_word_of_a_schema_is_one_of_the_five():
    words = [
        schema["enum"]
        for path in (ROOT / "docs" / "schema").glob("*.json")
        for schema in _schemas(json.loads(path.read_text(encoding="utf-8")))
        if "overlaps" in schema.get("enum", ())
    ]
    assert len(words) > 10
    assert all(tuple(enum) == WORDS for enum in words)


def _schemas(value):
    """Yield every object of a schema."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _schemas(each)
