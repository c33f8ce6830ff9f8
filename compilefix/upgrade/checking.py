"""Check the registry on several machines that have the same torch: units of it go to any executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from compilefix.check import CheckReport, merge
from compilefix.errors import HarnessError
from compilefix.registry import Record
from compilefix.upgrade import executors, unit
from compilefix.upgrade.unit import Announce, Settings


def check(
    records: Sequence[Record],
    executor: Callable[[executors.Place], Executor],
    *,
    announce: Announce,
    settings: Settings,
    device: str = "cpu",
    size: int = 12,
) -> CheckReport:
    """
    Run `records` on the torch of the executor's workers and return one report, in the order of the records.

    A worker that dies loses nothing: its units go to another. Raises `UsageError` where the workers have different
    torch builds, `HarnessError` where a check fails or a unit killed several workers.
    """
    units = unit.shards(records, size, device, settings)
    found = executors.spread(
        units,
        unit.perform,
        lambda one: executor((one.device, one.place)),
        lost=lambda one: announce(f"a worker was lost; handed out again: {one}"),
    )
    reports = []
    for one, raw in found:
        report = unit.reply(raw).report
        if report is None:
            raise HarnessError(f"{one}: {raw}")
        reports.append(report)
        announce(f"done: {one}")
    whole = merge(reports)
    order = {record.id: i for i, record in enumerate(records)}
    return replace(whole, results=tuple(sorted(whole.results, key=lambda result: order[result.id])))
