"""What reads mails, patches and records."""

import contextlib
import io
import itertools
from random import Random

from tests.core.fuzz_patches import check
from tests.fuzz import hunks, mails
from tests.fuzz.targets.base import Target, nasty, packed, unpacked

from excise.patches import apply, parse
from excise.patches.model import PatchError
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import BadLine, read_records
from excise_server.records.outputs import read_record, read_revision_set


def check_mail(data: bytes) -> None:
    check(data)


def records(choice: Random) -> bytes:
    """Write lines of records, some of them damaged."""
    lines = []
    for at in range(choice.randrange(1, 6)):
        record = {key: nasty(choice) for key in ("origin", "hypothesis", "reference")}
        record |= {"id": choice.choice((at, str(at), 1.5, None, True, [], float("nan")))}
        record[choice.choice((*record, "language", "path"))] = choice.choice(
            (None, 7, [], ["a"], [1], {}, "python", "\ud800", "\0", [[]] * 3)
        )
        line = bytearray(packed(record))
        for _ in range(choice.randrange(3) if choice.random() < 0.5 else 0):
            line[choice.randrange(len(line))] = choice.randrange(256)
        lines.append(bytes(line) if choice.random() < 0.9 else b"[" * choice.randrange(3000))
    return choice.choice((b"\n", b"\r\n", b"\n\n \n")).join(lines)


def check_records(data: bytes) -> None:
    wanted = [number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    got = list(read_records(io.BytesIO(data), read_record))
    numbers = [record.number if isinstance(record, BadLine) else record.line for record in got]
    assert numbers == wanted, "a line without a record"
    assert all(record.reason for record in got if isinstance(record, BadLine)), "no reason"
    for line in itertools.islice(data.split(b"\n"), 3):
        with contextlib.suppress(SourceError):
            read_revision_set(line.replace(b"reference", b"revisions"))


def hunk(choice: Random) -> bytes:
    """Write a text, and a patch with displaced hunks of it."""
    return packed([part.decode() for part in hunks.drawn(choice)])


def check_hunk(data: bytes) -> None:
    text, patch = (part.encode() for part in unpacked(data))
    for pair in parse(patch).files:
        with contextlib.suppress(PatchError):
            after = apply(pair, text)
            assert len(after.offsets) == len(pair.hunks), "a hunk is lost"
            assert after.text is not None, "a text is lost"
            grown = sum(each.added - each.deleted for each in pair.hunks)
            assert after.text.count(b"\n") == text.count(b"\n") + grown, "lines are lost"


TARGETS = {
    "mails": Target(mails.mail, check_mail, lambda: mails.SEEDS),
    "patches": Target(mails.patch, check, lambda: mails.SEEDS),
    "hunks": Target(hunk, check_hunk),
    "records": Target(records, check_records),
}
