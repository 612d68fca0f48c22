"""The entry point of the command, which says what to install if only the library is there."""

from __future__ import annotations

import sys

__all__ = ["main", "say_missing"]

PACKAGES = {"click", "lsprotocol", "msgspec", "pygls", "rich"}


def main() -> int:
    """Run the command, if all that it needs is there."""
    try:
        from excise_server.cli import main as command
    except ModuleNotFoundError as error:
        return say_missing("the command", error)
    return command()


def say_missing(program: str, error: ModuleNotFoundError) -> int:
    """Report in one line which package of the extra ``all`` is missing. Any other is a bug."""
    package = (error.name or "").partition(".")[0]
    if package not in PACKAGES:
        raise error
    from excise.errors import extra_hint

    print(f"excise: {program} needs {package}; {extra_hint('all')}", file=sys.stderr)
    return 2
