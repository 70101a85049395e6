"""Guided cases: faults to hear, find and understand, each a run spec with words."""
