"""Patches instead of files: reading, comparing and grouping what maintainers are sent."""

from excise.patches.errors import PatchError
from excise.patches.mail import MAX_MESSAGE, read
from excise.patches.model import Binary, FilePair, Hunk, Message, Patch, Series, Warned
from excise.patches.parse import parse

__all__ = [
    "MAX_MESSAGE",
    "Binary",
    "FilePair",
    "Hunk",
    "Message",
    "Patch",
    "PatchError",
    "Series",
    "Warned",
    "parse",
    "read",
]
