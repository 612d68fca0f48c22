"""Whole candidates: comparing them, choosing parts of them, and writing the result.

``worktrees`` makes the report that the command and editors show, ``chosen`` resolves the names of
candidates, ``take`` puts the chosen parts together, and ``written`` writes them to a working tree.
"""
