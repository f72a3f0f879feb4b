"""A count that is set to an expression in other parameters is whole, too."""

import pytest

import aspenpy

MODEL = """model m { param p = 3 param ranks = 4 kernel main { execute [ranks] { flops [1e6] } } }"""


@pytest.mark.parametrize(("text", "refused"), [("p/2", True), ("2*p", False), ("(p + 1)/2", False), ("p + 1/3", True)])
def test_an_expression_is_held_to_whole_numbers(text: str, refused: bool) -> None:
    app, machine = aspenpy.load_application(MODEL), aspenpy.load_machine("haswell")
    if refused:
        with pytest.raises(aspenpy.AspenError, match="`ranks` counts what stands here"):
            aspenpy.predict(app, machine, set={"ranks": text})
    else:
        assert aspenpy.predict(app, machine, set={"ranks": text}).runtime > 0
