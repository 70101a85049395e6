"""What a recording means: checks, length ledger, reports."""
