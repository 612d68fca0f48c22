"""Fixtures that every test may use."""

import atexit
import gc
import os
import re
import resource
import tempfile
from pathlib import Path

import pytest
from tests.reference import budget
from tests.reference.implementations import IMPLEMENTATIONS, PLACED, PLACED_PATCHES

budget.register()


def pytest_configure() -> None:
    """Give every test, and every process that one starts, the environment of a person's shell.

    A machine that checks sets CI, with which nothing counts as looked at, and some shells forbid
    Python to write bytecode, which hides what a run leaves behind: both would make a test pass in
    one place and fail in another. The cache is not the user's.
    """
    for name in ("CI", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    folder = tempfile.TemporaryDirectory(prefix="excise-tests-", ignore_cleanup_errors=True)
    os.environ["XDG_CACHE_HOME"] = folder.name
    atexit.register(folder.cleanup)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m "not slow"` does not import a file whose tests are all slow: half of its time."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if re.search(r"^pytestmark = [^=]*pytest\.mark\.slow", text, re.MULTILINE) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first: none is left for the end, when other workers have no more."""

    def order(item: pytest.Item) -> int:
        marks = {mark.name for mark in item.iter_markers()}
        return 0 if "xdist_group" in marks else 1 if "slow" in marks else 2

    items.sort(key=order)


def pytest_collection_finish() -> None:
    """Keep what was imported out of every search for garbage, of which some tests make many."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the run cost, which the time on a wall does not on a machine with other work."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = sum(sum(resource.getrusage(part)[:2]) for part in who)
    terminalreporter.write_line(f"CPU of this run: {used:.0f} s")


@pytest.fixture(scope="session", params=sorted(IMPLEMENTATIONS))
def implementation(request):
    """The slow oracle and the library in turn: a law holds for both."""
    return IMPLEMENTATIONS[request.param]


@pytest.fixture(scope="session", params=sorted(PLACED))
def placed_implementation(request):
    """The implementations that know ``place=anchored``, in turn."""
    return PLACED[request.param]


@pytest.fixture(scope="session", params=sorted(PLACED_PATCHES))
def compare_patches(request):
    """The comparisons of two patch texts by their edits that know places, in turn."""
    return PLACED_PATCHES[request.param]


@pytest.fixture(scope="session")
def excise_data() -> Path:
    """The folder of the data for measuring; the test is skipped where it is not given."""
    folder = os.environ.get("EXCISE_DATA")
    if not folder:
        pytest.skip(
            "EXCISE_DATA is not set: it must name the folder that holds humanevalfix_*.jsonl"
        )
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"EXCISE_DATA names {folder!r}, which is not a folder")
    return path
