"""Scaling over 20 numbers of ranks with the search for the fastest, and warnings: as fast as a few predictions."""

import aspenpy
from benchmarks.measure import Benchmark, Subject, seconds

RANKS = [8 + 3880 * place for place in range(20)]


def subject() -> Subject:
    hpcg, frontier = aspenpy.load_application("hpcg"), aspenpy.load_machine("frontier")
    expected = aspenpy.predict(hpcg, frontier, socket="amd_mi250x", set={"ranks": RANKS[-1]}).runtime

    def scale() -> float:
        found = aspenpy.scale(hpcg, frontier, RANKS, socket="amd_mi250x", mode="weak")
        _ = found.fastest, found.diagnostics
        return found.points[-1].time

    def predict() -> list[float]:
        cases = ({"ranks": ranks} for ranks in RANKS)
        return [aspenpy.predict(hpcg, frontier, socket="amd_mi250x", set=values).runtime for values in cases]

    return Subject(scale, predict, lambda got: abs(got / expected - 1) < 1e-12)


BENCHMARK = Benchmark("scale HPCG on Frontier, 20 points", "20 predictions", 4, subject, seconds)
