"""The conformance cases as they lie in the folders beside this file.

`GROUP/CASE/` holds the files of one case: the application `a.aspen`, the machine `m.aspen` (or, where
many cases share one, its name in `machines/`), what they import or include, and `case.toml`:

    machine = "one_core"   # machines/one_core.aspen stands in for m.aspen
    socket = "S"           # the socket asked for
    runtime = 30.0         # seconds, or else
    refused = "..."        # what is wrong, and in which file:
    place = "a.aspen"
    source = "reference"   # the C++ implementation computes the value; "language": it is what the language means
    [set]                  # parameters given by the user

A refused case has its exact report beside it, in `report.txt`.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
APPLICATION = "a.aspen"
MACHINE = "m.aspen"


class Case(NamedTuple):
    folder: Path
    files: dict[str, bytes]
    description: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def overrides(self) -> dict[str, float]:
        given: dict[str, float] = self.description.get("set", {})
        return given

    @property
    def tolerance(self) -> float:
        """Relative. A value that was printed with 12 digits is known to half a unit of the last one."""
        digits = Decimal(repr(self.description["runtime"])).normalize().as_tuple().digits
        return 1e-11 if len(digits) >= 12 else 1e-12

    def write(self, folder: Path) -> None:
        """Lays the files of the case out in an empty folder."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)


def read_case(folder: Path) -> Case:
    description = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.aspen")}
    if "machine" in description:
        files[MACHINE] = (FOLDER / "machines" / f"{description['machine']}.aspen").read_bytes()
    return Case(folder, files, description)


def all_cases() -> list[Case]:
    return [read_case(path.parent) for path in sorted(FOLDER.glob("*/*/case.toml"))]
