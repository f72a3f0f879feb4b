"""Which tests enter which block: recorded once for all tests, and again for files of tests that changed since."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy

from tests.mutation.blocks import Block, mark
from tests.mutation.copies import ROOT, copy_checkout, end_group, environment, pytest_command

FOLDER = ROOT / "build" / "mutants"
PART = 6
"""Files of tests that run in one process: most of its time is theirs, and little is lost with it."""
MOST_LEFT_OUT = 12
"""Tests of one process."""


@dataclass(frozen=True)
class Recording:
    """Tests of some files, with the blocks of the package as they were."""

    files: dict[str, str]
    """Digests of the files of tests."""
    sources: dict[str, str]
    """Digests of the files of the package."""
    blocks: list[Block]
    tests: list[str]
    seconds: list[float]
    rows: numpy.ndarray
    """Bits: a row for each test, a column for each block."""

    @cached_property
    def breadth(self) -> list[int]:
        """Blocks that each test enters."""
        return [int(numpy.unpackbits(row).sum()) for row in self.rows]

    @classmethod
    def read(cls, folder: Path) -> Recording:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        parts = [numpy.load(part) for part in sorted(folder.glob("*.npz"))]
        width = (len(about["blocks"]) + 7) // 8
        return cls(
            about["files"],
            about["sources"],
            [Block(**block) for block in about["blocks"]],
            [str(test) for part in parts for test in part["tests"]],
            [float(seconds) for part in parts for seconds in part["seconds"]],
            numpy.concatenate([part["rows"] for part in parts]) if parts else numpy.zeros((0, width), numpy.uint8),
        )

    def count_entered(self, path: str) -> numpy.ndarray:
        """Blocks of one file that each test enters."""
        numbers = [number for number, block in enumerate(self.blocks) if block.path == path]
        bits = (self.rows[:, number // 8] >> (7 - number % 8) & 1 for number in numbers)
        return sum(bits, numpy.zeros(len(self.tests), numpy.int64))

    def tests_of(self, wanted: Iterable[int]) -> set[int]:
        """Numbers of the tests that enter any of these blocks."""
        found: set[int] = set()
        for block in wanted:
            column = self.rows[:, block // 8] & (128 >> (block % 8))
            found.update(numpy.flatnonzero(column).tolist())
        return found


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def digests(pattern: str, root: Path = ROOT) -> dict[str, str]:
    return {file.relative_to(ROOT).as_posix(): digest(file) for file in sorted(root.rglob(pattern))}


def read_all(folder: Path = FOLDER) -> list[Recording]:
    """The latest first."""
    numbered = sorted(
        (int(part.name) for part in folder.glob("[0-9]*") if (part / "about.json").exists()), reverse=True
    )
    return [Recording.read(folder / str(number)) for number in numbered]


def bring_up_to_date(processes: int) -> list[Recording]:
    """Recordings that together hold each file of tests as it is now."""
    recordings = read_all()
    known = {file: text for recording in reversed(recordings) for file, text in recording.files.items()}
    stale = {file: text for file, text in digests("test_*.py", ROOT / "tests").items() if known.get(file) != text}
    if stale:
        print(f"recording which blocks {len(stale)} files of tests enter", flush=True)
        record(stale, len(recordings), processes)
        recordings = read_all()
    return recordings


def record(files: dict[str, str], number: int, processes: int) -> None:
    """Files of tests run in parts of a few, each part in a process of its own; parts that ended are kept where the rest
    is interrupted."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = copy_checkout(Path(folder) / "copy")
        sources = digests("*.py", ROOT / "aspenpy")
        blocks = mark(root)
        marks = Path(folder) / "marks"
        marks.mkdir()
        names = list(files)
        parts = [names[start :: -(-len(names) // PART)] for start in range(-(-len(names) // PART))]
        recorded: dict[str, str] = {}
        target = FOLDER / str(number)
        target.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(processes) as pool:
            texts = pool.map(record_part, repeat(root), (marks / str(part) for part in range(len(parts))), parts)
            for part, (of_part, text) in enumerate(zip(parts, texts, strict=True)):
                print(text, end="", flush=True)
                for rows in (marks / f"{part}.npz", marks / f"{part}-again.npz"):
                    if rows.exists():
                        shutil.copy(rows, target)
                recorded |= {file: files[file] for file in of_part}
                about = {"files": recorded, "sources": sources, "blocks": [asdict(block) for block in blocks]}
                (target / "about.json.part").write_text(json.dumps(about), encoding="utf-8")
                (target / "about.json.part").replace(target / "about.json")


def record_part(root: Path, marks: Path, files: list[str]) -> str:
    """Records the tests of some files; returns what was left out. Tests that fail run again without the others, which
    may be why."""
    told, failed = run_part(root, marks, files)
    if failed and marks.with_suffix(".npz").exists():
        more, failed = run_part(root, marks.with_name(f"{marks.name}-again"), failed)
        told += more
    return told + "".join(f"left out, for it fails on the marked copy: {test}\n" for test in failed)


def run_part(root: Path, marks: Path, files: list[str]) -> tuple[str, list[str]]:
    """Records tests, or those of files, in one process; returns what was left out, and which fail. A test in which the
    process ends, or that does not end, is left out, and the others run again."""
    told = ""
    left_out: list[str] = []
    rows, begun = marks.with_suffix(".npz"), marks.with_suffix(".now")
    while not rows.exists() and len(left_out) < MOST_LEFT_OUT:
        begun.write_text("", encoding="utf-8")
        command = pytest_command("-p", "no:cacheprovider", *(f"--deselect={test}" for test in left_out), *files)
        variables = environment(root, MUTATION_MARKS=str(marks))
        with (
            marks.with_suffix(".log").open("w", encoding="utf-8") as log,
            subprocess.Popen(
                command,
                cwd=root,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            ) as process,
        ):
            try:
                process.wait()
            finally:
                end_group(process.pid)
        if not rows.exists():
            if not (tests := begun.read_text(encoding="utf-8").splitlines()):
                raise SystemExit(
                    f"no test of {', '.join(files)} begins:\n{marks.with_suffix('.log').read_text(encoding='utf-8')}"
                )
            left_out.append(tests[-1])
            told += f"left out, for it ends the process or does not end: {left_out[-1]}\n"
    return told, [str(test) for test in numpy.load(rows)["failed"]] if rows.exists() else files
