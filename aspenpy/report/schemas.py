"""Shapes of results in JSON, by name and version, as `schema` of a report says them: `docs/schemas` is made of them.

A key that is added leaves the version as it is; one that goes, or whose values change, makes the next.
"""

from __future__ import annotations

from typing import Any

from aspenpy.language.schema import AnyOf, Named, as_json_schema

TEXT, NUMBER, WHOLE, MAYBE = (AnyOf(kind, None) for kind in (str, float, int, bool))  # or nothing
VALUE = Named("value")
VALUE.shape = AnyOf(float, str, bool, [VALUE], None)  # of a parameter, or of a cell
NUMBERS = {str: float}
AMOUNT = Named("amount", {"value": float, "unit": str})
PERHAPS = {"value": NUMBER, "unit": str}  # an amount that may be unknown
AMOUNTS = {str: AMOUNT}
POINT = {str: VALUE}

_PLACE = {"file": TEXT, "line": WHOLE, "column": WHOLE, "end_line": WHOLE, "end_column": WHOLE}
DIAGNOSTIC = Named(
    "diagnostic",
    {
        "severity": str, "code": str, "message": str, **_PLACE, "hint": TEXT,
        "related": [{"label": str, **_PLACE}], "parents": [str],
    },
)  # fmt: skip
UNITS = Named("units")
UNITS.shape = {str: AnyOf(str, UNITS)}
COMMON = {"units?": UNITS, "diagnostics?": [DIAGNOSTIC]}
"""What any result may have besides its own keys: units of bare numbers by their keys, and diagnostics."""

EXPECTED = Named(
    "expected",
    {"low": NUMBER, "high": NUMBER, "coverage": float, "classes": NUMBERS, "compared_with_nothing": NUMBERS},
)
RANKS = Named(
    "ranks",
    {
        "on": str, "per_node": WHOLE, "distribution": str, "ranks?": int, "nodes?": int, "of_node?": WHOLE,
        "sockets?": WHOLE, "of_socket?": WHOLE,
    },
)  # fmt: skip
WHERE = {"application": str, "machine": str, "socket": TEXT, "kernel": str}
RUN = {**WHERE, "ranks?": RANKS}
RUNTIME = {"runtime": AMOUNT, "capped_runtime": AnyOf(AMOUNT, None)}  # without and under the power cap
ASSUMED = {"name": str, "reason": str, "sensitivity": float}
DECLARED = {"name": str, "value": VALUE, "unit": str, "range": AnyOf([NUMBER], None), "definition": TEXT}
SOURCE = AnyOf({"file": str, "line": int, "column": int, "text": str}, None)
FORMULA = AnyOf({"formula": str, "value": NUMBER, "unit": str}, None)
CALL = Named("call")
CALL.shape = {"kernel": str, "calls": NUMBER, "callees": [CALL]}
PART = Named("part")
PART.shape = {
    "name": str, "type": str, "count": WHOLE, "static_power": NUMBER, "dynamic_power": NUMBER, "resources": [str],
    "parts": [PART], "like?": str,
}  # fmt: skip
NETWORK = {
    "network": str, "topology": str, "parameters": {str: VALUE}, "machine_nodes": int, "figures": {str: NUMBER},
    "bounds": {str: str}, "links_per_node": NUMBER, "bisection_bandwidth": NUMBER, "latency": NUMBER,
    "hop_latency": NUMBER, "gap": NUMBER, "injection": NUMBER, "link": NUMBER,
}  # fmt: skip
ENERGY_OPTIONS = {
    "law": str, "charged": str, "nic": str, "active_cores": bool, "uncore": bool, "cap": NUMBER, "limited": bool,
}  # fmt: skip
SPREAD = {"stated": float, "mean": float, "low": float, "high": float}
SWEET_SPOT = {
    "processors": int, "clock": float, "time": float, "speedup": float, "energy": float, "energy_delay": float,
}  # fmt: skip
ERRORS = {
    "n": int, "mean_error_percent": NUMBER, "median_error_percent": NUMBER, "std_error_percent": NUMBER,
    "max_error_percent": NUMBER,
}  # fmt: skip
CEILING = {
    "resources": [str],
    "traits": [str],
    "component": str,
    "count": float,
    "one": float,
    "rate": float,
    "unit": str,
}
PEAK = {**CEILING, "peak": NUMBER}
REUSE = Named("reuse")
REUSE.shape = {
    "source": str, "name": TEXT, "low": WHOLE, "high": WHOLE, "line_bytes": int, "references": int, "cold": int,
    "rate": NUMBER, "distances": [int], "counts": [float], "errors": AnyOf([float], None), "ranges": [REUSE],
}  # fmt: skip
ECM = {
    "kernel": str, "block": TEXT, "iterations": float, "ecm": str, "cycles": float, "cores": NUMBER,
    "overlapping": float, "available": float,
    "terms": [{"symbol": str, "component": str, "cycles": float, "serial": bool}],
}  # fmt: skip
PROBLEM = {"size": NUMBERS, "per_rank": bool, "holders": int, "accepted": TEXT}

