"""Methods: the ways in which a sensitivity is asked for, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from aspenpy.application.model import Application
from aspenpy.diagnostics import fail, nearest
from aspenpy.explore.elasticity import Elasticity, elasticities
from aspenpy.explore.sensitivity import Effects, effects
from aspenpy.explore.space import Space, Varied, spanned
from aspenpy.explore.variable import all_declared
from aspenpy.explore.variance import Morris, Sobol, morris, sobol
from aspenpy.library import load_machine
from aspenpy.machine.model import Machine
from aspenpy.metrics import metric as named_metric
from aspenpy.prediction import predict
from aspenpy.scope import DEFAULT_SEED, Setting

Method = Literal["elasticity", "derivative", "normalised", "sobol", "morris"]

Result = tuple[Elasticity, ...] | Effects | Sobol | Morris


def sensitivity(
    app: Application,
    machine: Machine,
    *,
    metric: str = "runtime",
    method: Method = "elasticity",
    vary: Varied | None = None,
    socket: str | None = None,
    kernel: str = "main",
    set: Mapping[str, Setting] | None = None,
    samples: int | None = None,
    pairs: bool = False,
    seed: int = DEFAULT_SEED,
    load: Callable[[str], Machine] = load_machine,
) -> Result:
    """What a metric depends on, and how strongly: `elasticities` (with `derivative`: at the point), `effects`, `sobol`
    or `morris`.

    `vary` names what varies, in texts such as `"n=1..100"`, `"n=1,2,4"`, `"n"` (its declared range) or
    `"machine=haswell,simple"`; by default all parameters that declare a range or an enum and that the metric depends
    on. Raises AspenError.
    """
    methods: dict[str, Callable[[Space], Result]] = {
        "elasticity": lambda space: elasticities(space.cases[0], space.variables, metric_name=metric),
        "derivative": lambda space: elasticities(space.cases[0], space.variables, metric_name=metric, point=True),
        "normalised": lambda space: effects(space, metric_name=metric),
        "sobol": lambda space: sobol(
            space, metric_name=metric, samples=1024 if samples is None else samples, pairs=pairs, seed=seed
        ),
        "morris": lambda space: morris(
            space, metric_name=metric, samples=100 if samples is None else samples, seed=seed
        ),
    }
    if method not in methods:
        hint = nearest(method, methods) or "the methods are " + ", ".join(methods)
        fail("unknown-method", f"there is no method `{method}`", hint=hint)
    prediction = predict(app, machine, socket=socket, kernel=kernel, set=set, seed=seed)
    if vary is None and method in ("elasticity", "derivative"):
        return elasticities(prediction, metric_name=metric, point=method == "derivative")
    if vary is None:
        variables = all_declared(prediction, [named_metric(metric).expr(prediction)])
        if not variables:
            hint = "name what varies, such as --vary n=1..100"
            fail("nothing-varies", f"nothing that the {metric} depends on declares a range", hint=hint)
        space = Space(variables, [prediction])
    else:
        space = spanned(app, machine, vary, socket=socket, kernel=kernel, set=set, seed=seed, load=load)
    return methods[method](Space([item.sampled for item in space.variables], space.cases))
