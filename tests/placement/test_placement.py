"""Placements, against times worked out by hand.

On `NODE` the processor takes a second a flop and the accelerator a tenth of it; its link takes 2 seconds and a quarter
of a second a byte, so that `a` of 8 bytes takes 4 seconds and `b` of 40 takes 12.
"""

from itertools import product

import pytest

import aspenpy
from aspenpy import AspenError, Placement
from aspenpy.expr.evaluate import EvaluationError, evaluate
from tests.tiny import application, codes, machine

NODE = """
machine M { node [1] box  interconnect net }
node box { socket [1] cpu  socket [1] gpu }
socket cpu { core cpu_core  memory cpu_memory }
socket gpu { core gpu_core  memory gpu_memory  link wire }
core cpu_core { resource flops(n) [n] }
core gpu_core { resource flops(n) [n/10]  resource tensor(n) [n/100] }
memory cpu_memory { resource loads(n) [0*n]  resource stores(n) [0*n] }
memory gpu_memory { resource loads(n) [0*n]  resource stores(n) [0*n] }
link wire { resource intracomm(n) [2 + n/4] }
interconnect net { resource messages(n) [n] }
"""
DATA = "data a [8]  data b [40]"
WORK = """
kernel first  { execute { flops [100] loads [1] from a  stores [1] to a } }
kernel second { execute { flops [10]  loads [1] from a } }
kernel reads  { execute { flops [50]  loads [1] from b } }
kernel writes { execute { flops [20]  stores [1] to b } }
"""


def placed(body: str, sockets: dict[str, str] | None = None, text: str = NODE, **asked: object) -> Placement:
    app = application(body, f"param n = 3 {DATA}", WORK)
    return aspenpy.place(app, machine(text), sockets or {}, **asked)  # type: ignore[arg-type]


def moves(found: Placement) -> list[tuple[str, str, str, float]]:
    return sorted((move.data, move.source, move.destination, move.times) for move in found.moves)


def test_two_kernels() -> None:
    # 4 s to the accelerator, 10 s there, 4 s back, 10 s on the processor
    found = placed("call first call second", {"first": "gpu"})
    assert found.runtime == pytest.approx(4 + 10 + 4 + 10, rel=1e-14)
    assert moves(found) == [("a", "cpu", "gpu", 1), ("a", "gpu", "cpu", 1)]
    first, second = (item for item in found.kernels if item.name in ("first", "second"))
    assert (first.socket, first.time, first.volume, first.transfer) == ("gpu", 10, 8, 4)
    assert (second.socket, second.time, second.volume, second.transfer) == ("cpu", 10, 8, 4)
    assert found.alternatives == {"cpu": 110, "gpu": pytest.approx(4 + 11)}


def test_what_a_kernel_calls_runs_where_it_does() -> None:
    assert placed("call first call second", {"main": "gpu"}).runtime == pytest.approx(4 + 10 + 1)


def test_what_is_only_read_stays_where_it_was() -> None:
    found = placed("call reads call second call reads", {"reads": "gpu"})
    assert found.runtime == pytest.approx(12 + 5 + 10 + 5)


def test_what_is_written_is_only_there() -> None:
    # reads: 12 + 5; writes on the processor, which has a copy: 20; reads again: 12 + 5
    found = placed("call reads call writes call reads", {"reads": "gpu"})
    assert found.runtime == pytest.approx(12 + 5 + 20 + 12 + 5)


def test_only_the_first_pass_brings_what_stays() -> None:
    found = placed("iterate [7] { call first call reads }", {"first": "gpu", "reads": "gpu"})
    assert found.runtime == pytest.approx(4 + 12 + 7 * 15)


def test_each_pass_brings_what_was_taken_away() -> None:
    # a pass writes b on the processor, 20, and takes it to the accelerator, 12 + 5
    assert placed("iterate [7] { call writes call reads }", {"reads": "gpu"}).runtime == pytest.approx(7 * 37)
    # `a` goes to the accelerator once: what is read on the processor stays there too, what is written comes back
    assert placed("iterate [7] { call first call second }", {"first": "gpu"}).runtime == pytest.approx(4 + 7 * 24)


