"""An MPI skeleton: a program in C that sends what an application model sends, and counts it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Unpack

from aspenpy.answers.case import Case, CaseOptions, ResolvedCase, case_of
from aspenpy.answers.profile import Timer
from aspenpy.answers.scope import Value
from aspenpy.cost.compute import price_block
from aspenpy.cost.cost import CostTree
from aspenpy.cost.memory import Hierarchy
from aspenpy.engine.c_text import find_used_helpers, make_identifier, read_helpers, split_helpers
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.generate.c_literals import comment
from aspenpy.generate.c_parameters import RESERVED, CParameters
from aspenpy.generate.exchanges import MESSAGES, exchange_of, warn_of_doubtful_traits
from aspenpy.generate.mpi_kernel import KernelWriter, Surroundings, speaking_kernels
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import OfBlocks, Totals, add_totals, blocks_in, callees_first, run_totals
from aspenpy.models.machine.model import Machine


class Skeleton:
    """The communication of a kernel as a C99 program for MPI 3.

    The control flow is that of the model, each parameter that has a say in it can be set on the program's command line,
    and an instance of a block is a process; where there are more instances than processes, they take turns. What is
    computed stands in comments. With `spin`, the program waits as long as it takes on the machine.

    :returns: the program (`code`) and its totals: messages, and bytes
    :raises AspenError: for unknown parameters, and with `spin` where the machine gives no time
    """

    def __init__(
        self,
        app: Application | Case,
        machine: Machine | None = None,
        *,
        spin: bool = False,
        **options: Unpack[CaseOptions],
    ) -> None:
        case = case_of(app, machine, options)
        if spin and case.machine is None:
            fail("no-machine", "how long to wait only a machine can say", hint="name one, or leave the waiting out")
        self._run = ResolvedCase(case)
        self.application = case.application
        self.entry = self._run.entry
        self._kernels = callees_first(self.entry)
        self._speaking = speaking_kernels(self._kernels)
        if self.entry not in self._speaking:
            self._refuse_silence()
        self._seconds = _seconds(case.tree) if spin else None

    def _refuse_silence(self) -> None:
        message = f"kernel `{self.entry.name}` of `{self.application.name}` sends no messages"
        hint = "nothing that it runs has a requirement `messages [...]`"
        fail("no-messages", message, self.entry.name_span, hint=hint)

    # -- totals ----------------------------------------------------------------------------------

    @cached_property
    def totals(self) -> tuple[Value, Value]:
        """Numbers of messages and bytes that the run sends, as the model says; neither has to be whole."""
        messages, volume = self._run.scope.values(self._totals)
        return messages, volume

    @cached_property
    def _totals(self) -> list[Expr]:
        totals = run_totals(OfBlocks(_count_sent), self.entry)
        return [totals.get("messages", graph.ZERO), totals.get("bytes", graph.ZERO)]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The model's warnings, and traits that look like MPI calls and are none."""
        blocks = [block for kernel in self._kernels for block in blocks_in(kernel.body)]
        sent = [item for block in blocks for item in block.requirements if item.resource == MESSAGES]
        return [*self.application.warnings, *(doubt for item in sent for doubt in warn_of_doubtful_traits(item))]

    # -- the program -----------------------------------------------------------------------------

    @cached_property
    def code(self) -> str:
        """The text of the program."""
        computed = frozenset(symbol for kernel in self._kernels for symbol, _ in kernel.computed)
        parameters = CParameters(self.application, self._run.scope, computed)
        body = [*self._functions(parameters), *self._total_functions(parameters)]
        body = [*parameters.parts("\n".join(body)), *body, MAIN.format(entry=self._function_names[self.entry])]
        used = find_used_helpers("\n".join(body), read_helpers() | mpi_helpers())
        return "\n\n".join([self._title(), HEADERS, *used, *body]) + "\n"

    def _title(self) -> str:
        shown = f"{self.application.name}: the messages of kernel {self.entry.name}, as a program for MPI."
        build = "Made by aspenpy. Build: mpicc -std=c99 -O2 FILE.c -o PROGRAM -lm. Run: mpirun -n 4 ./PROGRAM --help."
        return "\n".join([*comment(shown), *comment(build)])

    @cached_property
    def _function_names(self) -> dict[flow.Kernel, str]:
        taken: set[str] = set()
        return {kernel: make_identifier(f"kernel_{kernel.name}", taken) for kernel in self._kernels}

    def _functions(self, parameters: CParameters) -> list[str]:
        """C functions of the entry kernel and of all that are called, callees first."""
        around = Surroundings(parameters, self._function_names, self._speaking, self._seconds)
        called, texts = {self.entry}, []
        for kernel in reversed(self._kernels):
            if kernel in called:
                writer = KernelWriter(kernel, around, entry=kernel is self.entry)
                texts.append(writer.function())
                called.update(writer.called)
        return texts[::-1]

    def _total_functions(self, parameters: CParameters) -> list[str]:
        """The model's totals as closed forms in the parameters, to be compared with what was sent."""
        texts = []
        for name, total in zip(("messages", "bytes"), self._totals, strict=True):
            resolved = parameters.resolve(total)
            statements, text = parameters.translate(resolved, parameters.names, set(RESERVED), self.entry.name_span)
            lines = "".join(f"    {line}\n" for line in statements)
            texts.append(f"static double model_{name}(void)\n{{\n{lines}    return {text};\n}}")
        return texts


HEADERS = "\n".join(f"#include <{name}.h>" for name in ("limits", "math", "mpi", "stdio", "stdlib", "string"))


@cache
def mpi_helpers() -> dict[str, str]:
    """The definitions of `helpers/messages.h`, as `engine.c_text.helpers`."""
    return split_helpers(Path(__file__).with_name("helpers") / "messages.h")


MAIN = """int main(int argc, char **argv)
{{
    double start;
    aspen_start(&argc, &argv);
    aspen_read(argc, argv, settings);
    define_parameters();
    aspen_check(MPI_Barrier(MPI_COMM_WORLD), "main");
    start = MPI_Wtime();
    {entry}();
    aspen_finish(MPI_Wtime() - start, model_messages(), model_bytes());
    return EXIT_SUCCESS;
}}"""


def _count_sent(block: flow.Block, kernel: flow.Kernel) -> Totals:
    """`messages`, and `bytes`."""
    exchanges = [exchange_of(item) for item in block.requirements if item.resource == MESSAGES]
    sent = (exchange.count_sent(block.parallelism) for exchange in exchanges)
    return add_totals({"messages": messages, "bytes": volume} for messages, volume in sent)


def _seconds(tree: CostTree) -> Callable[[flow.Flow, flow.Kernel], Expr]:
    """Seconds of a part of a kernel on a machine. A block may lack some of its requirements."""
    timer = Timer(tree)
    hierarchy = Hierarchy(tree.machine, tree.socket, tree.application, tree.entry, definitions=tree.definitions)

    def seconds(node: flow.Flow, around: flow.Kernel) -> Expr:
        if isinstance(node, flow.Block):
            return price_block(node, tree.residence.target_of(around), hierarchy, tree.origins).time
        return timer.time(node)

    return seconds


mpi = Skeleton  # what `aspenpy mpi` writes, under the command's name; the text of the program is its `code`
