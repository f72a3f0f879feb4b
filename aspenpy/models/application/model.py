"""Application: a loaded application model, its names resolved on demand."""

from __future__ import annotations

from aspenpy.models.application.declarations import Declarations
from aspenpy.models.application.flow import Kernel
from aspenpy.models.application.flow_builder import build_kernel


class Application(Declarations):
    """An application model with the models it imports. Immutable; equal when the models' texts say the same.

    `prefix` stands before the names of an imported model (`fft3d.`); it is empty for the model itself. With
    `reads_outside` the files of data that it names may lie anywhere.
    """

    def flow(self, name: str = "main") -> Kernel:
        """A kernel as a tree of control flow, names resolved, with all the kernels it calls."""
        return build_kernel(self, name)
