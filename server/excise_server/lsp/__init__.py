"""The language server, the only part that uses pygls and lsprotocol."""
