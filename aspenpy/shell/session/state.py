"""State: what a session predicts at one time, and the states before and behind it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.language.nodes import Expression
from aspenpy.record import Record

MOST_STEPS = 1_000  # changes that can be undone


class SessionState(Case):
    """A case, in which expressions are set. `names` are defined in the session, `free` parameters stay symbols in
    formulas; `baseline` is the state to compare with, itself if None."""

    names: Mapping[str, Expression] = MappingProxyType({})
    free: tuple[str, ...] = ()
    baseline: SessionState | None = None

    @property
    def prediction(self) -> Prediction:
        """The prediction of the state; raises AspenError."""
        return predict(self)

    @property
    def reference(self) -> SessionState:
        """The state to compare with."""
        return self.baseline or self


class HistoryEntry(Record):
    """A state, and the line that led to it; of the first state it is empty."""

    line: str
    state: SessionState


class SessionHistory(Record):
    """The steps up to now, and the undone steps, of which the last is redone first."""

    past: tuple[HistoryEntry, ...]
    undone: tuple[HistoryEntry, ...] = ()

    @property
    def current(self) -> SessionState:
        return self.past[-1].state

    def step(self, line: str, state: SessionState) -> SessionHistory:
        """One more step; what was undone is forgotten."""
        return SessionHistory((*self.past, HistoryEntry(line, state))[-MOST_STEPS - 1 :])

    def undo(self) -> SessionHistory | None:
        """The step before; None at the first."""
        return SessionHistory(self.past[:-1], (*self.undone, self.past[-1])) if len(self.past) > 1 else None

    def redo(self) -> SessionHistory | None:
        """The step that was undone last; None where there is none."""
        return SessionHistory((*self.past, self.undone[-1]), self.undone[:-1]) if self.undone else None
