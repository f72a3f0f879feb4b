"""What a reader stumbles over, where the syntax tree shows it: values that are known by position alone, functions that
do not fit on a screen, decisions that hang on the words of a message. The lists of exceptions only get shorter."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

GENERATED = "aspenpy/initialisers.py"

MOST_BY_POSITION = 6
MOST_LINES = 40
MOST_VALUES_OF_RECORD = 5
BEING_NAMED = {"cost": 9}
"""Rooms whose records may still have more values by position."""

MANY_BY_POSITION = {
    "aspenpy/answers/case.py:__init__": "a question, whose first arguments users give in this order",
    "aspenpy/cost/network/low_diameter.py:aries": "sizes in the order in which a machine states them",
}

LONG = {
    "aspenpy/answers/energy/optimum.py:optimum",
    "aspenpy/answers/explanation.py:_make_step",
    "aspenpy/answers/played_blocks.py:part_of",
    "aspenpy/cost/interconnect.py:interconnect_of",
    "aspenpy/cost/target.py:target_of",
    "aspenpy/explore/scaling.py:__init__",
    "aspenpy/extract/calls.py:_call_library",
    "aspenpy/extract/loops.py:_leave_loop",
    "aspenpy/extract/loops.py:_walk",
    "aspenpy/extract/scope.py:__init__",
    "aspenpy/extract/text.py:_write_measured",
    "aspenpy/extract/text.py:_write_requirements",
    "aspenpy/probe/kernels.py:derive_gpu_numbers",
    "aspenpy/report/advice/scalability.py:parts",
    "aspenpy/report/energy.py:report_energy",
    "aspenpy/report/learnt.py:draw_validation",
    "aspenpy/shell/commands/advise.py:run_advise",
    "aspenpy/sweeps/run.py:compute_stretches",
}
"""Functions of more than 40 lines beside their docstrings; the longest has 47."""

UNDERSCORED = {"build.py": "words of Python that are also words of the language"}

TAKING_APART = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split", "replace"}
PROSE = {"message", "remark", "reason", "hint", "meaning", "doubt"}
READ_FROM_PROSE = {
    "aspenpy/editor/documents.py": "a fix is what the hint of a diagnostic proposes",
    "aspenpy/engine/javascript_text.py": "C is JavaScript in what cannot be translated",
    "aspenpy/models/machine/sheets.py": "a remark is what a user writes",
    "aspenpy/page/machine.py": "a page has no backquotes",
    "aspenpy/shell/parser.py": "argparse says in words alone what is missing",
}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each module by its path."""
    files = sorted((ROOT / "aspenpy").rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def functions() -> list[tuple[str, ast.FunctionDef]]:
    """All functions with the path of their module."""
    return [
        (path, node)
        for path, tree in trees().items()
        if path != GENERATED
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


@cache
def calls_inside_functions() -> list[tuple[str, ast.Call]]:
    """Calls, but for those of tables, whose rows stand below each other at the top of a module."""
    calls = {node: path for path, function in functions() for node in ast.walk(function) if isinstance(node, ast.Call)}
    return [(path, node) for node, path in calls.items()]


def is_bare(node: ast.expr) -> bool:
    """Whether an argument says nothing of what it is for: None, True, a number, an empty collection."""
    match node:
        case ast.UnaryOp(operand=inner):
            return is_bare(inner)
        case ast.Constant(value=value):
            return not isinstance(value, str) or not value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return not parts
    return False


def test_few_arguments_are_known_by_position() -> None:
    many = {
        f"{path}:{node.name}"
        for path, node in functions()
        if len([item for item in node.args.posonlyargs + node.args.args if item.arg not in ("self", "cls")])
        > MOST_BY_POSITION
    }
    assert many == set(MANY_BY_POSITION)


def test_a_fourth_argument_without_a_word_has_a_name() -> None:
    """`f(a, b, c, False)` sends a reader to the definition; tests of types say where names do not exist."""
    bare = {
        f"{path}:{node.lineno} {ast.unparse(node.func)}"
        for path, node in calls_inside_functions()
        if any(is_bare(argument) for argument in node.args[3:])
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
        and ast.unparse(node.func) not in ("min", "max", "graph.apply", "lib.clang_getExpansionLocation")
    }
    assert not bare


def test_large_records_are_made_with_names() -> None:
    large = [
        f"{path}:{node.lineno} {ast.unparse(node.func)}"
        for path, node in calls_inside_functions()
        if len(node.args) > BEING_NAMED.get(path.split("/")[1], MOST_VALUES_OF_RECORD)
        and ast.unparse(node.func).rpartition(".")[2][:1].isupper()
    ]
    assert not large


def test_functions_fit_on_a_screen() -> None:
    def lines(node: ast.FunctionDef) -> int:
        documented = ast.get_docstring(node, clean=False) is not None
        docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0  # type: ignore[operator]
        return node.end_lineno - node.lineno + 1 - docstring  # type: ignore[operator]

    long = {f"{path}:{node.name}" for path, node in functions() if lines(node) > MOST_LINES}
    assert long == LONG


def test_names_end_with_letters() -> None:
    """`type_` says only that another name was taken."""
    odd = {
        f"{path}: {name}"
        for path, tree in trees().items()
        if path.rpartition("/")[2] not in UNDERSCORED
        for node in ast.walk(tree)
        for name in (node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else "",)
        if name.endswith("_") and not name.startswith("_")
    }
    assert not odd


def test_nothing_is_decided_by_the_words_of_a_message() -> None:
    def is_prose(node: ast.expr) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        return name in PROSE

    reading = set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=value, attr=method), args=[_, *_]) if is_prose(value):
                    if method in TAKING_APART:
                        reading.add(path)
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute() as value], left=left) if (
                    is_prose(value)
                ):
                    reading |= {path} if isinstance(left, ast.Constant | ast.JoinedStr) else set()
    assert reading == set(READ_FROM_PROSE)


