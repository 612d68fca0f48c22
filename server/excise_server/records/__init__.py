"""Records of JSON, one a line, read once for all commands.

``lines`` is the reader: files or standard input, gzipped or not, where a bad line never stops the
others. ``scores`` and ``evaluated`` define the records of ``score`` and of ``eval``, and
``revision_set`` reads the one document of ``rank -``.
"""
