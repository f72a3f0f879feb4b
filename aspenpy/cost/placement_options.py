"""Placement options: what users ask of where ranks run, in the words of Slurm, `mpirun` and OpenMP.

A distribution says how ranks are dealt out (Slurm's srun manual, --distribution). For R ranks, of which a node takes c:

    compact   fills a node with c ranks before the next: ceil(R/c) nodes
    block     N nodes, asked for or ceil(R/c): R mod N of them have ceil(R/N) ranks, the others floor(R/N); consecutive
              ranks share a node
    cyclic    the same counts, ranks dealt out one by one
    plane=s   the same counts, s consecutive ranks dealt out at a time
    scatter   block over all nodes that there are, unless a user says how many ranks each takes

With `,reorder` behind it the ranks of a node are a brick of each grid of ranks (a Cartesian communicator with reorder).
The sockets of a node and the NUMA domains of a socket are filled (`block`) or dealt out evenly (`cyclic`). A machine
may say its own at each level: `property distribution [cyclic]` of a node, a socket, a memory in a socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from aspenpy.cost.kinds_of_cores import SCHEDULES
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.models.application.flow import Schedule
from aspenpy.models.machine.model import Place, one_of
from aspenpy.record import Record

NodeRule = Literal["compact", "scatter", "block", "cyclic", "plane"]
NODE_RULES: tuple[NodeRule, ...] = get_args(NodeRule)

Rule = Literal["block", "cyclic"]
RULES: tuple[Rule, ...] = get_args(Rule)

REORDER = "reorder"
"""The word behind a distribution, as Slurm has `,NoPack` there."""

Threads = Literal["close", "spread"]
THREADS: tuple[Threads, ...] = get_args(Threads)

NUMA, DEVICE = "numa", "device"
"""What a rank may be bound to beside the types of components: a NUMA domain, which is what has a memory of its own in a
socket, and a device, which is a socket."""


class PlacementOptions(Record):
    """A user's choice of where ranks run, which overrides the machine's own word.

    `bind` is what each occupies: a type of component, the name of one, `numa` or `device`. `nodes` is how many nodes
    the run has; `ranks_per_node`, `ranks_per_socket` and `ranks_per_device` how many ranks each takes, and
    `cores_per_rank` how many cores each has. `distribution` says how they are dealt out, `threads` how those of a rank
    go to its NUMA domains: `close` fills one before the next. `domains` is into how many
    of them each socket is divided (sub-NUMA clustering, NPS). `threads_per_core` is how many hardware threads of each
    core work, and `schedule` how the parts of a rank's work go to its cores: `static` or `dynamic`.
    """

    bind: str | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    ranks_per_socket: int | None = None
    ranks_per_device: int | None = None
    cores_per_rank: int | None = None
    distribution: str | None = None
    threads: str | None = None
    domains: int | None = None
    threads_per_core: int | None = None
    schedule: str | None = None


MACHINES_OWN = PlacementOptions()


class Distribution(Record):
    """Order of dealing out ranks: over nodes, over the sockets of a node, over the domains of a socket; `size` is that
    of a plane. With `reorder` the ranks of a node are a brick of each grid of ranks, whatever their numbers."""

    nodes: NodeRule = "compact"
    sockets: Rule = "block"
    domains: Rule = "block"
    size: int = 1
    reorder: bool = False

    def __str__(self) -> str:
        words = [f"plane={self.size}" if self.nodes == "plane" else self.nodes]
        usual = "block" if self.nodes == "compact" else "cyclic"
        if self.sockets != self.domains:
            words += [self.sockets, self.domains]
        elif self.sockets != usual:
            words.append(self.sockets)
        return f"{':'.join(words)},{REORDER}" if self.reorder else ":".join(words)


COMPACT = Distribution()


def distribution_of(options: PlacementOptions) -> Distribution:
    """The distribution of ranks: `compact` unless a user says else, `block` where a user states the nodes."""
    text = options.distribution
    if text is None:
        return COMPACT if options.nodes is None else Distribution("block", "cyclic", "cyclic")
    dealt, comma, reorder = text.partition(",")
    if comma and reorder != REORDER:
        hint = f"`{dealt},{REORDER}` gives each node a brick of a grid of ranks"
        fail("unknown-distribution", f"unknown word `{reorder}` of a distribution", hint=hint)
    first, *inner = dealt.split(":")
    word, _, size = first.partition("=")
    if word not in NODE_RULES or len(inner) > 2 or (size and word != "plane"):
        hint = suggest_nearest(word, NODE_RULES) or "there are compact, scatter, block, cyclic and plane=SIZE"
        fail("unknown-distribution", f"unknown distribution of ranks `{text}`", hint=hint)
    if word == "plane" and not (size.isdecimal() and 0 < int(size) <= MOST_IN_A_PLANE):
        message = f"a plane is so many ranks, not `{size}`"
        fail("unknown-distribution", message, hint="`plane=4` deals out four neighbours at a time")
    usual = "block" if word == "compact" else "cyclic"
    rules = [_require_word(rule, RULES, "distribution") for rule in inner]
    sockets = rules[0] if rules else usual
    domains = rules[1] if rules[1:] else sockets
    return Distribution(word, sockets, domains, int(size or 1), bool(comma))  # type: ignore[arg-type]  # checked above


MOST_IN_A_PLANE = 10**9


def add_stated_distribution(options: PlacementOptions, places: Sequence[Place]) -> PlacementOptions:
    """The options with the distribution that the machine states, unless a user says one. Raises AspenError, at the
    property, for an unknown word."""
    stated: dict[str, str] = {}
    for component in (place.component for place in places if "distribution" in place.component.properties):
        words = [word for word in NODE_RULES if word != "plane"] if component.type == "node" else RULES
        stated.setdefault(component.type, one_of(component, "distribution", words, default=""))
    if options.distribution is not None or not stated:
        return options
    first = stated.get("node") or ("compact" if options.nodes is None else "block")
    sockets = stated.get("socket") or ("block" if first == "compact" else "cyclic")
    return options.replace(distribution=":".join((first, sockets, stated.get("memory") or sockets)))


def require_schedule(options: PlacementOptions) -> Schedule | None:
    """The schedule that a user asks for. Raises AspenError for an unknown one."""
    word = _require_word(options.schedule, SCHEDULES, "schedule", "schedule")
    return None if word is None else "static" if word == "static" else "dynamic"


def require_threads(options: PlacementOptions) -> Threads:
    """The distribution of a rank's threads over its NUMA domains. Raises AspenError for an unknown word."""
    return "close" if _require_word(options.threads, THREADS, "threads") == "close" else "spread"


def require_count(value: object, option: str) -> int | None:
    """A number that a user asks for, a whole one from 1 on."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        fail("bad-ranks", f"`{option}` is a whole number from 1 on, not {value!r}")
    return value


def _require_word(word: str | None, words: Sequence[str], option: str, code: str = "distribution") -> str | None:
    if word is not None and word not in words:
        hint = suggest_nearest(word, words) or f"there are {', '.join(words)}"
        fail(f"unknown-{code}", f"unknown `{option}` of ranks: `{word}`", hint=hint)
    return word
