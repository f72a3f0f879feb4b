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
MOST_VALUES_OF_RECORD = 9

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
    "aspenpy/extract/compiled.py:_price_path",
    "aspenpy/extract/loops.py:_leave_loop",
    "aspenpy/extract/loops.py:walk",
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

PROSE = {"message", "remark", "reason", "hint", "meaning", "doubt"}
READ_FROM_PROSE = {
    "aspenpy/editor/documents.py": "a fix is what the hint of a diagnostic proposes",
    "aspenpy/shell/parser.py": "argparse says in words alone what is missing",
}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each module by its path."""
    files = sorted((ROOT / "aspenpy").rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text()) for file in files}


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
        if len(node.args) > MOST_VALUES_OF_RECORD and ast.unparse(node.func).rpartition(".")[2][:1].isupper()
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
                case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith")) if is_prose(value):
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
