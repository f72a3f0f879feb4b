"""Declarations of Fortran: the variables, types and procedures that the specification part of a program unit names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from aspenpy.extract import records as r
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, type_name
from aspenpy.extract.fortran_operations import COMPLEX
from aspenpy.extract.fortran_scopes import (
    DESCRIPTOR_BYTES,
    DIMENSION_BYTES,
    INDEX,
    INT,
    ISO_KINDS,
    OTHER,
    BoundProcedure,
    DerivedType,
    DimensionBounds,
    Entity,
    Generic,
    NameScope,
    Signature,
    TypeComponent,
    array_type,
    bound_variables,
    constant_value,
    count_between,
    external,
    integer,
)
from aspenpy.extract.fortran_submodules import is_separate, separate_key
from aspenpy.language.source import Span
from aspenpy.record import Record


class Attributes(Record):
    """The attributes of a declaration, beside its type."""

    words: frozenset[str]
    intent: str = ""
    shape: Syntax | None = None


class DeclarationReader:
    """Reads specification parts into a scope. `find_module` gives the scope of a module by name."""

    def __init__(
        self,
        expressions: FortranExpressions,
        scope: NameScope,
        prefix: str,
        find_module: Callable[[str], NameScope | None],
        macros: dict[str, r.Macro],
        *,
        formals: Sequence[str] = (),
        is_static: bool = False,
        lower_bounded: frozenset[str] = frozenset(),
    ) -> None:
        self.expressions, self.scope, self.prefix = expressions, scope, prefix
        self.find_module, self.macros = find_module, macros
        self.formals = [name.lower() for name in formals]
        self.is_static = is_static  # variables keep their values: of modules and of the main program
        self.lower_bounded = lower_bounded
        self.static: list[r.Declaration] = []
        self.own: list[r.Declaration] = []
        self.namelists: dict[str, list[str]] = {}
        self.targets: set[str] = set()  # what pointers may point at
        self._intents: dict[str, str] = {}
        self._shapes: dict[str, Syntax] = {}  # of `dimension` statements
        self._saved: set[str] = set()
        self._common: dict[str, str] = {}  # keys of variables in common blocks

    # -- the statements ----------------------------------------------------------------------------

    def read(self, part: Syntax | None) -> None:
        """Reads a specification part: what says something of names that are declared elsewhere in it comes first."""
        statements = list(_statements(part))
        for node in statements:
            self._note(node)
        for node in statements:  # bounds of arrays may be formals that are declared behind them
            if type_name(node) == "Type_Declaration_Stmt" and self._declares_numbers(node):
                self._declare(node, self._begin(node))
        for node in statements:
            self._define(node, self._begin(node))
        for name in (*self._shapes, *self._common, *self.formals):
            if name not in self.scope.names and name != "*":
                self._declare_entity(name, self._type_by_name(name), Attributes(frozenset()))

    def _declares_numbers(self, node: Syntax) -> bool:
        """Whether a declaration has nothing but formals that are integers of the default kind."""
        type_node, _, items = node.children
        is_plain = type_name(type_node) == "Intrinsic_Type_Spec" and type_node.children[1] is None
        names = [str(item.children[0]).lower() for item in list_arguments(items)]
        shapes = [item.children[1] for item in list_arguments(items)]
        return is_plain and str(type_node).upper() == "INTEGER" and set(names) <= set(self.formals) and not any(shapes)

    def _note(self, node: Syntax) -> None:
        kind = type_name(node)
        if kind == "Use_Stmt":
            self._use(node)
        elif kind == "Implicit_Stmt":
            self._set_implicit(node)
        elif kind in ("Dimension_Stmt", "Allocatable_Stmt", "Pointer_Stmt", "Target_Stmt"):
            self._note_shapes(node)
        elif kind == "Common_Stmt":
            self._note_common(node)
        elif kind == "Save_Stmt":
            self._saved |= {str(item).lower().strip("/") for item in list_arguments(node.children[1])} or {"*"}
        elif kind == "Intent_Stmt":
            intent = str(node.children[0]).lower()
            self._intents |= {str(name).lower(): intent for name in list_arguments(node.children[1])}

    def _define(self, node: Syntax, span: Span | None) -> None:
        kind = type_name(node)
        if kind == "Derived_Type_Def":
            self._define_type(node)
        elif kind == "Type_Declaration_Stmt":
            self._declare(node, span)
        elif kind == "Parameter_Stmt":
            for item in list_arguments(node.children[1]):
                name = str(item.children[0]).lower()
                self._define_constant(name, item.children[1], self._type_by_name(name), span)
        elif kind == "Namelist_Stmt":
            for name, names in node.children:
                self.namelists[str(name).lower()] = [str(item).lower() for item in list_arguments(names)]
        elif kind == "Interface_Block":
            self._define_generic(node)
        elif kind == "External_Stmt":
            for item in list_arguments(node.children[-1]):
                self._define_external(str(item).lower())
        elif kind == "Procedure_Declaration_Stmt" and "pointer" not in str(node.children[1]).lower():
            is_type = type_name(node.children[0]) in _TYPES
            element = self._read_type(node.children[0]) if is_type else None
            for item in list_arguments(node.children[2]):
                self._define_external(str(item).lower(), element)

    def _define_external(self, name: str, element: r.Type | None = None) -> None:
        """A procedure that a statement calls external; a declaration of its type may stand in front or behind."""
        known = self.scope.names.get(name)
        if not isinstance(known, Signature):
            result = (
                known if isinstance(known, Entity) else element and Entity(r.Variable(name, name, element), element)
            )
            self.scope.names[name] = external(name).replace(result=result)

    def _begin(self, node: Syntax) -> Span | None:
        item = getattr(node, "item", None)
        span = self.expressions.text.span(*item.span) if item is not None else None
        self.expressions.begin_statement(span)
        return span

    def _use(self, node: Syntax) -> None:
        """Takes over the names of a module, those of `only` or those that are not renamed under their own."""
        module = self.find_module(str(node.children[2]).lower())
        given = list_arguments(node.children[4])
        if module is None:
            for item in given:
                new, old = (
                    str(part).lower() for part in (item.children[1:3] if type_name(item) == "Rename" else (item, item))
                )
                if old in ISO_KINDS:
                    self.scope.names[new] = Entity(r.Constant(ISO_KINDS[old], INT), INT)
            return
        renamed = {}
        for item in given:
            if type_name(item) == "Rename":
                renamed[str(item.children[2]).lower()] = str(item.children[1]).lower()
        is_only = "ONLY" in str(node.children[3]).upper()
        wanted = {str(item).lower() for item in given if type_name(item) != "Rename"} | renamed.keys()
        for name, meaning in module.names.items():
            plain = name.removeprefix("type ")
            if not is_only or plain in wanted or name.startswith("type "):
                new = renamed.get(plain, plain)
                self.scope.names.setdefault(name.replace(plain, new) if name.startswith("type ") else new, meaning)

    def _set_implicit(self, node: Syntax) -> None:
        if "NONE" in str(node).upper():
            self.scope.letters.clear()
            return
        for item in list_arguments(node.children[0]):
            type = self._read_type(item.children[0])
            for letters in list_arguments(item.children[1]):
                first, _, last = str(letters).lower().replace(" ", "").partition("-")
                for code in range(ord(first), ord(last or first) + 1):
                    self.scope.letters[chr(code)] = type

    def _note_shapes(self, node: Syntax) -> None:
        for item in node.children[-1] if isinstance(node.children[-1], list) else list_arguments(node.children[-1]):
            name, shape = item.children[:2] if hasattr(item, "children") and len(item.children) > 1 else (item, None)
            if isinstance(item, tuple):
                name, shape = item
            if shape is not None and not isinstance(shape, str):
                self._shapes[str(name).lower()] = shape

    def _note_common(self, node: Syntax) -> None:
        for block, items in node.children[0]:
            label = str(block).lower() if block is not None else ""
            for item in list_arguments(items):
                is_plain = type_name(item) == "Name"
                name = str(item if is_plain else item.children[0]).lower()
                place = sum(key.startswith(f"common /{label}/") for key in self._common.values())
                self._common[name] = f"common /{label}/{place}"
                if not is_plain:
                    self._shapes[name] = item.children[1]

    # -- types -------------------------------------------------------------------------------------

    def _type_by_name(self, name: str) -> r.Type:
        entity = self.scope.names.get(name)
        return (
            entity.element
            if isinstance(entity, Entity)
            else self.scope.letters.get(name[:1], r.Type("real", self.scope.real_size))
        )

    def _read_type(self, node: Syntax) -> r.Type:
        """A type by its name and kind; one of the program's own by its size."""
        if type_name(node) == "Declaration_Type_Spec":
            name = str(node.children[1]).lower()
            derived = self.scope.derived_type(name)
            return derived.type if derived is not None else r.Type("record", 0, name=name)
        word = str(node.children[0]).lower()
        selector = node.children[1] if len(node.children) > 1 else None
        kind = None
        if selector is not None and word != "character":
            parts = [part for part in selector.children if part is not None and part not in ("(", ")", "*")]
            kind = parts[-1] if parts else None
        if word == "double precision":
            return r.Type("real", 8)
        if word == "real":
            return r.Type("real", self.expressions.kind_of(kind, self.scope.real_size))
        if word in ("integer", "logical"):
            return r.Type("integer", self.expressions.kind_of(kind, self.scope.integer_size))
        if word == "complex" or word == "double complex":
            default = 8 if "double" in word else self.scope.real_size
            return r.Type("record", 2 * self.expressions.kind_of(kind, default), name=COMPLEX)
        return OTHER

    def _define_type(self, node: Syntax) -> None:
        """A derived type: its components one after the other, each at a multiple of its size up to 8."""
        statement = node.children[0]
        name = str(statement.children[1]).lower()
        components: dict[str, TypeComponent] = {}
        procedures: dict[str, BoundProcedure] = {}
        end = 0
        text = str(statement).lower()
        if "extends" in text:
            parent = self.scope.derived_type(text.partition("extends")[2].partition(")")[0].strip("( "))
            if parent is not None:
                components.update(parent.components)
                procedures.update(parent.procedures)
                end = parent.type.size
        placeholder = DerivedType(r.Type("record", 0, name=name), components, procedures)
        self.scope.names[f"type {name}"] = placeholder
        for part in node.children[1:]:
            if type_name(part) == "Component_Part":
                for item in part.children:
                    if type_name(item) == "Data_Component_Def_Stmt":
                        end = self._add_components(item, components, end)
            elif type_name(part) == "Type_Bound_Procedure_Part":
                for item in part.children:
                    self._bind_procedure(item, procedures)
        size = -(-end // 8) * 8
        self.scope.names[f"type {name}"] = DerivedType(r.Type("record", size, name=name), components, procedures)

    def _bind_procedure(self, node: Syntax, procedures: dict[str, BoundProcedure]) -> None:
        """`procedure :: name => procedure` and `generic :: name => names`; operators and deferred ones are left out."""
        kind = type_name(node)
        if kind == "Specific_Binding":
            name = str(node.children[3]).lower()
            target = self.scope.find(str(node.children[4] or name).lower())
            if isinstance(target, Signature):
                procedures[name] = BoundProcedure(target, "nopass" not in str(node.children[1]).lower())
        elif kind == "Generic_Binding" and type_name(node.children[1]) == "Name":
            names = (str(item).lower() for item in list_arguments(node.children[2]))
            bound = [procedures[name] for name in names if name in procedures]
            targets = tuple(one.target for one in bound if isinstance(one.target, Signature))
            if targets:
                name = str(node.children[1]).lower()
                procedures[name] = BoundProcedure(Generic(targets), bound[0].takes_object)

    def _add_components(self, node: Syntax, components: dict[str, TypeComponent], end: int) -> int:
        type_node, attributes_node, items = node.children
        element = self._read_type(type_node)
        words = {str(item).lower().partition("(")[0].strip() for item in list_arguments(attributes_node)}
        dimension = next((item for item in list_arguments(attributes_node) if "dimension" in str(item).lower()), None)
        for item in list_arguments(items):
            name = str(item.children[0]).lower()
            shape_node = item.children[1] if item.children[1] is not None else dimension and dimension.children[1]
            shape = tuple(self._component_bounds(name, shape_node))
            has_descriptor = bool(words & {"allocatable", "pointer"}) and bool(shape)
            if bool(words & {"allocatable", "pointer"}) and not shape:
                size = 8
                element_here = r.Type("pointer", 8, element) if element.kind == "record" else element
            else:
                element_here = element
                size = DESCRIPTOR_BYTES + DIMENSION_BYTES * len(shape) if has_descriptor else element.size or 8
            if shape and not has_descriptor:
                for bounds in shape:
                    count = constant_value(bounds.extent)
                    size *= int(count) if isinstance(count, int) and count > 0 else 1
            align = min(element.size or 8, 8) if not has_descriptor and element.kind != "record" else 8
            offset = -(-end // align) * align
            components[name] = TypeComponent(offset, element_here, shape, has_descriptor)
            end = offset + size
        return end

    def _component_bounds(self, name: str, node: Syntax | None) -> Iterator[DimensionBounds]:
        """Bounds of a component; those of an allocatable one are set where its base is known."""
        for dimension in list_dimensions(node):
            bounds = self._explicit_bounds(dimension)
            yield bounds if bounds is not None else DimensionBounds(integer(1), None)

    # -- entities ----------------------------------------------------------------------------------

    def _declare(self, node: Syntax, span: Span | None) -> None:
        type_node, attributes_node, items = node.children
        element = self._read_type(type_node)
        attributes = _read_attributes(attributes_node)
        for item in list_arguments(items):
            name = str(item.children[0]).lower()
            shape_node = item.children[1] if item.children[1] is not None else attributes.shape
            value = item.children[3] if len(item.children) > 3 else None
            if "parameter" in attributes.words:
                self._define_constant(name, value, element, span, shape_node)
            elif "external" in attributes.words or isinstance(self.scope.names.get(name), Signature):
                entity = self.scope.names.get(name) or external(name)
                assert isinstance(entity, Signature)
                self.scope.names[name] = entity.replace(result=Entity(r.Variable(name, name, element), element))
            else:
                self._declare_entity(name, element, attributes, shape_node, value, span)

    def _define_constant(
        self, name: str, value: Syntax | None, element: r.Type, span: Span | None, shape_node: Syntax | None = None
    ) -> None:
        """A named constant: one of a whole number above 1 is a parameter of the model."""
        node = value.children[1] if value is not None and type_name(value) == "Initialization" else value
        if shape_node is not None or node is None:
            self._declare_entity(name, element, Attributes(frozenset({"save"})), shape_node, span=span)
            return
        with self.expressions.collect():
            read = self.expressions.read(node)
        number = constant_value(read)
        if number is None:
            self.scope.names[name] = Entity(read, element)
            return
        if element.kind == "real":
            self.scope.names[name] = Entity(r.Constant(float(number), element), element)
            return
        macro = None
        known = self.macros.get(name)
        if (
            isinstance(number, int)
            and number > 1
            and not name.startswith(("dp", "wp", "sp", "rk"))
            and (known is None or known.value == number)
        ):
            body = None if isinstance(read, r.Constant) and read.macro is None else read
            comment = _comment_behind(span)
            self.macros.setdefault(name, r.Macro(name, number, comment, span=span, body=body))
            macro = name
        self.scope.names[name] = Entity(r.Constant(int(number), element, macro), element)

    def _declare_entity(
        self,
        name: str,
        element: r.Type,
        attributes: Attributes,
        shape_node: Syntax | None = None,
        value: Syntax | None = None,
        span: Span | None = None,
    ) -> None:
        shape_node = shape_node if shape_node is not None else self._shapes.get(name)
        is_formal, words = name in self.formals, attributes.words
        is_dynamic = bool(words & {"allocatable", "pointer"})
        is_static = not is_formal and self._keeps_value(name, words, shape_node is not None, value is not None)
        scope: Literal["formal", "global", "local"] = "formal" if is_formal else "global" if is_static else "local"
        key = self._common.get(name, f"{name}@{self.prefix}")
        dimensions = list_dimensions(shape_node)
        shape = tuple(self._bounds(key, name, dimensions, scope, is_dynamic))
        has_descriptor = bool(shape) and (is_dynamic or any(_is_deferred(node) for node in dimensions))
        is_pointer = has_descriptor or (is_formal and bool(shape))
        restrict = is_formal and not has_descriptor and not words & {"target", "pointer"}  # as gfortran has it
        type = array_type(element, shape, is_pointer, restrict) if shape else element
        if is_dynamic and not shape and element.kind == "record":
            type = r.Type("pointer", 8, element)
        variable = r.Variable(key, name, type, scope, span=span)
        self.scope.names[name] = Entity(variable, element, shape, has_descriptor)
        if attributes.intent or "value" in words:
            self._intents[name] = attributes.intent or "in"
        if words & {"target", "pointer"}:
            self.targets.add(name)
        if is_static:
            self.static += self._static_declarations(variable, element, shape, value)
        elif not is_formal and (shape or element.kind == "record"):
            self.own.append(r.Declaration(variable, span=span))

    def _keeps_value(self, name: str, words: frozenset[str], is_array: bool, is_initialised: bool) -> bool:
        """Whether a variable keeps its value from call to call."""
        is_of_module = self.is_static and (is_array or self.prefix.startswith("module"))
        is_saved = "save" in words or bool(self._saved & {name, "*"})
        return is_of_module or is_saved or is_initialised or name in self._common

    def _static_declarations(
        self, variable: r.Variable, element: r.Type, shape: tuple[DimensionBounds, ...], value: Syntax | None
    ) -> Iterator[r.Declaration]:
        """Declarations of a variable and of its bounds, with the value that it begins with."""
        given = None
        is_number = not shape and element.kind in ("integer", "real")
        if is_number and value is not None and type_name(value) == "Initialization":
            with self.expressions.collect():
                read = self.expressions.read(value.children[1])
            given = read if constant_value(read) is not None else None
        yield r.Declaration(variable, given, span=variable.span)
        yield from (r.Declaration(bound, span=variable.span) for bound in bound_variables(shape))

    def _bounds(
        self, key: str, name: str, nodes: Sequence[Syntax], scope: str, is_dynamic: bool
    ) -> Iterator[DimensionBounds]:
        """Bounds of an array's dimensions: as declared, or variables that an allocation or a call sets."""
        for place, node in enumerate(nodes, start=1):
            bounds = self._explicit_bounds(node)
            if bounds is not None:
                yield bounds
                continue
            if type_name(node) == "Assumed_Size_Spec":
                lower = node.children[1] if len(node.children) > 1 and node.children[1] is not None else None
                yield DimensionBounds(integer(1) if lower is None else self.expressions.read(lower), None)
                continue
            given = node.children[0] if type_name(node) == "Assumed_Shape_Spec" else None
            lower_value: r.Expression = integer(1) if given is None else self.expressions.read(given)
            if is_dynamic and name in self.lower_bounded:
                lower_value = r.Variable(f"{name}_lower_{place}@{key}", f"{name}_lower_{place}", INDEX, scope)  # type: ignore[arg-type]
            extent = r.Variable(f"{name}_extent_{place}@{key}", f"{name}_extent_{place}", INDEX, scope)  # type: ignore[arg-type]
            yield DimensionBounds(lower_value, extent)

    def _explicit_bounds(self, node: Syntax) -> DimensionBounds | None:
        """DimensionBounds that are written out; None for `:` and `*`."""
        if type_name(node) != "Explicit_Shape_Spec":
            return None
        lower, upper = node.children
        first = integer(1) if lower is None else self.expressions.read(lower)
        return DimensionBounds(first, count_between(first, self.expressions.read(upper)))

    def intent(self, name: str) -> str:
        return self._intents.get(name, "")

    def _define_generic(self, node: Syntax) -> None:
        """An interface: a name for several procedures, or the declaration of external ones."""
        head = node.children[0]
        name = str(head.children[0]).lower() if head.children and head.children[0] is not None else ""
        names: list[str] = []
        for item in node.children[1:-1]:
            if type_name(item) == "Procedure_Stmt":
                names += (str(part).lower() for part in list_arguments(item.children[0]))
            elif type_name(item) in ("Subroutine_Body", "Function_Body"):
                inner = str(
                    item.children[0].get_name()
                    if hasattr(item.children[0], "get_name")
                    else item.children[0].children[1]
                ).lower()
                in_c = bound_c_name(item.children[0], inner)
                found_here = external(inner) if in_c is None else external(inner).replace(key=f"c:@F@{in_c}")
                if in_c is None and is_separate(item.children[0]):
                    found_here = found_here.replace(key=separate_key(self.prefix, inner))
                result = self._find_result(item, inner)
                self.scope.names.setdefault(inner, found_here.replace(result=result))
                names.append(inner)
        if name and name != "abstract" and names:
            self.scope.names[name] = Generic(tuple(names))

    def _find_result(self, body: Syntax, name: str) -> Entity | None:
        """The result of a function that an interface declares, by the type in front of it or by a declaration."""
        if type_name(body) != "Function_Body":
            return None
        suffix = str(body.children[0].children[3] or "").lower()
        named = re.search(r"result\s*\(\s*(\w+)", suffix)
        given = named[1] if named else name
        prefix = body.children[0].children[0]
        types = [part for part in getattr(prefix, "children", ()) if type_name(part) in _TYPES]
        for part in body.children[1:]:
            for node in _statements(part) if type_name(part) == "Specification_Part" else ():
                if type_name(node) == "Type_Declaration_Stmt" and type_name(node.children[0]) in _TYPES:
                    declared = (str(item.children[0]).lower() for item in list_arguments(node.children[2]))
                    types += [node.children[0]] if given in declared else []
        if not types:
            return None
        element = self._read_type(types[0])
        return Entity(r.Variable(f"{name}@result", name, element, "local"), element)


_TYPES = ("Intrinsic_Type_Spec", "Declaration_Type_Spec")


def bound_c_name(head: Syntax, name: str) -> str | None:
    """The name in C of a procedure with `bind(c)`."""
    text = str(head.children[3]) if head.children[3] is not None else ""
    if "BIND" not in text.upper():
        return None
    quoted = re.search(r"""name\s*=\s*["']([^"']*)["']""", text, re.IGNORECASE)
    return quoted[1] if quoted else name


def _statements(part: Syntax | None) -> Iterator[Syntax]:
    for node in part.children if part is not None else ():
        if type_name(node) == "Implicit_Part":
            yield from node.children
        else:
            yield node


def _read_attributes(node: Syntax) -> Attributes:
    words, intent, shape = set[str](), "", None
    for item in list_arguments(node):
        text = str(item).lower()
        word = text.partition("(")[0].strip()
        words.add(word)
        if word == "intent":
            intent = text.partition("(")[2].strip(") ")
        if word == "dimension":
            shape = item.children[1]
    return Attributes(frozenset(words), intent, shape)


def _is_deferred(node: Syntax) -> bool:
    return type_name(node) in ("Assumed_Shape_Spec", "Deferred_Shape_Spec")


def list_dimensions(node: Syntax | None) -> list[Syntax]:
    """The dimensions of a declaration; those in front of `*` stand inside of it in fparser's tree."""
    if node is not None and type_name(node) == "Assumed_Size_Spec":
        return [*list_arguments(node.children[0]), node]
    return list_arguments(node)


def _comment_behind(span: Span | None) -> str:
    """The comment behind a declaration on its line."""
    if span is None:
        return ""
    end = span.source.text.find("\n", span.end)
    rest = span.source.text[span.start : end if end >= 0 else None]
    return " ".join(rest.partition("!")[2].strip("!<> ").split())[:90]
