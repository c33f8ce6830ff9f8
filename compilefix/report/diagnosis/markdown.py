"""The diagnosis as an issue that can be filed upstream."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.cure import Effect
from compilefix.diagnosis.result import Conclusion, Diagnosis
from compilefix.report.diagnosis._price import paid
from compilefix.report.interface import block, cause, describe
from compilefix.report.markdown import code, environment_rows, escape, fence, table

MOST_STEPS = 60


def render(diagnosis: Diagnosis, *, width: int | None, color: bool) -> str:
    """Return title, program, expected and actual, culprit, workarounds, what was tried, environment."""
    return "\n\n".join(_parts(diagnosis)) + "\n"


def _parts(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"# {escape(_title(diagnosis))}"
    if diagnosis.interrupted or diagnosis.out_of_time:
        yield "> **Not complete**: " + ("interrupted." if diagnosis.interrupted else "the time that was set ran out.")
    if diagnosis.conclusion is not Conclusion.DEFECT:
        yield escape(diagnosis.reason or "Compiled and plain code agree.")
    else:
        yield from _defect(diagnosis)
    yield "## Stages"
    yield table(
        ("target", "outcome", "why"),
        ((escape(t), escape(o.did.value), escape(cause(o))) for t, o in diagnosis.ladder.items()),
    )
    if diagnosis.steps:
        yield f"## What was tried ({len(diagnosis.steps)} runs, each in a process of its own)"
        rows = [(escape(s.phase), escape(s.what), escape(s.did.value)) for s in diagnosis.steps[:MOST_STEPS]]
        yield table(("phase", "run", "outcome"), rows)
        if len(diagnosis.steps) > MOST_STEPS:
            yield f"and {len(diagnosis.steps) - MOST_STEPS} more."
    yield "## Environment"
    yield table(("what", "value"), environment_rows(diagnosis.environment, diagnosis.seed))
    for warning in diagnosis.warnings:
        yield f"> {escape(warning)}"


def _title(diagnosis: Diagnosis) -> str:
    if diagnosis.conclusion is not Conclusion.DEFECT:
        return f"{diagnosis.subject}: {diagnosis.conclusion.value}"
    culprit = diagnosis.culprit
    where = f" in {culprit.triple}" if culprit else ""
    symptom = diagnosis.symptom.value if diagnosis.symptom else "defect"
    return f"torch.compile: {symptom}{where}"


def _defect(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.minimal is not None:
        yield "## Program"
        yield fence(diagnosis.minimal.source.strip(), "python")
    outcome = diagnosis.outcome
    yield "## Expected and actual"
    defects = outcome.defects if outcome else ()
    told = "\n".join(f"- {escape(describe(d))}" for d in defects[:8]) or escape(diagnosis.reason or "")
    yield f"Expected: what the plain program does. Actual, on {code(diagnosis.target)}:\n\n{told}"
    if outcome is not None and outcome.error is not None:
        yield fence(block("\n".join(part for part in outcome.error if part)))
    yield "## Culprit"
    for culprit in diagnosis.culprits:
        lines = [f"- {code(culprit.triple)}: {escape(culprit.how)}"]
        lines += [f"  - at {code(', '.join(culprit.sites[:6]))}"] if culprit.sites else []
        lines += [f"  - from {code(culprit.place)}"] if culprit.place else []
        yield "\n".join(lines)
    if diagnosis.matches:
        yield "## Known issues\n\n" + "\n".join(
            f"- {m.likeness.value} **{escape(m.id)}** ({escape(m.why)}): {escape(m.title)}" for m in diagnosis.matches
        )
    elif diagnosis.matched:
        yield "## Known issues\n\nNone is like this one."
    if diagnosis.trials:
        yield "## Workarounds tried"
        yield table(
            ("does", "effect", "price"),
            (
                (
                    escape(t.cure.what),
                    escape(t.cure.effect.value),
                    escape(paid(t.cure)) if t.cure.effect is Effect.CURES else "",
                )
                for t in (*diagnosis.cures, *(t for t in diagnosis.trials if t.cure.effect is not Effect.CURES))
            ),
        )
        if diagnosis.recommended is not None:
            yield "The first one:\n\n" + fence(diagnosis.recommended.code, "python")
    if diagnosis.minimal is not None and diagnosis.minimal.good is not None:
        yield "<details><summary>The last neighbour that comes out right</summary>"
        yield fence(diagnosis.minimal.good.strip(), "python")
        yield "</details>"
