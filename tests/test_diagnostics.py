"""What hints say of names that there are none of."""

import pytest

from aspenpy.diagnostics import instead_of

LETTERS = [f"kernel_{letter}" for letter in "abcdefghijklm"]


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("nx", [], "there are no parameters"),
        ("nx", ["atoms"], "the parameters are atoms"),
        ("atom", ["mass", "atoms"], "did you mean `atoms`?"),
        ("rho", ["mass", "main"], "the parameters are mass, main"),
        ("zzz", [*LETTERS, "main"], "the parameters are main, " + ", ".join(LETTERS[:11]) + ", and 2 more"),
        ("mod", [*LETTERS, "some"], "the parameters are some, kernel_d, kernel_m, "),
    ],
)
def test_instead_of(name: str, known: list[str], said: str) -> None:
    assert instead_of(name, known, "parameters").startswith(said)
