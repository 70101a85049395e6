"""The checks: each reads a recording and reports findings; none knows of another."""
