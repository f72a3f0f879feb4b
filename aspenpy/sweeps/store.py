"""Store: the results of a sweep in a file, which appears whole or not at all.

Stretches are kept as they come in a folder beside it, `RESULT.part`, with a journal that says of which sweep they are.
When all are there the result is written from them. A sweep that was killed is taken up where it was.
"""

from __future__ import annotations

import ctypes
import io
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.files import flush_to_disk, put_in_place, require_writable
from aspenpy.language.opening import open_file, read_text_file
from aspenpy.language.schema import parse_json
from aspenpy.sweeps.result import SweepResult
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.work import Stretch

VERSION = 1  # of the journal

JOURNAL = "journal.json"

OWN = re.compile(
    r"(\d{16}\.(npy|reasons)|journal\.json)(\.unfinished)?|lock|(values|reasons)\.whole|(result|replaced)\..*"
)
"""What a store keeps in its folder; what else is there is somebody's, and stays."""

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux, renameat2(2): paths as they are, and two that change places
Writer = Callable[["Store", Path], None]  # writes the result of a finished store under another name


class Store:
    """The stretches of one sweep in a file, for one process at a time. Raises AspenError where they cannot be kept."""

    def __init__(self, path: str | Path, run: StudyRun, write: Writer, *, resume: bool = False) -> None:
        study, plan = run.study, run.plan
        self.path, self.study, self.plan, self.write = Path(path), study, plan, write
        self.target = self.path.resolve()
        self.folder = self.target.with_name(self.target.name + ".part")
        self.journal = {
            "aspenpy_sweep": VERSION,
            "model_hash": study.model_hash,
            "axes_hash": study.axes_hash,
            "metrics": list(study.metrics),
            "points": study.points,
            "stretches": plan.count,
        }
        self._lock = Lock(self.folder / "lock")
        if not is_zarr_store(self.target):
            require_writable(self.path)
        if self.target.exists() and not (self.target.is_file() or self.target.is_dir()):
            fail("not-writable", f"cannot write `{self.path}`: it is not an ordinary file")
        with self._report_file_errors():
            self._begin(resume)

    def _begin(self, resume: bool) -> None:
        """Takes the folder, which is new, or holds the beginning of this sweep."""
        made = not self.folder.exists()
        names = {file.name for file in self.folder.iterdir()} if self.folder.is_dir() else set()
        foreign = JOURNAL not in names and not names <= {"lock", f"{JOURNAL}.unfinished"}
        if foreign or not (made or self.folder.is_dir()):
            self._refuse_foreign()
        self.folder.mkdir(exist_ok=True)
        if not self._lock.acquire():
            hint = "wait until it has ended, or choose another name for the result"
            fail("in-use", f"another process is computing the sweep into `{self.path}`", hint=hint)
        try:
            self._take(resume)
        except BaseException:
            if made or not self._journal():
                self._clear()
            self.close()
            raise

    def _take(self, resume: bool) -> None:
        journal = self._journal()
        if journal and journal.get("finished"):  # the process was killed while it removed what is no longer needed
            self._clear()
            self.folder.mkdir(exist_ok=True)
            self._lock.acquire()
            journal = None
        if journal:
            if not resume:
                message = f"a sweep into `{self.path}` was begun and not finished"
                fail("begun", message, hint=f"--resume takes it up; to begin again, remove `{self.folder}`")
            for key, words in DIFFERENCES.items():
                if journal.get(key) != self.journal[key]:
                    message = f"the sweep that was begun into `{self.path}` is another one: {words} differ"
                    fail("another-sweep", message, hint="choose another name for the result")
        elif resume and self.target.exists():
            hint = "without --resume it is computed anew"
            fail("nothing-to-resume", f"`{self.path}` is there, and no unfinished sweep beside it", hint=hint)
        else:
            self._keep(self.folder / JOURNAL, json.dumps(self.journal, indent=2).encode())

    def close(self) -> None:
        """Lets other processes have it."""
        self._lock.release()

    def _journal(self) -> dict[str, Any] | None:
        """Content of the journal; None if there is none."""
        file = self.folder / JOURNAL
        if not file.exists():
            return None
        try:
            journal = parse_json(read_text_file(file))
        except (AspenError, ValueError):
            journal = None
        if not isinstance(journal, dict) or "aspenpy_sweep" not in journal:
            self._refuse_foreign()
        return journal

    def _refuse_foreign(self) -> NoReturn:
        message = f"`{self.folder}` is not the beginning of a sweep"
        fail("not-a-sweep", message, hint="move it away, or choose another name for the result")

    # -- stretches -------------------------------------------------------------------------------

    def list_missing(self) -> list[int]:
        """The numbers of the stretches that are still to be computed."""
        return [number for number in range(self.plan.count) if self._start(number) not in self]

    def fill(self, run: StudyRun, *, fail_fast: bool = False) -> Iterator[Stretch]:
        """All stretches: those that are kept, and then the others as they are computed and kept. What ends it before
        there is anything to keep leaves nothing behind."""
        complete = False
        try:
            yield from self.stretches()
            for stretch in run.stretches(self.list_missing(), fail_fast=fail_fast):
                self.add(stretch)
                yield stretch
                give_back()
            complete = True
        finally:
            if not any(self.folder.glob("*.npy")):
                self._clear()
            if not complete:
                self.close()

    def __contains__(self, start: int) -> bool:
        """Whether the stretch that begins with that point is kept."""
        return self._file(start).exists()

    def _start(self, number: int) -> int:
        case, blocks = self.plan.locate(number)
        return case * self.study.points_of_case + self.plan.blocks[blocks[0]][0]

    def _file(self, start: int) -> Path:
        return self.folder / f"{start:016d}.npy"

    def add(self, stretch: Stretch) -> None:
        """Keeps a stretch: the reasons first, for a stretch counts as kept when its values are."""
        with self._report_file_errors():
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
                stream.write(_write_header(content.shape, content.dtype))
                stream.write(numpy.ascontiguousarray(content).data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, file)

    def stretches(self) -> Iterator[Stretch]:
        """The stretches that are there, in the order of their points."""
        for number in range(self.plan.count):
            start = self._start(number)
            file, size = self._file(start), self.plan.size(number)
            if start in self:
                reasons = file.with_suffix(".reasons")
                why = self._load_array(reasons, (size,), numpy.uint8) if reasons.exists() else None
                yield Stretch(start, self._load_array(file, (len(self.study.metrics), size), numpy.float64), why)
                give_back()

    def _load_array(self, file: Path, shape: tuple[int, ...], kind: type) -> Any:
        """Reads an array back. Raises AspenError where the file was damaged since."""
        header, size = _write_header(shape, kind), math.prod(shape) * numpy.dtype(kind).itemsize
        try:
            with open_file(file, str(file)) as stream:
                content = stream.read(len(header) + size + 1)
            if content.startswith(header) and len(content) == len(header) + size:
                return numpy.frombuffer(content, kind, offset=len(header)).reshape(shape)
        except AspenError:  # no ordinary file
            pass
        hint = f"remove `{file.with_suffix('.npy')}`, and --resume computes it again"
        fail("damaged", f"`{file}` is damaged", hint=hint)

    # -- the result ------------------------------------------------------------------------------

    def finish(self) -> None:
        """Writes the result, and removes what it was made of."""
        try:
            with self._report_file_errors():
                unfinished = self.folder / f"result{self.path.suffix}"
                _remove_path(unfinished)
                self.write(self, unfinished)
                self._put(unfinished)
                self._keep(self.folder / JOURNAL, json.dumps({**self.journal, "finished": True}).encode())
                self._clear()
        finally:
            self.close()

    def _put(self, result: Path) -> None:
        """Puts the result in the place of an earlier file or Zarr store of ours. No other folder is ever removed."""
        if result.is_file():
            require_writable(self.path)  # things may have changed in the meantime
            if self.target.exists():
                result.chmod(self.target.stat().st_mode & 0o7777)
        flush_to_disk(result)
        if result.is_dir() and is_zarr_store(self.target):
            if exchange_paths(result, self.target):  # what was there is removed with the rest
                return
            replaced = self.folder / "replaced.zarr"
            _remove_path(replaced)
            os.rename(self.target, replaced)
            try:
                os.rename(result, self.target)
            except OSError:
                os.rename(replaced, self.target)
                raise
            return
        put_in_place(result, self.target)

    def _clear(self) -> None:
        """Removes what is the store's, the journal after the rest: what is left is always known to be ours."""
        if not self.folder.is_dir():
            return
        mine = [file for file in self.folder.iterdir() if OWN.fullmatch(file.name)]
        for file in sorted(mine, key=lambda file: (file.name == "lock", file.name == JOURNAL)):
            _remove_path(file)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def whole(self) -> SweepResult:
        """All stretches as one result, whose arrays lie in files: of little memory, whatever their size."""
        shape = (len(self.study.metrics), self.study.points)
        values = _map_array(self.folder / "values.whole", numpy.float64, shape)
        whole = SweepResult(self.study, values, _map_array(self.folder / "reasons.whole", numpy.uint8, shape[1:]))
        for stretch in self.stretches():
            whole.add(stretch)
        return whole

    @contextmanager
    def _report_file_errors(self) -> Iterator[None]:
        """Turns an error of the file system into a diagnostic; what was computed stays."""
        try:
            yield
        except OSError as error:
            begun = self.folder.is_dir() and any(self.folder.glob("*.npy"))
            hint = f"what was computed is in `{self.folder}`, and --resume takes it up" if begun else None
            reason = os.strerror(error.errno) if error.errno else error.strerror or error
            fail("not-written", f"cannot write `{self.path}`: {reason}", hint=hint)


