"""Reasons: why a point of a sweep has no value."""

from __future__ import annotations

FINE, DIVISION, OVERFLOW, DOMAIN, CONSTRAINT, UNDEFINED = range(6)
"""Codes, one for each point; a point with a value is `FINE`."""

REASONS = {
    FINE: "fine",
    DIVISION: "division by zero",
    OVERFLOW: "overflow",
    DOMAIN: "outside the domain of a function",
    CONSTRAINT: "a constraint of the model is violated",
    UNDEFINED: "the models give no value there",
}
"""Each code in words."""
