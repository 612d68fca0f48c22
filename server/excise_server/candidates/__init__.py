"""Whole candidates, once they are found: compared, chosen from, put together and written down.

``worktrees`` makes the report that command and editors show, ``chosen`` reads whom names mean,
``take`` puts together what was chosen, and ``written`` puts that into a working tree.
"""
