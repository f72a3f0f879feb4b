"""Commands as functions of the package: their names, the former ones, models as texts, and tables as data frames."""

import subprocess
import sys
from pathlib import Path

import pytest

import aspenpy

APPLICATION = "model m { param n = 6 kernel main { execute { flops [n] } } }"
FAST, SLOW = (
    f"machine {name} {{ socket [1] s }} socket s {{ core [1] k }} core k {{ resource flops(x) [x/{rate}] }}"
    for name, rate in (("fast", 3), ("slow", 2))
)


def models() -> tuple[aspenpy.Application, aspenpy.Machine, aspenpy.Machine]:
    return aspenpy.load_application(APPLICATION), aspenpy.load_machine(FAST), aspenpy.load_machine(SLOW)


@pytest.mark.parametrize(("old", "new"), [("predict_energy", "energy"), ("scaling", "scale")])
def test_a_former_name_warns_and_is_the_new_one(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"`aspenpy\.{old}` is now `aspenpy\.{new}`") as caught:
        assert getattr(aspenpy, old) is getattr(aspenpy, new)
    assert caught[0].filename == __file__
    assert old not in aspenpy.__all__


def test_all_names_are_there_and_the_import_takes_none_of_their_modules() -> None:
    program = (
        "import sys; before = set(sys.modules); import aspenpy; print(*sorted(set(sys.modules) - before)); "
        "[getattr(aspenpy, name) for name in aspenpy.__all__]"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["aspenpy", "aspenpy.tables", "aspenpy.tables.registry", "aspenpy.version"]


def test_times_of_a_comparison() -> None:
    app, fast, slow = models()
    found = aspenpy.compare(app, [fast, slow], set={"n": 12})
    assert (found.times, found.fastest) == ({"fast": 4.0, "slow": 6.0}, "fast")
    assert aspenpy.compare(aspenpy.Case(app), [slow, fast]).times == {"slow": 3.0, "fast": 2.0}


def test_sockets_of_one_machine_are_compared() -> None:
    app, _, _ = models()
    text = "machine both { socket [1] a socket [1] b } " + " ".join(
        f"socket {name} {{ core [1] k{name} }} core k{name} {{ resource flops(x) [x/{rate}] }}"
        for name, rate in (("a", 3), ("b", 2))
    )
    both = aspenpy.load_machine(text)
    assert aspenpy.compare(app, both).times == {"both/a": 2.0, "both/b": 3.0}
    with pytest.raises(aspenpy.AspenError, match="2 machines and 3 sockets"):
        aspenpy.compare(app, [both, both], sockets=["a", "b", "a"])
    with pytest.raises(aspenpy.AspenError, match="a comparison needs two machines"):
        aspenpy.compare(app, [])


def test_a_file_whose_name_has_a_brace_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a{1}").write_text(APPLICATION.replace("model m", "model of_a_file"), encoding="utf-8")
    assert aspenpy.load_application("a{1}").name == "of_a_file"
    assert aspenpy.load_application(APPLICATION).name == "m"


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (aspenpy.load_application, FAST, "`<text>` is a machine model, not an application model"),
        (aspenpy.load_machine, APPLICATION, "`<text>` is an application model, not a machine model"),
        (aspenpy.load_application, "model m {", "<text>:1:"),
        (aspenpy.load_application, "model m", "there is no file and no application in the library"),
    ],
)
def test_a_text_that_is_no_such_model(load, text: str, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(aspenpy.AspenError) as caught:
        load(text)
    assert message in str(caught.value)


def test_check_returns_what_is_wrong() -> None:
    assert aspenpy.check(APPLICATION) == ()
    assert aspenpy.check("haswell") == aspenpy.check("comd") == ()
    assert [item.code for item in aspenpy.check("model m { kernel main { execute { flops [n] } } }")] == [
        "unknown-name"
    ]
    assert [item.code for item in aspenpy.check("nowhere.aspen")] == ["file-not-found"]
    asking = APPLICATION.replace("flops", "loads")
    assert aspenpy.check(asking) == ()
    assert [item.severity for item in aspenpy.check(asking, aspenpy.load_machine(FAST))] == ["error"]


def test_format_changes_white_space_alone(tmp_path: Path) -> None:
    untidy = tmp_path / "untidy.aspen"
    untidy.write_text("model  m {param n=6\nkernel main { execute {flops [ n ]} } }", encoding="utf-8")
    laid_out = "model m {\n  param n = 6\n  kernel main { execute { flops [n] } }\n}\n"
    assert (
        aspenpy.format(untidy)
        == aspenpy.format(untidy.read_text(encoding="utf-8"))
        == aspenpy.format(laid_out)
        == laid_out
    )
    with pytest.raises(aspenpy.AspenError):
        aspenpy.format("model m {")


def test_a_data_frame_has_the_columns_of_the_csv() -> None:
    pytest.importorskip("pandas")
    app, fast, _ = models()
    frame = aspenpy.predict(app, fast).to_dataframe()
    assert frame.loc[frame["metric"] == "runtime", ["value", "unit"]].to_numpy().tolist() == [[2.0, "s"]]
    touched = aspenpy.profile(app, fast).to_dataframe()
    assert touched["inclusive"].dtype == float
    assert set(touched["inclusive_unit"]) == {"s"}


def test_without_a_table_or_pandas_there_is_no_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    app, fast, _ = models()
    for asked in (app.to_csv, app.to_dataframe):
        with pytest.raises(aspenpy.AspenError, match="this result has no table") as caught:
            asked()
        assert caught.value.diagnostics[0].hint == "`to_json` has all of it"
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(aspenpy.AspenError, match=r"needs pandas: pip install 'aspenpy\[data\]'"):
        aspenpy.predict(app, fast).to_dataframe()


def test_latex_of_a_metric() -> None:
    app, fast, _ = models()
    assert aspenpy.predict(app, fast).latex(free=["n"]) == r"\frac{n}{3}"
