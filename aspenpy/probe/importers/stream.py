"""The output of STREAM (McCalpin): the bandwidth that all threads, or one, attain."""

from __future__ import annotations

import re

from aspenpy.language.source import Source
from aspenpy.probe.importers.imported import Imported, count, refuse
from aspenpy.probe.number import Number

_RATE = re.compile(r"^(Copy|Scale|Add|Triad):\s+(\d{1,9}(?:\.\d{1,6})?)", re.MULTILINE)

ALLOCATED = 4 / 3
"""Bytes that the triad moves over those that STREAM counts: stores fetch their lines before they write them."""


def is_stream(text: str) -> bool:
    return "Best Rate MB/s" in text


def read_stream(source: Source) -> Imported:
    """Bandwidth of one core where one thread ran, else of all. Raises AspenError where there is no triad."""
    rates = {name: float(rate) for name, rate in _RATE.findall(source.text)}
    if not rates.get("Triad"):
        refuse(source, "the output of STREAM has no rate of Triad")
    threads = re.findall(r"Number of Threads (?:counted|requested) = (\d{1,6})", source.text)
    alone = not threads or count(threads[-1]) == 1
    name = "core" if alone else "attained"
    said = (
        f"STREAM, triad on {count(threads[-1]) if threads else 1} threads, times 4/3: assumed: no non-temporal stores"
    )
    rate = Number(rates.get("Triad", 0) * 1e6 * ALLOCATED, "B/s", said)
    return Imported(None, {"memory": {f"{name}_bandwidth": rate, f"{name}_store_bandwidth": rate}})
