"""Launches of kernels as loops over the blocks of a grid and the threads of a block.

Each launch has a function of its own: the kernel's formals and the extents of its grid and blocks, around the text of
the kernel. A kernel that nothing launches has parameters for its extents. Loops that halve or double a counter, as
reductions do, are written out where the source says how many threads a block has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.device_functions import AXES, INT, SHARED, index_variable
from aspenpy.extract.effects import walk_records
from aspenpy.language.source import Span
from aspenpy.record import Record

GRID, BLOCK = "device grid", "device block"
"""Pragmas of the loops over blocks and over the threads of a block."""

MOST_HALVINGS = 32

ASSUMED_BLOCKS = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}
"""Threads of a block along the axes that a kernel uses which nothing launches: 256 in all."""

EXTENTS = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes")


def expand_launches(programs: list[r.Program]) -> list[r.Program]:
    """Programs with a function for each launch in place of their kernels."""
    kernels = {found.key: found for program in programs for found in program.functions if found.is_kernel}
    if not kernels:
        return programs
    launches = {launch.key: launch for program in programs for launch in program.launches}
    known = _SourceConstants(programs)
    others = {found.key: found for program in programs for found in program.functions if not found.is_kernel}
    reached = {key for kernel in kernels.values() for key in _find_called(kernel.body, others)}
    others |= {key: others[key].replace(body=_write_out(others[key].body, known, {})) for key in reached}
    launched, copied = {launch.kernel for launch in launches.values()}, set[str]()
    result = []
    for program in programs:
        functions = [others[found.key] for found in program.functions if not found.is_kernel]
        own = (launches[each.key].replace(warp=program.warp) for each in program.launches if each.kernel in kernels)
        pairs = [(kernels[launch.kernel], launch) for launch in own]
        for kernel in program.functions:
            if kernel.is_kernel and kernel.key not in launched and not _is_template(kernel, launched):
                pairs.append((kernel, r.Launch(kernel.key, kernel.key, (), kernel.span, program.warp)))
        for kernel, launch in pairs:
            made, *copies = _make_launched(kernel, launch, known, others)
            functions += (made, *copies)
            copied.update(copy.key.removesuffix(f"@{launch.key}") for copy in copies)
        result.append(program.replace(functions=tuple(functions)))
    return [_drop_uncalled(program, copied, others) for program in result] if copied else result


def _drop_uncalled(program: r.Program, copied: set[str], others: Mapping[str, r.Function]) -> r.Program:
    """The program without functions that launches have copies of, and that nothing else calls."""
    rest = [found for found in program.functions if found.key not in copied]
    called = {key for found in rest for key in _find_called(found.body, others)}
    return program.replace(functions=tuple(f for f in program.functions if f.key not in copied or f.key in called))


def _is_template(kernel: r.Function, launched: set[str]) -> bool:
    """Whether a kernel is a template that launches make kernels of: those stand at the same place."""
    return kernel.key.startswith("c:@FT@") and bool(launched)


def _make_launched(
    kernel: r.Function, launch: r.Launch, known: _SourceConstants, others: Mapping[str, r.Function]
) -> list[r.Function]:
    """The function of a launch: the loops over its grid and blocks around the text of its kernel, and its own of the
    `others` that the kernel calls. Extents of blocks that the text says are numbers, since what warps do depends on
    them."""
    formals = [r.Variable(f"{launch.key}@{name}", name, INT, "formal", span=kernel.span) for name in EXTENTS]
    used = {node.key for node in walk_records(kernel.body) if isinstance(node, r.Variable)}
    extents: list[r.Expression] = [*formals]
    for at, given in enumerate(launch.extents[:6]):
        if (value := known.evaluate(given, {})) is not None and (at >= 3 or isinstance(given, r.Constant)):
            extents[at] = r.Constant(value, INT)
    if not launch.extents:
        is_used = [index_variable("threadIdx", axis).key in used for axis in AXES]
        is_used = [
            there or index_variable("blockIdx", axis).key in used for there, axis in zip(is_used, AXES, strict=True)
        ]
        assumed = [*ASSUMED_BLOCKS[max(sum(is_used), 1)]]
        extents = [formal if there else r.Constant(1, INT) for formal, there in zip(formals, is_used, strict=False)]
        extents += (r.Constant(assumed.pop(0) if there else 1, INT) for there in is_used)
    named = [(name, axis) for name in ("gridDim", "blockDim") for axis in AXES]
    pairs = [(index_variable(*place), extent) for place, extent in zip(named, extents, strict=False)]
    own = [formal.replace(key=f"{launch.key}@{formal.key}") for formal in kernel.formals]
    start = [r.Declaration(formal, mine, span=kernel.span) for formal, mine in zip(kernel.formals, own, strict=True)]
    start += [r.Declaration(index, extent, span=kernel.span) for index, extent in pairs]
    asked = launch.extents[6] if len(launch.extents) > 6 and known.evaluate(launch.extents[6], {}) is not None else None
    text, called = _size_dynamic(kernel, launch, asked or formals[-1], known, others)
    values = {
        index.key: extent.value
        for index, extent in pairs
        if isinstance(extent, r.Constant) and isinstance(extent.value, int)
    }
    body = _continue_at_returns(_write_out(text, known, values))
    for name, along, pragma in (("threadIdx", extents[3:], BLOCK), ("blockIdx", extents[:3], GRID)):
        for axis, extent in zip(AXES, along, strict=False):
            body = _loop_over(index_variable(name, axis, kernel.span), extent, body, pragma)
    whole = r.CompoundStatement((*start, body), kernel.span)
    made = kernel.replace(key=launch.key, formals=(*own, *formals), body=whole, in_place=False, launch=launch)
    return [made, *called]


def _size_dynamic(
    kernel: r.Function, launch: r.Launch, size: r.Expression, known: _SourceConstants, others: Mapping[str, r.Function]
) -> tuple[r.Statement, list[r.Function]]:
    """The text of a kernel with arrays of its launch's own in place of those of shared memory whose bytes only the
    launch says, and so the functions that it calls where they use them, too: those of one name are one array."""
    number = known.evaluate(size, {})
    size = size if number is None else r.Constant(number, INT)
    texts = {key: others[key].body for key in _find_called(kernel.body, others)}
    own: dict[str, r.Variable] = {}
    for node in (node for text in (kernel.body, *texts.values()) for node in walk_records(text)):
        if isinstance(node, r.Variable) and node.key.startswith(SHARED) and _is_open_ended(node.type):
            words = r.Operation("/", (size, r.Constant(max(1, node.type.of.size if node.type.of else 1), INT)), INT)
            key = f"{SHARED}{node.name}@{launch.key}"
            own[node.key] = node.replace(key=key, type=node.type.replace(extent=words))
    if not own:
        return kernel.body, []
    using = {key for key, text in texts.items() if _replace_parts(text, own, {}) is not text}
    using |= {key for key, text in texts.items() if using & _find_called(text, others).keys()}
    calls = {key: f"{key}@{launch.key}" for key in using}
    copies = [others[key].replace(key=calls[key], body=_replace_parts(texts[key], own, calls)) for key in sorted(using)]
    body: r.Statement = _replace_parts(kernel.body, own, calls)
    return body, copies


def _find_called(text: r.Statement, functions: Mapping[str, r.Function]) -> dict[str, None]:
    """The functions that a text calls, and those that they call."""
    found: dict[str, None] = {}
    waiting = [text]
    while waiting:
        for node in walk_records(waiting.pop()):
            if isinstance(node, r.Call) and node.key in functions and node.key not in found:
                found[node.key] = None
                waiting.append(functions[node.key].body)
    return found


def _is_open_ended(type: r.Type) -> bool:
    return type.kind == "array" and type.extent is None


def _replace_parts(node: Any, given: Mapping[str, r.Variable], calls: Mapping[str, str]) -> Any:
    """A record with other variables in place of some, and calls of other functions; itself where it has neither."""
    if isinstance(node, r.Variable):
        return given.get(node.key, node)
    if isinstance(node, Span | r.Type) or not isinstance(node, tuple | Record):
        return node
    if isinstance(node, tuple):
        parts = tuple(_replace_parts(part, given, calls) for part in node)
        return node if all(new is old for new, old in zip(parts, node, strict=True)) else parts
    fields = {name: _replace_parts(getattr(node, name), given, calls) for name in node._fields}
    if isinstance(node, r.Call) and node.key in calls:
        fields["key"] = calls[node.key]
    changed = {name: value for name, value in fields.items() if value is not getattr(node, name)}
    return node.replace(**changed) if changed else node


def _loop_over(index: r.Variable, extent: r.Expression, body: r.Statement, pragma: str) -> r.Statement:
    if isinstance(extent, r.Constant) and extent.value == 1 and (pragma, index.name[-1]) != (GRID, "x"):
        return r.CompoundStatement((r.Declaration(index, r.Constant(0, INT), span=index.span), body))
    condition = r.Operation("<", (index, extent), INT, index.span)
    step = r.assign(index, r.Constant(1, INT), index.span, operator="+")
    start = r.ExpressionStatement(r.assign(index, r.Constant(0, INT), index.span), index.span)
    return r.LoopStatement(start, condition, step, body, pragmas=(f"{pragma} {index.name[-1]}",), span=index.span)


def _continue_at_returns(node: r.Statement, within: bool = False) -> r.Statement:
    """The text of a kernel as the body of a loop over threads, which `return` goes on with."""
    match node:
        case r.CompoundStatement():
            return node.replace(statements=tuple(_continue_at_returns(part, within) for part in node.statements))
        case r.Branch():
            other = None if node.otherwise is None else _continue_at_returns(node.otherwise, within)
            return node.replace(then=_continue_at_returns(node.then, within), otherwise=other)
        case r.LoopStatement():
            return node.replace(body=_continue_at_returns(node.body, True))
        case r.Jump(kind="return"):
            return node.replace(kind="break" if within else "continue", value=None)
    return node


# -- loops that halve and double -------------------------------------------------------------------


class _SourceConstants:
    """Whole numbers that the text of a program says: literals, and variables and members that are set once."""

    def __init__(self, programs: list[r.Program]) -> None:
        self.values: dict[str, r.Expression] = {}
        changes: Counter[str] = Counter()
        for place, value in _list_settings(programs):
            changes[place] += 1
            if value is not None:
                self.values[place] = value
        self.values = {place: value for place, value in self.values.items() if changes[place] == 1}

    def evaluate(self, node: r.Expression, given: Mapping[str, int], depth: int = 0) -> int | None:
        """The value of an expression where the text says it, with the variables that are `given`."""
        match node:
            case r.Constant(value=int(number)):
                return number
            case r.Conversion(operand=operand) if node.type.kind == "integer":
                return self.evaluate(operand, given, depth)
            case r.Operation(operator=operator, operands=(left, right)) if operator in _ARITHMETIC:
                a, b = self.evaluate(left, given, depth), self.evaluate(right, given, depth)
                return None if a is None or b is None else _calculate(operator, a, b)
        place = _place_of(node)
        if place in given:
            return given[place]
        value = self.values.get(place) if depth < 8 else None
        return None if value is None else self.evaluate(value, given, depth + 1)


_ARITHMETIC = frozenset("+ - * / % >> <<".split())


def _calculate(operator: str, a: int, b: int) -> int | None:
    if operator in ("/", "%"):
        return None if b == 0 else a // b if operator == "/" else a % b
    if operator in (">>", "<<"):
        return (a >> b if operator == ">>" else a << b) if 0 <= b < 64 else None
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


def _place_of(node: Any) -> str:
    """The key of a variable, or of a member of one; nothing for other expressions."""
    if isinstance(node, r.Field) and isinstance(node.base, r.Variable):
        return f"{node.base.key}.{node.name}"
    return node.key if isinstance(node, r.Variable) else ""


def _list_settings(programs: list[r.Program]) -> Iterator[tuple[str, r.Expression | None]]:
    """Everything that is set somewhere, with its value where one `=` says it."""
    for program in programs:
        parts: list[Any] = [*program.globals, *program.initialisations, *(found.body for found in program.functions)]
        for part in parts:
            for node in walk_records(part):
                if isinstance(node, r.Declaration) and node.value is not None:
                    yield node.variable.key, node.value
                elif isinstance(node, r.Assignment):
                    yield _place_of(node.target), None if node.operator else node.value
                elif isinstance(node, r.Address):
                    yield _place_of(node.operand), None


def _write_out(node: Any, known: _SourceConstants, given: Mapping[str, int]) -> Any:
    """A statement in which loops that halve or double a counter are written out, pass after pass."""
    match node:
        case r.CompoundStatement():
            return node.replace(statements=tuple(_write_out(part, known, given) for part in node.statements))
        case r.Branch():
            other = None if node.otherwise is None else _write_out(node.otherwise, known, given)
            return node.replace(then=_write_out(node.then, known, given), otherwise=other)
        case r.LoopStatement():
            values = _list_halvings(node, known, given)
            if values is None:
                return node.replace(body=_write_out(node.body, known, given))
            counter = _find_first_value(node.start)[0]
            passes: list[r.Statement] = []
            for value in values:
                setting = r.ExpressionStatement(r.assign(counter, r.Constant(value, INT), node.span), node.span)
                passes += (setting, _write_out(node.body, known, {**given, counter.key: value}))
            return r.CompoundStatement(tuple(passes), node.span)
    return node


def _find_first_value(node: Any) -> tuple[Any, Any]:
    """The variable that a loop begins with, and its first value."""
    if isinstance(node, r.CompoundStatement) and len(node.statements) == 1:
        node = node.statements[0]
    if isinstance(node, r.Declaration):
        return node.variable, node.value
    value = node.value if isinstance(node, r.ExpressionStatement) else None
    return (value.target, value.value) if isinstance(value, r.Assignment) and not value.operator else (None, None)


def _list_halvings(node: r.LoopStatement, known: _SourceConstants, given: Mapping[str, int]) -> list[int] | None:
    """The values of a counter that its loop halves or doubles; None for other loops, and where the text does not say
    them."""
    counter, first = _find_first_value(node.start)
    if not isinstance(counter, r.Variable) or first is None or (by := _factor_of(node.step, counter.key)) is None:
        return None
    value = known.evaluate(first, given)
    if value is None or any(
        isinstance(part, r.Assignment) and _place_of(part.target) == counter.key for part in walk_records(node.body)
    ):
        return None
    found: list[int] = []
    while len(found) <= MOST_HALVINGS:
        holds = _holds(node.condition, known, {**given, counter.key: value})
        if holds is None:
            return None
        if not holds:
            return found
        found.append(value)
        value = value * by if by > 0 else value // -by
    return None


def _factor_of(step: Any, key: str) -> int | None:
    """The factor by which a step multiplies a variable, negative where it divides; None for other steps."""
    if not isinstance(step, r.Assignment) or _place_of(step.target) != key:
        return None
    operator, value = step.operator, step.value
    if not operator and isinstance(value, r.Operation) and len(value.operands) == 2:
        if _place_of(value.operands[0]) != key:
            return None
        operator, value = value.operator, value.operands[1]
    if not isinstance(value, r.Constant) or not isinstance(value.value, int) or not 0 < value.value < 8:
        return None
    return {
        "*": value.value, "/": -value.value, "<<": 1 << value.value, ">>": -(1 << value.value)
    }.get(operator) if operator in ("<<", ">>") or value.value > 1 else None  # fmt: skip


def _holds(condition: Any, known: _SourceConstants, given: Mapping[str, int]) -> bool | None:
    """Whether a condition on whole numbers holds; None where the text does not say it."""
    if isinstance(condition, r.Operation) and condition.operator in ("<", "<=", ">", ">=", "!="):
        left, right = (known.evaluate(part, given) for part in condition.operands)
        if left is None or right is None:
            return None
        tests = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "!=": left != right}
        return tests[condition.operator]
    value = None if condition is None else known.evaluate(condition, given)
    return None if value is None else bool(value)
