"""What a user may set: numbers and expressions, names of either model, and what is refused."""

from fractions import Fraction
from typing import Any

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.shell.failure import FAILURE
from aspenpy.shell.main import main
from tests.tiny import codes, predict

MACHINE = """
param n = 4
param clock = 2
enum gears { slow, quick }
param gear = slow in gears
machine m { node [n] box }
node box { socket [1] cpu }
socket cpu { property width [clock*(1 + gear)] resource flops(x) [x / width] }
"""
DECLARATIONS = """
enum modes { coarse, fine }
enum levels { lower, upper }
param n = 8
param k = n + 1
param mode = coarse in modes
param sizes[] = {1, 2, 3}
param table[][] = {{1, 2}, {3, 4}}
"""
# amount: k + 100 mode + 1000 sizes[1] + 10000 table[1][0], on a machine of width 2
BODY = "execute { flops [k + 100*mode + 1000*sizes[1] + 10000*table[1][0]] }"


def amount(**settings: Any) -> float:
    return predict(BODY, DECLARATIONS, machine_text=MACHINE, set=named(settings)).resources["flops"].amount


def named(settings: dict[str, Any]) -> dict[str, Any]:
    """`app_n` stands for `app:n`, which is no name in Python."""
    return {name.replace("_", ":", 1): value for name, value in settings.items()}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 9 + 0 + 2000 + 30000),
        ({"k": 5}, 5 + 32000),
        ({"k": 5.5}, 5.5 + 32000),
        ({"k": Fraction(1, 2)}, 0.5 + 32000),
        ({"k": "2*n^2"}, 128 + 32000),
        ({"k": "2*app:n"}, None),
        ({"k": "1e3"}, 1000 + 32000),
        ({"k": "2 KiB"}, 2048 + 32000),
        ({"k": "clock"}, 2 + 32000),  # the machine's
        ({"k": "mode", "mode": "fine"}, 1 + 100 + 32000),
        ({"app_n": 1}, 2 + 32000),  # dependants follow
        ({"app_n": "sizes[2]"}, 4 + 32000),
        ({"mode": "fine"}, 9 + 100 + 32000),
        ({"mode": 1}, 9 + 100 + 32000),
        ({"sizes": "{7, 8}"}, 9 + 8000 + 30000),
        ({"sizes": "{n, 2*n}"}, 9 + 16000 + 30000),
        ({"table": "{{5, 6}, {7, 8}}"}, 9 + 2000 + 70000),
    ],
)
def test_settings_bind_before_anything_is_resolved(settings: dict[str, Any], expected: float | None) -> None:
    if expected is None:
        with pytest.raises(AspenError):
            amount(**settings)
    else:
        assert amount(**settings) == expected


def test_numbers_of_other_libraries_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert amount(k=numpy.int64(5)) == 5 + 32000
    assert amount(k=numpy.float64(5.5)) == 5.5 + 32000


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({}, 32009 / 2),
        ({"clock": 4}, 32009 / 4),
        ({"machine:clock": "2*clock"}, "circular-definition"),
        ({"gear": "quick"}, 32009 / 4),
        ({"gear": 1}, 32009 / 4),
        ({"cpu.width": 1}, 32009),
        ({"cpu.width": "n"}, 32009 / 8),  # the application's n comes first
        ({"n": 1}, "ambiguous-parameter"),
        ({"app:n": 0}, 32001 / 2),
        ({"machine:n": 1}, 32009 / 2),
        ({"app:clock": 1}, "unknown-parameter"),
        ({"machine:k": 1}, "unknown-parameter"),
        ({"kk": 1}, "unknown-parameter"),
        ({"cpu.depth": 1}, "unknown-parameter"),
        ({"k": "kk"}, "unknown-name"),
        ({"k": "n +"}, "syntax"),
        ({"k": "squrt(2)"}, "unknown-function"),
        ({"k": "1/0"}, "no-value"),
        ({"k": float("nan")}, "bad-value"),
        ({"k": float("inf")}, "bad-value"),
        ({"k": True}, "bad-value"),
        ({"k": None}, "bad-value"),
        ({"mode": 2}, "not-a-member"),
        ({"mode": "1/2"}, "not-a-member"),
        ({"k": "{1, 2}"}, "not-a-number"),
        ({"sizes": 5}, "no-value"),
        ({"sizes": "{1}"}, "no-value"),
    ],
)
def test_settings_of_either_model(settings: dict[str, Any], seconds: float | str) -> None:
    if isinstance(seconds, str):
        with pytest.raises(AspenError) as refusal:
            predict(BODY, DECLARATIONS, machine_text=MACHINE, set=settings)
        assert codes(refusal.value) == [seconds]
    else:
        prediction = predict(BODY, DECLARATIONS, machine_text=MACHINE, set=settings)
        assert prediction.runtime == pytest.approx(seconds, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "word", "hint"),
    [
        ("mode", "odd", "the members are coarse, fine"),
        ("mode", "finer", "did you mean `fine`?"),
        ("gear", "third", "the members are slow, quick"),
        ("gear", "quik", "did you mean `quick`?"),
        ("k", "mods", "did you mean `mode`?"),
    ],
)
def test_a_member_of_an_enum_is_meant(name: str, word: str, hint: str) -> None:
    """Where a parameter is one of an enum, of either model, a hint names its members; elsewhere the parameters."""
    with pytest.raises(AspenError) as refusal:
        predict(BODY, DECLARATIONS, machine_text=MACHINE, set={name: word})
    (diagnostic,) = refusal.value.diagnostics
    assert (diagnostic.code, diagnostic.hint) == ("unknown-name", hint)


