"""From files to an Application: the model itself and, recursively, what it imports."""

from __future__ import annotations

from typing import Any

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, suggest_nearest, warning
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.statements import declarations_by_name, is_of_library
from aspenpy.language.trees import mark_checked
from aspenpy.models.application.declarations import check_mixtures
from aspenpy.models.application.model import Application

MOST_IMPORTS = 1_000  # models one application may import in all: far above any real one, and a bound for hostile ones
DEEPEST_IMPORT = 100  # how many models may import each other in turn: loading them recurs


def read_application(source: Source, reader: Reader | None = None) -> Application:
    """The application model in a source; raises AspenError."""
    return _Loader(reader or Reader(), source).load(source, prefix="", path=())


def link_application(
    node: nodes.Application, source: Source, warnings: list[Diagnostic], reader: Reader | None = None
) -> Application:
    """The application of a syntax tree, with what it imports loaded; raises AspenError."""
    return _Loader(reader or Reader(), source).link(node, source, prefix="", path=(), warnings=warnings)


def assemble_application(
    node: nodes.Application, source: Source, warnings: list[Diagnostic], reader: Reader | None = None
) -> Application:
    """The application, without a check of its own dimensions."""
    return _Loader(reader or Reader(), source).assemble(node, source, prefix="", path=(), warnings=warnings)


class _Loader:
    """Loads one top-level model: keeps the reader, the top-level source and how much was imported."""

    def __init__(self, reader: Reader, top: Source) -> None:
        self.reader = reader
        self.top = top
        self.imported = 0

    def load(self, source: Source, prefix: str, path: tuple[tuple[Source, nodes.Import], ...]) -> Application:
        """The application in a source. `prefix` is put before its names, `path` are the imports that led to it."""
        warnings: list[Diagnostic] = []
        node = parse_file(source, self.reader, warnings)
        if not isinstance(node, nodes.Application):
            message = f"`{source.name}` is a machine model, not an application model"
            fail("not-an-application", message, node.span, hint="an application model begins with `model NAME {`")
        if path and node.name != path[-1][1].name:
            wanted = path[-1][1]
            message = f"`{wanted.path}` holds the model `{node.name}`, not `{wanted.name}`"
            fail("wrong-model", message, wanted.name_span, related=(Related(node.name_span, "the model's name"),))
        return self.link(node, source, prefix, path, warnings)

    def link(
        self, node: nodes.Application, source: Source, prefix: str, path: tuple[Any, ...], warnings: list[Diagnostic]
    ) -> Application:
        """The application with its imports loaded, once its dimensions agree."""
        if not source.checked:
            from aspenpy.models.application.dimensions import contradictions

            errors = contradictions(node)
            if errors:
                raise AspenError(*errors)
            mark_checked(source, node)
        return self.assemble(node, source, prefix, path, warnings)

    def assemble(
        self, node: nodes.Application, source: Source, prefix: str, path: tuple[Any, ...], warnings: list[Diagnostic]
    ) -> Application:
        """The application with its imports loaded."""
        scopes = (node.declarations, node.kernels, *(kernel.declarations for kernel in node.kernels))
        warnings += [item for scope in scopes for item in warn_of_redefinitions(scope)]
        check_mixtures(item for scope in scopes for item in scope if isinstance(item, nodes.Mixture))
        imports = self._import_all(node.declarations, source, prefix, path, warnings)
        kernel_imports = {
            kernel.name: models
            for kernel in node.kernels
            if (models := self._import_all(kernel.declarations, source, f"{prefix}{kernel.name}.", path, warnings))
        }
        return Application(
            node, imports, kernel_imports, prefix, tuple(warnings), reads_outside=self.reader.allow_outside
        )

    def _import_all(
        self,
        declarations: tuple[Any, ...],
        source: Source,
        prefix: str,
        path: tuple[Any, ...],
        warnings: list[Diagnostic],
    ) -> dict[str, Application]:
        """Imports by name; of two with one name the later holds, and only that one is loaded."""
        models = {}
        for node in declarations_by_name(nodes.Import, declarations).values():
            model = self._import(node, source, prefix, path)
            models[node.name] = model
            warnings += model.warnings
            warnings += [
                warning(
                    "unknown-override",
                    f"`{node.name}` has no parameter `{override.name}`: the override does nothing",
                    override.name_span,
                    hint=suggest_nearest(override.name, model.declared),
                )
                for override in node.overrides
                if override.name not in model.declared
            ]
        return models

    def _import(self, node: nodes.Import, source: Source, prefix: str, path: tuple[Any, ...]) -> Application:
        self.imported += 1
        if self.imported > MOST_IMPORTS:
            fail("too-many-imports", f"more than {MOST_IMPORTS:,} models are imported", node.span)
        if len(path) == DEEPEST_IMPORT:
            fail("too-many-imports", f"models import each other more than {DEEPEST_IMPORT} deep", node.span)
        imported = self.reader.import_(node.path, source, self.top, node.path_span)
        chain = [self.top, *(step[0] for step in path)]
        if any(imported.path == earlier.path for earlier in chain):
            names = " -> ".join([*(earlier.name for earlier in chain), imported.name])
            fail("import-cycle", f"the model imports itself: {names}", node.span)
        return self.load(imported, f"{prefix}{node.name}.", (*path, (imported, node)))


def warn_of_redefinitions(declarations: tuple[Any, ...]) -> list[Diagnostic]:
    """A warning, with both places, for each name that is defined twice among declarations of one scope: the later one
    holds. Not if both are the same lines, included twice."""
    seen: dict[tuple[str, str], Any] = {}
    warnings = []
    for node in declarations:
        key = (type(node).__name__, node.name)
        if key in seen and not _is_same_place(seen[key].span, node.span):
            outside = is_of_library(seen[key].span) and not is_of_library(node.span)
            which = "definition, outside of the library," if outside else "later definition"
            message = f"`{node.name}` is defined twice; this {which} holds"
            first = Related(seen[key].name_span or seen[key].span, "first defined here")
            span = node.name_span or node.span
            warnings.append(warning("redefined", message, span, related=(first,)))
        seen[key] = node
    return warnings


def _is_same_place(first: Span | None, second: Span | None) -> bool:
    return first is not None and second is not None and first.resolve() == second.resolve()
