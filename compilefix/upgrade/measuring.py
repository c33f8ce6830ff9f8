"""Run the registry on other releases and keep what came out: only what is not measured yet, unit by unit."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilefix import measured
from compilefix.check import CheckReport
from compilefix.environment import Environment
from compilefix.issue import Expectation
from compilefix.measured import Measurement
from compilefix.outcome import INTERPRETED, Result, Target
from compilefix.registry import Record
from compilefix.upgrade import environments, executors, unit
from compilefix.upgrade.unit import Announce, Settings, Unit

SHARD = 12
"""Records of a unit. What a unit measured is on disk when it ends; starting a check takes about 10 s."""

SECONDS = 8
"""Of one record, whose program runs six times and more."""


@dataclass(kw_only=True)
class Measured:
    """What one call of `measure` did."""

    ran: int = 0
    """Records that were run, one counted once a release, device and place."""

    kept: int = 0
    """Records that were measured before and left alone."""

    failed: dict[str, str] = field(default_factory=dict)
    """Release to the reason why it does not install or import."""

    contradictions: list[tuple[str, Result]] = field(default_factory=list)
    """Full version of torch and the result that contradicts its record."""

    files: dict[Path, None] = field(default_factory=dict)


def measure(
    records: Sequence[Record],
    releases: Sequence[str],
    where: Path,
    *,
    announce: Announce,
    settings: Settings | None = None,
    devices: Sequence[str] = ("cpu",),
    places: Sequence[str | None] = (None,),
    again: bool = False,
    size: int = SHARD,
    executor: Callable[[executors.Place], Executor] | None = None,
) -> Measured:
    """
    Run `records` on every release and write the measured files into the folder `where`.

    Runs only what the files lack: records that are new, or whose program changed, or that were not run on a device.
    `again` runs all. Units have at most `size` records; what one measured is on disk when it ends. A release that does
    not install or import is written down as such. Interrupted, it continues with the next call.

    `executor` maps device and place to the executor of a unit; None: all here, one after another. `devices` are those
    to measure on, `places` resources of workers, each of which measures everything.

    Raises `HarnessError` where the harness fails; what was measured until then is on disk.
    """
    settings = settings or Settings()
    done = Measured()
    units: list[Unit] = []
    for release in dict.fromkeys(map(environments.public, releases)):
        for device in devices:
            concerned = [r for r in records if device == "cpu" or device in r.known.devices]
            for place in places:
                due = concerned if again else _due(concerned, release, device, place, where)
                done.kept += len(concerned) - len(due)
                units += [replace(u, release=release, place=place) for u in unit.shards(due, size, device, settings)]
    todo = sum(len(one.ids) for one in units)
    about = f", roughly {max(1, round(todo * SECONDS / settings.jobs / 60))} min on a quiet machine" if todo else ""
    announce(f"{todo} measurements to make{about}; {done.kept} there already")
    serial = executors.Serial()
    by_id = {record.id: record for record in records}

    def work(one: Unit) -> dict[str, object]:
        if one.release in done.failed:
            return {"failed": done.failed[one.release]}
        announce(str(one))
        return unit.perform(one, announce)

    found = executors.spread(
        units,
        work if executor is None else unit.perform,
        lambda one: serial if executor is None else executor((one.device, one.place)),
        lost=lambda one: announce(f"a worker was lost; handed out again: {one}"),
    )
    for one, raw in found:
        reply = unit.reply(raw)
        if reply.report is not None:
            done.ran += len(reply.report.results)
            done.files[_keep(reply.report, by_id, where, one.place)] = None
            done.contradictions += _contradictions(reply.report, by_id)
            announce(f"done: {one}")
        elif one.release is not None and reply.failed is not None and one.release not in done.failed:
            done.failed[one.release] = reply.failed
            announce(f"torch {one.release} {reply.failed}")
            done.files[_fail(one.release, reply.failed, where, settings.python)] = None
    return done


def _due(records: Sequence[Record], release: str, device: str, place: str | None, where: Path) -> list[Record]:
    """Return the records of which the files of a release lack something."""
    known = [m for path in measured.files(where) for m in measured.load(path) if _is(m, release, place)]
    wanted = Target("inductor", INTERPRETED if device == "cpu" else device)

    def there(record: Record) -> bool:
        digest = measured.digest(record)
        rows = [m.rows[record.id] for m in known if record.id in m.rows]
        return any(row.digest == digest and wanted in measured.target_names(row) for row in rows)

    return [record for record in records if not there(record)]


def _is(measurement: Measurement, release: str, place: str | None) -> bool:
    same = environments.public(measurement.environment.torch) == release
    return same and measurement.failed is None and (place is None or measurement.place == place)


def _keep(report: CheckReport, records: dict[str, Record], where: Path, place: str | None) -> Path:
    path = measured.write(report, where, records, place)
    bare = _bare(environments.public(report.environment.torch), report.environment.python)
    (where / f"{bare.slug}.json").unlink(missing_ok=True)  # it failed once
    return path


def _contradictions(report: CheckReport, records: dict[str, Record]) -> list[tuple[str, Result]]:
    """Return what the records' own targets contradict."""
    rows = {found.id: measured.row(records[found.id], found) for found in report.results}
    whole = Measurement(environment=report.environment, rows=rows)
    found = [measured.result(records[id], whole) for id in rows]
    return [(report.environment.torch, result) for result in found if result is not None and result.contradicts]


def _fail(release: str, reason: str, where: Path, python: str | None) -> Path:
    """Write down that a release cannot be measured on this machine."""
    environment = _bare(release, python)
    path = where / f"{environment.slug}.json"
    measured.save(path, [Measurement(environment=environment, failed=reason)])
    return path


def _bare(release: str, python: str | None) -> Environment:
    """Describe this machine with a release that tells nothing of itself."""
    return Environment(
        torch=release,
        torch_git=None,
        python=python or platform.python_version(),
        system=platform.system(),
        machine=platform.machine(),
        isa=None,
        cxx=None,
        triton=None,
        cuda=None,
    )


def contradiction(result: Result, torch: str) -> str:
    """Return in one line how a measurement contradicts its record."""
    if result.record == "contract":
        says = result.truth.value if result.truth is not None else "nothing"
    else:
        says = {Expectation.AFFECTED: "affected", Expectation.UNAFFECTED: "not affected"}.get(
            result.expected, "unknown"
        )
    shown = ", ".join(sorted(symptom.value for symptom in result.symptoms)) or "nothing wrong"
    return f"{result.id} on torch {torch}: {result.verdict.value} ({shown}); its record says {says}"
