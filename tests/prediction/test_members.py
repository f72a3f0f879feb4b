"""A parameter of an enum takes the members of that enum, not those of another with the same value."""

import pytest

import aspenpy
from aspenpy.language.diagnostics import AspenError

APP = """model app {{
  enum precisions {{single, double}}
  enum formats {{half, quarter}}
  param precision = {first} in precisions
  param format = half in formats
  kernel main {{ execute {{ flops [1e9*(1 + precision)] as dp }} }}
}}"""


def runtime(first="single", **settings):
    return aspenpy.predict(aspenpy.parse(APP.format(first=first)), aspenpy.load_machine("simple"), set=settings).runtime


def test_its_own_members_and_their_numbers():
    assert runtime(precision="double") == runtime(precision=1) == 2 * runtime(precision="single")


@pytest.mark.parametrize("member", ["half", "quarter"])
def test_a_member_of_another_enum_is_refused(member):
    with pytest.raises(AspenError) as refused:
        runtime(precision=member)
    (told,) = refused.value.diagnostics
    assert told.message == f"`{member}` is a member of another enum"
    assert told.hint == "its members are single, double"


def test_a_model_that_begins_with_one_is_refused():
    with pytest.raises(AspenError, match="the value of `precision` is not a member of `precisions`"):
        runtime(first="quarter")