def test_a_name_that_nobody_defines_may_be_set() -> None:
    body = "execute [ranks] { flops [2*ranks + scale] }"
    with pytest.raises(AspenError) as refusal:
        predict(body)
    assert codes(refusal.value) == ["unknown-name"]
    assert predict(body, set={"ranks": 3, "scale": "10*ranks"}).runtime == 3 * 36
    assert predict(body, set={"scale": "10*ranks", "ranks": 3}).runtime == 3 * 36  # whatever the order
    with pytest.raises(AspenError) as refusal:
        predict(body, set={"ranks": 3, "scale": 1, "rank": 3})
    assert "did you mean `ranks`?" in str(refusal.value)


def test_a_model_is_not_changed_by_what_is_set() -> None:
    assert amount(k=5) == 32005
    assert amount() == 32009


def test_the_parameters_of_a_prediction_are_those_it_depends_on() -> None:
    prediction = predict(BODY, DECLARATIONS + "param idle = 3", machine_text=MACHINE, set={"app:n": 1})
    used = {name: (use.value, use.overridden, use.machine) for name, use in prediction.parameters.items()}
    assert used == {
        "n": (1, True, False),
        "k": (2, False, False),
        "mode": (0, False, False),
        "sizes": ((1, 2, 3), False, False),
        "table": (((1, 2), (3, 4)), False, False),
        "clock": (2, False, True),
        "gear": (0, False, True),
        "cpu.width": (2, False, True),
        "machine:n": (4, False, True),
    }


def test_a_value_outside_its_range_is_a_warning() -> None:
    declarations = "param n = 5 in 1 .. 10 param idle = 50 in 1 .. 10"
    assert predict("execute { flops [n] }", declarations).diagnostics == ()
    warnings = predict("execute { flops [n] }", declarations, set={"n": 11}).diagnostics
    assert [(item.severity, item.code) for item in warnings] == [("warning", "outside-range")]
    assert predict("execute { flops [n] }", declarations, set={"n": 10}).diagnostics == ()


@pytest.mark.parametrize(("value", "warned"), [(0.8, 0), (0.1, 0), (0.8000000000000003, 1), (0.09999999999, 1)])
def test_floats_are_compared_with_the_ends_as_floats(value: float, warned: int) -> None:
    warnings = predict("execute { flops [n] }", "param n = 1/2 in 0.1 .. 0.8", set={"n": value}).diagnostics
    assert len(warnings) == warned


def test_so_is_one_of_the_machine() -> None:
    application = aspenpy.parse("model m { kernel main { execute { flops [1] } } }")
    machine = aspenpy.parse(
        "param clock = 1 GHz in 1 GHz .. 4 GHz param idle = 9 in 1 .. 4 "
        "machine M { core c } core c { resource flops(k) [k/(clock*1 flop)] }"
    )
    assert aspenpy.predict(application, machine, set={"clock": "4 GHz"}).diagnostics == ()
    (warning,) = aspenpy.predict(application, machine, set={"clock": 3}).diagnostics
    assert (warning.code, warning.message) == ("outside-range", "`clock` is 3 Hz, outside its range 1 GHz .. 4 GHz")


