"""The kind of a changed path: code, tests, docs or generated, from a table of names.

Tests, docs and generated files are counted separately from code everywhere, and never make a
candidate large. A path that matches no row is code, so that no guess hides a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal, get_args

__all__ = ["KINDS", "RULES", "Kind", "Rule", "by_kind", "kind_of"]

Kind = Literal["code", "tests", "docs", "generated"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Rule:
    """Globs of one kind, each tried on the name as it is and in lower case."""

    kind: Kind
    folders: tuple[str, ...]
    files: tuple[str, ...]


_PAGES = ("readme", "changelog", "changes", "history", "news", "release_notes", "authors",
          "contributors", "maintainers", "credits", "contributing", "code_of_conduct", "security",
          "license", "licence", "copying", "notice", "todo")  # fmt: skip

RULES: tuple[Rule, ...] = (
    Rule(
        "generated",
        ("node_modules", "__pycache__", "__generated__", "generated", "dist", ".yarn"),
        (
            "*.lock", "*.lockb", "*.lockfile", "*.lock.json", "*.lock.hcl", "package-lock.json",
            "npm-shrinkwrap.json", "pnpm-lock.yaml", "conda-lock.yml", "pylock.toml",
            "pylock.*.toml", "go.sum", "package.resolved", "*.min.js", "*.min.css", "*.js.map",
            "*.css.map", "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h",
            "*.g.dart", "*.freezed.dart", "*.designer.cs", "*.generated.*", "*_generated.*",
            "zz_generated.*", "*.pot",
        ),
    ),
    Rule(
        "tests",
        (
            "test", "tests", "__tests__", "spec", "e2e", "cypress", "testdata", "test-data",
            "test_data", "testsuite", "unittests", "selftests", "androidtest", "__mocks__",
            "__snapshots__", "__fixtures__", "*[_.-]test", "*[_.-]tests", "[A-Z]*[a-z]Tests",
        ),
        (
            "test_*.*", "test-*.[jt]s", "*_test.*", "*_tests.*", "*.test.*", "*.tests.*",
            "*.spec.*", "*_spec.*", "*-test.[jt]s", "*-test.[jt]sx", "conftest.py", "test.py",
            "tests.py", "tests.rs", "*.snap", "*Test.java", "*Tests.java", "*TestCase.java",
            "*IT.java", "*Test.kt", "*Tests.kt", "*Test.cs", "*Tests.cs", "*Test.php",
            "*Tests.swift", "*Test.scala", "*Spec.scala", "*Spec.groovy", "*Spec.hs",
        ),
    ),
    Rule(
        "docs",
        ("docs", "doc", "documentation", "changelog.d", "newsfragments", ".changeset"),
        (
            "*.md", "*.mdx", "*.markdown", "*.rst", "*.adoc", "*.asciidoc", "*.textile", "*.org",
            *_PAGES, *(f"{page}.txt" for page in _PAGES), "changes.*[0-9]", "changelog.*[0-9]",
            "license-mit", "license-apache", "license-bsd", "citation.cff",
        ),
    ),
)  # fmt: skip
"""The rows, in the order in which they are tried: a lock file among tests is generated."""


def _regex(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(glob) for glob in globs))


_COMPILED = tuple((rule.kind, _regex(rule.folders), _regex(rule.files)) for rule in RULES)


def kind_of(path: str) -> Kind:
    """Return the kind of a path of a repository (with ``/``, as git writes it).

    >>> kind_of("src/app.py"), kind_of("tests/app.py"), kind_of("README"), kind_of("uv.lock")
    ('code', 'tests', 'docs', 'generated')
    """
    *folders, name = path.split("/")
    for kind, of_folder, of_file in _COMPILED:
        if _fits(of_file, name) or any(_fits(of_folder, folder) for folder in folders):
            return kind
    return "code"


def by_kind(paths: Iterable[str]) -> dict[Kind, tuple[str, ...]]:
    """Return the paths of every kind, in the order given, with empty kinds included."""
    paths_of: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    for path in paths:
        paths_of[kind_of(path)].append(path)
    return {kind: tuple(of_kind) for kind, of_kind in paths_of.items()}


def _fits(pattern: re.Pattern[str], name: str) -> bool:
    return bool(pattern.match(name) or pattern.match(name.lower()))
