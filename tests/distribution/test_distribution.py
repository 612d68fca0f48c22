"""The source distribution and the wheel: what is in them, and that each installs and runs.

They take minutes and are run by `make test-dist` (EXCISE_DIST=required), which CI does too.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("distribution"),
    pytest.mark.skipif(
        os.environ.get("EXCISE_DIST") != "required",
        reason="make test-dist builds and installs the distributions (two minutes)",
    ),
]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
TOP = f"excise-{VERSION}"
NOWHERE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
}
ORIGIN = "def total(items):\n    return sum(items)\n"


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder with both, built from the tree as it is."""
    subprocess.run(["make", "--no-print-directory", "dist"], cwd=ROOT, check=True)
    return ROOT / "dist"


@pytest.fixture(scope="session")
def sdist(dist) -> Path:
    (path,) = dist.glob("excise-*.tar.gz")
    return path


@pytest.fixture(scope="session")
def wheel(dist) -> Path:
    (path,) = dist.glob("excise-*.whl")
    return path


@pytest.fixture(scope="session")
def unpacked(sdist, tmp_path_factory) -> Path:
    """The source distribution where no git repository is, in a path with spaces."""
    folder = tmp_path_factory.mktemp("a path with spaces")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / TOP


def tracked(*folders: str) -> set[str]:
    """Files that git knows; a new one counts, too."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    done = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in done.stdout.split("\n") if name and (ROOT / name).is_file()}


def surroundings(**more: str) -> dict[str, str]:
    """The environment without this one's Python and its lock file, and without git."""
    ours = ("PYTHON", "VIRTUAL_ENV", "EXCISE_LOCKED")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return kept | more


def path_without_git(folder: Path) -> str:
    """A PATH with what a build needs, and no git."""
    folder.mkdir()
    for name in ("cc", "gcc", "as", "ld", "sh", "uname", "env"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)


def clean_python(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, env=surroundings())
    return folder / "bin" / "python"


def pip(python: Path, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    environment = surroundings(**more)
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=python.parent
    )


def run_excise(python: Path, folder: Path, *, where: bool = True) -> None:
    """The installed command says its version and ranks, in a folder that is not the project's."""
    folder.mkdir()
    (folder / "a.py").write_text(ORIGIN)
    for name, text in (("b.py", "sum(items, 0)"), ("c.py", "sum(items, 0)"), ("d.py", "0")):
        (folder / name).write_text(ORIGIN.replace("sum(items)", text))

    def excise(*arguments: str) -> str:
        command = [python.with_name("excise"), *arguments]
        done = subprocess.run(
            command, cwd=folder, env=surroundings(), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert excise("--version") == f"excise {VERSION}\n"
    ranked = excise("compare", "a.py", "b.py", "c.py", "d.py")
    assert all(name in ranked for name in ("b.py", "c.py", "d.py"))
    if not where:
        return
    asked = [python, "-I", "-c", "import excise; print(excise.__file__)"]
    found = subprocess.run(asked, cwd=folder, check=True, capture_output=True, text=True).stdout
    assert found.startswith(str(python.parents[1]))


def test_the_source_distribution_holds_the_sources_and_nothing_else(sdist):
    with tarfile.open(sdist) as archive:
        names = {m.name.removeprefix(f"{TOP}/") for m in archive.getmembers() if m.isfile()}
    made = {name for name in names if name.startswith("excise.egg-info/")}
    made |= {"PKG-INFO", "setup.cfg"}
    named = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "SECURITY.md"}
    assert names - made == tracked("core", "server", "build_backend") | named | {"pyproject.toml"}
    assert {
        "build_backend/backend.py",
        "core/excise/kernels/_walk.pyx",
        "core/excise/kernels/_walk.pxd",
    } < names


def test_the_wheel_holds_modules_stripped_kernels_and_nothing_else(wheel):
    assert wheel.name.startswith(f"{TOP}-cp311-abi3-")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        kernels = {name: archive.read(name) for name in names if name.endswith(".so")}
    sources = {name.partition("/")[2] for name in tracked("core", "server")}
    modules = {name for name in sources if not name.endswith((".pyx", ".pxd"))}
    declared = PROJECT["tool"]["setuptools"]["ext-modules"]
    compiled = {kernel["name"].replace(".", "/") + ".abi3.so" for kernel in declared}
    about = {name for name in names if name.startswith(f"{TOP}.dist-info/")}
    assert names - about == modules | compiled
    for name, content in kernels.items():
        assert b".symtab" not in content, name
        assert b".debug_info" not in content, name


def test_the_wheel_installs_all_that_the_command_and_the_server_need(wheel, tmp_path):
    python = clean_python(tmp_path / "venv")
    done = pip(python, "install", "--quiet", wheel)
    assert done.returncode == 0, done.stderr
    run_excise(python, tmp_path / "elsewhere")
    extra = pip(python, "install", "--dry-run", "--quiet", f"{wheel}[eval]")
    assert extra.returncode == 0, extra.stderr


def test_the_source_distribution_installs_without_git_in_a_path_with_spaces(unpacked, tmp_path):
    python = clean_python(tmp_path / "venv")
    path = path_without_git(tmp_path / "bin")
    done = pip(python, "install", "--quiet", str(unpacked), PATH=path)
    assert done.returncode == 0, done.stderr
    run_excise(python, tmp_path / "elsewhere")


def test_without_a_network_pip_names_what_the_build_needs(sdist, tmp_path):
    python = clean_python(tmp_path / "venv")
    done = pip(python, "install", sdist, **NOWHERE)
    assert done.returncode != 0
    assert re.search(r"No matching distribution found for setuptools", done.stderr)


def test_without_build_isolation_a_missing_tool_is_named_in_one_sentence(unpacked, tmp_path):
    python = clean_python(tmp_path / "venv")
    pip(python, "uninstall", "--yes", "setuptools")
    done = pip(python, "wheel", "--no-build-isolation", "--no-deps", unpacked, **NOWHERE)
    assert done.returncode != 0
    said = f"{done.stdout}{done.stderr}"
    assert "excise: setuptools 77 or newer is needed to build it, and here it is missing." in said
    assert "Traceback" not in said
