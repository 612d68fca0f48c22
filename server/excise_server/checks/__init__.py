"""Commands that the user typed, run in the worktrees of candidates: ``worktrees --run``.

Nothing else of this program starts a user's command, and nothing of a repository names one.

    runs        the candidates one after another, or a few at a time; interrupts; verdicts
    guardian    a process for each run, which ends all that the run started
"""
