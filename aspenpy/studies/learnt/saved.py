"""Saved models: a learnt model as a JSON file, which holds numbers and names and runs nothing when it is read."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import Diagnostic, fail, warning
from aspenpy.language.files import write_whole
from aspenpy.studies.learnt.model import LearntModel, Training
from aspenpy.version import VERSION

FORMAT = "aspenpy learnt model"
FORMAT_VERSION = 1
LARGEST = 256 * 2**20  # bytes of a file
LIBRARIES = ("numpy", "scipy", "scikit-learn", "statsmodels")


def save(model: LearntModel, path: str | Path) -> None:
    """Writes a model that has learnt. Raises AspenError where it has not."""
    training = model.require_fitted()
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": model.kind,
        "target": model.target,
        "options": model.get_params(),
        "training": {field: getattr(training, field) for field in training._fields},
        "versions": versions(),
        "state": model.state,
    }
    write_whole(path, json.dumps(content | {"checksum": checksum(content)}, indent=1, allow_nan=False) + "\n")


def load(path: str | Path, kinds: Mapping[str, type[LearntModel]]) -> LearntModel:
    """A model of one of some kinds. Raises AspenError for a file that is none, was written by another version of this
    format, or was changed since."""
    content = _content(Path(path))
    if content.get("format_version") != FORMAT_VERSION:
        written, own = content.get("format_version"), FORMAT_VERSION
        hint = f"it was written by aspenpy {content.get('versions', {}).get('aspenpy', '?')}; fit the model again"
        fail(
            "model-version", f"`{path}` is in version {written} of the format, and this aspenpy reads {own}", hint=hint
        )
    if content.pop("checksum", None) != checksum(content):
        hint = "fit the model again rather than edit its file"
        fail("model-changed", f"`{path}` was changed after it was written: its checksum does not fit", hint=hint)
    kind = kinds.get(content["kind"])
    if kind is None:
        known = ", ".join(kinds)
        fail("model-kind", f"`{path}` holds a model `{content['kind']}`, and expected was {known}")
    model = kind(**content["options"])
    held = content["training"]
    model.training = Training(held["rows"], held["data_hash"], tuple(tuple(item) for item in held["ranges"]))
    model.state, model.notes = content["state"], _other_versions(path, content["versions"])
    return model


def _content(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            fail("no-model", f"`{path}` is larger than any saved model")
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        fail("no-file", f"file not found: `{path}`")
    except (OSError, ValueError, RecursionError):
        fail("no-model", f"`{path}` is not a saved model", hint="`aspenpy empirical ... fit -o FILE` writes one")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        fail("no-model", f"`{path}` is not a saved model", hint="`aspenpy empirical ... fit -o FILE` writes one")
    return content


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content in one spelling."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Of aspenpy, Python and the libraries that models learn with."""
    found = {"aspenpy": VERSION, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _other_versions(path: str | Path, written: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    if written.get("aspenpy") == VERSION:
        return ()
    message = f"`{path}` was written by aspenpy {written.get('aspenpy')}, this is {VERSION}"
    return (warning("model-version", message),)
