"""What a changed file is for: code, tests, docs, a script left behind, or generated, by its path.

Candidates are compared by their code. Tests, docs and scripts that were left behind stand beside it
(`FACETS`): candidates that differ there alone have the same code, and one that changes nothing else
has no vote. So only names that leave no doubt are here, and a path that matches no row is code: a
package called ``test`` is part of some products. What a name does not tell, the tree may
(`excise_server.sources.facets`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal, get_args

Kind = Literal["code", "tests", "docs", "scratch", "generated"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FACETS: tuple[Kind, ...] = ("tests", "docs", "scratch")
"""The kinds that may differ between candidates with the same code.

Generated files are not among them, because they may be what runs. They only are not counted as
code.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """Globs of one kind, each tried on the name as it is and in lower case."""

    kind: Kind
    folders: tuple[str, ...]
    files: tuple[str, ...]


_PAGES = ("readme", "changelog", "changes", "history", "news", "release_notes", "authors",
          "contributors", "maintainers", "credits", "contributing", "code_of_conduct", "security",
          "license", "licence", "copying", "notice", "todo")  # fmt: skip
_ENTRIES_OF = ("changelog", "changes", "history", "news", "release_notes", "whatsnew")

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
        ("tests", "__tests__", "__mocks__", "__snapshots__", "__fixtures__", "testdata"),
        (
            "test_*", "*_test", "*_test.*", "*_tests", "*_tests.*", "tests", "tests.*", "*.test.*",
            "*.tests.*", "*.spec.*", "*_spec.rb", "test-*.[jt]s", "*-test.[jt]s", "*-test.[jt]sx",
            "*.snap", "*Test.java", "*Tests.java", "*TestCase.java", "*IT.java", "*Test.kt",
            "*Tests.kt", "*Test.cs", "*Tests.cs", "*Test.php", "*Tests.swift", "*Test.scala",
            "*Spec.scala", "*Spec.groovy", "*Spec.hs",
        ),
    ),
    Rule(
        "docs",
        ("changelog.d", "newsfragments", ".changeset"),
        (
            "*.md", "*.markdown", "*.rst", "*.adoc", "*.asciidoc", "*.textile", "*.org", "*.po",
            *_PAGES, *(f"{page}.txt" for page in _PAGES), "changes.*[0-9]", "changelog.*[0-9]",
            "license-mit", "license-apache", "license-bsd", "citation.cff",
        ),
    ),
)  # fmt: skip
"""The rows, in the order in which they are tried: a lock file among tests is generated."""

_TEST_FOLDERS = re.compile(r"test/|(?:.*/)?src/test/", re.DOTALL)
"""Where a folder called ``test`` holds tests: in the repository itself, and as build tools lay out
sources. Elsewhere it may be a package, as ``django/test`` is.
"""

_SCRIPTS = ("py", "js", "mjs", "cjs", "ts", "mts", "cts", "sh", "bash")
_STEM = re.compile(r"\w(?:[\w-]*\w)?", re.ASCII)
_ENTRIES = re.compile(
    r"setup|conftest|__main__|__init__|manage|noxfile|tasks|fabfile|main|index|app|wsgi|asgi"
    r"|configure|gulpfile|gruntfile|page|layout|route|middleware",
    re.IGNORECASE,
)
"""Files that a tool finds by their names, so that no other file has to name them."""

_DOCS = re.compile(r"(?:.*/)?docs?/", re.DOTALL)
_LISTS = re.compile(r"(?:requirements|constraints).*|cmakelists\.txt", re.DOTALL | re.IGNORECASE)


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
        if kind == "tests" and _TEST_FOLDERS.match(path):
            return kind
    return "code"


def is_changelog(path: str) -> bool:
    """Whether a file lists what changed, by entries of which everybody adds some.

    >>> is_changelog("docs/CHANGES.rst"), is_changelog("changes.py")
    (True, False)
    """
    stem, _, extension = path.rpartition("/")[2].lower().partition(".")
    return stem in _ENTRIES_OF and extension in ("", "md", "rst", "txt")


_ENTRY_LINES = re.compile(r"(?:(?:[*+-] |[ \t]+\S).*\n|[ \t]*\n)+")
_NUMBER = re.compile(r"(?:#|!|GH-|/pull/|/issues/|[:}]`)(\d+)")


def are_entries(*parts: str) -> bool:
    r"""Whether texts are entries of a changelog, without a heading, and no two about one thing.

    >>> are_entries("- New, see #7\n", "- Fix #8\n"), are_entries("- New, #7\n", "- Newer, #7\n")
    (True, False)
    >>> are_entries("- New {issue}`7`\n", "- Newer {issue}`7`\n")  # a role of Sphinx, or :issue:`7`
    False
    """
    if not all(_ENTRY_LINES.fullmatch(part) for part in parts):
        return False
    about = [
        {*_NUMBER.findall(part), *filter(None, map(str.strip, part.split("\n")))} for part in parts
    ]
    return sum(map(len, about)) == len(set[str]().union(*about))


def script_stem(path: str) -> str:
    """Return the name without extension of a script that may be left behind, or an empty string.

    Only Python, JavaScript, TypeScript and shell are meant: elsewhere the compiler finds a file
    that nothing names. A stem with other characters than those of a word and ``-`` is not looked
    for.

    >>> script_stem("reproduce.py"), script_stem("setup.py"), script_stem("vite.config.js")
    ('reproduce', '', '')
    """
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    if extension not in _SCRIPTS or _STEM.fullmatch(stem) is None or _ENTRIES.fullmatch(stem):
        return ""
    return stem if kind_of(path) == "code" else ""


def text_stem(path: str) -> str:
    """Return the name without extension of a text that may be prose, or an empty string.

    It is in the top folder or among the docs: elsewhere a program may read all texts of a folder.

    >>> text_stem("docs/ref/models.txt"), text_stem("requirements-dev.txt")
    ('models', '')
    """
    folder, _, name = path.rpartition("/")
    stem, _, extension = name.rpartition(".")
    if folder and not _DOCS.match(path):
        return ""
    if extension != "txt" or _LISTS.fullmatch(name) or _STEM.fullmatch(stem) is None:
        return ""
    return stem if kind_of(path) == "code" else ""


def _fits(pattern: re.Pattern[str], name: str) -> bool:
    return bool(pattern.match(name) or pattern.match(name.lower()))