def test_loops_within_loops() -> None:
    # the outer pass: 70 for the inner loop, after which `a` goes back once
    found = placed("iterate [5] { iterate [7] { call first } call second }", {"first": "gpu"})
    assert found.runtime == pytest.approx(4 + 5 * (7 * 10 + 4 + 10))


def test_a_named_counter() -> None:
    app = application(
        "iterate i [4] { call sized(i + 1) call second }",
        DATA,
        WORK + "kernel sized(param k) { execute { flops [10*k] stores [1] to a } }",
    )
    found = aspenpy.place(app, machine(NODE), {"sized": "gpu"})
    # 1 + 2 + 3 + 4 seconds on the accelerator, where `a` goes once; each pass 4 back and 10 on the processor
    assert found.runtime == pytest.approx(4 + 10 + 4 * (4 + 10))


@pytest.mark.parametrize(("n", "seconds"), [(0, 10), (1, 4 + 10 + 4 + 10), (5, 4 + 50 + 4 + 10)])
def test_formulas_hold_for_all_parameters(n: int, seconds: float) -> None:
    found = placed("iterate [n] { call first } call second", {"first": "gpu"})
    formula = found.formula(["n"])
    assert evaluate(formula, {found.scope.symbol("n"): n}) == pytest.approx(seconds)
    assert float(found.expression(["n"]).subs("n", n)) == pytest.approx(seconds)


@pytest.mark.parametrize(("n", "seconds"), [(1, 10 + 10), (2, 4 + 10 + 4 + 10)])
def test_choices(n: int, seconds: float) -> None:
    # where n is 1 nothing touches `a` on the accelerator, so that it need not come back
    text = "if (n > 1) { call first } else { execute { flops [10] } } call second"
    found = placed(text, {"first": "gpu"})
    assert evaluate(found.formula(["n"]), {found.scope.symbol("n"): n}) == pytest.approx(seconds)


def test_a_condition_around_each_pass() -> None:
    found = placed("iterate [4] { if (n > 1) { call first } call second }", {"first": "gpu"})
    symbol = found.scope.symbol("n")
    assert evaluate(found.formula(["n"]), {symbol: 2}) == pytest.approx(4 + 4 * 24)
    assert evaluate(found.formula(["n"]), {symbol: 1}) == pytest.approx(4 * 10)


TIMES = {"first": 100, "second": 10, "reads": 50, "writes": 20}
TOUCHED = {"first": "a", "second": "a", "reads": "b", "writes": "b"}


def played(n: int, m: int, k: int, sockets: dict[str, str]) -> float:
    """Seconds of the program below, call by call."""
    one_pass = ["writes" if m > 2 else "reads", *["first"] * k, "second"]
    has, seconds = {"a": {"cpu"}, "b": {"cpu"}}, 0.0
    for name in [*one_pass * n, "reads"]:
        data, socket = TOUCHED[name], sockets[name]
        if socket not in has[data]:
            seconds += {"a": 4, "b": 12}[data]
        has[data] = {socket} if name in ("first", "writes") else has[data] | {socket}
        seconds += TIMES[name] / (10 if socket == "gpu" else 1)
    return seconds


@pytest.mark.parametrize("chosen", list(product(("cpu", "gpu"), repeat=4)))
def test_a_formula_is_the_run_for_every_way_that_it_may_take(chosen: tuple[str, ...]) -> None:
    body = """iterate [n] { if (m > 2) { call writes } else { call reads } iterate [k] { call first } call second }
    call reads"""
    sockets = dict(zip(TIMES, chosen, strict=True))
    app = application(body, f"param n = 3 param m = 3 param k = 0 {DATA}", WORK)
    found = aspenpy.place(app, machine(NODE), sockets)
    formula, symbols = found.formula(["n", "m", "k"]), [found.scope.symbol(name) for name in "nmk"]
    for values in product((0, 1, 2, 3), (2, 3), (0, 1, 2)):
        seconds = evaluate(formula, dict(zip(symbols, values, strict=True)))
        assert seconds == pytest.approx(played(*values, sockets), rel=1e-12), values


