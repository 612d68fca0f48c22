"""The review: candidates, their names, and which of them belong together.

Pure but for what git hands in: values here are strings, numbers and tuples of them. Names are data
as they came, also hostile ones; ``foundation/escape.py`` makes them printable.
"""
