"""Names of several files: what may stand at a place, where a name is declared and used; without a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.editor.completion import suggestions
from aspenpy.editor.meaning import NOTHING
from aspenpy.editor.names import name_at
from aspenpy.editor.project import Project

IMPORTED = 'model b { import c from "c.aspen" param q = 3  kernel in_b { execute { flops [q] } }  kernel main { } }\n'
DEEPER = "model c { param depth = 4  kernel in_c { execute { flops [depth] } }  kernel main { } }\n"
INCLUDED = "param shared_count = 7\nenum Shape { Flat, Round }\nmixture triads {add [2], multiply [1]}\n"

AT = "¦"
"""Where the cursor is."""


def suggested(folder: Path, text: str, machine: str | None = None) -> list[str]:
    for name, content in (("b", IMPORTED), ("c", DEEPER), ("shared", INCLUDED)):
        (folder / f"{name}.aspen").write_text(content, encoding="utf-8")
    path = str(folder.resolve() / "a.aspen")
    project = Project({path: text.replace(AT, "")}, [str(folder.resolve())], machine)
    return [item.label for item in suggestions(project, path, text.index(AT), NOTHING)]


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("¦", {"model", "machine", "param", "enum", "include"}, {"kernel", "execute"}),
        ("model a { ¦ }", {"kernel", "param", "data", "import", "include"}, {"execute", "machine"}),
        ("model a { kernel main { ¦ } }", {"execute", "iterate", "call", "probability", "seq"}, {"kernel", "flops"}),
        ("model a { kernel main { execute { ¦ } } }", {"flops", "messages", "intops", "from", "of size"}, {"call"}),
        ("model a { kernel main { execute { flops [2] as ¦ } } }", {"sp", "dp", "fma", "divide"}, {"stream", "halo"}),
        ("model a { kernel main { execute { intops [2] as ¦ } } }", {"add", "compare"}, {"stream", "halo"}),
        ("model a { kernel main { execute { loads [2] as ¦ } } }", {"stream", "random", "rd"}, {"fma", "halo"}),
        ("model a { kernel main { execute { stores [2] as ¦ } } }", {"stream", "blocked"}, {"fma", "halo"}),
        ("model a { kernel main { execute { messages [2] as ¦ } } }", {"halo", "allreduce"}, {"fma", "stream"}),
        ("model a { data d [8] kernel main { execute { loads [2] from ¦ } } }", {"d"}, {"main", "sqrt"}),
        ("model a { param n = 3 param m = ¦ }", {"n", "sqrt", "kilo"}, {"kernel", "B"}),
        ("model a { param n = 3 param m = n + ¦ }", {"n", "sqrt"}, {"kernel"}),
        ("model a { param n = 3 in 1 .. ¦ }", {"n", "sqrt"}, {"kernel"}),
        ("model a { param n = 3 k¦ }", {"kB", "KiB", "kflop"}, {"kernel", "n"}),
        ("model a { param n = 4 GB/¦ }", {"GB", "s"}, {"n"}),
        ("model a { param n = 2.5 G¦ }", {"GB"}, {"n"}),
        ("model a { param n = 3 in 1..¦ }", {"n", "sqrt"}, {"GB"}),
        ("model a { param n = 3 in 1..4 k¦ }", {"kB"}, {"sqrt"}),
        ("model a { kernel main { iterate i [3] { execute { flops [¦] } } } }", {"i", "floor"}, {"flops"}),
        ("model a { kernel main { iterate i [3] { } execute { flops [¦] } } }", {"floor"}, {"i"}),
        ("model a { kernel k { } kernel main { call ¦ } }", {"k", "main"}, {"sqrt"}),
        ('model a { import b from "b.aspen" kernel main { call b.¦ } }', {"in_b", "main"}, {"in_c", "q"}),
        ('model a { import b from "b.aspen" kernel main { call b.c.¦ } }', {"in_c", "main"}, {"in_b"}),
        ('model a { import b from "b.aspen" param n = b.¦ }', {"q"}, {"in_b", "depth"}),
        ('model a { import b from "b.aspen" param n = b.c.¦ }', {"depth"}, {"q"}),
        ("model a { include shared.aspen param n = ¦ }", {"shared_count", "Flat", "Round"}, {"Shape"}),
        ("model a { include shared.aspen param n in ¦ }", {"Shape"}, {"shared_count"}),
        ("node b { property ¦ }", {"clock", "capacity", "latency"}, {"flops"}),
        ("node b { ¦ }", {"property", "resource", "conflict", "node"}, {"kernel"}),
        ("node b { resource flops(x) [¦] }", {"x", "sqrt"}, {"kernel"}),
        ("core c { } core d { } core e like ¦ ", {"c", "d"}, {"core"}),
        ("// ¦", set(), {"model"}),
        ('model a { kernel main { execute "¦" { } } }', set(), {"model", "flops"}),
    ],
)  # fmt: skip
def test_what_may_stand_at_a_place(text: str, some: set[str], none: set[str], tmp_path: Path) -> None:
    found = suggested(tmp_path, text)
    assert some <= {*found}
    assert not none & {*found}
    assert bool(found) == bool(some)
    assert max((found.count(label) for label in found), default=0) <= 2  # a word, and a snippet that begins with it


def test_components_of_the_machine_are_offered(tmp_path: Path) -> None:
    machine = tmp_path / "m.aspen"
    machine.write_text("machine m { node [2] far } node far { }\n", encoding="utf-8")
    assert "far" in suggested(tmp_path, "model a { data d [8] in ¦ }", str(machine.resolve()))
    assert "far" not in suggested(tmp_path, "model a { data d [8] in ¦ }")


# -- declarations and uses -------------------------------------------------------------------------

FILES = {
    "main.aspen": """model m {
  include shared.aspen
  import b from "b.aspen"
  param n = 3
  param total = n + shared_count + b.q + b.c.depth
  kernel k(param n) { execute { flops [n] } }
  kernel main { call k(n) call b.in_b call b.c.in_c iterate n [4] { execute { flops [n] as triads } } }
}
""",
    "b.aspen": IMPORTED,
    "c.aspen": DEEPER,
    "shared.aspen": INCLUDED,
    "cores.aspen": """core plain { property clock [2e9] property width [4] resource flops(x) [x/(clock*width)] }