def test_passes_that_take_different_ways() -> None:
    # passes 0 and 1 read on the processor, 2 to 5 on the accelerator, to which `a` goes once
    body = "iterate i [6] { if (i < n - 1) { call second } else { call first } }"
    found = placed(body, {"first": "gpu"})
    assert found.runtime == pytest.approx(2 * 10 + 4 + 4 * 10)
    formula, symbol = found.formula(["n"]), found.scope.symbol("n")
    assert evaluate(formula, {symbol: 3}) == pytest.approx(found.runtime)
    with pytest.raises(EvaluationError):
        evaluate(formula, {symbol: 5})
    assert placed(body, {"first": "gpu"}, set={"n": 5}).runtime == pytest.approx(4 * 10 + 4 + 2 * 10)


def test_chance_may_not_decide_where_data_are() -> None:
    body = "probability { [0.5] { call first } else { call second } }"
    assert placed(body).runtime == pytest.approx(0.5 * 100 + 0.5 * 10)
    with pytest.raises(AspenError) as error:
        placed(body, {"first": "gpu"})
    assert codes(error.value) == ["unsettled-data"]


def test_data_that_are_elsewhere_at_first() -> None:
    assert placed("call first call second", {"main": "gpu"}, data={"a": "gpu"}).runtime == pytest.approx(11)
    assert placed("call first", {}, data={"a": "gpu"}).runtime == pytest.approx(4 + 100)


THREE = NODE.replace("socket [1] gpu }", "socket [1] gpu socket [1] other }") + (
    "socket other { resource flops(n) [n/2] resource loads(n) [0*n] resource stores(n) [0*n] link slow }"
    "link slow { resource intracomm(n) [n] }"
)


def test_accelerators_meet_at_the_host() -> None:
    # 4 to gpu, 10 there; 4 back to the processor's memory and 8 on to other, 5 there; the processor has a copy then
    found = placed("call first call second call second", {"first": "gpu", "second": "other"}, THREE)
    assert found.runtime == pytest.approx(4 + 10 + 4 + 8 + 5 + 5)
    assert moves(found) == [("a", "cpu", "gpu", 1), ("a", "cpu", "other", 1), ("a", "gpu", "cpu", 1)]


def test_links_share_what_is_moved() -> None:
    # one instance has work for one of four accelerators, and its link: 2 s + 40/4 s; eight have it for all four
    text = NODE.replace("socket [1] gpu", "socket [4] gpu")
    assert placed("call reads", {"reads": "gpu"}, text).transfer == pytest.approx(12)
    body = "execute [8] { flops [10] loads [1] from a }"
    assert placed(body, {"main": "gpu"}, text).transfer == pytest.approx(2 + 8 / 4 / 4)


def test_sockets_with_one_memory_move_nothing() -> None:
    text = NODE.replace("socket [1] gpu }", "socket [1] gpu memory cpu_memory }")
    text = text.replace("core cpu_core  memory cpu_memory", "core cpu_core")
    text = text.replace("core gpu_core  memory gpu_memory  link wire", "core gpu_core")
    found = placed("call first call second", {"first": "gpu"}, text)
    assert (found.runtime, found.moves) == (pytest.approx(20), ())


def test_arguments_and_data_of_kernels() -> None:
    app = application(
        "call outer(a) call outer(b)",
        DATA,
        """kernel outer(data d) { call inner(d) call inner(d) }
        kernel inner(data e) { data own [16] execute { flops [10] loads [1] from e stores [1] to own } }""",
    )
    found = aspenpy.place(app, machine(NODE), {"inner": "gpu"})
    # `own` is made where the kernel runs
    assert found.runtime == pytest.approx(4 + 1 + 1 + 12 + 1 + 1)


