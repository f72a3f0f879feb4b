"""Results in files: what each format holds, what a killed sweep leaves, and what is refused."""

import csv
import io
import json
import os
import signal
import time
from itertools import product
from pathlib import Path
from random import Random

import numpy
import pytest

from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError
from aspenpy.sweeps import formats
from aspenpy.sweeps import run as run_module
from aspenpy.sweeps import store as store_module
from aspenpy.sweeps.formats import format_of
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.store import Store
from tests.thorough import HANGS, slow, some
from tests.tiny import application, codes, machine

APP = application("execute { flops [n*k/m] }", "param n = 5 param k = 2 param m = 1")
OVER = {"n": [1.0, 2.0], "m": [0, 1, 4]}
ROWS = [(n, m, None if m == 0 else 2 * n / m) for n in OVER["n"] for m in OVER["m"]]


def running(over=OVER, metrics=("runtime",), **options):
    return StudyRun(make_study(Case(APP, machine(), **options), over, metrics=metrics))


def stored(path, over=OVER, **options):
    running_ = running(over)
    store = Store(path, running_, format_of(path).write, **options)
    for _ in store.fill(running_):
        pass
    store.finish()


def loaded(path):
    with numpy.load(path) as found:
        return dict(found)


@pytest.fixture(params=["arrow", "python"])
def csv_writer(request, monkeypatch):
    """The two ways in which text is made: with pyarrow where that is installed, and without."""
    if request.param == "arrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setattr(formats, "find_spec", lambda name: None)


