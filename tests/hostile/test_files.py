"""Files made to mislead: each is refused in a sentence that names it, and nothing outside the model is read."""

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.thorough import slow

Run = Callable[..., CompletedProcess[str]]

MAIN = "kernel main { execute { flops [1] } }"


def refused(run: Run, name: str) -> str:
    """The report on a model that must be refused."""
    done = run("eval", name, "--machine", "simple")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    return done.stderr


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (bytes(range(256)) * 100, "is not UTF-8"),
        (b"\x7fELF\x00\x00\x00", "is not a text"),
        ("model m {}".encode("utf-16"), "is not UTF-8"),
        (b"model m { " + MAIN.encode() + b" } \x00", "is not a text"),
    ],
)
def test_what_is_no_text(run: Run, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.aspen").write_bytes(content)
    assert reason in refused(run, "a.aspen")


def test_a_hundred_megabytes_are_not_read(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "a.aspen").open("wb") as file:
        file.truncate(100 * 2**20)
    assert "is too large" in refused(run, "a.aspen")
    (tmp_path / "b.aspen").write_text(f"model b {{ include a.aspen {MAIN} }}", encoding="utf-8")
    assert "is too large" in refused(run, "b.aspen")


def test_what_is_no_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.aspen").mkdir()
    (tmp_path / "circle.aspen").symlink_to("circle.aspen")
    (tmp_path / "endless.aspen").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.aspen")
    assert "is a folder" in refused(run, "folder.aspen")
    assert "cannot be read" in refused(run, "circle.aspen")
    assert "is not an ordinary file" in refused(run, "endless.aspen")
    assert "is not an ordinary file" in refused(run, "pipe.aspen")
    for name in ("folder", "circle", "endless", "pipe"):
        (tmp_path / "a.aspen").write_text(f"model a {{ include {name}.aspen {MAIN} }}", encoding="utf-8")
        assert f"{name}.aspen" in refused(run, "a.aspen")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.aspen").write_text(f"model a {{ {MAIN} }}", encoding="utf-8")
    (tmp_path / "a.aspen").chmod(0)
    assert "permission denied" in refused(run, "a.aspen")


SECRET = "param secret = 12345\n"


@pytest.mark.parametrize(
    "way",
    ["include {}/secret.aspen", 'include "../secret.aspen"', "include link.aspen", "include inner/../../secret.aspen"],
)
def test_nothing_outside_the_folder_of_the_model_is_included(run: Run, tmp_path: Path, way: str) -> None:
    (tmp_path / "secret.aspen").write_text(SECRET, encoding="utf-8")
    (tmp_path / "model" / "inner").mkdir(parents=True)
    (tmp_path / "model" / "link.aspen").symlink_to("../secret.aspen")
    (tmp_path / "model" / "a.aspen").write_text(f"model a {{ {way.format(tmp_path)} {MAIN} }}", encoding="utf-8")
    report = refused(run, "model/a.aspen")
    assert "outside the folder of the model" in report
    assert "12345" not in report
    assert run("eval", "model/a.aspen", "--machine", "simple", "--allow-outside").returncode == 0


@pytest.mark.parametrize("way", ["{}/secret.aspen", "../secret.aspen", "link.aspen"])
def test_nothing_outside_the_folder_of_the_model_is_imported(run: Run, tmp_path: Path, way: str) -> None:
    (tmp_path / "secret.aspen").write_text(f"model secret {{ {SECRET} {MAIN} }}", encoding="utf-8")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "link.aspen").symlink_to("../secret.aspen")
    text = f'model a {{ import secret from "{way.format(tmp_path)}" {MAIN} }}'
    (tmp_path / "model" / "a.aspen").write_text(text, encoding="utf-8")
    assert "outside the folder of the model" in refused(run, "model/a.aspen")
    assert run("eval", "model/a.aspen", "--machine", "simple", "--allow-outside").returncode == 0


def test_files_that_include_or_import_themselves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.aspen").write_text(f"model a {{ include a.aspen {MAIN} }}", encoding="utf-8")
    assert "may not include itself" in refused(run, "a.aspen")
    (tmp_path / "b.aspen").write_text(f'model b {{ import b from "b.aspen" {MAIN} }}', encoding="utf-8")
    assert "imports itself" in refused(run, "b.aspen")


def test_files_that_include_each_other_twice_each(run: Run, tmp_path: Path) -> None:
    for level in range(40):
        (tmp_path / f"f{level}.aspen").write_text(
            f"include f{level + 1}.aspen include f{level + 1}.aspen\n", encoding="utf-8"
        )
    (tmp_path / "f40.aspen").write_text("param n = 1\n", encoding="utf-8")
    (tmp_path / "a.aspen").write_text(f"model a {{ include f0.aspen {MAIN} }}", encoding="utf-8")
    assert "includes more than" in refused(run, "a.aspen")


def test_models_that_import_each_other_twice_each(run: Run, tmp_path: Path) -> None:
    for level in range(40):
        following = f'import d{level + 1} from "d{level + 1}.aspen"'
        text = f"model d{level} {{ {following} kernel main {{ {following} call d{level + 1}.main }} }}"
        (tmp_path / f"d{level}.aspen").write_text(text, encoding="utf-8")
    (tmp_path / "d40.aspen").write_text(f"model d40 {{ {MAIN} }}", encoding="utf-8")
    assert "models are imported" in refused(run, "d0.aspen")


def test_models_that_import_each_other_too_deep(run: Run, tmp_path: Path) -> None:
    for level in range(500):
        text = f'model d{level} {{ import d{level + 1} from "d{level + 1}.aspen" {MAIN} }}'
        (tmp_path / f"d{level}.aspen").write_text(text, encoding="utf-8")
    assert "more than 100 deep" in refused(run, "d0.aspen")


@slow
def test_the_checks_are_bounded_too(run: Run, tmp_path: Path) -> None:
    circles = " ".join(f"param x{n} = x{n} + 1" for n in range(3_000))
    calls = " ".join(f"call k{n}" for n in range(3_000))
    (tmp_path / "a.aspen").write_text(f"model a {{ {circles} {MAIN} kernel other {{ {calls} }} }}", encoding="utf-8")
    parts = " ".join(f"node c{n} {{ node c{n + 1} node c{n + 1} }}" for n in range(40))
    (tmp_path / "m.aspen").write_text(
        f"machine m {{ node c0 }} {parts} node c40 {{ resource flops(n) [n] }}", encoding="utf-8"
    )
    assert run("check", "a.aspen", "m.aspen", "--format", "json").returncode == 2
    assert "more than 100,000 places" in run("show", "m.aspen").stderr


@pytest.mark.skipif(not os.path.exists("/proc/kmsg"), reason="there is no file that is waited for")
@pytest.mark.parametrize(
    "command",
    [
        ("eval", "/proc/kmsg", "--machine", "simple"),
        ("eval", "matmul", "--machine", "/proc/kmsg"),
        ("rdd", "/proc/kmsg"),
    ],
)
def test_a_file_that_never_ends(run: Run, command: tuple[str, ...]) -> None:
    """The messages of the kernel: there are never enough of them. Not everybody may read them."""
    done = run(*command)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
@pytest.mark.parametrize("name", ["/dev/zero", "."])
def test_a_trace_that_is_no_file(run: Run, name: str) -> None:
    done = run("rdd", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: `{name}` is " in done.stderr
