"""The word for two texts that are not known to be one program (section 6a)."""

from fractions import Fraction

ALL, MOVED, SOME = Fraction(95, 100), Fraction(5, 100), Fraction(25, 100)

Contained = tuple[Fraction, Fraction]  # the share of A that is in B, and of B that is in A


def share(part: int, whole: int) -> Fraction:
    """What contains nothing (W = 0) is contained in nothing."""
    return Fraction(part, whole) if whole else Fraction(0)


def word(
    *, is_equal: bool, is_idle: bool, anchored: Fraction, anywhere: Fraction, contained: Contained
) -> str:
    """Say how two texts relate; ``is_equal`` by guard 1 or 4, ``is_idle`` by guard 3."""
    if is_idle:
        return "different"
    if is_equal or (anywhere >= ALL and anywhere - anchored >= MOVED):
        return "overlaps"
    return "overlaps" if max(contained) >= SOME else "different"
