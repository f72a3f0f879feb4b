"""Store: the results of a sweep in a file, which appears whole or not at all.

Stretches are kept as they come in a folder beside it, `RESULT.part`, with a journal that says of which sweep they are.
When all are there the result is written from them. A sweep that was killed is taken up where it was.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy

from aspenpy.diagnostics import fail
from aspenpy.sweeps.result import Summary, SweepResult
from aspenpy.sweeps.run import Run, Stretch

VERSION = 1
"""Of the journal."""

JOURNAL = "journal.json"

UNFINISHED = f"{JOURNAL}.unfinished"
"""What a sweep leaves, if anything, that was killed before it had begun."""

Writer = Callable[["Store", Path], None]
"""Writes the result of a finished store under another name."""


class Store:
    """Where the stretches of one sweep are kept. Raises AspenError where that is not possible."""

    def __init__(self, path: str | Path, run: Run, write: Writer, *, resume: bool = False) -> None:
        study, plan = run.study, run.plan
        self.path, self.study, self.plan, self.write = Path(path), study, plan, write
        self.folder = self.path.with_name(self.path.name + ".part")
        self.journal = {
            "aspenpy_sweep": VERSION,
            "model_hash": study.model_hash,
            "axes_hash": study.axes_hash,
            "metrics": list(study.metrics),
            "points": study.points,
            "stretches": plan.count,
        }
        with self._told():
            self._begin(resume)

    def _begin(self, resume: bool) -> None:
        killed_at_once = self.folder.is_dir() and {file.name for file in self.folder.iterdir()} <= {UNFINISHED}
        if self.folder.exists() and not killed_at_once:
            self._refuse_other(resume)
        elif resume and self.path.exists():
            hint = "without --resume it is computed anew"
            fail("nothing-to-resume", f"`{self.path}` is there, and no unfinished sweep beside it", hint=hint)
        else:
            self.folder.mkdir(exist_ok=True)
            self._keep(self.folder / JOURNAL, json.dumps(self.journal, indent=2).encode())

    def _refuse_other(self, resume: bool) -> None:
        """What is there has to be the beginning of this sweep."""
        try:
            found = json.loads((self.folder / JOURNAL).read_text())
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict) or "aspenpy_sweep" not in found:
            message = f"`{self.folder}` is not the beginning of a sweep"
            fail("not-a-sweep", message, hint="move it away, or choose another name for the result")
        if not resume:
            message = f"a sweep into `{self.path}` was begun and not finished"
            fail("begun", message, hint=f"--resume takes it up; to begin again, remove `{self.folder}`")
        for key, words in DIFFERENCES.items():
            if found.get(key) != self.journal[key]:
                message = f"the sweep that was begun into `{self.path}` is another one: {words} differ"
                fail("another-sweep", message, hint="choose another name for the result")

    # -- stretches -------------------------------------------------------------------------------

    def missing(self) -> list[int]:
        """The numbers of the stretches that are still to be computed."""
        return [number for number in range(self.plan.count) if self._start(number) not in self]

    def filled(self, run: Run, *, fail_fast: bool = False) -> Iterator[Stretch]:
        """All stretches: those that are kept, and then the others as they are computed and kept. What ends it before
        there is anything to keep leaves nothing behind."""
        yield from self.kept()
        try:
            for stretch in run.stretches(self.missing(), fail_fast=fail_fast):
                self.add(stretch)
                yield stretch
        finally:
            if not any(self.folder.glob("*.npy")):
                shutil.rmtree(self.folder, ignore_errors=True)

    def __contains__(self, start: int) -> bool:
        """Whether the stretch that begins with that point is kept."""
        return self._file(start).exists()

    def _start(self, number: int) -> int:
        case, blocks = self.plan.place(number)
        return case * self.study.points_of_case + self.plan.blocks[blocks[0]][0]

    def _file(self, start: int) -> Path:
        return self.folder / f"{start:016d}.npy"

    def add(self, stretch: Stretch) -> None:
        """Keeps a stretch: the reasons first, for a stretch counts as kept when its values are."""
        with self._told():
            file = self._file(stretch.start)
            if stretch.reasons is not None:
                self._keep(file.with_suffix(".reasons"), stretch.reasons)
            self._keep(file, stretch.values)

    def _keep(self, file: Path, content: Any) -> None:
        """Writes a file under another name first: it is there whole or not at all."""
        unfinished = file.with_name(file.name + ".unfinished")
        with open(unfinished, "wb") as stream:
            if isinstance(content, bytes):
                stream.write(content)
            else:  # not by `numpy.save`, which does not know why a file took no more
                header = numpy.lib.format.header_data_from_array_1_0(content)
                numpy.lib.format.write_array_header_1_0(stream, header)
                stream.write(numpy.ascontiguousarray(content).data)
        os.replace(unfinished, file)

    def kept(self) -> Iterator[Stretch]:
        """The stretches that are there, in the order of their points."""
        for number in range(self.plan.count):
            start = self._start(number)
            file = self._file(start)
            if start in self:
                reasons = file.with_suffix(".reasons")
                why = self._loaded(reasons) if reasons.exists() else None
                yield Stretch(start, self._loaded(file), why)

    def _loaded(self, file: Path) -> Any:
        """What was kept, which may have been damaged since."""
        try:
            return numpy.load(file, allow_pickle=False)
        except (ValueError, EOFError):
            hint = f"remove `{file.with_suffix('.npy')}`, and --resume computes it again"
            fail("damaged", f"`{file}` is damaged", hint=hint)

    # -- the result ------------------------------------------------------------------------------

    def finish(self) -> None:
        """Writes the result, and removes what it was made of."""
        with self._told():
            unfinished = self.folder / f"result{self.path.suffix}"
            _remove(unfinished)
            self.write(self, unfinished)
            if self.path.is_dir():
                shutil.rmtree(self.path)
            os.replace(unfinished, self.path)
            shutil.rmtree(self.folder)

    def whole(self) -> SweepResult:
        """All stretches as one result, whose arrays lie in files: of little memory, whatever their size."""
        shape = (len(self.study.metrics), self.study.points)
        values = _mapped(self.folder / "values.whole", numpy.float64, shape)
        reasons = _mapped(self.folder / "reasons.whole", numpy.uint8, shape[1:])
        summary = Summary({name: metric.unit for name, metric in self.study.metrics.items()})
        for stretch in self.kept():
            here = slice(stretch.start, stretch.start + stretch.values.shape[1])
            values[:, here] = stretch.values
            if stretch.reasons is not None:
                reasons[here] = stretch.reasons
            summary.add(stretch)
        return SweepResult(self.study, values, reasons, summary)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the file system refuses is a message; what was computed stays."""
        try:
            yield
        except OSError as error:
            begun = self.folder.is_dir() and any(self.folder.glob("*.npy"))
            hint = f"what was computed is in `{self.folder}`, and --resume takes it up" if begun else None
            reason = os.strerror(error.errno) if error.errno else error.strerror or error
            fail("not-written", f"cannot write `{self.path}`: {reason}", hint=hint)


DIFFERENCES = {
    "aspenpy_sweep": "the versions of aspenpy",
    "model_hash": "the models, or what is set,",
    "axes_hash": "the axes",
    "metrics": "the metrics",
    "points": "the numbers of points",
    "stretches": "the sizes of stretches",
}
"""What a journal is compared by, and what it means if that is not the same."""


def _mapped(path: Path, kind: Any, shape: tuple[int, ...]) -> Any:
    """An array in a file that has all its place on the disk: one without, where the disk is full, ends the process."""
    found = numpy.lib.format.open_memmap(path, "w+", kind, shape)
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return found


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
