"""Commands that show models: `list` the library, `show` one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from aspenpy.answers.figures import figures_of
from aspenpy.answers.peaks import value_of
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.language.axis import split_ends
from aspenpy.language.diagnostics import suggest_nearest
from aspenpy.language.files import Reader
from aspenpy.language.lower import Lowering
from aspenpy.language.parser import parse_expression
from aspenpy.models.library import find_source, library_names, load_machine, load_source
from aspenpy.models.machine.texts import Header, read_header
from aspenpy.models.networks import published_networks
from aspenpy.report.listings import FIGURES, Wanted, report_library, report_networks, sources, summary
from aspenpy.shell.failure import CommandError
from aspenpy.shell.models import path_of
from aspenpy.shell.operands import constant_or_failure
from aspenpy.shell.option import Arguments, choice, command, flag, option
from aspenpy.shell.options import OUTSIDE, RESULTS
from aspenpy.shell.output import deliver, deliver_text, show_source

KINDS = ("cpu", "gpu", "system", "abstract", "teaching")
FILTERS = ("machine_kind", "vendor", "year", "since", "cores", "memory")
SORTS = ("name", "year", *(name for name, _ in FIGURES))


@command(
    "list",
    "models",
    "List the applications, machines and networks of the library",
    options=(
        choice("kind", ("apps", "machines", "networks"), "apps, machines or networks", metavar="KIND"),
        choice("--kind", KINDS, "the kind of machine", dest="machine_kind"),
        option("--vendor", "NAME", "only machines by this vendor"),
        option("--year", "MIN..MAX", "only machines first delivered in these years"),
        option("--since", "YEAR", "only machines first delivered in this year or later"),
        option("--cores", "MIN..MAX", "only machines whose number of cores in all is in this range"),
        option("--memory", "MIN..MAX", "only machines whose memory in all is in this range, such as 1TB.."),
        choice(
            "--sort", SORTS, "shows figures of the machines and sorts by one, the largest first; by name: the names"
        ),
        *RESULTS,
    ),
    examples=(
        ("applications", "aspenpy list apps"),
        ("machines", "aspenpy list machines"),
        ("networks that --with takes", "aspenpy list networks"),
        ("some of them", "aspenpy list machines --kind gpu --vendor NVIDIA --year 2012..2017"),
        ("by what is in them", "aspenpy list machines --kind cpu --cores 32.. --memory '..256 GiB'"),
        (
            "what can be bought, and what its memory attains",
            "aspenpy list machines --kind gpu --since 2022 --sort bandwidth",
        ),
        ("for a program", "aspenpy list machines --format json"),
    ),
)
def run_list(arguments: Arguments) -> int:
    asked = any(getattr(arguments, name) is not None for name in FILTERS)
    if (asked or arguments.sort) and arguments.kind != "machines":
        options = "--kind, --vendor, --year, --since, --cores, --memory and --sort"
        raise CommandError(f"{options} choose among machines: aspenpy list machines")
    if arguments.since is not None and arguments.year is not None:
        raise CommandError("--since YEAR is --year YEAR.. already")
    if arguments.kind == "networks":
        return deliver(report_networks(published_networks()), arguments)
    listed = sources(arguments.kind, _read_filters(arguments) if asked else None)
    if arguments.sort is None:
        return deliver(report_library(arguments.kind, listed), arguments)
    figures = {name: figures_of(load_machine(name)) for name in listed}

    def size(name: str) -> tuple[float, str]:
        by_header = {"year": read_header(listed[name].text).year, "name": 0}
        value = by_header[arguments.sort] if arguments.sort in by_header else getattr(figures[name], arguments.sort)
        return -(value or 0), name

    return deliver(
        report_library("machines", {name: listed[name] for name in sorted(listed, key=size)}, figures), arguments
    )


class Interval(NamedTuple):
    """An interval from `low` to `high`, both included; None is an open end."""

    low: Any
    high: Any

    def holds(self, value: Any) -> bool:
        above = self.low is None or (value is not None and value >= self.low)
        return value is not None and above and (self.high is None or value <= self.high)


def _read_filters(arguments: Arguments) -> Wanted:
    """The filters that the options ask for. Machines are loaded only if it is asked what is in them."""
    year, cores, memory = (_read_interval(name, getattr(arguments, name)) for name in ("year", "cores", "memory"))
    if arguments.since is not None:
        year = Interval(_read_number("since", arguments.since), None)
    vendor = _read_vendor(arguments.vendor) if arguments.vendor is not None else None

    def is_wanted(name: str, header: Header) -> bool:
        return (
            arguments.machine_kind in (None, header.kind)
            and (vendor is None or (header.vendor or "").lower() == vendor)
            and (year is None or year.holds(header.year))
            and (cores is None or cores.holds(_sum_over_machine(name, "core")))
            and (memory is None or memory.holds(_sum_over_machine(name, "memory", "capacity")))
        )

    return is_wanted


def _read_vendor(text: str) -> str:
    """The vendor in lower case; one without any machine is refused, since it is probably misspelt."""
    vendors = {read_header(find_source("machines", name).text).vendor for name in library_names("machines")}
    named = sorted(vendor for vendor in vendors if vendor)
    if text.lower() not in map(str.lower, named):
        hint = suggest_nearest(text, named) or f"there are {', '.join(named)}"
        raise CommandError(f"--vendor: no machine of the library is by `{text}`; {hint}")
    return text.lower()


def _sum_over_machine(name: str, kind: str, measure: str | None = None) -> Any:
    """The number of components of a type, or the sum of their `measure`; None where the machine leaves it open."""
    machine = load_machine(name)
    terms = []
    for place in machine.places():
        if place.component.type == kind:
            each = place.component.properties.get(measure) if measure else None
            size = graph.ONE if each is None or each.value is None else each.value
            terms.append(graph.mul(place.count, size if measure is None or each is not None else graph.ZERO))
    return value_of(graph.add(*terms), machine.definitions)


def _read_interval(name: str, text: str | None) -> Interval | None:
    """`MIN..MAX`, `MIN..`, `..MAX`, or one value."""
    if text is None:
        return None
    low, high = (None if end is None else end.text() for end in split_ends(text, f"--{name}"))
    if not (low or high):
        raise CommandError(f"--{name}: expected MIN..MAX, MIN.. or ..MAX, not `{text}`")
    numbers = [_read_number(name, end) if end else None for end in (low, low if high is None else high)]
    interval = Interval(*numbers)
    if interval.low is not None and interval.high is not None and interval.low > interval.high:
        raise CommandError(f"--{name}: there is nothing between {low} and {high}")
    return interval


def _read_number(name: str, text: str) -> Any:
    try:
        return evaluate(Lowering(constant_or_failure, {})(parse_expression(text.strip(), f"<--{name}>")), {})
    except EvaluationError:
        raise CommandError(f"--{name}: `{text.strip()}` is no number") from None


@command(
    "show",
    "models",
    "Show what is in a model: a machine's tree and peaks, an application's calls and data",
    options=(
        option("either", "NAME", "a model: a file, or a name of `aspenpy list`"),
        flag("--source", "shows the text of the model, in colour on a terminal"),
        *RESULTS,
        OUTSIDE,
    ),
    examples=(
        ("a machine: its tree, peaks, properties, parameters", "aspenpy show simple"),
        ("an application: its calls, data, parameters", "aspenpy show comd"),
        ("its text, in colour on a terminal", "aspenpy show stream --source"),
        ("for a program", "aspenpy show keeneland --format json"),
    ),
)
def run_show(arguments: Arguments) -> int:
    reader = Reader(allow_outside=arguments.allow_outside)
    source = reader.read(path_of(arguments.either))
    if not arguments.source:
        return deliver(load_source(source, reader).report(summary=summary(source)), arguments)
    if arguments.format != "table":
        raise CommandError(f"--source and --format {arguments.format} are two ways to show a model")
    if arguments.results is None:
        show_source(source.text)  # as it stands, whether it is a model or not
    else:
        deliver_text(source.text, arguments)
    return 0
