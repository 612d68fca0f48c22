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
from excise.patches.differences import Difference, Differences, Match, Side, differences
from excise.patches.features import IGNORED, patch_id
from excise.patches.grouping import DISTANCE, LINKAGE, group
from excise.patches.mail import MAX_MESSAGE, read
from excise.patches.model import Binary, FilePair, Hunk, Message, Patch, PatchError, Series, Warned
from excise.patches.parse import parse
from excise.patches.pool import Comparison, Likeness, Pool, signature
from excise.patches.series import Posting, joined, newest, postings

__all__ = [
    "DISTANCE",
    "IGNORED",
    "LINKAGE",
    "MAX_MESSAGE",
    "Applied",
    "Binary",
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
    "Pool",
    "Posting",
    "Series",
    "Side",
    "Warned",
    "apply",
    "differences",
    "group",
    "joined",
    "newest",
    "parse",
    "patch_id",
    "postings",
    "read",
    "signature",
]