RESULTS: dict[str, dict[Any, Any]] = {
    "application/1": {
        "application": str, "summary": TEXT, "kernels": [{"name": str, "arguments": [str]}], "calls": [CALL],
        "data": [{"name": str, "size": NUMBER, "unit": str, "definition": TEXT}], "parameters": [DECLARED],
    },
    "apps/1": {"apps": [{"name": str, "summary": str}]},
    "bandwidth_plan/1": {"plans": [{"of": str, "idle_cycles": str, "threads": str, "configurations": int}]},
    "changes/1": {
        "application": str, "failed": int,
        "changes": [{
            "kernel": str, "quantity": str, "machine": TEXT, "before": AMOUNT, "after": AMOUNT, "growth": NUMBER,
            "fails": bool, "line": TEXT, "reason": TEXT,
        }],
    },
    "check/1": {"errors": int, "warnings": int, "diagnostics": [DIAGNOSTIC]},
    "classification/1": {
        **RUN, "chosen": NUMBERS, "has_energy": bool, "left_out": [str],
        "classifications": [{
            "kernel": str, "time": NUMBER, "energy": NUMBER, "bound": TEXT, "energy_bound": TEXT, "intensity": NUMBER,
            "time_balance": NUMBER, "time_distance": NUMBER, "energy_balance": NUMBER, "energy_distance": NUMBER,
            "shares": [{"bound": str, "component": TEXT, "time": NUMBER, "energy": NUMBER}],
        }],
    },
    "comparison/1": {
        "application": str, "kernel": str, "fastest": str, "per_rank": [str], "not_told_apart_from_fastest?": [str],
        "machines": [{
            "name": str, "machine": str, "socket": TEXT, "ranks": AnyOf(RANKS, None), "runtime": AMOUNT,
            "capped_runtime": PERHAPS, "transfer": PERHAPS, "expected?": AnyOf(EXPECTED, None), "assumed?": [ASSUMED],
        }],
        "over?": {"parameter": str, "low": float, "high": float},
        "fastest_where?": [{"low": float, "high": float, "name": str, "tied": [str]}],
        "crossovers?": [{
            "from": str, "to": str, "before": float, "behind": float, "times_before": NUMBERS, "times_behind": NUMBERS,
        }],
        "unproven?": [{str: VALUE}],
    },
    "cos_plan/1": {
        "training": int, "space": int, "tests": int,
        "configurations": [{"core_frequency": float, "memory_frequency": NUMBER, "threads": int}],
    },
    "cos_stages/1": {
        "traces": [{"run": str, "stages": int, "compute": float, "overlap": float, "stall": float, "trace": str}],
        "stages": [{"run": str, "stage": str, "begin": float, "end": float}],
    },
    "counts/1": {
        "application": str, "kernel": str, "traits": [str], "resources": {str: {"amount": float, "unit": str}},
        "intensity": NUMBER,
        "kernels": [
            {"name": str, "calls": float, "inclusive": NUMBERS, "exclusive": NUMBERS, "intensity": NUMBER}
        ],
    },
    "decision/1": {
        "application": str, "machine": str, "problem": PROBLEM, "objective": str, "budget": NUMBERS,
        "decisions": [{
            "label": TEXT, "settings": TEXT, "nodes": int, "values": POINT, "capped_runtime": NUMBER, "energy": NUMBER,
            "power": NUMBER, "cost": NUMBER, "unmet": TEXT, "combinations": int, "jointly": [str],
        }],
        "bindings": [{
            "input": TEXT, "limit": str, "bound": NUMBER, "without": NUMBER, "next_bound": NUMBER,
            "next_value": NUMBER, "worth": NUMBER,
        }],
        "front": [{
            "input": TEXT, "nodes": int, "values": POINT, "capped_runtime": NUMBER, "energy": NUMBER, "power": NUMBER,
            "chosen": bool,
        }],
    },
    "design_space/1": {
        **RUN, "problem": PROBLEM,
        "base": {"capped_runtime": NUMBER, "energy": NUMBER, "power": NUMBER, "edp": NUMBER, "ed2p": NUMBER},
        "configurations": int, "levels": int, "absent": [str],
        "left_out": [{"component": str, "runtime": NUMBER, "energy": NUMBER}],
        "ranges": [{
            "component": str, "low": NUMBER, "high": NUMBER, "base": NUMBER, "unit": str, "parts": AnyOf([str], None),
            "sets": str, "factor": NUMBER, "source": str, "origin": str,
        }],
        "near_optimal": [{
            "objective": str, "values": POINT, "capped_runtime": NUMBER, "energy": NUMBER, "edp": NUMBER,
            "ed2p": NUMBER, "grid": int, "gap": float,
        }],
        "effects": [{
            "metric": str, "components": [str], "least": NUMBER, "most": NUMBER, "sensitivity": NUMBER,
            "normalised": NUMBER, "beyond": NUMBER,
        }],
    },
    "ecm/1": {"runtime": AMOUNT, "ecm": [ECM]},
    "energy/1": {
        "machine": str, "socket": TEXT, "kernel": str, "ranks?": RANKS, "options": ENERGY_OPTIONS,
        "application": {
            "name": str, "energy": AMOUNT, "runtime": AMOUNT, "capped_runtime": AMOUNT, "power": AMOUNT,
            "edp": AMOUNT, "ed2p": AMOUNT,
        },
        "components": AMOUNTS, "occupied": NUMBERS, "left_out": [str],
        "metered": {"nodes": bool, "network": bool, "storage": bool, "supplies": bool},
        "optimum": AnyOf(None, {
            "parameter": str, "at": float, "value": float, "low": float, "value_low": float, "high": float,
            "value_high": float, "proved": bool, "metric": str, "units": {str: str},
        }),
        "cap": AnyOf(None, {
            "cap": AMOUNT, "parameter": str, "declared_clock": AMOUNT, "clock": AMOUNT, "uncapped_power": AMOUNT,
            "power": AMOUNT,
        }),
        "voltage": AnyOf(None, {"clock": NUMBER, "value": NUMBER, "floor": NUMBER, "curve": str}),
        "expected?": EXPECTED,
        "hardware": [{
            "resources": [str], "traits": [str], "rate": PERHAPS, "power": PERHAPS, "per_joule": PERHAPS,
            "component": str,
        }],
        "kernels": [{
            "name": str, "calls": float, "energy": PERHAPS, "total_energy": PERHAPS, "share": NUMBER, "time": PERHAPS,
            "power": PERHAPS, "components": AMOUNTS,
        }],
        "terms": [{
            "component": str, "for": str, "rate": PERHAPS, "amount": PERHAPS, "energy": PERHAPS, "share": NUMBER,
            "equation": TEXT, "formula": TEXT, "file": TEXT, "line": WHOLE,
        }],
        "limits": [{
            "limit": str, "holds": bool, "allowed": PERHAPS, "drawn": PERHAPS, "left": PERHAPS, "kernel": TEXT,
        }],
        "record?": {"device": str, "energy": PERHAPS, "time": PERHAPS, "runs": int, "input": TEXT},
        "recorded_devices?": [{"device": TEXT, "energy": NUMBER, "time": NUMBER, "chosen": bool}],
    },
    "explanation/1": {
        **RUNTIME,
        "steps": [{
            "kernel": str, "block": TEXT, "resource": str, "source": SOURCE, "demand": FORMULA, "parallelism": FORMULA,
            "spread": NUMBER, "amount": AMOUNT, "component": TEXT, "count": NUMBER,
            "rate": AnyOf({"formula": str, "source": SOURCE}, None), "traits": [{"name": str, "formula": str}],
            "exchanges": [{
                "name": str, "ranks": NUMBER, "algorithm": TEXT, "lower_bound": TEXT, "formula?": TEXT,
                "alpha?": NUMBER, "beta?": NUMBER, "gamma?": NUMBER,
            }],
            "ignored_traits": [str], "left_by_caches": AnyOf(PERHAPS, None), "fetched": AnyOf(PERHAPS, None),
            "serial": FORMULA, "launch": FORMULA, "time": AMOUNT, "share": NUMBER, "bounds": bool,
        }],
    },
    "extraction/1": {
        "name": str, "level": str, "kernels": [str], "aspen": str,
        "parameters": [{"parameter": str, "value": str, "stands_for": str, "set_by": str, "line": WHOLE}],
        "lines?": [
            {"line": str, "source": str, "model": NUMBER, "run": NUMBER, "ratio": NUMBER, "share_of_work": NUMBER}
        ],
    },
    "fit/1": {
        "application": str, "kernel": str, "confidence": float, "rms": float, "rms_before": float, "mean_error": float,
        "largest_error": float, "degrees_of_freedom": int, "has_steps": bool,
        "parameters": [{
            "name": str, "before": float, "value": NUMBER, "interval": AnyOf((float, float), None), "deviation": NUMBER,
            "range": (float, float), "remark": TEXT,
        }],
        "refused": [{"name": str, "value": float, "reason": str}],
        "measurements": [{
            "row": int, "machine": TEXT, "socket": TEXT, "settings": {str: VALUE}, "metric": str, "kernel": TEXT,
            "measured": float,
            "predicted": float, "unit": str, "error": float,
        }],
    },
    "footprint/1": {
        "application": str, "kernel": str, "footprint": AMOUNT,
        "memory": AnyOf(None, {"component": str, "count": float, "capacity": NUMBER, "unit": str, "fits": MAYBE}),
        "regions": [{
            "kernel": str, "labels": [str], "inclusive": NUMBER, "exclusive": NUMBER, "own": [str], "touched": [str],
        }],
        "data": [{"name": str, "size": NUMBER, "loads": NUMBER, "stores": NUMBER}],
        "memories": [{
            "component": str, "capacity": NUMBER, "held": NUMBER, "fullest": NUMBER, "unit": str, "data": [str],
            "fits": MAYBE,
        }],
    },
    "front/1": {
        "subject": str, "goals": [{"quantity": str, "sense": str, "unit": str}], "proven": bool,
        "front": [{"values": [float], "point": POINT}],
    },
    "grouped_decision/1": {
        "machine": str, "objective": str, "nodes": int, "budget": NUMBERS,
        "clusters": {str: {"capped_runtime": NUMBER, "energy": NUMBER}}, "runs": NUMBERS,
        "groups": [{
            "cluster": str, "group": int, "nodes": int, "values": POINT, "application": str, "capped_runtime": NUMBER,
            "energy": NUMBER, "power": NUMBER, "cost": NUMBER,
        }],
    },
    "hardware_scaling/1": {
        "application": str, "machine": str, "ranks": TEXT, "problem": PROBLEM, "threshold": float,
        "scalings": [{
            "settings": TEXT, "mode": str, "values": POINT, "first": NUMBER, "worthwhile": WHOLE, "then": NUMBER,
            "energy": NUMBER, "knee": WHOLE, "fastest": WHOLE, "turns": bool,
            "points": [{"nodes": int, "ranks": float, "time": NUMBER, "efficiency": NUMBER, "energy": NUMBER}],
        }],
    },
    "incore/1": {
        "architecture": str, "osaca": str, "ports": float, "loop_carried": float, "critical_path": float,
        "cycles": float, "pressure": NUMBERS, "aspen": str,
        "operations": [{"name": str, "precision": TEXT, "simd": bool, "amount": float}],
    },
    "inverse/1": {
        "application": str, "kernel": str, "traits": [str], "parameter": str, "resource": str, "target": AMOUNT,
        "range": {"low": NUMBER, "high": NUMBER, "declared": bool}, "whole": bool,
        "solutions": [{"from": float, "to": float}],
        "leaps": [{"before": float, "amount_before": float, "behind": float, "amount_behind": float}],
    },
    "learnt_model/1": {"model": str, "target": str, "unit": str, "options": {str: VALUE}, str: [{str: VALUE}]},
    "learnt_validation/1": {
        "model": str, "target": str, "unit": str, "options": {str: VALUE}, "train": ERRORS, "test": ERRORS,
        "given": int, "inside_interval": NUMBER, "left_out?": [{"value": VALUE, **ERRORS}],
        "predictions?": [{
            "row": int, "measured": NUMBER, "predicted": NUMBER, "low": NUMBER, "high": NUMBER, "error": NUMBER,
            "trained": bool, str: VALUE,
        }],
        "assumptions?": [{
            "device?": TEXT, "name": str, "test": str, "statistic": float, "p": NUMBER, "holds": bool, "meaning": str,
        }],
        str: [{str: VALUE}],  # tables of what was learnt, by the kind of model
    },
    "machine/1": {
        "machine": str, "summary": TEXT, "sockets": [str], "tree": PART, "network": AnyOf(NETWORK, None),
        "peaks": {
            "sp_flops": NUMBER, "dp_flops": NUMBER, "memory_bandwidth": NUMBER,
            "resources": [{
                "resource": str, "traits": [str], "count": NUMBER, "rate": NUMBER, "unit": str, "latency": NUMBER,
                "formula": str, "component": str,
            }],
        },
        "properties": [DECLARED], "parameters": [DECLARED],
        "sources": [{"name": str, "written": str, "known": str, "file": str, "line": int, "comment": str}],
    },
    "machine_differences/1": {
        "machines": [str], "differ": int, "compared": int,
        "properties": [{"part": str, "property": str, "unit": str, "change": NUMBER, str: VALUE}],
    },
    "machines/1": {
        "machines": [{
            "name": str, "summary": str, "kind": TEXT, "vendor": TEXT, "year": WHOLE, "flops?": NUMBER,
            "bandwidth?": NUMBER, "capacity?": NUMBER, "watts?": NUMBER, "assumed?": NUMBER,
        }],
    },
    "network/1": {
        "machine": str, "socket": TEXT, **NETWORK, "ranks": WHOLE,
        "placement": AnyOf(None, {
            "nodes": int, "of_node": NUMBER, "sockets": NUMBER, "of_socket": NUMBER, "each": TEXT, "distribution": str,
        }),
        "messages": [{"size": float, "time": float, "farthest": float, "rate": float}],
        "collectives": [{"name": str, "size": float, "time": float, "lower_bound": TEXT, "algorithm": TEXT}],
    },
    "networks/1": {"networks": [{"name": str, "published": str, str: NUMBER}]},
    "optimum/1": {
        "subject": str, "quantity": str, "sense": str, "unit": str, "value": float, "point": POINT, "proven": bool,
        "looked_at": int, "undefined": int,
        "binding": [{
            "constraint": str, "left": float, "right": float, "multiplier": NUMBER, "without": NUMBER,
            "looser": NUMBER, "point": AnyOf(POINT, None), "next_bound": NUMBER, "next_value": NUMBER,
        }],
        "best?": [{"value": float, "point": POINT, "equal": {str: [VALUE]}, "bound_by": TEXT}],
    },
    "parallelism/1": {
        "application": str, "kernel": str, "most": float,
        "blocks": [{
            "path": [str], "block": TEXT, "instances": NUMBER, "width": NUMBER, "maps": NUMBER, "together": NUMBER,
            "mean": NUMBER, "executions": NUMBER, "line": WHOLE,
        }],
    },
    "placement/1": {
        "application": str, "machine": str, "kernel": str, "runtime": AMOUNT, "transfer": AMOUNT, "hidden": AMOUNT,
        "search": AnyOf(None, {"method": str, "proven": bool, "tried": int}),
        "alternatives": [{"socket": str, "runtime": AnyOf(AMOUNT, None), "reason": TEXT}],
        "kernels": [
            {"name": str, "socket": TEXT, "calls": float, "time": PERHAPS, "moved": PERHAPS, "transfer": PERHAPS}
        ],
        "transfers": [{"data": str, "from": str, "to": str, "times": float, "volume": PERHAPS, "time": PERHAPS}],
    },
    "prediction/1": {
        **RUN, "parameters": {str: VALUE}, "overridden": [str], **RUNTIME,
        "resources": {str: {"amount": float, "unit": str, "time": float, "component": TEXT}},
        "bottleneck": AnyOf(
            None, {"resource": str, "component": TEXT, "time": float, "share": float, "group": [str]}
        ),
        "assumed": [ASSUMED], "lower_bounds": [{"kernel": str, "exchange": str, "reason": str}],
        "expected?": EXPECTED, "metrics?": AMOUNTS, "seed?": int,
        "kernels": [{
            "name": str, "calls": float, "inclusive": float, "exclusive": float, "share": float, "bound_by": TEXT,
            "component": TEXT, "group": [str],
        }],
        "samples?": {
            "count": int, "first_seed": int, "mean": float, "deviation": float, "minimum": float, "maximum": float,
            "quantiles": NUMBERS,
        },
    },
    "profile/1": {
        **RUN, **RUNTIME,
        "kernels": [{
            "name": str, "arguments": [str], "calls": float, "inclusive": float, "exclusive": float, "share": float,
            "bound_by": TEXT,
        }],
        "exchanges": [{
            "name": str, "kernel": str, "block": TEXT, "ranks": NUMBER, "size": NUMBER, "time": float, "share": float,
            "algorithm": TEXT,
        }],
        "ecm?": [ECM],
        "calls?": [{"caller": TEXT, "callee": str, "arguments": [str], "calls": float, "time": float}],
    },
    "profile_validation/1": {
        "application": str, "machine": str, "covered": float, "limit": NUMBER, "failed": int,
        "kernels": [{"region": str, "kernel": TEXT, "measured": float, "predicted": NUMBER, "ratio": NUMBER}],
    },
    "readings/1": {"rows": [{str: VALUE}]},
    "reuse_distances/1": REUSE.shape,
    "published/1": {
        "machines": int, "outside": int,
        "benchmarks": [{
            "benchmark": str, "half": str, "results": int, "median": float, "worst": float, "of": str, "aim": float,
            "outside": int,
        }],
        "results": [{
            "machine": str, "what": str, "ratio": float, "predicted": float, "published": float, "unit": str,
            "half": str, "source": str, "why": str,
        }],
    },
    "roofline/1": {
        "machine": str, "socket": TEXT, "compute": [{**CEILING, "ridges": {str: NUMBER}}], "caches": [PEAK],
        "memory": [PEAK], "files": [PEAK],
        "points": [{
            "application": str, "kernel": TEXT, "flops": float, "bytes": float, "intensity": NUMBER,
            "attainable": NUMBER, "bound_by": [str], "predicted": NUMBER, "bottleneck": TEXT, "time": NUMBER,
            "levels": [{"name": str, "bytes": NUMBER, "intensity": NUMBER}],
        }],
        "measured?": [{
            "region": str, "kernel": TEXT, "measured": NUMBER, "predicted": NUMBER, "intensity": NUMBER,
            "flops": NUMBER, "bytes": NUMBER, "reached": NUMBER, "roof": NUMBER, "share_of_roof": NUMBER,
            "bound_by": TEXT, "from_the_model": TEXT, "advice": TEXT,
        }],
    },
    "runs/1": {
        "command": [str], "mean": AMOUNT, "half_interval": AMOUNT, "confidence": float, "target_met": bool,
        "missing": [{"what": str, "why": str}], "runs": [{"run": int, str: NUMBER}],
    },
    "scaling/1": {
        **RUN, "mode": str, "parameter": str, "problem": [str], "isoefficiency": NUMBER, "optimal_ranks": WHOLE,
        "optimal_time": NUMBER, "accepted": AnyOf([str], None), "turns": bool, "dominant_calls": [str],
        "points": [{
            "ranks": int, "time": float, "capped_runtime": NUMBER, "speedup": NUMBER, "efficiency": NUMBER,
            "communication": NUMBER, "communication_share": NUMBER, "problem_growth": NUMBER, "energy": NUMBER,
            "bound_by": TEXT, "component": TEXT, "expected?": AnyOf(EXPECTED, None), "calls": NUMBERS,
            "late_ranks?": NUMBER,
        }],
    },
    "sensitivity/1": {
        "subject": str, "unit": str, "method": str, "base?": float, "runs?": int, "mean?": float, "variance?": float,
        "effects?": [AnyOf(
            {
                "parameters": [str], "least": NUMBER, "most": NUMBER, "sensitivity": NUMBER, "normalised": NUMBER,
                "per_change": NUMBER, "beyond": NUMBER,
            },
            {"parameter": str, "magnitude": float, "confidence": float, "mean": float, "deviation": float},
        )],
        "indices?": [{
            "parameter": str, "unit": str, "first": float, "first_confidence": float, "total": float,
            "total_confidence": float,
        }],
        "interactions?": [{"parameters": [str], "second": float, "second_confidence": float}],
        "elasticities?": [{
            "parameter": str, "unit": str, "here": NUMBER, "start": NUMBER, "end": NUMBER, "why": TEXT,
            "least": NUMBER, "most": NUMBER, "mean": NUMBER, "overall": NUMBER, "undefined": NUMBER, "formula": TEXT,
            "reason": TEXT,
        }],
        "skipped?": {"points": int, "of": int, "reason": str}, "note?": str,
    },
    "significance/1": {
        "application": str, "machine": str, "fuzziness": float,
        "samples": [
            {"metric": str, "runs": int, "configurations": int, "single": int, "widest": float, "more": int}
        ],
        "significances": [
            {"component": str, "metric": str, "evidence": str, "share": NUMBER, "low": NUMBER, "high": NUMBER}
        ],
        "counters": [
            {"metric": str, "name": str, "known": [str], "share": NUMBER, "memberships": NUMBERS}
        ],
        "clusters": [{"metric": str, "count": int, "partition": NUMBER, "xie_beni": NUMBER, "chosen": bool}],
        "disagreements": [{"component": str, "metric": str, "counters": NUMBER, "model": NUMBER}],
    },
    "socket_energy/1": {
        "application": {"name": str}, "machine": str, "kernel": str, "options": ENERGY_OPTIONS, "most_efficient": str,
        "devices": [{
            "socket": str, "runtime": AMOUNT, "capped_runtime": AMOUNT, "transfer_time": AMOUNT, "energy": AMOUNT,
            "transfer_energy": AMOUNT, "power": AMOUNT, "edp": AMOUNT, "best_saves": float,
        }],
    },
    "speedup/1": {
        "clock": float, "on_chip": float, "off_chip": float, "messages": float,
        "speedup": [{"processors": int, str: NUMBER}], "sweet_spots": [{"least": str, **SWEET_SPOT}],
        "spots": [SWEET_SPOT],
    },
    "speedup_signature/1": {
        "signature": [{"predictor": str, "value": float, "which_is": str}],
        "slowdowns": [{"bandwidth": float, "slowdown": float}],
    },
    "sweep/1": {
        "application": str, "machine?": TEXT, "socket?": TEXT, "kernel?": TEXT, "ranks?": TEXT, "set?": TEXT,
        "model_hash": str, "aspenpy_version": str, "points": int, "dimensions": {str: int},
        "metrics": {str: {
            "unit": str, "median": NUMBER, "least": AnyOf({"value": float, "at": POINT}, None),
            "largest": AnyOf({"value": float, "at": POINT}, None),
        }},
        "no_value": [{"reason": str, "message": str, "points": int, "first_at": POINT}], "expected?": EXPECTED,
        "assumed?": [ASSUMED],
    },
    "throttling/1": {
        "application": str, "machine": str, "noise": float,
        "noisy": {metric: AnyOf({**SPREAD, "count": int}, None) for metric in ("runtime", "energy")},
        "restrictions": [
            {"component": str, "left": float, "value": float, "runtime": NUMBER, "energy": NUMBER, "loss": NUMBER}
        ],
    },
    "trace/1": {
        "application": str, "machine": TEXT, "kernel": str, "complete": bool, "blocks": {"shown": int, "all": float},
        "steps": [{
            "kind": str, "depth": int, "name": TEXT, "label": TEXT, "values": {str: VALUE}, "start": NUMBER,
            "duration": NUMBER,
            "demands": [{
                "resource": str, "amount": float, "unit": str, "direction": TEXT, "data": TEXT, "traits": [str],
            }],
            "occupations": [{"resource": str, "component": str, "start": float, "duration": float}],
        }],
    },
    "traffic/1": {
        **RUN, "simulated?": {"references": int},
        "memory": {"bytes": NUMBER, "low": NUMBER, "high": NUMBER, "unit": str},
        "levels": [{
            "name": str, "reads": float, "read_misses": float, "writes": float, "write_misses": float, "bytes": float,
        }],
        "accesses": [{
            "kernel": str, "block": TEXT, "resource": str, "array": TEXT, "level": TEXT, "accesses": NUMBER,
            "hit_rate": NUMBER, "misses": NUMBER, "misses_low": NUMBER, "misses_high": NUMBER, "fetched": NUMBER,
            "written_back": NUMBER, "victims": NUMBER, "warm": NUMBER,
        }],
    },
    "uncertainty/1": {
        **RUN, "samples": int,
        **{name: AnyOf(SPREAD, None) for name in ("runtime", "energy", "total_runtime", "total_energy")},
        "claims": [{
            "name": str, "deviation": NUMBER, "median": NUMBER, "source": str, "compared": TEXT, "compared_with": TEXT,
            "fitted": TEXT, "worst": NUMBER, "count": WHOLE, "page": TEXT,
            "within": AnyOf([{"part": float, "error": float}], None),
        }],
    },
    "validation/1": {
        "application": str, "machine": str, "limit": NUMBER, "failed": int, "command": str, "median_error": float,
        "within": {"factor": float, "points": int}, "expected": EXPECTED,
        "points": [{
            "predicted": float, "start": float, "pages": float, "measured": float, "mean": float,
            "half_interval": NUMBER, "runs": int, "ratio": float, "bound_by": TEXT, str: float,
        }],
        "kernels": [{"name": str, "calls": float, "predicted": float, "share": float, "bound_by": TEXT}],
    },
}  # fmt: skip
"""Keys of each result besides those of `COMMON`, but for results that hold others."""


def nest_shape(name: str) -> Named:
    """The shape of a result within another."""
    return Named(name.replace("/", "-"), {"schema": str, **RESULTS[name], **COMMON})


RESULTS["predictions/1"] = {**WHERE, "kernel": None, "predictions": [nest_shape("prediction/1")]}
RESULTS["advice/1"] = {
    "command?": str,
    **{
        f"{step}?": nest_shape(f"{name}/1")
        for step, name in {
            "classify": "classification", "significance": "significance", "configure": "design_space",
            "scale": "hardware_scaling", "decide": "decision", "throttle": "throttling", "uncertainty": "uncertainty",
        }.items()
    },
}  # fmt: skip


def result_schema(name: str) -> dict[str, Any]:
    """The JSON Schema, 2020-12, of a result such as `prediction/1`."""
    definitions: dict[str, Any] = {}
    shape = as_json_schema({"schema": str, **RESULTS[name], **COMMON}, definitions)
    shape["properties"]["schema"] = {"const": f"aspenpy/{name}"}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"aspenpy/{name}"}
    return {**head, **shape, **({"$defs": definitions} if definitions else {})}