def test_kernels_that_ask_for_what_sockets_share_run_anywhere() -> None:
    kernels = "kernel x { execute { flops [10] } call send } kernel y { execute { flops [10] } call send }"
    app = application("call x call y", "", kernels + " kernel send { execute { messages [3] } }")
    assert aspenpy.place(app, machine(NODE), {"x": "gpu"}).runtime == pytest.approx(1 + 3 + 10 + 3)


# -- overlap ---------------------------------------------------------------------------------------

PAR = 'par "overlap" { call first call reads }'


def test_branches_on_different_sockets_run_at_once() -> None:
    # 4 + 10 on the accelerator, 50 on the processor
    found = placed(PAR, {"first": "gpu"})
    assert found.runtime == pytest.approx(50)
    assert found.hidden == pytest.approx(14)
    # 12 + 5 on the accelerator, 100 on the processor
    assert placed(PAR, {"reads": "gpu"}).runtime == pytest.approx(100)


def test_transfers_count_in_their_branch() -> None:
    app = application(PAR, DATA, WORK.replace("flops [50]", "flops [12]"))
    assert aspenpy.place(app, machine(NODE), {"first": "gpu"}).runtime == pytest.approx(4 + 10)


def test_branches_on_one_socket_are_one_block() -> None:
    # the processor works off both; on the accelerator, 4 + 12 s of transfers come first
    assert placed(PAR).runtime == pytest.approx(150)
    assert placed(PAR, {"main": "gpu"}).runtime == pytest.approx(4 + 12 + 15)


def test_a_shared_interconnect_serves_one_after_the_other() -> None:
    kernels = "kernel x { execute { messages [30] } } kernel y { execute { messages [40] } }"
    app = application('par "overlap" { call x call y }', "", kernels)
    assert aspenpy.place(app, machine(NODE), {"x": "gpu"}).runtime == pytest.approx(70)


def test_a_shared_link_serves_one_after_the_other() -> None:
    # both transfers use the wire: 4 + 12, though neither branch takes more than 4 + 0.1 and 2 + 12 alone
    text = (
        THREE.replace("link slow }", "}")
        .replace("link wire }", "}")
        .replace("socket [1] other }", "socket [1] other link wire }")
        .split("link slow")[0]
    )
    kernels = WORK.replace("flops [100]", "flops [1]").replace("flops [50]", "flops [1]")
    app = application(PAR, DATA, kernels)
    found = aspenpy.place(app, machine(text), {"first": "gpu", "reads": "other"})
    assert found.runtime == pytest.approx(16)


def test_overlap_can_be_asked_for() -> None:
    found = placed("par { call first call reads }", {"first": "gpu"}, overlap=True)
    assert found.runtime == pytest.approx(50)
    assert placed("par { call first call reads }", {"first": "gpu"}).runtime == pytest.approx(4 + 10 + 50)


# -- with nothing moved it is a prediction ---------------------------------------------------------


@pytest.mark.parametrize("name", ["cg", "hpcg", "lulesh", "allreduce_training", "montecarlo", "hpl", "coevp"])
def test_on_the_first_socket_it_is_the_prediction(name: str) -> None:
    app, keeneland = aspenpy.load_application(name), aspenpy.load_machine("keeneland")
    wanted = aspenpy.predict(app, keeneland, socket=keeneland.sockets[0])
    found = aspenpy.place(app, keeneland)
    assert found.total is wanted.tree.runtime
    assert (found.runtime, found.transfer) == (wanted.runtime, 0)


@pytest.mark.parametrize("name", ["cg", "hpcg", "lulesh", "allreduce_training", "multigrid", "hpl", "md"])
def test_elsewhere_it_is_the_prediction_and_the_transfers(name: str) -> None:
    app, keeneland = aspenpy.load_application(name), aspenpy.load_machine("keeneland")
    wanted = aspenpy.predict(app, keeneland, socket="nvidia_m2090").runtime
    found = aspenpy.place(app, keeneland, {"main": "nvidia_m2090"})
    assert found.runtime == pytest.approx(wanted + found.transfer, rel=1e-13)
    # each data structure moves once, at 15 us and 6 GB/s over the link of each rank's device
    links = count_of_ranks(app)
    seconds = sum(15e-6 + move.volume / links / 6e9 for move in found.moves)
    assert found.transfer == pytest.approx(seconds, rel=1e-12)
    assert {move.times for move in found.moves} == {1}


