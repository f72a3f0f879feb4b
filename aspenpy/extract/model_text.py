"""The text of a whole model: where it is from, its parameters with their sources, its data, its kernels."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from aspenpy.expr.node import Expr
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Hole
from aspenpy.extract.fit import format_number
from aspenpy.extract.naming import KernelText, source_line
from aspenpy.extract.text import Writer, write_macros
from aspenpy.language.format import format_text
from aspenpy.language.source import Source


class ModelText:
    """Parameters that the kernels of `writer` use, and those of `sizes` of a command that formulas need, of which runs
    `varied` some. `macros` are the symbols of the program's macros."""

    def __init__(
        self,
        program: r.Program,
        writer: Writer,
        macros: Mapping[str, Expr],
        sizes: Mapping[str, float],
        varied: Collection[str],
    ) -> None:
        self.program, self.writer, self.macros, self.sizes, self.varied = program, writer, macros, sizes, varied
        self.data = writer.write_declarations()  # first, since it names what sizes depend on
        self.used = {symbol: hole for symbol, hole in writer.names.holes.items() if symbol in writer.used}

    def write(self, path: str, origins: Sequence[str], kernels: Sequence[KernelText]) -> str:
        """The model of the program at `path`, below comments that say where it is from."""
        file = os.path.basename(path)
        name = self.writer.names.make_legal(os.path.splitext(file)[0])
        parameters = [*write_macros(self.program, self.macros, self._symbols_in_formulas()), *self._write_parameters()]
        lines = [f"// {file}, {origins[0]}", *(f"// {origin}" for origin in origins[1:]), ""]
        lines += [f"model {name} {{", *parameters, *([""] if parameters and self.data else []), *self.data]
        for kernel in kernels:
            lines += ["", *kernel.lines]
        lines.append("}")
        return format_text(Source("\n".join(lines) + "\n", f"<{path}>"))

    def list_holes(self) -> tuple[Hole, ...]:
        """Parameters that some formula needs and whose value the source does not say."""
        return tuple(hole for hole in self.used.values() if hole.meaning.text)

    def _symbols_in_formulas(self) -> set[Expr]:
        """Symbols of the model's formulas, and of the values of its parameters."""
        return self.writer.used.union(*(v.symbols(hole.value) for hole in self.used.values()))

    def _list_unvaried(self) -> dict[str, str]:
        """Sizes of the model that all runs had at one value, by their names: what the program reads, and macros."""
        names = self.writer.names
        read = set().union(*(v.symbols(names.parameters[each]) for each in names.inputs if each in names.parameters))
        found = {}
        for symbol, hole in self.used.items():
            if symbol in read and hole.fit is not None and not hole.fit.sizes() and hole.name not in self.sizes:
                found[hole.name] = hole.text()
        used = self._symbols_in_formulas()
        for macro in self.program.macros:
            if self.macros[macro.name] in used and macro.name not in self.sizes and macro.value > 1:
                found[str(self.macros[macro.name].payload[0])] = format_number(macro.value)
        return found | {name: format_number(value) for name, value in self.sizes.items() if name not in self.varied}

    def _write_parameters(self) -> Iterator[str]:
        yield from self._write_sizes()
        unvaried = self._list_unvaried()
        declared = {hole.name for hole in self.used.values()}
        sizes = {name: format_number(value) for name, value in self.sizes.items() if name in declared} | unvaried
        for hole in self.used.values():
            value, place = hole.text(), source_line(hole.span)
            if hole.name in self.sizes:
                value, comment = format_number(self.sizes[hole.name]), f"{hole.meaning.text}, of the command"
            elif hole.fit is not None:
                comment = _describe_fit(hole)
            elif hole.rule:
                comment = f"{hole.meaning}: {hole.rule}"
            else:
                comment = f"unknown: {hole.meaning}" if hole.meaning.text else ""
            if hole.fit is not None and hole.name not in sizes:
                at = sizes if hole.fit.runs == 1 else unvaried
                value += " counted at " + ", ".join(f"{name} = {size}" for name, size in at.items()) if at else ""
            yield f"param {hole.name} = {value}  // {comment}" + (f" ({place})" if comment and place else place)

    def _write_sizes(self) -> Iterator[str]:
        """Declares sizes of the command that a fitted formula needs and that the program has no name for."""
        named = {hole.name for hole in self.used.values()} | {macro.name for macro in self.program.macros}
        wanted = {name for hole in self.used.values() if hole.fit is not None for name in hole.fit.sizes()}
        for name, value in self.sizes.items():
            if name in wanted - named:
                yield f"param {name} = {format_number(value)}  // of the command"


def _describe_fit(hole: Hole) -> str:
    """Meaning of a parameter that runs have filled, and how close the fit is."""
    assert hole.fit is not None
    runs = "1 run" if hole.fit.runs == 1 else f"{hole.fit.runs} runs, within {max(hole.fit.error * 100, 0.01):.2g} %"
    return f"{hole.meaning.text}: counted in {runs}"
