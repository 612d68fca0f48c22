"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.reference import budget
from tests.reference.implementations import IMPLEMENTATIONS, PLACED, PLACED_PATCHES

budget.register()


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
