"""One document in an editor: its session, the frozen picture of it, its analysis, and what is said.

`session` and `document` are the only mutable state, on the event loop. `snapshot` is what work
gets; `analysis` (with `hunk_scores`, `sites` and `line_map`) makes numbers of it, `findings` and
`explanation` the sentences, `applying` the edits. Nothing here knows the protocol.
"""
