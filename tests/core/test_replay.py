"""A candidate replayed onto a newer text: exact laws, and those that nearly always hold."""

from itertools import chain, combinations, product
from random import Random

import pytest
from hypothesis import given
from tests.reference import replay as oracle
from tests.reference.budget import examples, scaled
from tests.reference.triples import SEEDS

import excise
from excise.replay import ALREADY, LINE_ENDS, Replayer
from excise.text import normalise, raw_lines

ENDS = ("\n", "\n", "\n", "\r\n")


def alphabet(rng: Random, sizes: tuple[int, ...] = (3, 4, 6, 10, 30)) -> list[str]:
    """Draw an alphabet of distinct lines; a blank one is among them."""
    return ["", *(f"line {at}" for at in range(rng.choice(sizes) - 1))]


def edited(rng: Random, lines: list[str], symbols: list[str], edits: int) -> list[str]:
    """Draw a copy after some insertions, deletions and replacements, many at the end."""
    copy = list(lines)
    for _ in range(edits):
        at = len(copy) if rng.random() < 0.25 else rng.randint(0, len(copy))
        block = [rng.choice(symbols) for _ in range(rng.randint(1, 3))]
        kind = rng.choice(("insert", "insert", "delete", "replace"))
        copy[at : at + (0 if kind == "insert" else rng.randint(1, 3))] = (
            [] if kind == "delete" else block
        )
    return copy


def written(rng: Random, lines: list[str]) -> str:
    """Draw the line ends of a text; now and then the last one is missing."""
    text = "".join(line + "\n" for line in lines).replace("\n", rng.choice(ENDS))
    bom = "\ufeff" if rng.random() < 0.05 else ""
    return bom + (text.rstrip("\r\n") if rng.random() < 0.15 else text)


def triple(rng: Random) -> tuple[str, str, str]:
    """Draw a base, what it became, and a revision of it; now and then one holds the other."""
    symbols = alphabet(rng)
    base = [rng.choice(symbols) for _ in range(rng.randint(0, 12))]
    origin = edited(rng, base, symbols, rng.randint(0, 3))
    revision = edited(rng, base, symbols, rng.randint(0, 3))
    if rng.random() < 0.2:
        origin = edited(rng, revision, symbols, rng.randint(0, 2))
    return written(rng, base), written(rng, origin), written(rng, revision)


TRIPLES = SEEDS.map(triple)


@given(TRIPLES)
@examples(300)
def test_the_library_replays_as_the_oracle_does(texts: tuple[str, str, str]):
    replayed, expected = excise.replay(*texts), oracle.replay(*texts)
    assert replayed.text == expected.text
    assert tuple((c.base, c.origin_text, c.revision_text) for c in replayed.conflicts) == (
        expected.conflicts
    )


@given(TRIPLES)
@examples(200)
def test_git_has_the_same_conflicts_and_the_same_text(texts: tuple[str, str, str]):
    texts = tuple(map(normalise, texts))
    replayed, (conflicts, merged) = excise.replay(*texts), oracle.merged_by_git(*texts)
    assert bool(replayed.conflicts) == conflicts
    assert conflicts or replayed.text == merged


@given(TRIPLES)
@examples(200)
def test_one_replayer_does_all_revisions_of_a_base(texts: tuple[str, str, str]):
    base, origin, revision = texts
    replayer = Replayer(base, origin)
    revisions = [revision, origin, base, f"{revision}x\n", revision]
    expected = [excise.replay(base, origin, each) for each in revisions]
    assert [replayer.replay(each) for each in revisions] == expected


@given(TRIPLES)
@examples(200)
def test_a_revision_of_the_origin_itself_is_what_it_was(texts: tuple[str, str, str]):
    base, _, revision = texts
    replayed = excise.replay(base, base, revision)
    assert (replayed.text, replayed.conflicts) == (normalise(revision), ())


