"""Result: a model, and what analyses answer with. It shows itself as text, as JSON and in notebooks by its report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import refuse_float_overflow

if TYPE_CHECKING:
    from aspenpy.tables.table import Report


class Result:
    """`reported_by` names the module of `aspenpy.report` whose function `report` makes the report."""

    __slots__ = ()
    reported_by = ""

    def through(self, module: str) -> Any:
        """A module of the package that answers a question about it.

        This is the one place where what is computed reaches up to what shows it, and to what few ask for: the module
        is imported with the first question, so that a prediction costs nobody the start-up time of its report.
        """
        return import_module(f"aspenpy.{module}")

    def reporter(self) -> Any:
        """The module that reports it."""
        return self.through(f"report.{self.reported_by}")

    @refuse_float_overflow
    def report(self, **options: Any) -> Report:
        """All there is to say, as a value from which every format derives."""
        made: Report = self.reporter().report(self, **options)
        return made

    @refuse_float_overflow
    def __str__(self) -> str:
        text: str = self.through("tables.text").as_text(self.report().page)
        return text

    @refuse_float_overflow
    def to_json(self) -> dict[str, Any]:
        """One object with everything, numbers in base units."""
        item: dict[str, Any] = self.through("tables.data").as_json(self.report())
        return item

    @refuse_float_overflow
    def to_csv(self) -> str:
        """The main table as comma-separated values, numbers in base units. Raises AspenError where there is none."""
        text: str = self.through("tables.data").as_csv(self.report())
        return text

    @refuse_float_overflow
    def to_dataframe(self) -> Any:
        """The table of `to_csv` as a pandas DataFrame. Raises AspenError where there is no table, or no pandas."""
        return self.through("tables.data").as_dataframe(self.report())

    @refuse_float_overflow
    def _repr_html_(self) -> str:
        text: str = self.through("tables.html").as_html(self.report().page)
        return text
