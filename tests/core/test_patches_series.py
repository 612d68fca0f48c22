"""Series: what was sent as one, what is newest; and where two patches differ."""

import random
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from excise.patches import (
    Message,
    Pool,
    differences,
    joined,
    newest,
    parse,
    patch_id,
    postings,
    read,
    versions,
)
from excise.patches.mail import series_of
from excise.patches.series import Posted

DIFF = b"--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n"


def mail(subject, id="", answers="", author="A <a@b>", body=DIFF):
    head = f"From: {author}\nSubject: {subject}\n"
    head += f"Message-ID: <{id}>\n" if id else ""
    head += f"In-Reply-To: <{answers}>\n" if answers else ""
    (message,) = read(head.encode() + b"\n" + body)
    return message


def members(*messages):
    return [posting.messages for posting in postings(messages)]


def test_a_thread_is_a_posting_whatever_the_order():
    sent = [
        mail("[PATCH 2/2] b", "3", "2"),  # answers the first patch, not the cover letter
        mail("[PATCH 1/2] a", "2", "1"),
        mail("Re: [PATCH 1/2] a", "5", "2", body=b"Nice.\n"),
        mail("[PATCH 0/2] c", "1", body=b"Words.\n"),
        mail("[PATCH v2 1/2] a", "7", "6"),
        mail("[PATCH v2 0/2] c", "6", "1", body=b"Words.\n"),
    ]
    assert members(*sent) == [(3, 1, 0), (2,), (5, 4)]
    first, _, second = postings(sent)
    assert (first.title, first.missing, first.patch.paths) == ("c", (), ("x.c", "x.c"))
    assert (second.version, second.missing) == (2, (2,))
    assert newest(sent) == (2, 4, 5)


def test_without_references_the_numbers_must_go_on():
    one, two, three = (mail(f"[PATCH {n}/3] t{n}", str(n)) for n in (1, 2, 3))
    alone = mail("[PATCH] t")
    assert members(one, two, three, one, three, alone, two) == [(0, 1, 2), (3, 4), (5,), (6,)]
    assert postings([one, three])[0].missing == (2,)


def test_a_patch_sent_again_is_not_lost():
    cover = mail("[PATCH 0/2] c", "1", body=b"Words.\n")
    one, two = mail("[PATCH 1/2] a", "2", "1"), mail("[PATCH 2/2] b", "3", "1")
    again = mail("[PATCH 1/2] a", "4", "1")
    assert members(cover, one, two, again) == [(0, 1, 2), (3,)]


def test_versions_are_those_of_one_author_and_title():
    sent = [
        mail("[PATCH] fix it", "1"),
        mail("[PATCH v2] Fix it", "2", "1"),
        mail("[PATCH v2] fix it", "3", author="B <b@b>"),
        mail("[PATCH] other", "4"),
    ]
    assert newest(sent) == (1, 2, 3)


def test_a_series_is_known_by_its_patches_where_its_title_is_another():
    first = [mail(f"[PATCH {n}/2] {name}", f"{n}") for n, name in enumerate("ab", start=1)]
    turned = [mail(f"[PATCH v2 {n}/2] {name}", f"2{n}") for n, name in enumerate("ba", start=1)]
    assert [[p.version for p in series] for series in versions([*turned, *first])] == [[1, 2]]
    assert newest([*turned, *first]) == (0, 1)
    # Half of the shorter one are enough, if it is the author's.
    other = [mail(f"[PATCH v2 {n}/3] {name}", f"3{n}") for n, name in enumerate("axy", start=1)]
    assert newest([*first, *other]) == (2, 3, 4)
    other = [mail(f"[PATCH v2 {n}/4] {name}", f"3{n}") for n, name in enumerate("wxyz", start=1)]
    assert newest([*first, *other]) == (0, 1, 2, 3, 4, 5)
    theirs = [mail(f"[PATCH v2 1/1] {name}", name, author="B <b@b>") for name in "a"]
    assert newest([*first, *theirs]) == (0, 1, 2)


def test_a_subject_that_many_patches_share_joins_and_drops_none():
    sent = [mail(subject, str(at)) for at, subject in enumerate(["up", "[PATCH] up", "Up", "save"])]
    assert members(*sent) == [(0,), (1,), (2,), (3,)]
    assert newest(sent) == (0, 1, 2, 3)