@pytest.mark.parametrize(
    ("declared", "value", "said"),
    [
        ("n = 5 in 1e3 .. 64e6", "70", "`n` is 70, outside its range 1e3 .. 64e6"),
        ("n = 5 in 2*5 .. 2*k", "7", "`n` is 7, outside its range 10 .. 84"),
        ("n = 5 in 0.1 ms .. 2 s", "3 min", "`n` is 3 min, outside its range 0.1 ms .. 2 s"),
        ("n = 5 in 1 GB .. k*1 GB", "64 GiB", "`n` is 68.7195 GB, outside its range 1 GB .. 42 GB"),
        ("n = 5 in 1 GB .. 4 GB", "4000000001", "`n` is 4000000001 B, outside its range 1 GB .. 4 GB"),
        ("n = 5 in 4 GB .. 1 GB", "2 GB", "the range of `n` is empty: 4 GB is above 1 GB"),
    ],
)
def test_the_ends_of_a_range_are_told_as_they_are_written(declared: str, value: str, said: str) -> None:
    prediction = predict("execute { flops [n*k] }", f"param k = 42 param {declared}", set={"n": value})
    assert [item.message for item in prediction.diagnostics] == [said]


def test_a_parameter_set_to_itself_is_a_circle_whatever_its_range() -> None:
    with pytest.raises(aspenpy.AspenError, match="circular definition: n -> n"):
        predict("execute { flops [n] }", "param n = 5 in 1 .. 10", set={"n": "2*n"})


@pytest.mark.parametrize(
    ("declarations", "settings"),
    [
        ("param n = 4 KiB", {"n": "64 MB"}),
        ("param n = 4 KiB", {"n": "64"}),  # a bare number may be anything
        ("param n = 4 KiB", {"n": "2*k", "k": "1 MB"}),
        ("param n = 4", {"n": "64 MB"}),
        ("param n = 4 param f = 1 GHz", {"f": "1/(2 ns)"}),
    ],
)
def test_settings_in_units_that_fit(declarations: str, settings: dict[str, str]) -> None:
    predict("execute { loads [n] }", f"param k = 42 {declarations}", set=settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"clock": "4 GB"}, "`clock` is in hertz, and here it is set to bytes"),
        ({"c.width": "4 flop"}, "`c.width` is in bytes, and here it is set to flop"),
        ({"c.width": "2*k", "app:k": "3 s"}, "a parallelism must be a plain number, but this is seconds"),
    ],
)
def test_settings_in_units_that_do_not(settings: dict[str, str], message: str) -> None:
    application = aspenpy.parse("model m { param k = 2 param b = 1 B kernel main { execute [k] { flops [1] } } }")
    machine = aspenpy.parse(
        "param clock = 1 GHz machine M { core c } "
        "core c { property width [8 B] resource flops(j) [j/(clock*1 flop)*width/width] }"
    )
    with pytest.raises(AspenError) as error:
        aspenpy.predict(application, machine, set=settings)
    assert [item.message for item in error.value.diagnostics] == [message]


def test_a_hint_names_what_the_machine_uses() -> None:
    """The rule of powers has parameters for accelerators, too, which no processor depends on."""
    app, machine = aspenpy.load_application("stream"), aspenpy.load_machine("xeon_platinum_8360y")
    names = machine.known_names()
    assert "uncore_ratio" in names
    assert "gpu_hbm_energy" not in names
    assert machine.declaration("gpu_hbm_energy") is not None
    with pytest.raises(aspenpy.AspenError) as refusal:
        aspenpy.predict(app, machine, set={"gpu_hbm_enrgy": 1})
    assert "gpu_hbm_energy" not in str(refusal.value)


MESH = """
model mesh {
  param n = 100
  param order = 2
  param word = 8
  param ranks = 4
  param points = 3*n^order/ranks
  param share = 0.5
  param bytes = 800
  kernel main {
    execute [ranks] of [points] { flops [points] loads [points] of size [word] }
    iterate [n*share] { execute [bytes/word] { loads [bytes] stores [8*n] } }
  }
}
"""

