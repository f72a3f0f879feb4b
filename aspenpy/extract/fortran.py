"""Programs of Fortran as records: modules, procedures and the main program of all files, linked by name.

External procedures have the keys of the C functions that gfortran makes of them (`solve` is `solve_`, that of
`bind(c)` has its own name), so that programs of both languages link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import POINTED
from aspenpy.extract.fortran_declarations import DeclarationReader, bound_c_name
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_nodes import list_arguments, split_keyword, type_name
from aspenpy.extract.fortran_operations import convert
from aspenpy.extract.fortran_reuse import share_values
from aspenpy.extract.fortran_scopes import (
    INDEX,
    OTHER,
    VOID,
    DimensionBounds,
    Entity,
    Generic,
    NameScope,
    Signature,
    StatementFunction,
    View,
    array_type,
    bound_variables,
    integer,
    is_function,
)
from aspenpy.extract.fortran_statements import FortranStatements
from aspenpy.extract.fortran_submodules import is_separate, list_interfaces, separate_key
from aspenpy.extract.fortran_text import FortranText, load_parser
from aspenpy.extract.pragmas import warn_uncounted
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span

PROCEDURES = ("Subroutine_Subprogram", "Function_Subprogram")
MODULES = ("Module", "Submodule")


class ProgramUnit:
    """A procedure, a module or the main program: its tree, and what names mean in it, found when first asked for. Of a
    procedure with an `entry`, that is a unit of its own: the statements behind it."""

    def __init__(
        self,
        program: FortranProgram,
        text: FortranText,
        node: Any,
        host: ProgramUnit | None = None,
        entry: Any = None,
    ) -> None:
        self.program, self.text, self.node, self.host = program, text, node, host
        self.head = node.children[0]
        self.kind = type_name(node)
        self.entry = entry
        self.name = _unit_name(self.head, self.kind) if entry is None else str(entry.children[0]).lower()
        outer = "module " if self.kind == "Module" else "" if host is None else f"{host.prefix}::"
        self.prefix: str = outer + self.name
        if self.kind == "Submodule":
            self.prefix = f"module {str(self.head.children[0].children[0]).lower()}:{self.name}"
        self.inner = [
            unit
            for part in (node.children if entry is None else ())
            if type_name(part) in ("Module_Subprogram_Part", "Internal_Subprogram_Part")
            for child in part.children
            if type_name(child) in PROCEDURES
            for unit in _list_units(program, text, child, self)
        ]
        self._scope: NameScope | None = None
        self._signature: Signature | None = None
        self._defined = 0  # statements that define functions, in front of those that run
        self.declarations: DeclarationReader | None = None
        self.expressions: FortranExpressions | None = None

    @property
    def key(self) -> str:
        if self.kind not in PROCEDURES:
            return "c:@F@main"
        name = bound_c_name(self.head, self.name) if self.entry is None else None
        if name is not None:
            return f"c:@F@{name}"
        if self.host is not None and self.is_separate:
            return separate_key(self.host.prefix, self.name)
        return f"c:@F@{self.name}_" if self.host is None else f"fortran {self.prefix}"

    @cached_property
    def is_separate(self) -> bool:
        """Whether the interface of a procedure stands in a module, and its body elsewhere."""
        return self._is_headless or (self.entry is None and self.kind in PROCEDURES and is_separate(self.head))

    @property
    def _is_headless(self) -> bool:
        """Whether it is a `module procedure`, whose arguments its interface alone names."""
        item = self.head.item
        return self.entry is None and item is not None and item.span[0] in self.text.separate

    @cached_property
    def interface(self) -> tuple[ProgramUnit, Any] | None:
        """The interface of a `module procedure`, and the unit that declares it."""
        unit = self.host if self._is_headless else None
        while unit is not None:
            for node in list_interfaces(unit.node):
                if str(node.children[0].children[1]).lower() == self.name:
                    return unit, node
            unit = unit.host
        return None

    @cached_property
    def _signature_head(self) -> Any:
        """The statement that names the arguments and the result."""
        return self.head if self.interface is None else self.interface[1].children[0]

    @cached_property
    def formals(self) -> list[str]:
        if self.kind not in PROCEDURES:
            return []
        listed = self._signature_head.children[2] if self.entry is None else self.entry.children[1]
        return [str(item).lower() for item in list_arguments(listed)]

    @property
    def scope(self) -> NameScope:
        if self._scope is None:
            self._scope = NameScope(self.name, self.host.scope if self.host else None, self.text.sizes)
            self._declare(self._scope)
        return self._scope

    def _declare(self, scope: NameScope) -> None:
        for unit in self.inner:
            scope.names[unit.name] = Signature(unit.key, unit.name)
        self.expressions = FortranExpressions(self.text, scope, self.prefix, self.program.diagnostics)
        is_static = self.kind in (*MODULES, "Main_Program")
        formals = self.formals
        self.declarations = DeclarationReader(
            self.expressions,
            scope,
            self.prefix,
            self.program.find_module,
            self.program.macros,
            formals=formals,
            is_static=is_static,
            lower_bounded=self.program.lower_bounded,
        )
        result = self.result_name
        if result and self.entry is None and (prefix := _type_of_prefix(self._signature_head)) is not None:
            element = self.declarations._read_type(prefix)
            scope.names[result] = Entity(r.Variable(f"{result}@{self.prefix}", result, element, "local"), element)
        if self.interface is not None:
            owner, declared = self.interface
            self.expressions.text = owner.text
            self.declarations.read(_specification(declared))
            self.expressions.text = self.text
        self.declarations.read(_specification(self.node))
        if result and not isinstance(scope.names.get(result), Entity):
            element = scope.letters.get(result[:1], r.Type("real", scope.real_size))
            scope.names[result] = Entity(r.Variable(f"{result}@{self.prefix}", result, element, "local"), element)
        for unit in self.inner:
            if isinstance(scope.names.get(unit.name), Signature):
                scope.names[unit.name] = Signature(unit.key, unit.name)
        for name in self.formals:
            self._declare_procedure(name, scope)
        self._declare_statement_functions(scope)
        self.expressions.call_function = partial(self.program.call, self.expressions)
        self.expressions.resolve_generic = self.program.resolver(self.expressions)

    def _declare_procedure(self, name: str, scope: NameScope) -> None:
        """A formal that is a procedure: an external one, or one that has nothing but a type, and is called."""
        found = scope.names.get(name)
        if isinstance(found, Entity) and (found.shape or found.element.kind == "other"):
            return
        if isinstance(found, Signature) or (isinstance(found, Entity) and name in self._called_names):
            result = found if isinstance(found, Entity) else found.result
            scope.names[name] = Signature(f"{POINTED}{name}@{self.key}", name, result=result, is_known=False)

    @cached_property
    def _called_names(self) -> set[str]:
        """Names that have arguments, or stand behind `call`."""
        *_, utils = load_parser()
        kinds = ("Part_Ref", "Function_Reference", "Structure_Constructor", "Call_Stmt")
        nodes = (node for node in utils.walk(self._statements, utils.Base) if type_name(node) in kinds)
        return {str(node.children[0]).lower() for node in nodes}

    def _declare_statement_functions(self, scope: NameScope) -> None:
        """Functions of one statement: assignments in front of all others, to what is no array."""
        uses = any(
            type_name(node) == "Use_Stmt" for part in self.node.children for node in getattr(part, "children", ())
        )
        for node in self._executable:
            target: Any = node.children[0] if type_name(node) == "Assignment_Stmt" else None
            if type_name(target) != "Part_Ref":
                return
            name, arguments = str(target.children[0]).lower(), list_arguments(target.children[1])
            meaning = scope.names.get(name)
            if meaning is None and not uses and (type := scope.letters.get(name[:1])) is not None:
                meaning = Entity(r.Variable(name, name, type), type)
            is_plain = all(type_name(part) == "Name" for part in arguments)
            if not is_plain or not isinstance(meaning, Entity) or not is_function(meaning, arguments):
                return
            formals = tuple(str(part).lower() for part in arguments)
            scope.names[name] = StatementFunction(formals, meaning, node.children[2])
            self._defined += 1

    @property
    def result_name(self) -> str:
        head = self._signature_head if self.entry is None else self.entry
        if type_name(head) != "Function_Stmt" and (self.entry is None or self.kind != "Function_Subprogram"):
            return ""
        suffix = head.children[-1]
        text = str(suffix).lower() if suffix is not None else ""
        if "result" in text:
            return text.partition("result")[2].strip().strip("(").partition(")")[0].strip()
        return self.name

    @property
    def _executable(self) -> list[Any]:
        parts = (part for part in self.node.children if type_name(part) == "Execution_Part")
        nodes = [node for part in parts for node in part.children]
        first = next((place for place, node in enumerate(nodes) if node is self.entry), -1)
        return nodes[first + 1 :]

    @property
    def _statements(self) -> list[Any]:
        return self._executable[self._defined :]

    def signature(self) -> Signature:
        if self._signature is None:
            scope = self.scope
            assert self.declarations is not None
            entities = [
                (name, found if isinstance(found := scope.names.get(name), Entity) else None) for name in self.formals
            ]
            modified = frozenset(name for name in self.formals if self._modifies(name))
            result = scope.names.get(self.result_name) if self.result_name else None
            self._signature = Signature(
                self.key,
                self.name,
                tuple(entities),
                modified,
                result if isinstance(result, Entity) else None,
                targets=frozenset(self.declarations.targets),
            )
        return self._signature

    def _modifies(self, name: str) -> bool:
        """Whether a procedure may change a formal: as its intent says, else as its statements do."""
        assert self.declarations is not None
        intent = self.declarations.intent(name)
        return intent != "in" if intent else name in self._assigned_names

    @cached_property
    def _assigned_names(self) -> set[str]:
        """Names that statements assign to, count, read, or hand on as they are."""
        names: set[str] = set()
        *_, utils = load_parser()
        for node in utils.walk(self._statements, utils.Base):
            kind = type_name(node)
            if kind == "Assignment_Stmt":
                names.add(_root_name(node.children[0]))
            elif kind == "Loop_Control" and node.children[1] is not None:
                names.add(str(node.children[1][0]).lower())
            elif kind in ("Call_Stmt", "Read_Stmt", "Allocate_Stmt", "Pointer_Assignment_Stmt"):
                names |= {
                    _root_name(item)
                    for child in node.children
                    for item in list_arguments(child)
                    if not isinstance(item, str)
                }
        return names

    def read(self) -> r.Function | None:
        """The function of a procedure or of the main program."""
        scope = self.scope
        assert self.declarations is not None
        assert self.expressions is not None
        signature = self.signature()
        for name, entity in signature.formals:
            if entity is not None and signature.takes_reference(name, entity):
                scope.names[name] = entity.replace(expression=entity.expression.replace(is_reference=True))
        result = signature.result
        value = result.expression if result is not None and not result.shape else None
        statements = FortranStatements(self.expressions, self.declarations, value)
        statements.declare_block = self._declare_block
        statements.allocated = self.program.allocated
        body = share_values(statements.read_procedure(self._statements), self.expressions.make_variable)
        ending = (r.Jump("return", value, None),) if value is not None else ()
        formals = tuple(self.program.formal_variables(signature))
        item = self.head.item if self.entry is None else self.entry.item
        line = item.span[0] if item is not None else 1
        name = "main" if self.kind == "Main_Program" else self.name
        return r.Function(
            self.key,
            name,
            formals,
            r.CompoundStatement((*self.declarations.own, *body.statements, *ending)),
            self.text.comment_above(line),
            pragmas=self.text.pragmas_above(line),
            span=self._name_span(line),
        )

    def _declare_block(self, part: Any, scope: NameScope) -> DeclarationReader:
        assert self.expressions is not None
        reader = DeclarationReader(self.expressions, scope, self.prefix, self.program.find_module, self.program.macros)
        reader.read(part)
        self.program.static += reader.static
        return reader

    def _name_span(self, line: int) -> Span | None:
        span = self.text.span(line, line)
        if span is None:
            return None
        at = span.source.text.lower().find(self.name, span.start, span.end)
        return Span(span.source, at, at + len(self.name)) if at >= 0 else span


class FortranProgram:
    """The program units of all files of Fortran."""

    def __init__(self, texts: Sequence[FortranText], macros: dict[str, r.Macro]) -> None:
        self.macros, self.diagnostics, self.static = macros, list[Diagnostic](), list[r.Declaration]()
        self.lower_bounded: frozenset[str] = frozenset()
        self.allocated: frozenset[str] = frozenset()
        trees = [(text, text.parse()) for text in texts]
        self.lower_bounded = frozenset(name for _, tree in trees for name in _find_lower_bounded(tree))
        self.allocated = frozenset(name for _, tree in trees for name in _find_allocated(tree))
        kinds = (*MODULES, "Main_Program", "Main_Program0", *PROCEDURES)
        self.units = [
            unit
            for text, tree in trees
            for node in tree.children
            if type_name(node) in kinds
            for unit in _list_units(self, text, node)
        ]
        self.modules = {unit.name: unit for unit in self.units if unit.kind == "Module"}
        submodules = {unit.prefix: unit for unit in self.units if unit.kind == "Submodule"}
        for unit in submodules.values():
            module, parent = (str(name or "").lower() for name in unit.head.children[0].children)
            host = submodules.get(f"module {module}:{parent}") if parent else self.modules.get(module)
            unit.host = host if unit not in _list_hosts(host) else None  # of a ring of submodules
        self.all_units = [unit for top in self.units for unit in _all_units(top)]
        self.by_key = {unit.key: unit for unit in self.all_units}
        self._entering: set[str] = set()

    def find_module(self, name: str) -> NameScope | None:
        unit = self.modules.get(name)
        if unit is None or name in self._entering:
            return None
        self._entering.add(name)
        try:
            return unit.scope
        finally:
            self._entering.discard(name)

    def read(self, texts: Sequence[FortranText]) -> list[r.Program]:
        """The functions and the variables that keep their values, of each file."""
        functions = {id(text): list[r.Function]() for text in texts}
        for unit in self.all_units:
            if unit.kind not in MODULES and (function := unit.read()) is not None:
                functions[id(unit.text)].append(function)
        statics = {id(text): dict[str, r.Declaration]() for text in texts}
        for unit in self.all_units:
            _ = unit.scope
            assert unit.declarations is not None
            for item in unit.declarations.static:
                statics[id(unit.text)].setdefault(item.variable.key, item)
        for item in self.static:
            statics[id(texts[0])].setdefault(item.variable.key, item)
        macros = tuple(self.macros.values())
        return [
            r.Program(text.source, tuple(functions[id(text)]), tuple(statics[id(text)].values()), macros)
            for text in texts
        ]

    # -- calls -------------------------------------------------------------------------------------

    def resolver(self, expressions: FortranExpressions) -> Any:
        def resolve(candidate: Generic | Signature, arguments: list[Any]) -> Signature | None:
            if isinstance(candidate, Signature):
                return self._complete(candidate)
            given = [expressions.view(split_keyword(argument)[1]) for argument in arguments]
            for name in candidate.procedures:
                one = expressions.scope.find(name) if isinstance(name, str) else name
                if isinstance(one, Signature) and _fits(complete := self._complete(one), given):
                    return complete
            return None

        return resolve

    def _complete(self, signature: Signature) -> Signature:
        """The signature with its formals, where the text of the procedure is at hand."""
        unit = self.by_key.get(signature.key)
        return signature if unit is None else unit.signature()

    def formal_variables(self, signature: Signature) -> list[r.Variable]:
        """The formals of a procedure: values where it changes nothing, references where it does; of an array of assumed
        shape its extents, too."""
        variables: list[r.Variable] = []
        given = signature.formals
        if signature.result is not None and signature.result.shape:
            given = (("", signature.result), *given)
        for name, entity in given:
            if entity is None:
                variables.append(r.Variable(f"{name}@{signature.key}", name, r.Type("pointer", 8, OTHER), "formal"))
                continue
            variable = entity.expression
            assert isinstance(variable, r.Variable)
            if entity.has_descriptor:
                variables += bound_variables(entity.shape)
            if signature.takes_reference(name, entity):
                type = r.Type("pointer", 8, variable.type, is_reference=True, restrict=name not in signature.targets)
                variable = variable.replace(type=type)
            variables.append(variable)
        return variables

    def call(
        self, expressions: FortranExpressions, signature: Signature, arguments: list[Any], span: Span | None
    ) -> View:
        """A call: what it returns, an array through one of its own that stands in front of the statement."""
        signature = self._complete(signature)
        given = dict[str, Any]()
        names = [name for name, _ in signature.formals]
        for place, argument in enumerate(arguments):
            keyword, value = split_keyword(argument)
            given[keyword or (names[place] if place < len(names) else f"{place}")] = value
        values: list[r.Expression] = []
        replaced: dict[str, r.Expression] = {}
        for name, entity in signature.formals if signature.is_known else [(name, None) for name in given]:
            if name in given and not isinstance(given[name], str):
                parts = _pass(expressions, entity, given[name], name in signature.modified, signature.is_known, span)
            else:  # an optional argument that is not there
                message = f"`{name}` is absent in this call of `{signature.name}`: `present({name})` is taken to hold"
                self.diagnostics += [warning("not-counted", message, span)] if signature.is_known else []
                bounds = bound_variables(entity.shape) if entity is not None and entity.has_descriptor else []
                parts = [r.Constant(0, INDEX)] * (len(bounds) + 1)
            values += parts
            if entity is not None and isinstance(entity.expression, r.Variable):
                own = self.formal_variables(signature.replace(formals=((name, entity),), result=None))
                replaced |= {formal.key: part for formal, part in zip(own, parts, strict=False)}
        result = signature.result
        if result is None or not result.shape:
            type = VOID if result is None else result.element
            call = r.Call(signature.key, signature.name, tuple(values), type, span)
            return View(type, (), lambda counters: call)
        shape = tuple(
            DimensionBounds(integer(1), _replace_variables(bounds.extent, replaced)) for bounds in result.shape
        )
        made = expressions.make_variable(signature.name, array_type(result.element, shape, False))
        expressions.before.append(r.Declaration(made, span=span))
        call = r.Call(signature.key, signature.name, (made, *values), VOID, span)
        expressions.before.append(r.ExpressionStatement(call, span))
        return expressions.view_entity(Entity(made, result.element, shape), None)


def _pass(
    expressions: FortranExpressions,
    entity: Entity | None,
    node: Any,
    is_modified: bool,
    is_known: bool,
    span: Span | None,
) -> list[r.Expression]:
    """An argument as the called procedure takes it, with the extents of one of assumed shape."""
    view = expressions.view(node)
    zeros = [integer(0)] * len(view.extents)
    if view.extents or (entity is not None and entity.shape):
        if view.whole is not None and view.whole.shape:
            base: r.Expression = view.whole.expression
        else:
            first = view.at(zeros)
            base = r.Address(first, r.Type("pointer", 8, first.type), span)
        if entity is None or not entity.has_descriptor:
            return [base]
        extents: list[r.Expression] = []
        for place, bounds in enumerate(entity.shape):
            if isinstance(bounds.lower, r.Variable):
                extents.append(
                    view.whole.shape[place].lower if view.whole and place < len(view.whole.shape) else integer(1)
                )
            if isinstance(bounds.extent, r.Variable):
                extents.append(view.extents[place] if place < len(view.extents) else integer(1))
        return [*extents, base]
    value = view.at(())
    is_place = isinstance(value, r.Variable | r.Element | r.Field)
    if entity is None:
        is_number = is_place and value.type.kind in ("integer", "real") and not is_known
        return [r.Address(value, r.Type("pointer", 8, value.type), span) if is_number else value]
    if is_place and (is_modified or entity.element.kind == "record"):
        return [r.Address(value, r.Type("pointer", 8, value.type, is_reference=True), span)]
    return [convert(value, entity.element)]


def _replace_variables(node: Any, values: dict[str, r.Expression]) -> Any:
    """An expression with other ones in place of variables."""
    if isinstance(node, r.Variable):
        return values.get(node.key, node)
    if isinstance(node, tuple):
        return tuple(_replace_variables(part, values) for part in node)
    if isinstance(node, r.Operation | r.Conversion | r.Call | r.Element | r.Field):
        changed = {
            name: _replace_variables(getattr(node, name), values)
            for name in node._fields
            if name in ("operands", "operand", "arguments", "base", "index")
        }
        return node.replace(**changed)
    return node


def _fits(signature: Signature, given: Sequence[View]) -> bool:
    """Whether arguments agree in type, size and rank with the first formals of a procedure."""
    if len(given) > len(signature.formals):
        return False
    for (_, entity), view in zip(signature.formals, given, strict=False):
        if entity is None:
            continue
        same = (entity.element.kind, entity.element.size or 0) == (view.element.kind, view.element.size or 0)
        if not same or len(entity.shape) != len(view.extents):
            return False
        if entity.element.kind == "record" and entity.element.name != view.element.name:
            return False
    return True


def _unit_name(head: Any, kind: str) -> str:
    if kind == "Main_Program0":
        return "main"
    children = head.children
    return str(children[1]).lower()


def _type_of_prefix(head: Any) -> Any:
    """The type in front of `function`."""
    prefix = head.children[0]
    items = [prefix] if type_name(prefix) != "Prefix" else list(prefix.children)
    return next((item for item in items if type_name(item) in ("Intrinsic_Type_Spec", "Declaration_Type_Spec")), None)


def _root_name(node: Any) -> str:
    while getattr(node, "children", None) and not isinstance(node.children[0], str):
        node = node.children[0]
    return str(node).lower()


def _find_lower_bounded(tree: Any) -> Iterator[str]:
    """Names that some `allocate` gives lower bounds."""
    _, _, _, nodes, utils = load_parser()
    for node in utils.walk(tree, nodes.Allocation):
        if any(part.children[0] is not None for part in list_arguments(node.children[1])):
            yield str(node.children[0]).lower()


def _find_allocated(tree: Any) -> Iterator[str]:
    """Names that get memory otherwise than by an assignment: those in `allocate`, `move_alloc` and behind `=>`."""
    _, _, _, nodes, utils = load_parser()
    for node in utils.walk(tree, (nodes.Allocate_Stmt, nodes.Call_Stmt, nodes.Pointer_Assignment_Stmt)):
        if type_name(node) == "Pointer_Assignment_Stmt":
            yield str(node.children[0]).lower()
        elif type_name(node) == "Allocate_Stmt" or str(node.children[0]).lower() == "move_alloc":
            yield from (str(part).lower() for part in utils.walk(node.children[1], nodes.Name))


def read_fortran(texts: Sequence[FortranText], macros: dict[str, r.Macro]) -> tuple[list[r.Program], list[Diagnostic]]:
    """Records of each file of Fortran in a program, which use each other's modules, and the diagnostics of reading."""
    program = FortranProgram(texts, macros)
    parts = program.read(texts)
    left = [(text, line) for text in texts for line in text.remote]
    message = "a reference to another image is not counted here"
    program.diagnostics += (warning("not-counted", message, text.span(line, line)) for text, line in left)
    copies = (told for text in texts for told in warn_uncounted(text.list_pragmas()))
    return parts, [*(item for text in texts for item in text.diagnostics), *program.diagnostics, *copies]


def _list_units(
    program: FortranProgram, text: FortranText, node: Any, host: ProgramUnit | None = None
) -> list[ProgramUnit]:
    """The unit of a node, and those of its entries."""
    entries = (
        child
        for part in (node.children if type_name(node) in PROCEDURES else ())
        if type_name(part) == "Execution_Part"
        for child in part.children
        if type_name(child) == "Entry_Stmt"
    )
    return [ProgramUnit(program, text, node, host, entry=entry) for entry in (None, *entries)]


def _list_hosts(unit: ProgramUnit | None) -> list[ProgramUnit]:
    """A unit and those around it."""
    return [] if unit is None else [unit, *_list_hosts(unit.host)]


def _specification(node: Any) -> Any:
    """The declarations of a program unit, which have a name of their own in fparser's submodules."""
    return next((part for part in node.children if type_name(part).startswith("Specification_Part")), None)


def _all_units(unit: ProgramUnit) -> list[ProgramUnit]:
    return [unit, *(inner for one in unit.inner for inner in _all_units(one))]
