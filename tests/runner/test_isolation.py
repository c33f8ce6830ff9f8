"""A warmed zygote changes no verdict: records of the registry, forked and in fresh processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compilefix import registry, runner
from compilefix.issue import Issue
from compilefix.outcome import Target
from compilefix.progress import Silent
from tests.conftest import CACHE

MANY = 8
"""Issues of one symptom and stage from which on a second one is compared."""

CONTRACTS = ("contract-clone-protects-input", "contract-mean-counts-sources-only")
Outcomes = dict[str, tuple[str, dict[str, tuple[str, list[str]]]]]


def outcomes(isolation: str, state: Path, ids: tuple[str, ...], targets: tuple[Target, ...]) -> Outcomes:
    """Return verdict, outcome words and the places of all differences, by record and target."""
    report = runner.check(
        registry.discover().select(ids),
        watcher=Silent(),
        options=runner.Options(jobs=2, timeout=240.0, targets=targets, workarounds=False),
        isolation=isolation,
        cache=CACHE,
        journal=state,
    )
    return {
        r.id: (
            r.verdict.value,
            {str(t): (o.did.value, [f"{d.what} {d.leaf}" for d in o.differences]) for t, o in r.outcomes.items()},
        )
        for r in report.results
    }


@pytest.mark.slow
def test_forked_and_fresh_processes_agree_on_inductor_for_many_records(tmp_path: Path) -> None:
    """
    Issues of every symptom and stage, and two contracts, come to the same outcome forked from the zygote or run fresh.

    A fresh process takes ten seconds. ``COMPILEFIX_TEST_ALL=1`` compares the whole registry.
    """
    found = registry.discover().select(ignore=("symptom:hang",))
    kinds: dict[tuple[str, str], list[str]] = {}
    for record in found:
        if isinstance(record.known, Issue):
            kinds.setdefault((record.known.symptom, record.known.stage), []).append(record.id)
    sample = [id for ids in kinds.values() for id in (ids[:1] if len(ids) < MANY else (ids[0], ids[len(ids) // 2]))]
    ids = [r.id for r in found] if os.environ.get("COMPILEFIX_TEST_ALL") else [*sample, *CONTRACTS]
    targets = (Target("inductor"),)
    forked, fresh = (outcomes(way, tmp_path / way, tuple(ids), targets) for way in ("fork", "spawn"))
    assert forked == fresh
    assert len(forked) >= 20


@pytest.mark.slow
def test_forked_and_fresh_processes_agree_on_every_stage(tmp_path: Path) -> None:
    """A sample of records agrees on every stage, also where Dynamo itself is at fault."""
    ids = ("gh198094", "gh197896", "gh139789")
    assert outcomes("fork", tmp_path / "f", ids, ()) == outcomes("spawn", tmp_path / "s", ids, ())
