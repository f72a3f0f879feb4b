"""The JSON Schemas of all results, one file each in docs/schemas: `python docs/schemas_page.py` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aspenpy.report.schemas import RESULTS, result_schema

FOLDER = Path(__file__).parent / "schemas"


def files() -> dict[str, str]:
    """The text of each file by its name, such as `prediction-1.json`."""
    return {f"{name.replace('/', '-')}.json": write_lines(result_schema(name)) + "\n" for name in sorted(RESULTS)}


def write_lines(schema: dict[str, Any]) -> str:
    """The schema with a line for each key of the result, and for each definition."""
    lines = (
        f"{json.dumps(key)}: {write_lines(part) if key in ('properties', '$defs') else json.dumps(part)}"
        for key, part in schema.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
