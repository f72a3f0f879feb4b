"""Every command writes its result in every format, a new one included, or says that the format has no place in it."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from aspenpy.shell.option import Option
from aspenpy.shell.registry import commands_by_name, load_command
from aspenpy.tables.formats import FORMATS

OTHER_LINES = {
    "advise": "advise configure stream --machine simple --vary clock --levels 2",
    "compare": "compare comd --machine haswell,simple",
    "diff": "diff stream jacobi --machine haswell",
    "empirical": "empirical cos plan",
    "explain": "explain comd halo_exchange --machine haswell",
    "extract": "extract {program}",
    "fit": "fit stream {runs} --vary repetitions",
    "gate": "gate {baseline}",
    "machine": "machine check simple",
    "measure": "measure --read {counters} --label threads=4",
    "memory": "memory stream --machine simple",
    "optimise": "optimise stream --machine simple --minimise runtime --vary n=1e6..1e7",
    "place": "place comd --machine keeneland",
    "rdd": "rdd {trace}",
    "roofline": "roofline spmv --machine haswell",
    "scale": "scale comd --machine haswell --ranks 1,8",
    "sensitivity": "sensitivity comd --machine haswell --method normalised --vary nx=10..20",
    "sweep": "sweep comd --machine haswell --over nx=10,20",
    "trace": "trace stream --machine simple",
    "traffic": "traffic cache_triad --machine haswell",
}
"""Lines of commands whose first example reads a file, writes one, or takes longer."""

ELSEWHERE = {"incore", "validate"}
"""Commands that want OSACA, or measure for seconds."""


def options(command: str) -> list[Option]:
    listed = load_command(command).options
    return [item for item in listed if isinstance(item, Option)]


def choices(command: str) -> set[str]:
    return {word for item in options(command) if "--format" in item.names for word in item.more["choices"]}


WITH_FORMATS = [command for command in commands_by_name() if choices(command)]
LINES = {
    command: OTHER_LINES.get(command) or load_command(command).examples[0][1].removeprefix("aspenpy ")
    for command in WITH_FORMATS
    if command not in ELSEWHERE
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("files")
    texts = {
        "program": ("add.c", "void add(double *a, long n) { for (long i = 0; i < n; i++) a[i] += 1.0; }\n"),
        "trace": ("trace.lackey", " L 10,8\n S 80,8\n L 18,8\n"),
        "counters": ("run.csv", "1200,,cycles,100,100.00,,\n800,,instructions,100,100.00,,\n"),
        "runs": ("runs.csv", "n,bytes [GB]\n1e6,1.55\n2e6,3.25\n"),
    }
    for name, text in texts.values():
        (folder / name).write_text(text, encoding="utf-8")
    baseline = str(folder / "comd.gate.json")
    assert main(["gate", baseline, "--begin", "comd", "--machine", "haswell"]) == 0
    return {key: str(folder / name) for key, (name, _) in texts.items()} | {"baseline": baseline}


def line_of(command: str, files: dict[str, str]) -> list[str]:
    return [word.format(**files) for word in LINES[command].split()]


def test_every_command_with_formats_has_them_all() -> None:
    assert len(LINES) > 25
    for command in WITH_FORMATS:
        assert choices(command) - {"speedscope"} == {*FORMATS}, command


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", LINES)
def test_a_command_writes_a_format(
    command: str, form: str, files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "extract":
        pytest.importorskip("clang")
    line = [*line_of(command, files), "--format", form]
    status = main(line)
    text, complaints = capsys.readouterr()
    if status:
        assert (form, status) == ("csv", 2)
        assert "this result has no table of its own" in complaints
        return
    if form == "json":
        assert isinstance(json.loads(text), dict | list)
    elif form == "csv":
        widths = {len(row) for row in csv.reader(io.StringIO(text))}
        assert len(widths) == 1
    else:
        assert text.strip()
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)
    if any(item.destination == "results" for item in options(command)):
        file = tmp_path / f"results{FORMATS[form].suffix or '.txt'}"
        assert main([*line_of(command, files), "-o", str(file)]) == 0
        assert file.read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("command", WITH_FORMATS)
def test_an_unknown_format_is_refused(command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(command, files) if command in LINES else [command]
    assert main([*line, "--format", "carved"]) == 2
    assert "carved" in capsys.readouterr().err


ADDED = """
import sys
from aspenpy.tables.formats import FORMATS, Format
FORMATS["keys"] = Format("keys", ".keys", lambda report: "keys of " + " ".join(report.data) + "\\n")
from aspenpy.shell.main import main
for number, line in enumerate(sys.argv[1:]):
    assert main([*line.split(), "--format", "keys"]) == 0, line
    if line.split()[0] in {results}:
        assert main([*line.split(), "-o", f"{folder}/{{number}}.keys"]) == 0, line
        assert open(f"{folder}/{{number}}.keys").read().startswith("keys of "), line
"""


def test_a_format_is_one_row_of_one_table(files: dict[str, str], tmp_path: Path) -> None:
    commands = [command for command in LINES if command != "extract"]
    results = {command for command in commands if any(it.destination == "results" for it in options(command))}
    program = ADDED.format(results=results, folder=tmp_path)
    lines = [" ".join(line_of(command, files)) for command in commands]
    found = subprocess.run([sys.executable, "-c", program, *lines], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("keys of ") == len(lines)
