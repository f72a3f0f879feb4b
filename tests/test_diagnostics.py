"""What hints say of names that there are none of."""

import pytest

from aspenpy.language.diagnostics import suggest_instead

LETTERS = [f"kernel_{letter}" for letter in "abcdefghijklm"]


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("nx", [], "there are no parameters"),
        ("nx", ["atoms"], "the parameters are atoms"),
        ("atom", ["mass", "atoms"], "did you mean `atoms`?"),
        ("lennard", ["lennard_jones_force", "main"], "did you mean `lennard_jones_force`?"),
        ("clock", ["box_cores", "box_core.Clock", "gpu.clock"], "did you mean `gpu.clock` or `box_core.Clock`?"),
        ("nx", ["halo_nx_of_all"], "the parameters are halo_nx_of_all"),  # two letters are in many names
        ("rho", ["mass", "main"], "the parameters are mass, main"),
        ("zzz", [*LETTERS, "main"], "the parameters are main, " + ", ".join(LETTERS[:11]) + ", and 2 more"),
        ("mod", [*LETTERS, "some"], "the parameters are some, kernel_d, kernel_m, "),
    ],
)
def test_instead_of(name: str, known: list[str], said: str) -> None:
    assert suggest_instead(name, known, "parameters").startswith(said)
