"""One quantity has one value: applications of the library on its machines, by every command and function that gives it.

Each application and each machine occurs; `ASPENPY_THOROUGH=1` takes all pairs. All contradictions of a pair are listed
at once.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

import aspenpy
from aspenpy.advice.advise import AS_IT_IS, classify_case
from aspenpy.answers.case import Case
from aspenpy.answers.energy.cap_warning import SAME
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.network import has_network
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.network.topology import Topology
from aspenpy.cost.placement_options import MACHINES_OWN
from aspenpy.cost.ranks import place_ranks
from aspenpy.expr.evaluate import evaluate
from aspenpy.models.library import library_names
from aspenpy.page.inputs import PageExpressions
from aspenpy.page.machine import machine_page
from aspenpy.shell.main import main
from tests.machines import machine_of_library
from tests.thorough import THOROUGH
from tests.tiny import application

CLOSE = 1e-9  # relative: other orders of the same sums round otherwise
SMALL = {"comd": {"steps": 10}, "lulesh": {"iterations": 2}, "coevp": {"steps": 1}}
"""Sizes of applications that take long to evaluate."""

Entries = Iterator[tuple[str, str, float]]
"""Quantities with who says them, and what they say."""


QUICK = ("stream", "matmul", "jacobi", "spmv", "fft1d", "cache_triad", "montecarlo", "md")
"""Applications of few blocks, for machines that are left over when each application has one."""


def pairs() -> list[tuple[str, str]]:
    apps, machines = library_names("apps"), library_names("machines")
    if THOROUGH:
        return [(app, machine) for app in apps for machine in machines]
    left_over = [QUICK[number % len(QUICK)] for number in range(len(machines) - len(apps))]
    return list(zip([*apps, *left_over], machines[::-1], strict=True))


@pytest.mark.parametrize(("app", "machine"), pairs())
def test_they_agree(app: str, machine: str) -> None:
    where = aspenpy.load_machine(machine)
    for socket in where.sockets or (None,):
        case = Case(aspenpy.load_application(app), where, socket, set=known_settings(app))
        case = case.changed(kernel=case.application.entry_kernels()[0])
        try:
            prediction = aspenpy.predict(case)
        except aspenpy.AspenError as error:
            if error.diagnostics[0].code not in CANNOT_RUN:
                raise
            continue
        said = [*functions(prediction), *commands(app, machine, prediction)]
        if THOROUGH or (app, machine) in pairs()[::4]:
            said += more_commands(app, machine, prediction)
        assert contradictions(said) == []
        assert above_their_roofs(case) == []


CANNOT_RUN = {"no-such-resource", "too-many-ranks", "no-core-for-rank", "no-such-component", "no-path"}


def known_settings(app: str) -> dict[str, Any]:
    parameters = aspenpy.load_application(app).parameters
    return {name: value for name, value in SMALL.get(app, {}).items() if name in parameters}


def contradictions(said: list[tuple[str, str, float]]) -> list[str]:
    """Where somebody says another number than the first who speaks of a quantity."""
    first: dict[str, tuple[str, float]] = {}
    found = []
    for quantity, who, number in said:
        other, wanted = first.setdefault(quantity, (who, number))
        if not math.isclose(number, wanted, rel_tol=CLOSE, abs_tol=1e-30):
            found.append(f"{quantity}: {wanted!r} by {other}, {number!r} by {who}")
    return found


def above_their_roofs(case: Case) -> list[str]:
    if case.machine is None:
        return []
    try:
        points = aspenpy.roofline(case.machine, [case], socket=case.socket).points
    except aspenpy.AspenError as error:
        if error.diagnostics[0].code != "no-ceiling":
            raise
        return []
    return [point.name for point in points if point.predicted > point.attainable * (1 + CLOSE)]


# -- networks --------------------------------------------------------------------------------------

AMONG = (512, 64, 6)
"""Ranks of a collective: the first of these that a machine has places for."""


@pytest.mark.parametrize(
    "machine", [name for name in library_names("machines") if has_network(machine_of_library(name))]
)
def test_collectives_take_as_long_in_a_model_as_the_network_says(machine: str) -> None:
    for socket in aspenpy.load_machine(machine).sockets:
        found = network_of(machine, socket)
        said = []
        for item in found["collectives"]:
            name, size = item["name"], item["size"]
            body = f"execute [{found['ranks']}] {{ messages [{size!r}] as {name} }}"
            case = Case(application(body), aspenpy.load_machine(machine), socket)
            said.append((f"{name} of {size} B on {socket}", "aspenpy network", item["time"]))
            said.append((f"{name} of {size} B on {socket}", "predict", aspenpy.predict(case).runtime))
        assert contradictions(said) == []


def shares_links(topology: Topology) -> bool:
    """Whether messages of several nodes meet on the links of a router: `network` has one that nothing is beside."""
    return topology.kind in ("mesh", "torus") and "nodes_per_router" in dict(topology.parameters)


@pytest.mark.parametrize("options", [{}, {"nodes": 2}, {"nodes": 64, "distribution": "cyclic"}], ids=str)
def test_messages_take_as_long_in_a_model_as_the_network_says(options: dict[str, Any]) -> None:
    """One rank on each node that sends, where machines say what a rank occupies: as far as the nodes of the run are."""
    for machine in map(aspenpy.load_machine, library_names("machines")):
        if not has_network(machine) or shares_links(aspenpy.network(machine).topology):
            continue
        for socket in machine.sockets:
            placed: dict[str, Any] = {"ranks_per_node": 1, **options}
            nodes = min(options.get("nodes", 8), aspenpy.network(machine, socket=socket).nodes)
            if nodes == 1 or place_ranks(machine, socket, MACHINES_OWN) is None:
                continue
            placed |= {"nodes": nodes} if "nodes" in options else {}
            said = []
            for item in aspenpy.network(machine, socket=socket, **placed).messages(ranks=nodes):
                body = f"execute [{nodes}] {{ messages [{item.size}] }}"
                sent = aspenpy.predict(application(body), machine, socket=socket, **placed)
                said.append((f"{item.size} B on {machine.name}, {socket}", "network", item.time))
                said.append((f"{item.size} B on {machine.name}, {socket}", "predict", sent.runtime))
            assert contradictions(said) == []


def network_of(machine: str, socket: str) -> dict[str, Any]:
    for ranks in AMONG:
        found = shell("network", "--machine", machine, "--socket", socket, "--ranks", str(ranks))
        if found:
            return found
    return {"collectives": ()}


# -- functions -------------------------------------------------------------------------------------


def functions(prediction: Prediction) -> Entries:
    """What Python says of a case."""
    case = prediction.case
    yield "runtime", "predict", prediction.runtime
    for kernel in prediction.kernels:
        yield f"time of {kernel.name}", "predict", kernel.exclusive
    for name, use in resources(prediction).items():
        yield name, "predict", use
        yield name, "count", float(aspenpy.count(case, name))
        yield name, "predict(metric)", float(prediction.scope.values([prediction.metric(name)], prediction.seed)[0])
    yield "runtime", "explain", prediction.explain().runtime
    yield "runtime", "profile", aspenpy.profile(case).runtime
    yield "runtime", "place", of_one_socket(case)
    metrics = ["runtime", *(METRICS if has_power(prediction) else ())]
    if "energy" in metrics:
        energy = aspenpy.energy(case)
        capped = [item for item in prediction.diagnostics if item.code == "power-cap"]
        yield "runs longer under its cap", "energy", float(energy.capped_runtime > energy.runtime * (1 + SAME))
        yield "runs longer under its cap", "predict", float(len(capped))
        yield "runtime", "energy", energy.runtime
        for metric in METRICS:
            number = {"energy": energy.value}.get(metric, getattr(energy, metric, None))
            if number is not None:
                yield metric, "energy", number
    page = machine_page(PageExpressions(prediction, []))
    for metric, formula in zip(metrics, prediction.scope.formulas(page.headline), strict=False):
        yield metric, "page", float(evaluate(formula, {}, prediction.seed))
    yield from over_one_value(prediction, metrics)
    yield from on_so_many_ranks(prediction, "energy" in metrics)
    yield from when_classified(case)


METRICS = ("energy", "power", "edp", "ed2p")


def resources(prediction: Prediction) -> dict[str, float]:
    """The amounts of the resources that one server has alone."""
    return {name: use.amount for name, use in prediction.resources.items() if name in prediction.application.resources}


def has_power(prediction: Prediction) -> bool:
    try:
        return prediction.runtime > 0 and aspenpy.energy(prediction.case).value > 0
    except aspenpy.AspenError:
        return False


def of_one_socket(case: Case) -> float:
    """Seconds of all kernels on the socket of a case, transfers left out."""
    assert case.machine is not None
    if case.socket is None:
        return aspenpy.predict(case).runtime
    assert case.application is not None
    there = dict.fromkeys(case.application.data, case.socket)  # chance may decide what would have to come
    found = aspenpy.place(case.changed(socket=None), sockets={case.kernel: case.socket}, data=there)
    if found.moves and found.question.overlapping:  # branches hide some of the transfers
        return aspenpy.predict(case).runtime
    return found.runtime - found.transfer


def over_one_value(prediction: Prediction, metrics: list[str]) -> Entries:
    """A sweep, and a compiled function, over a parameter at the value that it has."""
    numbers = {name: use.value for name, use in prediction.parameters.items() if isinstance(use.value, (int, float))}
    free = [name for name in numbers if not name.startswith("machine:") and "." not in name][:1]
    if not free or prediction.random:
        return
    values = {name: [numbers[name]] for name in free}
    metrics = metrics[:2]  # the products with time follow
    swept = aspenpy.sweep(prediction.case, over=values, metric=metrics)
    for metric in metrics:
        yield metric, "sweep", float(swept[metric].values.ravel()[0])
        yield metric, "prepare", float(aspenpy.prepare(prediction.case, free=free, metric=metric)(numbers[free[0]]))


def on_so_many_ranks(prediction: Prediction, has_energy: bool) -> Entries:
    ranks = prediction.parameters.get("ranks")
    if ranks is None or "ranks" not in prediction.application.declared or prediction.random:
        return
    options = {"energy": EnergyOptions()} if has_energy else {}
    (point,) = aspenpy.scale(prediction.case, ranks=[int(ranks.value)], **options).points
    yield "runtime", "scale", point.time
    if point.energy is not None:
        yield "energy", "scale", point.energy


def when_classified(case: Case) -> Entries:
    """The times of `advise classify`, which fills a node with ranks, against those of the case so filled."""
    try:
        classified = classify_case(case, AS_IT_IS)
    except aspenpy.AspenError as error:
        if error.diagnostics[0].code in CANNOT_FILL or any("filling" in text for text in error.diagnostics[0].parents):
            return
        raise
    there = classified.prediction.case
    filled = aspenpy.predict(case.with_set(classified.choices).changed(bind=there.placement.bind))
    suffix = f" with {classified.choices}" if classified.choices else ""
    yield f"runtime{suffix}", "predict", filled.runtime
    if classified.classifications:
        yield f"runtime{suffix}", "advise classify", classified.classifications[0].time
        yield f"shares{suffix}", "all of it", 1.0
        yield f"shares{suffix}", "advise classify", sum(item.time for item in classified.classifications[0].shares)


CANNOT_FILL = {"problem-grows", *CANNOT_RUN}


# -- commands --------------------------------------------------------------------------------------


def commands(app: str, machine: str, prediction: Prediction) -> Entries:
    """What the shell says of a case."""
    case = prediction.case
    on = ["--machine", machine, *kernel_and_values(case)]
    on += [] if case.socket is None else ["--socket", case.socket]
    found = shell("eval", app, *on)
    yield "runtime", "aspenpy eval", found["runtime"]["value"]
    for kernel in found["kernels"]:
        yield f"time of {kernel['name']}", "aspenpy eval", kernel["exclusive"]
    for name in resources(prediction):
        yield name, "aspenpy eval", found["resources"][name]["amount"]
    yield "runtime", "aspenpy explain", shell("explain", app, *on)["runtime"]["value"]
    profile = shell("profile", app, *on)
    yield "runtime", "aspenpy profile", profile["runtime"]["value"]
    for point in shell("roofline", app, *on).get("points", ()):
        about = "runtime" if point["kernel"] is None else f"time of {point['kernel']}"
        yield about, "aspenpy roofline", point["time"]
    yield from when_compared(app, machine, prediction)
    yield from when_placed(app, machine, prediction)
    if has_power(prediction):
        energy = shell("energy", app, *on)["application"]
        for metric in ("runtime", *METRICS):
            yield metric, "aspenpy energy", energy[metric]["value"]


def more_commands(app: str, machine: str, prediction: Prediction) -> Entries:
    """What the shell says where Python is asked of every pair, and the other way round."""
    case = prediction.case
    assert case.machine is not None
    on = ["--machine", machine, *kernel_and_values(case), *([] if case.socket is None else ["--socket", case.socket])]
    metrics = ["runtime", *(("capped_runtime", *METRICS) if has_power(prediction) else ())]
    yield "runtime", "predict", prediction.runtime
    if len(metrics) > 1:
        energy = aspenpy.energy(case)
        yield from ((metric, "energy", getattr(energy, metric)) for metric in ("capped_runtime", *METRICS[1:]))
        yield "energy", "energy", energy.value
    numbers = {name: use.value for name, use in prediction.parameters.items() if isinstance(use.value, (int, float))}
    free = [name for name in numbers if not name.startswith("machine:") and "." not in name][:1]
    for name in [] if prediction.random else free:
        swept = shell("sweep", app, *on, "--over", f"{name}={numbers[name]!r}", "--metric", ",".join(metrics))
        for metric in metrics:
            yield metric, "aspenpy sweep", swept["metrics"][metric]["median"]
    if free and numbers[free[0]] > 0 and not prediction.random:
        ends = f"{free[0]}={numbers[free[0]]!r},{2 * numbers[free[0]]!r}"  # the values of a list, the first as it is
        found = shell("sensitivity", app, *on, "--method", "normalised", "--vary", ends)
        yield "runtime", "aspenpy sensitivity", found["base"]
    ranks = prediction.parameters.get("ranks")
    if ranks is not None and "ranks" in prediction.application.declared and not prediction.random:
        for point in shell("scale", app, *on, "--ranks", f"{int(ranks.value)},{int(ranks.value)}").get("points", ()):
            yield "runtime", "aspenpy scale", point["time"]
    with contextlib.suppress(aspenpy.AspenError):
        for item in aspenpy.roofline(case.machine, [case], socket=case.socket).points:
            kernel = "runtime" if item.kernel is None else f"time of {item.kernel}"
            times = {"runtime": prediction.runtime} | {
                f"time of {use.name}": use.exclusive for use in prediction.kernels
            }
            yield kernel, "predict", times[kernel]
            yield kernel, "roofline", item.time
    yield from when_classified_by_the_shell(case, app, on)


def when_classified_by_the_shell(case: Case, app: str, on: list[str]) -> Entries:
    try:
        classified = classify_case(case, AS_IT_IS)
    except aspenpy.AspenError:
        return
    found = shell("advise", "classify", app, *on)
    for mine, theirs in zip(classified.classifications, found["classifications"], strict=True):
        yield f"time of {mine.kernel}, classified", "classify_case", mine.time
        yield f"time of {mine.kernel}, classified", "aspenpy advise classify", theirs["time"]
        if mine.energy is not None:
            yield f"energy of {mine.kernel}, classified", "classify_case", mine.energy
            yield f"energy of {mine.kernel}, classified", "aspenpy advise classify", theirs["energy"]


def when_compared(app: str, machine: str, prediction: Prediction) -> Entries:
    """The runtime beside those of other sockets of the machine, or beside another machine."""
    case = prediction.case
    several = len(prediction.machine.sockets) > 1
    beside = WITH_FILES if app in WRITING else BESIDE
    machines = machine if several else f"{machine},{beside[machine == beside[0]]}"
    found = shell("compare", app, "--machine", machines, *kernel_and_values(case))
    for item in found.get("machines", ()):
        if (item["machine"], item["socket"]) == (machine, prediction.socket):
            on = item["ranks"] and item["ranks"]["on"]  # a socket where ranks have unlike parts of the others
            yield f"runtime on {on}", "predict", aspenpy.predict(case.changed(bind=on)).runtime
            yield f"runtime on {on}", "aspenpy compare", item["runtime"]["value"]
    times = {item["name"]: item["runtime"]["value"] for item in found.get("machines", ())}
    if times and (THOROUGH or (app, machine) in pairs()[::4]):
        others = [aspenpy.load_machine(name) for name in machines.split(",")]
        compared = aspenpy.compare(case.changed(socket=None), others)
        for label, time in compared.times.items():
            yield f"runtime of {label}", "compare", time
            yield f"runtime of {label}", "aspenpy compare", times[label]
    if times:
        yield "least runtime", "of each", min(times.values())
        yield "least runtime", "aspenpy compare", times[found["fastest"]]


BESIDE = ("haswell", "cori_haswell")
"""Machines of one kind of socket, for a comparison with one of them."""

WRITING, WITH_FILES = ("jacobi_checkpoint",), ("frontera", "perlmutter_cpu")
"""Applications that write files, and such machines with a file system."""


def when_placed(app: str, machine: str, prediction: Prediction) -> Entries:
    """The times with all kernels on the socket, and what the best placement says of that."""
    case = prediction.case
    on = ["--machine", machine, *kernel_and_values(case)]
    if prediction.socket is None:
        return
    assert case.application is not None
    there = [
        "--data",
        ",".join(f"{name}={prediction.socket}" for name in case.application.data),
    ]  # no chance moves them
    on += there if case.application.data else []
    found = shell("place", app, *on, "--on", f"{case.kernel}={prediction.socket}")
    moved, runtime = found["transfer"]["value"], found["runtime"]["value"]
    if not (moved and overlaps(prediction)):  # branches hide some of the transfers
        yield "runtime", "aspenpy place --on", runtime - moved
    times = {item["name"]: item["time"]["value"] for item in found["kernels"]}
    for kernel in prediction.kernels:
        if kernel.name in times and not found["hidden"]["value"]:  # else `place` counts what branches hide
            yield f"time of {kernel.name}", "aspenpy place --on", times[kernel.name]
    best = shell("place", app, *on)
    for alone in best["alternatives"]:
        if alone["socket"] == prediction.socket and alone["runtime"] is not None:
            yield "runtime when placed", "aspenpy place --on", runtime
            yield "runtime when placed", "aspenpy place", alone["runtime"]["value"]
            yield "the best placement is slower", "nobody", 0.0
            slower = best["runtime"]["value"] > alone["runtime"]["value"] * (1 + CLOSE)
            yield "the best placement is slower", "aspenpy place", float(slower)


def overlaps(prediction: Prediction) -> bool:
    assert prediction.case.machine is not None
    return aspenpy.place(prediction.case.changed(socket=None)).question.overlapping


def kernel_and_values(case: Case) -> list[str]:
    values = [word for name, value in case.set.items() for word in ("--set", f"{name}={value}")]
    return ["--kernel", case.kernel or "main", *values]


NOT_HERE = ("states no rate of `flops`", "has places for", "more ranks ", "offers the resource")
"""Of the reports of a machine that has no roofline, takes fewer ranks, or has a socket that lacks a resource."""


def shell(*words: str) -> dict[str, Any]:
    """The object that a command writes; nothing where the machine cannot do it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([*words, "--format", "json"])
    assert status == 0 or any(text in err.getvalue() for text in NOT_HERE), (words, err.getvalue())
    found: dict[str, Any] = json.loads(out.getvalue()) if status == 0 else {}
    return found
