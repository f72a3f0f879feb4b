"""Arithmetic: a graph of shared expressions, their exact values, and their text."""

from aspenpy.expr import printer, series  # noqa: F401 - what an expression can do besides being there
