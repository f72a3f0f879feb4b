"""Arithmetic and nothing else: a graph of shared expressions, what they are worth, and how they are written."""

from aspenpy.expr import printer, series  # noqa: F401 - what an expression can do besides being there
