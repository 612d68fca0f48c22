"""Results for programs (JSON documents) and for people (tables); every text is escaped here."""
