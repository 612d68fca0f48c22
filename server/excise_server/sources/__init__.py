"""Where revisions and candidates come from, one file per source.

Whatever is refused is named, with the reason (`excise_server.foundation.inputs`).
"""
