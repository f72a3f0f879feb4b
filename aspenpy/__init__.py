"""aspenpy: analytical performance and energy modelling of high-performance applications.

    import aspenpy

    app = aspenpy.load_application("comd")
    machine = aspenpy.load_machine("haswell")
    prediction = aspenpy.predict(app, machine, set={"steps": 10})
    prediction.runtime                                # seconds
    prediction.expression(free=["nx"])                # a SymPy expression

Names are imported when they are first used, so that `import aspenpy` costs nothing: no module of the standard library
is, since Ctrl-C is not yet handled while the command imports this.
"""

from aspenpy.tables.registry import install_loader
from aspenpy.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from aspenpy.advice.advise import Advice, AdviceOptions, advise
    from aspenpy.answers.case import Case
    from aspenpy.answers.checks.files import check
    from aspenpy.answers.counting import Counts, count
    from aspenpy.answers.energy.account import Energy
    from aspenpy.answers.energy.account import predict_energy as energy
    from aspenpy.answers.energy.options import EnergyOptions
    from aspenpy.answers.footprint import Footprint, memory
    from aspenpy.answers.network import Network, network
    from aspenpy.answers.parallelism import Parallelism, parallelism
    from aspenpy.answers.peaks import Peak, peaks
    from aspenpy.answers.placement.best import place
    from aspenpy.answers.placement.placement import Placement
    from aspenpy.answers.prediction import Prediction, predict, prepare
    from aspenpy.answers.prepared import Prepared
    from aspenpy.answers.profile import Profile, profile
    from aspenpy.answers.roofline import Roofline, roofline
    from aspenpy.answers.trace import Trace, trace
    from aspenpy.answers.traffic import Traffic, traffic
    from aspenpy.explore.comparison import Comparison, compare
    from aspenpy.explore.optimise import optimise
    from aspenpy.explore.scaling import Scaling, scale
    from aspenpy.explore.sensitivity import sensitivity
    from aspenpy.extract.extraction import Extraction
    from aspenpy.extract.extraction import extract as extract_application
    from aspenpy.generate.mpi import Skeleton, mpi
    from aspenpy.language.diagnostics import AspenError, Diagnostic
    from aspenpy.learn.fitting.fit import Fit, fit
    from aspenpy.learn.model_validation import Validation, validate
    from aspenpy.models.application.model import Application
    from aspenpy.models.library import format_model as format
    from aspenpy.models.library import load_application, load_machine, parse
    from aspenpy.models.machine.model import Machine
    from aspenpy.models.networks import read_network
    from aspenpy.page.what_if import WhatIf
    from aspenpy.shell.session.session import Session
    from aspenpy.sweeps.result import SweepResult
    from aspenpy.sweeps.sweep import sweep
    from aspenpy.traces.distances import ReuseDistances
    from aspenpy.traces.measure import reuse_distances

__version__ = VERSION

__all__ = [
    "Advice",
    "AdviceOptions",
    "Application",
    "AspenError",
    "Case",
    "Comparison",
    "Counts",
    "Diagnostic",
    "Energy",
    "EnergyOptions",
    "Extraction",
    "Fit",
    "Footprint",
    "Machine",
    "Network",
    "Parallelism",
    "Peak",
    "Placement",
    "Prediction",
    "Prepared",
    "Profile",
    "ReuseDistances",
    "Roofline",
    "Scaling",
    "Session",
    "Skeleton",
    "SweepResult",
    "Trace",
    "Traffic",
    "Validation",
    "WhatIf",
    "advise",
    "check",
    "compare",
    "count",
    "energy",
    "extract_application",
    "fit",
    "format",
    "load_application",
    "load_machine",
    "memory",
    "mpi",
    "network",
    "optimise",
    "parallelism",
    "parse",
    "peaks",
    "place",
    "predict",
    "prepare",
    "profile",
    "read_network",
    "reuse_distances",
    "roofline",
    "scale",
    "sensitivity",
    "sweep",
    "trace",
    "traffic",
    "validate",
]

