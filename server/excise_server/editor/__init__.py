"""One document in an editor: its session, its snapshots, their analysis, and its messages.

`session` and `document` are the only mutable state, on the event loop. Work receives a snapshot.
From it, `analysis` (over `places`) computes numbers, `findings` makes sentences, and `apply` makes
edits. Nothing here knows the protocol.
"""
