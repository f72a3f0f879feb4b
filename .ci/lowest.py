"""Writes the lowest versions that pyproject.toml declares, a constraint per line, for `pip install --constraint`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
declared = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
lowest: dict[str, str] = {}
for requirement in declared:
    if found := re.match(r"([\w.-]+)>=([\w.]+)", requirement):
        name, version = found.groups()
        lowest[name] = max(lowest.get(name, version), version, key=lambda text: [int(part) for part in text.split(".")])
print("\n".join(f"{name}=={version}" for name, version in sorted(lowest.items())))
