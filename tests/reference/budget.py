"""How many random cases a test draws: HYPOTHESIS_PROFILE is quick, default or nightly."""

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

FACTORS = {"quick": 0.05, "default": 1, "nightly": 10}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")

Item = TypeVar("Item")


def scaled(count: int) -> int:
    """``count`` cases in the default profile."""
    return max(1, round(count * FACTORS[PROFILE]))


def one_in(step: int, items: Sequence[Item]) -> Sequence[Item]:
    """One of so many items, or all of them in the nightly profile."""
    return items if PROFILE == "nightly" else items[::step]


def examples(count: int) -> settings:
    """Settings of one property test that draws ``count`` cases in the default profile."""
    return settings(max_examples=scaled(count))


def register() -> None:
    """Register the profiles and load the one asked for.

    The default and quick ones draw the same cases every time, so that a failure on a change is due
    to it.
    """
    common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    for profile in ("quick", "default"):
        settings.register_profile(
            profile, max_examples=scaled(100), derandomize=True, database=None, **common
        )
    settings.register_profile("nightly", max_examples=scaled(100), print_blob=True, **common)
    settings.load_profile(PROFILE)
