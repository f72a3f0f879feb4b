"""`aspenpy energy`: predict the energy a run consumes, by kernel and component; check budgets and power caps."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.cap import capped
from aspenpy.answers.energy.hardware import hardware_peaks
from aspenpy.answers.energy.limits import below_cap, within_budget
from aspenpy.answers.energy.optimum import optimum
from aspenpy.answers.energy.options import CHOICES, EnergyOptions
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.language.axis import interval
from aspenpy.language.dimensions import JOULES, WATTS
from aspenpy.report.energy_picture import draw
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_seed, add_settings
from aspenpy.shell.pictures import save
from aspenpy.shell.quantity import quantity_of
from aspenpy.studies.explore.efficiency import Efficiency

EXAMPLES: Examples = (
    ("the energy, the hardware at its peak, the kernels, the components", "aspenpy energy comd --machine haswell"),
    ("one of several kinds of sockets", "aspenpy energy matmul --machine keeneland --socket nvidia_m2090"),
    ("all of them: which is the most efficient", "aspenpy energy matmul --machine keeneland --transfer"),
    ("idle power of everything, and limits", "aspenpy energy comd --machine haswell --charged machine --budget 1kJ"),
    ("the clock that takes least", "aspenpy energy matmul --machine pentium_m --least pentium_m_clock=6e8..1.4e9"),
    ("for a program", "aspenpy energy comd --machine haswell --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    add_settings(parser)
    add_energy_options(parser)
    parser.add_argument("--budget", metavar="J", help="an energy, such as 1000J: does the run stay within it?")
    parser.add_argument("--power-cap", metavar="W", help="a power, such as 20MW: does every kernel stay below it?")
    parser.add_argument("--throttle", action="store_true", help="lowers the clock until the machine's own cap holds")
    parser.add_argument(
        "--least", metavar="NAME=LOW..HIGH", help="the value of a parameter at which the energy is least"
    )
    parser.add_argument(
        "--transfer",
        action="store_true",
        help="with several kinds of sockets: the kernel's data lie at the first, the others move them over their link",
    )
    parser.add_argument("--picture", metavar="FILE", help="also draws power over time: an .svg, .png or .pdf file")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def add_energy_options(parser: ArgumentParser) -> None:
    """How energy is counted."""
    parser.add_argument("--law", choices=CHOICES["law"], default="aeem", help="default: aeem, equations 3.2 to 3.9")
    parser.add_argument(
        "--charged", choices=CHOICES["charged"], default="socket", help="whose power is charged (default: socket)"
    )
    parser.add_argument(
        "--nic", choices=CHOICES["nic"], default="eq3.8", help="how messages are charged (default: eq3.8)"
    )
    parser.add_argument("--active-cores", action="store_true", help="adds the machine's power of each core at work")
    parser.add_argument("--uncore", action="store_true", help="adds the machine's power that goes with uncore clock^2")


def energy_options_of(arguments: Namespace) -> EnergyOptions:
    return EnergyOptions(arguments.law, arguments.charged, arguments.nic, arguments.active_cores, arguments.uncore)


def run(arguments: Namespace) -> int:
    case = case_of_arguments(arguments)
    if case.socket is None and len(case.required_machine.sockets) > 1:
        return _devices(case, arguments)
    if arguments.transfer:
        raise CommandError("--transfer compares sockets: leave --socket out, on a machine with several kinds")
    energy, cap = _energy(predict(case), arguments)
    more = _more(energy, arguments) | {"cap": cap}
    answer(energy.report(**more), arguments.format)
    if arguments.picture:
        save(arguments.picture, lambda: draw(energy))
    return 0


def _energy(prediction: Prediction, arguments: Namespace) -> tuple[Energy, Any]:
    """With --throttle, at the clock that the machine's power cap leaves."""
    options = energy_options_of(arguments)
    if not arguments.throttle:
        return Energy(prediction, options), None

    found = capped(prediction, options)
    return Energy(found.prediction, options), found


def _more(energy: Energy, arguments: Namespace) -> dict[str, Any]:
    """What is asked besides the energy."""

    verdicts = []
    if arguments.budget:
        verdicts.append(within_budget(energy, quantity_of(arguments.budget, JOULES, "--budget")))
    if arguments.power_cap:
        verdicts.append(below_cap(energy, quantity_of(arguments.power_cap, WATTS, "--power-cap")))
    hardware = hardware_peaks(energy.prediction) if energy.options.law == "aeem" else ()
    return {"hardware": hardware, "verdicts": verdicts, "best": _least(energy, arguments.least)}


def _least(energy: Energy, asked: str | None) -> Any:
    if asked is None:
        return None

    name, low, high = interval(asked, "--least", "clock=1e9..3e9")
    ends = [quantity_of(end.text(), None, "--least") for end in (low, high)]
    return optimum(energy.prediction, name, ends[0], ends[1], options=energy.options)


def _devices(case: Case, arguments: Namespace) -> int:
    """Every kind of socket, and which draws least."""

    for option in ("budget", "power_cap", "least", "picture", "throttle"):
        if getattr(arguments, option):
            said = option.replace("_", "-")
            raise CommandError(f"--{said} is asked of one kind of socket: choose one with --socket")
    found = Efficiency(case, options=energy_options_of(arguments), transfer=arguments.transfer)
    answer(found.report(), arguments.format)
    return 0
