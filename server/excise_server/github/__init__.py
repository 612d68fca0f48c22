"""The GitHub Action: pull requests by the API, one comment; nothing of them is run."""