def count_of_ranks(app: aspenpy.Application) -> float:
    """The ranks that a model runs with by itself."""
    uses = aspenpy.predict(app, aspenpy.load_machine("keeneland"), socket="nvidia_m2090").parameters
    return float(uses["ranks"].value) if "ranks" in uses else 1.0


def test_the_link_of_one_die_carries_its_data_with_its_latency() -> None:
    """On Frontier 10 us and 36 GB/s from the processor to one die."""
    found = aspenpy.place(
        aspenpy.load_application("cg"), aspenpy.load_machine("frontier"), {"main": "amd_mi250x"}, set={"ranks": 1}
    )
    (move,) = (move for move in found.moves if move.data == "a")
    assert move.seconds == pytest.approx(10e-6 + move.volume / 36e9, rel=1e-12)


def test_ranks_that_have_parts_of_different_kinds_are_told() -> None:
    app, frontier = aspenpy.load_application("cg"), aspenpy.load_machine("frontier")
    told = [item.message for item in aspenpy.place(app, frontier).diagnostics if item.code == "unlike-ranks"]
    assert told == ["each rank has a core of `amd_epyc_7a53` and a die of `amd_mi250x`"]
    several = aspenpy.place(app, frontier, cores_per_rank=8).diagnostics
    (told,) = [item.message for item in several if item.code == "unlike-ranks"]
    assert told == "each rank has 8 cores of `amd_epyc_7a53` and a die of `amd_mi250x`"
    alike = aspenpy.place(app, frontier, ranks_on="socket").diagnostics
    assert [item for item in alike if item.code == "unlike-ranks"] == []


def test_without_transfers_it_is_the_prediction_everywhere() -> None:
    integrated = aspenpy.load_machine("exascale_integrated")
    for name in ("cg", "lulesh", "coevp"):
        app = aspenpy.load_application(name)
        for socket in integrated.sockets:
            wanted = aspenpy.predict(app, integrated, socket=socket)
            assert aspenpy.place(app, integrated, {"main": socket}).runtime == pytest.approx(wanted.runtime, rel=1e-14)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "sockets", "code", "said"),
    [
        ("call first", {"frist": "gpu"}, "unknown-kernel", "did you mean `first`?"),
        ("call first", {"second": "gpu"}, "unknown-kernel", "does not call `second`"),
        ("call first", {"first": "gpus"}, "unknown-socket", "did you mean `gpu`?"),
        ("execute { tensor [1] }", {}, "no-such-resource", "socket `gpu` has it here"),
        ("call first call outer", {"outer": "gpu"}, "which-socket", "say where it runs: first=cpu"),
    ],
)
def test_mistakes(body: str, sockets: dict[str, str], code: str, said: str) -> None:
    app = application(body, DATA, WORK + "kernel outer { call first }")
    with pytest.raises(AspenError) as error:
        aspenpy.place(app, machine(NODE), sockets)
    assert codes(error.value) == [code]
    assert said in str(error.value)
    assert error.value.diagnostics[0].span is not None


def test_no_link() -> None:
    with pytest.raises(AspenError, match="no link joins socket `gpu` to `cpu`") as error:
        placed("call first", {"first": "gpu"}, NODE.replace("  link wire", ""))
    assert codes(error.value) == ["no-link"]


def test_unknown_sizes_and_data() -> None:
    app = application("call k", "", "kernel k { execute { flops [1] loads [1] from c } }")
    with pytest.raises(AspenError, match="the size of `c` is not declared"):
        aspenpy.place(app, machine(NODE), {"k": "gpu"})
    with pytest.raises(AspenError, match="no data structure `aa`"):
        placed("call first", data={"aa": "gpu"})


def test_no_sockets() -> None:
    with pytest.raises(AspenError, match="no component of type `socket`"):
        placed("call first", text="machine M { core c } core c { resource flops(n) [n] }")


