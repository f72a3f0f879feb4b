"""Registry: the function that makes the report of each type of result.

Functions register for types from above; a type that has none yet is looked up by a loader that the package installs, so
that nobody waits for a report that is not shown. No module of the standard library is imported here: the package
imports this file before Ctrl-C is handled.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Concatenate, TypeVar

    from aspenpy.tables.table import Report

    R = TypeVar("R")

_functions: "dict[type[Any], Callable[..., Report]]" = {}
_loaders: "list[Callable[[str], None]]" = []


def register_report(kind: "type[R]", function: "Callable[Concatenate[R, ...], Report]") -> None:
    """Makes `function` the one that reports results of type `kind`, and of those derived from it."""
    _functions[kind] = function


def install_loader(load: "Callable[[str], None]") -> None:
    """`load` imports the module that registers the report of the type with the given name, if there is one."""
    _loaders[:] = [load]


def report_function(kind: "type[Any]") -> "Callable[..., Report]":
    """The function that reports results of type `kind`. Raises TypeError where none is registered."""
    for base in kind.__mro__:
        if base not in _functions:
            for load in _loaders:
                load(base.__name__)
        if base in _functions:
            return _functions[base]
    raise TypeError(f"no report is registered for {kind.__name__}")
