"""A queue of patches: read once, or watched with a state that remembers what it has seen.

``reading`` reads mailboxes, folders and standard input, and ``counted`` also counts what was read,
on all cores. ``state`` is the SQLite file of a watched queue, of which only what is new is read.
"""
