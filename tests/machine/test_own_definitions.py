"""What a model defines itself holds against the files of the library that it includes, before or behind the include."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy

INCLUDE = "include simple.aspen"
OWN = "param simple_clock = 2 GHz"


@pytest.mark.parametrize("lines", [(OWN, INCLUDE), (INCLUDE, OWN)])
def test_a_parameter_of_the_users_file_holds(lines: tuple[str, str], tmp_path: Path) -> None:
    """1e9 flops on one core that does one in a cycle take 0.5 s at 2 GHz, and 1 s at the library's 1 GHz."""
    path = tmp_path / "mine.aspen"
    path.write_text("\n".join(lines), encoding="utf-8")
    machine = aspenpy.load_machine(path)
    app = aspenpy.parse("model m { kernel main { execute { flops [giga] } } }")
    assert aspenpy.predict(app, machine).runtime == 0.5
    (warning,) = machine.warnings
    assert "outside of the library, holds" in warning.message
    assert warning.span is not None
    assert warning.span.resolve().source.name == str(path)


def test_a_component_of_the_users_file_holds(tmp_path: Path) -> None:
    """One core of twice the library's issue."""
    path = tmp_path / "mine.aspen"
    core = "core simple_core { property clock [simple_clock] resource flops(number) [number/(2*simple_clock)] }"
    path.write_text(f"{core}\n{INCLUDE}\n", encoding="utf-8")
    app = aspenpy.parse("model m { kernel main { execute { flops [giga] } } }")
    assert aspenpy.predict(app, aspenpy.load_machine(path)).runtime == 0.5


def test_of_two_definitions_in_a_file_the_later_holds(tmp_path: Path) -> None:
    path = tmp_path / "mine.aspen"
    path.write_text(f"{OWN}\n{INCLUDE}\nparam simple_clock = 4 GHz\n", encoding="utf-8")
    app = aspenpy.parse("model m { kernel main { execute { flops [giga] } } }")
    assert aspenpy.predict(app, aspenpy.load_machine(path)).runtime == 0.25