@given(TRIPLES)
@examples(200)
def test_a_revision_that_changes_nothing_gives_the_origin(texts: tuple[str, str, str]):
    base, origin, _ = texts
    replayed = excise.replay(base, origin, base)
    assert (replayed.text, replayed.conflicts) == (normalise(origin), ())
    assert ALREADY not in replayed.notes


@given(TRIPLES)
@examples(200)
def test_the_same_change_on_both_sides_is_made_once(texts: tuple[str, str, str]):
    base, _, revision = texts
    replayed = excise.replay(base, revision, revision)
    assert (replayed.text, replayed.conflicts) == (normalise(revision), ())
    assert (ALREADY in replayed.notes) == (normalise(base) != normalise(revision))


@given(TRIPLES)
@examples(200)
def test_conflicts_name_the_lines_of_all_three_texts(texts: tuple[str, str, str]):
    """Exchanging origin and revision exchanges what a conflict says, and makes no other."""
    _, origin, revision = (normalise(text) for text in texts)
    replayed = excise.replay(*texts)
    for conflict in replayed.conflicts:
        for text, lines, said in (
            (origin, conflict.origin, conflict.origin_text),
            (revision, conflict.revision, conflict.revision_text),
        ):
            assert excise.Text.of(text).between(*lines) == said
    exchanged = excise.replay(texts[0], texts[2], texts[1])
    assert [(c.base, c.revision, c.origin) for c in exchanged.conflicts] == [
        (c.base, c.origin, c.revision) for c in replayed.conflicts
    ]


@given(TRIPLES)
@examples(200)
def test_line_ends_change_nothing(texts: tuple[str, str, str]):
    plain = [normalise(text) for text in texts]
    expected, replayed = excise.replay(*plain), excise.replay(*texts)
    assert (replayed.text, replayed.conflicts) == (expected.text, expected.conflicts)
    assert [note for note in replayed.notes if note != LINE_ENDS] == list(expected.notes)


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def drifted(rng: Random) -> tuple[str, str, str, str] | None:
    """Draw a base, what it drifted to, and a candidate on either; None if the drift took a hunk.

    A hunk stands between two lines that stand once. Everything else repeats, and drifts freely.
    """
    symbols = alphabet(rng)
    base, origin, revision, rebased = texts = ([], [], [], [])
    hunks = rng.randint(1, 3)
    for number in range(hunks + 1):
        kept = [rng.choice(symbols) for _ in range(rng.randint(0, 8))]
        drift = edited(rng, kept, symbols, rng.randint(0, 3))
        for text, lines in zip(texts, (kept, drift, kept, drift), strict=True):
            text += lines
        if number < hunks:
            before = [f"hunk {number} {line}" for line in range(rng.randint(0, 3))]
            pool = [*symbols, "new", "new too"]
            after = [rng.choice(pool) for _ in range(rng.randint(0 if before else 1, 3))]
            for text, lines in zip(texts, (before, before, after, after), strict=True):
                text += [f"above {number}", *lines, f"below {number}"]
    base_lines, *others = (raw_lines(joined(lines)) for lines in (base, origin, revision))
    drift_edits = oracle.changes("origin", base_lines, others[0])
    for edit in oracle.changes("revision", base_lines, others[1]):
        around = oracle.Change("", edit.start - 1, edit.stop + 1, ())
        if any(oracle.overlap(around, other) for other in drift_edits):
            return None
    return joined(base), joined(origin), joined(revision), joined(rebased)


