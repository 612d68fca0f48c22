from array import array

from excise.kernels._lexer import Lexer
from excise.tokens import Vocabulary

class Hunks:
    def __init__(self, lexer: Lexer, lines: Vocabulary) -> None: ...
    def read(
        self, hunks: list[tuple[bytes, int, int]]
    ) -> tuple[array[int], array[int], array[int], array[int], bool]: ...
