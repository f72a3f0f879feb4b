"""WhatIf: the page of an application on one or more machines."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.engine.javascript_text import NotInJavaScript, add_helpers, to_javascript
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, warning
from aspenpy.language.dimensions import UNITS, format_quantity, parse_unit, unit_symbol
from aspenpy.page.inputs import PageExpressions, SliderInput, SourceLine, inputs_of, refuse_arrays
from aspenpy.page.machine import MachinePage, machine_page
from aspenpy.page.widget import make_widget
from aspenpy.version import VERSION

SCRIPTS = (
    "elements.js",
    "units.js",
    "typed.js",
    "state.js",
    "charts.js",
    "memory.js",
    "roofline.js",
    "kernels.js",
    "controls.js",
    "page.js",
)
"""Scripts in the order in which they use each other, within one function of strict JavaScript."""

_FOLDER = Path(__file__).with_name("files")


def document(title: str, facts: dict[str, Any], functions: str) -> str:
    """The whole file. `functions` declares `machines`."""
    style, own = _text("page.css"), "\n".join(map(_text, SCRIPTS))
    script = f'(function () {{\n"use strict";\n{functions}\n{own}\n}})();\n'
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    return _text("page.html").format(
        title=escape(title), policy=policy, style=style, script=script, data=_data(facts), version=facts["version"]
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(facts: dict[str, Any]) -> str:
    """JSON in which no character ends the element that it stands in."""
    text = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").rstrip("\n")


MOST_MACHINES = 4  # side by side
MOST_BYTES = 1_500_000  # of a page that goes as an attachment of a mail


class WhatIf:
    """A page on which a reader changes parameters: of the cases of one application, each on its machine.

    `free` names the parameters; without any it has those that the runtime depends on and that are plain numbers.
    `html` is one file that needs no other and no network. Raises AspenError where a case cannot be predicted, or its
    formulas cannot run in a browser.
    """

    def __init__(self, cases: Sequence[Case], free: Sequence[str] = ()) -> None:
        if len(cases) > MOST_MACHINES:
            fail("too-many-machines", f"a page has room for {MOST_MACHINES} machines, not {len(cases)}")
        self.predictions = [predict(case) for case in cases]
        refuse_arrays(self.predictions, free)
        self.inputs = inputs_of(self.predictions, free)
        if not free:
            self.inputs = [item for item in self.inputs if self._runs(item)]

    @property
    def title(self) -> str:
        """The application and its machines, with the socket where a machine is there with several kinds."""
        names = [prediction.machine.name for prediction in self.predictions]
        places = {(prediction.machine.name, prediction.socket) for prediction in self.predictions}
        kinds = Counter(name for name, _ in places)
        machines = [
            f"{name}/{prediction.socket}" if kinds[name] > 1 else name
            for name, prediction in zip(names, self.predictions, strict=True)
        ]
        return f"{self.predictions[0].application.name} on {' and '.join(machines)}"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the models, as the page has them."""
        return tuple(drop_repeats(item for prediction in self.predictions for item in prediction.diagnostics))

    @property
    def too_large(self) -> Diagnostic | None:
        """A warning where the file is too large for a mail."""
        size = len(self.html.encode())
        if size <= MOST_BYTES:
            return None
        fewer = "machines, or with --free fewer parameters," if len(self.predictions) > 1 else "parameters with --free"
        hint = f"fewer {fewer} make it smaller"
        sizes = f"{format_quantity(size, 'B')}, more than the {format_quantity(MOST_BYTES, 'B')}"
        message = f"the page has {sizes} that mail takes easily"
        return warning("large-page", message, None, hint=hint)

    @cached_property
    def html(self) -> str:
        """The page, one file."""
        return document(self.title, self.facts, self.script)

    def _repr_html_(self) -> str:
        """The page in a notebook, in a frame that reaches nothing of the notebook."""
        frame = 'sandbox="allow-scripts allow-downloads" style="width: 100%; height: 720px; border: 0"'
        return f'<iframe title="{escape(self.title)}" {frame} srcdoc="{escape(self.html)}"></iframe>'

    def widget(self) -> Any:
        """The page as a widget of a notebook (extra `notebook`): its `values` are those of the sliders, by name, as
        `set` of `predict` takes them where the page has one machine. Raises AspenError without anywidget."""
        several = len(self.predictions) > 1
        names = [
            f"{item.machine}:{item.name}" if several and item.machine is not None else item.name for item in self.inputs
        ]
        values = [item.choices[int(item.value)] if item.choices else item.value for item in self.inputs]
        return make_widget(self.title, self.html, dict(zip(names, values, strict=True)))

    @cached_property
    def machines(self) -> list[MachinePage]:
        """The machines in the order of the cases."""
        return [
            machine_page(PageExpressions(prediction, self.inputs_on(number)))
            for number, prediction in enumerate(self.predictions)
        ]

    def inputs_on(self, number: int) -> list[SliderInput]:
        """The inputs of the application, and those of one machine: the arguments of its functions, in their order."""
        symbols = self.predictions[number].scope.definitions
        return [item for item in self.inputs if item.machine in (None, number) and item.symbol in symbols]

    @cached_property
    def script(self) -> str:
        """`machines`: for each the function of all numbers, and that of runtime and energy alone."""
        functions = []
        for number, page in enumerate(self.machines):
            functions.append(page.numbers.function(f"all{number}"))
            functions.append(page.numbers.function(f"headline{number}", page.headline))
        pairs = ", ".join(f"{{ all: all{number}, headline: headline{number} }}" for number in range(len(self.machines)))
        return add_helpers("\n\n".join(functions)) + f"\nconst machines = [{pairs}];\n"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All but the functions, for JSON."""
        application = self.predictions[0].application
        return {
            "title": self.title,
            "application": application.name,
            "version": VERSION,
            "inputs": [_input(item) for item in self.inputs],
            "units": _units({item.unit for item in self.inputs}),
            "machines": [
                {**page.facts, "inputs": [self.inputs.index(item) for item in self.inputs_on(number)]}
                for number, page in enumerate(self.machines)
            ],
            "warnings": [diagnostic.message for diagnostic in self.diagnostics],
        }

    def _runs(self, item: SliderInput) -> bool:
        """Whether the runtime has a form in JavaScript while the input is free: a random draw may depend on it."""
        prediction = self.predictions[item.machine or 0]
        try:
            to_javascript([prediction.formula("runtime", [item.name])], [item.symbol], "f", prediction.seed)
        except NotInJavaScript:
            return False
        return True


def _units(needed: set[str]) -> dict[str, tuple[float, str]]:
    """Size of each unit in base units, and their symbol. Quotients of units are listed only where their symbol is in
    `needed`."""
    units = {name: (float(unit.size), unit_symbol(unit.dimension)) for name, unit in UNITS.items()}
    for above, below in product(UNITS, repeat=2):
        unit = parse_unit(f"{above}/{below}")
        if unit_symbol(unit.dimension) in needed - {""}:
            units[f"{above}/{below}"] = (float(unit.size), unit_symbol(unit.dimension))
    return units


def _input(item: SliderInput) -> dict[str, Any]:
    place: SourceLine | None = item.place
    position = None if place is None else {"where": place.where, "line": place.line}
    numbers = {"value": item.value, "low": item.low, "high": item.high, "log": item.log, "whole": item.whole}
    return {
        "name": item.name,
        "machine": item.machine,
        "unit": item.unit,
        "per_rank": item.per_rank,
        **numbers,
        "place": position,
        "choices": item.choices,
    }
