from array import array
from collections.abc import Callable

from excise.kernels._lexer import Lexer
from excise.tokens import Vocabulary

class Hunks:
    def __init__(
        self, lexer: Lexer, lines: Vocabulary, function_of: Callable[[bytes], int]
    ) -> None: ...
    def read(
        self, hunks: list[tuple[bytes, int, int, int, array[int]]]
    ) -> tuple[array[int], array[int], array[int], array[int], bool]: ...
