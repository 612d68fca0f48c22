"""The slow oracle: the definition of the score, obviously right, sharing only the tokeniser.

Read in this order: `lcs` (the canonical walk), `streams` (what is scored), `slides` and `regions`
(three-way alignment), `places`, `counts` (n-grams), `score` (equation, guards), `words`, `oracle`
(the two forms, for texts and sequences); then `patches` (section 8). It works from the definition
page alone, in exact fractions, with no care for time. Where the page leaves something open, a
comment that begins with "Reading:" says what was chosen.
"""
