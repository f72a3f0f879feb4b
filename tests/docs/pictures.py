"""Pictures of the documentation: an SVG file that a command of the page drew, compared by what there is to see.

Two versions of matplotlib seldom write the same bytes. What must agree are the texts and the shapes, to a tenth
of a point.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

DRAWN = re.compile(r"^[$>] .*--picture ([\w-]+\.svg)\b", re.MULTILINE)
SHOWN = re.compile(r"^!\[[^\]]+\]\((?:\.\./)?pictures/([\w-]+\.svg)\)$", re.MULTILINE)
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Drawing(NamedTuple):
    """The texts of a picture, and the coordinates of each of its shapes."""

    texts: list[str]
    shapes: list[list[float]]


def drawing(picture: str) -> Drawing:
    """What there is to see in an SVG."""
    root = ElementTree.fromstring(picture)
    texts = [element.text.strip() for element in root.iter(f"{SVG}text") if element.text]
    shapes = [[float(number) for number in NUMBER.findall(path.get("d", ""))] for path in root.iter(f"{SVG}path")]
    return Drawing(texts, shapes)


def compare(kept: Path, drawn: Path) -> None:
    """Fails where the picture that a page shows is not the one that its command draws."""
    old, new = drawing(kept.read_text(encoding="utf-8")), drawing(drawn.read_text(encoding="utf-8"))
    assert old.texts == new.texts, kept
    assert [len(shape) for shape in old.shapes] == [len(shape) for shape in new.shapes], kept
    for before, after in zip(old.shapes, new.shapes, strict=True):
        assert before == pytest.approx(after, abs=0.1), kept
