"""Measures in other interpreters, and what is said where there is none, or a broken one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.process_tree import wait_until

from excise.evaluation import MEASURES, MeasureUnavailableError, measure
from excise.evaluation.wordnet import EXCEPTIONS, FILES
from excise_server.evaluation import resources as module
from excise_server.evaluation.resources import resources, wordnet_folder
from excise_server.foundation.inputs import SourceError
from excise_server.processes.remote import Remote

ROOT = Path(__file__).parent.parent.parent
A = "def f(x):\n    return x + 1\n"
B = "def f(x):\n    y = x - 1\n    return y\n"


def interpreter(variable: str, folder: str, package: str) -> str:
    """Return the interpreter that has a package, or skip the test by its name."""
    beside = ROOT / folder / "bin" / "python"
    python = os.environ.get(variable) or (str(beside) if beside.exists() else "")
    if not python:
        pytest.skip(f"no {package} here: neither {variable} nor {folder} (make eval-envs)")
    return python


@pytest.fixture(scope="module")
def codebleu():
    return interpreter("EXCISE_CODEBLEU_PYTHON", ".venv-codebleu", "codebleu")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """An interpreter that has lens-metric and bert-score, and a folder of tiny random models."""
    python = interpreter("EXCISE_LENS_PYTHON", ".venv-models", "lens-metric")
    folder = tmp_path_factory.mktemp("models")
    script = Path(__file__).with_name("tiny_models.py")
    made = subprocess.run(
        [python, str(script), str(folder), "lens"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return python, folder


def value(name, world, **texts):
    return measure(name, world)(**{"origin": B, "language": "python", **texts}).value


# --- CodeBLEU ------------------------------------------------------------------------------------

DIRECT = """
import sys, codebleu
a, b = sys.stdin.read().split("====")
print(codebleu.calc_codebleu([[a]], [b], "python")["codebleu"])
"""


def test_codebleu_is_what_its_package_says(codebleu):
    world = resources(wanted=["codebleu"], environment={"EXCISE_CODEBLEU_PYTHON": codebleu})
    asked = subprocess.run(
        [codebleu, "-I", "-c", DIRECT], input=f"{A}===={B}", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found = value("codebleu", world, reference=A, hypothesis=B)
    assert found == pytest.approx(float(asked.stdout), abs=1e-12)
    assert 0 < found < 1
    assert value("codebleu", world, reference=A, hypothesis=A) == pytest.approx(1)
    assert "codebleu:codebleu-0.7" in measure("codebleu", world).signature()


def test_codebleu_survives_what_cannot_be_encoded(codebleu):
    world = resources(wanted=["codebleu"], environment={"EXCISE_CODEBLEU_PYTHON": codebleu})
    for hypothesis in ("x = '\ud800'", "\x00\x1b", "é = 1\r", "\u2028", "((((" * 50):
        assert 0 <= value("codebleu", world, reference=A, hypothesis=hypothesis) <= 1


def test_a_process_that_dies_is_told_and_started_anew(codebleu):
    remote = Remote("codebleu", codebleu)
    before = remote(B, [A], B, "python")
    os.kill(remote._process.pid, signal.SIGKILL)
    wait_until(lambda: remote._process.ended() is not None)
    assert remote(B, [A], B, "python") == before
    remote.close()
    remote.close()


def test_an_error_of_one_output_is_told_and_the_next_is_scored(codebleu):
    remote = Remote("codebleu", codebleu)
    with pytest.raises(MeasureUnavailableError, match="AssertionError: Language cobol"):
        remote(B, [A], B, "cobol")
    pid = remote._process.pid
    assert remote(B, [A], A, "python") == pytest.approx(1)
    assert remote._process.pid == pid
    remote.close()


# --- files of vectors and of code ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no such file"),
        (b"a 1 2\nb 1 2 3\n", "line 2 has 3 numbers instead of 2"),
        (b"a " + b"1 " * 600_000, "a line of more than 1,048,576 bytes"),
    ],
)
def test_a_file_of_vectors_that_is_none_is_named(tmp_path, content, why):
    path = tmp_path / "vectors.txt"
    if content is not None:
        path.write_bytes(content)
    world = resources(wanted=["vectors"], environment={"EXCISE_WMD_VECTORS": str(path)})
    assert world.vectors is None
    assert world.missing["vectors"] == f"EXCISE_WMD_VECTORS: {path}: {why}"
    assert str(path) in measure("wmd", world).missing()


def test_too_many_vectors_are_refused_while_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("excise.evaluation.word_mover.MOST_NUMBERS", 100)
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"w{i} 1 2\n" for i in range(51)))
    world = resources(wanted=["vectors"], environment={"EXCISE_WMD_VECTORS": str(path)})
    assert "more than 100 numbers" in world.missing["vectors"]


def test_files_are_part_of_the_signature(tmp_path):
    path = tmp_path / "file"
    path.write_text("a 1 2\nb 1 3\n")
    variables = {"EXCISE_WMD_VECTORS": str(path), "EXCISE_CRYSTALBLEU_CORPUS": str(path)}
    signatures = set()
    for more in ("", "c 0 0\n"):
        path.write_text(path.read_text() + more)
        world = resources(wanted=["vectors", "trivial"], environment=variables)
        assert value("wmd", world, reference="a", hypothesis="b") == pytest.approx(1)
        assert value("crystalbleu", world, reference="x y", hypothesis="x y") == 1
        signatures |= {measure(name, world).signature() for name in ("wmd", "crystalbleu")}
    assert len(signatures) == 4
    with pytest.raises(MeasureUnavailableError, match="EXCISE_CRYSTALBLEU_CORPUS=FILE"):
        value(
            "crystalbleu",
            resources(wanted=["trivial"], environment={}),
            reference="",
            hypothesis="",
        )


# --- BERTScore and LENS --------------------------------------------------------------------------


@pytest.mark.slow
def test_bertscore_of_a_tiny_model(models):
    python, folder = models
    environment = {
        "EXCISE_BERTSCORE_PYTHON": python,
        "EXCISE_BERTSCORE_MODEL": str(folder / "bert"),
    }
    world = resources(wanted=["bertscore"], environment=environment)
    assert not world.missing
    assert value("bertscore", world, reference="a cat", hypothesis="a cat") == pytest.approx(1)
    one, other = (
        value("bertscore", world, reference=reference, hypothesis="a dog sat")
        for reference in ("the cat", "a dog")
    )
    assert -1 <= min(one, other) <= max(one, other) < 1
    both = value("bertscore", world, reference=["the cat", "a dog"], hypothesis="a dog sat")
    assert both == pytest.approx(max(one, other), abs=1e-5)
    longer = value("bertscore", world, reference="a cat " * 500, hypothesis="a cat " * 600)
    assert longer == pytest.approx(1)  # both are cut at the model's 64 tokens
    assert "/bert-L2" in measure("bertscore", world).signature()


@pytest.mark.slow
def test_lens_of_a_tiny_model(models):
    python, folder = models
    environment = {"EXCISE_LENS_PYTHON": python, "EXCISE_LENS_MODEL": str(folder / "lens")}
    world = resources(wanted=["lens"], environment=environment)
    assert not world.missing
    one, other = (
        value("lens", world, origin="the cat sat", reference=reference, hypothesis="a cat sat")
        for reference in ("the cat", "a dog")
    )
    assert 0 <= min(one, other) <= max(one, other) <= 100
    both = value(
        "lens", world, origin="the cat sat", reference=["the cat", "a dog"], hypothesis="a cat sat"
    )
    assert both == pytest.approx(max(one, other), abs=1e-3)


# --- what is missing -----------------------------------------------------------------------------


def test_without_anything_every_measure_says_which_command_helps(monkeypatch):
    monkeypatch.setattr(module, "_FOLDERS", ())
    world = resources(environment={})
    helps = {
        "synonyms": "apt-get install wordnet-base",
        "codebleu": "EXCISE_CODEBLEU_PYTHON=DIR/bin/python",
        "bertscore": "pip install 'bert-score<0.4'",
        "lens": "EXCISE_LENS_MODEL=DIR",
        "trivial": "EXCISE_CRYSTALBLEU_CORPUS=FILE",
        "vectors": "EXCISE_WMD_VECTORS=FILE",
    }
    for found in MEASURES.values():
        if found.resource is not None:
            assert helps[found.resource] in found.having(world).missing()


@pytest.mark.parametrize(
    ("name", "python", "model", "reasons"),
    [
        ("codebleu", "/no/such/python", None, ["/no/such/python does not start: No such file"]),
        ("codebleu", str(Path(__file__)), None, ["does not start: Permission denied"]),
        ("codebleu", "/bin/true", None, ["its process ended"]),
        ("codebleu", "/bin/echo", None, ["by /bin/echo"]),
        ("codebleu", sys.executable, None, ["No module named", "pip install 'codebleu"]),
        ("bertscore", "/bin/true", str(ROOT), ["its process ended"]),
        ("lens", None, "/no/such/model", ["EXCISE_LENS_MODEL: there is no /no/such/model"]),
    ],
)
def test_an_interpreter_or_model_that_will_not_do_is_named(name, python, model, reasons):
    variables = {f"EXCISE_{name.upper()}_PYTHON": python, f"EXCISE_{name.upper()}_MODEL": model}
    environment = {variable: value for variable, value in variables.items() if value}
    why = measure(name, resources(wanted=[name], environment=environment)).missing()
    assert all(reason in why for reason in reasons)


def test_patience_ends(tmp_path):
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\nwhile read line; do :; done\n")
    mute.chmod(0o755)
    with pytest.raises(MeasureUnavailableError, match=r"no answer within 0\.2 s"):
        Remote("codebleu", str(mute), patience=0.2)(B, [A], B, "python")


def test_a_folder_that_is_no_wordnet_is_an_error(tmp_path):
    with pytest.raises(SourceError, match=r"not a folder of WordNet: no index\.noun"):
        resources(environment={"EXCISE_WORDNET": str(tmp_path)})
    with pytest.raises(SourceError, match="not a folder of WordNet"):
        resources(environment={"EXCISE_WORDNET": str(tmp_path / "absent")})


def test_wordnet_is_found_below_the_folders_of_nltk(tmp_path):
    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_bytes(b"  1 WordNet 9.9 Copyright\n")
    environment = {"NLTK_DATA": f"{tmp_path / 'absent'}{os.pathsep}{tmp_path}"}
    assert wordnet_folder(environment=environment) == str(folder)
    world = resources(wanted=["synonyms"], environment=environment)
    assert world.names == {"synonyms": "wordnet-9.9-regular"}
    for name in EXCEPTIONS:
        (folder / name).write_bytes(b"")
    world = resources(wanted=["synonyms"], environment=environment)
    assert world.names == {"synonyms": "wordnet-9.9"}
    assert world.synonyms("word") == frozenset()


def test_every_variable_is_documented():
    guide = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    remote = {f"EXCISE_{name.upper()}_PYTHON" for name in module._REMOTES}
    for variable in {"EXCISE_WORDNET", "NLTK_DATA", "EXCISE_LENS_MODEL", *remote}:
        assert variable in guide
