"""Learnt numbers as parameters of the Aspen language: a file of them, which applications and machines include."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import Path

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import write_whole
from aspenpy.studies.learnt.model import Constant, LearntModel
from aspenpy.studies.learnt.saved import versions

DIGITS = 9
LINE = 100  # characters of a comment


def to_aspen(model: LearntModel) -> str:
    """The file: a parameter for each number that was learnt, below where it is from. Raises AspenError where the model
    has learnt nothing, or nothing that is a number with a meaning of its own."""
    training = model.require_fitted()
    constants = model.constants()
    if not constants:
        hint = "acee, cos, cos-throttling, power-aware and the regressions of leading-loads learn parameters"
        fail("no-parameters", f"this `{model.kind}` model has learnt no numbers that could be parameters", hint=hint)
    options = [f"{name} {value}" for name, value in model.get_params().items() if isinstance(value, str | bool)]
    head = [
        f"Learnt by aspenpy {versions()['aspenpy']}, `aspenpy empirical {model.kind} fit`: {model.about}.",
        f"From {training.rows} rows, SHA-256 {training.data_hash}.",
        *([f"Options: {', '.join(options)}."] if options else []),
        *([f"Learnt between {', '.join(f'{low:.6g} and {high:.6g} of {name}' for name, low, high in training.ranges)}."]
          if training.ranges else []),
    ]  # fmt: skip
    comments = [f"// {line}" for text in head for line in _wrapped(text)]
    lines = [f"param {name} = {item.value:.{DIGITS}g}  // {item.about}" for name, item in _named(model, constants)]
    return "\n".join([*comments, "", *lines]) + "\n"


def write_parameters(model: LearntModel, path: str | Path) -> None:
    """Writes the file."""
    write_whole(path, to_aspen(model))


def _named(model: LearntModel, constants: Iterable[Constant]) -> Iterator[tuple[str, Constant]]:
    """Constants with names of the language: the kind of the model, then what they are of, each name once."""
    taken: set[str] = set()
    for item in constants:
        plain = re.sub(r"[^a-z0-9]+", "_", " ".join([model.kind, *item.names]).lower()).strip("_")
        numbered = (f"{plain}_{number}" for number in count(2))
        name = next(name for name in chain((plain,), numbered) if name not in taken)
        taken.add(name)
        yield name, item


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, LINE, break_long_words=False)
