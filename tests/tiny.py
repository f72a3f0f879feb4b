"""Models small enough for arithmetic by hand.

On the machine `SECONDS` every resource takes one second a unit, so that a runtime is a sum of amounts, and
different resources of a block overlap.
"""

from __future__ import annotations

from typing import Any

import aspenpy
from aspenpy import Application, Machine, Prediction

SECONDS = """
machine seconds { node [1] box }
node box { socket [1] cpu }
socket cpu {
  resource flops(n) [n] resource loads(n) [n] resource stores(n) [n] resource messages(n) [n]
}
"""


def application(body: str, declarations: str = "", kernels: str = "") -> Application:
    """An application whose `main` is the body."""
    model = aspenpy.parse(f"model tiny {{ {declarations} kernel main {{ {body} }} {kernels} }}")
    assert isinstance(model, Application)
    return model


def machine(text: str = SECONDS) -> Machine:
    model = aspenpy.parse(text)
    assert isinstance(model, Machine)
    return model


def both(application_text: str, machine_text: str) -> tuple[Application, Machine]:
    """The models written in two texts."""
    app = aspenpy.parse(application_text)
    assert isinstance(app, Application)
    return app, machine(machine_text)


def predict(
    body: str, declarations: str = "", kernels: str = "", machine_text: str = SECONDS, **asked: Any
) -> Prediction:
    """The prediction of such an application."""
    return aspenpy.predict(application(body, declarations, kernels), machine(machine_text), **asked)


def runtime(body: str, declarations: str = "", kernels: str = "", machine_text: str = SECONDS, **asked: Any) -> float:
    """Its runtime in seconds."""
    return predict(body, declarations, kernels, machine_text, **asked).runtime


def codes(error: aspenpy.AspenError) -> list[str]:
    """The codes of what an error reports."""
    return [diagnostic.code for diagnostic in error.diagnostics]
