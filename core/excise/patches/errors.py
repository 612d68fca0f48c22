"""The one error of reading patches: it names the line."""

from __future__ import annotations

from excise.errors import ExciseError

__all__ = ["PatchError"]


class PatchError(ExciseError, ValueError):
    """Bytes that cannot be read as a patch (a combined diff), or a patch that cannot be compared.

    Attributes
    ----------
    reason : str
        What is wrong.
    line : int
        Where, counted from 1 in the bytes given; 0: nowhere in particular.
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        """Name what is wrong and where."""
        super().__init__(reason, line)
        self.reason, self.line = reason, line

    def __str__(self) -> str:
        """One sentence."""
        return f"line {self.line}: {self.reason}" if self.line else self.reason
