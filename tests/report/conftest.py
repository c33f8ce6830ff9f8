"""Canned check reports: every verdict, every outcome, and text that breaks careless formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compilefix.calls import compare_releases
from compilefix.check import CheckReport
from compilefix.diagnosis.result import Diagnosis
from compilefix.environment import Environment
from compilefix.issue import STAGES, Expectation, Symptom, Truth
from compilefix.outcome import Did, Difference, Outcome, Result, Target, Verdict
from compilefix.upgrade.difference import UpgradeReport
from tests.machines import machine

HOSTILE = (
    "a|b `x` ```y``` \x1b[31mred\x1b[0m \x1b]8;;http://h\x07link\x1b]8;;\x07 "
    "\x00\x08\x7f \ud800 ]]> <b>&amp; \\ \u202e\r\n| tail"
)
"""Pipes, backticks, terminal sequences, control characters, a lone surrogate, the end of a CDATA section."""

OK = Outcome(did=Did.OK, seconds=0.25)
VALUES = Difference(
    what="values", leaf="result", where=(0, 1), got=0.0, want=1.0, worst=3.0, worst_at=(2, 0), count=4, total=10
)
WRONG = Outcome(
    did=Did.MISMATCH,
    reason="values of result at [0, 1]: got 0.0, want 1.0",
    differences=(VALUES,),
    seconds=0.5,
)
RAISES = Outcome(
    did=Did.ERROR,
    reason="exception of the call: got RuntimeError: boom, want no exception",
    error=("RuntimeError", "boom\nsecond line"),
    seconds=0.5,
)
NO_CUDA = Outcome(did=Did.UNSUPPORTED, reason="no CUDA device here: not measured")
UNDECIDED = Outcome(did=Did.UNRESOLVED, reason="the harness failed: OSError: no space", stderr="Traceback\nOSError")


def environment(**changes: object) -> Environment:
    """Return a CPU environment."""
    fields: dict[str, object] = {
        "torch_git": "cf30153c4c131c8164ee7798e5022d810682e2cb",
        "cxx": "g++ (Debian 12.2.0-14+deb12u1) 12.2.0",
    }
    return machine(**fields | changes)


def ladder(*compiled: Outcome, device: str = "cpu", dynamic: bool = False) -> dict[Target, Outcome]:
    """Return outcomes of the stages in order, after an ``ok`` reference."""
    targets = (Target(stage, device, dynamic) for stage in STAGES)
    return {Target("reference", device): OK, **dict(zip(targets, compiled, strict=False))}


def result(id: str, verdict: Verdict, outcomes: dict[Target, Outcome], **changes: object) -> Result:
    """Return one row."""
    fields: dict[str, object] = {
        "title": f"Title of {id}",
        "record": "issue",
        "symptom": Symptom.WRONG_RESULT,
        "expected": Expectation.AFFECTED,
    }
    return Result(id=id, verdict=verdict, outcomes=outcomes, **fields | changes)  # type: ignore[arg-type]


def contract(slug: str, verdict: Verdict, truth: Truth | None, outcomes: dict[Target, Outcome]) -> Result:
    """Return one row of a contract, whose record says `truth`."""
    statement = f"The {slug.replace('-', ' ')}."
    return result(f"contract-{slug}", verdict, outcomes, record="contract", statement=statement, truth=truth)


def claimed(outcomes: dict[Target, Outcome], *, against: str | None = None) -> dict[Target, Outcome]:
    """Return `outcomes` with what the reference says of the claim."""
    facts = {"claim": against is None} | ({"against": against} if against is not None else {})
    return outcomes | {Target("reference"): replace(OK, facts=facts)}


def check_report(*results: Result, **changes: object) -> CheckReport:
    """Return a report of `results` in the CPU environment."""
    fields: dict[str, object] = {"environment": environment(), "seconds": 12.5}
    return CheckReport(results=results, **fields | changes)  # type: ignore[arg-type]


def _mixed() -> CheckReport:
    inductor = Target("inductor")
    numerics = Outcome(did=Did.NUMERICS, differences=(Difference(what="numerics", leaf="result", note=True),))
    silent = Outcome(did=Did.MISSING_ERROR, reason="exception of the call: got no exception, want IndexError: 9")
    crash = Outcome(did=Did.CRASH, reason="died of SIGSEGV", error=("SIGSEGV", ""), stderr="Fatal Python error")
    hang = Outcome(did=Did.HANG, reason="no end within 60 s", seconds=60.0)
    return check_report(
        result("gh1", Verdict.REPRODUCES, ladder(OK, OK, OK, WRONG), workarounds={inductor: OK}),
        result("gh2", Verdict.CLEAR, ladder(OK, numerics, OK, OK), expected=Expectation.UNAFFECTED),
        result(
            "gh3",
            Verdict.REGRESSED,
            ladder(OK, WRONG, WRONG, WRONG),
            expected=Expectation.UNAFFECTED,
            workarounds={Target(s): WRONG for s in STAGES[1:]},
        ),
        result("gh4", Verdict.FIXED_EARLY, ladder(OK, OK, OK, OK)),
        result("gh5", Verdict.DIFFERENT, ladder(RAISES, RAISES, RAISES, RAISES)),
        result("gh6", Verdict.UNSUPPORTED, dict.fromkeys(ladder(OK, OK, OK, OK, device="cuda"), NO_CUDA)),
        result("gh7", Verdict.UNRESOLVED, ladder(OK, OK, OK, UNDECIDED)),
        result("gh8", Verdict.REPRODUCES, ladder(OK, OK, silent, silent), symptom=Symptom.MISSING_ERROR),
        result(
            "gh9",
            Verdict.REPRODUCES,
            ladder(OK, OK, crash, hang),
            symptom=Symptom.CRASH,
            workarounds={Target(STAGES[2]): OK, inductor: WRONG},
        ),
        contract("clone-owns-memory", Verdict.DIFFER, Truth.DIFFER, ladder(OK, OK, OK, WRONG)),
        broken=("repros/gh10_bad.py:3: not valid Python: invalid syntax",),
        warnings=("cache folder not usable (read-only); compiled cold in /tmp/x",),
    )


def _contracts() -> CheckReport:
    fine, wrong = ladder(OK, OK, OK, OK), ladder(OK, OK, OK, WRONG)
    told = "values of result at [1]: told 1.0, is 2.0"
    return check_report(
        contract("a-holds", Verdict.HOLDS, Truth.HOLDS, claimed(fine)),
        contract("b-does-not", Verdict.DOES_NOT_HOLD, Truth.DOES_NOT_HOLD, claimed(fine, against=told)),
        contract("c-differs", Verdict.DIFFER, Truth.DIFFER, claimed(wrong)),
        contract("d-new-truth", Verdict.DOES_NOT_HOLD, Truth.HOLDS, claimed(fine, against=told)),
        contract("e-same-now", Verdict.HOLDS, Truth.DIFFER, claimed(fine)),
        contract("f-differs-now", Verdict.DIFFER, Truth.HOLDS, claimed(wrong)),
        replace(contract("g-other", Verdict.DIFFER, Truth.DIFFER, claimed(wrong)), symptom=Symptom.CRASH),
        contract("h-unknown", Verdict.DIFFER, None, claimed(wrong)),
        contract("i-unsupported", Verdict.UNSUPPORTED, Truth.HOLDS, dict.fromkeys(fine, NO_CUDA)),
    )


def _two_devices() -> CheckReport:
    outcomes = {
        **ladder(OK, OK, OK, WRONG),
        **ladder(OK, OK, OK, OK, dynamic=True),
        **ladder(OK, WRONG, WRONG, WRONG, device="cuda"),
        **ladder(RAISES, device="cuda", dynamic=True),
    }
    works = {t: OK for t, o in outcomes.items() if o.did is Did.MISMATCH}
    return check_report(
        result("gh198094", Verdict.REPRODUCES, outcomes, workarounds=works),
        environment=environment(torch="2.13.0+cu126", devices=("cpu", "cuda"), cuda="12.6", triton="3.7.1"),
    )


def _hostile() -> CheckReport:
    outcome = Outcome(
        did=Did.CRASH,
        reason=HOSTILE,
        differences=(Difference(what="values", leaf=HOSTILE, got=HOSTILE, want=float("nan"), worst=float("inf")),),
        error=(HOSTILE, HOSTILE),
        stdout=HOSTILE,
        stderr=HOSTILE,
        seconds=float("nan"),
    )
    return check_report(
        result(
            "gh1", Verdict.DIFFERENT, ladder(OK, OK, OK, outcome), title=HOSTILE, workarounds={Target("eager"): outcome}
        ),
        result("gh2", Verdict.UNRESOLVED, ladder(Outcome(did=Did.UNRESOLVED, reason=HOSTILE)), title="An " * 400),
        broken=(HOSTILE,),
        warnings=(HOSTILE,),
    )


def _interrupted() -> CheckReport:
    not_run = Outcome(did=Did.UNRESOLVED, reason="not run: interrupted")
    return check_report(
        result("gh1", Verdict.CLEAR, ladder(OK, OK, OK, OK)),
        *(result(f"gh{i}", Verdict.UNRESOLVED, dict.fromkeys(ladder(OK, OK), not_run)) for i in (2, 3)),
        interrupted=True,
    )


REPORTS = {
    "none": check_report(),
    "clear": check_report(result("gh1", Verdict.CLEAR, ladder(OK, OK, OK, OK), title="Nothing wrong")),
    "mixed": _mixed(),
    "unsupported": check_report(
        *(result(f"gh{i}", Verdict.UNSUPPORTED, dict.fromkeys(ladder(OK, OK, device="cuda"), NO_CUDA)) for i in (1, 2))
    ),
    "interrupted": _interrupted(),
    "hostile": _hostile(),
    "two devices": _two_devices(),
    "contracts": _contracts(),
    "one target": check_report(
        result("gh1", Verdict.REPRODUCES, {Target("reference"): OK, Target("inductor"): WRONG}),
        result("gh2", Verdict.CLEAR, {Target("reference"): OK, Target("eager"): OK}),
        result("gh3", Verdict.UNRESOLVED, {}),
    ),
}


@pytest.fixture(autouse=True)
def _unicode_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilefix.report.table.unicode_output", lambda: True)


@pytest.fixture(scope="session")
def reports() -> dict[str, CheckReport]:
    """Return all canned reports by name."""
    return REPORTS


@pytest.fixture(scope="session")
def diagnoses() -> dict[str, Diagnosis]:
    """Return diagnoses by what is special about them, as real runs on torch 2.13.0 wrote them down."""
    raw = json.loads((Path(__file__).parent / "diagnoses.json").read_text(encoding="utf-8"))
    return {name: Diagnosis.from_json(one) for name, one in raw.items()}


SOURCE = """import torch
from packaging.version import Version

