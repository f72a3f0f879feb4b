"""A plugin of pytest: each `*.gate.json` is a test that fails where predicted costs grew beyond the baseline."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from aspenpy.shell.main import main


def pytest_addoption(parser: pytest.Parser) -> None:
    """The growth that is allowed: `--gate-limit 2%`."""
    parser.addoption("--gate-limit", default="1%", help="growth that aspenpy gates allow (default: 1%%)")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Takes baselines for tests."""
    return Baseline.from_parent(parent, path=file_path) if file_path.name.endswith(".gate.json") else None


class Baseline(pytest.File):
    """A baseline of `aspenpy gate`."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test, the gate."""
        yield Gate.from_parent(self, name="gate")


class Grown(Exception):
    """Numbers that grew beyond their limits; its text is the table of them."""


class Gate(pytest.Item):
    """The comparison of a baseline with the models as they are now."""

    def runtest(self) -> None:
        """Raises Grown where a number grew too much, or the models have an error."""
        said, here = io.StringIO(), Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main(["gate", str(path), "--limit", self.config.getoption("--gate-limit")])
        if status:
            raise Grown(said.getvalue())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None) -> str:  # type: ignore[override]
        """The table of changes alone."""
        return str(excinfo.value) if isinstance(excinfo.value, Grown) else str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """The baseline and its name."""
        return self.path, 0, f"gate {self.path.name}"
