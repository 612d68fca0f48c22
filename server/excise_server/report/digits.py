"""Values of the score in two digits, the same wherever people read them."""

from __future__ import annotations

__all__ = ["digits"]


def digits(value: float | None) -> str:
    """Return a value in two digits, or – if it is undefined.

    A value below 1 is never 1.00, and a value above 0 never 0.00.

    >>> [digits(value) for value in (1.0, 0.995, 0.994, 0.25, 0.001, 0.0, None)]
    ['1.00', '>.99', '0.99', '0.25', '<.01', '0.00', '–']
    """
    if value is None:
        return "–"
    shown = f"{value:.2f}"
    if shown == "1.00" and value < 1:
        return ">.99"
    return "<.01" if shown == "0.00" and value > 0 else shown