if Version(torch.__version__) < Version("2.14"):
    OLD = True


# https://github.com/pytorch/pytorch/issues/188213
@torch.compile
def step(x, row):
    return torch.select_scatter(x, row, 0, 2)
"""


@pytest.fixture(scope="session")
def upgrade_report(tmp_path_factory: pytest.TempPathFactory) -> UpgradeReport:
    """Return what the shipped measurements say of an upgrade, and of lines that it concerns."""
    path = tmp_path_factory.mktemp("theirs") / "model.py"
    path.write_text(SOURCE, encoding="utf-8")
    return compare_releases("2.9.1", "2.14.1", path)


@pytest.fixture(scope="session", params=REPORTS)
def report(request: pytest.FixtureRequest) -> CheckReport:
    """Return each canned report in turn."""
    return REPORTS[request.param]


@pytest.fixture(scope="session")
def row() -> Callable[..., CheckReport]:
    """Return a function that builds a report of one row from what each target did."""

    def build(verdict: Verdict, did: dict[str, str], workarounds: dict[str, str] | None = None) -> CheckReport:
        outcomes, helped = (
            {Target.parse(target): Outcome(did=Did(word), reason=word) for target, word in words.items()}
            for words in (did, workarounds or {})
        )
        return check_report(result("gh1", verdict, outcomes, workarounds=helped))

    return build


@pytest.fixture(scope="session")
def worded() -> Callable[[str], CheckReport]:
    """Return a function that puts one text wherever text of a program may stand."""

    def build(text: str) -> CheckReport:
        did = Outcome(
            did=Did.MISMATCH,
            reason=text,
            differences=(Difference(what="values", leaf=text, got=text, want=text),),
            error=(text, text),
            stdout=text,
            stderr=text,
        )
        undecided = Outcome(did=Did.UNRESOLVED, reason=text, stderr=text)
        unsupported = Outcome(did=Did.UNSUPPORTED, reason=text)
        return check_report(
            result(
                "gh1", Verdict.REGRESSED, ladder(OK, OK, OK, did), title=text, workarounds={Target("inductor"): did}
            ),
            result("gh2", Verdict.UNRESOLVED, ladder(OK, OK, unsupported, undecided), title=text),
            broken=(text,),
            warnings=(text,),
        )

    return build
