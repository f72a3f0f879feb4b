"""Damaged files: valid ones of every tool that is read, of saved models, record stores and unfinished sweeps, with
something left out, repeated, exchanged, cut off, or of another type or size."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.language.files import measurements_path, models_folder
from aspenpy.learn.estimators.model_files import KINDS, checksum, save_model
from aspenpy.learn.measurements.records import RecordStore, RunRecord
from aspenpy.sweeps.formats import format_of
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.store import Store
from tests.advice import test_system
from tests.hostile.fuzz import NUMBERS, written
from tests.readers import test_readers
from tests.tiny import SECONDS, both

MEASUREMENTS = ("acee", "cos", "leading_loads", "power_aware", "bandwidth")
WORDS = (*NUMBERS, "", "nan", "inf", "-inf", "1e999", "9" * 5_000, "٣", "²", "½", '"', ",", "\0", "\ufeff", "#", "[",
         "]", "{", "/", "\\", "\r", "\n", " ", "\t", "%", "W", "MHz", "é", "1.2.3", "--", "GPU", "null")  # fmt: skip
VALUES = (None, True, False, 0, 1, -1, 10**6, 2**63, 10**400, 0.5, -0.5, 1e308, float("inf"), float("nan"), "", "x", [],
          {}, [[]], [1], {"x": 1}, "9" * 5_000, "\0", "\ud800")  # fmt: skip


# -- texts -----------------------------------------------------------------------------------------


@cache
def texts(room: str) -> tuple[str, ...]:
    """Valid files: of measurements, of hosts (`probe`), of the ranges of a system."""
    if room == "probe":
        return tuple(
            path.read_text(encoding="utf-8")
            for path in sorted((Path(__file__).parents[1] / "probe" / "files").glob("*.*"))
        )
    if room == "system":
        return tuple(value for name, value in vars(test_system).items() if name.isupper() and isinstance(value, str))
    tools = [value for name, value in vars(test_readers).items() if name.isupper() and isinstance(value, str)]
    folder = Path(models_folder(), "measurements")
    return (
        *tools,
        *("\n".join(path.read_text(encoding="utf-8").split("\n")[:12]) for path in sorted(folder.glob("*.csv"))),
    )


def damaged(random: Random, text: str) -> bytes:
    """A text of which a few places are other than they were."""
    for _ in range(random.choice((1, 1, 1, 2, 4, 8))):
        text = _changed(random, text)
    content = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.05:
        place = random.randrange(len(content) + 1)
        content = content[:place] + random.randbytes(3) + content[place:]
    return content


def _changed(random: Random, text: str) -> str:
    lines = text.split("\n")
    line, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(12)
    if kind == 0:
        del lines[line]
    elif kind == 1:
        lines.insert(line, lines[other])
    elif kind == 2:
        lines[line], lines[other] = lines[other], lines[line]
    elif kind == 3:
        lines[line] = lines[line][: random.randrange(len(lines[line]) + 1)]
    elif kind == 4:
        return text[: random.randrange(len(text) + 1)]
    elif kind == 5:
        lines[:0] = [random.choice(("", "#", " ", ",", "{", "<a>"))] * random.choice((1, 30, 2_000))
    else:
        separator = random.choice((",", " ", '"', ":", "\t"))
        parts = lines[line].split(separator)
        place = random.randrange(len(parts))
        if kind == 6:
            del parts[place]
        elif kind == 7:
            parts.insert(place, random.choice(parts))
        elif kind == 8:
            parts[place] += random.choice(WORDS)
        else:
            parts[place] = random.choice(WORDS)
        lines[line] = separator.join(parts)
    return "\n".join(lines)


def measurements(random: Random, folder: Path) -> list[str]:
    """A command that reads a file of measurements."""
    kind = random.choice([name for name in KINDS if name != "cos-throttling"])
    if random.random() < 0.4:
        example = Path(measurements_path(f"{kind.replace('-', '_')}_example")).read_text(encoding="utf-8")
        file = written(folder / "m.csv", damaged(random, example))
        return ["empirical", kind, random.choice(("fit", "report")), file, "--format", random.choice(("table", "json"))]
    file = written(folder / "m.csv", damaged(random, random.choice(texts("measurements"))))
    return random.choice(
        (
            ["measure", "--read", file],
            ["measure", "--read", file, "--label", "application=a", "--record", str(folder / "new.sqlite")],
            ["empirical", kind, "fit", file, "-o", str(folder / "model.json")],
            ["empirical", "cos", "trace", file],
            ["advise", "significance", "stream", "--machine", "haswell", "--counters", file],
        )
    )


def hosts(random: Random, folder: Path) -> list[str]:
    """A command that reads what a tool says of a host."""
    if random.random() < 0.3:
        file = written(folder / "s.txt", damaged(random, random.choice(texts("system"))))
        return ["advise", "configure", "stream", "--machine", "haswell", "--system", file]
    file = written(folder / "h.txt", damaged(random, random.choice(texts("probe"))))
    return ["machine", "probe", "host", "--from", file, "-o", str(folder / "host.aspen"), "--replace"]


# -- JSON ------------------------------------------------------------------------------------------


def changed_json(random: Random, content: Any) -> Any:
    """A value of JSON with a few parts removed, replaced, repeated or exchanged."""
    content = json.loads(json.dumps(content))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        holder = content
        while True:
            if not isinstance(holder, dict | list) or not holder:
                break
            key = random.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
            if isinstance(holder, dict) and "state" in holder and random.random() < 0.6:
                key = "state"
            inner = holder[key]
            if isinstance(inner, dict | list) and inner and random.random() < 0.8:
                holder = inner
                continue
            change = random.randrange(6)
            if change == 0:
                del holder[key]
            elif change == 1 and isinstance(holder, list):
                holder.insert(key, inner)
            elif change == 2 and isinstance(holder, dict):
                holder[random.choice(("x", "", "kind", "n" * 300))] = inner
            elif change == 3 and isinstance(inner, int | float) and not isinstance(inner, bool):
                holder[key] = random.choice((-inner, inner * 10**6, inner + 1, str(inner)))
            else:
                holder[key] = deepcopy(random.choice(VALUES))  # else what is inserted could be inserted into itself
            break
    return content


@cache
def saved(kind: str, form: str = "") -> str:
    """A saved model, as JSON."""
    options: dict[str, Any] = {"trees": 3} if kind == "bandwidth" else {"form": form} if form else {}
    path = Path("fuzzed-model.json").resolve()
    save_model(KINDS[kind](**options).fit(measurements_path(f"{kind.replace('-', '_')}_example")), path)
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return text


def models(random: Random, folder: Path) -> list[str]:
    """A command that reads a saved model, with a checksum that fits more often than not."""
    kind = random.choice([name for name in KINDS if name != "cos-throttling"])
    form = random.choice(("literal", "stall", "clocks")) if kind == "cos" else ""
    content = changed_json(random, json.loads(saved(kind, form)))
    if isinstance(content, dict) and random.random() < 0.9:
        content.pop("checksum", None)
        content["checksum"] = checksum(content)
    text = json.dumps(content)
    if random.random() < 0.1:
        text = damaged(random, text).decode("utf-8", "replace")
    file = written(folder / "model.json", text.encode("utf-8", "replace"))
    example = random.choice((kind, kind, kind, random.choice(MEASUREMENTS))).replace("-", "_")
    line = ["empirical", kind, random.choice(("predict", "report")), f"{example}_example", "--model", file]
    return [*line, "--format", random.choice(("table", "json", "csv"))]


# -- stores ----------------------------------------------------------------------------------------


@cache
def _store() -> bytes:
    path = Path("fuzzed-store.sqlite").resolve()
    RecordStore(path).add(
        [
            RunRecord("stream", "n=4", "haswell", device, 1.0 + n, 2.0 * n, {"cycles [GHz]": n, "what": "x"})
            for n in range(1, 8)
            for device in ("cpu", "gpu")
        ]
    )
    content = path.read_bytes()
    path.unlink()
    return content


def stores(random: Random, folder: Path) -> list[str]:
    """A command that reads a record store, whose rows or bytes are other than they were."""
    path = folder / "runs.sqlite"
    content = bytearray(_store())
    if random.random() < 0.4:
        for _ in range(random.choice((1, 3, 30))):
            content[random.randrange(len(content))] = random.randrange(256)
        content = content[: random.choice((len(content), len(content), random.randrange(len(content))))]
    path.write_bytes(content)
    if bytes(content) == _store():
        _change_rows(random, path)
    return random.choice(
        (
            ["measure", "--read", str(path)],
            ["empirical", "acee", "fit", str(path), "--record-model"],
            ["energy", "stream", "--machine", "haswell", "--measured", str(path)],
            ["measure", "--read", measurements_path("acee_example"), "--record", str(path)],
        )
    )


def _change_rows(random: Random, path: Path) -> None:
    column = random.choice(("application", "input", "runtime", "energy", "counters", "counters", "model"))
    counters = json.dumps(changed_json(random, {"cycles": 3, "name": "x", "rate [GB/s]": 2.5}))
    value = (
        counters
        if column == "counters" and random.random() < 0.8
        else random.choice((*NUMBERS, "", b"\xff", 1e308, -1))
    )
    statement = random.choice(("create trigger t after insert on runs begin delete from runs; end",
                               "create table x (y)", "pragma user_version = 7", "alter table runs add column y",
                               "drop index what", "delete from runs", "alter table runs rename to other"))  # fmt: skip
    with closing(sqlite3.connect(path)) as connection, connection:
        if random.random() < 0.7:
            connection.execute(f"update runs set {column} = ? where id % 3 = 1", [value])
        else:
            connection.execute(statement)


APPLICATION = "model swept { param n = 5 kernel main { execute { flops [n] } } }"


@cache
def _unfinished() -> dict[str, bytes]:
    """The files of a sweep that was killed."""
    folder = Path("fuzzed-sweep").resolve()
    folder.mkdir()
    app, machine = both(APPLICATION, SECONDS)
    run = StudyRun(make_study(Case(app, machine), {"n": [1.0, 2.0, 3.0]}))
    path = folder / "r.csv"
    list(Store(path, run, format_of(path).write).fill(run))
    files = {file.name: file.read_bytes() for file in (folder / "r.csv.part").iterdir()}
    shutil.rmtree(folder)
    return files


def sweeps(random: Random, folder: Path) -> list[str]:
    """A sweep that takes up one whose files are other than they were."""
    path = folder / "r.csv"
    part = folder / "r.csv.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    path.unlink(missing_ok=True)
    for name, content in _unfinished().items():
        (part / name).write_bytes(content)
    victim = random.choice([file for file in part.iterdir() if file.name != "lock"])
    content = victim.read_bytes()
    kind = random.randrange(5)
    if kind == 0:
        victim.unlink()
        victim.mkdir()
    elif kind == 1 and victim.suffix == ".json":
        victim.write_text(json.dumps(changed_json(random, json.loads(content))), encoding="utf-8")
    elif kind == 2:
        victim.write_bytes(content[: random.randrange(len(content) + 1)])
    elif kind == 3:
        place = random.randrange(len(content) + 1)
        victim.write_bytes(content[:place] + random.randbytes(random.choice((1, 8))) + content[place + 1 :])
    else:
        (part / f"{random.randrange(3):016d}.{random.choice(('npy', 'reasons'))}").write_bytes(random.randbytes(9))
    app = written(folder / "swept.aspen", APPLICATION)
    machine = written(folder / "seconds.aspen", SECONDS)
    return ["sweep", app, "--machine", machine, "--over", "n=1,2,3", "-o", str(path), "--resume"]
