"""What is imported late, and a grammar pack that does not fit."""

import os
import subprocess
import sys

import pytest

import excise

pytestmark = pytest.mark.slow

HEAVY = ("sklearn", "scipy", "tree_sitter", "tree_sitter_language_pack", "click", "rich", "msgspec")


def run(program: str, **environment: str):
    return subprocess.run(
        [sys.executable, "-c", f"import sys, excise\n{program}"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_importing_the_library_imports_nothing_heavy():
    done = run(f"assert not set(sys.modules) & {{'numpy', *{HEAVY!r}}}, sorted(sys.modules)")
    assert (done.returncode, done.stderr) == (0, "")


def with_pack(folder, version: str) -> str:
    """A folder in which the grammar pack has another version, for PYTHONPATH."""
    about = folder / f"tree_sitter_language_pack-{version}.dist-info"
    about.mkdir()
    text = f"Metadata-Version: 2.1\nName: tree-sitter-language-pack\nVersion: {version}\n"
    (about / "METADATA").write_text(text)
    return str(folder)


def test_a_grammar_pack_of_another_major_version_is_refused_in_a_sentence(tmp_path):
    program = 'excise.similarity(origin="a", a="b", b="c", language="python")'
    done = run(program, PYTHONPATH=with_pack(tmp_path, "1.4.2"))
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("excise.errors.MissingPackageError: tree-sitter-language-pack is 1.4.2")
    assert "'tree-sitter-language-pack>=0.13,<1'" in last
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    program = "import sys; from excise_server.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "compare", __file__, __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("excise: tree-sitter-language-pack is 1.4.2")


def test_the_error_is_an_import_error():
    assert issubclass(excise.MissingPackageError, ImportError)
