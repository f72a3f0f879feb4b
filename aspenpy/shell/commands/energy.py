"""The command `aspenpy energy`."""

from __future__ import annotations

from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import Energy, below_cap, within_budget
from aspenpy.answers.energy.cap import lower_clock_to_cap
from aspenpy.answers.energy.hardware import hardware_peaks
from aspenpy.answers.energy.optimum import MetricOptimum, optimum
from aspenpy.answers.energy.options import CHOICES, EnergyOptions
from aspenpy.answers.energy.totals import METRICS
from aspenpy.answers.energy.voltage import Voltage, sets_clock, voltage_of
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.explore.comparison import Efficiency
from aspenpy.explore.variable import takes_whole, value_of_end
from aspenpy.language.axis import read_interval
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.dimensions import JOULES, WATTS
from aspenpy.learn.estimators.training_rows import look_up_runs
from aspenpy.report.energy import draw
from aspenpy.report.measurements import add_recorded
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, quantity_of
from aspenpy.shell.option import Arguments, Examples, choice, command, flag, option, repeatable_option, split_words
from aspenpy.shell.options import MEASURED, MODEL, NO_INTERVAL, PICTURE, RESULTS, SEED, SETTINGS, machine, settings_of
from aspenpy.shell.output import deliver, warn_of_old_name
from aspenpy.shell.study_options import BUDGET, LAW, TRANSFER

