"""Result: a model, and what analyses answer with. It shows itself as text, as JSON and in notebooks by its report."""

from __future__ import annotations

from typing import Any

from aspenpy.language.diagnostics import refuse_float_overflow
from aspenpy.tables.formats import build_dataframe, build_json, write_csv
from aspenpy.tables.pages import render_html, render_text
from aspenpy.tables.registry import report_function
from aspenpy.tables.table import Report


class Result:
    """The function that makes its report is registered for its type in `aspenpy.tables.registry`."""

    __slots__ = ()

    @refuse_float_overflow
    def report(self, **options: Any) -> Report:
        """The whole result as a value from which every format derives."""
        return report_function(type(self))(self, **options)

    @refuse_float_overflow
    def __str__(self) -> str:
        return render_text(self.report().page)

    @refuse_float_overflow
    def to_json(self) -> dict[str, Any]:
        """One object with everything, numbers in base units."""
        return build_json(self.report())

    @refuse_float_overflow
    def to_csv(self) -> str:
        """The main table as comma-separated values, numbers in base units. Raises AspenError where there is none."""
        return write_csv(self.report())

    @refuse_float_overflow
    def to_dataframe(self) -> Any:
        """The table of `to_csv` as a pandas DataFrame. Raises AspenError where there is no table, or no pandas."""
        return build_dataframe(self.report())

    @refuse_float_overflow
    def _repr_html_(self) -> str:
        return render_html(self.report().page)
