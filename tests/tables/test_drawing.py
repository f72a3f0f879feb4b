"""The style of pictures: colours that colour-blind people and printers tell apart, one size of text, names that fit."""

import re
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

import aspenpy
from aspenpy.tables.drawing import (
    FILLS,
    PALETTE,
    STYLES,
    TEXT,
    drop_middle,
    format_amount,
    label_axis,
    spread_apart,
    use_style,
)

np = pytest.importorskip("numpy", reason="NumPy is not installed")

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE
# TVCG 15(6), 2009, table of matrices for linear RGB, severity 1.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
ALL = np.eye(3)


def linear(colour):
    """RGB of a colour, without the gamma of sRGB (IEC 61966-2-1)."""
    coded = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE 1976 L*a*b* under D65."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = np.array(to_xyz) @ np.clip(rgb, 0, 1) / (0.95047, 1.0, 1.08883)
    f = [part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen", [ALL, PROTANOPIA, DEUTERANOPIA], ids=["all", "protanopia", "deuteranopia"])
def test_colours_are_told_apart(seen):
    """A CIE 1976 distance of 2.3 is just noticeable (Mahy et al. 1994); colours beside each other want several times
    as much."""
    labs = [lab(np.array(seen) @ linear(colour)) for colour in PALETTE]
    assert min(np.linalg.norm(one - other) for one, other in combinations(labs, 2)) > 15


def test_of_one_grey_hatches_or_dashes_differ():
    """Areas within 12 steps of lightness have different hatches; no two lines have the same dashes."""
    fills = [(lab(linear(fill["facecolor"]))[0], fill.get("hatch")) for fill in FILLS]
    assert all(abs(one[0] - other[0]) > 12 or one[1] != other[1] for one, other in combinations(fills, 2))
    assert len({str(line["linestyle"]) for line in STYLES}) == len(STYLES)


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (2.5e9, "Hz", "2.5 GHz"),
        (1e9, "", "1e9"),
        (20000, "", "20,000"),
        (0.0, "", "0"),
        (500, "s", "500 s"),
        (112.5, "J", "112.5 J"),
        (5e-7, "", "5e-7"),
    ],
)
def test_numbers_of_an_axis(value, unit, told):
    assert format_amount(value, unit) == told


def test_long_names_lose_their_middle():
    assert drop_middle("a" * 20 + "_07", 10) == "aaaaaa…_07"
    assert drop_middle("short") == "short"


def test_a_day_of_seconds_is_numbered_in_hours():
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    axes.set_xlim(0, 86400)
    label_axis(axes.xaxis, "s")
    ticks = axes.get_xticks()
    assert [axes.xaxis.get_major_formatter()(tick) for tick in ticks] == ["0 h", "5 h", "10 h", "15 h", "20 h"]


def test_names_keep_apart_and_stay_inside():
    moved = spread_apart([0.1, 0.95, 0.96, 0.97], 0.05)
    assert moved == pytest.approx([0.1, 0.9, 0.95, 1.0])


DRAWING = [
    path
    for room in ("report", "tables")
    for path in sorted((Path(aspenpy.__file__).parent / room).rglob("*.py"))
    if "matplotlib.figure" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", DRAWING, ids=lambda path: path.stem)
def test_every_picture_has_the_shared_style(path):
    """No size of text and no colour but those of the style; what draws figures draws within it."""
    source = path.read_text(encoding="utf-8")
    assert not re.findall(r"fontsize|labelsize|\"#[0-9a-fA-F]{6}|cmap=\"", source)
    room = path.relative_to(Path(aspenpy.__file__).parents[1]).with_suffix("")
    module = import_module(".".join(room.parts))
    names = re.findall(r"^def (draw\w*)\((?!axes|figure)", source, re.MULTILINE)
    assert names
    assert all(hasattr(getattr(module, name), "__wrapped__") for name in names)


def test_text_has_one_size():
    matplotlib = pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    names = ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    with use_style():
        assert {matplotlib.rcParams[name] for name in names} == {TEXT}
