"""Statements of fparser as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Literal

from aspenpy.extract import records as r
from aspenpy.extract.atomics import make_atomic
from aspenpy.extract.fortran_allocation import Allocations
from aspenpy.extract.fortran_coarrays import BARRIERS, COLLECTIVES, QUIET, send
from aspenpy.extract.fortran_declarations import DeclarationReader
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_intrinsics import place_arguments
from aspenpy.extract.fortran_invariants import hoist_invariants
from aspenpy.extract.fortran_jumps import Labelled, goto, structure_jumps
from aspenpy.extract.fortran_masks import MaskedAssignments
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, split_keyword, type_name
from aspenpy.extract.fortran_operations import (
    assign,
    close_parentheses,
    complex_parts,
    find_mask,
    is_complex,
    join_statements,
    make_complex,
    operate,
)
from aspenpy.extract.fortran_scopes import (
    INDEX,
    INT,
    VOID,
    Entity,
    Generic,
    NameScope,
    RankMismatch,
    Signature,
    View,
    constant_value,
    integer,
)
from aspenpy.extract.fortran_text import load_parser
from aspenpy.extract.fortran_transfers import Transfers
from aspenpy.extract.library_functions import SENDING
from aspenpy.extract.pragmas import drop_transfers, find_transfer, is_atomic, list_mapped
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span

MPI_NAMES = {
    f"mpi_{name}".lower(): f"MPI_{name}"
    for word in (*SENDING, "Comm_size", "Comm_rank")
    for name in (word, f"I{word.lower()}")
}
"""Routines of MPI as C spells them, by their names in lower case."""

SILENT = frozenset({
    *"Continue_Stmt Deallocate_Stmt Nullify_Stmt Open_Stmt Close_Stmt Inquire_Stmt Rewind_Stmt Backspace_Stmt".split(),
    *"Endfile_Stmt Flush_Stmt Format_Stmt Data_Stmt End_Do_Stmt Comment Include_Stmt Contains_Stmt Entry_Stmt".split(),
})  # fmt: skip
"""Statements without work that is counted."""


Rule = Callable[[Any, Span | None], list[r.Statement]]


class FortranStatements:
    """The statements of one procedure."""

    def __init__(
        self, expressions: FortranExpressions, declarations: DeclarationReader, result: r.Expression | None
    ) -> None:
        self.expressions, self.text, self.scope = expressions, expressions.text, expressions.scope
        self.declarations = declarations
        self.result = result
        self.loop_names: list[str] = []
        self._loops = self._depth = 0  # loops and constructs around the statement that is read
        self._labelled_lines: dict[int, int] = {}
        self._lines = range(0)  # those of the statement that is read
        self._last_labels: set[int] = set()  # those behind which a procedure only returns
        self.transfers = Transfers(expressions, declarations)
        self.allocations = Allocations(expressions, self._assign_elements)
        self.masked = MaskedAssignments(expressions, self._begin)
        self.allocated: frozenset[str] = frozenset()
        self.declare_block: Callable[[Any, NameScope], DeclarationReader] | None = None

    def read_procedure(self, nodes: Sequence[Syntax]) -> r.CompoundStatement:
        """The statements of a procedure, in which a jump to its end returns."""
        for node in nodes:
            self._note_labels(node)
        for node in reversed(nodes):
            self._last_labels.add(_label(node))
            if type_name(node) not in ("Return_Stmt", *SILENT):
                if not type_name(node).endswith("_Stmt") or type_name(node) in (
                    "Write_Stmt",
                    "Print_Stmt",
                    "Stop_Stmt",
                ):
                    break
                self._last_labels.discard(_label(node))
                break
        self._last_labels.discard(0)
        body = self.read_all(nodes)
        last = self._last_line(nodes[-1]) if nodes else 0
        behind = self._read_transfers(self.text.pragmas_below(last), self.text.span(last, last)) if last else ()
        return body.replace(statements=(*body.statements, *behind))

    def _last_line(self, node: Syntax) -> int:
        """The last line of a statement or construct."""
        while not hasattr(node, "item") or (node.item is None and getattr(node, "children", None)):
            node = node.children[-1]
        return int(node.item.span[1]) if node.item is not None else self._line(node)

    def _note_labels(self, node: Syntax) -> None:
        if label := _label(node):
            self._labelled_lines[label] = self._line(node) or self._line(node.children[0])
        for child in node.children if type_name(node).endswith("_Construct") else ():
            self._note_labels(child)

    def read_all(self, nodes: Sequence[Syntax]) -> r.CompoundStatement:
        entries = []
        for node in nodes:
            line = self._line(node) or next(map(self._line, getattr(node, "children", None) or ()), 0)
            before = self._read_transfers(self.text.pragmas_above(line) if line else (), self.text.span(line, line))
            entries.append(Labelled(_label(node), (*before, *self.read(node))))
        return r.CompoundStatement(tuple(structure_jumps(entries)))

    def _read_transfers(self, pragmas: tuple[str, ...], span: Span | None) -> Iterator[r.Statement]:
        """Directives that stand alone above a line, or begin and end regions of data."""
        for pragma in pragmas:
            if find_transfer(pragma, is_fortran=True):
                yield r.CompoundStatement((), span, (pragma,), tuple(self._find_lengths((pragma,))))

    def read(self, node: Syntax) -> list[r.Statement]:
        """The records of a statement or construct, those that it needs in front first."""
        kind = type_name(node)
        if kind in SILENT or isinstance(node, str):
            return []
        span = self._begin(node)
        rule = self._find_rule(kind)
        if rule is None:
            return [r.Unread(kind.lower().replace("_stmt", "").replace("_construct", "").replace("_", " "), span)]
        if self._depth == r.MOST_DEPTH:
            return [r.Unread("a statement that is nested too deeply", span)]
        self._depth += 1
        with self.expressions.collect() as before:
            try:
                statements = rule(node, span)
            except RankMismatch:
                self.expressions.unknown("an operation on arrays of different ranks")
                return []
            finally:
                self._depth -= 1
        if kind == "Assignment_Stmt" and is_atomic(self.text.pragmas_above(self._line(node))):
            statements = [*map(make_atomic, statements)]
        gets, puts = self._read_remote(kind, span)
        return [*before, *gets, *statements, *puts]

    def _read_remote(self, kind: str, span: Span | None) -> tuple[list[r.Statement], list[r.Statement]]:
        """Messages for what a statement loads from other images, and stores there."""
        if kind in ("If_Stmt", "Where_Stmt", "Forall_Stmt") or not kind.endswith("_Stmt"):
            return [], []
        found = [each for line in self._lines for each in self.text.remote.pop(line, ())]
        messages: tuple[list[r.Statement], list[r.Statement]] = [], []
        for each in found:
            view = self.expressions.view(load_parser()[3].Expr(each.text))
            note = f"{each.text} {'to' if each.is_put else 'from'} another image"
            messages[each.is_put].append(send("", note, _count_bytes(view), span))
        return messages

    def _find_rule(self, kind: str) -> Rule | None:
        """The method that reads a kind of statement."""
        match kind:
            case "Read_Stmt":
                return self.transfers.read_input
            case "Write_Stmt" | "Print_Stmt":
                return self.transfers.read_output
            case "Allocate_Stmt":
                return self.allocations.read_allocate
            case "Pointer_Assignment_Stmt":
                return self.allocations.assign_pointer
        if kind.endswith("_Do_Construct"):
            return self._read_do
        rule: Rule | None = getattr(self, f"_read_{kind.lower()}", None)
        return rule

    def _begin(self, node: Syntax) -> Span | None:
        item = getattr(node, "item", None)
        if item is None and getattr(node, "children", None):
            first = next((child for child in node.children if getattr(child, "item", None) is not None), None)
            item = None if first is None else first.item
        if item is not None:
            self._lines = range(item.span[0], item.span[1] + 1)
            self.expressions.begin_statement(self.text.span(*item.span))
        return self.expressions.statement

    def _line(self, node: Syntax) -> int:
        item = getattr(node, "item", None)
        return item.span[0] if item is not None else 0

    # -- assignments -------------------------------------------------------------------------------

    def _read_assignment_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        target, _, value = node.children
        left = self.expressions.view(target)
        if left.element.kind == "other":
            return []  # text
        if not left.extents:
            return [self._assign_scalar(left.at(()), self.expressions.read(value), span)]
        if self._is_matmul(value):
            return self._multiply_matrices(left, value, span)
        right = self.expressions.view(value)
        whole = left.whole
        allocates = whole is not None and right.extents and self._is_allocated_here(target, whole)
        made = self.allocations.make(whole, right.extents, span) if allocates and whole is not None else []
        return [*made, self._assign_elements(left, right, span)]

    def _is_allocated_here(self, target: Syntax, entity: Entity) -> bool:
        """Whether an assignment gives an array its memory: it has a descriptor, and no `allocate` names it."""
        variable = entity.expression
        is_own = isinstance(variable, r.Variable) and variable.scope != "formal"
        return (
            is_own
            and entity.has_descriptor
            and type_name(target) == "Name"
            and str(target).lower() not in self.allocated
        )

    def _assign_scalar(self, target: r.Expression, value: r.Expression, span: Span | None) -> r.Statement:
        """An assignment; both parts of a complex number are computed before the first one is stored."""
        if is_complex(target) and isinstance(value, r.Several):
            value = make_complex(*(self.expressions.keep(part) for part in complex_parts(value)))
        return assign(target, value, span)

    def _assign_elements(self, left: View, right: View, span: Span | None) -> r.Statement:
        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            return [assign(left.at(counters), right.at(counters if right.extents else ()), span)]

        if not right.extents and not isinstance(right.at(()), r.Constant | r.Variable):
            kept = self.expressions.keep(right.at(()))
            right = View(right.element, (), lambda counters: kept)
        return self.expressions.make_nest(left.extents, body)

    def _is_matmul(self, node: Syntax) -> bool:
        return (
            type_name(node) in ("Intrinsic_Function_Reference", "Part_Ref")
            and str(node.children[0]).lower() == "matmul"
        )

    def _multiply_matrices(self, left: View, node: Syntax, span: Span | None) -> list[r.Statement]:
        """`c = matmul(a, b)` as gfortran writes it in line: c = 0, then for each column of b all of a's columns
        (-finline-matmul-limit; larger products call its library)."""
        factors, _ = place_arguments("matmul", list_arguments(node.children[1]))
        a, b = (self.expressions.view(part) for part in factors[:2])
        split = len(a.extents) - 1
        zero = r.Constant(0.0, left.element) if left.element.kind == "real" else integer(0)
        clear = self._assign_elements(left, View(left.element, (), lambda counters: zero), span)
        order = (*a.extents[:-1], a.extents[-1], *b.extents[1:])

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            rows, inner, columns = counters[:split], counters[split : split + 1], counters[split + 1 :]
            product = operate("*", a.at([*rows, *inner]), b.at([*inner, *columns]))
            target = left.at([*rows, *columns])
            return [r.ExpressionStatement(r.Assignment("+", target, product, target.type, span=span), span)]

        return [clear, self.expressions.make_nest(order, body)]

    # -- calls -------------------------------------------------------------------------------------

    def _read_call_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        target, arguments = node.children[0], list_arguments(node.children[1])
        if type_name(target) == "Procedure_Designator":
            base, name = target.children[0], str(target.children[2]).lower()
            return [r.ExpressionStatement(self.expressions.call_bound(base, name, arguments, span).at(()), span)]
        name = str(target).lower()
        self.expressions.find_span(name)
        if name in (*BARRIERS, *QUIET, *COLLECTIVES):
            return self._call_images(name, arguments, span)
        if name.startswith("mpi_"):
            name = MPI_NAMES.get(name, f"MPI_{name[4:].capitalize()}")
            return [r.ExpressionStatement(self._call_mpi(name, arguments, span), span)]
        target = self.scope.find(name)
        if isinstance(target, Entity):
            target = None
        if target is None and name in (
            "move_alloc",
            "get_command_argument",
            "getarg",
            "random_number",
            "cpu_time",
            "system_clock",
            "date_and_time",
            "random_seed",
            "flush",
            "exit",
            "abort",
            "mvbits",
            "execute_command_line",
        ):
            return self._call_intrinsic(name, arguments, span)
        assert self.expressions.resolve_generic is not None
        assert self.expressions.call_function is not None
        given = target if isinstance(target, Signature | Generic) else Signature(f"c:@F@{name}_", name, is_known=False)
        signature = self.expressions.resolve_generic(given, arguments)
        if signature is None:
            self.expressions.unknown(f"which procedure `{name}` calls")
            return []
        view = self.expressions.call_function(signature, arguments, span)
        return [r.ExpressionStatement(view.at(()), span)]

    def _call_images(self, name: str, arguments: list[Syntax], span: Span | None) -> list[r.Statement]:
        """A barrier or a collective of coarrays."""
        if name not in COLLECTIVES:
            return [send("barrier", "", integer(0), span)] if name in BARRIERS else []
        view = self.expressions.view(split_keyword(arguments[0])[1]) if arguments else self.expressions.unknown(name)
        is_to_one = any(split_keyword(part)[0] == "result_image" for part in arguments)
        exchange = "reduce" if is_to_one and name != "co_broadcast" else COLLECTIVES[name]
        written = self.transfers.store_unknown(arguments[:1], span)
        return [send(exchange, name, _count_bytes(view), span), r.ExpressionStatement(written, span)]

    def _call_mpi(self, name: str, arguments: list[Syntax], span: Span | None) -> r.Expression:
        """A routine of MPI; the last argument, its error code, is left out."""
        given = arguments[:-1] if name in ("MPI_Comm_size", "MPI_Comm_rank") and len(arguments) > 2 else arguments
        parts: list[r.Expression] = []
        for argument in given:
            text = str(argument)
            if text.lower().startswith("mpi_"):
                parts.append(r.Constant(0, INT, span=self.expressions.find_span(text)))
                continue
            view = self.expressions.view(split_keyword(argument)[1])
            value = view.at([integer(0)] * len(view.extents))
            is_written = view.extents or (isinstance(value, r.Variable) and "Comm_" in name)
            parts.append(r.Address(value, r.Type("pointer", 8, value.type), span) if is_written else value)
        return r.Call(f"c:@F@{name}", name, tuple(parts), INT, span)

    def _call_intrinsic(self, name: str, arguments: list[Syntax], span: Span | None) -> list[r.Statement]:
        if name == "move_alloc" and len(arguments) >= 2:
            source, target = (self.expressions.view(part) for part in arguments[:2])
            if source.whole is not None and target.whole is not None and target.whole.shape:
                return self.allocations.describe(target.whole, source.extents, source.whole.expression, span)
        if name in ("exit", "abort"):
            return [r.ExpressionStatement(r.Call("exit", "exit", (), VOID, span), span)]
        return [r.ExpressionStatement(self.transfers.store_unknown(arguments, span), span)]

    # -- jumps -------------------------------------------------------------------------------------

    def _read_exit_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return [self._leave("break", node, span)]

    def _read_cycle_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return [self._leave("continue", node, span)]

    def _leave(self, kind: Literal["break", "continue"], node: Syntax, span: Span | None) -> r.Statement:
        name = str(node.children[1]).lower() if node.children[1] is not None else ""
        is_inner = not name or (self.loop_names and self.loop_names[-1] == name)
        return r.Jump(kind, None, span) if is_inner else r.Jump("goto", None, span, leaves=True)

    def _read_return_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return [r.Jump("return", self.result, span)]

    def _read_goto_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        label = int(str(node.children[0]))
        if label in self._last_labels:
            return [r.Jump("return", self.result, span)]
        leaves = bool(self.loop_names) and self._labelled_lines.get(label, 0) > self._line(node)
        return [goto(label, span).replace(leaves=leaves)]

    def _read_stop_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return [r.ExpressionStatement(r.Call("exit", "exit", (), VOID, span), span)]

    _read_error_stop_stmt = _read_stop_stmt

    # -- constructs --------------------------------------------------------------------------------

    def _read_do(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        head, *body = node.children
        return self._read_do_parts(head, body)

    def _read_do_parts(self, head: Syntax, body: Sequence[Syntax]) -> list[r.Statement]:
        span = self._begin(head)
        line = self._line(head)
        control = next((child for child in head.children if type_name(child) == "Loop_Control"), None)
        name = head.item.name.lower() if head.item is not None and head.item.name else ""
        pragmas, comment = drop_transfers(self.text.pragmas_above(line)), self.text.comment_above(line)
        start, condition, step = None, None, None
        headers: list[tuple[Any, list[Syntax]]] = []
        forall = next((part for part in getattr(control, "children", ()) if type_name(part) == "Forall_Header"), None)
        if forall is not None:
            return self._read_forall(forall, body, span, is_concurrent=True)
        if control is not None:
            while_condition, counted = control.children[0], control.children[1]
            if counted is not None:
                headers = [(counted[0], counted[1])]
            elif while_condition is not None:
                condition = self.expressions.read(while_condition)
        if headers:
            start, condition, step = self._count(*headers[0], span)
        self._enter_loop(name, span)
        shared = next((place for place, child in enumerate(body) if type_name(child) == "Label_Do_Stmt"), None)
        if shared is not None:  # a loop inside that ends at the same label
            self.loop_names.append("")
            inner = self._read_do_parts(body[shared], body[shared + 1 :])
            self.loop_names.pop()
            entries = [Labelled(_label(child), tuple(self.read(child))) for child in body[:shared]]
            inside: r.Statement = r.CompoundStatement((*structure_jumps(entries), *inner))
        else:
            inside = self.read_all(body)
        self._leave_loop()
        hoisted: list[r.Statement] = []
        if headers and isinstance(inside, r.CompoundStatement):
            variable = self.expressions.read(headers[0][0])
            runs = _runs_once(start, condition)
            hoisted, inside = hoist_invariants(inside, variable, self.expressions.make_variable, runs)
        lengths = tuple(self._find_lengths(pragmas))
        loop = r.LoopStatement(
            start, condition, step, inside, pragmas=pragmas, comment=comment, lengths=lengths, span=span
        )
        return [*hoisted, loop]

    def _enter_loop(self, name: str, span: Span | None) -> None:
        self.loop_names.append(name)
        self._loops += 1
        r.check_loops(self._loops, span)

    def _leave_loop(self) -> None:
        self.loop_names.pop()
        self._loops -= 1

    def _find_lengths(self, pragmas: tuple[str, ...]) -> Iterator[tuple[str, r.Expression]]:
        """The elements of arrays that the directives of a launch copy."""
        for mapped in list_mapped(pragmas, is_fortran=True):
            entity = self.expressions.find(mapped.name)
            shape = entity.shape if isinstance(entity, Entity) else ()
            extents = [bounds.extent for bounds in shape if bounds.extent is not None]
            if shape and len(extents) == len(shape):
                yield mapped.name, reduce(lambda a, b: r.Operation("*", (a, b), INDEX), extents)

    def _count(
        self, name: Any, bounds: Sequence[Syntax], span: Span | None
    ) -> tuple[r.Statement, r.Expression, r.Expression]:
        """Start, condition and step of a counted loop."""
        variable = self.expressions.read(name)
        first, last = self.expressions.read(bounds[0]), self.expressions.read(bounds[1])
        step = self.expressions.read(bounds[2]) if len(bounds) > 2 and bounds[2] is not None else integer(1)
        last = self.expressions.keep(last, "last")  # evaluated once (ISO/IEC 1539-1:2018, section 11.1.7.4.1)
        by = constant_value(step)
        if by is None:
            message = "the step of this loop varies: taken to count up"
            self.expressions.diagnostics.append(warning("unknown", message, span))
        is_down = by is not None and by < 0
        condition = r.Operation(">=" if is_down else "<=", (variable, last), INT, span)
        size = integer(int(-by)) if is_down and by is not None else step
        change = r.Assignment("-" if is_down else "+", variable, size, variable.type, span=span)
        return assign(variable, first, span), condition, change

    def _read_forall_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        head, *body = node.children
        return self._read_forall(head.children[-1] if type_name(head) == "Forall_Construct_Stmt" else head, body, span)

    def _read_forall_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return self._read_forall(node.children[0], [node.children[1]], span)

    def _read_forall(
        self, header: Any, body: Sequence[Syntax], span: Span | None, is_concurrent: bool = False
    ) -> list[r.Statement]:
        """Loops over the triplets of a header, under its mask. A run counts the statements of a `do concurrent`."""
        triplets, mask = list_arguments(header.children[0]), header.children[1]
        loops = [self._count(item.children[0], item.children[1:], span) for item in triplets]
        self._loops += len(loops)
        r.check_loops(self._loops, span)
        statement: r.Statement = self.read_all([item for item in body if not type_name(item).startswith("End_")])
        self._loops -= len(loops)
        if mask is not None:
            place = None if span is None else find_mask(span)
            statement = r.Branch(self.expressions.read(mask), statement, is_mask=True, span=place)
        for start, condition, step in loops:
            given = start.value if isinstance(start, r.ExpressionStatement) and not is_concurrent else None
            if isinstance(given, r.Assignment) and isinstance(given.target, r.Variable):
                start = r.Declaration(given.target, given.value, span=span)  # the index is the construct's own
            statement = r.LoopStatement(start, condition, step, statement, span=span)
        return [statement]

    def _read_if_stmt(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        condition = self.expressions.read(node.children[0])
        self.expressions.begin_statement(_behind_condition(span))
        with self.expressions.collect() as before:
            then = self._read_inner(node.children[1], self.expressions.statement)
        behind = _behind_condition(span)
        place = _place_condition(condition, span, None if behind is None else behind.start)
        return [r.Branch(condition, r.CompoundStatement((*before, *then)), span=place)]

    def _read_inner(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        """A statement on the line of another one, whose place it shares."""
        rule = self._find_rule(type_name(node))
        if rule is None:
            return [] if type_name(node) in SILENT else [r.Unread(type_name(node).lower().replace("_", " "), span)]
        gets, puts = self._read_remote(type_name(node), span)
        return [*gets, *rule(node, span), *puts]

    def _read_if_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        arms: list[tuple[Any, list[Syntax]]] = []
        for child in node.children:
            kind = type_name(child)
            if kind in ("If_Then_Stmt", "Else_If_Stmt", "Else_Stmt"):
                arms.append((child, []))
            elif kind != "End_If_Stmt" and arms:
                arms[-1][1].append(child)
        return self._read_arms(arms)

    def _read_arms(self, arms: Sequence[tuple[Any, list[Syntax]]]) -> list[r.Statement]:
        head, body = arms[0]
        span = self._begin(head)
        if type_name(head) == "Else_Stmt":
            return [self.read_all(body)]
        with self.expressions.collect() as before:
            condition = self.expressions.read(head.children[0])
        then = self.read_all(body)
        otherwise = join_statements(self._read_arms(arms[1:])) if len(arms) > 1 else None
        place = _place_condition(condition, span, None if span is None else span.end - len("then"))
        return [*before, r.Branch(condition, then, otherwise, span=place)]

    def _read_case_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        head, *rest = node.children
        subject = self.expressions.read(head.children[0])
        cases = _split_cases(rest, "Case_Stmt")
        exhaustive = any(str(head.children[0]).upper() == "DEFAULT" for head, _ in cases)
        return [r.Switch(subject, tuple(self.read_all(body) for _, body in cases), exhaustive, subject.span or span)]

    def _read_select_type_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        """The cases of an object's type, in which it has the components of that type."""
        head, *rest = node.children
        given, selector = head.children[0], head.children[1]
        name = str(selector if given is None else given).lower()
        view = self.expressions.view(selector)
        outer = self.expressions.scope
        cases: list[r.Statement] = []
        exhaustive = False
        for guard, body in _split_cases(rest, "Type_Guard_Stmt"):
            scope = NameScope(outer.name, outer)
            derived = outer.derived_type(str(guard.children[1]).lower())
            exhaustive = exhaustive or guard.children[1] is None
            value = view.at([integer(0)] * len(view.extents))
            if derived is not None and isinstance(value, r.Variable | r.Element | r.Field):
                scope.names[name] = Entity(value.replace(type=derived.type), derived.type)
            elif given is not None:
                scope.names[name] = view
            self._set_scope(scope)
            cases.append(self.read_all(body))
            self._set_scope(outer)
        subject = r.Variable(f"type of {name}", f"type of {name}", INT, span=span)
        return [r.Switch(subject, tuple(cases), exhaustive, span)]

    def _read_where_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        return self.masked.read(node)

    _read_where_stmt = _read_where_construct

    def _read_associate_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        head, *body = node.children
        outer = self.expressions.scope
        scope = NameScope(outer.name, outer)
        for item in list_arguments(head.children[1]):
            scope.names[str(item.children[0]).lower()] = self.expressions.view(item.children[2])
        self._set_scope(scope)
        try:
            return [self.read_all([child for child in body if type_name(child) != "End_Associate_Stmt"])]
        finally:
            self._set_scope(outer)

    def _read_block_construct(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        outer = self.expressions.scope
        scope = NameScope(outer.name, outer)
        self._set_scope(scope)
        try:
            body: list[Syntax] = []
            statements: list[r.Statement] = []
            for child in node.children:
                if type_name(child) == "Specification_Part" and self.declare_block is not None:
                    statements += self.declare_block(child, scope).own
                elif type_name(child) == "Execution_Part":
                    body += child.children
                elif type_name(child) not in ("Block_Stmt", "End_Block_Stmt"):
                    body.append(child)
            return [*statements, self.read_all(body)]
        finally:
            self._set_scope(outer)

    def _set_scope(self, scope: NameScope) -> None:
        self.scope = self.expressions.scope = scope


def _count_bytes(view: View) -> r.Expression:
    """The bytes of all elements of a view."""
    volume: r.Expression = integer(max(view.element.size, 1))
    for extent in view.extents:
        volume = r.Operation("*", (volume, extent), INDEX)
    return volume


def _split_cases(nodes: Sequence[Syntax], kind: str) -> list[tuple[Any, list[Syntax]]]:
    """The heads of cases, each with its statements."""
    cases: list[tuple[Any, list[Syntax]]] = []
    for node in nodes:
        if type_name(node) == kind:
            cases.append((node, []))
        elif cases and type_name(node) not in ("End_Select_Stmt", "End_Select_Type_Stmt"):
            cases[-1][1].append(node)
    return cases


def _runs_once(start: r.Statement | None, condition: r.Expression | None) -> bool:
    """Whether a counted loop with constant bounds makes a pass."""
    if not isinstance(start, r.ExpressionStatement) or not isinstance(start.value, r.Assignment):
        return False
    if not isinstance(condition, r.Operation):
        return False
    first, last = constant_value(start.value.value), constant_value(condition.operands[1])
    if first is None or last is None:
        return False
    return first >= last if condition.operator == ">=" else first <= last


def _place_condition(condition: r.Expression, statement: Span | None, end: int | None) -> Span | None:
    """The place of a condition. One with a value that a loop in front computes, which has the place of the statement,
    has what stands up to an `end` in that."""
    place = condition.span or statement
    return Span(place.source, place.start, end) if place is not None and place == statement and end else place


def _behind_condition(span: Span | None) -> Span | None:
    """The statement on the line of an `if`."""
    if span is None:
        return None
    text = span.source.text
    at = close_parentheses(text, text.lower().find("if", span.start, span.end) + 2, span.end)
    while at < span.end - 1 and text[at].isspace():
        at += 1
    return Span(span.source, at, span.end)


def _label(node: Syntax) -> int:
    """The label of a statement, 0 without one."""
    item = getattr(node, "item", None)
    if item is None and getattr(node, "children", None):
        item = getattr(node.children[0], "item", None)
    label = getattr(item, "label", None)
    return int(label) if label else 0
