"""The GitHub Action: pull requests by the API, and one comment. Nothing from them is run."""
