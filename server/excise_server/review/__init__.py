"""The review: candidates, their names, and which of them belong together.

Pure: values here are strings, numbers and tuples of them, and git's answers are handed in. Names
are kept as they came, even hostile ones. ``foundation/escape.py`` makes them printable.
"""