_HOME = {
    "Advice": "aspenpy.advice.advise",
    "AdviceOptions": "aspenpy.advice.advise",
    "Application": "aspenpy.models.application.model",
    "AspenError": "aspenpy.language.diagnostics",
    "Case": "aspenpy.answers.case",
    "Comparison": "aspenpy.explore.comparison",
    "Counts": "aspenpy.answers.counting",
    "Diagnostic": "aspenpy.language.diagnostics",
    "Energy": "aspenpy.answers.energy.account",
    "EnergyOptions": "aspenpy.answers.energy.options",
    "Extraction": "aspenpy.extract.extraction",
    "Fit": "aspenpy.learn.fitting.fit",
    "Footprint": "aspenpy.answers.footprint",
    "Machine": "aspenpy.models.machine.model",
    "Network": "aspenpy.answers.network",
    "Parallelism": "aspenpy.answers.parallelism",
    "Peak": "aspenpy.answers.peaks",
    "Placement": "aspenpy.answers.placement.placement",
    "Prediction": "aspenpy.answers.prediction",
    "Prepared": "aspenpy.answers.prepared",
    "Profile": "aspenpy.answers.profile",
    "ReuseDistances": "aspenpy.traces.distances",
    "Roofline": "aspenpy.answers.roofline",
    "Scaling": "aspenpy.explore.scaling",
    "Session": "aspenpy.shell.session.session",
    "Skeleton": "aspenpy.generate.mpi",
    "SweepResult": "aspenpy.sweeps.result",
    "Trace": "aspenpy.answers.trace",
    "Traffic": "aspenpy.answers.traffic",
    "Validation": "aspenpy.learn.model_validation",
    "WhatIf": "aspenpy.page.what_if",
    "advise": "aspenpy.advice.advise",
    "check": "aspenpy.answers.checks.files",
    "compare": "aspenpy.explore.comparison",
    "count": "aspenpy.answers.counting",
    "energy": "aspenpy.answers.energy.account",
    "extract_application": "aspenpy.extract.extraction",
    "fit": "aspenpy.learn.fitting.fit",
    "format": "aspenpy.models.library",
    "load_application": "aspenpy.models.library",
    "load_ipython_extension": "aspenpy.shell.notebook",
    "load_machine": "aspenpy.models.library",
    "memory": "aspenpy.answers.footprint",
    "mpi": "aspenpy.generate.mpi",
    "network": "aspenpy.answers.network",
    "optimise": "aspenpy.explore.optimise",
    "parallelism": "aspenpy.answers.parallelism",
    "parse": "aspenpy.models.library",
    "peaks": "aspenpy.answers.peaks",
    "place": "aspenpy.answers.placement.best",
    "predict": "aspenpy.answers.prediction",
    "prepare": "aspenpy.answers.prediction",
    "profile": "aspenpy.answers.profile",
    "read_network": "aspenpy.models.networks",
    "reuse_distances": "aspenpy.traces.measure",
    "roofline": "aspenpy.answers.roofline",
    "scale": "aspenpy.explore.scaling",
    "sensitivity": "aspenpy.explore.sensitivity",
    "sweep": "aspenpy.sweeps.sweep",
    "trace": "aspenpy.answers.trace",
    "traffic": "aspenpy.answers.traffic",
    "unload_ipython_extension": "aspenpy.shell.notebook",
    "validate": "aspenpy.learn.model_validation",
}

_THERE = {"energy": "predict_energy", "extract_application": "extract", "format": "format_model"}
"""Names that are others in their modules, where they would hide a value or a built-in function, or here, where they
would hide a module."""

_OLD = {"predict_energy": "energy", "scaling": "scale"}
"""Former names, which warn, for one release."""


def _load_reports(kind: str) -> None:
    from aspenpy.report import load_reports

    load_reports(kind)


install_loader(_load_reports)


def __getattr__(name: str) -> "Any":
    if name in _OLD:
        import warnings

        message = f"`aspenpy.{name}` is now `aspenpy.{_OLD[name]}`; the old name goes with the next release"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return globals().get(_OLD[name]) or __getattr__(_OLD[name])
    if name not in _HOME:
        raise AttributeError(f"module 'aspenpy' has no attribute {name!r}")
    from importlib import import_module
    from types import FunctionType

    from aspenpy.arguments import checked

    value = getattr(import_module(_HOME[name]), _THERE.get(name, name))
    if isinstance(value, FunctionType) and name in __all__:
        value = checked(name, value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
