"""Arguments of the public functions: what each takes, checked where Python calls in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any

from aspenpy.record import NamedTuple


class ArgumentKind(NamedTuple):
    """Kind of an argument: a test of the value, and its description in words."""

    accepts: Callable[[Any], bool]
    wanted: str

    def or_none(self) -> ArgumentKind:
        """A kind that also takes None."""
        return ArgumentKind(lambda value: value is None or self.accepts(value), f"{self.wanted}, or None")


def instances(kinds: type | tuple[type, ...], wanted: str) -> ArgumentKind:
    """Arguments that are an instance of one of these types."""
    return ArgumentKind(lambda value: isinstance(value, kinds), wanted)


def _is_flag(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # Python's and NumPy's


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_list_of(value: Any, kinds: type | tuple[type, ...]) -> bool:
    return _is_list(value) and (iter(value) is value or all(isinstance(item, kinds) for item in value))


def _is_model(value: Any, *classes: str) -> bool:
    """Whether a value is a model, by the names of its classes: the models import this module."""
    return any(base.__name__ in classes for base in type(value).__mro__)


def _is_axis_like(value: Any) -> bool:
    return isinstance(value, str) or hasattr(value, "name")  # a text, a variable or an axis


def name_of(what: str) -> ArgumentKind:
    """A name or another short text."""
    return instances(str, what)


FLAG = ArgumentKind(_is_flag, "True or False")
WHOLE = instances(Integral, "a whole number")
REAL = instances(Real, "a number")
TEXTS = ArgumentKind(lambda value: isinstance(value, str) or _is_list_of(value, str), "a text, or a list of texts")
NAMES = ArgumentKind(lambda value: _is_list_of(value, str), "a list of names")
PATH = instances((str, os.PathLike), "a path")
PATHS = ArgumentKind(
    lambda value: PATH.accepts(value) or _is_list_of(value, (str, os.PathLike)), "a path, or a list of paths"
)
MAPPING = ArgumentKind(lambda it: isinstance(it, Mapping) and _is_list_of([*it], str), "a mapping of names to values")
VARIED = ArgumentKind(
    lambda value: (
        _is_axis_like(value) or hasattr(value, "variables") or (_is_list(value) and all(map(_is_axis_like, value)))
    ),
    'what varies: a text such as "n=1..100", or a list of them',
)

MACHINE = ArgumentKind(lambda value: _is_model(value, "Machine"), "a machine, as `load_machine` gives")

ARGUMENTS: dict[str, ArgumentKind] = {
    "allow_outside": FLAG,
    "backend": name_of("the name of a back end"),
    "best": FLAG,
    "chains": FLAG,
    "columns": MAPPING.or_none(),
    "regions": MAPPING.or_none(),
    "confidence": REAL,
    "bind": name_of("the type or name of a component").or_none(),
    "cores": WHOLE.or_none(),
    "cores_per_rank": WHOLE.or_none(),
    "count": NAMES.or_none(),
    "domains": WHOLE.or_none(),
    "distribution": name_of("the name of a distribution").or_none(),
    "placement": ArgumentKind(
        lambda value: _is_model(value, "PlacementOptions"), "where ranks run, as `PlacementOptions` has it"
    ),
    "everywhere": FLAG,
    "counts": name_of("a rule such as `cube`").or_none(),
    "fail_fast": FLAG,
    "flags": NAMES,
    "free": NAMES,
    "functions": NAMES,
    "integer": NAMES,
    "integers": FLAG,
    "isoefficiency": REAL.or_none(),
    "kernel": name_of("the name of a kernel"),
    "kinds": NAMES.or_none(),
    "level": name_of("the name of a level"),
    "line": WHOLE,
    "maximise": TEXTS,
    "memory": WHOLE,
    "method": name_of("the name of a method"),
    "metric": name_of("the name of a metric"),
    "minimise": TEXTS,
    "mode": name_of('"strong" or "weak"'),
    "model": instances((str, os.PathLike), "a path, a name of the library or a text in the language"),
    "most": WHOLE,
    "name": name_of("a name"),
    "nodes": WHOLE.or_none(),
    "over": MAPPING,
    "overlap": FLAG,
    "pairs": FLAG,
    "parameter": name_of("the name of a parameter").or_none(),
    "passes": WHOLE,
    "name_or_path": instances((str, os.PathLike), "a network of the library or the path of its config.json"),
    "path": PATHS,
    "per_rank": FLAG,
    "problem": NAMES,
    "processor_time": FLAG,
    "ranges": MAPPING.or_none(),
    "ranks": ArgumentKind(lambda value: _is_list_of(value, Real), "a list of numbers of ranks"),
    "ranks_on": name_of("the type or name of a component").or_none(),
    "ranks_per_device": WHOLE.or_none(),
    "ranks_per_node": WHOLE.or_none(),
    "ranks_per_socket": WHOLE.or_none(),
    "recipe": ArgumentKind(lambda value: value is None or _is_model(value, "Recipe"), "a `Recipe`, or None"),
    "resource": name_of("the name of a resource"),
    "sample": REAL.or_none(),
    "samples": WHOLE.or_none(),
    "schedule": name_of('"static" or "dynamic"').or_none(),
    "seed": WHOLE,
    "set": MAPPING.or_none(),
    "socket": name_of("the name of a socket").or_none(),
    "simulate": FLAG.or_none(),
    "sockets": NAMES,
    "spin": FLAG,
    "subject_to": TEXTS,
    "text": name_of("a model as a string"),
    "threads": name_of('"close" or "spread"').or_none(),
    "threads_per_core": WHOLE.or_none(),
    "trace_format": name_of("the name of a format").or_none(),
    "traits": NAMES,
    "transfer": FLAG,
    "vary": VARIED,
    "yes": FLAG,
    "zip": ArgumentKind(lambda value: _is_list_of(value, (list, tuple)), "a list of lists of names"),
}
"""Arguments by name: one name takes the same in every function that has it, but for the next table."""

EXCEPTIONS: dict[tuple[str, str], ArgumentKind] = {
    ("check", "machine"): MACHINE.or_none(),
    ("compare", "machines"): ArgumentKind(
        lambda value: _is_model(value, "Machine") or _is_list(value), "a machine, or a list of machines"
    ),
    ("optimise", "best"): WHOLE,
    ("fit", "data"): ArgumentKind(
        lambda value: (
            isinstance(value, str | os.PathLike)
            or _is_model(value, "Source", "MeasurementSheet")
            or _is_list_of(value, Mapping)
            or hasattr(value, "to_dict")  # a data frame
        ),
        "the path of a table, or a list of mappings",
    ),
    ("fit", "metric"): name_of("the name of a metric").or_none(),
    ("fit", "vary"): NAMES,
    ("network", "machine"): MACHINE,
    ("peaks", "machine"): MACHINE,
    ("place", "data"): MAPPING.or_none(),
    ("place", "sockets"): MAPPING.or_none(),
    ("reuse_distances", "trace"): ArgumentKind(
        lambda value: isinstance(value, str | os.PathLike) or _is_list(value),
        "the path of a trace, or a list of addresses",
    ),
    ("roofline", "apps"): ArgumentKind(_is_list, "a list of applications"),
    ("roofline", "machine"): MACHINE,
    ("sensitivity", "vary"): VARIED.or_none(),
    ("sweep", "metric"): TEXTS,
    ("validate", "run"): name_of("a command"),
}


def require_types(function: str, arguments: Mapping[str, object]) -> None:
    """Raises TypeError where an argument is of another type than it takes, with its name."""
    for name, value in arguments.items():
        kind = EXCEPTIONS.get((function, name)) or ARGUMENTS.get(name)
        if kind and not kind.accepts(value):
            raise TypeError(f"`{name}` takes {kind.wanted}, not {type(value).__name__} ({value!r:.60})")


def _require_option(inner: Any, function: str, name: str, plain: tuple[str, ...]) -> None:
    """Raises TypeError for the name of an option that is not among those of `**options: Unpack[...]`."""
    listed = next((text[7:-1] for text in inner.__annotations__.values() if str(text).startswith("Unpack[")), None)
    known = [*plain, *(inner.__globals__[listed].__annotations__ if listed else ())]
    if name not in known:
        from difflib import get_close_matches

        close = get_close_matches(name, known, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"it takes {', '.join(known)}"
        raise TypeError(f"{function}() takes no argument `{name}`; {hint}")


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A public function whose arguments are checked first. It is pickled as `aspenpy.<name>`."""
    inner: Any = function
    while hasattr(inner, "__wrapped__"):  # `inspect.unwrap` without `inspect`, which takes long to import
        inner = inner.__wrapped__
    code = inner.__code__
    positional = code.co_varnames[: code.co_argcount]
    plain = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        require_types(name, {**dict(zip(positional, args, strict=False)), **options})
        for unknown in [option for option in options if option not in plain]:
            _require_option(inner, name, unknown, plain)
        return function(*args, **options)

    call.__module__, call.__qualname__, call.__name__ = "aspenpy", name, name
    return call
