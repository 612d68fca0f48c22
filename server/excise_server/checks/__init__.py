"""Commands that the user typed, run in the worktrees of candidates: ``worktrees --run``.

Nothing else in this program starts a user's command, and no repository can name one.

    runs        the candidates one after another, or a few at a time, and the verdict on each
    supervisor  a process for each run, which holds together and ends all that the run started
"""
