"""Every archive of tests/cases/editor, shown by a real server; and how an archive can be wrong."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import archive
from tests.server import editor_case
from tests.server.editor_session import EditorSession

CASES = sorted((Path(__file__).parents[1] / "cases" / "editor").glob("*.txt"))


Sessions = Callable[[str], EditorSession]


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """Return the server of a client, which is started by the first case that needs it."""
    folder, started = tmp_path_factory.mktemp("editor"), dict[str, EditorSession]()

    def session_of(client: str) -> EditorSession:
        if client not in started:
            (workspace := folder / client).mkdir()
            started[client] = EditorSession(client, workspace)
        return started[client]

    yield session_of
    for session in started.values():
        session.end()


def check(path: Path, sessions: Sessions) -> None:
    """Show a case to its client, and compare what it is told with the archive."""
    case = editor_case.read(path)
    archive.check(path, sessions(case.client).results(case))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, sessions: Sessions):
    check(path, sessions)


def test_every_kind_of_expectation_is_used():
    cases = list(map(editor_case.read, CASES))
    assert len(cases) >= 40
    assert {e.kind for case in cases for e in case.expectations} == set(editor_case.KINDS)
    assert {case.client for case in cases} == set(editor_case.CLIENTS)


def test_other_results_fail_with_a_diff_and_are_written_when_accepted(
    tmp_path: Path, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
):
    source = next(path for path in CASES if path.stem == "one-revision")
    good = source.read_bytes()
    path = tmp_path / source.name
    path.write_bytes(good + b"more\n")
    monkeypatch.delenv("UPDATE_EXPECT", raising=False)
    with pytest.raises(AssertionError, match=r"\n-more\n"):
        check(path, sessions)
    monkeypatch.setenv("UPDATE_EXPECT", "1")
    check(path, sessions)
    assert path.read_bytes() == good