def test_messages_that_answer_each_other_in_a_ring():
    sent = [mail("[PATCH 1/2] a", "1", "2"), mail("[PATCH 2/2] b", "2", "1")]
    assert sorted(at for found in members(*sent) for at in found) == [0, 1]


_SENT = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.integers(1, 2), st.sampled_from(["", "1", "2", "3"]),
    st.sampled_from(["", "1", "2", "9"]), st.booleans(),
)  # fmt: skip


@given(st.lists(_SENT, max_size=12))
def test_every_message_is_in_one_posting(drawn):
    sent = [
        mail(f"[PATCH v{version} {place}/{total}] t", id, answers, body=DIFF if diff else b"w\n")
        for place, total, version, id, answers, diff in drawn
    ]
    found = postings(sent)
    assert sorted(at for posting in found for at in posting.messages) == list(range(len(sent)))
    for posting in found:
        places = [sent[at].series.index for at in posting.messages]
        assert places == sorted(set(places))
        assert posting.patch == joined(sent[at].patch for at in posting.messages)
    kept = newest(sent)
    assert sorted(set(kept)) == list(kept)
    assert bool(kept) == bool(sent)


def test_a_long_thread_takes_linear_work():
    class Counted(str):
        hashed = 0
        __slots__ = ()
        __eq__ = str.__eq__

        def __hash__(self):
            Counted.hashed += 1
            return str.__hash__(self)

    n = 4000
    order = list(range(1, n))
    random.Random(1).shuffle(order)
    sent = [
        Message(
            at, message_id=Counted(f"<{at}>"), references=(Counted(f"<{at - 1}>"),),
            series=series_of(f"[PATCH {at}/{n}] t")[0], patch=parse(DIFF),
        )
        for at in order
    ]  # fmt: skip
    (posting,) = postings(sent)
    assert len(posting.messages) == n - 1
    assert Counted.hashed < 20 * n


def test_the_fixtures_of_the_data_keep_their_series(excise_data):
    expected = {
        "base-cover-letter": [3], "base-deep-threaded": [3], "base-no-references": [2],
        "base-no-references-no-cover": [3], "base-out-of-order": [3], "bugs-nocover": [2, 2],
        "bugs-multiple-references": [5], "mercurial-no-cover-letter": [2],
        "revision-threaded-to-patch": [3, 3], "revision-unlabeled-noreferences": [2, 2],
        "revision-unlabeled": [3, 3], "revision-out-of-order": [3, 3], "base-incomplete": [2],
    }  # fmt: skip
    for name, sizes in expected.items():
        sent = read((excise_data / "mail" / "series" / f"{name}.mbox").read_bytes())
        assert [len(found.messages) for found in postings(sent)] == sizes, name


# --- where two patches differ --------------------------------------------------------------------


def patch(*hunks, name="x.c"):
    text = [f"--- a/{name}", f"+++ b/{name}"]
    for at, (old, new) in enumerate(hunks):
        text += [f"@@ -{10 * at + 1},{len(old)} +{10 * at + 1},{len(new)} @@"]
        text += [f"-{line}" for line in old] + [f"+{line}" for line in new]
    return parse("\n".join([*text, ""]).encode())


def test_what_both_do_is_counted_and_the_rest_stands_side_by_side():
    a = patch((["f(a);"], ["f(b);"]), (["x = 1;"], ["x = 2;"]), ([], ["only(a);"]))
    b = patch((["x = 1;"], ["x = 3;"]), (["f(a);"], ["f(b);"]))
    found = differences(a, b)
    assert (found.same, found.files) == (1, (("x.c", "x.c"),))
    changed, alone = found.differing
    assert (changed.a.line, changed.b.line, changed.a.new, changed.b.new) == (
        11, 1, ("x = 2;",), ("x = 3;",),
    )  # fmt: skip
    assert 0 < changed.here < changed.size
    assert (alone.a.new, alone.b, alone.elsewhere) == (("only(a);",), None, ())


def test_files_of_one_side_and_renamed_ones():
    a, b = patch((["a"], ["b"])), patch((["a"], ["c"]), name="y.c")
    found = differences(a, b)
    assert found.files == (("x.c", None), (None, "y.c"))
    assert [(d.a and d.a.path, d.b and d.b.path) for d in found.differing] == [
        ("x.c", None), (None, "y.c"),
    ]  # fmt: skip
    renamed = differences(a, b, renamed=True)
    assert renamed.files == (("x.c", "y.c"),)
    assert len(renamed.differing) == 1
    assert differences(a, patch((["a"], ["b"]), name="z.lock")).files == (
        ("x.c", None), (None, "z.lock"),
    )  # fmt: skip


