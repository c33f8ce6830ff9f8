"""A warmed zygote changes no verdict: the issues of the registry, forked and in fresh processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix import registry, runner
from compilefix.cli.progress import Silent
from compilefix.outcome import Target
from tests.conftest import CACHE

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
def test_forked_and_fresh_processes_agree_on_inductor_for_every_issue(tmp_path: Path) -> None:
    """
    Every issue comes to the same outcome on Inductor whether forked from the zygote or run fresh.

    Of the contracts only a few: a fresh process takes ten seconds, and most of them are about plain code.
    """
    issues = registry.discover().select(select=("record:issue",), ignore=("symptom:hang",))
    quick = (*(r.id for r in issues), "contract-clone-protects-input", "contract-mean-counts-sources-only")
    targets = (Target("inductor"),)
    assert outcomes("fork", tmp_path / "f", quick, targets) == outcomes("spawn", tmp_path / "s", quick, targets)


@pytest.mark.slow
def test_forked_and_fresh_processes_agree_on_every_stage(tmp_path: Path) -> None:
    """A sample of records agrees on every stage, also where Dynamo itself is at fault."""
    ids = ("gh198094", "gh197896", "gh139789")
    assert outcomes("fork", tmp_path / "f", ids, ()) == outcomes("spawn", tmp_path / "s", ids, ())
