"""The program of the action, ``python -m excise_server.github``, with input by environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from excise.patches import PatchError
from excise_server.cli.streams import say, set_up_streams, write_text
from excise_server.duplicates.find import find_duplicates
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.github.api import Api, ApiError
from excise_server.github.pulls import (
    SINCE_MARK,
    comment_text,
    publish,
    read_pulls,
    said_pairs,
    say_once,
    since_text,
)
from excise_server.report.cluster import duplicates_document
from excise_server.wire.documents import DuplicatesDocument, json_text

_MOST = 3_000
_TOP = 5
_SHA = re.compile(r"[0-9a-f]{40,64}")


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Compare one pull request with the open ones, and print or publish the comment."""
    set_up_streams()
    try:
        return _run(environment)
    except (SourceError, UnansweredError) as error:
        say(str(error))
        return 1


def _run(environment: Mapping[str, str]) -> int:
    number = _number(environment, "EXCISE_PULL_REQUEST", 1, 10**12)
    most = _number(environment, "EXCISE_LIMIT", 1, _MOST)
    api = Api(
        environment.get("GITHUB_API_URL", "https://api.github.com"),
        environment.get("GITHUB_REPOSITORY", ""),
        environment.get("EXCISE_TOKEN", ""),
    )
    pulls = read_pulls(api, number, most, environment.get("EXCISE_CACHE", ""))
    asked, *others = pulls.proposals
    duplicates = find_duplicates([asked], others, least="possibly", top=_TOP)
    document = duplicates_document(duplicates, pulls.rejected, pulls.notes)
    pairs = said_pairs(document)
    for rejection in pulls.rejected:
        say(f"left out: {rejection.id}: {rejection.reason}")
    for note in pulls.notes:
        say(note)
    if environment.get("EXCISE_DRY_RUN", "true") != "false":
        print(comment_text(document) if pairs else "nothing to report")
    else:
        label = environment.get("EXCISE_LABEL", "")
        bot = environment.get("EXCISE_BOT", "github-actions[bot]")
        print(publish(api, number, document, label, bot))
    if _SHA.fullmatch(before := environment.get("EXCISE_BEFORE", "")):
        _say_since(environment, api, number, before)
    _outputs(environment, document)
    return 0


def _say_since(environment: Mapping[str, str], api: Api, number: int, before: str) -> None:
    """Say what a push changed. The duplicates are said, whatever becomes of this."""
    try:
        text = since_text(api, number, before, environment.get("EXCISE_HEADS", ""))
        if environment.get("EXCISE_DRY_RUN", "true") != "false":
            print(text)
        else:
            bot = environment.get("EXCISE_BOT", "github-actions[bot]")
            print(f"since: {say_once(api, number, SINCE_MARK, text, bot)}")
    except (ApiError, PatchError) as error:
        say(f"not compared with {before[:10]}: {error}")


def _outputs(environment: Mapping[str, str], document: DuplicatesDocument) -> None:
    """Set the outputs of the action: numbers and the path of a file, never a text of others."""
    report = environment.get("EXCISE_REPORT", "")
    if report:
        write_text(report, json_text(document))
    if path := environment.get("GITHUB_OUTPUT", ""):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"likely={len(said_pairs(document))}\nreport={report}\n")


def _number(environment: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = environment.get(name, "")
    if not (text.isascii() and text.isdigit() and least <= int(text[:15]) <= most):
        raise SourceError(f"{name} must be a number from {least:,} to {most:,}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
