"""Passes of the micro-benchmarks with programs of the shell in their place: what is run, how often, and what fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.probe import benchmark
from aspenpy.probe.benchmark import Caches, Part, compile_program, find_caches, run_benchmarks, run_pass
from aspenpy.probe.topology import CacheLevel, HostTopology

needs_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="programs of these tests are scripts")


def host(*caches: CacheLevel) -> HostTopology:
    made = HostTopology(processor="x", said_by="y", sockets=1, cores=4, threads=1, domains=1, caches=caches)
    return made.replace(processors=(2, 3))


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("caches", "sizes", "way"),
    [
        ((), (32 << 10, 512 << 10, 0), 4 << 10),
        ((CacheLevel(1, 48 << 10, 12, 64, 1),), (48 << 10, 512 << 10, 0), 4 << 10),
        ((CacheLevel(1, 48 << 10, None, 64, 1),), (48 << 10, 512 << 10, 0), 6 << 10),
        ((CacheLevel(1, 512 << 10, 8, 64, 1),), (512 << 10, 1 << 20, 0), 64 << 10),  # twice the first at least
        ((CacheLevel(2, 256 << 10, 8, 64, 1), CacheLevel(3, 8 << 20, 16, 64, 4)), (32 << 10, 256 << 10, 8 << 20), 4096),
        ((CacheLevel(1, 32 << 10, 8, 64, 1), CacheLevel(2, 32 << 10, 8, 64, 1)), (32 << 10, 64 << 10, 0), 4096),
    ],
)
def test_caches_that_are_measured(caches: tuple[CacheLevel, ...], sizes: tuple[int, int, int], way: int) -> None:
    assert find_caches(host(*caches)) == Caches(sizes, way)


@needs_shell
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "echo 'a.c: note: x' >&2; echo 'a.c:3: error: no' >&2; echo 'error: 2' >&2; exit 1",
            "micro-benchmarks: a.c:3: error: no",
        ),
        ("echo warned >&2; exit 1", "cannot compile the micro-benchmarks: no reason given"),
        (None, "cannot be run: "),
    ],
)
def test_compilers_that_fail(text: str | None, message: str, tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    if text is not None:
        script(compiler, text)
    with pytest.raises(AspenError) as refused, compile_program(str(compiler)):
        pass
    (found,) = refused.value.diagnostics
    assert found.code == "not-compiled"
    assert found.message.startswith(f"{compiler} ")
    assert message in found.message


@needs_shell
def test_a_program_is_compiled_once_and_removed(tmp_path: Path) -> None:
    compiler = script(tmp_path / "cc", 'while [ "$1" != -o ]; do shift; done; echo "$3 $4" > "$2"')
    with compile_program(str(compiler)) as target:
        assert target.read_text(encoding="utf-8") == "-lm -lpthread\n"
    assert not target.exists()


@needs_shell
def test_a_pass_is_told_what_to_measure(tmp_path: Path) -> None:
    program = script(tmp_path / "p", f'echo "$@" > {tmp_path}/told; echo "a_latency 2e-9"; echo "b 3"')
    assert run_pass(program, "core", host(CacheLevel(1, 48 << 10, 12, 64, 1))) == {"a_latency": 2e-9, "b": 3.0}
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert told.split() == ["core", "49152", "524288", "0", "4096", str(320 << 20), "0.0015", "2", "3"]
    run_pass(program, "memory", host(), seconds=0.5)
    assert (tmp_path / "told").read_text(encoding="utf-8").split()[5:7] == [str(320 << 20), "0.5"]


@needs_shell
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo one >&2; echo two >&2; exit 3", "the micro-benchmarks ended early: two"),
        ("exit 3", "the micro-benchmarks ended early: status 3"),
        (None, "the micro-benchmarks could not be run: "),
    ],
)
def test_passes_that_fail(text: str | None, message: str, tmp_path: Path) -> None:
    program = tmp_path / "p"
    if text is not None:
        script(program, text)
    with pytest.raises(AspenError) as refused:
        run_pass(program, "core", host())
    assert [(each.code, each.message[: len(message)]) for each in refused.value.diagnostics] == [
        ("not-measured", message)
    ]


@pytest.mark.parametrize(
    ("seconds", "done"),
    [
        (0.5, 10),
        (1.0, 7),  # three of each in 6 s are not late yet
        (1.5, 6),  # three of each, late
        (6.0, 6),  # 30 s with two of each are not late yet
        (6.5, 5),
        (11.0, 3),
        (40.0, 2),  # one of each at least
    ],
)
def test_no_pass_begins_late(seconds: float, done: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once three of each part are done, after 6 s; once one of each is, after 30 s."""
    clock, parts, watched = [0.0], list[Part](), list[tuple[int, int]]()

    def passed(target: Path, part: Part, host: HostTopology) -> dict[str, float]:
        clock[0] += seconds
        parts.append(part)
        return {part: float(len(parts))}

    monkeypatch.setattr(benchmark, "monotonic", lambda: clock[0])
    monkeypatch.setattr(benchmark, "run_pass", passed)
    monkeypatch.setattr(benchmark, "_time_start", lambda target: 7.0)
    asked: tuple[Part, ...] = 5 * ("core", "memory")
    found = run_benchmarks(Path("p"), host(), lambda *told: watched.append(told), asked)
    assert parts == list(asked[:done])
    assert watched == [(number + 1, 10) for number in range(done)]
    assert found == [
        *({part: float(number + 1)} for number, part in enumerate(parts)),
        *[{"process_start_latency": 7.0}] * done,
    ]
