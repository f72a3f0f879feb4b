"""Notebooks: `%load_ext aspenpy` brings cells of models, results as tables, formulas and pictures, and reports in the
places of tracebacks.

    %%aspen axpy
    model axpy { ... }
"""

from __future__ import annotations

from typing import Any

from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, render
from aspenpy.language.source import Source, Span
from aspenpy.models.library import parse
from aspenpy.tables.pages import render_diagnostics_html

USAGE = "%%aspen, or %%aspen NAME for a variable of another name than the model's"


class DiagnosticReport:
    """Diagnostics, shown as the command line shows them."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics

    def __repr__(self) -> str:
        return render(self.diagnostics)

    def _repr_html_(self) -> str:
        return render_diagnostics_html(self.diagnostics)


def load_ipython_extension(shell: Any) -> None:
    """Entry point of `%load_ext aspenpy`, called with IPython's `InteractiveShell`."""

    def cell(line: str, text: str) -> Any:
        return aspen_cell(shell, line, text)

    shell.register_magic_function(cell, "cell", "aspen")
    shell.set_custom_exc((AspenError,), _show_error)


def unload_ipython_extension(shell: Any) -> None:
    """Entry point of `%unload_ext aspenpy`: nothing is left behind."""
    shell.magics_manager.magics["cell"].pop("aspen", None)
    shell.set_custom_exc((), None)


def aspen_cell(shell: Any, line: str, text: str) -> Any:
    """The model of a cell, which becomes a variable of its name, or of the name behind `%%aspen`."""

    asked = line.strip()
    if asked and not asked.isidentifier():
        source = Source(f"%%aspen {line}", "<cell>")
        start = source.text.index(asked)
        fail("bad-line", "expected the name of a variable", Span(source, start, start + len(asked)), hint=USAGE)
    model = parse(f"\n{text}", f"<{asked or 'cell'}>")  # the first line of a cell is that of the magic
    shell.push({asked or model.name: model})
    if model.warnings:
        from IPython.display import display

        display(DiagnosticReport(tuple(model.warnings)))
    return model


def _show_error(shell: Any, kind: type, error: AspenError, trace: Any, tb_offset: int | None = None) -> None:
    """Shows a mistake in a model as its diagnostic: nobody has use for a traceback of it."""
    from IPython.display import display

    display(DiagnosticReport(error.diagnostics))
