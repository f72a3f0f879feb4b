"""Methods: the ways in which a sensitivity is asked for, behind one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.metrics import metric as named_metric
from aspenpy.answers.prediction import predict
from aspenpy.explore.elasticity import Elasticities, elasticities
from aspenpy.explore.sensitivity import Effects, effects
from aspenpy.explore.space import Space, Varied, make_space
from aspenpy.explore.variable import all_declared
from aspenpy.explore.variance import Morris, Sobol, morris, sobol
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine

Method = Literal["elasticity", "derivative", "normalised", "sobol", "morris"]

Found = Elasticities | Effects | Sobol | Morris


@one_allowance
def sensitivity(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    metric: str = "runtime",
    method: Method = "elasticity",
    vary: Varied | Space | None = None,
    samples: int | None = None,
    pairs: bool = False,
    **options: Unpack[CaseOptions],
) -> Found:
    """Rank parameters by their effect on a metric.

    `method` is `elasticity` (with `derivative`: at the point), `normalised` effects, `sobol` indices or the screening
    of `morris`; `samples` are those of the last two, and `pairs` adds second-order indices to `sobol`.

    `vary` names what varies, in texts such as `"n=1..100"`, `"n=1,2,4"`, `"n"` (its declared range) or
    `"machine=haswell,simple"`; by default all parameters that declare a range or an enum and that the metric depends
    on. The options are those of `Case`.

    :returns: a row for each parameter: elasticities without unit, effects in the unit of the metric, shares of the
        variance from 0 to 1
    :raises AspenError: for a metric or a parameter that is unknown, and for ranges without a value
    """
    case = case_of(app, machine, options)
    seed = case.seed
    methods: dict[str, Callable[[Space], Found]] = {
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
    require_known(method, methods, "unknown-method", f"there is no method `{method}`", listed="the methods are")
    prediction = predict(case)
    if vary is None and method in ("elasticity", "derivative"):
        return elasticities(prediction, metric_name=metric, point=method == "derivative")
    if vary is None:
        variables = all_declared(prediction, [named_metric(metric).expr(prediction)])
        if not variables:
            hint = "name what varies, such as --vary n=1..100"
            fail("nothing-varies", f"the {metric} depends on no parameter that declares a range", hint=hint)
        space = Space(variables, [prediction])
    else:
        space = vary if isinstance(vary, Space) else make_space(case, vary)
    found = methods[method](Space([item.sampled for item in space.variables], space.cases))
    subject = f"{metric} of {prediction.application.name} on {prediction.machine.name}"
    return found if isinstance(found, Elasticities) else found.replace(subject=subject)
