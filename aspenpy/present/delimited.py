"""Tables as comma-separated values (RFC 4180 with plain line ends): raw values, numbers in base units."""

from __future__ import annotations

import csv
import io

from aspenpy.present.numbers import plain
from aspenpy.present.table import Table


def as_csv(table: Table) -> str:
    """The headers and the rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.header for column in table.columns])
    writer.writerows([[plain(cell) for cell in row] for row in table.rows])
    return text.getvalue()
