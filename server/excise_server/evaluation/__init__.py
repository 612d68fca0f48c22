"""Running an evaluation: reading records, all cores, a journal to go on from, tables and plots.

The formulas are those of the library (`excise.evaluation`). Nothing here changes a number.
"""