def test_the_size_of_a_type_is_asked_for_in_one_place() -> None:
    """libclang ends the process when it is asked for the size of a placeholder."""
    asking = [
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "get_size"
    ]
    assert asking == ["aspenpy/extract/tree_types.py"]


# -- values that a reader has to count, and decisions that hang on the wrong thing -----------------

POSITIONAL_TUPLES = {
    "aspenpy/cost/caches/offsets.py:_places",
    "aspenpy/explore/snapshot.py:key",  # a key, whose values nobody takes apart
    "aspenpy/extract/counted_units.py:sort_key",  # a key too
    "aspenpy/learn/estimators/acee.py:regression_residuals",
    "aspenpy/learn/measurements/tools.py:read_table_lines",
    "aspenpy/models/machine/texts.py:_walk_numbers",
}

FOREIGN = {
    "aspenpy/answers/scope.py": "numbers of other libraries",
    "aspenpy/build.py": "machines, which have no name of their own",
    "aspenpy/engine/arrays.py": "numbers of NumPy",
    "aspenpy/expr/lanes.py": "numbers of NumPy",
    "aspenpy/expr/sympy_view.py": "SymPy's functions",
    "aspenpy/extract/counted_fortran.py": "fparser's nodes",
    "aspenpy/extract/fortran.py": "fparser's nodes",
    "aspenpy/extract/fortran_declarations.py": "fparser's nodes",
    "aspenpy/extract/fortran_expressions.py": "fparser's nodes",
    "aspenpy/extract/fortran_intrinsics.py": "rules by name",
    "aspenpy/extract/fortran_layout.py": "fparser's nodes",
    "aspenpy/extract/fortran_statements.py": "fparser's nodes",
    "aspenpy/language/opening.py": "what an operating system has",
    "aspenpy/learn/fitting/measurements.py": "numbers of NumPy",
    "aspenpy/learn/measurements/sheet.py": "tables of other libraries",
    "aspenpy/probe/messages.py": "errors of several kinds",
    "aspenpy/shell/completion.py": "arguments that a command may not have",
    "aspenpy/shell/main.py": "arguments that a command may not have",
    "aspenpy/shell/operands.py": "arguments that a command may not have",
    "aspenpy/shell/options.py": "arguments that a command may not have",
    "aspenpy/shell/output.py": "arguments that a command may not have",
    "aspenpy/sweeps/grid.py": "models, or their names",
    "aspenpy/sweeps/run.py": "processes of Python",
    "aspenpy/sweeps/store.py": "what an operating system has",
    "aspenpy/tables/formats.py": "cells of any type",
}
"""Where `getattr` has a default: on objects that are not ours. A misspelt field of ours would decide silently."""

