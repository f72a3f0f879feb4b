"""Values of a procedure that are computed once: equal expressions, and what one branch alone needs.

GCC numbers values along the tree of dominators and takes an earlier one in place of a second computation, and moves a
computation into the branch that uses it alone (-ftree-fre, -ftree-sink at -O1; Muchnick, Advanced Compiler Design and
Implementation, 1997, sections 12.4 and 13.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import child_records, walk_records
from aspenpy.extract.fortran_scopes import constant_value
from aspenpy.extract.library_functions import EXTREMES, FREE, PURE, SQUARE_ROOTS
from aspenpy.extract.places import root_variable

Make = Callable[[str, r.Type], r.Variable]

CONSTANT_CALLS = PURE | SQUARE_ROOTS | EXTREMES.keys() | FREE
COMMUTATIVE = frozenset("+*")

STATEMENTS = (r.CompoundStatement, r.LoopStatement, r.Branch, r.Switch, r.ExpressionStatement, r.Declaration)

MEMORY, HEAP = "memory", "heap"
"""Memory that a call may change, and memory that a store through a pointer may."""


def share_values(body: r.CompoundStatement, make_variable: Make) -> r.CompoundStatement:
    """A procedure's statements in which equal values are computed once, and those of one branch in that."""
    constants, stored = _find_constants(body), StoredNames()
    counting = _Sharing(make_variable, constants, stored)
    counting.walk_block(body.statements)
    sharing = _Sharing(make_variable, constants, stored, counting.uses)
    shared = r.CompoundStatement(tuple(sharing.walk_block(body.statements)))
    return r.CompoundStatement(tuple(_Sinking(shared).sink(shared.statements)))


