"""The parts of the Setup panel, and what is filled in there as plain data."""
