"""Which names a hint suggests."""

import pytest

from aspenpy.language.diagnostics import suggest_nearest

KNOWN = ["haswell", "cori_haswell", "tesla_k20x", "mi250x", "nx", "ny", "nAtoms"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("k20x", "did you mean `tesla_k20x`?"),  # within the name, though mi250x has more letters in common
        ("haswel", "did you mean `haswell` or `cori_haswell`?"),
        ("natom", "did you mean `nAtoms`?"),
        ("NX", "did you mean `nx`?"),
        ("xyzzy", None),
    ],
)
def test_what_comes_close(name: str, hint: str | None) -> None:
    assert suggest_nearest(name, KNOWN) == hint
