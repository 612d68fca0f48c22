"""Which grammar a text has, and that the tables and the installed pack know the same ones."""

from collections import Counter
from typing import get_args

import pytest
import tree_sitter_language_pack

from excise import language_tables, syntax
from excise.languages import names, resolve

PACK = set(get_args(tree_sitter_language_pack.SupportedLanguage))


# The tables


def test_every_grammar_of_the_pack_is_known_and_no_other():
    assert set(names()) | set(language_tables.UNFIT) == PACK
    assert not set(names()) & set(language_tables.UNFIT)


@pytest.mark.parametrize("grammar", names())
def test_every_grammar_is_its_own_name_and_tokenises(grammar):
    assert resolve(grammar, None) == resolve(grammar.upper(), "a.py") == grammar
    assert "".join(syntax.tokenise("a (b)\n", grammar).tokens).replace(" ", "") == "a(b)"


@pytest.mark.parametrize("table", ["GRAMMARS", "FILES", "INTERPRETERS"])
def test_no_word_stands_for_two_grammars(table):
    rows = [row.lower().split("|") for row in getattr(language_tables, table).strip().split("\n")]
    for column in range(1, max(map(len, rows))):
        words = Counter(word for row in rows for word in "".join(row[column : column + 1]).split())
        assert [word for word, count in words.items() if count > 1] == []
    assert {row[0].strip() for row in rows} <= set(names())


def test_no_alias_hides_a_grammar_or_another_extension():
    """A language may be named by either, so where both exist they agree."""
    for row in language_tables.GRAMMARS.strip().split("\n"):
        grammar, aliases, extensions = (cell.strip() for cell in row.split("|"))
        for alias in aliases.split():
            assert resolve(alias, None) == grammar
            assert resolve(None, f"x.{alias}") in (None, grammar), alias
        for extension in extensions.split():
            assert resolve(None, f"a/b.{extension}") == grammar


# Names


ALIASES = {
    "python": "python py PYTHON .py pyi",
    "javascript": "js jsx javascriptreact mjs",
    "typescript": "ts mts",
    "tsx": "tsx typescriptreact",
    "bash": "sh shell shellscript zsh ksh bash",
    "cpp": "c++ cpp hpp cc hh objective-cpp",
    "csharp": "cs csharp c#",
    "c": "c h",
    "go": "go golang",
    "rust": "rs rust",
    "ruby": "rb ruby",
    "kotlin": "kt kts kotlin",
    "yaml": "yml yaml dockercompose",
    "markdown": "md markdown",
    "html": "htm html",
    "objc": "objective-c objc",
    "json": "json jsonc jsonl",
    "make": "makefile make",
    "vim": "viml vim",
    "latex": "tex latex",
    "rst": "restructuredtext rst",
    "fsharp": "fsharp f# fs",
    "gitcommit": "git-commit",
    "gitignore": "ignore",
    "verilog": "systemverilog sv",
}
LSP_IDS = (
    "bibtex clojure c cpp csharp css d dart dockerfile elixir erlang fsharp git-commit go groovy "
    "haskell html ini java javascript javascriptreact json latex lua makefile markdown "
    "objective-c objective-cpp pascal perl php powershell python r ruby rust scss scala "
    "shellscript sql swift typescript typescriptreact tex xml xsl yaml "
    "cuda-cpp dockercompose hlsl ignore jsonc jsonl julia properties restructuredtext snippets"
)
UNKNOWN = (
    "plaintext text klingon abap bat coffeescript diff git-rebase handlebars jade less perl6 pug "
    "razor sass shaderlab vb cobol"
)


@pytest.mark.parametrize(("grammar", "words"), ALIASES.items())
def test_aliases(grammar, words):
    assert {resolve(word, None) for word in words.split()} == {grammar}


def test_ids_of_the_protocol_and_of_vs_code():
    assert [name for name in LSP_IDS.split() if resolve(name, None) is None] == []


def test_an_unknown_language_stays_unknown_whatever_else_is_known():
    for name in UNKNOWN.split():
        assert resolve(name, "a.py", "#!/bin/sh\n") is None, name


