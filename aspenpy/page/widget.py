"""A what-if page as a widget of a notebook: its sliders, and their values in Python."""

from __future__ import annotations

from typing import Any

from aspenpy.language.diagnostics import fail

SCRIPT = """\
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = model.get("title");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = "width: 100%; height: 720px; border: 0";
  frame.srcdoc = model.get("page");
  const take = ({ source, data }) => {
    if (source !== frame.contentWindow || !data || !data.aspenpy) return;
    model.set("values", data.aspenpy);
    model.save_changes();
  };
  addEventListener("message", take);
  el.append(frame);
  return () => removeEventListener("message", take);
}
export default { render };
"""
"""A module as anywidget runs it (anywidget.dev, "Widget front-end code"); the page is a frame that reaches nothing of
the notebook, and tells its values by messages."""


def make_widget(title: str, page: str, values: dict[str, Any]) -> Any:
    """A widget that shows a page; its trait `values` follows the sliders, and `observe` tells when they move. Raises
    AspenError where anywidget is not installed."""
    try:
        from anywidget import AnyWidget
        from traitlets import Dict, Unicode
    except ImportError:
        fail("no-anywidget", "a widget needs anywidget", hint="pip install 'aspenpy[notebook]'")

    traits = {"title": Unicode().tag(sync=True), "page": Unicode().tag(sync=True), "values": Dict().tag(sync=True)}
    kind = type("WhatIfWidget", (AnyWidget,), {"_esm": SCRIPT, **traits})
    return kind(title=title, page=page, values=values)
