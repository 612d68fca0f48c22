"""The memory of reviews in the user's cache, with which the next server continues them.

It uses files and git, but no protocol. It is called from a thread, never from a loop.
"""
