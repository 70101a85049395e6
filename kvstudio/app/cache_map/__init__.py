"""What the cache map shows, in groups, words and plain text."""
