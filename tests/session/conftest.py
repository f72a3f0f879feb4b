"""A session about numbers that can be worked out by hand."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy import Application, Machine, Session
from tests.cli.conftest import AXPY, CLUSTER


@pytest.fixture
def session() -> Session:
    """`axpy` on `cluster`: 10 * ceil(n/2) * 2.4 ns + 3 us."""
    application, machine = aspenpy.parse(AXPY), aspenpy.parse(CLUSTER)
    assert isinstance(application, Application)
    assert isinstance(machine, Machine)
    return Session(application, machine)
