"""Commands that the user typed, run in the worktrees of candidates: ``worktrees --run``.

Nothing else in this program starts a user's command, and no repository can name one.

    runs        the call: its folder, interrupts, the file of verdicts
    crew        the candidates one after another, or a few at a time, and the verdict on each
    guardian    a process for each run, which ends all that the run started
"""
