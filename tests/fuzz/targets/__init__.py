"""All that is fuzzed, by name."""

from tests.fuzz.targets import editor, engines, grammars, growth, output, reading, repositories
from tests.fuzz.targets.base import Target

__all__ = ["TARGETS", "Target"]

TARGETS: dict[str, Target] = {
    name: target
    for module in (editor, reading, output, engines, grammars, repositories, growth)
    for name, target in module.TARGETS.items()
}
