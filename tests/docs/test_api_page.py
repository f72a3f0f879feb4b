"""The page about the Python interface has every public name, and an example that uses or returns it."""

import re
from pathlib import Path

import pytest

import aspenpy

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
DESCRIBED = {
    name.split(".")[-1] for name in re.findall(r"^\.\. auto(?:function|class|exception):: ([\w.]+)", PAGE, re.M)
}
EXAMPLES = "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)$", PAGE, re.M))
RETURNED_BY = {
    "Advice": "advise",
    "Application": "load_application",
    "Comparison": "compare",
    "Diagnostic": "AspenError",
    "Energy": "energy",
    "Fit": "fit",
    "Footprint": "memory",
    "Machine": "load_machine",
    "Network": "network",
    "Parallelism": "parallelism",
    "Peak": "peaks",
    "Placement": "place",
    "Prediction": "predict",
    "Prepared": "prepare",
    "Profile": "profile",
    "ReuseDistances": "reuse_distances",
    "Roofline": "roofline",
    "Scaling": "scale",
    "Skeleton": "mpi",
    "SweepResult": "sweep",
    "Trace": "trace",
    "Traffic": "traffic",
    "Extraction": "extract_application",
    "Validation": "validate",
}
"""The function an example calls for a value of the type."""


@pytest.mark.parametrize("name", aspenpy.__all__)
def test_a_public_name_is_described_and_used(name: str) -> None:
    assert name in DESCRIBED
    assert re.search(rf"\baspenpy\.{RETURNED_BY.get(name, name)}\b", EXAMPLES)
