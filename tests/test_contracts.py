"""Promises between files that no type checker sees."""

import ast
import re
import tomllib
from importlib.metadata import requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from excise import __version__
from excise_server.version import VERSION

ROOT = Path(__file__).parent.parent
SOURCES = [*ROOT.glob("core/**/*.py"), *ROOT.glob("server/**/*.py"), *ROOT.glob("core/**/*.pyx")]


def test_the_shell_has_the_version_of_the_library():
    assert __version__ == VERSION


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nobody_splits_lines_by_unicode_rules(source):
    assert not re.search(r"\.splitlines\(", source.read_text(encoding="utf-8"))


def test_no_module_of_the_library_imports_the_facade():
    """The façade is in no layer of the linter, so this test holds it."""
    for path in (ROOT / "core/excise").glob("*.py"):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "excise":
                modules = {alias.name for alias in node.names}
                assert all((ROOT / "core/excise" / f"{m}.py").exists() for m in modules), path


# No index has the name: whoever installed it by name would run a stranger's code.
BY_NAME = re.compile(
    r"""\b(?:(?:pip3?|pipx|uv|conda|poetry|pdm|rye|hatch)\b(?:[\s"',]+(?:pip|tool))*
        [\s"',]+(?:install|add|run|inject|download|wheel|upgrade)|uvx)\b
        (?:[\s"',]+--?[\w=-]+)* [\s"',]+ excise (?![\w./-])
    |   \bexcise\[[\w,-]+\]                        # with an extra
    |   ["'`\s]excise\s*(?:==|>=|~=|<)\s*[\d$]      # with a version
    """,
    re.VERBOSE,
)
INSTALLS = {
    "pip install excise": True,
    "pipx install excise`": True,
    "uv tool install excise, or": True,
    '["pip", "install", "--upgrade", "excise"]': True,
    "uvx excise rank": True,
    "pip install 'excise[eval]'": True,
    "`excise>=${OLDEST_SERVER},<1`": True,
    "pip install '.[eval]' in a clone of excise, or": False,
    "pip install dist/excise-0.1.0-cp311-abi3-linux_x86_64.whl": False,
    "excise rank a.py b.py": False,
}
WRITTEN = {
    ".md",
    ".py",
    ".ts",
    ".mjs",
    ".js",
    ".json",
    ".toml",
    ".txt",
    ".vim",
    ".lua",
    ".el",
    ".yml",
    "",
}


def own_files() -> list[Path]:
    """Every file of ours that a person or a program may take an instruction from."""
    strange = {"node_modules", "out", "dist", "build", "__pycache__", "wheels"}
    return [
        path
        for top in ROOT.iterdir()
        if top.name not in strange and (not top.name.startswith(".") or top.name == ".ci")
        for path in ([top] if top.is_file() else top.rglob("*"))
        if path.is_file()
        and path.suffix in WRITTEN
        and not any(
            part in strange or part.startswith(".v") for part in path.relative_to(ROOT).parts
        )
    ]


@pytest.mark.slow
def test_nothing_installs_excise_by_its_name():
    assert {text: bool(BY_NAME.search(text)) for text in INSTALLS} == INSTALLS
    files = own_files()
    assert {"README.md", "environment.ts", "run", "Makefile"} <= {path.name for path in files}
    found = {
        str(path.relative_to(ROOT)): match.group()
        for path in files
        if path != Path(__file__)
        for match in BY_NAME.finditer(path.read_text(encoding="utf-8", errors="replace"))
    }
    assert found == {}


def test_the_lock_of_the_extension_pins_what_the_server_needs_within_its_ranges():
    lock = (ROOT / "vscode-client/requirements.txt").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    entries = re.split(r"\n(?=\S)", lock.strip())[1:]
    assert len(entries) == len(pinned)
    assert all(re.search(r"\n    --hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    wanted = [Requirement(line) for line in DOCUMENT["project"]["dependencies"]]
    assert {canonicalize_name(need.name) for need in wanted} <= set(pinned)
    while wanted:  # and what these need on this machine, as far as they need it
        need = wanted.pop()
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            assert pinned[canonicalize_name(need.name)] in need.specifier, need
            wanted += [Requirement(line) for line in requires(need.name) or []]


DOCUMENT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = DOCUMENT["dependency-groups"]
EXTRAS = DOCUMENT["project"]["optional-dependencies"]
RUN_TIME = [*DOCUMENT["build-system"]["requires"], *DOCUMENT["project"]["dependencies"]]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (".ci/requirements.txt",
         [RUN_TIME, *EXTRAS.values(), *(GROUPS[name] for name in ("dev", "docs", "interop"))]),
        (".github/action.txt", [RUN_TIME]),
        (".github/release.txt", [GROUPS["release"]]),
    ],
)  # fmt: skip
def test_other_locks_pin_every_requirement_within_its_range(name, wanted):
    lock = (ROOT / name).read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    entries = re.split(r"\n(?=\S)", lock.strip())[1:]
    assert len(entries) == len(pinned)
    assert all(re.search(r"\n    --hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    for need in map(Requirement, chain(*wanted)):
        assert pinned[canonicalize_name(need.name)] in need.specifier, need


def test_every_action_of_a_workflow_is_pinned_by_its_commit_and_every_tool_by_its_hash():
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    used = re.findall(r"uses: (.*)", workflow)
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", name) for name in used)
    assert all("--require-hashes" in line for line in re.findall(r".*pip install.*", workflow))


def test_every_kernel_is_declared_and_nothing_else():
    declared = DOCUMENT["tool"]["setuptools"]
    kernels = {kernel["name"]: kernel["sources"] for kernel in declared["ext-modules"]}
    sources = [path.relative_to(ROOT) for path in ROOT.glob("core/**/*.pyx")]
    assert kernels == {
        ".".join(path.with_suffix("").parts[1:]): [path.as_posix()] for path in sources
    }


def test_every_dependency_has_a_range_and_an_argument():
    argued = (ROOT / "CONTRIBUTING.md").read_text()
    assert set(EXTRAS) == {"eval", "mcp"}
    for requirement in chain(DOCUMENT["project"]["dependencies"], *EXTRAS.values()):
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert ">=" in requirement, requirement
        assert "<" in requirement.replace(">=", ""), requirement
        assert name.group() in argued, requirement
