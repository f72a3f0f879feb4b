"""Messages between processes: lines through made-up times, a made-up launcher, and a real MPI where there is one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from aspenpy.probe.messages import MessageTimes, derive_message_numbers, fit_line, measure_messages
from aspenpy.probe.quantity import combine_passes
from aspenpy.probe.topology import read_topology
from tests.probe import hosts
from tests.probe.hosts import HOST

SIZES = [8 * 4**step for step in range(10)]


@pytest.mark.parametrize(("step", "threshold"), [(0.0, 0), (5e-6, 8192)])
def test_a_line_is_found_again(step: float, threshold: int) -> None:
    """1 us and 10 GB/s, with 5 us more beyond the limit of eager messages or without."""
    line = fit_line({size: 1e-6 + size / 10e9 + step * (size > threshold) for size in SIZES})
    assert (line.latency, line.bandwidth) == pytest.approx((1e-6, 10e9))
    assert (line.rendezvous, line.threshold) == (pytest.approx(step), threshold)
    assert line.worst < 1e-6


def test_times_that_are_no_line_keep_their_ends() -> None:
    line = fit_line({8: 4e-6, 64: 1e-6})
    assert (line.latency, line.bandwidth) == (4e-6, 64 / 1e-6)


def test_a_machine_with_messages_sends_them() -> None:
    """Two pairs at once get 15 GB/s of 2 times 10."""
    times = {f"message_{size}_latency": 1e-6 + size / 10e9 for size in SIZES}
    found = combine_passes([times | {f"message_of_all_{SIZES[-1]}_latency": 2 * SIZES[-1] / 15e9}])
    numbers = derive_message_numbers(MessageTimes(found, 4))["messages"]
    assert {name: round(number.value, 9) for name, number in numbers.items()} == pytest.approx(
        {"latency": 1e-6, "link_bandwidth": 10e9, "bandwidth": 15e9}
    )
    machine = hosts.machine(hosts.text(beside=derive_message_numbers(MessageTimes(found, 4))))
    assert machine.components["here_messages"].type == "interconnect"


def launcher(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    for name, does in (("mpicc", "exit 0"), ("mpirun", script)):
        (folder / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_what_a_launcher_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher(tmp_path, monkeypatch, 'echo "mpirun has detected an attempt to run as root." >&2; exit 1')
    assert measure_messages(HOST).remark == "Messages were not measured: mpirun has detected an attempt to run as root."
    assert measure_messages(HOST.replace(processors=(0,))).remark == "Messages were not measured: they want two cores."
    monkeypatch.setenv("PATH", "")
    assert measure_messages(HOST) == MessageTimes()


def test_the_launcher_gets_a_number_of_processes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher(tmp_path, monkeypatch, 'case "$*" in "-n 2 "*"/messages 6") echo pass; echo message_8_latency 1e-6;; esac')
    assert measure_messages(HOST).found["message_8_latency"].value == 1e-6


@pytest.mark.skipif(not (shutil.which("mpicc") and shutil.which("mpirun")), reason="there is no MPI")
@pytest.mark.skipif(not os.getuid(), reason="Open MPI refuses to run for root")
@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="messages want two cores of Linux"
)
def test_a_ping_pong_of_this_host() -> None:
    found = derive_message_numbers(measure_messages(read_topology()))["messages"]
    assert 1e-8 < found["latency"].value < 1e-3
    assert 1e7 < found["link_bandwidth"].value < 1e12
