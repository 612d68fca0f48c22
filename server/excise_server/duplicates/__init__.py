"""Proposals that may be about the same issue. Pure: it knows no file, git, command or protocol."""
