"""Skeletons: commented machine models to begin with, complete as they stand.

Each kind is a template, `skeletons/KIND.aspen`: a machine model called NAME, whose includes are put in their places.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["cpu", "gpu", "cluster"]
KINDS: tuple[Kind, ...] = get_args(Kind)

TEMPLATES = Path(__file__).with_name("skeletons")


def skeleton(name: str, kind: Kind = "cpu") -> str:
    """The text of a machine model of that name, which must be an identifier of the language."""
    return _text(f"{kind}.aspen").replace("NAME", name)


def _text(file: str) -> str:
    text = (TEMPLATES / file).read_text(encoding="utf-8")
    return re.sub(r"^include (.*)\n", lambda line: _text(line[1]), text, flags=re.MULTILINE)