LAWS = {"law", "make", "rule", "derivative"}
DECIDED_BY_FUNCTION = {"aspenpy/expr/functions.py": "a check of the table: slopes of 0 need jumps"}

MOST_CAUGHT = 9
"""Lines of a `try` that catches what a mistake of ours may raise, such as a TypeError."""

BROAD = {"Exception", "BaseException", "TypeError", "AttributeError", "KeyError", "ValueError"}

SAYS_NOTHING = {"_check", "_run", "_range", "_do", "_handle", "_process", "_get"}

WRITE_INTO_ARGUMENTS = {
    "aspenpy/models/machine/model.py:_walk": "the components on the way to the one that is walked",
    "aspenpy/page/machine.py:_kernels": "the page's numbers, to which each is added",
    "aspenpy/page/machine.py:_resources": "the page's numbers, to which each is added",
}
WRITING = {"add", "append", "discard", "extend", "pop", "remove", "setdefault", "update"}

RAISING = ("require_", "refuse_", "deliver", "emit", "output", "write")


def test_tuples_of_more_than_three_have_names() -> None:
    def has_many(node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
                return len(parts) > 3
        return False

    many = {
        f"{path}:{node.name}"
        for path, node in functions()
        if node.returns is not None and any(has_many(part) for part in ast.walk(node.returns))  # type: ignore[arg-type]
    }
    assert many == POSITIONAL_TUPLES


def test_fields_of_ours_have_no_default_at_the_place_of_the_call() -> None:
    defaulted = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) == 3
    }
    assert defaulted == set(FOREIGN)


def test_nothing_is_decided_by_the_identity_of_a_function() -> None:
    def sides(node: ast.Compare) -> list[ast.expr]:
        return [node.left, *node.comparators] if isinstance(node.ops[0], ast.Is | ast.IsNot) else []

    deciding = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(isinstance(side, ast.Attribute) and side.attr in LAWS for side in sides(node))
        and not any(isinstance(side, ast.Constant) for side in sides(node))
    }
    assert deciding == set(DECIDED_BY_FUNCTION)


def test_broad_errors_are_caught_over_few_lines() -> None:
    def names(node: ast.ExceptHandler) -> set[str]:
        return {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)} if node.type else BROAD

    long = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and node.body[-1].end_lineno - node.body[0].lineno + 1 > MOST_CAUGHT  # type: ignore[operator]
        and any(names(handler) & BROAD for handler in node.handlers)
    }
    assert not long


def test_functions_are_named_for_what_they_check_or_run() -> None:
    assert not {f"{path}:{node.name}" for path, node in functions() if node.name in SAYS_NOTHING}


def test_generators_write_into_nothing_that_they_were_given() -> None:
    def is_written(node: ast.AST, given: set[str]) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                return name in given and method in WRITING
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
                return name in given
            case ast.AugAssign(target=ast.Name(id=name), op=ast.BitOr()):
                return name in given
        return False

    writing = {
        f"{path}:{node.name}"
        for path, node in functions()
        if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
        and any(is_written(part, {item.arg for item in node.args.args} - {"self", "cls"}) for part in ast.walk(node))
    }
    assert writing == set(WRITE_INTO_ARGUMENTS)


def test_calls_for_their_error_alone_say_so() -> None:
    """A value that nobody takes: by the name of the function, by a comment, or since it stands in a `try`."""
    returned: dict[str, set[str]] = {}
    for _, node in functions():
        returned.setdefault(node.name, set()).add("None" if node.returns is None else ast.unparse(node.returns))
    silent = []
    for path, tree in trees().items():
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        caught = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.Try | ast.With)
            for statement in node.body
            for part in ast.walk(statement)
        }
        ours = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        ours |= {item.name for node in tree.body if isinstance(node, ast.ImportFrom) for item in node.names}
        for node in ast.walk(tree):
            match node:
                case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in ours and node not in caught:
                    values = returned.get(name, {"None"})
                    if values & {"None", "NoReturn"} or name.lstrip("_").startswith(RAISING):
                        continue
                    silent += [] if "#" in lines[node.lineno - 1] else [f"{path}:{node.lineno} {name}"]
    assert not silent
