"""A NamedTuple of this package is as one of `typing`, which is the oracle here."""

import copy
import pickle
import typing

import pytest

from aspenpy import record


class Mine(record.NamedTuple):
    low: int
    high: float = 2.5
    name: str = "x"


class Theirs(typing.NamedTuple):
    low: int
    high: float = 2.5
    name: str = "x"


def both(*values: typing.Any, **named: typing.Any) -> tuple[Mine, Theirs]:
    return Mine(*values, **named), Theirs(*values, **named)


@pytest.mark.parametrize(
    ("values", "named"), [((1,), {}), ((1, 2), {}), ((1, 2, "y"), {}), ((), {"name": "z", "low": 3})]
)
def test_fields_defaults_and_text(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    mine, theirs = both(*values, **named)
    assert mine == tuple(theirs)
    assert hash(mine) == hash(theirs)
    assert (mine.low, mine.high, mine.name) == (theirs.low, theirs.high, theirs.name)
    assert repr(mine) == repr(theirs).replace("Theirs", "Mine")
    assert mine._asdict() == theirs._asdict()
    assert mine._fields == theirs._fields
    assert mine._replace(high=9) == tuple(theirs._replace(high=9))
    for again in (copy.copy(mine), copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert type(again) is Mine
        assert again == mine


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, "y", 4), {}), ((1,), {"other": 2}), ((1, 2, "y"), {"low": 1})]
)
def test_what_is_refused(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    for kind in (Mine, Theirs):
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_a_field_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Mine(1).low = 2  # type: ignore[misc]


@pytest.mark.parametrize("count", range(30))
def test_each_field_has_its_own_value(count: int) -> None:
    """Of records of any number of fields: by their places, by their names, and by some of both."""
    names = [f"field_{place}" for place in range(count)]
    kind = record.RecordType("Kind", (record.Record,), {"__annotations__": dict.fromkeys(names, int)})
    named = dict(zip(names, range(count), strict=True))
    half = dict(list(named.items())[count // 2 :])
    for made in (kind(*range(count)), kind(**named), kind(*range(count // 2), **half)):
        assert {name: getattr(made, name) for name in names} == named
        assert made == kind(*range(count))
        assert hash(made) == hash(kind(**named))
    with pytest.raises(TypeError):
        kind(*range(count + 1))
    for name in names:
        assert made != made.replace(**{name: -1})
