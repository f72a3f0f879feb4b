"""Options and fixtures of all tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-pictures",
        action="store_true",
        help="write the reports that models in tests/rejected give now as the ones they must give",
    )


@pytest.fixture
def update_pictures(request: pytest.FixtureRequest) -> bool:
    """Whether reports are written instead of compared (`--update-pictures`)."""
    return bool(request.config.getoption("--update-pictures"))
