"""Reports of results, and their pictures. Each module registers the types that it reports."""

from importlib import import_module

REPORTS = {
    "aspenpy.report.advice": ("Advice",),
    "aspenpy.report.application": ("Application",),
    "aspenpy.report.classification": ("Classified",),
    "aspenpy.report.comparison": ("Comparison",),
    "aspenpy.report.counting": ("Counts",),
    "aspenpy.report.decision": ("Decided",),
    "aspenpy.report.design_space": ("DesignSpace",),
    "aspenpy.report.ecm": ("Ecm",),
    "aspenpy.report.efficiency": ("Efficiency",),
    "aspenpy.report.energy": ("Energy",),
    "aspenpy.report.explanation": ("Explanation",),
    "aspenpy.report.extract": ("Extraction",),
    "aspenpy.report.fit": ("Fit",),
    "aspenpy.report.footprint": ("Footprint",),
    "aspenpy.report.grouped": ("Grouped",),
    "aspenpy.report.incore": ("InCore",),
    "aspenpy.report.learnt": ("LearntModel", "Validation"),
    "aspenpy.report.machine": ("Machine",),
    "aspenpy.report.measured": ("Measured",),
    "aspenpy.report.network": ("Network",),
    "aspenpy.report.optimum": ("Front", "Optimum"),
    "aspenpy.report.parallelism": ("Parallelism",),
    "aspenpy.report.placement": ("Placement",),
    "aspenpy.report.prediction": ("Prediction",),
    "aspenpy.report.profile": ("Profile",),
    "aspenpy.report.reuse": ("ReuseDistances",),
    "aspenpy.report.roofline": ("Roofline",),
    "aspenpy.report.scalability": ("Scaled",),
    "aspenpy.report.scaling": ("Scaling",),
    "aspenpy.report.sensitivity": ("Effects", "Elasticities", "Morris", "Sobol"),
    "aspenpy.report.side_by_side": ("SideBySide",),
    "aspenpy.report.significance": ("Significant",),
    "aspenpy.report.speedup": ("Dvfs",),
    "aspenpy.report.sweep": ("SweepResult",),
    "aspenpy.report.throttled": ("Throttled",),
    "aspenpy.report.trace": ("Trace",),
    "aspenpy.report.traffic": ("Traffic",),
    "aspenpy.report.validated": ("Validation",),
}
"""The types that each module reports, by their names: a module is imported when the first such result is shown."""


def load_reports(kind: str) -> None:
    """Imports the modules that report types called `kind`, if there are any."""
    for module, kinds in REPORTS.items():
        if kind in kinds:
            import_module(module)
