"""A release in two steps, which docs/releasing.md describes.

`prepare VERSION` writes the version and the changelog, `build` builds, checks and tags what is committed. Neither sends
anything anywhere."""

import argparse
import hashlib
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path.cwd()
DIST = ROOT / "dist"

VERSION_LINES = {
    "pyproject.toml": r'(?m)^version = "(.*)"$',
    "aspenpy/version.py": r'(?m)^VERSION = "(.*)"$',
    "CITATION.cff": r"(?m)^version: (.*)$",
}
"""Where the version stands, by file."""


def stated_version(name: str) -> str:
    found = re.search(VERSION_LINES[name], (ROOT / name).read_text(encoding="utf-8"))
    assert found is not None, name
    return found[1]


def run(*command: str | Path, given: str = "") -> str:
    return subprocess.run(command, cwd=ROOT, check=True, input=given, stdout=subprocess.PIPE, text=True).stdout


def prepare(version: str) -> None:
    """Writes the version where it stands, and gives what is unreleased in the changelog its heading."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"a version is three numbers, such as 0.2.0, not `{version}`")
    changelog = ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    before, heading, after = text.partition("## [Unreleased]\n")
    if f"## [{version}]" in text or not heading or not after.partition("\n## [")[0].strip():
        sys.exit(f"CHANGELOG.md has nothing under [Unreleased], or {version} already")
    for name, pattern in VERSION_LINES.items():
        file = ROOT / name
        line = re.sub(r"\(\.\*\)", version, pattern.removeprefix("(?m)^").removesuffix("$"))
        file.write_text(re.sub(pattern, line, file.read_text(encoding="utf-8")), encoding="utf-8")
    changelog.write_text(f"{before}{heading}\n## [{version}] - {datetime.now(UTC):%Y-%m-%d}\n{after}", encoding="utf-8")
    print(f"{version} is written into {', '.join(VERSION_LINES)} and CHANGELOG.md: read, commit, then `make release`")


def changes_of(version: str) -> str:
    """The section of the changelog."""
    sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## [")
    (section,) = [text for text in sections if text.startswith(f"{version}]")] or [""]
    return section.partition("\n")[2].strip()


def reasons_against(version: str) -> list[str]:
    """What keeps the checkout from being a release."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    reasons = [
        f"{name} says version {found}, pyproject.toml {version}"
        for name in VERSION_LINES
        if (found := stated_version(name)) != version
    ]
    if not project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]:
        reasons.append(
            "pyproject.toml does not say where the repository is: `repository` of tool.hatch.metadata.hooks.custom"
        )
    if not changes_of(version):
        reasons.append(f"CHANGELOG.md has no section [{version}]: `make prepare-release RELEASE=…` writes one")
    if run("git", "status", "--porcelain"):
        reasons.append("there are changes that are not committed")
    if run("git", "tag", "--list", f"v{version}"):
        reasons.append(f"the tag v{version} exists already")
    return reasons


def write_recipe(version: str, source: Path) -> None:
    """The recipe of conda-forge for this source."""
    text = (ROOT / "integrations" / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8")
    checksum = hashlib.sha256(source.read_bytes()).hexdigest()
    (DIST / "recipe.yaml").write_text(
        text.replace("@version@", version).replace("@sha256@", checksum), encoding="utf-8"
    )


def build(environment: str) -> None:
    """Builds, checks and tags. The bill of materials lists what is installed in an environment."""
    version = stated_version("pyproject.toml")
    if reasons := reasons_against(version):
        sys.exit("\n".join(["no release:", *(f"  {reason}" for reason in reasons)]))
    if DIST.exists() and any(DIST.iterdir()):
        sys.exit("dist/ is not empty: take away what lies there")
    run(sys.executable, "-m", "hatchling", "build")
    source, wheel = DIST / f"aspenpy-{version}.tar.gz", DIST / f"aspenpy-{version}-py3-none-any.whl"
    print(run(sys.executable, "-m", "twine", "check", "--strict", source, wheel), end="")
    materials = DIST / f"aspenpy-{version}.cdx.json"
    options = ["--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", str(materials)]
    run(sys.executable, "-m", "cyclonedx_py", "environment", *options, environment)
    write_recipe(version, source)
    run(
        "git",
        "tag",
        "--annotate",
        "--cleanup=verbatim",
        f"v{version}",
        "--file=-",  # one argument has at most 128 KiB on Linux, and a changelog more
        given=f"aspenpy {version}\n\n{changes_of(version)}",
    )
    print(
        f"v{version} is tagged and dist/ holds {', '.join(sorted(file.name for file in DIST.iterdir()))}; to publish:"
    )
    print(f"  git push origin v{version}\n  {sys.executable} -m twine upload dist/{source.name} dist/{wheel.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("prepare").add_argument("version")
    steps.add_parser("build").add_argument(
        "--environment", default=sys.executable, help="Python whose packages are listed"
    )
    arguments = parser.parse_args()
    if arguments.step == "prepare":
        prepare(arguments.version)
    else:
        build(arguments.environment)
