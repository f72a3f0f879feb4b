"""Each room has a budget of lines, and the package their sum: a capability pays with what it makes superfluous."""

from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "aspenpy"

MOST: dict[str, int] = {
    "advice": 4333,
    "answers": 13021,
    "assembly": 1443,
    "cost": 15561,
    "editor": 2743,
    "engine": 2289,
    "explore": 4661,
    "expr": 6914,
    "extract": 27957,
    "generate": 849,
    "language": 4997,
    "learn": 8447,
    "models": 4429,
    "other": 1125,
    "page": 726,
    "probe": 2091,
    "report": 10389,
    "shell": 7713,
    "sweeps": 2678,
    "tables": 1651,
    "traces": 1584,
}
"""Lines of Python in each room; files beside the rooms are `other`."""


def room_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "other"


def lines_by_room() -> dict[str, int]:
    lines: dict[str, int] = {}
    for file in PACKAGE.rglob("*.py"):
        lines[room_of(file)] = lines.get(room_of(file), 0) + len(file.read_text(encoding="utf-8").splitlines())
    return {room: count for room, count in lines.items() if count}


def complaint(name: str, lines: int, most: int) -> str:
    advice = "delete first, or raise the number in a commit of its own that says why"
    return f"{name} has {lines:,} lines, and its budget is {most:,}: {advice}"


def test_every_room_has_a_budget() -> None:
    assert sorted(lines_by_room()) == sorted(MOST)


@pytest.mark.parametrize("room", MOST)
def test_a_room_keeps_to_its_budget(room: str) -> None:
    lines = lines_by_room().get(room, 0)
    assert lines <= MOST[room], complaint(f"aspenpy/{room}", lines, MOST[room])
