"""The long description and the links of the package, which follow from where its repository is.

`[tool.hatch.metadata.hooks.custom]` of pyproject.toml names the repository in one line. PyPI shows the README beside
none of the files that it links, so its links become absolute, to the tag of the version. Without a repository they
become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#|mailto:)(?P<target>[^)\s]+)\)")
"""A link of Markdown to a file beside the README."""


def absolute_links(readme: str, repository: str, version: str) -> str:
    """The README with absolute links and pictures. Without a repository, links are text and pictures left out."""

    def replace(link: re.Match[str]) -> str:
        if not repository:
            return "" if link["picture"] else link["text"]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository}/{kind}/v{version}/{link['target']})"

    return LINK.sub(replace, readme)


def project_urls(repository: str, version: str) -> dict[str, str]:
    """The links that stand beside the description, by their names."""
    if not repository:
        return {}
    return {
        "Repository": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


class DescriptionHook(MetadataHookInterface):
    """Fills in the dynamic fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = str(self.config["repository"]).rstrip("/")
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = absolute_links(readme, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = project_urls(repository, metadata["version"])
