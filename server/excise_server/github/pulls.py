"""Pull requests as proposals, their diffs kept by head, and the one comment on one of them.

The comment is made, edited in place, or left unwritten.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from excise.patches import PatchError, parse, patch_id
from excise_server.duplicates.find import Proposal
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.repository import open_commits
from excise_server.github.api import Api, ApiError, RateLimitError
from excise_server.report.cluster import numbers_of, reasons_of
from excise_server.report.markdown import code_span
from excise_server.report.since import since_document, since_markdown
from excise_server.sources.requests import PullFacts, Requests
from excise_server.sources.since import compare_patches, compare_versions, version_named
from excise_server.wire.documents import DuplicatePair, DuplicatesDocument

_KEPT = re.compile(r"\d+-[0-9a-f]{40,64}\.diff(\.part)?")
_SHA = re.compile(r"[0-9a-f]{40,64}")


def read_pulls(api: Api, number: int, most: int, cache: str = "") -> Requests:
    """Read one pull request, which is the first proposal, and those that are open.

    Raises ApiError if the pull request in question, or the list of the others, cannot be read.

    - ``most``: the number of others to read, the most recently updated first.
    - ``cache``: a folder that keeps diffs by the commit of their head, or empty.
    """
    kept = _kept(cache)
    first = api.one(f"/pulls/{number}")
    listed = list(api.listed("/pulls?state=open&sort=updated&direction=desc", most))
    pulls = [first, *(pull for pull in listed if pull.get("number") != number)]
    links = _links(pulls)
    result = Requests()
    for index, pull in enumerate(pulls):
        name = f"#{pull.get('number')}"
        try:
            proposal = _proposal(api, pull, links, cache)
        except RateLimitError as error:
            if index == 0:
                raise
            result.notes.append(
                f"{error.reason}: {index - 1:,} of {len(pulls) - 1:,} were compared"
            )
            break
        except (ApiError, PatchError) as error:
            if index == 0:
                raise ApiError(error.reason, name=name) from error
            result.rejected.append(Rejected(name, error.reason))
            continue
        result.proposals.append(proposal)
    # What this run did not use is of other heads: each run would add to it without end.
    for name in kept - {_kept_name(pull) for pull in pulls}:
        with suppress(OSError):
            os.unlink(os.path.join(cache, name))
    return result


def _kept(cache: str) -> set[str]:
    with suppress(OSError):
        return {name for name in os.listdir(cache) if _KEPT.fullmatch(name)}
    return set()


def _kept_name(pull: Mapping[str, Any]) -> str:
    return f"{pull.get('number')}-{(pull.get('head') or {}).get('sha')}.diff"


def _proposal(
    api: Api, pull: dict[str, Any], links: Mapping[str, set[str]], cache: str
) -> Proposal:
    sha = (pull.get("head") or {}).get("sha")
    try:
        facts = msgspec.convert(pull, PullFacts)
    except msgspec.ValidationError as error:
        raise ApiError(f"the answer does not describe a pull request: {error}") from error
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        raise ApiError("the answer names no commit")
    patch = parse(_diff(api, facts.number, sha, cache))
    return Proposal(
        f"#{facts.number}",
        facts.heading,
        facts.body or "",
        facts.who,
        patch,
        frozenset({patch_id(patch)}) if patch.files else frozenset(),
        facts.outcome,
        frozenset(links.get(_branch(pull, "head"), ())),
    )


def _links(pulls: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """Return, by branch, the pull requests that begin or end there, in place of their commits.

    A request stacked on another one shares a link with it. Two into the same branch share nothing.
    """
    links: dict[str, set[str]] = defaultdict(set)
    for pull in pulls:
        base, head = _branch(pull, "base"), _branch(pull, "head")
        if base and head:
            links[base].add(f"{base}..{head}")
            links[head].add(f"{base}..{head}")
    return links


def _branch(pull: dict[str, Any], side: str) -> str:
    end = pull.get(side) or {}
    repository = (end.get("repo") or {}).get("full_name")
    return f"{repository}:{end.get('ref')}" if repository and end.get("ref") else ""


def _diff(api: Api, number: int, sha: str, cache: str) -> bytes:
    if not cache:
        return api.diff(number)
    path = os.path.join(cache, f"{number}-{sha}.diff")
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        data = api.diff(number)
    os.makedirs(cache, exist_ok=True)
    part = f"{path}.part"
    with open(part, "wb") as file:
        file.write(data)
    os.replace(part, path)
    return data


MARK = "<!-- excise cluster -->"
"""The first line of our comment, by which it is found again."""

_MOST_COMMENTS = 1_000
_NOTHING = "Nothing that is still open is likely about the same issue."


def said_pairs(document: DuplicatesDocument) -> list[DuplicatePair]:
    """Return the pairs worth a comment: likely or one edit, and not otherwise explained."""
    return [
        pair
        for pair in document.pairs
        if not pair.otherwise
        and (pair.level == "likely" or (pair.same_edit and pair.same_edit.is_same_edit))
    ]


def comment_text(document: DuplicatesDocument) -> str:
    """Return the comment, inert whatever a title or a line contains."""
    pairs = said_pairs(document)
    body = "\n".join(_lines(document, pairs)) if pairs else _NOTHING
    return f"{MARK}\n{body}\n"


def _lines(document: DuplicatesDocument, pairs: list[DuplicatePair]) -> Iterator[str]:
    proposals = {proposal.id: proposal for proposal in document.proposals}
    yield "This may be about the same issue as:"
    yield ""
    for pair in pairs:
        related = proposals[pair.other]
        by = f" by {code_span(related.author)}" if related.author else ""
        state = f", {related.state}" if related.state else ""
        title = f" {code_span(related.title)}" if related.title else ""
        # The number is not code: it becomes a reference to a pull request of this repository.
        yield f"- {pair.other}{title}{by}{state}: **{pair.word}**  {numbers_of(pair)}"
        yield from (f"  - {line}" for line in reasons_of(pair, code_span))
    yield ""
    yield (
        "Found by what both change, where, and why they say so "
        f"({code_span(document.signature)}), not by a person: please look before you decide."
    )


def publish(api: Api, number: int, document: DuplicatesDocument, label: str, bot: str) -> str:
    """Write the comment and the label if necessary, and return the outcome in words.

    Nothing is written where there is nothing to say, and a comment of somebody else is never
    edited, whatever it begins with.

    Raises ApiError if the host refuses.
    """
    text, pairs = comment_text(document), said_pairs(document)
    outcome = say_once(api, number, MARK, text, bot, is_new=bool(pairs))
    if pairs and label:
        api.write("POST", f"/issues/{number}/labels", {"labels": [label]})
    return outcome


def say_once(api: Api, number: int, mark: str, text: str, bot: str, *, is_new: bool = True) -> str:
    """Write our comment that begins with a mark, or edit it in place; return the outcome in words.

    Raises ApiError if the host refuses.

    - ``is_new``: whether to make a comment where there is none.
    """
    comments = api.listed(f"/issues/{number}/comments", _MOST_COMMENTS)
    comment = next((comment for comment in comments if _is_own(comment, bot, mark)), None)
    if comment is None and not is_new:
        return "nothing to report"
    if comment is not None and comment.get("body") == text:
        return "the comment is up to date"
    if comment is not None:
        api.write("PATCH", f"/issues/comments/{int(comment['id'])}", {"body": text})
        return "the comment was updated"
    api.write("POST", f"/issues/{number}/comments", {"body": text})
    return "the comment was created"


SINCE_MARK = "<!-- excise since -->"


def since_text(api: Api, number: int, before: str, heads: str) -> str:
    """Return the comment on a forced push: what changed since the head before it.

    Raises ApiError if the host no longer has the old head, or refuses. Raises PatchError if a diff
    cannot be read.

    - ``heads``: a bare repository with both heads and their base. Without these the diffs that the
      host has are compared, by what they show.
    """
    pull = api.one(f"/pulls/{number}")
    base, head = (str((pull.get(end) or {}).get("sha")) for end in ("base", "head"))
    if not all(map(_SHA.fullmatch, (base, head, before))):
        raise ApiError("the answer names no commit")
    names = before[:10], f"#{number}"
    try:
        repository = open_commits(os.path.realpath(heads))
        old, new = (
            replace(version_named(repository, sha, has_files=False), name=name)
            for sha, name in zip((before, head), names, strict=True)
        )
        compared = compare_versions(repository, old, new, base)
    except SourceError as error:
        diffs = api.diff_between(base, before), api.diff(number)
        compared = compare_patches(*zip(names, map(parse, diffs), strict=True))
        why = f"the diffs are compared, as the commits could not be fetched: {error.reason}"
        compared = replace(compared, notes=[why])
    return f"{SINCE_MARK}\n{since_markdown(since_document(None, compared))}\n"


def _is_own(comment: dict[str, object], bot: str, mark: str) -> bool:
    user = comment.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    body = comment.get("body")
    if login != bot or not isinstance(comment.get("id"), int):
        return False
    return isinstance(body, str) and body.startswith(mark)
