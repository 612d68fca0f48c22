"""Files of a working tree, under the names that git would give their blobs."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from excise_server.foundation.changes import LINK
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes
from excise_server.git.trees import Entry

__all__ = ["SHA1_DIGITS", "SHA256_DIGITS", "Folder", "blob_ids", "blob_name"]

SHA1_DIGITS, SHA256_DIGITS = 40, 64


@dataclass(frozen=True, slots=True)
class Folder:
    """The top folder of a worktree, and how many digits its repository's blob names have."""

    top: str
    digits: int

    def path(self, name: str) -> str:
        """Return the full path of a file of the working tree."""
        return os.path.join(self.top, name)

    def file(self, name: str, mode: str = "") -> Entry | None:
        """Return a working file, or None if it does not exist or its path leads elsewhere.

        One that cannot be read is refused with the reason: it may be there, and changed.
        """
        full = self.path(name)
        try:
            if os.path.realpath(os.path.dirname(full)) != os.path.dirname(full):
                return None
            status = os.lstat(full)
            if stat.S_ISDIR(status.st_mode):
                return None
            if stat.S_ISLNK(status.st_mode):
                target = os.fsencode(os.readlink(full))
                return Entry(LINK, blob_name(target, self.digits), target)
            data = read_bytes(full, [self.top])
            own = "100755" if status.st_mode & 0o100 else "100644"
            own = mode if os.name == "nt" and mode else own
            return Entry(own, blob_name(data, self.digits), data)
        except SourceError as error:
            return Entry(mode or "100644", refused=error.reason)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            return Entry(mode or "100644", refused=file_error(full, error).reason)


def blob_ids(data: bytes) -> tuple[str, str]:
    """Return the ids that git gives a text, in repositories of SHA-1 and of SHA-256.

    >>> blob_ids(b"")[0]
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return blob_name(data, SHA1_DIGITS), blob_name(data, SHA256_DIGITS)


def blob_name(data: bytes, digits: int) -> str:
    """Return the name of the blob that holds such bytes."""
    kind = hashlib.sha1 if digits == SHA1_DIGITS else hashlib.sha256
    return kind(b"blob %d\0" % len(data) + data).hexdigest()
