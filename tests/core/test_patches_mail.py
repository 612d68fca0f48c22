"""Reading mail: many messages of a file, each with its patch, or with the reason why not."""

import base64
import quopri
import random
from email import message_from_bytes

import pytest
from tests.fuzz import mails
from tests.reference import budget

from excise.patches import MAX_MESSAGE, PatchError, postings, read
from excise.patches.mail import mail_of
from excise.patches.model import Budget

DIFF = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n same\n-old = 1;\n+new = \xc3\xa4;\n"
HEAD = b"From: A <a@b.c>\nMessage-ID: <1@b>\nSubject: [PATCH v3 2/7] x: =?utf-8?q?=C3=A4?=\n"
FROM = b"From 0123456789 Mon Sep 17 00:00:00 2001\n"


def one(data):
    (message,) = read(data)
    return message


def test_a_patch_mail():
    found = one(FROM + HEAD + b"\nWhy.\n---\n x.c | 2 +-\n\n" + DIFF + b"-- \n2.40.1\n")
    assert (found.message_id, found.author, found.title) == ("<1@b>", "A <a@b.c>", "x: ä")
    assert (found.series.version, found.series.index, found.series.total) == (3, 2, 7)
    assert (found.patch.files[0].added, found.patch.files[0].deleted) == (1, 1)
    assert found.patch.files[0].hunks[0].line == 12


def test_a_diff_in_the_message_of_a_mail():
    """What is indented is words, what is not is of the patch, as for `git am`."""
    said = DIFF.replace(b"x.c", b"z.c")
    quoted = b"".join(b"    " + line for line in said.splitlines(keepends=True))
    for before, paths in ((quoted, ("x.c",)), (said, ("z.c", "x.c"))):
        found = one(FROM + HEAD + b"\nWhy:\n\n" + before + b"\n---\n x.c | 2 +-\n\n" + DIFF)
        assert found.patch.paths == paths
        assert found.text.startswith("Why:")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        (b"quoted-printable", quopri.encodestring(DIFF)),
        (b"base64", base64.encodebytes(DIFF)),
        (b"8bit", DIFF),
    ],
)
def test_transfer_encodings(encoding, body):
    found = one(HEAD + b"Content-Transfer-Encoding: " + encoding + b"\n\n" + body)
    assert found.patch.files[0].hunks[0].lines[-1] == "+new = ä;".encode()


def test_a_charset_is_converted_and_an_unknown_one_is_not_fatal():
    body = DIFF.decode().encode("latin-1")
    found = one(HEAD + b"Content-Type: text/plain; charset=iso-8859-1\n\n" + body)
    assert found.patch.files[0].hunks[0].lines[-1] == "+new = ä;".encode()
    found = one(HEAD + b"Content-Type: text/plain; charset=klingon\n\n" + body)
    assert found.patch.files[0].hunks[0].lines[-1] == b"+new = \xe4;"


def test_crlf_mail():
    found = one((HEAD + b"\nWhy.\n\n" + DIFF).replace(b"\n", b"\r\n"))
    assert (found.series.version, found.patch.files[0].path, found.error) == (3, "x.c", "")
    assert found.patch == one(HEAD + b"\nWhy.\n\n" + DIFF).patch
    # The file's own \r stays: in a mail whose lines end otherwise, and where it is encoded.
    returned = b"-old = 1;\r"
    mail = HEAD + b"\n" + DIFF.replace(b"1;\n", b"1;\r\n")
    assert one(mail).patch.files[0].hunks[0].lines[1] == returned
    head = HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n"
    encoded = head + quopri.encodestring(DIFF).replace(b"1;\n", b"1;=0D\n")
    assert one(encoded.replace(b"\n", b"\r\n")).patch.files[0].hunks[0].lines[1] == returned


def test_a_from_line_without_seconds_and_words_that_look_like_one():
    mail = HEAD + b"\nFrom here on, it is 12:30 in 2001 and later\n\n" + DIFF
    for date in (
        b"Mon Sep 17 00:00 2001",
        b"Mon Sep 17 00:00:00 2001",
        b"Mon Sep 17 00:00:00 UTC 2001",
    ):
        found = read((b"From a@b.c  " + date + b"\n" + mail) * 2)
        assert [message.patch.paths for message in found] == [("x.c",)] * 2


def test_too_many_parts():
    part = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"
    nested = b"".join(part % (depth, depth) for depth in range(30))
    found = one(b"Subject: x\n" + nested + b"\n" + DIFF)
    assert found.error == "its parts are nested over 20 deep"
    head = HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n"
    assert one(head + b"--x\n\n-\n" * 1000 + b"--x--\n").error == "it has over 1,000 parts"
    assert one(head + b"--x\n\n-\n" * 900 + b"--x\n\n" + DIFF).patch.paths == ("x.c",)


