"""Coverage-guided fuzzing of what reads patches and mail; CONTRIBUTING.md has the command.

No test: `test_patches_fuzz.py` runs the same check on the small corpus of `tests/cases`.
"""

import contextlib
import sys


def check(data: bytes) -> None:
    """Read bytes in every way there is; raise AssertionError on whatever must not happen."""
    from excise.patches import PatchError, parse, postings, read

    line, patch = 1, None
    try:
        patch = parse(data)
    except PatchError as error:
        line = error.line
    assert 1 <= line <= data.count(b"\n") + 1, "an error on a line that is not there"
    if patch is not None:
        holds(patch, data)
    messages = read(data)
    assert [message.number for message in messages] == list(range(1, len(messages) + 1))
    for message in messages:
        assert not (message.error and message.patch.files), "an error and files"
        assert 1 <= message.line <= data.count(b"\n") + 1, "a line that is not there"
        assert "\n" not in message.subject + message.author + message.date + message.title
        message.subject.encode("utf-8", "surrogatepass")
    sent = [at for posting in postings(messages) for at in posting.messages]
    assert sorted(sent) == list(range(len(messages))), "a message in no posting, or in two"


def holds(patch, data: bytes) -> None:
    """Check what is true of every patch that was read."""
    from excise.patches import PatchError, Pool, apply, differences, patch_id

    lines = data.split(b"\n")
    for pair in patch.files:
        assert pair.old is not None or pair.new is not None or pair.path == "", "no path"
        for hunk in pair.hunks:
            header = lines[hunk.line - 1]
            assert header.startswith(b"@@ -"), "the header is elsewhere"
            assert {line[:1] for line in hunk.lines} <= {b" ", b"-", b"+"}, "an odd line"
            assert hunk.added + hunk.deleted <= len(hunk.lines) < len(lines)
        with contextlib.suppress(PatchError):
            apply(pair, data if pair.old is not None else None)
    for warned in patch.warnings:
        assert 1 <= warned.line <= len(lines) + 1, "a warning about a line that is not there"
    pool = Pool()
    pool.add(patch), pool.add(patch)
    assert patch_id(patch) == pool.patch_id(1)
    assert pool.score(0, 1) == 1, "a patch is not itself"
    assert pool.likeness(0, 1).word == "identical", "a patch is not identical to itself"
    assert not differences(patch, patch).differing, "a patch differs from itself"


def main() -> None:
    import atheris  # no dependency of the tests

    with atheris.instrument_imports(include=["excise.patches", "excise.lexical", "email"]):
        import excise.patches  # noqa: F401
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
