"""The models of the commands' tests, and a machine on which a runtime is arithmetic."""

from __future__ import annotations

from tests.cli.conftest import models, run, spawn

__all__ = ["models", "run", "spawn"]