def test_flowed_is_undone_or_an_error():
    head = HEAD + b"Content-Type: text/plain; format=flowed\n\n"
    stuffed = DIFF.replace(b"\n same", b"\n  same").replace(b"old = 1;", b"old = \n1;")
    assert one(head + stuffed).patch.files[0].hunks[0].lines[1] == b"-old = 1;"
    assert "format=flowed damaged the patch" in one(head + DIFF.replace(b" same", b"same")).error


def test_attachments():
    head = HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n"
    part = b"hello\n--x\nContent-Type: application/octet-stream\n"
    name = b"Content-Disposition: attachment; filename=f.patch\n\n"
    assert one(head + part + name + DIFF + b"\n--x--\n").patch.paths == ("x.c",)


def test_several_messages_and_one_bad():
    combined = b"\ndiff --cc x\n@@@ -1 -1 +1 @@@\n"
    cover = HEAD.replace(b"2/7", b"0/7") + b"\nWords.\n\n"
    data = b"".join(FROM + piece for piece in (cover, HEAD + combined, HEAD + b"\n" + DIFF))
    found = read(data)
    assert [message.number for message in found] == [1, 2, 3]
    assert found[0].is_cover
    assert found[1].error == "line 13: a combined diff (of a merge) cannot be read"
    assert found[2].patch.paths == ("x.c",)


def test_a_bare_diff_and_a_log():
    assert one(DIFF).patch.paths == ("x.c",)
    log = b"commit " + b"0" * 40 + b"\nAuthor: A <a@b>\nDate:   now\n\n    fix it\n\n" + DIFF
    assert [message.title for message in read(log + b"\n" + log)] == ["fix it", "fix it"]
    indented = DIFF + b"@@ -9 +9 @@\n     indented\n"
    (found,) = read(log.replace(DIFF, indented))
    assert found.text == "fix it"


def test_a_truncated_mailbox():
    data = (FROM + HEAD + b"\n" + DIFF) * 2
    found = read(data[:-12])
    assert not found[0].error
    assert "ends a line short of its count" in found[1].error


@pytest.mark.slow
def test_bad_mails_have_a_reason():
    assert one(HEAD + b"\n" + b"x" * MAX_MESSAGE).error.endswith("limit 25 MB")
    garbage = one(HEAD + b"Content-Transfer-Encoding: base64\n\n\xff\xfe!!! no base64 *\n")
    assert garbage.error == "the body is not valid base64"
    assert all(m.error or m.is_cover for m in read((FROM + b"\n") * 10_000))
    assert len(read((FROM + b"\n") * 10_000)) == 10_000


def test_a_folded_subject_keeps_its_words_apart():
    found = one(b"From: a\nSubject: =?utf-8?q?=C3=A4?=\n\tb\n c\n\n" + DIFF)
    assert found.title == "ä b c"


def test_hostile_headers():
    found = one(b"From: =?utf-16?b?//8=?=\nSubject: =?utf-8?b?AAA?= \xff\x1b[31m\nDate: x\n\n")
    assert isinstance(found.subject, str)
    assert found.is_cover


def test_a_subject_of_a_megabyte_is_cut():
    found = one(b"From: a\nSubject: " + b"=?utf-8?q?a?= " * 80_000 + b"\n\n" + DIFF)
    assert 0 < len(found.subject) < 10_000
    assert found.patch.paths == ("x.c",)


def test_the_fixtures_of_the_data(excise_data):
    files = sorted((excise_data / "mail").glob("*/*"))
    assert len(files) == 73
    for path in files:
        for message in read(path.read_bytes()):
            assert message.error == "" or message.patch.files == ()


# --- limits ---------------------------------------------------------------------------------------


MIXED = b"Content-Type: multipart/mixed; boundary="


def ours(data):
    return mail_of(data, Budget(len(data)))


def test_limits_change_nothing_of_mails_within_them():
    choice, several = random.Random(0), 0
    for _ in range(budget.scaled(300)):
        data = mails.mail(choice)
        mail = ours(data)
        assert mail.as_string() == message_from_bytes(data).as_string(), data
        several += mail.is_multipart()
    assert several


def test_parts_beyond_the_limits_are_refused():
    nested = [MIXED + b"%d\n\n--%d\n" % (at, at) for at in range(21)]
    assert len(list(ours(b"".join(nested[:20]) + b"\nx\n").walk())) == 21
    with pytest.raises(PatchError, match="its parts are nested over 20 deep"):
        ours(b"".join(nested) + b"\nx\n")
    assert len(list(ours(MIXED + b"a\n\n" + b"--a\n\n.\n" * 999).walk())) == 1000
    with pytest.raises(PatchError, match="it has over 1,000 parts"):
        ours(MIXED + b"a\n\n" + b"--a\n\n.\n" * 1000)


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
