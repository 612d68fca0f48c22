from collections.abc import Callable

def body(
    lines: list[bytes], start: int, old: int, new: int, ends_early: Callable[[int, int, int], bool]
) -> tuple[bytes, int, int, int, bool, bool]: ...
