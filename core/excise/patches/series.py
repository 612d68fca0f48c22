"""Series of patches: which messages were sent as one, and which sending is the newest.

Only what the messages say counts (subjects, references, authors); scores never see it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from excise.patches.model import Message, Patch

MOST_MISSING = 100
"""Anybody can number a mail 1/9999."""

_MOST_ALIKE = 100
"""So many postings of one author may have a title that tells something."""

_Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Posting:
    """A series as it was sent once, or a patch that belongs to none.

    - ``messages``: numbers in the sequence that was given, by their place in the series, cover
      letter first.
    - ``patch``: the patches of all of them, in that order: a file changed twice stands there twice.
    - ``missing``: places of the series (from 1) that no message takes, at most the first
      `MOST_MISSING`.
    """

    messages: tuple[int, ...]
    patch: Patch
    author: str
    """Of the cover letter, or of the first patch."""
    title: str
    """Of the cover letter, or of the first patch."""
    version: int = 1
    missing: tuple[int, ...] = ()


def postings(messages: Sequence[Message]) -> tuple[Posting, ...]:
    r"""Put messages together that were sent as one series, in the order of their first messages.

    Numbered messages (``[PATCH 2/7]``) of one thread, version and length are one posting. Without
    references (`git format-patch` writes none), a message continues the one before it, if version
    and length agree and its number is higher. A number that is there already, as in a patch
    that was sent again, begins a posting of its own; so does a message without a number.

    >>> from excise.patches.mail import read
    >>> mail = b"Subject: [PATCH %s] x\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    >>> sent = [read(mail % place)[0] for place in (b"1/2", b"2/2", b"v2")]
    >>> [posting.messages for posting in postings(sent)]
    [(0, 1), (2,)]
    """
    found: list[list[int]] = []
    open_: dict[_Key, tuple[list[int], set[int]]] = {}
    last: tuple[Message, _Key] | None = None
    for at, (message, thread) in enumerate(zip(messages, _threads(messages), strict=True)):
        key = _key(message, thread, last)
        last = message, key
        members, places = open_.get(key, ([], set()))
        # A reply has the number of what it answers, and no patch.
        belongs = bool(message.patch.files) or message.series.index == 0
        if message.series.numbered and belongs and places and message.series.index not in places:
            members.append(at)
            places.add(message.series.index)
            continue
        found.append([at])
        if belongs and (message.patch.files or not places):
            open_[key] = found[-1], {message.series.index}
    every = []
    for members in found:
        order = sorted(members, key=lambda at: messages[at].series.index)
        first = messages[order[0]]
        taken = {messages[at].series.index for at in order}
        total = first.series.total if first.series.numbered else 0
        untaken = (place for place in range(1, total + 1) if place not in taken)
        every.append(
            Posting(
                tuple(order),
                joined(messages[at].patch for at in order),
                first.author,
                first.title or first.subject,
                first.series.version,
                tuple(islice(untaken, MOST_MISSING)),
            )
        )
    return tuple(every)


class Posted:
    """The mails that were seen: one that was sent to two lists is one.

    Gateways of lists write other headers, some a Message-ID of their own.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, str] = {}

    def add(self, message: Message, patch_id: Callable[[], str]) -> bool:
        """Remember a message, and return whether it is no copy of one that was seen.

        Only mails can be copies, as other patches have no Message-ID. A copy has the same patch,
        and the same Message-ID or author, date, title and number.
        """
        if not message.message_id:
            return True
        keys: list[Hashable] = [message.message_id]
        if message.date:
            keys.append((message.author, message.date, message.title, message.series))
        patch = patch_id()
        is_new = all(self._seen.get(key) != patch for key in keys)
        for key in keys:
            self._seen.setdefault(key, patch)
        return is_new


def versions(messages: Sequence[Message]) -> tuple[tuple[Posting, ...], ...]:
    """Put the postings together that are versions of one series, the oldest version first.

    They are of one author, and have one title (of the cover letter, or of the first patch), or they
    have other versions, and half of the patches of the shorter one have titles of the other one.
    """
    found = postings(messages)
    own = [
        {messages[at].title.lower() for at in each.messages if messages[at].patch.files} - {""}
        for each in found
    ]
    authors: dict[str, list[int]] = {}
    for at, each in enumerate(found):
        authors.setdefault(each.author, []).append(at)
    series = list(range(len(found)))

    def first_of(at: int) -> int:
        while series[at] != at:
            at = series[at]
        return at

    for members in authors.values():
        titles: dict[str, int] = {}
        having: dict[str, list[int]] = {}
        for at in members:
            series[at] = first_of(titles.setdefault(found[at].title.lower(), at))
            for title in own[at]:
                having.setdefault(title, []).append(at)
        for at in (at for at in members if found[at].version > 1):
            few = (having[title] for title in own[at] if len(having[title]) <= _MOST_ALIKE)
            shared = Counter(chain.from_iterable(few))
            best: dict[int, tuple[int, int]] = {}
            for other, count in shared.items():
                version = found[other].version
                is_enough = 2 * count >= min(len(own[at]), len(own[other]))
                if version < found[at].version and is_enough:
                    best[version] = max(best.get(version, (0, 0)), (count, other))
            for _, other in best.values():
                series[first_of(other)] = first_of(at)
    groups: dict[int, list[Posting]] = {}
    for at, each in enumerate(found):
        groups.setdefault(first_of(at), []).append(each)
    return tuple(tuple(sorted(each, key=lambda p: p.version)) for each in groups.values())


def newest(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the messages that no newer version of their series (`versions`) replaces, in order."""
    return tuple(
        sorted(
            at
            for series in versions(messages)
            for posting in series
            if posting.version == series[-1].version
            for at in posting.messages
        )
    )


def joined(patches: Iterable[Patch]) -> Patch:
    """Return patches as one: their files and warnings, in order.

    Nothing is composed: a line that one patch adds and the next one deletes counts as both.
    """
    found = list(patches)
    parts = (part for patch in found for part in patch.parts or (len(patch.files),) if part)
    return Patch(
        tuple(pair for patch in found for pair in patch.files),
        tuple(warned for patch in found for warned in patch.warnings),
        tuple(parts) if len(found) > 1 else (),
    )


def _threads(messages: Sequence[Message]) -> list[str]:
    """Return the id of each message's thread: that of its first message, as far as is known."""
    known: dict[str, int] = {}
    for at, message in enumerate(messages):
        known.setdefault(message.message_id or f"\n{at}", at)
    threads: dict[int, str] = {}
    for start in range(len(messages)):
        way, at = [start], start
        seen = {start}
        while at not in threads:
            above = (known[name] for name in messages[at].references if name in known)
            parent = next((place for place in above if place not in seen), None)
            if parent is None:
                own = messages[at].message_id or f"\n{at}"
                threads[at] = next(iter(messages[at].references), own)
                break
            way.append(parent)
            seen.add(parent)
            at = parent
        threads.update(dict.fromkeys(way, threads[at]))
    return [threads[at] for at in range(len(messages))]


def _key(message: Message, thread: str, last: tuple[Message, _Key] | None) -> _Key:
    """Return what the messages of one posting share: a thread, a version, a length."""
    series = message.series
    own = series.version, series.total
    if last is not None and not (message.references or last[0].references):
        before = last[0].series
        are_numbered = series.numbered and before.numbered and before.index < series.index
        if are_numbered and (before.version, before.total) == own:
            return last[1]  # it continues the message before
    return thread, *own
