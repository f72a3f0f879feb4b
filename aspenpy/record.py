"""Record: an immutable value with named fields, the base of every tree node in aspenpy.

A frozen dataclass would do the same job; forty of them cost 15 ms of start-up and 0.44 us an
instance, a Record 2 ms and 0.28 us, and `aspenpy eval` is a command people run in loops.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter, itemgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from aspenpy.initialisers import BY_COUNT


def annotated_names(namespace: dict[str, Any]) -> tuple[str, ...]:
    """Names that the body of a class annotates, in order. From Python 3.14 on, a function there has them (PEP 649)."""
    annotate = namespace.get("__annotate_func__")
    if annotate is None:
        return tuple(namespace.get("__annotations__", ()))
    try:
        return tuple(annotate(1))  # their values, which is faster than annotationlib
    except NameError:  # of an import for types alone, or of a class further down
        from annotationlib import Format, call_annotate_function  # type: ignore[import-not-found]

        return tuple(call_annotate_function(annotate, Format.FORWARDREF))


@dataclass_transform(frozen_default=True)
class RecordType(type):
    """Turns the annotations of a class into slots, `_fields` and an initialiser; a class with one of its own hands the
    fields to `_store`."""

    _fields: tuple[str, ...]
    _defaults: dict[str, Any]
    _compared: Any
    _store: Any

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        own = annotated_names(namespace)
        inherited = [base for base in bases if isinstance(base, RecordType)]
        fields = tuple([field for base in inherited for field in base._fields]) + own
        defaults = {field: value for base in inherited for field, value in base._defaults.items()}
        defaults |= {field: namespace.pop(field) for field in own if field in namespace}
        compared = [field for field in fields if not field.endswith("span")]
        stores: dict[str, Any] = {}
        # All attributes are there before the class is: what is set on a class afterwards costs a third of its making.
        namespace |= {
            "__slots__": own if bases else (*own, "_hash"),
            "_fields": fields,
            "_defaults": defaults,
            "_compared": attrgetter(*compared) if compared else None,
            "_store": (initialiser := _initialiser(name, fields, defaults, stores)),
        }
        namespace.setdefault("__init__", initialiser)
        cls = super().__new__(mcs, name, bases, namespace)
        ordered = initialiser.__code__.co_varnames[1:]
        stores.update(zip(STORES, [getattr(cls, field).__set__ for field in ordered], strict=False))
        return cls


def _initialiser(name: str, fields: tuple[str, ...], defaults: dict[str, Any], stores: dict[str, Any]) -> FunctionType:
    """A straight-line `__init__` with the fields as its parameters, those without default first. `stores` will have the
    functions that set a field."""
    ordered = sorted(fields, key=defaults.__contains__) if defaults else fields
    code = (BY_COUNT.get(len(ordered)) or _template(len(ordered))).replace(
        co_varnames=("self", *ordered), co_qualname=f"{name}.__init__"
    )
    return FunctionType(code, stores, "__init__", tuple([defaults[field] for field in ordered if field in defaults]))


@cache
def _template(fields: int) -> CodeType:
    """The code of an initialiser of more fields than are written out, or of none."""
    names = [f"field{index}" for index in range(fields)]
    body = "".join(f"\n store{index}(self, {name})" for index, name in enumerate(names)) or "\n pass"
    scope: dict[str, FunctionType] = {}
    exec(f"def __init__({', '.join(['self', *names])}):{body}", scope)
    return scope["__init__"].__code__


STORES = [f"store{place}" for place in range(64)]


class Record(metaclass=RecordType):
    """Fields are compared, hashed and printed, all but spans: where a thing stands is not what it is."""

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]
        _compared: ClassVar[Any]
        _store: ClassVar[Any]
        _hash: ClassVar[int]

    def _values(self) -> Any:
        """Values that are compared: the fields, or the only one of them."""
        return self._compared(self) if self._compared else ()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._values() == other._values())

    def __hash__(self) -> int:
        """Computed once: records that are keys hold others that are."""
        try:
            return self._hash
        except AttributeError:
            found = hash((type(self), self._values()))
            _store_hash(self, found)
            return found

    def __repr__(self) -> str:
        shown = (f"{field}={getattr(self, field)!r}" for field in self._fields if not field.endswith("span"))
        return f"{type(self).__name__}({', '.join(shown)})"

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {field} cannot be set")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {field} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), tuple(getattr(self, field) for field in self._fields))

    def replace(self, **changes: Any) -> Self:
        """A copy with the named fields changed. Raises TypeError for a name that is no field."""
        if not changes.keys() <= (fields := {*self._fields}):
            unknown = ", ".join(f"`{name}`" for name in changes if name not in fields)
            raise TypeError(f"{type(self).__name__} has no {unknown}; its fields are {', '.join(self._fields)}")
        return type(self)(**{field: changes.get(field, getattr(self, field)) for field in self._fields})


_store_hash = Record.__dict__["_hash"].__set__


def _rebuild(cls: Any, values: tuple[Any, ...]) -> Any:
    return cls(**dict(zip(cls._fields, values, strict=True)))


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class RowType(type):
        """Makes of the annotations of a class the fields of a tuple."""

        def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            fields = annotated_names(namespace)
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            getters = {field: property(itemgetter(index)) for index, field in enumerate(fields)}
            own = {"__slots__": (), "_fields": fields, "_defaults": defaults, **getters}
            return super().__new__(mcs, name, bases, own | namespace)

    class NamedTuple(tuple, metaclass=RowType):
        """`NamedTuple` without that of `typing`, which compiles code and annotations for each class: 0.5 ms instead of
        0.02."""

        def __new__(cls, *values: Any, **named: Any) -> Self:
            if len(values) != len(cls._fields) or named:
                given = dict(zip(cls._fields, values, strict=False))
                known = cls._defaults | given | named
                if len(given) < len(values) or given.keys() & named.keys() or known.keys() != {*cls._fields}:
                    raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
                values = tuple([known[field] for field in cls._fields])
            return tuple.__new__(cls, values)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: Any) -> Self:
            return type(self)(**self._asdict() | changes)
