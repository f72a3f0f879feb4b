"""Models that learn from measurements: COS, leading loads, power-aware speedup, ACEE, sensitivity to bandwidth."""