def _write_header(shape: tuple[int, ...], kind: Any) -> bytes:
    """Header of an array in NumPy's file format."""
    written, described = io.BytesIO(), numpy.lib.format.dtype_to_descr(numpy.dtype(kind))
    numpy.lib.format.write_array_header_1_0(written, {"descr": described, "fortran_order": False, "shape": shape})
    return written.getvalue()


DIFFERENCES = {
    "aspenpy_sweep": "the versions of aspenpy",
    "model_hash": "the models, or what is set,",
    "axes_hash": "the axes",
    "metrics": "the metrics",
    "points": "the numbers of points",
    "stretches": "the sizes of stretches",
}
"""Keys by which a journal is compared, and what differs where their values do."""


def give_back() -> None:
    """Returns freed memory to the system, where libc would keep it (glibc): a bound on memory counts it, too."""
    trim = getattr(ctypes.CDLL(None) if os.name == "posix" else None, "malloc_trim", None)
    if trim is not None:
        trim(0)


def exchange_paths(one: Path, other: Path) -> bool:
    """Whether two paths have changed places, in one step; False where the system cannot do that (it is Linux's)."""
    renameat2 = getattr(ctypes.CDLL(None) if os.name == "posix" else None, "renameat2", None)
    if renameat2 is None:
        return False
    done: int = renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return done == 0


def _map_array(path: Path, kind: Any, shape: tuple[int, ...]) -> Any:
    """An array in a file that has all its place on the disk: one without, where the disk is full, ends the process."""
    array = numpy.lib.format.open_memmap(path, "w+", kind, shape)
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return array


def is_zarr_store(path: Path) -> bool:
    """Whether a folder is the result of a sweep, and nothing else is in it."""
    try:
        about = parse_json(read_text_file(path / ".zattrs"))
        parts = [part for part in path.iterdir() if part.name not in (".zattrs", ".zgroup", ".zmetadata")]
        return "aspenpy_version" in about and all((part / ".zarray").is_file() for part in parts)
    except (AspenError, OSError, ValueError, TypeError):
        return False


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class Lock:
    """A file that one process at a time has, until it ends, however that happens. Where the system knows no such locks,
    everybody gets it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Locks the file. False where another process has it."""
        self.release()
        try:
            import fcntl
        except ImportError:
            return True
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            except OSError:  # a file system without locks
                pass
            with suppress(FileNotFoundError):  # whoever had it may have removed it before we got it
                if os.path.samestat(os.fstat(descriptor), self.path.stat()):
                    self._descriptor = descriptor
                    return True
            os.close(descriptor)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()
