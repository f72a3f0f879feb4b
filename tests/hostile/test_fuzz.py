"""A fuzz of models, commands, traces, measurements of every tool, descriptions of hosts, saved models, record stores
and unfinished sweeps: each is answered or refused, without a traceback, in time.

`ASPENPY_FUZZ_SECONDS` is how long it takes in all (30 if nothing is said), `ASPENPY_FUZZ_SEED` chooses
what is tried. A find is told with the name of its case, which can be tried alone: `ASPENPY_FUZZ_CASE=models-17`.
"""

from __future__ import annotations

import io
import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

from aspenpy.shell.main import main
from tests.hostile import damaged, fuzz
from tests.timing import slowness

SECONDS = float(os.environ.get("ASPENPY_FUZZ_SECONDS") or 30)
SEED = os.environ.get("ASPENPY_FUZZ_SEED", "1")
CASE = os.environ.get("ASPENPY_FUZZ_CASE")
MOST_SECONDS = 5
"""Of the processor, for one input."""


class _TooLong(BaseException):
    """Not to be caught by what is tried."""


def _models(random: Random, folder: Path) -> list[str]:
    kind = random.randrange(4)
    if kind == 0:
        machine = fuzz.written(folder / "m.aspen", fuzz.model(random, "machines"))
        return random.choice((["eval", "stream", "--machine", machine], ["check", machine], ["show", machine]))
    application = fuzz.written(folder / "a.aspen", fuzz.model(random, "apps"))
    if kind == 1:
        return [random.choice(("check", "show", "count", "expr", "fmt")), application]
    command = random.choice(("eval", "explain", "profile", "expr", "traffic", "energy", "trace", "memory"))
    return [command, application, "--machine", random.choice(("simple", "haswell"))]


def _traces(random: Random, folder: Path) -> list[str]:
    layout = random.choice(([], ["--trace-format", random.choice(("lackey", "binary", "dinero"))]))
    return ["rdd", fuzz.written(folder / "t", fuzz.trace(random)), *layout]


def _tables(random: Random, folder: Path) -> list[str]:
    model = fuzz.written(folder / "lin.aspen", fuzz.MEASURED)
    options = random.choice(([], ["--vary", "c"], ["--vary", "c,m"], ["--vary", "m:whole"]))
    return ["fit", model, fuzz.written(folder / "t.csv", fuzz.table(random)), "--machine", "simple", *options]


KINDS: dict[str, Callable[[Random, Path], list[str]]] = {
    "models": _models,
    "commands": lambda random, folder: fuzz.line(random),
    "traces": _traces,
    "tables": _tables,
    "measurements": damaged.measurements,
    "hosts": damaged.hosts,
    "saved": damaged.models,
    "stores": damaged.stores,
    "sweeps": damaged.sweeps,
}


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_comes_is_answered_or_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    if CASE is not None:
        numbers = [int(CASE.rpartition("-")[2])] if CASE.startswith(kind) else []
    else:
        numbers = list(range(1_000_000))
    end, tried = time.monotonic() + SECONDS / len(KINDS), 0
    for number in numbers:
        arguments = KINDS[kind](Random(f"{SEED} {kind} {number}"), tmp_path)
        problem = _problem(arguments)
        assert problem is None, f"{kind}-{number}: aspenpy {' '.join(arguments)}\n{_inputs(arguments)}\n{problem}"
        tried += 1
        if time.monotonic() > end:
            break
    assert tried or CASE


def _problem(arguments: list[str]) -> str | None:
    """What is wrong with what a command line makes of its input."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        with warnings.catch_warnings(), redirect_stdout(told), redirect_stderr(told):
            warnings.simplefilter("ignore")
            status = main(arguments)
    except _TooLong:
        return f"more than {MOST_SECONDS} s"
    except SystemExit as error:
        return None if error.code == 0 else f"exit with {error.code}"
    except Exception:
        return traceback.format_exc()[-3000:]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None if status in (0, 1, 2) else f"exit status {status}"


def _stop(*_: object) -> None:
    """Ends what is tried, once it has had more time by as much as this machine is slower."""
    more = MOST_SECONDS * (slowness() - 1)
    signal.signal(signal.SIGVTALRM, _end)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(more, 0.001))


def _end(*_: object) -> None:
    raise _TooLong


def _inputs(arguments: list[str]) -> str:
    texts = [Path(word).read_bytes()[:4000] for word in arguments if word.startswith("/") and Path(word).is_file()]
    return "\n".join(text.decode("utf-8", "backslashreplace") for text in texts)