def test_a_stale_candidate_replays_to_the_text_of_the_rebased_one():
    """The text law: exactly, where the drift leaves every hunk and a line on each side of it.

    The alignment says what the drift leaves: in 1 of 1,000 draws it finds more lines to keep if a
    hunk goes, as when a block moves over it.
    """
    rng, drawn = Random(13), scaled(300)
    texts = [each for each in (drifted(rng) for _ in range(drawn)) if each is not None]
    print(f"text law: {1 - len(texts) / drawn:.2%} of the draws are outside of it")
    assert len(texts) >= 0.99 * drawn - 1  # a short run is 15 draws
    for base, origin, stale, rebased in texts:
        replayed = excise.replay(base, origin, stale)
        assert (replayed.text, replayed.conflicts) == (rebased, ())
        assert excise.replay(origin, origin, rebased).text == rebased


@pytest.mark.parametrize(
    ("base", "origin", "revision", "expected", "notes"),
    [
        ("", "", "", "", ()),
        ("", "a", "", "a", ()),
        ("", "", "a\n", "a\n", ()),
        ("a\n", "a\nb", "a\nb", "a\nb", (ALREADY,)),
        ("a\r\nb\r\n", "a\nb\n", "a\r\nB\r\n", "a\nB\n", (LINE_ENDS,)),
        ("a\nb\n", "\ufeffa\nb\n", "a\nB\n", "a\nB\n", (LINE_ENDS,)),
        ("a\n", "x\na\ny\n", "x\na\n", "x\na\ny\n", (ALREADY,)),
    ],
)
def test_texts_at_the_edge(
    base: str, origin: str, revision: str, expected: str, notes: tuple[str, ...]
):
    replayed = excise.replay(base, origin, revision)
    assert (replayed.text, replayed.conflicts, replayed.notes) == (expected, (), notes)


@pytest.mark.parametrize(
    ("base", "origin", "revision", "text", "conflict"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "a\nX\nc\n", "a\nX\nc\n", ((1, 2), "B\n", "X\n")),
        # An insertion inside of what the other changes, and edits that adjoin.
        ("a\nb\n", "A\nB\n", "a\nn\nb\n", "a\nn\nb\n", ((0, 2), "A\nB\n", "a\nn\nb\n")),
        ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n", ((0, 2), "A\nb\n", "a\nB\n")),
        ("", "a\n", "b\n", "a\nb\n", ((0, 0), "a\n", "b\n")),
        ("b\n", "a\nx\nb\n", "x\nb\n", "a\nx\nb\n", ((0, 0), "a\nx\n", "x\n")),
        ("a\n", "", "a\nb\n", "b\n", ((0, 1), "", "a\nb\n")),
        # Without a final line end.
        ("a", "a\nb", "a\nc", "a\nc", ((0, 1), "a\nb", "a\nc")),
        ("a\n", "a\nb", "a\nc\n", "a\nb\nc\n", ((1, 1), "b", "c\n")),
        ("a\n", "a", "a\nb\n", "a\nb\n", ((0, 1), "a", "a\nb\n")),
    ],
)
def test_edits_that_meet_are_in_conflict(base, origin, revision, text, conflict):
    """The text is for numbers alone: both edits, and the revision's where they overlap."""
    replayed = excise.replay(base, origin, revision)
    [found] = replayed.conflicts
    assert (replayed.text, (found.base, found.origin_text, found.revision_text)) == (text, conflict)
    assert replayed.notes == ()


def test_a_raised_flag_stops_a_replay():
    cancel = excise.CancelFlag()
    cancel.cancel()
    with pytest.raises(excise.Cancelled):
        excise.replay("a\n" * 5000, "b\na\n" * 5000, "c\na\na\n" * 5000, cancel=cancel)


STYLES = list(chain.from_iterable(combinations(("\n", "\r\n", "\r"), n) for n in (1, 2, 3)))


@pytest.mark.parametrize(("style", "other"), list(product(STYLES, STYLES)))
def test_line_ends_that_differ_are_said_however_few(style, other):
    base, revision = ("".join(f"a{end}" for end in ends) for ends in (style, other))
    assert (LINE_ENDS in excise.replay(base, base, revision).notes) == (style != other)
    assert (LINE_ENDS in excise.replay(base, revision, base).notes) == (style != other)
