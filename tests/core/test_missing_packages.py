"""Where only the library is installed, it works, and says what to install for the rest."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import excise

pytestmark = pytest.mark.slow

PRELUDE = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import excise
"""
HEAVY = ("sklearn", "scipy", "tree_sitter", "tree_sitter_language_pack", "click", "rich", "msgspec")


def run(program: str, missing: tuple[str, ...] = (), **environment: str):
    """Run a program in an interpreter that lacks some packages."""
    code = PRELUDE.format(missing=missing) + program
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_importing_the_library_imports_nothing_heavy():
    done = run(f"assert not set(sys.modules) & {{'numpy', *{HEAVY!r}}}, sorted(sys.modules)")
    assert (done.returncode, done.stderr) == (0, "")


def test_tokens_and_words_need_no_other_package():
    program = """
texts = dict(origin="a b\\n", a="a c\\n", b="a c\\n")
assert excise.similarity(**texts).value == 1
assert excise.similarity(**texts, language="text", comments="drop").value == 1
matrix = excise.ScoreMatrix.from_texts(list("abc"), {"x": list("abd"), "y": list("abd")})
assert matrix.values.min() == 1 and excise.rank(matrix)[0].rank == 1
assert len(excise.ScoreMatrix.from_texts("a\\n", ["b\\n"]).hunks()) == 1
assert excise.replay("a\\n", "a\\nb\\n", "c\\na\\n").text == "c\\na\\nb\\n"
assert excise.corpus_score(origins=["a"] * 2, references=["b"] * 2, hypotheses=["b"] * 2).interval
"""
    done = run(program, HEAVY)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("call", "missing", "extra"),
    [
        ('similarity(origin="a", a="b", b="c", path="a.py")', "tree_sitter", "grammars"),
        ('align("a", "b", language="go")', "tree_sitter_language_pack", "grammars"),
        ("cluster(CHAIN)", "scipy", "clusters"),
    ],
)
def test_what_is_missing_is_named_with_its_extra(call, missing, extra):
    program = f"""
CHAIN = excise.ScoreMatrix.from_texts(list("abcd"), [list("xbcd"), list("xbyd"), list("aby")])
try:
    excise.{call.replace("CHAIN", "CHAIN, threshold=0.7")}
except excise.MissingPackageError as error:
    print(error)
"""
    done = run(program, (missing,))
    assert done.stderr == ""
    assert f"install the extra '{extra}'" in done.stdout


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
    command = [sys.executable, "-c", program, "matrix", __file__, __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("excise: tree-sitter-language-pack is 1.4.2")


def test_the_command_and_the_server_say_what_they_need():
    for module, missing in (("entry", "click"), ("__main__", "pygls")):
        done = run(f"from excise_server.{module} import main; sys.exit(main())", (missing,))
        assert done.returncode == 2
        assert f"needs {missing}; install" in done.stderr
        assert "install the extra 'all'" in done.stderr


def test_the_error_is_an_import_error():
    assert issubclass(excise.MissingPackageError, ImportError)
