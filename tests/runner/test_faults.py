"""Repros that misbehave in every way: each gets its outcome, none hurts another, nothing is left running."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compilefix import registry, runner
from compilefix.check import CheckReport
from compilefix.errors import HarnessError
from compilefix.outcome import Did, Result, Target, Verdict
from compilefix.progress import Silent
from tests.conftest import CACHE, DEADLY, FIXTURES

pytestmark = pytest.mark.slow
EAGER = Target("eager")
INDUCTOR = Target("inductor")


def check(
    folder: Path, state: Path, ids: tuple[str, ...] = (), ignore: tuple[str, ...] = (), **options: object
) -> CheckReport:
    """Run the fixtures of `folder`."""
    records = registry.discover([folder], shipped=False).select(ids, ignore=ignore)
    return runner.check(
        records,
        watcher=Silent(),
        options=runner.Options(**{"jobs": 2, "timeout": 240.0} | options),  # type: ignore[arg-type]
        cache=CACHE,
        journal=state,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    """Run all fixtures but the hanging and the allocating one in a single check."""
    return check(FIXTURES, tmp_path_factory.mktemp("journal"), ignore=("local-hangs", "local-allocates"))


@pytest.fixture(scope="module")
def results(report: CheckReport) -> dict[str, Result]:
    """Return the results by id."""
    return {r.id: r for r in report.results}


def test_a_healthy_program_is_clear_and_every_target_ran(results: dict[str, Result]) -> None:
    """A healthy program is clear."""
    healthy = results["local-healthy"]
    assert healthy.verdict is Verdict.CLEAR
    assert {str(t): o.did for t, o in healthy.outcomes.items()} == {
        "reference:cpu": Did.OK,
        "eager:cpu": Did.OK,
        "aot_eager:cpu": Did.OK,
        "aot_eager_decomp_partition:cpu": Did.OK,
        "inductor:cpu": Did.OK,
    }
    assert healthy.outcomes[INDUCTOR].facts["graphs"] == 1


def test_an_injected_wrong_result_is_found_at_its_stage_and_located(results: dict[str, Result]) -> None:
    """Inductor's injected relu defect shows at inductor only, with position, values and a working rewrite."""
    wrong = results["local-wrong-relu"]
    assert wrong.verdict is Verdict.REPRODUCES
    assert wrong.first_bad == INDUCTOR
    (difference,) = (d for d in wrong.outcomes[INDUCTOR].differences if not d.note)
    assert (difference.what, difference.leaf, difference.where) == ("values", "result", (0,))
    assert difference.want == 0.0
    assert wrong.workarounds[INDUCTOR].did is Did.OK


def test_an_injected_compile_error_is_an_error(results: dict[str, Result]) -> None:
    """A kernel that does not compile is an error of the inductor target alone."""
    failed = results["local-relu-does-not-compile"]
    assert failed.verdict is Verdict.REPRODUCES
    assert failed.outcomes[INDUCTOR].did is Did.ERROR
    assert failed.outcomes[Target("aot_eager")].did is Did.OK


def test_a_segfault_is_a_crash_with_its_signal(results: dict[str, Result]) -> None:
    """Death by signal is a crash that names the signal."""
    outcome = results["local-segfaults"].outcomes[EAGER]
    assert (outcome.did, outcome.reason) == (Did.CRASH, "died of SIGSEGV")


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("local-plain-segfaults", "the plain program itself: died of SIGSEGV"),
        ("local-exits-early", "the program ended the process early (exit code 0, no reply)"),
        ("local-random", "not deterministic: two plain runs differ in values of result"),
        ("local-fails-plainly", "the plain program raises ValueError: no such thing as a plain run"),
        ("local-does-not-import", "local_does_not_import.py does not import: ModuleNotFoundError"),
        ("local-disk-full", "cannot be written: No space left on device"),
    ],
)
def test_what_the_harness_cannot_tell_is_unresolved_with_a_reason(
    results: dict[str, Result], id: str, reason: str
) -> None:
    """Faults that say nothing of the defect are unresolved, never ok."""
    result = results[id]
    assert result.verdict is Verdict.UNRESOLVED
    assert all(o.did is Did.UNRESOLVED for t, o in result.outcomes.items() if t.backend != "reference")
    assert reason in str(result.outcomes[EAGER].reason)


def test_a_record_that_torch_contradicts_is_fixed_early(results: dict[str, Result]) -> None:
    """A record that claims a healthy torch is affected is contradicted."""
    assert results["local-fixed-early"].verdict is Verdict.FIXED_EARLY


def test_a_flood_of_output_keeps_only_the_tail(results: dict[str, Result]) -> None:
    """100 MB on stdout neither block the worker nor fill memory."""
    flood = results["local-floods-stdout"]
    assert flood.verdict is Verdict.CLEAR
    assert 0 < len(flood.outcomes[INDUCTOR].stdout) <= 4096


def test_control_characters_are_made_visible(results: dict[str, Result]) -> None:
    """What a program prints and raises cannot steer a terminal."""
    outcome = results["local-control-characters"].outcomes[EAGER]
    assert outcome.did is Did.ERROR
    assert "\x1b" not in f"{outcome.reason}{outcome.stdout}{outcome.stderr}"
    assert "\\x07" in str(outcome.reason)
    assert "]]>" in str(outcome.reason)


def test_no_process_is_left_behind(results: dict[str, Result]) -> None:
    """Grandchildren are gone, also one that left the process group as a daemon."""
    assert results["local-leaves-grandchildren"].verdict is Verdict.CLEAR
    assert subprocess.run(["pgrep", "-f", "sleep 98765"], capture_output=True, text=True, check=False).stdout == ""


def test_a_hang_is_killed_at_its_limit(tmp_path: Path) -> None:
    """A program that does not end is a hang of the time limit's length."""
    report = check(FIXTURES, tmp_path, ids=("local-hangs",), targets=(EAGER,), timeout=20.0)
    (result,) = report.results
    assert result.outcomes[EAGER].did is Did.HANG
    assert result.outcomes[EAGER].reason == "no end within 20 s"
    assert result.verdict is Verdict.REPRODUCES


def test_endless_allocation_meets_the_memory_limit(tmp_path: Path) -> None:
    """A program that allocates without end is stopped by its own limit and says so."""
    report = check(FIXTURES, tmp_path, ids=("local-allocates", "local-healthy"), targets=(EAGER,), memory=2 << 30)
    by_id = {r.id: r for r in report.results}
    assert by_id["local-allocates"].outcomes[Target("reference")].reason == "ran over the memory limit of 2.0 GiB"
    assert by_id["local-allocates"].verdict is Verdict.UNRESOLVED
    assert by_id["local-healthy"].verdict is Verdict.CLEAR


def test_a_dead_zygote_is_a_failure_of_the_harness(tmp_path: Path) -> None:
    """A repro that kills the parent ends the check with the harness's error, not with a verdict."""
    with pytest.raises(HarnessError, match="the zygote died"):
        check(DEADLY, tmp_path, targets=(EAGER,))
