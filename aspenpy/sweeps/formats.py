"""Formats: the files that a sweep can be written into.

Tables (.csv, .parquet, .json) have a row a point; grids (.npz, .nc, .zarr) have an array a metric. All have the axes,
the reasons, the units, and the hash of the models.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy

from aspenpy.expr.failures import REASONS
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.record import Record
from aspenpy.sweeps.result import attributes_of_study
from aspenpy.sweeps.store import Store
from aspenpy.sweeps.study import Study, case_label
from aspenpy.sweeps.work import Stretch

ROWS_AT_ONCE = 1 << 16  # rows of a table that are made and written together


class StoreFormat(Record):
    """`write` puts what a store keeps into a file; `needs` are modules of other packages."""

    write: Callable[[Store, Path], None]
    needs: tuple[str, ...] = ()


def format_of(path: str | Path) -> StoreFormat:
    """The format that a file's name ends with; raises AspenError if there is none, or if a package is missing."""
    suffix = Path(path).suffix.lower()
    message = f"cannot tell the format of `{path}` from its name"
    require_known(suffix, FORMATS, "unknown-format", message, listed="the name of a result ends with")
    for module in FORMATS[suffix].needs:
        if find_spec(module) is None:
            hint = "`.npz`, `.csv` and `.json` need nothing"
            fail("missing-package", f"a {suffix} file needs {module}: pip install 'aspenpy[data]'", hint=hint)
    return FORMATS[suffix]


# -- tables ----------------------------------------------------------------------------------------


def columns(study: Study, stretch: Stretch) -> dict[str, Any]:
    """A stretch as columns: categories as labels, parameters, metrics, and the code of the reason."""
    count = stretch.values.shape[1]
    case, first = divmod(stretch.start, study.points_of_case)
    table: dict[str, Any] = {
        item.name: numpy.full(count, case_label(study.cases[case], item.name)) for item in study.categories
    }
    indices = numpy.unravel_index(numpy.arange(first, first + count), study.grid or (1,))
    for dimension, index in zip(study.dimensions, indices, strict=False):
        table |= {name: values[index] for name, values in dimension.columns.items()}
    table |= dict(zip(study.metrics, stretch.values, strict=True))
    table["reason"] = numpy.zeros(count, dtype=numpy.uint8) if stretch.reasons is None else stretch.reasons
    return table