EXAMPLES: Examples = (
    ("the energy, the hardware at its peak, the kernels, the components", "aspenpy energy comd --machine haswell"),
    ("one of several kinds of sockets", "aspenpy energy matmul --machine keeneland --socket nvidia_m2090"),
    ("all of them: which is the most efficient", "aspenpy energy matmul --machine keeneland --transfer"),
    (
        "idle power of everything, and limits",
        "aspenpy energy comd --machine haswell --charged machine --budget energy=1kJ",
    ),
    ("the clock that takes least", "aspenpy energy matmul --machine pentium_m --least pentium_m_clock=6e8..1.4e9"),
    (
        "the clock of the least energy-delay product",
        "aspenpy energy matmul --machine pentium_m --least pentium_m_clock=6e8..1.4e9 --least-of edp",
    ),
    ("as the dissertation counts", "aspenpy energy comd --machine haswell --law aeem"),
    ("the clock that a power cap leaves", "aspenpy energy stream --machine a100_40gb --cap 150W --throttle"),
    ("for a program", "aspenpy energy comd --machine haswell --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    *SETTINGS,
    LAW,
    choice(
        "--charged",
        CHOICES["charged"],
        "whose power is charged (default: the sockets that have work; with aeem and roofline one socket)",
        default="auto",
    ),
    choice("--nic", CHOICES["nic"], "how messages are charged (default: eq3.8)", default="eq3.8"),
    flag("--active-cores", "adds the machine's power of each core at work to aeem"),
    flag("--uncore", "adds the machine's power that goes with uncore clock^2 to aeem"),
    option(
        "--cap",
        "W",
        "power cap of each socket, such as 150W: it waits to stay below, or lowers its clock with --throttle",
    ),
    BUDGET.adapt(": energy=1000J; does the run stay within it?"),
    option("--power-cap", "W", "a power, such as 20MW: does every kernel stay below it?"),
    flag("--throttle", "lowers the clock of the cores until the cap holds"),
    repeatable_option("--least", "NAME=LOW..HIGH", "the value of a parameter at which the energy is least"),
    choice(
        "--least-of",
        METRICS,
        "what --least looks for, such as the energy-delay product (default: energy)",
        default="energy",
    ),
    TRANSFER.adapt(", where the machine has several kinds"),
    MEASURED.adapt(": a record store, or a table", former="--record"),
    PICTURE.adapt(": power over time"),
    NO_INTERVAL,
    *RESULTS,
    SEED,
)


def energy_options_of(arguments: Arguments) -> EnergyOptions:
    cap = None if arguments.cap is None else float(quantity_of(arguments.cap, WATTS, "--cap"))
    law, charged, nic = arguments.law, arguments.charged, arguments.nic
    return EnergyOptions(law, charged, nic, active_cores=arguments.active_cores, uncore=arguments.uncore, cap=cap)


@command(
    "energy",
    "predict",
    "Predict the energy a run consumes, by kernel and component; check budgets and power caps",
    OPTIONS,
    EXAMPLES,
)
def run_energy(arguments: Arguments) -> int:
    if arguments.least_of != "energy" and not arguments.least:
        raise CommandError("--least-of says what --least looks for: name a parameter, --least clock=1e9..3e9")
    case = case_of_arguments(arguments)
    if case.socket is None and len(case.required_machine.sockets) > 1:
        return _compare_devices(case, arguments)
    if arguments.transfer:
        raise CommandError("--transfer compares sockets: leave --socket out, on a machine with several kinds")
    options = energy_options_of(arguments)
    prediction = predict(case)
    cap = lower_clock_to_cap(prediction, options) if arguments.throttle else None
    energy = Energy(prediction if cap is None else cap.prediction, options)
    verdicts = []
    if arguments.budget:
        verdicts.append(within_budget(energy, _joules(arguments.budget)))
    if arguments.power_cap:
        verdicts.append(below_cap(energy, quantity_of(arguments.power_cap, WATTS, "--power-cap")))
    hardware = hardware_peaks(energy.prediction) if energy.options.law == "aeem" else ()
    best = _least_value(energy, arguments)
    warnings = [*prediction.diagnostics, *(_warn_of_ends(best, case) if best is not None else ())]
    voltage = _voltage(energy, best) if cap is not None or best is not None else None
    report = energy.report(
        hardware=hardware,
        verdicts=verdicts,
        best=best,
        cap=cap,
        warnings=warnings,
        voltage=voltage,
        interval=not arguments.no_interval,
    )
    if arguments.measured:
        report = add_recorded(report, look_up_runs(arguments.measured, case.application.name, settings_of(arguments)))
    return deliver(report, arguments, lambda: draw(energy))


def _joules(texts: list[str]) -> float:
    """The energy of `--budget`, which was a bare quantity."""
    joules = 0.0
    for text in (word for given in texts for word in split_words(given)):
        limit, equals, amount = text.partition("=")
        if not equals:
            warn_of_old_name(f"--budget {text}", f"--budget energy={text}")
        elif limit.strip() != "energy":
            raise CommandError(f"--budget: expected energy=1000J, not `{text}`; --power-cap limits power")
        joules = quantity_of(amount if equals else text, JOULES, "--budget")
    return joules


def _least_value(energy: Energy, arguments: Arguments) -> MetricOptimum | None:
    if not arguments.least:
        return None
    text, *more = arguments.least
    if more:
        raise CommandError(
            f"--least: expected one value, not `{text}` and `{more[0]}`; `aspenpy optimise` takes several"
        )
    name, low, high, whole = read_interval(text, "--least", "clock=1e9..3e9")
    if whole is None:
        whole = takes_whole(name, energy.prediction)
    ends = [value_of_end(name, end, energy.prediction) for end in (low, high)]
    return optimum(energy.prediction, name, *ends, metric=arguments.least_of, options=energy.options, whole=whole)


def _voltage(energy: Energy, best: MetricOptimum | None) -> Voltage | None:
    """The voltage where the energy is least by the clock, else at the clock of the prediction."""
    if energy.options.law != "responding":
        return None
    named = best if best is not None and sets_clock(energy.prediction, best.parameter) else None
    return voltage_of(energy.prediction, None if named is None else named.at)


def _warn_of_ends(best: MetricOptimum, case: Case) -> list[Diagnostic]:
    """Warnings of ends of an interval that leave the range of its parameter."""
    ends = (Prediction(case.with_set({best.parameter: end})) for end in (best.low, best.high))
    return [warning for end in ends for warning in end.warn_outside_ranges()]


def _compare_devices(case: Case, arguments: Arguments) -> int:
    """Compares the energy on every kind of socket."""
    for name in ("budget", "power_cap", "least", "picture", "throttle", "measured"):
        if getattr(arguments, name):
            raise CommandError(f"--{name.replace('_', '-')} is asked of one kind of socket: choose one with --socket")
    sockets = Efficiency(case, options=energy_options_of(arguments), transfer=arguments.transfer)
    return deliver(sockets.report(), arguments)
