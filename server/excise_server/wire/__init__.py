"""The records that cross a border of the process: msgspec structs, checked as they are read.

They hold what is said and nothing of what is made of it, so every room above may use them.
"""
