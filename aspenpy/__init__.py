"""aspenpy: analytical performance and energy modelling of high-performance applications.

    import aspenpy

    app = aspenpy.load_application("comd")
    machine = aspenpy.load_machine("haswell")
    prediction = aspenpy.predict(app, machine, set={"steps": 10})
    prediction.runtime                                # seconds
    prediction.expression(free=["nx"])                # a SymPy expression

Names are imported when they are first used, so that `import aspenpy` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aspenpy.analysis.counting import Counts
    from aspenpy.analysis.footprint import Footprint, memory
    from aspenpy.analysis.network import Network
    from aspenpy.analysis.parallelism import Parallelism, parallelism
    from aspenpy.analysis.peaks import Peak, peaks
    from aspenpy.analysis.profile import Profile, profile
    from aspenpy.analysis.roofline import Roofline, roofline
    from aspenpy.analysis.trace import Trace, trace
    from aspenpy.analysis.traffic import Traffic, traffic
    from aspenpy.application.model import Application
    from aspenpy.case import Case
    from aspenpy.diagnostics import AspenError, Diagnostic
    from aspenpy.empirical.fit import Fit, fit
    from aspenpy.energy.account import Energy, predict_energy
    from aspenpy.energy.options import EnergyOptions
    from aspenpy.explore.asked import optimise
    from aspenpy.explore.methods import sensitivity
    from aspenpy.explore.scaling import Scaling, scaling
    from aspenpy.generate.mpi import Skeleton, mpi
    from aspenpy.library import load_application, load_machine, parse
    from aspenpy.machine.model import Machine
    from aspenpy.placement.placement import Placement, place
    from aspenpy.prediction import Prediction, count, predict, prepare
    from aspenpy.prepared import Prepared
    from aspenpy.reuse.distances import ReuseDistances
    from aspenpy.reuse.measure import reuse_distances
    from aspenpy.session.session import Session
    from aspenpy.sweeps.result import SweepResult
    from aspenpy.sweeps.sweep import sweep

__version__ = "0.1.0"

__all__ = [
    "Application",
    "AspenError",
    "Case",
    "Counts",
    "Diagnostic",
    "Energy",
    "EnergyOptions",
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
    "count",
    "fit",
    "load_application",
    "load_machine",
    "memory",
    "mpi",
    "optimise",
    "parallelism",
    "parse",
    "peaks",
    "place",
    "predict",
    "predict_energy",
    "prepare",
    "profile",
    "reuse_distances",
    "roofline",
    "scaling",
    "sensitivity",
    "sweep",
    "trace",
    "traffic",
]

_HOME = {
    "Application": "aspenpy.application.model",
    "AspenError": "aspenpy.diagnostics",
    "Case": "aspenpy.case",
    "Counts": "aspenpy.analysis.counting",
    "Diagnostic": "aspenpy.diagnostics",
    "Energy": "aspenpy.energy.account",
    "EnergyOptions": "aspenpy.energy.options",
    "Fit": "aspenpy.empirical.fit",
    "Footprint": "aspenpy.analysis.footprint",
    "Machine": "aspenpy.machine.model",
    "Network": "aspenpy.analysis.network",
    "Parallelism": "aspenpy.analysis.parallelism",
    "Peak": "aspenpy.analysis.peaks",
    "Placement": "aspenpy.placement.placement",
    "Prediction": "aspenpy.prediction",
    "Prepared": "aspenpy.prepared",
    "Profile": "aspenpy.analysis.profile",
    "ReuseDistances": "aspenpy.reuse.distances",
    "Roofline": "aspenpy.analysis.roofline",
    "Scaling": "aspenpy.explore.scaling",
    "Session": "aspenpy.session.session",
    "Skeleton": "aspenpy.generate.mpi",
    "SweepResult": "aspenpy.sweeps.result",
    "Trace": "aspenpy.analysis.trace",
    "Traffic": "aspenpy.analysis.traffic",
    "count": "aspenpy.prediction",
    "fit": "aspenpy.empirical.fit",
    "load_application": "aspenpy.library",
    "load_ipython_extension": "aspenpy.notebook",
    "load_machine": "aspenpy.library",
    "memory": "aspenpy.analysis.footprint",
    "mpi": "aspenpy.generate.mpi",
    "optimise": "aspenpy.explore.asked",
    "parallelism": "aspenpy.analysis.parallelism",
    "parse": "aspenpy.library",
    "peaks": "aspenpy.analysis.peaks",
    "place": "aspenpy.placement.placement",
    "predict": "aspenpy.prediction",
    "predict_energy": "aspenpy.energy.account",
    "prepare": "aspenpy.prediction",
    "profile": "aspenpy.analysis.profile",
    "reuse_distances": "aspenpy.reuse.measure",
    "roofline": "aspenpy.analysis.roofline",
    "scaling": "aspenpy.explore.scaling",
    "sensitivity": "aspenpy.explore.methods",
    "sweep": "aspenpy.sweeps.sweep",
    "trace": "aspenpy.analysis.trace",
    "traffic": "aspenpy.analysis.traffic",
    "unload_ipython_extension": "aspenpy.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'aspenpy' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
