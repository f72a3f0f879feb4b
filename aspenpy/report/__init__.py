"""Reports of results, and their pictures. Each module registers the types that it reports."""

from importlib import import_module

REPORTS = {
    "aspenpy.report.advice.advice": "Advice",
    "aspenpy.report.advice.classification": "Classified",
    "aspenpy.report.advice.cluster": "Grouped",
    "aspenpy.report.advice.decision": "Decided",
    "aspenpy.report.advice.design_space": "DesignSpace",
    "aspenpy.report.advice.scalability": "Scaled",
    "aspenpy.report.advice.significance": "Significant",
    "aspenpy.report.advice.throttling": "Throttled",
    "aspenpy.report.application": "Application Extraction",
    "aspenpy.report.changes": "VersionChanges",
    "aspenpy.report.comparison": "Comparison Efficiency Placement",
    "aspenpy.report.counts": "Counts Footprint",
    "aspenpy.report.energy": "Energy",
    "aspenpy.report.explanation": "Ecm Explanation InCore",
    "aspenpy.report.fit": "Fit",
    "aspenpy.report.learnt": "LearntModel PredictionErrors",
    "aspenpy.report.machine": "Machine SideBySide",
    "aspenpy.report.measurements": "Measured Validation",
    "aspenpy.report.network": "Network",
    "aspenpy.report.optimum": "Front Optimum",
    "aspenpy.report.prediction": "Prediction",
    "aspenpy.report.profile": "Profile",
    "aspenpy.report.published": "PublishedComparisons",
    "aspenpy.report.roofline": "Roofline",
    "aspenpy.report.scaling": "Scaling",
    "aspenpy.report.sensitivity": "Effects Elasticities Morris Sobol",
    "aspenpy.report.speedup": "Dvfs",
    "aspenpy.report.sweep": "SweepSummary SweepResult",
    "aspenpy.report.trace": "Parallelism Trace",
    "aspenpy.report.traffic": "ReuseDistances Traffic",
}
"""The types that each module reports, by their names: a module is imported when the first such result is shown."""


def load_reports(kind: str) -> None:
    """Imports the modules that report types called `kind`, if there are any."""
    for module, kinds in REPORTS.items():
        if kind in kinds.split():
            import_module(module)
