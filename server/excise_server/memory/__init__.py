"""What a server remembers of reviews, in the user's cache: another one goes on with them.

Files and git, no protocol: called from a thread, never from a loop.
"""