def test_the_language_wins_over_the_path_and_the_path_over_the_shebang():
    assert resolve("go", "a.py", "#!/bin/sh") == "go"
    assert resolve(None, "a.py", "#!/bin/sh") == "python"
    assert resolve(None, "a.unknown", "#!/bin/sh") == "bash"
    assert resolve("  ", "a.py") == resolve("", "a.py") == "python"


# Paths


PATHS = {
    "python": "a.py /x/y.z/a.PY C:\\x\\a.pyw SConstruct",
    "c": "a.c include/a.h",
    "cpp": "a.cpp a.HPP a.cc",
    "make": "Makefile src/makefile GNUmakefile Makefile.am a.mk Kbuild",
    "dockerfile": "Dockerfile x/Dockerfile.dev dev.dockerfile Containerfile",
    "cmake": "CMakeLists.txt a.cmake",
    "starlark": "BUILD x/BUILD.bazel a.bzl WORKSPACE",
    "bash": ".bashrc ~/.profile a.sh a.zsh .env .env.local",
    "gomod": "go.mod",
    "gosum": "x\\go.sum",
    "ruby": "Gemfile Rakefile a.gemspec",
    "toml": "Cargo.lock a.toml pyproject.toml",
    "json": "package.json composer.lock .eslintrc",
    "requirements": "requirements.txt",
    "gitignore": ".gitignore .dockerignore",
    "gitattributes": ".gitattributes",
    "kconfig": "Kconfig Kconfig.debug",
    "meson": "meson.build",
    "markdown": "README.md docs/a.markdown",
    "typescript": "a.ts a.d.ts",
    "yaml": "a.yml .clang-format",
    "groovy": "Jenkinsfile build.gradle",
    "embeddedtemplate": "a.html.erb",
    "ocaml_interface": "a.mli",
    "fsharp_signature": "a.fsi",
    "terraform": "main.tf",
    "vim": ".vimrc",
    "verilog": "a.v",
}


@pytest.mark.parametrize(("grammar", "paths"), PATHS.items())
def test_paths(grammar, paths):
    assert {path: resolve(None, path) for path in paths.split()} == dict.fromkeys(
        paths.split(), grammar
    )


@pytest.mark.parametrize(
    "path", ["", "a", "a.", ".", "..", ".py", "a.py/", "py", "a.txt", "BUILD.log"]
)
def test_paths_that_say_nothing(path):
    assert resolve(None, path) is None


# Shebangs


SHEBANGS = {
    "#!/usr/bin/env -S python3 -u\n": "python",
    "#!/usr/bin/env -Spython3 -u\n": "python",
    "#!/usr/bin/env --split-string=python3 -u\n": "python",
    "#!/usr/bin/env -i -u HOME A=b python\n": "python",
    "#!/usr/bin/env python3.11\nx": "python",
    "#!/usr/bin/python2.7": "python",
    "#! /usr/bin/pypy3\n": "python",
    "\ufeff#!/bin/sh\r\nx": "bash",
    "#!/bin/sh\rx": "bash",
    "#!/bin/bash -e\n": "bash",
    "#!/usr/bin/env zsh\n": "bash",
    "#!/usr/bin/env node\n": "javascript",
    "#!/usr/bin/env -S deno run\n": "typescript",
    "#!/usr/bin/ruby -w\n": "ruby",
    "#!/usr/bin/perl\n": "perl",
    "#!/usr/bin/php8.2\n": "php",
    "#!/usr/bin/lua5.4\n": "lua",
    "#!/usr/bin/env Rscript\n": "r",
    "#!/usr/bin/tclsh8.6\n": "tcl",
    "#!/usr/bin/env pwsh\n": "powershell",
    "#!C:\\Python\\python.exe\n": "python",
    "#!/usr/bin/make -f\n": "make",
}


@pytest.mark.parametrize(("text", "grammar"), SHEBANGS.items())
def test_shebangs(text, grammar):
    assert resolve(None, None, text) == grammar
    assert resolve(None, "bin/tool", text) == grammar


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#!",
        "#!\n/bin/sh",
        "#!/usr/bin/env\n",
        "#!/usr/bin/env -S",
        "#!/usr/bin/env A=b",
        "#!/x/klingon",
        " #!/bin/sh",
        "#/bin/sh",
        "x\n#!/bin/sh\n",
    ],
)
def test_shebangs_that_say_nothing(text):
    assert resolve(None, None, text) is None
