"""Every type of result has a report of its own, under the name by which it is looked up."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import aspenpy
from aspenpy.learn.estimators.leading_loads import LeadingLoads
from aspenpy.models.application.declarations import Declarations
from aspenpy.models.model import Model
from aspenpy.report import REPORTS
from aspenpy.tables.registry import register_report, report_function
from aspenpy.tables.result import Result
from aspenpy.tables.table import Report

INCOMPLETE = {"Model", "Declarations", "Writer", "Evaluation"}
"""Types from which others are derived, and which nobody is shown."""


def derived_from(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from derived_from(each)


@pytest.fixture(scope="module")
def kinds() -> list[type]:
    for module in pkgutil.walk_packages(aspenpy.__path__, "aspenpy."):
        if not module.name.endswith("__main__") and ".editor" not in module.name:
            importlib.import_module(module.name)
    return [kind for kind in derived_from(Result) if kind.__module__.startswith("aspenpy.")]


def test_every_result_has_a_report(kinds: list[type]) -> None:
    assert len(kinds) > 40
    for kind in kinds:
        if kind.__name__ not in INCOMPLETE:
            assert report_function(kind).__module__ in REPORTS, kind


def test_the_table_names_the_types_that_modules_register(kinds: list[type]) -> None:
    for module, names in REPORTS.items():
        for name in names.split():
            assert module in {report_function(kind).__module__ for kind in kinds if kind.__name__ == name}, name


def test_models_without_a_report_are_refused() -> None:
    class Unregistered(Result):
        pass

    for kind in (Unregistered, Model, Declarations):
        with pytest.raises(TypeError, match=f"no report is registered for {kind.__name__}"):
            report_function(kind)


def test_a_report_serves_derived_types() -> None:
    class Base(Result):
        pass

    class Derived(Base):
        pass

    def report(found: Base, more: str = "") -> Report:
        return Report("pair/1", type(found).__name__ + more, {}, ())

    register_report(Base, report)
    assert str(Derived()) == "Derived"
    assert Derived().report(more="!").headline == "Derived!"


def test_a_model_that_has_learnt_nothing_is_shown() -> None:
    assert str(LeadingLoads()).startswith("leading-loads: runtime, learnt from 0 rows")