def test_white_space_counts_where_nothing_else_changes():
    a, b = patch((["a  b"], ["a b"])), patch((["a  b"], ["a\tb"]))
    assert differences(a, a).differing == ()
    assert len(differences(a, b).differing) == 1


def test_too_many_blocks_are_taken_in_order():
    many = [([f"x{n} = {n};"], [f"x{n} = {n} + 1;"]) for n in range(400)]
    other = [(old, [f"{new[0]}  // why"]) for old, new in many]
    found = differences(patch(*many), patch(*other))
    assert [(d.a.line, d.b.line) for d in found.differing] == [
        (10 * n + 1,) * 2 for n in range(400)
    ]


_LINES = st.lists(st.sampled_from(["f(a);", "g();", "x = 1;", ""]), max_size=3)
_PATCH = st.lists(st.tuples(_LINES, _LINES).filter(any), max_size=4).map(
    lambda drawn: patch(*drawn)
)


@given(_PATCH, _PATCH)
def test_nothing_differs_iff_the_blocks_are_the_same(a, b):
    found = differences(a, b)
    assert differences(a, a).differing == ()
    mirrored = differences(b, a)
    assert mirrored.same == found.same
    blocks = [
        sum(d.a is not None for d in found.differing) + found.same for found in (found, mirrored)
    ]
    assert blocks == [sum(d.b is not None for d in x.differing) + x.same for x in (mirrored, found)]
    pool = Pool()
    pool.add(a), pool.add(b)
    if not found.differing and a.files and b.files:
        assert pool.score(0, 1) == 1
    for row in found.differing:
        assert 0 <= row.here + sum(match.n_grams for match in row.elsewhere) <= row.size
    assert found.exact in (None, pool.compare(0, 1).exact)


def test_a_mail_that_another_list_sends_too_is_not_new():
    def sent(**headers):
        named = {"From": "A <a@b>", "Date": "Thu, 1 Jan 1970 00:00:00 +0000",
                 "Subject": "[PATCH 1/2] x", "Message-ID": "<1@a>", **headers}  # fmt: skip
        text = "".join(f"{name}: {value}\n" for name, value in named.items() if value)
        body = headers.pop("body", DIFF)
        (message,) = read(text.encode() + b"\n" + body)
        return message

    def new(*messages):
        posted = Posted()
        return [posted.add(message, partial(patch_id, message.patch)) for message in messages]

    gateway = {"Message-ID": "<2@list>", "Subject": "[list] [PATCH 1/2] x", "List-Id": "<list>"}
    assert new(sent(), sent(Received="by list"), sent(**gateway)) == [True, False, False]
    again = {"Message-ID": "<3@a>", "Subject": "[PATCH v2 1/2] x"}
    assert new(sent(), sent(**again), sent(**again)) == [True, True, False]
    # Another patch under one id, another day, and patches that are no mails.
    assert new(sent(), sent(body=DIFF.replace(b"+b", b"+c"))) == [True, True]
    assert new(sent(), sent(Date="Fri, 2 Jan 1970 00:00:00 +0000", **{"Message-ID": "<3@a>"}))[1]
    assert new(*[sent(**{"Message-ID": ""})] * 2) == [True, True]


def test_two_versions_with_two_cover_letters_and_a_gap_in_one_folder():
    """As the files of a folder come: by name, so covers and patches of both lie mixed."""
    a, b, c = (DIFF.replace(b"x.c", name) for name in (b"a.c", b"b.c", b"c.c"))
    sent = [
        mail("[PATCH 0/3] t", body=b"One.\n"), mail("[PATCH 0/3] t again", body=b"Two.\n"),
        mail("[PATCH 1/3] a", body=a), mail("[PATCH 3/3] c", body=c),
        mail("[PATCH v2 0/3] t", body=b"One.\n"), mail("[PATCH v2 1/3] a", body=a),
        mail("[PATCH v2 2/3] b", body=b), mail("[PATCH v2 3/3] c", body=c),
    ]  # fmt: skip
    found = {posting.messages: posting for posting in postings(sent) if posting.patch.files}
    assert list(found) == [(1, 2, 3), (4, 5, 6, 7)]
    assert [posting.missing for posting in found.values()] == [(2,), ()]
    assert newest(sent) == (4, 5, 6, 7)
