"""Every archive of tests/cases/editor, shown by a real server; and how an archive can be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import archive
from tests.server import editor_case
from tests.server.editor_case import CaseError
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


# --- an archive that is not understood tests nothing: it fails, also when results are accepted ---

ABOUT = "-- about --\nWhat.\n"
ORIGIN = "-- origin a.py --\nx = 1\n"
GOOD = f"{ABOUT}{ORIGIN}-- candidate a --\nx = 2\n"
NOTHING = "-- expect diagnostics --\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first section must be `about`"),
        (f"{ORIGIN}{ABOUT}{NOTHING}", "the first section must be `about`"),
        (f"-- about --\n\n{ORIGIN}{NOTHING}", "the first section must be `about`"),
        (f"{ABOUT}{NOTHING}", "one `origin` or `saved`"),
        (f"{ABOUT}{ORIGIN}-- saved b.py --\n{NOTHING}", "there is a.py already"),
        (GOOD, "nothing is expected"),
        (f"{GOOD}-- revision b --\nx = 3\n{NOTHING}", "unknown section"),
        (f"{GOOD}-- candidates --\nx = 3\n{NOTHING}", "unknown section"),
        (f"{GOOD}-- expect hovers 1:1 --\n", "unknown section"),
        (f"{GOOD}-- expect hover 0:1 --\n", "unknown section"),
        (f"{GOOD}-- expect hover --\n", "need LINE:COLUMN"),
        (f"{GOOD}-- expect lenses 1:1 --\n", "need LINE:COLUMN"),
        (f"{GOOD}-- expect lenses -\n{NOTHING}", "almost a header"),
        (f"{GOOD}{NOTHING}-- expect lenses-- \n", "almost a header"),
        (f"{GOOD}-- label b --\nB\n{NOTHING}", "a `label` without its `candidate`"),
        (f"{GOOD}-- beside a.py.suggestion-1 --\n{NOTHING}", "need a `saved` document"),
        (f"{ABOUT}-- origin a.unheard --\n{NOTHING}", "no language is known"),
        (f"{ABOUT}-- client --\nclient: vi\n{ORIGIN}{NOTHING}", "unknown client or setting"),
        (f"{ABOUT}-- client --\nlcs: paper\n{ORIGIN}{NOTHING}", "unknown client or setting"),
        (f"{GOOD}-- buffer --\nx\u2028y\n{NOTHING}", r"U\+2028 is not visible"),
        (f"{GOOD}-- buffer --\nx \n{NOTHING}", "white space at the end"),
        (f"{GOOD}-- buffer --\n'\\d'\n{NOTHING}", "a backslash that starts no escape"),
    ],
)
def test_an_archive_that_is_no_case_is_refused(tmp_path: Path, text: str, reason: str):
    path = tmp_path / "case.txt"
    path.write_bytes(text.encode())
    with pytest.raises(CaseError, match=reason):
        editor_case.read(path)


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{GOOD}-- expect hover 1:7 --\n", "line 1 has no column 7"),
        (f"{GOOD}-- expect actions 3:1 --\n", "line 3 of 2"),
        (f"{GOOD}-- candidate b --\n\\x00\n{NOTHING}", "not taken, and not expected"),
    ],
)
def test_what_cannot_be_shown_fails_and_nothing_is_accepted(
    tmp_path: Path, sessions: Sessions, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
):
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    monkeypatch.setenv("UPDATE_EXPECT", "1")
    with pytest.raises(AssertionError, match=reason):
        check(path, sessions)
    assert path.read_text() == text


@pytest.mark.slow
def test_a_server_that_complains_fails_the_session(tmp_path: Path):
    path = tmp_path / "wrong.txt"
    path.write_text(f"{ABOUT}-- client --\ndiagnostics.severity: loud\n{ORIGIN}{NOTHING}")
    session = EditorSession("rich", tmp_path)

    def run() -> None:
        session.results(editor_case.read(path))
        session.end()

    with (
        session.client,
        pytest.raises(AssertionError, match=r"diagnostics\.severity must be one of"),
    ):
        run()
