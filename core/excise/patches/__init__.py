r"""Patches instead of files: reading, comparing and grouping what maintainers are sent.

>>> mail = b"--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-return a;\n+return b;\n"
>>> pool = Pool()
>>> for message in (*read(mail), *read(mail.replace(b"b;", b"c;"))):
...     at = pool.add(message.patch)
>>> pool.compare(0, 1).value
0.6
>>> [found.members for found in group(pool)]
[(0, 1)]
"""

from excise.patches.apply import Applied, apply
from excise.patches.differences import BlockSide, Difference, Differences, Match, differences
from excise.patches.features import IGNORED
from excise.patches.identity import PatchIds, ids_of, patch_id
from excise.patches.mail import MAX_MESSAGE, read
from excise.patches.model import Binary, FilePair, Hunk, Message, Patch, PatchError, Series, Warned
from excise.patches.parse import parse
from excise.patches.pool import DISTANCE, LINKAGE, Comparison, Likeness, Pool, group, signature
from excise.patches.series import Posting, joined, newest, postings, versions

__all__ = [
    "DISTANCE",
    "IGNORED",
    "LINKAGE",
    "MAX_MESSAGE",
    "Applied",
    "Binary",
    "BlockSide",
    "Comparison",
    "Difference",
    "Differences",
    "FilePair",
    "Hunk",
    "Likeness",
    "Match",
    "Message",
    "Patch",
    "PatchError",
    "PatchIds",
    "Pool",
    "Posting",
    "Series",
    "Warned",
    "apply",
    "differences",
    "group",
    "ids_of",
    "joined",
    "newest",
    "parse",
    "patch_id",
    "postings",
    "read",
    "signature",
    "versions",
]
