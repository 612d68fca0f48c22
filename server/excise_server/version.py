"""The version of this distribution: that of `excise`, which a test holds equal.

To import the library for it, or `importlib.metadata`, takes longer than all that prints it.
"""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.2.0"
