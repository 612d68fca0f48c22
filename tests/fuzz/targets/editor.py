"""What an editor sends: whole sessions."""

from random import Random

from tests.fuzz.targets.base import Target, packed, unpacked


def session(choice: Random) -> bytes:
    return packed(choice.randrange(2**32))


def check_session(data: bytes) -> None:
    from tests.server.test_lsp_fuzz import test_every_message_of_a_random_sequence_is_answered

    test_every_message_of_a_random_sequence_is_answered(unpacked(data))


TARGETS = {"session": Target(session, check_session)}
