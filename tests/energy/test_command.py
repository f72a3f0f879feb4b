"""`aspenpy energy`: its page, object, rows and picture, limits, devices; and what other commands say of energy."""

import csv
import io
import json
from pathlib import Path

import pytest

from aspenpy import energy
from aspenpy.answers.energy.account import below_cap, within_budget
from tests.cli.conftest import Runner, models, run
from tests.tiny import both

__all__ = ["models", "run"]

MACHINE = """\
machine box {
  node rack
}

node rack {
  socket [2] fast
  socket slow
}

socket fast {
  core [4] fast_core
  memory ram
  static power [10 W]
  dynamic power [40 W]
}

socket slow {
  core [4] slow_core
  memory ram
  link wire
  static power [2 W]
  dynamic power [4 W]
}

core fast_core {
  resource flops(number) [number/(2 Gflop/s)]
}

core slow_core {
  resource flops(number) [number/(1 Gflop/s)]
}

memory ram {
  resource loads(volume) [volume/(1 GB/s)]
  static power [1 W]
  dynamic power [3 W]
}

link wire {
  resource intracomm(volume) [volume/(0.5 GB/s)]
}
"""

WORK = """\
model work {
  data x as Array(1000, 1000000)

  kernel crunch {
    execute [4] {
      flops [2e9]
      loads [0.25e9] from x
    }
  }

  kernel main {
    iterate [3] {
      call crunch
    }
  }
}
"""


@pytest.fixture
def box(models: Path) -> tuple[str, ...]:
    (models / "box.aspen").write_text(MACHINE, encoding="utf-8")
    (models / "work.aspen").write_text(WORK, encoding="utf-8")
    return ("energy", "work.aspen", "--machine", "box.aspen")


ALONE = ("--socket", "fast")


def test_page(run: Runner, box: tuple[str, ...], request: pytest.FixtureRequest) -> None:
    """Three calls of one second, at 10 + 40 W and 1 + 3 W * 0.5 s on each of two memories."""
    picture = Path(__file__).parent / "page.txt"
    found = run(*box, *ALONE, "--budget", "energy=100J", "--power-cap", "60 W")
    assert (found.status, found.err) == (0, "")
    if request.config.getoption("--update-pictures"):
        picture.write_text(found.out, encoding="utf-8")
    assert found.out == picture.read_text(encoding="utf-8")


def test_json(run: Runner, box: tuple[str, ...]) -> None:
    found = json.loads(run(*box, *ALONE, "--format", "json").out)
    assert found["application"]["energy"] == {"value": pytest.approx(157.5), "unit": "J"}
    assert found["application"]["edp"] == {"value": pytest.approx(472.5), "unit": "J*s"}
    main, crunch = found["kernels"]
    assert (main["name"], main["calls"], crunch["name"], crunch["calls"]) == ("main", 1, "crunch", 3)
    assert crunch["energy"] == {"value": pytest.approx(52.5), "unit": "J"}
    assert sum(part["value"] for part in crunch["components"].values()) == pytest.approx(157.5)
    assert {term["equation"] for term in found["terms"]} == {"3.4", "3.5"}
    active = next(term for term in found["terms"] if (term["component"], term["for"]) == ("fast", "active"))
    assert (active["rate"], active["amount"]) == ({"value": 40, "unit": "W"}, {"value": 3, "unit": "s"})
    assert (Path(active["file"]).name, active["line"]) == ("box.aspen", 14)
    assert active["formula"] == "120"
    peak = found["hardware"][0]
    assert peak["per_joule"] == {"value": pytest.approx(8e9 / 50), "unit": "flop/J"}


CONTRAST = """
model contrast {
  kernel cold { execute { loads [1e9] } }
  kernel hot { execute { flops [8e9] } }
  kernel main { call FIRST call SECOND }
}
"""


@pytest.mark.parametrize(("first", "second"), [("hot", "cold"), ("cold", "hot")])
def test_a_power_cap_is_for_the_kernel_that_draws_most(first: str, second: str) -> None:
    """On `fast`, flops draw 10 + 40 W and 1 W of the idle memories each; loads 10 + 3 W and what is idle of the other:
    whichever runs first, the cap is compared with the power of `hot`, and no cap below it holds."""
    app, found = both(CONTRAST.replace("FIRST", first).replace("SECOND", second), MACHINE)
    whole = energy(app, found, socket="fast")
    watts = {kernel.name: kernel.power for kernel in whole.kernels if kernel.power is not None}
    assert watts["cold"] < watts["hot"]
    for cap, holds in ((watts["hot"], True), (watts["hot"] * (1 - 1e-9), False), (watts["cold"] + 1, False)):
        verdict = below_cap(whole, cap)
        assert (verdict.of, verdict.drawn, verdict.holds) == ("hot", watts["hot"], holds)
        assert verdict.left == cap - watts["hot"]
    joules = whole.value
    assert [within_budget(whole, joules * part).holds for part in (0.999, 1, 1.001)] == [False, True, True]


