"""Pull requests as proposals: their data from the API, and their diffs, kept by head."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from excise.patches import PatchError, parse, patch_id
from excise_server.duplicates.proposals import Proposal
from excise_server.foundation.inputs import Rejected
from excise_server.github.api import Api, ApiError, RateLimitError
from excise_server.sources.pull_list import PullFacts

__all__ = ["Pulls", "read_pulls"]

_KEPT = re.compile(r"\d+-[0-9a-f]{40,64}\.diff(\.part)?")
_SHA = re.compile(r"[0-9a-f]{40,64}")


@dataclass(slots=True)
class Pulls:
    """The pull request in question, the others, and those that were left out."""

    asked: Proposal | None = None
    others: list[Proposal] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_pulls(api: Api, number: int, most: int, cache: str = "") -> Pulls:
    """Read one pull request, and those that are open.

    Parameters
    ----------
    number
        The number of the pull request in question.
    most
        The number of others to read, the most recently updated first.
    cache
        A folder that keeps diffs by the commit of their head, or empty.

    Raises
    ------
    ApiError
        If the pull request in question, or the list of the others, cannot be read.
    """
    kept = _kept(cache)
    first = api.one(f"/pulls/{number}")
    listed = list(api.listed("/pulls?state=open&sort=updated&direction=desc", most))
    pulls = [first, *(pull for pull in listed if pull.get("number") != number)]
    links = _links(pulls)
    result = Pulls()
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
        if index == 0:
            result.asked = proposal
        else:
            result.others.append(proposal)
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
        raise ApiError(f"not an answer about a pull request: {error}") from error
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        raise ApiError("an answer without a commit")
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
