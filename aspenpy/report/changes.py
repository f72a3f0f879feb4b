"""Changes between two snapshots as a report, as Markdown for a pull request, as JUnit's XML and as SARIF."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import isinf

from aspenpy.explore.changes import Change, VersionChanges
from aspenpy.report.junit import CaseVerdict, VerdictSuite, write_suites
from aspenpy.tables.numbers import Amount, count_of, format_amount
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, DATA, TEXT, Column, Report, make_table
from aspenpy.version import VERSION

COLUMNS = (
    Column("kernel", get=lambda item: item.kernel or "all"),
    Column("quantity"),
    Column("machine", get=lambda item: item.machine or None),
    Column("before", "amount", get=lambda item: Amount(item.before, item.unit)),
    Column("now", "amount", key="after", get=lambda item: Amount(item.after, item.unit)),
    Column("change", media=TEXT),
    Column("growth", get=lambda item: None if not item.before else item.growth, media=DATA),
    Column("fails", media=DATA),
    Column("line", get=lambda item: item.line or None, media=ALL),
    Column("reason", wrapped=True),
)


def report_changes(changes: VersionChanges) -> Report:
    """Reports the changes with their reasons, failing ones first and marked."""
    marked = frozenset(index for index, item in enumerate(changes.found) if item.fails)
    table = make_table(COLUMNS, changes.found, "changes", marked=marked)
    data = {"application": changes.after.application, "failed": len(changes.failed)}
    return Report("changes/1", heading(changes), data, (table,))


register_report(VersionChanges, report_changes)


def heading(changes: VersionChanges) -> str:
    """`spmv: 3 numbers changed, 2 beyond their limits`."""
    name = changes.after.application
    if not changes.found:
        return f"{name}: nothing changed"
    failed = len(changes.failed)
    beyond = f", {failed or 'none'} beyond {'their limits' if failed > 1 else 'its limit'}"
    if all(isinf(item.limit) for item in changes.found):
        beyond = ""
    return f"{name}: {count_of(len(changes.found), 'number')} changed{beyond}"


def write_markdown(gates: Sequence[VersionChanges]) -> str:
    """Markdown with a heading for each gate, its failures as a list, and all changes as a table."""
    return "\n".join(map(_as_markdown, gates))


def _as_markdown(changes: VersionChanges) -> str:
    lines = [f"### {heading(changes)}", ""]
    for item in changes.failed:
        lines.append(f"* {item.sentence}{f' ({item.line})' if item.line else ''}")
    if changes.found:
        lines += ["", "| kernel | quantity | machine | before | now | change |", "|---|---|---|---:|---:|---:|"]
    for item in changes.found:
        amounts = [format_amount(Amount(value, item.unit)) for value in (item.before, item.after)]
        cells = [item.kernel or "all", item.quantity, item.machine, *amounts, item.change]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def write_junit(gates: Sequence[VersionChanges]) -> str:
    """A suite for each gate with a case for each number that changed, failed where it grew beyond its limit; one case
    that passes where nothing changed."""
    return write_suites(
        VerdictSuite(
            f"aspenpy gate {changes.after.application}",
            changes.after.application,
            [_make_verdict(item) for item in changes.found] or [CaseVerdict("nothing changed")],
        )
        for changes in gates
    )


def _make_verdict(item: Change) -> CaseVerdict:
    failure = (item.sentence, item.line) if item.fails else ()
    return CaseVerdict(_name_of_case(item), *failure)


def _name_of_case(item: Change) -> str:
    """`runtime of spmv on epyc_9654`, ``loads of `col` in spmv``."""
    if item.machine:
        return f"{item.quantity} of {item.kernel or 'the run'} on {item.machine}"
    return f"{item.data} in {item.kernel}"


def write_sarif(gates: Sequence[VersionChanges]) -> str:
    """SARIF 2.1.0 (OASIS, 2020): a result for each number that grew beyond its limit, at its line."""
    failed = [item for changes in gates for item in changes.failed]
    rules = [{"id": name} for name in dict.fromkeys(item.quantity for item in failed)]
    tool = {"driver": {"name": "aspenpy", "version": VERSION, "rules": rules}}
    runs = [{"tool": tool, "results": list(map(_as_sarif, failed))}]
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": runs}, indent=2) + "\n"


SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def _as_sarif(item: Change) -> dict[str, object]:
    result: dict[str, object] = {"ruleId": item.quantity, "level": "error", "message": {"text": item.sentence}}
    file, _, line = item.line.rpartition(":")
    if file and line.isdigit():
        place = {"artifactLocation": {"uri": file.replace("\\", "/")}, "region": {"startLine": int(line)}}
        result["locations"] = [{"physicalLocation": place}]
    return result


WRITERS: dict[str, Callable[[Sequence[VersionChanges]], str]] = {
    ".md": write_markdown,
    ".xml": write_junit,
    ".sarif": write_sarif,
}
"""What writes a report, by the end of its file's name."""