APU = """
machine M { node box }
node box { socket cpu  socket gpu  memory both }
socket cpu { core cpu_core }
socket gpu { core gpu_core }
core cpu_core { resource flops(n) [n] }
core gpu_core { resource flops(n) [n/10] }
memory both { property capacity [40]  resource loads(n) [n]  resource stores(n) [n] }
"""


def test_sockets_with_the_memory_of_their_node_move_nothing() -> None:
    """100 flops take 100 s on the processor, 10 flops 1 s on the accelerator; loads overlap."""
    found = placed("call first call second call first call second", {"first": "cpu", "second": "gpu"}, APU)
    assert found.runtime == 2 * (100 + 1)
    assert not found.moves


@pytest.mark.parametrize(("passes", "calls", "time"), [(0, 0, 0), (1, 1, 10), (3, 3, 30)])
def test_a_kernel_that_is_not_called_takes_no_time(passes: int, calls: int, time: float) -> None:
    """`first` takes 100 flops of the accelerator's tenth of a second."""
    found = placed(f"iterate [{passes}] {{ call first }} call second", {"first": "gpu", "second": "gpu"}, APU)
    (first,) = (kernel for kernel in found.kernels if kernel.name == "first")
    assert (first.calls, first.time, first.volume, first.transfer) == (calls, time, 0, 0)


def test_the_memory_of_a_node_has_its_capacity_once() -> None:
    """`a` and `b` of 48 bytes do not fit into 40, whichever socket touches them."""
    for socket in ("cpu", "gpu"):
        app = application("call first call reads", f"param n = 3 {DATA}", WORK)
        found = aspenpy.memory(app, machine(APU), socket=socket)
        assert (found.total, found.fits) == (48, False)
        assert [each.size for each in found.capacities] == [40]


def test_nothing_moves_in_a_package_with_one_memory() -> None:
    """24 cores of an MI300A draw 208 GB/s, of a memory that has 3540 for its compute units."""
    app, apu = application("execute [24] of [24] { loads [1e9/24] }"), aspenpy.load_machine("mi300a_apu")
    cores = aspenpy.predict(app, apu, socket="amd_mi300a_cores").runtime
    assert cores == pytest.approx(1e9 / 208e9, rel=1e-9)
    for name in ("cg", "spmv", "hpcg"):
        app = aspenpy.load_application(name)
        found = aspenpy.place(app, apu, {"main": "amd_mi300a_units"})
        wanted = aspenpy.predict(app, apu, socket="amd_mi300a_units").runtime
        assert (found.runtime, found.transfer) == (pytest.approx(wanted, rel=1e-12), 0)


def test_data_of_a_superchip_move_over_its_link() -> None:
    """GH200: 800 ns and 450 GB/s from the memory of Grace to that of the device."""
    found = aspenpy.place(
        aspenpy.load_application("cg"), aspenpy.load_machine("gh200"), {"main": "nvidia_gh200"}, set={"ranks": 1}
    )
    (move,) = (move for move in found.moves if move.data == "a")
    assert move.seconds == pytest.approx(800e-9 + move.volume / 450e9, rel=1e-12)


@pytest.mark.parametrize("machine", ["summit", "frontier"])
def test_ranks_with_a_device_have_their_cores_of_the_host(machine: str) -> None:
    """`bind` names the device that each rank has, `cores_per_rank` its cores of the host: kernels on either take as
    long as alone there."""
    app, where = aspenpy.load_application("stream"), aspenpy.load_machine(machine)
    host, device = where.sockets
    there = {"bind": "socket", "cores_per_rank": 4}
    for socket, options in ((device, there), (host, {"cores_per_rank": 4})):
        placed = aspenpy.place(app, where, {"main": socket}, data=dict.fromkeys(app.data, socket), **there)
        assert placed.runtime == pytest.approx(aspenpy.predict(app, where, socket=socket, **options).runtime)
    with pytest.raises(aspenpy.AspenError, match="says that each rank has cores of its own"):
        aspenpy.predict(app, where, socket=host, **there)
