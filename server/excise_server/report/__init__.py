"""Results for programs (JSON documents) and for people (tables), with all texts escaped here."""
