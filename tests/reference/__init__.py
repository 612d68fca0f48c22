"""The slow oracle: the definition of the score, obviously right, sharing only the tokeniser.

Read in this order: `lcs` (the canonical walk), `streams` (what is scored), `regions` (three-way
alignment), `score` (n-grams, equation, guards), `oracle` (the two forms, for texts and sequences).
It works from the definition page alone, in exact fractions, with no care for time.
"""
