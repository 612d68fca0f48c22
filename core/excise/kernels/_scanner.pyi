from types import TracebackType

ROOM: int

class Guarded:
    capsule: object
    def __init__(self, language: object) -> None: ...

class Watch:
    def __init__(self, language: Guarded) -> None: ...
    def __enter__(self) -> Watch: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    @property
    def outgrown(self) -> bool: ...
