"""The library's machines declare enough: an energy on every socket, by every model and whoever is charged."""

import pytest

import aspenpy
from aspenpy import Component, Machine
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import LITERAL, EnergyOptions
from aspenpy.models.library import names

POWERLESS = {"cachegrind"}
"""Machines that stand for no hardware and draw nothing."""
