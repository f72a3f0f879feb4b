"""Virtual methods, and methods of class templates that nothing in their own unit calls.

A call of a virtual method means any method that overrides it. libclang makes the methods of a class template where they
are used, so that a unit whose templates are used from others, or through a base class, is read once more with a
function behind it that uses them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

from aspenpy.extract.front_end import load_libclang

USES = "aspenpy_uses"
"""How the functions that use methods are called."""

_ANY = """template <class A, class B> struct aspenpy_other { typedef int type; };
template <class A> struct aspenpy_other<A, A> {};
template <class A> struct aspenpy_other<const A, A> {};
template <class B> struct aspenpy_any {
  template <class A, class = typename aspenpy_other<A, B>::type> operator A &();
};
"""
"""A value that any argument can be made of but for an object of one class, so that no copy is made of it."""

_UNNAMED = ("lambda at ", "(anonymous", "(unnamed")


def is_virtual(method: Any) -> bool:
    return method.kind.name == "CXX_METHOD" and bool(method.is_virtual_method())


def list_overridden(method: Any) -> list[str]:
    """Keys of the methods that a method overrides in the classes that its own is derived from."""
    cindex = load_libclang()
    lib, methods, count = cindex.conf.lib, ctypes.POINTER(cindex.Cursor)(), ctypes.c_uint()
    lib.clang_getOverriddenCursors(method, ctypes.byref(methods), ctypes.byref(count))
    keys = [lib.clang_getCursorUSR(methods[index]) for index in range(count.value)]
    if methods:
        lib.clang_disposeOverriddenCursors(methods)
    return keys


def find_template(cursor: Any) -> Any | None:
    """The template that a class or function is made of."""
    template = load_libclang().conf.lib.clang_getSpecializedCursorTemplate(cursor)
    return template if template is not None and template.get_usr() else None


def has_virtual_methods(owner: Any) -> bool:
    return any(map(is_virtual, owner.get_children()))


def write_uses(classes: Mapping[str, tuple[Any, bool]]) -> str:
    """Text of functions that use the methods of classes, by the name of each: those of its template, all of them or
    the virtual ones alone."""
    functions = [
        f"void {USES}({name} *object) {{\n{''.join(_list_uses(name, *given))}}}\n"
        for name, given in classes.items()
        if not any(word in name for word in _UNNAMED)
    ]
    return f'\n# 1 "{USES}"\n{_ANY}{"".join(functions)}' if functions else ""


def _list_uses(name: str, template: Any, is_explicit: bool) -> Iterator[str]:
    for method in template.get_children():
        kind = method.kind.name
        given = ", ".join(f"aspenpy_any<{name}>()" for child in method.get_children() if child.kind.name == "PARM_DECL")
        if kind == "CXX_METHOD" and (is_virtual(method) or (is_explicit and not method.is_static_method())):
            yield f"object->{method.spelling}({given});\n"
        elif kind == "CONSTRUCTOR" and is_explicit:
            yield f"new {name}({given});\n"