@pytest.mark.usefixtures("csv_writer")
def test_csv(tmp_path):
    stored(tmp_path / "r.csv")
    rows = list(csv.reader((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["n", "m", "runtime [s]", "reason"]
    found = [(float(n), float(m), float(t) if t else None, reason) for n, m, t, reason in rows[1:]]
    assert found == [(*row, "division by zero" if row[-1] is None else "") for row in ROWS]
    assert os.listdir(tmp_path) == ["r.csv"]


@pytest.mark.usefixtures("csv_writer")
def test_numbers_in_text_are_the_numbers(tmp_path):
    """Any double comes back bit by bit, and a label with a comma in it as one cell."""
    bits = numpy.random.default_rng(5).integers(0, 2**63 - 1, 5000)
    values = numpy.concatenate([bits.view(float), -bits.view(float), [0.0, -0.0, 5e-324, 1e16, 1e22, 0.1, 1 / 3]])
    values = values[numpy.isfinite(values)]
    text = formats._csv_by_arrow if formats.find_spec("pyarrow") else formats._csv_by_python
    labels = numpy.full(len(values), 'a "b", c')
    table = {"machine": labels, "n": values, "reason": numpy.zeros(len(values), dtype=numpy.uint8)}
    rows = list(csv.reader(text(table).decode().splitlines()))
    assert {(label, reason) for label, _, reason in rows} == {('a "b", c', "")}
    assert numpy.array([number for _, number, _ in rows], dtype=float).tobytes() == values.tobytes()


def test_json(tmp_path):
    stored(tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert found["columns"] == ["n", "m", "runtime", "reason"]
    assert found["units"] == {"runtime": "s"}
    assert found["rows"] == [[n, m, t, "division by zero" if t is None else None] for n, m, t in ROWS]


EXPECTED = numpy.array([numpy.nan if t is None else t for *_, t in ROWS]).reshape(2, 3)


def test_npz(tmp_path):
    stored(tmp_path / "r.npz")
    found = loaded(tmp_path / "r.npz")
    numpy.testing.assert_array_equal(found["runtime"], EXPECTED)
    assert found["m"].tolist() == OVER["m"]
    assert found["reason"].tolist() == [[1, 0, 0]] * 2
    assert json.loads(str(found["about"]))["dimensions"] == {"n": 2, "m": 3}


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    stored(
        tmp_path / "r.parquet",
        {
            **OVER,
            "machine": [machine(), machine("machine other { socket [1] cpu } socket cpu { resource flops(n) [n] }")],
        },
    )
    found = parquet.read_table(tmp_path / "r.parquet").to_pydict()
    assert found["machine"] == ["seconds"] * 6 + ["other"] * 6
    numpy.testing.assert_array_equal(found["runtime"], numpy.concatenate([EXPECTED.ravel()] * 2))
    assert found["m"] == [0, 1, 4] * 4


@pytest.mark.parametrize("name", ["r.nc", "r.zarr"])
def test_grids(tmp_path, name):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf" if name == "r.nc" else "zarr")
    path = tmp_path / name
    stored(path)
    opened = xarray.open_dataset(path, engine="h5netcdf") if name == "r.nc" else xarray.open_zarr(path)
    with opened as found:
        numpy.testing.assert_array_equal(found["runtime"].values, EXPECTED)
        assert found["runtime"].attrs["units"] == "s"
        assert found.attrs["model_hash"] == running().study.model_hash
    stored(path)
    assert os.listdir(tmp_path) == [name]


LARGE = {"n": [1.0, 2.0, 3.0, 5.0], "m": [0, 1, 4, 8], "k": [2.0, 3.0]}
"""With two machines 64 points, a quarter of them without a value."""

PACKAGES = {".parquet": ["pyarrow"], ".nc": ["xarray", "h5netcdf"], ".zarr": ["xarray", "zarr"]}


@pytest.mark.parametrize("name", ["r.csv", "python.csv", "r.json", "r.parquet", "r.npz", "r.nc", "r.zarr"])
def test_every_writer_in_pieces_of_three(tmp_path, monkeypatch, name):
    """Rows of later pieces have the parameters and the reasons of their own points."""
    path = tmp_path / name
    for package in PACKAGES.get(path.suffix, []):
        pytest.importorskip(package)
    if name == "python.csv":
        monkeypatch.setattr(formats, "find_spec", lambda name: None)
    monkeypatch.setattr(formats, "ROWS_AT_ONCE", 3)
    twice = machine("machine twice { socket [1] cpu } socket cpu { resource flops(n) [2*n] }")
    stored(path, {**LARGE, "machine": [machine(), twice]})
    expected = [
        (label, n, m, k, *((None, "division by zero") if m == 0 else (factor * n * k / m, None)))
        for label, factor in (("seconds", 1), ("twice", 2))
        for n, m, k in product(*LARGE.values())
    ]
    found = tables(path) if path.suffix in (".csv", ".json", ".parquet") else grids(path)
    assert sorted(found, key=str) == sorted(expected, key=str)


def tables(path):
    """The rows of a file that holds a row for each point: machine, n, m, k, runtime, reason."""
    if path.suffix == ".json":
        return [tuple(row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    if path.suffix == ".parquet":
        columns = pytest.importorskip("pyarrow.parquet").read_table(path).to_pydict().values()
        return [row(*point, value, reason) for *point, value, reason in zip(*columns, strict=True)]
    cells = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]
    return [(name, *map(float, point), float(t) if t else None, why or None) for name, *point, t, why in cells]


def grids(path):
    """The rows of a file that holds an array for each metric."""
    if path.suffix == ".npz":
        found = loaded(path)
        dims = json.loads(str(found["about"]))["dimensions"]
        arrays = {name: found[name] for name in [*dims, "runtime", "reason"]}
    else:
        xarray = pytest.importorskip("xarray")
        opened = xarray.open_dataset(path, engine="h5netcdf") if path.suffix == ".nc" else xarray.open_zarr(path)
        with opened as found:
            dims = found["runtime"].dims
            arrays = {name: found[name].values for name in [*dims, "runtime", "reason"]}
    points = (dict(zip(dims, point, strict=True)) for point in product(*(arrays[name].tolist() for name in dims)))
    cells = zip(points, arrays["runtime"].ravel().tolist(), arrays["reason"].ravel().tolist(), strict=True)
    return [row(*(point[name] for name in ("machine", *LARGE)), value, reason) for point, value, reason in cells]


def row(*cells):
    """With None for a value that is missing, and the code of a reason in words."""
    *point, value, reason = cells
    return *point, None if value != value else value, "division by zero" if reason else None


def test_an_interrupted_sweep_is_taken_up(tmp_path, monkeypatch):
    """Stopped after two of five stretches, the rest is computed, and nothing twice."""
    monkeypatch.setattr(run_module, "STRETCH", 1)
    over = {"n": numpy.linspace(1, 2, 5 * (1 << 15))}
    path = tmp_path / "r.npz"
    first = running(over)
    assert first.plan.count == 5
    store = Store(path, first, format_of(path).write)
    stretches = store.fill(first)
    next(stretches), next(stretches)
    stretches.close()
    assert not path.exists()
    with pytest.raises(AspenError, match="begun and not finished") as error:
        Store(path, running(over), format_of(path).write)
    assert codes(error.value) == ["begun"]
    computed = []
    second = running(over)
    monkeypatch.setattr(
        second.worker, "stretch", lambda number: computed.append(number) or first.worker.stretch(number)
    )
    store = Store(path, second, format_of(path).write, resume=True)
    assert [stretch.start for stretch in store.fill(second)] == [number << 15 for number in range(5)]
    assert computed == [2, 3, 4]
    store.finish()
    numpy.testing.assert_allclose(loaded(path)["runtime"], 2 * over["n"], rtol=1e-15)
    assert os.listdir(tmp_path) == ["r.npz"]


def test_another_sweep_is_not_taken_up(tmp_path):
    path = tmp_path / "r.csv"
    Store(path, running(), format_of(path).write)
    for change, words in (
        ({"set": {"k": 3}}, "the models, or what is set, differ"),
        ({"over": {"n": [1.0, 3.0], "m": [0, 1, 4]}}, "the axes differ"),
        ({"metrics": ["flops"]}, "the models, or what is set, differ"),
    ):
        with pytest.raises(AspenError, match=words) as error:
            Store(path, running(**change), format_of(path).write, resume=True)
        assert codes(error.value) == ["another-sweep"]


def test_a_folder_that_is_not_ours(tmp_path):
    (tmp_path / "r.csv.part").mkdir()
    (tmp_path / "r.csv.part" / "journal.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(AspenError, match="is not the beginning of a sweep") as error:
        Store(tmp_path / "r.csv", running(), format_of("r.csv").write, resume=True)
    assert codes(error.value) == ["not-a-sweep"]
    assert (tmp_path / "r.csv.part" / "journal.json").read_text(encoding="utf-8") == "[1]"


def test_nothing_to_resume(tmp_path):
    stored(tmp_path / "r.csv")
    with pytest.raises(AspenError, match="no unfinished sweep beside it"):
        Store(tmp_path / "r.csv", running(), format_of("r.csv").write, resume=True)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(AspenError, match="cannot write") as error:
        Store(tmp_path / "nowhere" / "r.csv", running(), format_of("r.csv").write)
    assert codes(error.value) == ["not-writable"]
    with pytest.raises(AspenError, match="cannot tell the format"):
        format_of("r.xls")


def test_a_full_disk_keeps_what_there_is(tmp_path):
    def full(store, path):
        path.write_text("half of", encoding="utf-8")
        raise OSError(28, "No space left on device")

    path = tmp_path / "r.csv"
    running_ = running()
    store = Store(path, running_, full)
    list(store.fill(running_))
    with pytest.raises(AspenError, match="No space left on device") as error:
        store.finish()
    assert "--resume takes it up" in str(error.value)
    assert not path.exists()
    stored(path, resume=True)
    assert path.read_text(encoding="utf-8").count("\n") == 7


@pytest.mark.skipif(os.name == "nt", reason="there are no limits on the sizes of files")
@pytest.mark.parametrize(
    ("name", "kilobytes"), [("r.npz", 400), ("r.npz", 1100), ("r.csv", 1100), ("r.csv", 0), ("r.nc", 1100)]
)
def test_no_file_may_be_so_large(run, models: Path, name: str, kilobytes: int):
    """The limit of the process stands for a full disk: a stretch takes 1 MB, and the result more."""
    resource = pytest.importorskip("resource")
    if name == "r.nc":
        pytest.importorskip("h5netcdf")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    over = ("--over", "n=1..1000:lin:1000", "--over", "clock=1e9..2e9:lin:130", "--metric", "flops")
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, limits[1]))
    try:
        found = run("sweep", "axpy.aspen", "--machine", "cluster.aspen", *over, "-o", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert found.status == 2
    assert f"cannot write `{name}`: File too large" in found.err
    assert "Traceback" not in found.err
    assert not (models / name).exists()


def test_what_was_kept_and_is_damaged(tmp_path):
    path, running_ = tmp_path / "r.csv", running()
    list(Store(path, running_, format_of(path).write).fill(running_))
    [kept] = (tmp_path / "r.csv.part").glob("*.npy")
    kept.write_bytes(kept.read_bytes()[:140])
    with pytest.raises(AspenError, match=r"0\.npy` is damaged"):
        stored(path, resume=True)
    kept.unlink()
    stored(path, resume=True)
    assert os.listdir(tmp_path) == ["r.csv"]


def test_killed_before_it_had_begun(tmp_path):
    (tmp_path / "r.csv.part").mkdir()
    (tmp_path / "r.csv.part" / "journal.json.unfinished").write_text("{", encoding="utf-8")
    stored(tmp_path / "r.csv")
    assert os.listdir(tmp_path) == ["r.csv"]


def test_a_folder_that_is_no_zarr_store_is_left_alone(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "r.zarr").mkdir()
    (tmp_path / "r.zarr" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(AspenError, match="is a directory"):
        stored(tmp_path / "r.zarr")
    assert (tmp_path / "r.zarr" / "thesis.txt").exists()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@slow
def test_killed_and_resumed(spawn, run, models: Path):
    """SIGKILL in the middle; what is resumed is what an undisturbed run gives."""
    (models / "long.aspen").write_text(
        "model long { param n = 1 kernel main { execute { loads [n + log2(n) + sqrt(n)] } } }", encoding="utf-8"
    )
    command = ("sweep", "long.aspen", "--machine", "cluster.aspen", "--over", "n=1..9:3145728", "--backend", "numpy")
    with spawn(*command, "--jobs", "1", "-o", "r.npz") as process:
        deadline = time.monotonic() + HANGS
        while not list(models.glob("r.npz.part/*.npy")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not (models / "r.npz").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in models.glob("r.npz.part/*.npy")}
    assert 0 < len(kept) < 3
    assert run(*command, "-o", "r.npz", "--resume").status == 0
    assert run(*command, "-o", "undisturbed.npz").status == 0
    numpy.testing.assert_array_equal(loaded(models / "r.npz")["runtime"], loaded(models / "undisturbed.npz")["runtime"])
    assert list(models.glob("*.part")) == []


# -- what is there already -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.npz", "d.parquet", "d.nc", "d.zarr"])
def test_a_folder_is_never_removed(run, models: Path, name: str):
    """A partitioned Parquet dataset is a folder of such a name, and so may anything else be."""
    (models / name).mkdir()
    (models / name / "precious").write_text("x", encoding="utf-8")
    found = run("sweep", "axpy.aspen", "--machine", "cluster.aspen", "--over", "n=1,2", "-o", name)
    if "needs" in found.err:
        pytest.skip(found.err)
    assert (found.status, found.out) == (2, "")
    assert found.err == f"error: cannot write `{name}`: is a directory\n"
    assert (models / name / "precious").read_text(encoding="utf-8") == "x"
    assert not (models / f"{name}.part").exists()


def test_an_empty_folder_is_not_removed_either(tmp_path):
    (tmp_path / "r.csv").mkdir()
    with pytest.raises(AspenError, match="is a directory"):
        stored(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").is_dir()


def test_a_store_with_other_things_in_it_is_left_alone(tmp_path):
    pytest.importorskip("zarr")
    stored(tmp_path / "r.zarr")
    (tmp_path / "r.zarr" / "notes").mkdir()
    (tmp_path / "r.zarr" / "notes" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(AspenError, match="is a directory"):
        stored(tmp_path / "r.zarr")
    assert (tmp_path / "r.zarr" / "notes" / "thesis.txt").exists()


def test_a_store_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    """Where two paths cannot change places at once."""
    pytest.importorskip("zarr")
    monkeypatch.setattr(store_module, "exchange_paths", lambda one, other: False)
    path = tmp_path / "r.zarr"
    stored(path)
    before = {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    rename = os.rename

    def refused(source, target):
        if Path(target) == path and Path(source).name == "result.zarr":
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(AspenError, match="Input/output error"):
        stored(path, {"n": [7.0]})
    assert {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    monkeypatch.undo()
    stored(path, {"n": [7.0]}, resume=True)
    assert os.listdir(tmp_path) == ["r.zarr"]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="paths that change places need Linux")
def test_a_store_is_replaced_in_one_step(tmp_path, monkeypatch):
    """There is no moment at which neither the old store nor the new one is there, and no removal before it."""
    pytest.importorskip("zarr")
    path = tmp_path / "r.zarr"
    stored(path)
    monkeypatch.setattr(os, "rename", lambda *paths: pytest.fail("the old store is moved away"))
    stored(path, {"n": [7.0]})
    assert json.loads((path / "n" / ".zarray").read_text(encoding="utf-8"))["shape"] == [1]
    assert os.listdir(tmp_path) == ["r.zarr"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the names of open files")
@pytest.mark.parametrize("name", ["r.csv", "r.npz", "r.nc", "r.zarr"])
def test_a_result_is_on_the_disk_before_it_is_put_in_its_place(tmp_path, monkeypatch, name: str):
    if name in ("r.nc", "r.zarr"):
        pytest.importorskip("h5netcdf" if name == "r.nc" else "zarr")
    settled = set()
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: settled.add(os.readlink(f"/proc/self/fd/{file}")) or fsync(file))
    path = tmp_path / name
    stored(path)
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    unfinished = tmp_path / f"{name}.part" / f"result{path.suffix}"
    assert files
    assert {str(unfinished / file.relative_to(path)) for file in files} <= settled


@pytest.mark.skipif(os.name == "nt", reason="there are no links for everybody")
def test_links_and_modes_stay(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "r.csv"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / "r.csv").symlink_to(real)
    stored(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").is_symlink()
    assert real.read_text(encoding="utf-8").startswith("n,m,runtime [s],reason\n")
    assert real.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "elsewhere") == ["r.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_ordinary_file_stays(tmp_path):
    os.mkfifo(tmp_path / "r.csv")
    with pytest.raises(AspenError, match="is not an ordinary file"):
        stored(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").is_fifo()
    assert os.listdir(tmp_path) == ["r.csv"]


@pytest.mark.parametrize("option", ["-o", "--picture"])
def test_an_empty_name(run, option: str):
    found = run("sweep", "axpy.aspen", "--machine", "cluster.aspen", "--over", "n=1,2", option, "")
    name = {"-o": "--output"}.get(option, option)
    assert found == (2, "", f"aspenpy: {name}: the name of the file is empty\n")


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".npy", numpy.zeros((1, 5))),
        (".npy", numpy.zeros((2, 6))),
        (".npy", numpy.zeros((1, 6), dtype=numpy.float32)),
        (".reasons", numpy.zeros(7, dtype=numpy.uint8)),
    ],
)
def test_a_stretch_of_another_shape_is_damaged(tmp_path, suffix, content):
    """There are 2 x 3 points of one metric."""
    path, running_ = tmp_path / "r.csv", running()
    list(Store(path, running_, format_of(path).write).fill(running_))
    with open(tmp_path / "r.csv.part" / f"{0:016d}{suffix}", "wb") as file:
        numpy.save(file, content)
    with pytest.raises(AspenError, match=rf"0\{suffix}` is damaged"):
        stored(path, resume=True)
    (tmp_path / "r.csv.part" / f"{0:016d}.npy").unlink()
    stored(path, resume=True)
    assert os.listdir(tmp_path) == ["r.csv"]


def test_sizes_of_stretches_add_up(monkeypatch):
    """A stretch holds whole blocks, and a block whole rows of the grid."""
    monkeypatch.setattr(run_module, "STRETCH", 1 << 16)
    found = running({"n": numpy.linspace(1, 2, 700), "m": numpy.linspace(1, 2, 301)})
    sizes = [found.plan.size(number) for number in range(found.plan.count)]
    assert sum(sizes) == 700 * 301
    stretches = sorted(found.stretches(), key=lambda stretch: stretch.start)
    assert sizes == [stretch.values.shape[1] for stretch in stretches]


@pytest.mark.parametrize("left", [[], ["lock"], ["journal.json"], ["journal.json", "lock", f"{0:016d}.npy"]])
def test_killed_at_the_very_end(tmp_path, left: list[str]):
    """The result is there, and what it was made of is partly removed: the next sweep removes the rest."""
    path = tmp_path / "r.csv"
    stored(path)
    part = tmp_path / "r.csv.part"
    for resume in (True, False):
        part.mkdir()
        for name in left:
            (part / name).write_text(
                '{"aspenpy_sweep": 1, "finished": true}' if name == "journal.json" else "", encoding="utf-8"
            )
        if resume:
            with pytest.raises(AspenError, match="no unfinished sweep beside it"):
                stored(path, resume=True)
        else:
            stored(path)
        assert os.listdir(tmp_path) == ["r.csv"]


def test_what_is_not_ours_stays_in_the_folder(tmp_path):
    path = tmp_path / "r.csv"
    running_ = running()
    store = Store(path, running_, format_of(path).write)
    (tmp_path / "r.csv.part" / "thesis.txt").write_text("years of work", encoding="utf-8")
    list(store.fill(running_))
    store.finish()
    assert os.listdir(tmp_path / "r.csv.part") == ["thesis.txt"]


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
@pytest.mark.parametrize("resume", [True, False])
def test_one_process_at_a_time(tmp_path, spawn, models: Path, resume: bool):
    """Another process holds the sweep; it is told, and what is kept stays. When that one has gone, it is taken up."""
    over = "n=1..9:real:100"
    command = ("sweep", "axpy.aspen", "--machine", "cluster.aspen", "--over", over, "-o", "r.csv")
    waits = (
        "import sys, aspenpy.sweeps.store as store\n"
        "store.Store.finish = lambda self: (print('ready', flush=True), sys.stdin.read())\n"
        "from aspenpy.shell.main import main\nraise SystemExit(main())"
    )
    with spawn(*command, program=waits, stdin=-1) as first:
        assert first.stdout.readline() == b"ready\n"
        kept = sorted(file.name for file in (models / "r.csv.part").iterdir())
        with spawn(*command, *["--resume"] * resume) as second:
            _, err = second.communicate(timeout=HANGS)
        assert second.returncode == 2
        assert err.startswith(b"error: another process is computing the sweep into `r.csv`\n")
        assert sorted(file.name for file in (models / "r.csv.part").iterdir()) == kept
        first.kill()
        first.communicate()
    with spawn(*command, "--resume") as third:
        _, err = third.communicate(timeout=HANGS)
    assert third.returncode == 0, err
    assert len((models / "r.csv").read_text(encoding="utf-8").splitlines()) == 101


@pytest.mark.skipif(os.name == "nt", reason="there is no VmHWM")
@slow
def test_results_stay_within_the_bound(spawn, models: Path):
    """64 MiB are given, and the results take 180 MB (by default 90), which go by in stretches. What the program takes
    beside them is what it has taken when it and its libraries are imported."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("nobody says how much memory a process has taken")
    pytest.importorskip("pyarrow")
    program = (
        "import sys, pyarrow.parquet, aspenpy.sweeps.sweep\n"
        "from aspenpy.shell.main import main\n"
        "def most():\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return int(next(line for line in lines if line.startswith('VmHWM')).split()[1])\n"
        "before, status = most(), main()\n"
        "print(most() - before, file=sys.stderr)\n"
        "raise SystemExit(status)"
    )
    axes = ("--over", f"n=16..1000:lin:{some(5000, 2500)}", "--over", "simple_clock=1e9..2e9:4000")
    command = ("sweep", "matmul", "--machine", "simple", *axes, "--memory-limit", "64MiB", "-o", "r.parquet")
    with spawn(*command, program=program) as process:
        _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 0, err
    assert int(err.split()[-1]) * 1024 <= 64 * 2**20


def test_numbers_of_csv_are_spelt_alike_with_and_without_arrow():
    """The oracle is Arrow: numbers of all sizes, and the ends of where it changes its notation."""
    pyarrow = pytest.importorskip("pyarrow")
    arrow_csv = pytest.importorskip("pyarrow.csv")
    draw = Random(1)
    values = [draw.uniform(-10, 10) * 10.0 ** draw.randrange(-300, 300) for _ in range(2000)]
    values += [round(draw.uniform(0, 10), 3) * 10.0 ** draw.randrange(-12, 18) for _ in range(2000)]
    values += [sign * 10.0**power for power in range(-320, 309) for sign in (1, -1)]
    values += [0.0, -0.0, 5e-324, 1.7976931348623157e308, 9999999999.0, 9999999999.5, 99999999999.0, 9.99e-7, 16.0]
    lines = io.BytesIO()
    options = arrow_csv.WriteOptions(include_header=False)
    arrow_csv.write_csv(pyarrow.table({"a": pyarrow.array(values)}), lines, options)
    assert [formats._number(value) for value in values] == lines.getvalue().decode().split()
