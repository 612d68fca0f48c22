"""Running an evaluation: reading records, all cores, a journal to go on from, tables and plots.

The formulas are the library's (`excise.evaluation`); nothing here changes a number.
"""
