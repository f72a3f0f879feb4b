"""Results as xarray has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.engine.reasons import REASONS

if TYPE_CHECKING:
    from aspenpy.studies.sweeps.result import SweepResult


def dataset(result: SweepResult) -> Any:
    """An `xarray.Dataset`: a variable a metric with its unit, the axes and the reasons as coordinates."""
    import xarray

    names = tuple(result.dims)
    codes = " ".join(f"{code}={words.replace(' ', '_')}" for code, words in REASONS.items())
    units = result.study.units
    coords: dict[str, Any] = {
        name: (*found, {"units": units[name]}) if units.get(name) else found for name, found in result.coords.items()
    }
    coords["reason"] = (names, result.reason.values, {"codes": codes})
    metrics = {name: (names, variable.values, {"units": variable.unit}) for name, variable in result.items()}
    return xarray.Dataset(metrics, coords, dict(result.attrs))
