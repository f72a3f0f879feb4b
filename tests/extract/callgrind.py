"""Instruction-level counts of a compiled function: Valgrind's callgrind says how often each instruction ran, and a
disassembly what it does.

Operations are those of SSE2, by class and precision. Loads and stores are memory operands of data: those that neither
push, pop nor spill, that is, are not addressed by the stack pointer alone.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

CLASSES = {
    "add": "add", "sub": "add", "mul": "multiply", "div": "divide", "sqrt": "square_root",
    "ucomi": "compare", "comi": "compare", "max": "compare", "min": "compare", "cmp": "compare",
}  # fmt: skip
_ARITHMETIC = re.compile(r"(add|sub|mul|div|sqrt|ucomi|comi|max|min|cmp)(?:n?l[et]|n?eq)?s([sd])$")
_CONVERT = re.compile(r"cvt(t?s[sd]2si|si2s[sd]|ss2sd|sd2ss)[lq]?$")
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([a-z0-9]+(?: (?!0x)[a-z0-9]+)?)\s*([^#<\n]*)", re.MULTILINE)
_SPILL = re.compile(r"-?(0x[0-9a-f]+)?\(%rsp\)")


OPTIONS = [
    "-g0",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-inline-functions-called-once",
    "-fno-ipa-cp",
    "-fno-ipa-sra",
    "-fno-pie",
    "-no-pie",
    "-fcf-protection=none",
    "-fno-tree-loop-distribute-patterns",  # copies are loops, not calls of the library, which is not disassembled
]


def counted(
    source: Path, folder: Path, level: str, *flags: str, function: str = "kernel", arguments: tuple[str, ...] = ()
) -> Counter[str]:
    """Operations by `class precision`, and `load` and `store`, of one run of a function with what it calls. `flags` may
    name more sources, `arguments` are those of the program."""
    program, counts = folder / "program", folder / "callgrind.out"
    compiler = {".c": "gcc", ".F90": "gfortran", ".F": "gfortran"}.get(source.suffix, "g++")
    if compiler == "gfortran":
        flags, function = (*flags, f"-J{folder}"), f"*{function}*"  # of a module it is `__module_MOD_kernel`
    elif function != "main":
        text = re.sub(
            rf"\bstatic void {function}\(",
            rf"__attribute__((noinline)) void {function}(",
            source.read_text(encoding="utf-8"),
        )
        flags = [*flags, f"-I{source.parent}"]  # its own headers are not copied
        source = folder / source.name
        source.write_text(text, encoding="utf-8")
    subprocess.run([compiler, level, *OPTIONS, *flags, str(source), "-o", str(program), "-lm"], check=True)
    command = [
        "valgrind",
        "--tool=callgrind",
        "--dump-instr=yes",
        f"--toggle-collect={function}",
        "--collect-atstart=no",
    ]
    command += [
        f"--callgrind-out-file={counts}",
        "--compress-pos=no",
        "--compress-strings=no",
        str(program),
        *arguments,
    ]
    subprocess.run(command, check=False, capture_output=True)
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(program)], check=True, capture_output=True, text=True
    ).stdout
    lines = {int(address, 16): (name.split()[-1], operands.strip()) for address, name, operands in _LINE.findall(text)}
    total: Counter[str] = Counter()
    for address, times in executed(counts).items():
        if address in lines:
            for kind in kinds(*lines[address]):
                total[kind] += times
                if kind in ("load", "store"):
                    total[f"{kind} bytes"] += times * size(*lines[address])
    if level == "-O0":
        total["square_root dp"] += roots(counts)
    return total


WIDTHS = {"b": 1, "w": 2, "l": 4, "q": 8}
_SINGLE = ("movlpd", "movhpd", "movsd", "movq", "movlps", "movhps", "movddup", "cvtps2pd", "cvtdq2pd")


def size(name: str, operands: str) -> int:
    """Bytes of the memory operand of an instruction: of a vector all 16, else those of its register or suffix."""
    if "xmm" in operands or re.search(r"[sp][sd]$", name):
        if name in _SINGLE or name.endswith("sd"):
            return 8
        if name.startswith("cvtsi2s"):
            return 8 if name.endswith("q") else 4
        return 4 if name == "movd" or name.endswith("ss") else 16
    if name.startswith("set"):
        return 1
    extended = re.match(r"mov[sz]([bwl])", name)
    if extended:
        return WIDTHS[extended[1]]
    register = re.search(r"%(\w+)", re.sub(r"\([^)]*\)", "", operands))
    if register is None:
        return WIDTHS.get(name[-1], 4)
    word = register[1]
    if word[0] == "r":
        return {"d": 4, "w": 2, "b": 1}.get(word[-1], 8)
    return 4 if word[0] == "e" else 1 if word[-1] in "lh" else 2


def moves(name: str, operands: str) -> list[tuple[str, int]]:
    """Loads and stores of an instruction with their bytes: of data, of constants beside the code and of the stack."""
    if name.startswith("push"):
        return [("store", 8)]
    if name.startswith(("pop", "ret", "leave")):
        return [("load", 8)]
    if name.startswith("call"):
        return [("store", 8)]
    plain = _SPILL.sub(lambda found: f"{found[1] or ''}(%rbx)", operands.replace("%rip", "%rbx"))
    return [(kind, size(name, plain)) for kind in kinds(name, plain) if kind in ("load", "store")]


def executed(path: Path) -> Counter[int]:
    """How often each instruction ran, by address; lines that follow `calls=` are those of the callee."""
    found: Counter[int] = Counter()
    skip = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("calls="):
            skip = True
        elif line.startswith("0x"):
            fields = line.split()
            if not skip:
                found[int(fields[0], 16)] += int(fields[2])
            skip = False
    return found


def roots(path: Path) -> int:
    """How often the library's square root was called: without optimisation it is no instruction."""
    found, callee, caller = 0, "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("fn="):
            caller = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls=") and "sqrt" in callee and "sqrt" not in caller:
            found += int(line[6:].split()[0])
    return found


def kinds(name: str, operands: str) -> list[str]:
    """What one instruction counts as."""
    if name.startswith("set"):
        return ["store"] if "(" in operands else []
    found = []
    arithmetic = _ARITHMETIC.match(name)
    if arithmetic:
        found.append(f"{CLASSES[arithmetic[1]]} {'dp' if arithmetic[2] == 'd' else 'sp'}")
    elif _CONVERT.match(name):
        found.append("convert")
    parts = re.findall(r"[^,(]*\([^)]*\)|[^,()]+", operands)
    memory = [
        place
        for place, part in enumerate(parts)
        if ("(" in part or re.fullmatch(r"-?0x[0-9a-f]+", part)) and not _SPILL.fullmatch(part)
    ]
    if not memory or name.startswith(("lea", "nop", "j", "call", "data16", "cs")) or "%rip" in operands:
        return found
    last = memory[-1] == len(parts) - 1 and len(parts) > 1
    is_move = name.startswith(("mov", "cvt"))
    if not last or not is_move:
        found.append("load") if not (last and name.startswith("mov")) else None
    if last and not name.startswith(("ucomi", "comi", "cmp", "test", *["adds", "subs", "muls", "divs", "sqrts"])):
        found.append("store")
    return found
