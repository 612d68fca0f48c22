"""Reading repositories that may be hostile: commits, refs, trees and worktrees, and nothing else.

Their meaning is left to ``sources/`` and ``review/``. What asks git raises `SourceError`
if it fails.
"""
