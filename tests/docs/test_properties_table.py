"""The table of the properties of machines is made from their rows; `--update-pictures` writes it anew."""

import re
from pathlib import Path

from aspenpy.models.machine.properties import PROPERTIES, properties_table

PAGE = Path(__file__).parents[2] / "docs" / "models" / "conventions.md"
MADE = re.compile(r"(<!-- made from aspenpy/models/machine/properties.py -->\n).*?(<!-- end -->\n)", re.DOTALL)


def test_the_page_has_the_table(update_pictures: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = MADE.sub(lambda found: f"{found[1]}\n{properties_table()}\n{found[2]}", text)
    if update_pictures:
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8")


def test_a_property_is_in_one_unit_wherever_it_stands() -> None:
    units = {(row.name, row.dimension) for row in PROPERTIES}
    assert len(units) == len({name for name, _ in units})
    stated = [(kind, row.name) for row in PROPERTIES for kind in row.of.split()]
    assert len(stated) == len(set(stated))
