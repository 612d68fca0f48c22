"""The foundation of every room: limits, refusals, paths, files, and printable text.

``inputs`` has the limits and the errors, ``paths`` and ``files`` read permitted files, ``escape``
makes text from files printable, and ``changes`` makes a patch from two texts. The flags of
``cancellation`` stop work, ``processes`` makes processes end with their parent, ``linux`` makes
namespaces, and ``forks`` share work between processes. Nothing here knows git, candidates, editors
or reports.
"""
