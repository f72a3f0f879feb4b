"""Scalability: strong and weak scaling of a configuration, and from where on more nodes gain nothing.

Step 4 of Prometheus (Umar, dissertation, Virginia Tech, 2018, sections 4.4.2 and 4.6.3).
"""

from __future__ import annotations

from aspenpy.advice.configuration import Configuration
from aspenpy.record import Record
from aspenpy.studies.explore.scaling import Mode, Point


class Scalability(Record):
    """A configuration on more and more nodes, for one input (its `settings` in words). `points` are by nodes.

    `fastest` is the number of nodes with the least runtime, `knee` where the curve of time over nodes bends most,
    `worthwhile` the most nodes at which the efficiency has not yet fallen below the `threshold` (0 to 1); `turns` says
    whether more nodes than `fastest` take longer.
    """

    configuration: Configuration
    settings: str
    mode: Mode
    nodes: tuple[int, ...]
    points: tuple[Point, ...]
    fastest: int
    knee: int | None
    threshold: float
    worthwhile: int
    turns: bool
