"""The parts of a mail are those of the standard library, whatever was done to the mail."""

from __future__ import annotations

import random

import pytest
from tests.fuzz import mails
from tests.reference import budget
from tests.reference.mails import described, is_compared, parts

from excise.patches import PatchError, postings, read
from excise.patches.model import Budget
from excise.patches.parts import MAX_PARTS, parts_of

MIXED = b"Content-Type: multipart/mixed; boundary="


def ours(data):
    return described(parts_of(data, Budget(len(data))))


@pytest.mark.parametrize("seed", range(10))
def test_damaged_mails_have_the_parts_of_the_standard_library(seed):
    choice, compared = random.Random(seed), 0
    for _ in range(budget.scaled(60)):
        data = mails.mail(choice)
        try:
            mine = ours(data)
        except AttributeError:  # the standard library's, on bytes that are no ASCII
            continue
        if is_compared(data):
            assert mine == parts(data, MAX_PARTS), data
            compared += len(mine) > 1
    assert compared


@pytest.mark.parametrize(
    "data",
    [
        # An outer boundary ends whatever is inside; of two alike the outer one counts.
        MIXED + b"a\n\n--a\n" + MIXED + b"a\n\n--a\n\nx\n--a--\n",
        MIXED + b"a\n\n--a\n" + MIXED + b"b\n\n--b\n\nx\n--a\n\ny\n--b\n\nz\n--a--\n",
        MIXED + b"a--\n\n--a--\n" + MIXED + b"a\n\n--a\n\nx\n--a--\n\ny\n",
        # Repeated boundaries, the last one among them, have no part between them.
        MIXED + b"a\n\n--a\n--a--\n\nx\n--a\n--a \t\n\ny\n--a--\nafter\n--a\nno part\n",
        MIXED + b"a\n\n--a--\nnever begun\n--a\n\nx\n",
        MIXED + b'""\n\n--\n\nx\n-- \n\ny\n----\n',
        MIXED + b"a\r--a\r\rx\r--a--\r",
        MIXED + b"a\r\n\r\n--a\r\n\r\nx\r\n\r\n--a",
        b"Content-Type: multipart/mixed\n\n--a\nx\n",
        # What looks like the first line of a mailbox behind the headers is content.
        MIXED + b"a\n\n--a\nSubject: x\nFrom y\n\nz\n--a\nFrom y\nSubject: x\n\nz\n--a--\n",
        b"Content-Type: message/delivery-status\n\nA: b\n\n\nno header\n\nC: d\n",
        b"Content-Type: message/rfc822\n\nSubject: x\n\ny\n",
    ],
    ids=range(12),
)
def test_what_the_standard_library_forgives(data):
    assert ours(data) == parts(data, MAX_PARTS)


def test_headers_that_a_lone_return_ends_are_limited_too():
    data = b'Subject: x\rContent-Type: text/plain; a="' + b";" * 20_000 + b'"\n\n'
    (found,) = read(mails.HEAD + data + mails.DIFF)
    assert found.error == "its Content-Type or Content-Disposition has over 10,000 characters"


def test_too_many_parameters_are_too_costly():
    quoted = b'Content-Type: text/plain; a="' + b";" * 9000 + b'"\n\n'
    (found,) = read(mails.HEAD + quoted + mails.DIFF)
    assert found.error == "too costly to read"
    with pytest.raises(PatchError, match="too costly to read"):
        ours(MIXED + b"x\n\n--x\n" + quoted + mails.DIFF)


def test_too_many_headers_are_refused_and_one_that_is_too_long_is_cut():
    (found,) = read(mails.HEAD + b"X: y\n" * 20_000 + b"\n" + mails.DIFF)
    assert found.error == "its headers have over 64 kB"
    (found,) = read(mails.HEAD + b"To: " + b"a@b,\n " * 20_000 + b"\n\n" + mails.DIFF)
    assert (found.title, found.patch.paths) == ("x", ("x.c",))


def test_a_host_name_is_no_charset():
    (found,) = read(b"From: a\nSubject: =?punycode?q?tb-xia?= =?idna?q?xn--tb-xia?=\n\nx\n")
    assert found.subject == "tb-xiaxn--tb-xia"


def test_a_series_that_claims_to_be_long_costs_no_more():
    mail = b"Subject: [PATCH 2/9999] x\n\n" + mails.DIFF
    (posting,) = postings(read(mail))
    assert posting.missing == (1, *range(3, 102))