def test_csv(run: Runner, box: tuple[str, ...]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*box, *ALONE, "--format", "csv").out)))
    whole = {row["metric"]: float(row["value"]) for row in rows if not row["kernel"]}
    times = {"runtime": 3, "capped_runtime": 3}
    assert whole == pytest.approx({"energy": 157.5, **times, "power": 52.5, "edp": 472.5, "ed2p": 1417.5})
    parts = [float(row["value"]) for row in rows if row["component"]]
    assert sum(parts) == pytest.approx(157.5)


def test_listing_as_the_paper_asks_for_it(run: Runner) -> None:
    options = ("--socket", "intel_xeon_e5_2637_as_modelled", "--set", "n=8192", "--set", "nTimes=5", "--format", "json")
    found = json.loads(run("energy", "matmul_listing32", "--machine", "vt_e5_2637_as_modelled", *options).out)
    assert f"{found['application']['energy']['value']:.6g}" == "25623.3"
    matmul = next(kernel for kernel in found["kernels"] if kernel["name"] == "matmul")
    assert (matmul["calls"], f"{matmul['energy']['value']:.6g}") == (5, "5124.65")


@pytest.mark.parametrize(("transfer", "best"), [((), "slow"), (("--transfer",), "slow")])
def test_devices(run: Runner, box: tuple[str, ...], transfer: tuple[str, ...], best: str) -> None:
    """`slow` takes 3 * 2 s at 2 + 1 + 4 W and 3 W while it loads; its data need 1e9 B / 0.5e9 B/s at 2 + 1 W."""
    found = json.loads(run(*box, *transfer, "--format", "json").out)
    fast, slow = found["devices"]
    moved = 2 * 3 if transfer else 0
    assert found["most_efficient"] == best
    assert fast["energy"]["value"] == pytest.approx(157.5)
    assert slow["energy"]["value"] == pytest.approx(6 * 3 + 6 * 4 + 3 * 1 * 3 + moved)
    assert slow["transfer_energy"]["value"] == pytest.approx(moved)
    assert fast["best_saves"] == pytest.approx(1 - (51 + moved) / 157.5)


