"""Records of JSON, one a line, read once for all commands.

``lines`` is the reader: files or standard input, gzipped or not, where a bad line never stops the
others. ``outputs`` has the records of ``score`` and of ``eval``, and the document of ``rank -``.
"""
