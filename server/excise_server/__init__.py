"""The shell around `excise`: where revisions come from, the command line and the language server."""
