"""Saved trees of `/sys` and `/proc`, made up: each as little as the probe reads."""

from __future__ import annotations

from pathlib import Path


def write(root: Path, files: dict[str, object]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    return root


def caches(cpu: str, shared: dict[int, str], sizes: dict[int, str]) -> dict[str, object]:
    """Of one processor: an instruction cache, and data caches of these sizes shared with these processors."""
    found: dict[str, object] = {}
    levels = [(1, "Instruction"), *((level, "Data" if level == 1 else "Unified") for level in sizes)]
    for index, (level, kind) in enumerate(levels):
        folder = f"{cpu}/cache/index{index}"
        found |= {f"{folder}/level": level, f"{folder}/type": kind, f"{folder}/size": sizes[level]}
        found |= {f"{folder}/shared_cpu_list": shared[level], f"{folder}/coherency_line_size": 64}
        found[f"{folder}/ways_of_associativity"] = 8 * level
    return found


def two_sockets(root: Path) -> Path:
    """Two sockets of four cores in two domains, two threads each; a third cache to each half of a socket."""
    files: dict[str, object] = {}
    for processor in range(16):
        core, cpu = processor % 8, f"sys/devices/system/cpu/cpu{processor}"
        half = core // 2
        files |= {f"{cpu}/topology/physical_package_id": core // 4, f"{cpu}/topology/core_id": core % 4}
        own, of_half = f"{core},{core + 8}", f"{2 * half}-{2 * half + 1},{2 * half + 8}-{2 * half + 9}"
        files |= caches(cpu, {1: own, 2: own, 3: of_half}, {1: "48K", 2: "1280K", 3: "24M"})
    for domain in range(4):
        files[f"sys/devices/system/node/node{domain}/cpulist"] = (
            f"{2 * domain}-{2 * domain + 1},{2 * domain + 8}-{2 * domain + 9}"
        )
    files["sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = 3_400_000
    files["proc/cpuinfo"] = (
        "processor : 0\nmodel name : Made-up(R) 8x2 CPU @ 2.00GHz\nflags : fpu sse2 avx\n\nprocessor : 1"
    )
    files["proc/meminfo"] = "MemTotal:       67108864 kB\nMemFree:        1 kB"
    return write(root, files)


def small_board(root: Path) -> Path:
    """Four cores of ARM whose kernel numbers no package and tells no caches; the last is offline."""
    files: dict[str, object] = {}
    for processor in range(4):
        cpu = f"sys/devices/system/cpu/cpu{processor}"
        files |= {f"{cpu}/topology/physical_package_id": -1, f"{cpu}/topology/core_id": processor}
        files[f"{cpu}/online"] = 0 if processor == 3 else 1
    files["proc/cpuinfo"] = "processor : 0\nFeatures : fp asimd"
    return write(root, files)
