"""Questions of `optimise`, `sensitivity` and `compare` that have no answer, each with what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.shell.main import main
from tests.cli.conftest import AXPY, CLUSTER

ON = "axpy.aspen --machine cluster.aspen"
LEAST = f"optimise {ON} --vary n=1..100"
ZERO = "model zero { param k = 1 in 0 .. 9\n kernel main { execute { loads [k - 1] flops [k] } } }"

QUESTIONS = {
    f"{LEAST} --minimise {{1,2}}": "an array cannot be least: name a quantity",
    f"{LEAST} --minimise nothing": "neither a metric nor a parameter is called `nothing`",
    f"{LEAST} --minimise runtime --subject-to n<5": "a constraint cannot say `<`\n --> <subject-to>:1:1\n1 | n<5\n",
    f"{LEAST} --minimise runtime --subject-to n>5": "= hint: write `>=`",
    f"{LEAST} --minimise runtime --subject-to n!=5": "= hint: write `==`, `<=` or `>=`",
    f"{LEAST} --minimise runtime --subject-to n<=5_or_n>=9": "constraints hold together: `or` is not allowed",
    f"{LEAST} --minimise runtime --subject-to (n<=5_and_n>=2)_and_n>=3": "a constraint is one comparison",
    f"{LEAST} --minimise runtime --subject-to n<=2,n>=9": "no point satisfies `n<=2` and `n>=9` together",
    f"optimise {ON} --minimise runtime --vary n=1,2,1": "`n` lists a value twice",
    f"optimise {ON} --minimise runtime --vary n=1..9:lin:3": "varies over its range, not over certain points of it",
    f"optimise {ON} --minimise runtime --vary n=9..1": "the range of `n` is empty: from 9 to 1",
    f"sensitivity {ON} --method normalised --metric file_bytes --vary n=1..9": "file_bytes",
    "sensitivity zero.aspen --machine cluster.aspen --method normalised --metric loads --vary k=1..9": "loads",
    f"compare {ON},faster.aspen --transfer": "machine `Faster` declares no link: nothing there offers",
    f"compare {ON},cluster.aspen": "`Cluster/Processor` is compared with itself",
    f"trace {ON} --most 0": "--most",
}


@pytest.mark.parametrize("line", QUESTIONS)
def test_refused(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("axpy.aspen").write_text(AXPY, encoding="utf-8")
    Path("cluster.aspen").write_text(CLUSTER, encoding="utf-8")
    Path("faster.aspen").write_text(CLUSTER.replace("machine Cluster", "machine Faster"), encoding="utf-8")
    Path("zero.aspen").write_text(ZERO, encoding="utf-8")
    assert main([word.replace("_or_", " or ").replace("_and_", " and ") for word in line.split()]) == 2
    assert QUESTIONS[line] in capsys.readouterr().err
