"""Arithmetic and nothing else: a graph of shared expressions, what they are worth, and how they are written."""