core quick like plain { property clock [3e9] resource loads(x) [x/(clock*width)] }
core last like quick { resource stores(x) [x/(clock*width)] }
""",
}

DECLARED = [
    # the word, its number in the file (from 0), file and number of the word that declares it
    ("main.aspen", "n", 1, "main.aspen", 0),  # in `total`
    ("main.aspen", "shared_count", 0, "shared.aspen", 0),
    ("main.aspen", "q", 0, "b.aspen", 0),
    ("main.aspen", "depth", 0, "c.aspen", 0),
    ("main.aspen", "n", 3, "main.aspen", 2),  # the argument of `k`
    ("main.aspen", "n", 4, "main.aspen", 0),  # what `k` is called with
    ("main.aspen", "n", 6, "main.aspen", 5),  # the counter
    ("main.aspen", "k", 1, "main.aspen", 0),
    ("main.aspen", "in_b", 0, "b.aspen", 0),
    ("main.aspen", "in_c", 0, "c.aspen", 0),
    ("main.aspen", "triads", 0, "shared.aspen", 0),
    ("b.aspen", "q", 1, "b.aspen", 0),
    ("cores.aspen", "clock", 1, "cores.aspen", 0),
    ("cores.aspen", "clock", 3, "cores.aspen", 2),  # the variant's own
    ("cores.aspen", "width", 1, "cores.aspen", 0),
    ("cores.aspen", "plain", 1, "cores.aspen", 0),
    ("cores.aspen", "quick", 1, "cores.aspen", 0),
]


@pytest.fixture
def project(tmp_path: Path) -> tuple[Project, Path]:
    folder = tmp_path.resolve()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Project({}, [str(folder)]), folder


def numbered(project: Project, path: Path, word: str) -> list[int]:
    return [name.start for name in project.names(str(path)).names if name.name == word]


@pytest.mark.parametrize(("file", "word", "place", "where", "which"), DECLARED)
def test_names_lead_to_their_declarations(
    file: str, word: str, place: int, where: str, which: int, project: tuple[Project, Path]
) -> None:
    """And that to all of its uses, this one among them."""
    files, folder = project
    start = numbered(files, folder / file, word)[place]
    name = name_at(files.names(str(folder / file)).names, start)
    assert name is not None
    found = files.declaration(str(folder / file), name)
    assert found is not None
    assert found.path == str(folder / where)
    assert found.name.start == numbered(files, folder / where, word)[which]
    uses = [(use.path, use.name.start) for use in files.uses(str(folder / where), found.name)]
    assert (str(folder / file), start) in uses
    assert uses == sorted(set(uses), key=uses.index)


@pytest.mark.parametrize(
    ("text", "word", "count"),
    [
        ("model m { param n = 1 param k = n + n kernel main { execute { flops [n] } } }", "n", 4),
        ("model m { kernel main { iterate i [3] { execute { flops [i] } } iterate i [2] { } } }", "i", 2),
        ("model m { kernel k { } kernel main { call k call k } }", "k", 3),
        ("model m { param k = nowhere }", "nowhere", 0),
        ("model m { data d [8] kernel main { execute { loads [d] from d } } }", "d", 3),
    ],
)
def test_uses_in_one_file(text: str, word: str, count: int, tmp_path: Path) -> None:
    path = str(tmp_path.resolve() / "a.aspen")
    project = Project({path: text}, [])
    name = next(name for name in project.names(path).names if name.name == word)
    assert len(project.uses(path, name)) == count


def test_files_that_cannot_be_read_have_no_names(tmp_path: Path) -> None:
    project = Project({}, [str(tmp_path)])
    assert project.text(str(tmp_path / "nowhere.aspen")) == ""
    assert project.names(str(tmp_path / "nowhere.aspen")).names == []
    path = str(tmp_path.resolve() / "a.aspen")
    alone = Project({path: 'model a { include gone.aspen import b from "gone.aspen" param n = b.q }'}, [])
    assert alone.closure(path) == (path,)
    (used,) = [name for name in alone.names(path).names if name.name == "q"]
    assert alone.declaration(path, used) is None
    assert alone.uses(path, used) == []


def test_files_that_include_this_one_are_searched_last(tmp_path: Path) -> None:
    """A name that a file does not declare may be declared by a file that includes it."""
    folder = tmp_path.resolve()
    (folder / "part.aspen").write_text("kernel inner { execute { flops [outside] } }\n", encoding="utf-8")
    (folder / "whole.aspen").write_text(
        "model w { param outside = 3 include part.aspen kernel main { call inner } }\n", encoding="utf-8"
    )
    project = Project({}, [str(folder)])
    part = str(folder / "part.aspen")
    (used,) = [name for name in project.names(part).names if name.name == "outside"]
    found = project.declaration(part, used)
    assert found is None or found.path == str(folder / "whole.aspen")
    assert project.declaration(part, used, far=False) is None
