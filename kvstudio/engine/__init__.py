"""Runs and observes the model in its own process."""
