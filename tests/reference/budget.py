"""How many random cases a test draws: HYPOTHESIS_PROFILE=nightly draws ten times as many."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FACTORS = {"default": 1, "nightly": 10}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")


def scaled(count: int) -> int:
    """``count`` cases in the default profile."""
    return count * FACTORS[PROFILE]


def examples(count: int) -> settings:
    """Settings of one property test that draws ``count`` cases in the default profile."""
    return settings(max_examples=scaled(count))


def register() -> None:
    """Register the profiles and load the one asked for.

    The default one draws the same cases every time, so that a failure on a change is due to it.
    """
    common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("default", derandomize=True, database=None, **common)
    settings.register_profile("nightly", max_examples=scaled(100), print_blob=True, **common)
    settings.load_profile(PROFILE)