class _Sharing:
    """A walk that numbers values. The first one, without `shared`, counts how often each is needed again."""

    def __init__(
        self,
        make_variable: Make,
        constants: Mapping[str, r.Constant],
        stored: StoredNames,
        shared: Counter[int] | None = None,
    ) -> None:
        self.make_variable, self.constants, self.stored, self.shared = make_variable, constants, stored, shared
        self.uses: Counter[int] = Counter()  # of values after their first one, by the order of these
        self.versions: dict[str, int] = {}
        self.available: dict[int, int] = {}  # the first computation of a number
        self.kept: dict[int, r.Variable] = {}
        self.before: list[r.Statement] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, tuple[r.Expression, int | None]] = {}  # numbers of nodes, until something changes
        self._found = self._changed = 0

    # -- statements --------------------------------------------------------------------------------

    def walk_block(self, statements: Sequence[r.Statement]) -> list[r.Statement]:
        found: list[r.Statement] = []
        for statement in statements:
            outer, self.before = self.before, []
            new = self._walk(statement)
            found += [*self.before, new]
            self.before = outer
        return found

    def _walk(self, node: r.Statement) -> r.Statement:
        match node:
            case r.ExpressionStatement(value=r.Assignment() as inner):
                value = self._share(inner.value)
                self._change(inner)
                return node.replace(value=inner.replace(value=value))
            case r.Declaration(value=value) if value is not None:
                statement = node.replace(value=self._share(value))
                self._change(node)
                return statement
            case r.CompoundStatement():
                return node.replace(statements=tuple(self.walk_block(node.statements)))
            case r.Branch():
                return self._walk_branch(node)
            case r.Switch():
                return node.replace(cases=tuple(self._walk_arms(node.cases)))
            case r.LoopStatement():
                self._change(node)
                (body,) = self._walk_arms([node.body])
                self._change(node)
                return node.replace(body=body)
        self._change(node)
        return node

    def _walk_branch(self, node: r.Branch) -> r.Statement:
        condition = self._share(node.condition)
        arms = [node.then, *([] if node.otherwise is None else [node.otherwise])]
        then, *otherwise = self._walk_arms(arms)
        return node.replace(condition=condition, then=then, otherwise=otherwise[0] if otherwise else None)

    def _walk_arms(self, arms: Sequence[r.Statement]) -> list[r.Statement]:
        """Statements of which one runs, or none: what they compute is known in them alone."""
        available, versions = self.available, self.versions
        statements: list[r.Statement] = []
        for arm in arms:
            self.available, self.versions = dict(available), dict(versions)
            self._known.clear()
            inside = self.walk_block([arm])
            statements.append(inside[0] if len(inside) == 1 else r.CompoundStatement(tuple(inside)))
        self.available, self.versions = available, versions
        self._known.clear()
        for arm in arms:
            self._change(arm)
        return statements

    def _change(self, node: Any) -> None:
        """Notes what a statement may change."""
        self._known.clear()
        for name in self.stored.find(node):
            self._changed += 1
            self.versions[name] = self._changed

    # -- expressions -------------------------------------------------------------------------------

    def _share(self, node: r.Expression) -> r.Expression:
        """An expression with variables in place of what was computed before, or will be needed again."""
        if isinstance(node, r.Variable):
            return self.constants.get(node.key, node)
        if not isinstance(node, r.Operation | r.Conversion | r.Call | r.Several):
            return node
        number = self._number(node) if _is_computed(node) else None
        if number is not None and number in self.available:
            first = self.available[number]
            self.uses[first] += 1
            return self.kept.get(first, node)
        first, self._found = self._found, self._found + 1
        found = _replace_children(node, self._share)
        folded = _fold(found)
        if number is None or folded is not found:
            return folded
        self.available[number] = first
        if self.shared is None or not self.shared[first]:
            return found
        self.kept[first] = kept = self.make_variable("shared", node.type)
        self.before.append(r.Declaration(kept, found, span=node.span))
        return kept

    def _number(self, node: r.Expression) -> int | None:
        """A number that equal values share; None for what may differ each time."""
        if id(node) not in self._known:
            key = self._key(node)
            number = None if key is None else self._numbers.setdefault(key, len(self._numbers))
            self._known[id(node)] = (node, number)
        return self._known[id(node)][1]

    def _key(self, node: r.Expression) -> tuple[Any, ...] | None:
        match node:
            case r.Constant():
                return ("constant", node.value, node.type.kind, node.type.size)
            case r.Variable():
                is_own = node.scope != "global" and not node.is_reference
                return ("variable", node.key, self._version(node.key), 0 if is_own else self._version(MEMORY))
            case r.Element(base=base, index=index, first=first):
                inner = [self._number(part) for part in (base, index, first) if part is not None]
                is_heap = base.type.kind == "pointer" and not base.type.restrict
                root = root_variable(base)
                memory = (self._version(HEAP if is_heap else root or HEAP), self._version(MEMORY))
                return None if None in inner else ("element", *inner, *memory)
            case r.Field(base=base, name=name):
                number = self._number(base)
                root = root_variable(node)
                return None if number is None else (name, number, self._version(root or HEAP), self._version(MEMORY))
            case r.Operation(operator=operator, operands=operands):
                numbers = [self._number(part) for part in operands]
                if None in numbers:
                    return None
                ordered = sorted(numbers) if operator in COMMUTATIVE else numbers  # type: ignore[type-var]
                return (operator, node.type.kind, node.type.size, *ordered)
            case r.Conversion(operand=operand):
                number = self._number(operand)
                return None if number is None else ("convert", node.type.kind, node.type.size, number)
            case r.Call(name=name, arguments=arguments) if name in CONSTANT_CALLS:
                numbers = [self._number(part) for part in arguments]
                return None if None in numbers else (f"call {name}", *numbers)
        return None

    def _version(self, name: str) -> int:
        return self.versions.get(name, 0)


def _find_constants(body: r.CompoundStatement) -> dict[str, r.Constant]:
    """Real variables of a procedure's own that have one value in all of it, a constant."""
    constants: dict[str, r.Constant | None] = {}
    for node in walk_records(body):
        variable, value = None, None
        if isinstance(node, r.Assignment) and isinstance(node.target, r.Variable):
            variable, value = node.target, node.value if not node.operator else None
        elif isinstance(node, r.Declaration):
            variable, value = node.variable, node.value
        elif isinstance(node, r.Address) and isinstance(node.operand, r.Variable):
            variable = node.operand
        if variable is not None:
            is_own = variable.type.kind == "real" and variable.scope == "local" and not variable.is_reference
            is_first = variable.key not in constants and is_own and isinstance(value, r.Constant)
            constants[variable.key] = value if is_first and isinstance(value, r.Constant) else None
    return {key: value for key, value in constants.items() if value is not None}


