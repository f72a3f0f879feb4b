"""Options and fixtures of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from aspenpy.language.files import Reader
from aspenpy.language.schema import find_mismatch
from aspenpy.language.source import Source
from aspenpy.models import library
from aspenpy.report.schemas import COMMON, RESULTS
from aspenpy.tables import formats
from aspenpy.tables.table import Report
from tests.thorough import examples

settings.register_profile(
    "any machine",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("any machine")
"""Busy machines stall, so that no test has a deadline; continuous integration tries the same examples each time."""


LONG = (
    "prediction/test_commands_agree.py",
    "docs/test_snippets.py",
    "cli/test_allowance.py",
    "explore/test_optimise.py",
    "sweeps/test_cluster.py",
    "editor/test_extension.py",
    "cli/test_main.py",
    "generate/test_mpi.py",
    "hostile/test_sources.py",
    "extract/test_device.py",
    "editor/test_textmate.py",
    "extract/test_large.py",
    "models/test_published.py",
    "benchmarks/test_benchmarks.py",
    "engine/test_table.py",
    "faults/test_faults.py",
    "hostile/test_fuzz.py",
    "sweeps/test_store.py",
    "hostile/test_patterns.py",
    "docs/test_build.py",
    "cli/test_open_loops.py",
    "prediction/test_targets_agree.py",
    "nodes/test_matrix.py",
    "caches/test_cores_of_ranks.py",
    "caches/test_patterns.py",
    "syntax/test_hostile.py",
    "learnt/test_acee.py",
    "models/test_sheets.py",
    "hostile/test_found.py",
    "extract/test_fortran_whole.py",
    "benchmarks/test_real.py",
    "extract/test_applications.py",
    "caches/test_run_memory.py",
    "extract/test_evaluates.py",
    "cli/test_added_command.py",
    "models/test_library.py",
    "explore/test_sensitivity.py",
    "extract/test_occupancy_streams.py",
    "cli/test_formats.py",
    "caches/test_added_policy.py",
    "network/test_topologies.py",
    "extract/test_fortran_run.py",
    "extract/test_outcomes.py",
    "extract/test_device_traffic.py",
    "extract/test_paths.py",
    "extract/test_locality.py",
    "models/test_transformer_training.py",
    "hostile/test_linear.py",
    "packaging/test_wheel.py",
)
"""Files that take longest; begun last, they would keep one process busy when the others have ended."""


build_json = formats.build_json


def build_checked_json(report: Report) -> dict[str, Any]:
    """The JSON of a report, which has to have the shape that the report names, in whichever test it is made."""
    found = build_json(report)
    if report.schema in RESULTS:
        mismatch = find_mismatch(found, {"schema": str, **RESULTS[report.schema], **COMMON})
        assert mismatch is None or "0000000000, not a finite number" in mismatch, (report.schema, mismatch)
    return found


formats.build_json = build_checked_json


gc.disable()
"""Nothing that is collected is let go: looking for garbage there takes a tenth of the time."""


def pytest_collection_finish() -> None:
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get("/".join(item.path.parts[-2:]), len(LONG)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-pictures",
        action="store_true",
        help="write the reports that models in tests/rejected give now as the ones they must give",
    )


@pytest.fixture(scope="module", autouse=True)
def loaded_once() -> Iterator[None]:
    """The tests of a file load a model of the library once, and so map it once: models are immutable."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("load_application_source", "load_machine_source"):
            patch.setattr(library, name, _kept(getattr(library, name)))
        yield


def _kept(load: Callable[[Source, Reader], Any]) -> Callable[[Source, Reader], Any]:
    models: dict[tuple[Path | None, str, bool], Any] = {}

    def loaded(source: Source, reader: Reader) -> Any:
        if source.in_library is None:
            return load(source, reader)
        key = source.path, source.text, reader.allow_outside
        if key not in models:
            models[key] = load(source, reader)
        return models[key]

    return loaded


@pytest.fixture
def update_pictures(request: pytest.FixtureRequest) -> bool:
    """Whether reports are written instead of compared (`--update-pictures`)."""
    return bool(request.config.getoption("--update-pictures"))
