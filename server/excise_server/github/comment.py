"""The one comment on a pull request: made, edited in place, or left unwritten."""

from __future__ import annotations

from collections.abc import Iterator

from excise_server.github.api import Api
from excise_server.report.duplicates import (
    DuplicatePair,
    DuplicatesDocument,
    numbers_of,
    reason_lines,
)
from excise_server.report.markdown import code_span

__all__ = ["MARK", "comment_text", "publish", "said_pairs"]

MARK = "<!-- excise duplicates -->"
"""The first line of our comment, by which it is found again."""

_MOST_COMMENTS = 1_000
_NOTHING = "Nothing that is likely about the same issue is open any more."


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
        yield from (f"  - {line}" for line in reason_lines(pair))
    yield ""
    yield (
        "Found by what both change, where, and why they say so "
        f"({code_span(document.signature)}), not by a person: please look before you decide."
    )


def publish(api: Api, number: int, document: DuplicatesDocument, label: str, bot: str) -> str:
    """Write the comment and the label if necessary, and return the outcome in words.

    Nothing is written where there is nothing to say, and a comment of somebody else is never
    edited, whatever it begins with.

    Raises
    ------
    ApiError
        If the host refuses.
    """
    text, pairs = comment_text(document), said_pairs(document)
    comments = api.listed(f"/issues/{number}/comments", _MOST_COMMENTS)
    comment = next((comment for comment in comments if _is_own(comment, bot)), None)
    if comment is None and not pairs:
        return "nothing to say"
    if comment is not None and comment.get("body") == text:
        outcome = "the comment says so already"
    elif comment is not None:
        api.write("PATCH", f"/issues/comments/{int(comment['id'])}", {"body": text})
        outcome = "the comment was edited"
    else:
        api.write("POST", f"/issues/{number}/comments", {"body": text})
        outcome = "the comment was made"
    if pairs and label:
        api.write("POST", f"/issues/{number}/labels", {"labels": [label]})
    return outcome


def _is_own(comment: dict[str, object], bot: str) -> bool:
    user = comment.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    body = comment.get("body")
    if login != bot or not isinstance(comment.get("id"), int):
        return False
    return isinstance(body, str) and body.startswith(MARK)
