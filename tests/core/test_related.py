"""Whether two patches are about one issue: laws, the slow oracle, words, bad input."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.patch_texts import bodies
from tests.core.patch_texts import hunk as diff
from tests.reference import related as oracle

from excise.patches import parse, read
from excise.patches.evidence import (
    Background,
    Bag,
    Evidence,
    EvidenceReader,
    Subtokens,
    place_of,
    plain_message,
)
from excise.patches.related import RelatedPool, Relation, calibration, related_signature, relation

READER = EvidenceReader()


_LINES = [
    "read_size(buf);",
    "readSize(buf);",
    "  if (ready)",
    "",
    "}",
    "return HTTPError;",
    "n1 = 22",
]
_BODY = bodies(st.sampled_from(_LINES), 7)
_FILE = st.builds(
    lambda body, name, heading: diff(*body, name=name, heading=heading),
    _BODY,
    st.sampled_from(["x.c", "d/x.c", "y.py"]),
    st.sampled_from(["", "def f(self):"]),
)
_MESSAGES = st.sampled_from(
    [
        ("", ""),
        ("Read the size", "Read the size\n\nIt overflows."),
        ("size: fixes #12", "Overflow."),
    ]
)
_PROPOSALS = st.tuples(st.lists(_FILE, min_size=1, max_size=2).map(b"".join), _MESSAGES)


def evidence(proposal) -> Evidence:
    patch, (subject, message) = proposal
    return READER.evidence(parse(patch), subject, message)


@given(st.lists(_PROPOSALS, min_size=2, max_size=6))
def test_the_slow_oracle_says_the_same(proposals):
    slow = [oracle.bags(parse(patch), *message) for patch, message in proposals]
    pool = RelatedPool()
    for proposal in proposals:
        pool.add(evidence(proposal))
    for i, a in enumerate(slow):
        for j, b in enumerate(slow):
            found = pool.relation(i, j)
            what, where, why, mean = oracle.relation(a, b)
            assert math.isclose(found.what, what, abs_tol=1e-12)
            assert math.isclose(found.where, where, abs_tol=1e-12)
            assert (found.why is None) == (why is None)
            assert math.isclose(found.mean, mean, abs_tol=1e-12)


@given(st.lists(_PROPOSALS, min_size=2, max_size=6))
def test_laws(proposals):
    """Symmetric to the bit, within [0, 1], and the bits of a pair are those of a pool of two."""
    bags = [evidence(proposal) for proposal in proposals]
    pool = RelatedPool()
    for each in bags:
        pool.add(each)
    for a in bags:
        near = {n.number: n.relation for n in pool.neighbours(a)}
        for j, b in enumerate(bags):
            alone = relation(a, b)
            assert relation(b, a) == alone
            assert near.get(j, alone) == alone
            assert (j in near) == (alone.mean > 0)
            values = [value for value in (alone.what, alone.where, alone.why) if value is not None]
            assert all(0 <= value <= 1 for value in (*values, alone.mean, alone.probability))
        two = RelatedPool()
        two.add(a)
        two.add(bags[-1])
        assert two.neighbours(a)[-1].relation in near.values() or not near


@given(_PROPOSALS)
def test_a_patch_is_nearest_to_itself(proposal):
    own = evidence(proposal)
    found = relation(own, own)
    for bag, value in ((own.what, found.what), (own.where, found.where)):
        assert math.isclose(value, 1.0 if bag.terms else 0.0)


@given(_PROPOSALS, _PROPOSALS)
def test_more_is_more(a, b):
    """A probability grows with the mean, and levels follow it."""
    one, two = relation(evidence(a), evidence(b)), relation(evidence(a), evidence(a))
    if (one.why is None) == (two.why is None) and one.mean <= two.mean:
        assert one.probability <= two.probability


def test_levels_end_where_they_are_said_to():
    worth = calibration(with_why=True)
    for least, level in ((worth.likely, "likely"), (worth.possibly, "possibly")):
        assert worth.level(least) == level
        assert worth.level(math.nextafter(least, 0)) != level
    assert Relation(1.0, 1.0, None).calibration != worth
    assert calibration(with_why=False).level(0.0) == "none"
    assert 0.4 < worth.probability(worth.possibly) < worth.probability(worth.likely) < 1


def test_a_neighbour_has_at_least_the_probability_asked_for():
    pool = RelatedPool()
    for new in ("a_b", "b_c", "c_d", "d_e"):
        pool.add(READER.evidence(parse(diff(" int first;", "-old_name();", f"+{new}();"))))
    for least in (0.0, 0.3, 0.9, 1.0):
        near = {n.number for n in pool.neighbours(pool.evidence[0], least)}
        assert near == {at for at in range(4) if pool.relation(0, at).probability >= least}


def test_groups_are_related_and_the_rest_is_alone():
    pool = RelatedPool()
    for lines, name in (
        ((" def read_header(self):", "-    return size", "+    return max(size, 0)"), "a.py"),
        ((" def read_header(self):", "-    return size", "+    return abs(size)"), "a.py"),
        ((" class Colour:", "+    teal = 3"), "b.py"),
    ):
        pool.add(READER.evidence(parse(diff(*lines, name=name)), "Sizes below zero", ""))
    assert [cluster.members for cluster in pool.groups()] == [(0, 1), (2,)]


def test_without_messages_means_are_of_two():
    patch = parse(diff(" first line;", "+second(line);"))
    quiet, loud = READER.evidence(patch), READER.evidence(patch, "A subject", "And a message")
    assert relation(quiet, loud).why is None
    silent = RelatedPool(with_why=False)
    for each in (loud, loud):
        silent.add(each)
    assert silent.relation(0, 1).why is None
    assert silent.neighbours(loud)[0].relation == silent.relation(0, 1)


def test_few_words_prove_little():
    """Two messages of one common word are not as sure as two that say what it is about."""
    patch = parse(diff("+x"))
    short = READER.evidence(patch, "update", "")
    long = READER.evidence(patch, "redirects lose the cookie of a session", "")
    assert relation(short, short).why < relation(long, long).why < 1


@pytest.mark.parametrize(
    "message",
    [
        "Signed-off-by: A <a@b>",
        "<!-- tell us why -->\n### Checklist\n- [x] I ran the tests\n- [ ] docs",
        "Fixes #12",
        "closes acme/shop#7, gh-3",
        "https://example.com/issues/7",
        "<!-- never closed",
    ],
)
def test_templates_and_issue_numbers_are_no_reason(message):
    assert READER.evidence(parse(diff("+x")), "", message).why == Bag()


def test_what_is_left_of_a_message():
    text = plain_message("Keep it (#12)\n\nlong story\nCc: me")
    assert text.split() == ["Keep", "it", "(", ")", "long", "story"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parseHTTPHeader", {"parse", "http", "header", "parsehttpheader"}),
        ("MAX_SIZE2", {"max", "size", "max_size2"}),
        ("größe_messen", {"größe", "messen", "größe_messen"}),
        ("имя файла", {"имя", "файла"}),
        ("接続を閉じる", {"接続", "続を", "を閉", "閉じ", "じる", "接続を閉じる"}),
        ("हिन्दी", {"हिन्दी"}),
        ("x" * 100, {"x" * 100}),
        ("", set()),
        ("()..--", set()),
    ],
)
def test_sub_tokens(text, parts):
    assert set(Subtokens().of(text)) == parts


def test_no_place_without_a_line():
    assert place_of("x", "+new") == "" == place_of("x", " }  ")
    assert place_of("x", "-a b\tc d") == "x\0abcd"


def test_header_facts_are_what_a_patch_without_text_does():
    rename = b"diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %s\nrename to %s\n"
    a, b, c = (
        READER.evidence(parse(rename % (old, new, old, new)))
        for old, new in ((b"a", b"b"), (b"a", b"b"), (b"c", b"b"))
    )
    assert relation(a, b).what == 1.0
    assert relation(a, c).what == 0.0


def test_lock_files_count_only_alone():
    code, lock = diff("+parse(size);", name="a.py"), diff("+parse-size 1.2;", name="poetry.lock")
    both, alone = READER.evidence(parse(code + lock)), READER.evidence(parse(lock))
    assert both == READER.evidence(parse(code))
    assert alone.what.terms


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_pools(n):
    pool = RelatedPool()
    own = READER.evidence(parse(diff("-old_line();", "+new_line();")))
    for _ in range(n):
        pool.add(own)
    assert [near.number for near in pool.neighbours(own)] == list(range(n))
    assert len(pool.groups()) == min(n, 1)
    assert pool.neighbours(Evidence()) == []


@pytest.mark.slow
def test_a_thousand_copies_of_one_bump():
    pool = RelatedPool()
    own = READER.evidence(parse(diff("-version = 1.2.3", "+version = 1.2.4")), "Bump version", "")
    for _ in range(1000):
        pool.add(own)
    assert len(pool.neighbours(own, 0.5)) == 1000
    assert [len(cluster.members) for cluster in pool.groups()] == [1000]


@pytest.mark.slow
def test_fifty_thousand_patches_of_which_some_are_near():
    pool = RelatedPool()
    edits = [
        READER.evidence(parse(diff(f"-part{n:04}", f"+part{n:04} = 1")), f"Begin part{n:04}", "")
        for n in range(500)
    ]
    for n in range(50_000):
        pool.add(edits[n % 500])
    near = pool.neighbours(edits[7], 0.5)
    assert {neighbour.number % 500 for neighbour in near} == {7}
    assert len(near) == 100


@pytest.mark.parametrize(
    "patch",
    [b"", b"Binary files a/x.png and b/x.png differ\n", diff("+" + "a_b " * 50_000), diff("+\xff")],
    ids=["empty", "binary", "200 kB", "latin-1"],
)
def test_odd_patches_have_evidence(patch):
    own = READER.evidence(parse(patch))
    assert 0 <= relation(own, own).mean <= 1


def test_a_background_is_named_in_the_signature():
    shares = {"size": 500}
    other = Background(shares, {}, "mine")
    assert other.change("size") < other.change("zzyzx") == other.message("size")
    assert related_signature(other) == "related:1|idf:mine"
    shipped = Background.shipped()
    assert shipped.change("return") < 1.5 < shipped.change("zzyzx") < 4.7
    assert shipped.message("fix") < shipped.message("zzyzx")


def test_a_message_has_its_text():
    mail = b"From: A <a@b>\nSubject: [PATCH] Keep it\n\nLong story.\n---\n x | 2 +-\n" + diff("+y")
    message = read(mail)[0]
    assert (message.title, message.text) == ("Keep it", "Long story.")
    log = b"commit " + b"1" * 40 + b"\nAuthor: A <a@b>\nDate: x\n\n    Keep it\n    Why.\n\n"
    assert read(log + diff("+y"))[0].text == "Keep it\nWhy."
    assert replace(message, text="").title == message.title
