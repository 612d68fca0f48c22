"""The version of this distribution: that of `excise`, which a test holds equal.

``excise --version`` takes it from here, because importing the library for it, or
`importlib.metadata`, takes longer than everything else that it does.
"""

from __future__ import annotations

VERSION = "0.3.0"