REFUSED_UNITS = [
    ("n", "10 GB", "`n` is a count; 10 GB is an amount of bytes"),
    ("n", "2*10 s", "`n` is a count; 2*10 s is an amount of seconds"),
    ("order", "2 B", "`order` is a count; 2 B is an amount of bytes"),
    ("share", "4 W", "`share` is a plain number; 4 W is an amount of watts"),
    ("ranks", "4 B", "`ranks` is a count; 4 B is an amount of bytes"),
]
"""By hand: `n` is squared, which bytes are not where points are counted; a share of `n` is a number of passes."""


@pytest.mark.parametrize(("name", "value", "message"), REFUSED_UNITS)
def test_a_plain_number_takes_no_unit(name: str, value: str, message: str) -> None:
    application = aspenpy.parse(MESH)
    with pytest.raises(aspenpy.AspenError) as caught:
        aspenpy.predict(application, aspenpy.load_machine("simple"), set={name: value})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    if name == "n":
        assert [related.span.position()[0] for related in diagnostic.related if related.span] == [3, 11]


@pytest.mark.parametrize("setting", ["bytes=1 MB", "word=4 B", "n=800 B/8", "n=1.6 kB/word", "n=2e2", "ranks=8 B/4 B"])
def test_what_may_be_in_a_unit_takes_it(setting: str) -> None:
    """Bytes over a bare number may be a count: so many to each."""
    name, _, value = setting.partition("=")
    application, machine = aspenpy.parse(MESH), aspenpy.load_machine("simple")
    number = {"1 MB": 10**6, "4 B": 4, "800 B/8": 100, "1.6 kB/word": 200, "2e2": 200, "8 B/4 B": 2}[value]
    plain = aspenpy.predict(application, machine, set={name: number}).runtime
    assert aspenpy.predict(application, machine, set={name: value}).runtime == plain


LINES = [
    "eval comd --machine haswell --set nx=10GB",
    "sweep jacobi --machine haswell --over n=10GB,20GB",
    "sensitivity jacobi --machine haswell --vary n=1MB..2MB",
    "optimise jacobi --machine haswell --minimise runtime --vary n=1MB..2MB",
    "compare jacobi --machine haswell,simple --over n=1MB..2MB",
    "energy jacobi --machine haswell --least n=1MB..2MB",
    "scale jacobi --machine haswell --ranks 1,2 --set n=1MB",
    "count jacobi --set n=1MB",
    "explain jacobi --machine haswell --set n=1MB",
    "roofline jacobi --machine haswell --set n=1MB",
]


@pytest.mark.parametrize("line", LINES)
def test_every_command_refuses_bytes_for_a_count(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == FAILURE
    assert "is a count; " in capsys.readouterr().err


COUNTED = """param k = 2 param c = 3
machine counted {{ node [1] box }}
node box {{ socket [1] cpu }}
socket cpu {{ property foo [k] core [{cores}] unit }}
core unit {{ property rate [1e9] resource flops(n) [n/rate] }}"""


@pytest.mark.parametrize(
    ("cores", "name", "message"),
    [
        ("k*c", "k", "`k` is a count; 4 GB is an amount of bytes"),
        ("k*c", "c", "`c` is a count; 4 GB is an amount of bytes"),
        ("2*k", "k", "`k` is a count; 4 GB is an amount of bytes"),
        ("k", "k", "a quantity must be a plain number, but this is bytes"),
        ("foo", "cpu.foo", "a quantity must be a plain number, but this is bytes"),
        ("2*foo", "cpu.foo", "`cpu.foo` is a plain number; 4 GB is an amount of bytes"),
        ("k*c", "cpu.foo", None),  # which counts nothing
        ("k", "c", None),
    ],
)
def test_numbers_of_parts_take_no_unit(cores: str, name: str, message: str | None) -> None:
    machine = aspenpy.parse(COUNTED.format(cores=cores))
    work = aspenpy.parse("model work { kernel main { execute { flops [1] } } }")
    if message is None:
        aspenpy.predict(work, machine, set={name: "4 GB"})
        return
    with pytest.raises(aspenpy.AspenError) as caught:
        aspenpy.predict(work, machine, set={name: "4 GB"})
    assert caught.value.diagnostics[0].message == message
