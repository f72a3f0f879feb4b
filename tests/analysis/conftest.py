"""The models and the command line of the tests of commands."""

from tests.cli.conftest import models, run

__all__ = ["models", "run"]
