"""The shell around `excise`: sources of revisions, the command line, the language server."""
