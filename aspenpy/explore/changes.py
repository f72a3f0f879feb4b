"""VersionChanges: two snapshots compared, number by number, with the reason and the line of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isinf

from aspenpy.explore.snapshot import Need, Snapshot
from aspenpy.record import Record
from aspenpy.tables.numbers import Amount, format_amount, unit_of_resource
from aspenpy.tables.result import Result

LIMIT = 0.01
"""Growth of a number, relative to what it was, up to which nothing fails."""

SAME = 1e-9
"""Relative difference below which two numbers are taken to be the same."""

RUNTIME, ENERGY = "runtime", "energy"


class Change(Record):
    """A number that changed: `quantity` of a kernel (empty: of the whole run), on a machine (empty: a count). `before`
    and `after` are in `unit`; `limit` is the growth that is allowed; `line` and `reason` say where it is from, and
    `data` whose count it is."""

    quantity: str
    kernel: str
    machine: str
    before: float
    after: float
    unit: str
    limit: float
    line: str
    reason: str
    data: str = ""

    @property
    def growth(self) -> float:
        """Growth relative to the number before; infinite where there was nothing."""
        return self.after / self.before - 1 if self.before else inf

    @property
    def fails(self) -> bool:
        """Whether it grew by more than its limit."""
        return self.growth > self.limit

    @property
    def change(self) -> str:
        """`+4.2 %`, or `new`."""
        return "new" if isinf(self.growth) else "gone" if not self.after else f"{100 * self.growth:+.3g} %"

    @property
    def sentence(self) -> str:
        """The change as one says it to a colleague."""
        what = f"`{self.kernel}`" if self.kernel else "the run"
        if self.machine:
            verb = "takes" if self.quantity == RUNTIME else "consumes"
            more = "more time" if self.quantity == RUNTIME else "more energy"
            less = more.replace("more", "less")
            said = f"{what} {verb} {abs(100 * self.growth):.3g} % {more if self.growth > 0 else less}"
            return f"{said} on {self.machine}{f': {self.reason}' if self.reason else ''}"
        return f"{what}: {self.reason}"


class VersionChanges(Record, Result):
    """All numbers in which two snapshots differ, the ones that fail first."""

    before: Snapshot
    after: Snapshot
    found: tuple[Change, ...]

    @property
    def failed(self) -> tuple[Change, ...]:
        """The changes beyond their limits."""
        return tuple(item for item in self.found if item.fails)


def compare_snapshots(before: Snapshot, after: Snapshot, limits: Mapping[str, float] | None = None) -> VersionChanges:
    """The changes from one snapshot to another. `limits` are growths that are allowed, by quantity (`runtime`,
    `energy`, a resource), or "" for all others."""
    known = {"": LIMIT, **(limits or {})}
    counts = list(_changed_counts(before, after, known))
    changes = [*counts, *_changed_times(before, after, known, counts)]
    return VersionChanges(before, after, tuple(sorted(changes, key=lambda item: (not item.fails, -abs(item.growth)))))


def _differ(first: float, second: float) -> bool:
    return abs(first - second) > SAME * max(abs(first), abs(second))


def _changed_counts(before: Snapshot, after: Snapshot, limits: Mapping[str, float]) -> Iterator[Change]:
    for first, second in _pair_needs(before, after):
        amounts = first.amount if first else 0.0, second.amount if second else 0.0
        if _differ(*amounts):
            need = second or first or _NOTHING
            limit, unit = limits.get(need.resource, limits[""]), unit_of_resource(need.resource)
            reason, data = _reason(first, second), _name_count(need)
            yield Change(
                need.resource,
                need.kernel,
                "",
                *amounts,
                unit=unit,
                limit=limit,
                line=need.line,
                reason=reason,
                data=data,
            )


def _pair_needs(before: Snapshot, after: Snapshot) -> list[tuple[Need | None, Need | None]]:
    """Needs of the same kind before and after; where a kernel touches a data structure in one way before and in one
    other way after, those as well."""
    old, new = ({need.key: need for need in snapshot.needs} for snapshot in (before, after))
    gone, come = ([each[key] for key in each if key not in other] for each, other in ((old, new), (new, old)))
    pairs: list[tuple[Need | None, Need | None]] = [(old[key], new[key]) for key in old if key in new]
    for need in [*gone]:
        alike = [[each for each in side if each.key[:3] == need.key[:3]] for side in (gone, come)]
        if need.data and [*map(len, alike)] == [1, 1]:
            pairs.append((need, alike[1][0]))
            gone.remove(need)
            come.remove(alike[1][0])
    return pairs + [(need, None) for need in gone] + [(None, need) for need in come]


_NOTHING = Need("", "", "", "", 0.0, 0.0, "")


def _name_count(need: Need) -> str:
    """`loads of `col` (shared)`."""
    what = f"{need.resource} of `{need.data}`" if need.data else need.resource
    return f"{what} ({need.traits})" if need.traits else what


def _reason(first: Need | None, second: Need | None) -> str:
    """The reason of a changed count in words: elements became larger, or more, or are new or gone."""
    need = second or first or _NOTHING
    what = _name_count(need)
    unit = unit_of_resource(need.resource)
    if first is None or second is None:
        return f"{what} {'are new' if first is None else 'are gone'}, {format_amount(Amount(need.amount, unit))}"
    sizes = [each.amount / each.elements if each.elements else 0.0 for each in (first, second)]
    if _differ(*sizes) and not _differ(first.elements, second.elements):
        return f"{what} have {sizes[1]:g} {unit} each, {sizes[0]:g} before"
    if first.traits != second.traits:
        what += f", before ({first.traits or 'no pattern'}),"
    times = second.amount / first.amount
    amounts = " before, now ".join(format_amount(Amount(each.amount, unit)) for each in (first, second))
    return f"{what} are {times:.4g} times as many: {amounts}"


def _changed_times(
    before: Snapshot, after: Snapshot, limits: Mapping[str, float], counts: list[Change]
) -> Iterator[Change]:
    """Times of kernels and of the run, and energies, on machines of both; with the count of the kernel that grew most,
    or shrank most, as the reason."""
    orders = list(_changed_orders(before, after))
    for name in (name for name in before.machines if name in after.machines):
        old, new = before.machines[name], after.machines[name]
        rows = [(kernel, RUNTIME, old.kernels.get(kernel, 0.0), new.kernels.get(kernel, 0.0)) for kernel in old.kernels]
        rows += [(kernel, RUNTIME, 0.0, new.kernels[kernel]) for kernel in new.kernels if kernel not in old.kernels]
        rows.append(("", RUNTIME, old.runtime, new.runtime))
        if old.energy is not None and new.energy is not None:
            rows.append(("", ENERGY, old.energy, new.energy))
        for kernel, quantity, first, second in rows:
            if _differ(first, second):
                reasons = [item for item in counts if kernel in ("", item.kernel)]
                limit, unit = limits.get(quantity, limits[""]), _UNITS[quantity]
                change = Change(
                    quantity, kernel, name, before=first, after=second, unit=unit, limit=limit, line="", reason=""
                )
                yield _give_reason(change, reasons, [item for item in orders if kernel in ("", item[0])])


_UNITS = {RUNTIME: "s", ENERGY: "J"}


def _changed_orders(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, str, str]]:
    """The kernels that touch the same data in another order, each with the line and the reason."""
    for first, need in _pair_needs(before, after):
        order = first.order if first else ""
        if need and order and need.order and order != need.order:
            what = f"{need.resource} of `{need.data}`" if need.data else need.resource
            yield need.kernel, need.line, f"{what} now go as {need.order}, before as {order}"


def _give_reason(change: Change, reasons: list[Change], orders: list[tuple[str, str, str]]) -> Change:
    """The change with its reason: the count that moved most the same way, or data that are touched in another order."""
    same = [item for item in reasons if (item.growth > 0) == (change.growth > 0)]
    if not same and orders:
        kernel, line, words = orders[0]
        return change.replace(reason=words if change.kernel else f"in `{kernel}`, {words}", line=line)
    if not same:
        words = "the machine or the case changed, no count did" if not reasons else "its counts changed the other way"
        return change.replace(reason=words)
    first = max(same, key=lambda item: abs(item.after - item.before) / max(item.after, item.before))
    where = "" if change.kernel else f"in `{first.kernel}`, "
    return change.replace(reason=f"{where}{first.reason}", line=first.line)