def _walk_tables(store: Store) -> Iterator[dict[str, Any]]:
    """Columns of a fixed number of rows at a time, whatever the size of a stretch."""
    for stretch in store.stretches():
        for first in range(0, stretch.values.shape[1], ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            reasons = None if stretch.reasons is None else stretch.reasons[here]
            yield columns(store.study, Stretch(stretch.start + first, stretch.values[:, here], reasons))


def _walk_rows(store: Store) -> Iterator[tuple[Any, ...]]:
    """Python's own values, a missing one as None; the reason in words."""
    for table in _walk_tables(store):
        for row in zip(*(column.tolist() for column in table.values()), strict=True):
            yield *(None if value != value else value for value in row[:-1]), REASONS[row[-1]] if row[-1] else None


def _list_headers(study: Study) -> list[str]:
    return [*(item.name for item in study.categories), *study.columns, *study.metrics, "reason"]


def write_csv(store: Store, path: Path) -> None:
    """Numbers in the fewest digits that give them back exactly; the unit stands behind the name of a column, as `fit`
    reads it: `runtime [s]`."""
    units = store.study.units
    heads = [f"{name} [{units[name]}]" if units.get(name) else name for name in _list_headers(store.study)]
    with open(path, "wb") as file:
        file.write(_csv_line(heads).encode())
        text = _csv_by_arrow if find_spec("pyarrow") else _csv_by_python
        for table in _walk_tables(store):
            file.write(text(table))


def _csv_line(cells: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _csv_by_python(table: dict[str, Any]) -> bytes:
    """Lines of cells; only labels may have to be quoted, and each column of them holds one."""
    texts = [_write_texts(name, column) for name, column in table.items()]
    return ("\n".join(map(",".join, zip(*texts, strict=True))) + "\n").encode()


def _write_texts(name: str, column: Any) -> list[str]:
    if name == "reason":
        return [REASONS[code] if code else "" for code in column.tolist()]
    if column.dtype.kind == "U":
        return [_csv_line([str(column[0])])[:-1]] * len(column)
    texts = list(map(_number, column.tolist()))
    for index in numpy.flatnonzero(numpy.isnan(column)).tolist():
        texts[index] = ""
    return texts


def _number(value: float) -> str:
    """The text of a number as Arrow writes it: 16 for 16.0, 1e+10 for ten digits and more before the point, 0.00001 but
    1e-7."""
    text = repr(value)
    if isinstance(value, int) or not isfinite(value) or 1e-4 <= abs(value) < 1e10 or not value:
        return text.removesuffix(".0")
    exact = Decimal(text).normalize()
    if 1e-6 <= abs(value) < 1:
        return f"{exact:f}"
    first, *rest = map(str, exact.as_tuple().digits)
    return f"{'-' * exact.is_signed()}{first}{'.' * bool(rest)}{''.join(rest)}e{exact.adjusted():+d}"


def _csv_by_arrow(table: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import csv as arrow_csv

    arrays = [_arrow_array(pyarrow, column) for column in list(table.values())[:-1]]
    reasons = [REASONS[code] if code else "" for code in range(max(REASONS) + 1)]
    arrays.append(_arrow_strings(pyarrow, reasons, table["reason"]))
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    lines = io.BytesIO()
    arrow_csv.write_csv(pyarrow.table(arrays, names=list(table)), lines, options)
    return lines.getvalue()


def write_json(store: Store, path: Path) -> None:
    """One object: attributes, units, and rows as arrays of values."""
    study = store.study
    head = {
        **attributes_of_study(study),
        "units": study.units,
        "dimensions": {item.name: item.size for item in study.directions},
        "columns": _list_headers(study),
    }
    with open(path, "w", buffering=1 << 20, encoding="utf-8") as file:
        file.write(json.dumps(head, indent=2)[:-2] + ',\n  "rows": [')
        for number, row in enumerate(_walk_rows(store)):
            file.write((",\n" if number else "\n") + "    " + json.dumps(row, allow_nan=False))
        file.write("\n  ]\n}\n")


def write_parquet(store: Store, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    study = store.study
    labels: Any = [item.name for item in study.categories] or False  # dictionaries of numbers cost, and gain nothing
    kinds = dict.fromkeys(_list_headers(study), pyarrow.float64()) | {"reason": pyarrow.uint8()}
    kinds |= {item.name: pyarrow.string() for item in study.categories}
    units = {name: {"units": study.units[name]} if name in study.units else None for name in kinds}
    fields = [pyarrow.field(name, kind, metadata=units[name]) for name, kind in kinds.items()]
    schema = pyarrow.schema(fields, metadata=attributes_of_study(study))
    options = {"compression": "zstd", "use_dictionary": labels}
    with open(path, "wb") as file, parquet.ParquetWriter(file, schema, **options) as writer:
        for table in _walk_tables(store):
            arrays = [_arrow_array(pyarrow, column, missing=False) for column in table.values()]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _arrow_array(pyarrow: Any, column: Any, *, missing: bool = True) -> Any:
    """A column as Arrow has it, NaN as null where that is asked for. Not by `pyarrow.array`, which imports pandas."""
    if column.dtype.kind == "U":  # the label of a case, the same in all rows
        return _arrow_strings(pyarrow, [str(column[0])], numpy.zeros(len(column), dtype=numpy.uint8))
    known = None
    if missing and column.dtype.kind == "f" and numpy.isnan(column).any():
        known = pyarrow.py_buffer(numpy.packbits(~numpy.isnan(column), bitorder="little"))
    kind, values = pyarrow.from_numpy_dtype(column.dtype), pyarrow.py_buffer(numpy.ascontiguousarray(column))
    return pyarrow.Array.from_buffers(kind, len(column), [known, values])


def _arrow_strings(pyarrow: Any, words: list[str], codes: Any) -> Any:
    """The words with those codes; an empty one is null."""
    coded = [word.encode() for word in words]
    lengths = numpy.array([len(word) for word in coded])[codes]
    ends = numpy.concatenate(([0], numpy.cumsum(lengths))).astype(numpy.int32)
    known = pyarrow.py_buffer(numpy.packbits(lengths > 0, bitorder="little"))
    data = pyarrow.py_buffer(b"".join(map(coded.__getitem__, codes.tolist())))
    return pyarrow.StringArray.from_buffers(len(codes), pyarrow.py_buffer(ends), data, known)


# -- grids -----------------------------------------------------------------------------------------


def write_npz(store: Store, path: Path) -> None:
    """Arrays by name, the axes among them; attributes, units and dimensions as JSON under `about`."""
    result = store.whole()
    about = {
        **result.attrs,
        "units": result.study.units,
        "dimensions": result.dims,
        "reasons": {str(code): words for code, words in REASONS.items()},
    }
    arrays: dict[str, Any] = {name: values for name, (_, values) in result.coords.items()}
    arrays |= {name: variable.values for name, variable in result.items()}
    arrays |= {"reason": result.reason.values, "about": numpy.array(json.dumps(about))}
    with ZipFile(path, "w", ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                numpy.lib.format.write_array(entry, numpy.asanyarray(array), allow_pickle=False)


class FileForHdf5(io.FileIO):
    """Takes all that is written, and keeps the first failure: told of it, HDF5 can end the process."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest and not self.failure:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.failure = error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.failure = self.failure or error
            return size or 0


def write_netcdf(store: Store, path: Path) -> None:
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    whole = store.whole().to_xarray()
    with FileForHdf5(path, "w+") as file:
        try:
            with h5netcdf.File(file, "w") as group:
                whole.dump_to_store(H5NetCDFStore(group))
        finally:
            if file.failure:
                raise file.failure from None


def write_zarr(store: Store, path: Path) -> None:
    store.whole().to_xarray().to_zarr(path, mode="w", zarr_format=2)


FORMATS = {
    ".npz": StoreFormat(write_npz),
    ".csv": StoreFormat(write_csv),
    ".json": StoreFormat(write_json),
    ".parquet": StoreFormat(write_parquet, ("pyarrow",)),
    ".nc": StoreFormat(write_netcdf, ("xarray", "h5netcdf", "h5py")),
    ".zarr": StoreFormat(write_zarr, ("xarray", "zarr")),
}
"""Formats by the suffix of a file's name."""