def _fold(node: r.Expression) -> r.Expression:
    """An operation on constants as its value; a factor or divisor of 1 is left out."""
    if not isinstance(node, r.Operation) or node.type.kind != "real" or len(node.operands) != 2:
        return node
    left, right = node.operands
    for one, other in ((left, right), (right, left)):
        is_one = isinstance(one, r.Constant) and one.value == 1 and one.type.kind == "real"
        if is_one and (node.operator == "*" or (node.operator == "/" and one is right)):
            return other
    value = constant_value(node) if isinstance(left, r.Constant) and isinstance(right, r.Constant) else None
    return node if value is None else r.Constant(float(value), node.type, span=node.span)


def _is_computed(node: r.Expression) -> bool:
    """Whether an expression is arithmetic on real numbers."""
    if isinstance(node, r.Call):
        return node.name in CONSTANT_CALLS and node.type.kind == "real"
    return isinstance(node, r.Operation | r.Conversion) and node.type.kind == "real"


def _replace_children(
    node: r.Operation | r.Conversion | r.Call | r.Several, change: Callable[[r.Expression], r.Expression]
) -> r.Expression:
    match node:
        case r.Operation(operands=operands):
            return node.replace(operands=tuple(map(change, operands)))
        case r.Call(arguments=arguments):
            return node.replace(arguments=tuple(map(change, arguments)))
        case r.Several(parts=parts):
            return node.replace(parts=tuple(map(change, parts)))
    return node.replace(operand=change(node.operand))


class StoredNames:
    """Names of all that statements may change: keys of variables, memory behind pointers, or all memory."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, frozenset[str]]] = {}

    def find(self, node: Any) -> frozenset[str]:
        """The names of a statement, with all inside it; those of each are found once."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, frozenset(self._list(node)))
        return self._known[id(node)][1]

    def _list(self, node: Any) -> Iterator[str]:
        match node:
            case r.Assignment():
                yield _stored_name(node.target)
            case r.Declaration():
                yield node.variable.key
            case r.Address():
                yield root_variable(node.operand) or HEAP
            case r.Unread():
                yield from (MEMORY, HEAP)
            case r.Call() if node.name not in CONSTANT_CALLS:
                yield from (MEMORY, HEAP)
        for part in child_records(node):
            is_plain = isinstance(part, r.Constant | r.Variable)
            yield from () if is_plain else self.find(part) if isinstance(part, STATEMENTS) else self._list(part)


def _stored_name(target: r.Expression) -> str:
    node = target
    while isinstance(node, r.Element | r.Field):
        if isinstance(node, r.Element) and node.base.type.kind == "pointer" and not node.base.type.restrict:
            return HEAP
        node = node.base
    return node.key if isinstance(node, r.Variable) else HEAP


# -- values that one branch needs ------------------------------------------------------------------


