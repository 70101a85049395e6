"""Pieces of the layer view: its values, pictures, ranges and words."""
