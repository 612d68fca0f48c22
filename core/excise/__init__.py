"""Excision Score: which of several revisions say the same, which differ, and where.

A guided tour. Two colleagues edit one line; a diff calls their files nearly identical:

>>> origin = "total = 0\\nfor x in xs:\\n    total += x\\nprint(total)\\n"
>>> a = origin.replace("+= x", "+= abs(x)")
>>> b = origin.replace("+= x", "-= x")

The score excises what all three share and compares what is left (1: same edit, 0: nothing):

>>> score = similarity(origin=origin, a=a, b=b, language="python")
>>> score.value
0.0
>>> [region.a.text for region in score.regions]
['+= abs(', ')']

Against a reference it is the paper's directed measure, with all the choices in its signature:

>>> print(excision_score(origin=origin, reference=a, hypothesis=a, language="python").signature)
es|gran:nested|lcs:star|place:pooled|del:p|n:4|comments:keep|tok:python@0.13.0/2|v:2

Many revisions make a matrix, from which `rank` and `cluster` take their order:

>>> matrix = ScoreMatrix.from_texts(origin, {"a": a, "b": b, "again": a}, language="python")
>>> [group.ids for group in cluster(matrix)]
[('a', 'again'), ('b',)]

Next: `excise.excision` has equation 3 in plain view; `excise.alignment` what is excised.
"""

from excise.alignment import Edit, Edits, PairwiseAlignment
from excise.clustering import Cluster, Clusters, cluster
from excise.corpus import CorpusDifference, CorpusScore, corpus_score
from excise.errors import (
    BinaryTextError,
    Cancelled,
    ContentError,
    ExciseError,
    MissingPackageError,
    OptionError,
    UndecodableTextError,
)
from excise.excision import Score, excision_score, similarity
from excise.hunk_pairs import PairsInHunks
from excise.hunks import Hunk, HunkCounts, Hunks, Variant
from excise.kernels._walk import CancelFlag
from excise.levels import Level, level
from excise.pairwise import ChangeSet, ScoreMatrix
from excise.preparation import align
from excise.ranking import Ranked, rank
from excise.regions import Count, DivergentRegion, EditCounts, Elsewhere, Outline, Place, Segment
from excise.replay import Conflict, Replayed, replay
from excise.signature import Options
from excise.text import Revision, Text
from excise.tokens import Tokens

__version__ = "0.3.0"

__all__ = [
    "BinaryTextError",
    "CancelFlag",
    "Cancelled",
    "ChangeSet",
    "Cluster",
    "Clusters",
    "Conflict",
    "ContentError",
    "CorpusDifference",
    "CorpusScore",
    "Count",
    "DivergentRegion",
    "Edit",
    "EditCounts",
    "Edits",
    "Elsewhere",
    "ExciseError",
    "Hunk",
    "HunkCounts",
    "Hunks",
    "Level",
    "MissingPackageError",
    "OptionError",
    "Options",
    "Outline",
    "PairsInHunks",
    "PairwiseAlignment",
    "Place",
    "Ranked",
    "Replayed",
    "Revision",
    "Score",
    "ScoreMatrix",
    "Segment",
    "Text",
    "Tokens",
    "UndecodableTextError",
    "Variant",
    "align",
    "cluster",
    "corpus_score",
    "excision_score",
    "level",
    "rank",
    "replay",
    "similarity",
]
