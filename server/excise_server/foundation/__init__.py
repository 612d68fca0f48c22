"""What every room stands on: limits and refusals, paths and files, and text made printable.

``inputs`` has the limits and the errors, ``paths`` and ``files`` read what may be read, ``escape``
makes text from files printable. Nothing here knows git, candidates, editors or reports.
"""
