"""Options and fixtures of all tests."""

from __future__ import annotations

import gc

import pytest


def pytest_collection_finish() -> None:
    """Keeps thousands of tests and the libraries out of the collector's way: each of its full passes would visit them,
    which takes longer than most tests."""
    gc.collect()
    gc.freeze()


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
