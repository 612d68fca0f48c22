"""Processes that parse and score, and may crash: the program that started them must not.

What a worker writes is as hostile as the texts that it reads: frames are checked for every length
and range, and nothing is ever unpickled.
"""
