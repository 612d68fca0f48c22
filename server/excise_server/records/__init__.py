"""Records of JSON, one a line, read once for all commands.

``lines`` is the reader: files or standard input, gzipped or not, where a bad line never stops the
others. ``scores`` has what ``score`` and ``rank -`` read, and ``evaluated`` what ``eval`` reads.
"""
