"""The foundation of every room: limits, refusals, paths, files, and printable text.

``inputs`` has the limits and the errors, ``paths`` and ``files`` read what may be read, ``escape``
makes text from files printable, and ``changes`` makes a patch of two texts. Work is stopped by the
flags of ``cancellation``, ``processes`` end with the one that started them, and ``forks`` share the
parts of a work. Nothing here knows
git, candidates, editors or reports.
"""
