"""Files of learnt models: JSON, which holds numbers and names and runs nothing when it is read, and parameters of the
Aspen language, which applications and machines include."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, count
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import Diagnostic, fail, warning
from aspenpy.language.files import write_whole
from aspenpy.language.schema import find_mismatch, require_json
from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.estimators.bandwidth import BandwidthSensitivity
from aspenpy.learn.estimators.cos import Cos, CosThrottling
from aspenpy.learn.estimators.leading_loads import LeadingLoads
from aspenpy.learn.estimators.model import Constant, LearntModel, Training
from aspenpy.learn.estimators.speedup import PowerAwareSpeedup
from aspenpy.version import VERSION

FORMAT = "aspenpy learnt model"
FORMAT_VERSION = 2
LARGEST = 64 * 2**20  # bytes of a file
LIBRARIES = ("numpy", "scipy", "scikit-learn", "statsmodels")


def save_model(model: LearntModel, path: str | Path) -> None:
    """Writes a model that has learnt. Raises AspenError where it has not."""
    training = model.require_fitted()
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": model.kind,
        "target": model.target,
        "options": model.get_params(),
        "training": {field: getattr(training, field) for field in training._fields},
        "versions": installed_versions(),
        "state": model.state,
    }
    try:
        text = json.dumps(content | {"checksum": checksum(content)}, indent=1, allow_nan=False) + "\n"
    except ValueError:
        fail("not-finite", f"cannot write `{path}`: the model has learnt a number that is not finite")
    write_whole(path, text)


SHAPE = {
    **dict.fromkeys(("format", "kind", "target", "checksum"), str),
    "format_version": int,
    "options": {str: object},
    "versions": {str: str},
    "state": {str: object},
    "training": {"rows": int, "data_hash": str, "ranges": [(str, float, float)]},
}
HINT = "`aspenpy empirical ... fit -o FILE` writes one"


def load_model(path: str | Path, kinds: Mapping[str, type[LearntModel]]) -> LearntModel:
    """A model of one of some kinds. Raises AspenError for a file that is none, was written by another version of this
    format, was changed since, or holds what no such model can have learnt: the checksum finds accidents alone, since
    whoever changes a file on purpose writes another."""
    content = require_json(path, "a saved model", LARGEST, HINT)
    if content.get("format") != FORMAT:
        fail("no-model", f"`{path}` is not a saved model", hint=HINT)
    if (written := content.get("format_version")) != FORMAT_VERSION:
        message = f"`{path}` is in version {json.dumps(written)[:20]} of the format, and this aspenpy reads"
        fail("model-version", f"{message} {FORMAT_VERSION}", hint=f"{describe_writer(content)}; fit the model again")
    _require_sound(path, find_mismatch(content, SHAPE))
    if content.pop("checksum") != checksum(content):
        hint = "fit the model again rather than edit its file"
        fail("model-changed", f"`{path}` was changed after it was written: its checksum does not fit", hint=hint)
    kind = kinds.get(content["kind"])
    if kind is None:
        choices = ", ".join(kinds)
        fail("model-kind", f"`{path}` holds a model `{content['kind']}`, and expected was {choices}")
    _require_sound(path, find_mismatch(content["options"], _option_shape(kind), "options"))
    model = kind(**content["options"])
    _require_sound(path, find_mismatch(content["state"], model.state_shape(), "state"))
    held = content["training"]
    model.training = Training(held["rows"], held["data_hash"], tuple(tuple(item) for item in held["ranges"]))
    model.state, model.notes = content["state"], warn_other_version(path, content["versions"])
    _require_sound(path, model.state_problem())
    return model


def _require_sound(path: str | Path, problem: str | None) -> None:
    if problem is not None:
        fail("no-model", f"`{path}` is not a saved model: {problem}", hint="fit the model again")


def _option_shape(kind: type[LearntModel]) -> dict[str, Any]:
    """The shape of a model's options: each has the type of its default."""
    return {name: [str] if isinstance(value, tuple) else type(value) for name, value in kind.defaults.items()}


def describe_writer(content: Mapping[str, Any]) -> str:
    versions = content.get("versions")
    return f"it was written by aspenpy {versions.get('aspenpy', '?') if isinstance(versions, dict) else '?'}"


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content in one spelling."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def installed_versions() -> dict[str, str]:
    """Versions of aspenpy, Python and the libraries that models learn with."""
    versions = {"aspenpy": VERSION, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def warn_other_version(path: str | Path, written: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    if written.get("aspenpy") == VERSION:
        return ()
    message = f"`{path}` was written by aspenpy {written.get('aspenpy')}, this is {VERSION}"
    return (warning("model-version", message),)


KINDS: Mapping[str, type[LearntModel]] = {
    kind.kind: kind for kind in (Acee, Cos, CosThrottling, LeadingLoads, PowerAwareSpeedup, BandwidthSensitivity)
}


def load_learnt(path: str | Path) -> LearntModel:
    """A saved model. Raises AspenError for a file that is none, of another version, or changed since it was written."""
    return load_model(path, KINDS)


# -- parameters of the Aspen language ----------------------------------------------------------------

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
        f"Learnt by aspenpy {installed_versions()['aspenpy']}, `aspenpy empirical {model.kind} fit`: {model.about}.",
        f"From {training.rows} rows, SHA-256 {training.data_hash}.",
        *([f"Options: {', '.join(options)}."] if options else []),
        *([f"Learnt between {', '.join(f'{low:.6g} and {high:.6g} of {name}' for name, low, high in training.ranges)}."]
          if training.ranges else []),
    ]  # fmt: skip
    comments = [f"// {line}" for text in head for line in wrap_comment(text)]
    lines = [
        f"param {name} = {item.value:.{DIGITS}g}  // {item.about}" for name, item in name_parameters(model, constants)
    ]
    return "\n".join([*comments, "", *lines]) + "\n"


def write_parameters(model: LearntModel, path: str | Path) -> None:
    """Writes the text of `to_aspen` to a file."""
    write_whole(path, to_aspen(model))


def name_parameters(model: LearntModel, constants: Iterable[Constant]) -> Iterator[tuple[str, Constant]]:
    """Constants under unique identifiers: the kind of the model, then the names of the constant."""
    taken: set[str] = set()
    for item in constants:
        plain = re.sub(r"[^a-z0-9]+", "_", " ".join([model.kind, *item.names]).lower()).strip("_")
        numbered = (f"{plain}_{number}" for number in count(2))
        name = next(name for name in chain((plain,), numbered) if name not in taken)
        taken.add(name)
        yield name, item


def wrap_comment(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, LINE, break_long_words=False)
