"""Every archive of tests/cases/pages: tables, pages and answers to agents, without a process."""

from pathlib import Path

import pytest
from tests import archive
from tests.server import page_case

CASES = sorted((Path(__file__).parents[1] / "cases" / "pages").glob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    archive.check(path, page_case.results(path, tmp_path))


def test_every_kind_of_page_is_used():
    expected = " ".join(name for path in CASES for name in archive.read(path))
    assert len(CASES) >= 40
    for kind in (*page_case.PAGES, "excise"):
        assert f" {kind}" in expected
