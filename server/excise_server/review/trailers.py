"""Which tool the trailers of commits name: a table of addresses and words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

__all__ = ["SIGNATURES", "Signature", "signed_by"]

_KEYS = ("co-authored-by", "assisted-by")
_ADDRESS = re.compile(r"<([^<>]*)>\s*\Z")
_NOREPLY = r"(?:\d+\+)?{}@users\.noreply\.github\.com"


@dataclass(frozen=True, slots=True)
class Signature:
    """How one tool signs: its addresses, and the words that name it if there is no address."""

    tool: str
    word: str
    addresses: re.Pattern[str]
    words: re.Pattern[str]


def _signature(tool: str, word: str, addresses: str, words: str) -> Signature:
    return Signature(tool, word, re.compile(addresses), re.compile(rf"(?:{words})(?![\w-])"))


_GITHUB_COPILOT = _NOREPLY.format(r"copilot(?:-swe-agent\[bot\])?")

SIGNATURES: tuple[Signature, ...] = (
    _signature("Claude Code", "claude", r"noreply@anthropic\.com", "claude(?: code)?|claude-code"),
    _signature("Codex", "codex", r"(?:noreply|codex)@openai\.com", "(?:openai )?codex"),
    _signature("Cursor", "cursor", r"cursoragent@cursor\.com", "cursor"),
    _signature(
        "Copilot", "copilot", f"{_GITHUB_COPILOT}|copilot@github.com", "(?:github )?copilot"
    ),
    _signature("Qwen Code", "qwen", r"qwen-coder@alibabacloud\.com", "qwen(?:-(?:coder|code))?"),
    _signature("opencode", "opencode", r"noreply@opencode\.ai", "opencode"),
    _signature("Aider", "aider", r"(?:noreply|aider)@aider\.chat", "aider"),
    _signature("Amp", "amp", r"amp@ampcode\.com", "amp"),
    _signature("OpenHands", "openhands", r"openhands@all-hands\.dev", "openhands"),
    _signature("Jules", "jules", _NOREPLY.format(r"google-labs-jules\[bot\]"), "jules"),
    _signature("Devin", "devin", _NOREPLY.format(r"devin-ai-integration\[bot\]"), "devin"),
)
"""The signatures of tools. People with a tool's first name differ by their address."""


def signed_by(trailers: tuple[str, ...]) -> Signature | None:
    """Return the tool that most of the trailers name, the first in `SIGNATURES` among equals.

    Parameters
    ----------
    trailers : tuple of str
        Trailer lines (``Co-Authored-By: Claude <noreply@anthropic.com>``), in any order. Other keys
        are ignored. If there is an address, only the address counts.
    """
    votes = Counter(signature.tool for line in trailers if (signature := _named(line)))
    return max(
        (signature for signature in SIGNATURES if signature.tool in votes),
        key=lambda signature: votes[signature.tool],
        default=None,
    )


def _named(line: str) -> Signature | None:
    key, _, value = line.partition(":")
    if key.strip().lower() not in _KEYS:
        return None
    value = value.strip().lower()
    if address := _ADDRESS.search(value):
        return next((s for s in SIGNATURES if s.addresses.fullmatch(address[1].strip())), None)
    return next((s for s in SIGNATURES if s.words.match(value)), None)
