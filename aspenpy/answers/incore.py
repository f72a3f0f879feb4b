"""In-core: what a compiled loop takes in a core, as OSACA reads it from assembly.

OSACA (Laukemann et al., PMBS 2018) is a program of its own under the AGPL-3.0. It is called where it is installed, and
nothing of it is imported.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from aspenpy.language.diagnostics import Diagnostic, fail, warning
from aspenpy.language.opening import read_standard_input
from aspenpy.record import Record
from aspenpy.tables.result import Result

PATIENCE = 300  # seconds that OSACA may take

ARCHITECTURES = (
    *("SNB", "IVB", "HSW", "BDW", "SKX", "CSX", "ICL", "ICX", "SPR", "ZEN1", "ZEN2", "ZEN3", "ZEN4"),
    *("TX2", "N1", "A64FX", "TSV110", "A72", "M1", "V2"),
)

CLASSES = {"add": "add", "sub": "add", "mul": "multiply", "div": "divide", "sqrt": "square_root"}
"""What x86 calls the classes of operations; a fused multiply-add is two flops."""

WIDTHS = {"x": 16, "y": 32, "z": 64}  # bytes of a register

_ARITHMETIC = re.compile(r"v?(?:(add|sub|mul|div|sqrt)|(fn?m(?:add|sub)\d*))(s|p)(s|d)$")
_INSTRUCTION = re.compile(r"^  Instruction: (\S+)$.*?^  Line: (.*?)$", re.MULTILINE | re.DOTALL)
_SUMMARY = re.compile(r"^Summary:$(.*?)^Target:$", re.MULTILINE | re.DOTALL)
_NUMBER = r"([0-9.eE+-]+)"

WARNINGS = {
    "LengthWarning": (
        "the file marks no loop, and all its instructions were read as one",
        "put `# OSACA-BEGIN` before the loop and `# OSACA-END` behind it, or name its lines with --lines",
    ),
    "UnknownInstrWarning": (
        "OSACA does not know some of the instructions and counts them as zero cycles",
        "its own output marks them with X: run `osaca` on the file",
    ),
}


class Operations(Record):
    """Flops of a class in one iteration."""

    name: str
    precision: str
    simd: bool
    amount: int


class InCore(Record, Result):
    """Cycles of one iteration of the loop as written: `ports` by the port that has most to do, `critical_path` from
    begin to end, `loop_carried` from one iteration to the next."""

    name: str
    architecture: str
    version: str
    pressure: tuple[tuple[str, float], ...]
    critical_path: float
    loop_carried: float
    operations: tuple[Operations, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ports(self) -> float:
        return max((cycles for _, cycles in self.pressure), default=0.0)

    @property
    def cycles(self) -> float:
        """Cycles per iteration of a long loop: the longer of ports and dependence."""
        return max(self.ports, self.loop_carried)

    def to_aspen(self) -> str:
        """An application of `n` iterations: its flops by class, and the cycles as a chain."""
        name = re.sub(r"^(?=\d)|\W", "_", self.name) + "_loop"
        flops = "".join(
            f"      flops [{item.amount}*n] as {item.name}, {item.precision}{', simd' if item.simd else ''}\n"
            for item in self.operations
        )
        return (
            f"// {self.name} on {self.architecture}, by OSACA {self.version}. Cycles an iteration: {self.ports:g} of"
            f" the busiest port,\n// {self.loop_carried:g} from one iteration to the next.\n\n"
            f"model {name} {{\n  param n = 1e6  // iterations of the loop as compiled\n\n  kernel main {{\n"
            f"    execute {{\n{flops}      chain [{self.cycles:g}*n]  // cycles\n    }}\n  }}\n}}\n"
        )


def incore(path: str | Path, architecture: str, lines: str | None = None) -> InCore:
    """OSACA's analysis of the marked loop in a file of assembly, - for standard input. Raises AspenError where OSACA is
    not installed, or refuses the file."""
    asked, source = architecture.upper(), Path(path)
    if asked not in ARCHITECTURES:
        choices = "OSACA knows " + ", ".join(ARCHITECTURES)
        fail("unknown-architecture", f"unknown architecture `{architecture}`", hint=choices)
    if str(path) != "-" and not source.is_file():
        fail("file-not-found", f"file not found: `{source}`")
    if lines is not None and not re.fullmatch(r"\d+([-:]\d+)?(,\d+([-:]\d+)?)*", lines):
        fail("lines", f"expected lines such as 12-20, not `{lines}`")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "osaca.yml"
        if str(path) == "-":
            source = Path(folder) / "input.s"
            source.write_text(read_standard_input(), encoding="utf-8")
        command = [_find_osaca(), "--arch", asked, "--ignore-unknown", "--yaml-out", str(output)]
        command += ["--lines", lines] if lines is not None else []
        try:
            done = subprocess.run(
                [*command, str(source.resolve())], capture_output=True, text=True, timeout=PATIENCE, cwd=folder
            )
        except subprocess.TimeoutExpired:
            fail("osaca", f"OSACA has not finished after {PATIENCE} s", hint="mark the innermost loop alone")
        if done.returncode or not output.is_file():
            said = done.stderr.strip().splitlines() or ["nothing"]
            fail("osaca", f"OSACA does not read `{source}`: {said[-1]}")
        return read_osaca(output.read_text(encoding="utf-8"), source.stem, asked)


def _find_osaca() -> str:
    """The program, beside this Python or on the path."""
    program = shutil.which("osaca", path=str(Path(sys.executable).parent)) or shutil.which("osaca")
    if program is None:
        message = "a compiled loop is read by OSACA, which is not installed: pip install 'aspenpy[incore]'"
        fail("missing-osaca", message, hint="OSACA is a program of its own, under the AGPL-3.0")
    return program


def read_osaca(text: str, name: str, architecture: str) -> InCore:
    """The summary, and the arithmetic among the instructions, of what OSACA writes with `--yaml-out`."""
    summary = _SUMMARY.search(text)
    found = summary.group(1) if summary else ""
    numbers = [re.search(rf"{word}: {_NUMBER}", found) for word in ("CriticalPath", "LCD")]
    pressure = re.search(r"PortPressure: \{(.*?)\}", found, re.DOTALL)
    if pressure is None or not all(numbers):
        fail("osaca", "OSACA's answer has no summary", hint="aspenpy reads OSACA 0.7 and later")
    ports = re.findall(rf"'?(\w+)'?:\s+{_NUMBER}", pressure.group(1))
    version = re.search(r"Version: ([\w.]+)", text)
    tail = re.search(r"^Warnings: \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    named = [word.strip() for word in tail.group(1).split(",")] if tail else []
    warnings = tuple(warning("osaca", WARNINGS[word][0], hint=WARNINGS[word][1]) for word in named if word in WARNINGS)
    path, carried = (float(number.group(1)) for number in numbers if number is not None)
    return InCore(
        name,
        architecture,
        version.group(1) if version else "",
        pressure=tuple((port, float(cycles)) for port, cycles in ports),
        critical_path=path,
        loop_carried=carried,
        operations=_count_operations(text),
        diagnostics=warnings,
    )


def _count_operations(text: str) -> tuple[Operations, ...]:
    """Flops by class of x86's arithmetic on registers of floating point."""
    counted: dict[tuple[str, str, bool], int] = {}
    for mnemonic, line in _INSTRUCTION.findall(text):
        arithmetic = _ARITHMETIC.match(mnemonic)
        if arithmetic is None:
            continue
        plain, _, packed, precision = arithmetic.groups()
        widths = re.findall(r"\b([xyz])mm\d", line)
        width = max((WIDTHS[letter] for letter in widths), default=WIDTHS["x"])
        lanes = width // (8 if precision == "d" else 4) if packed == "p" else 1
        name, flops = (CLASSES[plain], lanes) if plain else ("fma", 2 * lanes)
        key = name, "dp" if precision == "d" else "sp", packed == "p"
        counted[key] = counted.get(key, 0) + flops
    return tuple(Operations(*key, amount) for key, amount in counted.items())