class _Sinking:
    """Moves values that one branch alone uses into it."""

    def __init__(self, body: r.CompoundStatement) -> None:
        self.stored = StoredNames()
        self._seen: dict[int, tuple[r.Statement, Counter[str], frozenset[str]]] = {}
        self.values: Counter[str] = Counter()
        for node in walk_records(body):
            if isinstance(node, r.Declaration) and node.value is not None:
                self.values[node.variable.key] += 1
            elif isinstance(node, r.Assignment) and isinstance(node.target, r.Variable):
                self.values[node.target.key] += 1
        self.reads = _count_reads(body)

    def sink(self, statements: Sequence[r.Statement]) -> list[r.Statement]:
        found: list[r.Statement] = []
        for statement in reversed(statements):
            at = self._place(statement, found)
            found.insert(at, statement)
            moved = self._enter(statement, found[at + 1]) if at + 1 < len(found) else None
            if moved is not None:
                found[at : at + 2] = [moved]
        return [self._sink_inside(statement) for statement in found]

    def _place(self, statement: r.Statement, behind: Sequence[r.Statement]) -> int:
        """The place of the statement that uses a value first, if nothing before that changes what it consists of."""
        name = self._movable(statement)
        if name is None:
            return 0
        needed = _find_needed(statement)
        for place, other in enumerate(behind):
            reads, stored = self._look_at(other)
            if reads[name]:
                return place
            if not needed.isdisjoint(stored):
                return 0
        return 0

    def _look_at(self, statement: r.Statement) -> tuple[Counter[str], frozenset[str]]:
        """Reads and stores of a statement, found once."""
        known = self._seen.get(id(statement))
        if known is None:
            known = self._seen[id(statement)] = (statement, _count_reads(statement), self.stored.find(statement))
        return known[1:]

    def _movable(self, statement: r.Statement) -> str | None:
        """The variable of a statement that gives it its only value, by arithmetic on real numbers."""
        target, value = _split_value(statement)
        if target is None:
            return None
        is_own = target.type.kind == "real" and target.scope == "local" and not target.is_reference
        is_plain = all(
            isinstance(part, r.Constant | r.Variable | r.Element | r.Field | r.Operation | r.Conversion)
            or (isinstance(part, r.Call) and part.name in CONSTANT_CALLS)
            for part in walk_records(value)
        )
        return target.key if is_own and is_plain and self.values[target.key] == 1 else None

    def _enter(self, statement: r.Statement, branch: r.Statement) -> r.Branch | None:
        """The branch behind a statement with that in the only arm that uses its value."""
        name = self._movable(statement)
        if name is None or not isinstance(branch, r.Branch):
            return None
        arms = [branch.then, branch.otherwise]
        for place, arm in enumerate(arms):
            if arm is not None and _count_reads(arm)[name] == self.reads[name]:
                arms[place] = r.CompoundStatement((_as_declaration(statement), arm))
                return branch.replace(then=arms[0], otherwise=arms[1])
        return None

    def _sink_inside(self, node: r.Statement) -> r.Statement:
        match node:
            case r.CompoundStatement():
                return node.replace(statements=tuple(self.sink(node.statements)))
            case r.Branch(then=then, otherwise=otherwise):
                other = None if otherwise is None else self._sink_inside(otherwise)
                return node.replace(then=self._sink_inside(then), otherwise=other)
            case r.LoopStatement(body=body):
                return node.replace(body=self._sink_inside(body))
            case r.Switch(cases=cases):
                return node.replace(cases=tuple(map(self._sink_inside, cases)))
        return node


def _split_value(statement: r.Statement) -> tuple[r.Variable | None, r.Expression | None]:
    """The variable that a statement gives a value, and that value; None for other statements."""
    match statement:
        case r.ExpressionStatement(value=r.Assignment(operator="", target=r.Variable() as target, value=value)):
            return target, value
        case r.Declaration(variable=target, value=value) if value is not None:
            return target, value
    return None, None


def _as_declaration(statement: r.Statement) -> r.Declaration:
    """A value that has left its place in the source, and with that its count in a run."""
    target, value = _split_value(statement)
    assert target is not None
    return r.Declaration(target, value, span=statement.span)


def _find_needed(statement: r.Statement) -> set[str]:
    """Names whose change changes the value of a statement."""
    _, value = _split_value(statement)
    keys: set[str] = set()
    for part in walk_records(value):
        if isinstance(part, r.Variable):
            keys |= {part.key} if part.scope == "local" and not part.is_reference else {part.key, MEMORY}
        elif isinstance(part, r.Element | r.Field):
            keys |= {MEMORY, HEAP}
    return keys


def _count_reads(node: Any) -> Counter[str]:
    """Number of reads of each variable, in a record and all inside it."""
    reads: Counter[str] = Counter()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, r.Variable):
            reads[part.key] += 1
        elif isinstance(part, r.Assignment) and isinstance(part.target, r.Variable) and not part.operator:
            waiting.append(part.value)
        else:
            waiting.extend(child_records(part))
    return reads
