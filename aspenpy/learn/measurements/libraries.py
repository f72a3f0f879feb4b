"""Libraries of the extra `empirical`, and what to say where they are not installed."""

from __future__ import annotations

from importlib import import_module

from aspenpy.language.diagnostics import fail


def require_library(name: str, what: str) -> None:
    """Raises AspenError where a library of the extra `empirical` is not installed."""
    try:
        import_module(name)
    except ImportError:
        fail("missing-library", f"{what} needs {name}: pip install 'aspenpy[empirical]'")