def test_devices_page(run: Runner, box: tuple[str, ...]) -> None:
    assert run(*box, "--transfer").out == (
        "work on box: slow consumes least, 57 J\n"
        "\n"
        "socket  runtime  transfer  energy  with transfer   power  the best saves\n"
        "──────  ───────  ────────  ──────  ─────────────  ──────  ──────────────\n"
        "fast        3 s       0 s   158 J          158 J  52.5 W          63.8 %\n"
        "slow        6 s       2 s    51 J           57 J   8.5 W\n"
        "\n"
        "model: AEEM (dissertation eq. 3.2-3.9). One socket is charged, and network cards by volume (eq. 3.8)\n"
    )
    rows = list(csv.DictReader(io.StringIO(run(*box, "--transfer", "--format", "csv").out)))
    assert [row["socket"] for row in rows] == ["fast", "slow"]
    assert float(rows[1]["transfer_energy"]) == pytest.approx(6)
    assert [rows[1][f"{name}_unit"] for name in ("runtime", "energy", "power", "edp")] == ["s", "J", "W", "J*s"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_picture(run: Runner, box: tuple[str, ...], models: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert run(*box, *ALONE, "--picture", f"power{suffix}").status == 0
    drawn = (models / f"power{suffix}").read_bytes()
    assert drawn.startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")
    if suffix == ".svg":
        assert all(text in drawn for text in (b"fast, active: 120 J", b"average: 52.5 W", b"crunch"))


def test_least(run: Runner) -> None:
    found = json.loads(
        run(
            "energy", "matmul", "--machine", "pentium_m", "--least", "pentium_m_clock=6e8..1.4 GHz", "--format", "json"
        ).out
    )
    assert (found["optimum"]["parameter"], found["optimum"]["at"]) == ("pentium_m_clock", 6e8)


def test_metrics_of_other_commands(run: Runner, box: tuple[str, ...]) -> None:
    asked = ("work.aspen", "--machine", "box.aspen", *ALONE)
    found = json.loads(run("eval", *asked, "--metric", "energy,power,edp,ed2p", "--format", "json").out)["metrics"]
    assert found == {
        "energy": {"value": pytest.approx(157.5), "unit": "J"},
        "power": {"value": pytest.approx(52.5), "unit": "W"},
        "edp": {"value": pytest.approx(472.5), "unit": "J*s"},
        "ed2p": {"value": pytest.approx(1417.5), "unit": "J*s^2"},
    }
    assert run("expr", *asked, "--metric", "energy").out == "157.5\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "power that responds to cores, clocks and traffic. All sockets with work are charged"),
        ((), "charged                        at work: 1 nvidia_a100_40gb\n"),
        (("--charged", "nodes_used"), "All sockets with work and idle partners on their nodes are charged"),
        (("--law", "aeem"), "AEEM (dissertation eq. 3.2-3.9). One socket is charged"),
        (("--law", "roofline"), "energy roofline. One socket is charged"),
        (("--uncore", "--active-cores"), "AEEM (dissertation eq. 3.2-3.9). One socket is charged"),
        (("--cap", "150W", "--throttle"), "clock lowered from 1.41 GHz to"),
        (("--cap", "80W", "--throttle"), "the lowest, where a socket would still consume"),
        (("--cap", "150W"), "with --throttle the clock is lowered instead"),
    ],
)
def test_what_was_counted_is_said(run: Runner, options: tuple[str, ...], said: str) -> None:
    on = "xeon_platinum_8360y" if "--uncore" in options else "a100_40gb"
    outcome = run("energy", "stream", "--kernel", "triad", "--machine", on, *options)
    assert (outcome.status, outcome.err) == (0, "")
    assert said in outcome.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*ALONE, "--cap", "100 W"), "AEEM does not model a power cap that slows a socket down"),
        ((*ALONE, "--law", "responding"), "socket `fast` declares no `idle_power`"),
        ((*ALONE, "--charged", "nodes_used"), "`nodes_used` is charged by the responding model"),
        ((*ALONE, "--budget", "energy=5 W"), "--budget: expected joules, not watts: `5 W`"),
        ((*ALONE, "--power-cap", "lots"), "--power-cap: expected a quantity, such as 150W, not `lots`"),
        ((*ALONE, "--budget", "energy=0"), "--budget: expected more than nothing, not `0`"),
        ((*ALONE, "--least", "clock"), "--least: expected NAME=LOW..HIGH"),
        (
            (*ALONE, "--least", "clock=1..2", "--least", "clock=2..3"),
            "--least: expected one value, not `clock=1..2` and",
        ),
        ((*ALONE, "--transfer"), "--transfer compares sockets"),
        ((*ALONE, "--throttle"), "socket `fast` declares no `power_cap`"),
        ((*ALONE, "--active-cores"), "socket `fast` declares no `active_core_power`"),
        ((*ALONE, "--law", "roofline"), "socket `fast` declares no `constant_power`"),
        (("--budget", "energy=1 J"), "--budget is asked of one kind of socket: choose one with --socket"),
        (("--socket", "fats"), "did you mean `fast`?"),
        ((*ALONE, "--nic", "all"), "--nic: expected eq3.8, single_nic or all_nics, not `all`: did you mean `all_nics`"),
    ],
)
def test_refused(run: Runner, box: tuple[str, ...], options: tuple[str, ...], said: str) -> None:
    outcome = run(*box, *options)
    assert outcome.status == 2
    assert said in outcome.err


def test_least_of_a_product_of_energy_and_time(run: Runner) -> None:
    """The value is what `eval` gives at that clock, and no more than at the clocks beside it."""
    clock = ("matmul", "--machine", "pentium_m")
    asked = ("--least", "pentium_m_clock=6e8..1.4e9", "--least-of", "edp", "--format", "json")
    best = json.loads(run("energy", *clock, *asked).out)["optimum"]
    values = []
    for at in (best["at"], 0.98 * best["at"], min(1.02 * best["at"], 1.4e9)):
        found = run("eval", *clock, "--set", f"pentium_m_clock={at}", "--metric", "edp", "--format", "json")
        values.append(json.loads(found.out)["metrics"]["edp"])
    numbers = [each["value"] if isinstance(each, dict) else each for each in values]
    assert numbers[0] == pytest.approx(best["value"], rel=1e-9)
    assert numbers[0] <= min(numbers[1:]) * (1 + 1e-9)
    assert best["metric"] == "edp"
    assert best["units"]["value"] == "J*s"


def test_least_of_needs_a_parameter(run: Runner) -> None:
    assert "name a parameter" in run("energy", "matmul", "--machine", "pentium_m", "--least-of", "edp").err
