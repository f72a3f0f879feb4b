"""Machines of the library, each loaded once in a process: several files go through them all as tests are collected."""

from __future__ import annotations

from functools import cache

import aspenpy
from aspenpy.models.machine.model import Machine


@cache
def machine_of_library(name: str) -> Machine:
    return aspenpy.load_machine(name)
