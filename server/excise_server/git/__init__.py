"""Reading repositories that may be hostile: commits, refs, trees and worktrees, and nothing else.

What is made of them is for ``sources/`` and ``review/`` to say.
"""
