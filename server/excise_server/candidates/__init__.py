"""Whole candidates: comparing them, choosing parts of them, and writing the result.

``worktrees`` makes the report that the command and editors show, ``chosen`` resolves the names of
candidates and puts chosen parts together, and ``written`` writes these to a working tree.
"""
