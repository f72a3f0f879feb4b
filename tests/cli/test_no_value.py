"""A point without a value is told alike by `eval`, `sweep` and `sensitivity`, in tables and in JSON."""

from __future__ import annotations

import json

import pytest

from aspenpy.shell.main import main

REASON = "the cache `D1` has no whole number of sets"
"""32 KiB in lines of 64 bytes and 3 ways are 170.67 sets; with 2, 4 ways they are 256 and 128."""

RUN = "cache_mm_reg --machine cachegrind"


def said(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(line.split())
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


def test_a_cache_whose_sets_are_no_whole_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"error: {REASON} --> machines/cachegrind.aspen:" in said(f"eval {RUN} --set d1_ways=3", capsys)
    assert f"{REASON} 1 33.3 % 3" in said(f"sweep {RUN} --over d1_ways=2..4:lin:3", capsys)
    found = json.loads(said(f"sweep {RUN} --over d1_ways=2..4:lin:3 --format json", capsys))["no_value"]
    assert [(item["message"], item["points"], item["first_at"]) for item in found] == [(REASON, 1, {"d1_ways": 3})]
    assert f"at d1_ways = 3: {REASON}" in said(f"sensitivity {RUN} --vary d1_ways=2..4:whole", capsys)
