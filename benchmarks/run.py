"""What aspenpy costs, as ratios to something measured in the same run: `make bench`.

With `--check`, each benchmark runs once and only its result is looked at.
"""

from __future__ import annotations

import argparse

from benchmarks import (
    advise_all,
    caches,
    eval_cold,
    expr_cold,
    expr_large,
    keystroke,
    many_calls,
    parse_memory,
    parse_time,
    predict_warm,
    prepared_point,
    reuse,
    scale_points,
    sobol_million,
    sweep_points,
)
from benchmarks.measure import Benchmark, measured

BENCHMARKS = (
    *(
        module.BENCHMARK
        for module in (
            eval_cold,
            expr_cold,
            predict_warm,
            prepared_point,
            scale_points,
            sobol_million,
            expr_large,
            many_calls,
            parse_time,
            parse_memory,
            keystroke,
            advise_all,
        )
    ),
    reuse.BINARY,
    reuse.TEXT,
    *sweep_points.BENCHMARKS,
    *caches.BENCHMARKS,
)

ROW = "{:<46} {:>14}   {:<18} {:>14} {:>8} {:>8}"


def is_right(benchmark: Benchmark) -> bool:
    subject = benchmark.subject()
    return subject.is_right(subject.run())


def check() -> bool:
    outcomes = {benchmark.title: is_right(benchmark) for benchmark in BENCHMARKS}
    for title, right in outcomes.items():
        print(f"{'right' if right else 'WRONG':<6} {title}")
    return all(outcomes.values())


def table(runs: int) -> bool:
    print(ROW.format("", "best", "compared with", "best", "ratio", "limit"), flush=True)
    within = True
    for benchmark in BENCHMARKS:
        reading = measured(benchmark, runs)
        value, baseline = (f"{shown(number, benchmark.unit)}" for number in reading)
        row = ROW.format(
            benchmark.title, value, benchmark.baseline, baseline, f"{reading.ratio:.3g}", f"{benchmark.limit:g}"
        )
        over = reading.ratio > benchmark.limit
        print(row + ("  over" if over else ""), flush=True)
        within = within and not over
    return within


def shown(number: float, unit: str) -> str:
    if unit != "s":
        return f"{number:.4g} {unit}"
    scale, name = next(((scale, name) for scale, name in ((1, "s"), (1e-3, "ms")) if number >= scale), (1e-6, "us"))
    return f"{number / scale:.3g} {name}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="run each once and look at its result only")
    parser.add_argument("--runs", type=int, default=9, help="measurements; the best counts (default: %(default)s)")
    options = parser.parse_args()
    return 0 if (check() if options.check else table(options.runs)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
