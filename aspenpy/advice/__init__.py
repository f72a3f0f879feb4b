"""Advice: from an application to the configuration to run or to buy (docs/prometheus.md)."""
