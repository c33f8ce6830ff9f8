"""The report to paste into an upstream issue: environment, matrix, evidence of every record that is not clear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compilefix.check import CheckReport
from compilefix.cure import Cure, Effect
from compilefix.issue import Truth
from compilefix.outcome import BACKENDS, Did, Difference, Outcome, Result, Verdict
from compilefix.report.interface import Ladder, because, block, cause, describe, ladders, price, summary
from compilefix.report.markdown import code, environment_rows, escape, fence, table

_MARKS = {Did.OK: "✔", Did.NUMERICS: "≈", Did.UNSUPPORTED: "–", Did.UNRESOLVED: "?"}
_TAIL = 20


def render(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    parts = [f"## compilefix check: torch {escape(report.environment.torch)}", *_notices(report)]
    environment = environment_rows(report.environment, report.seed)
    parts += [table(("environment", ""), environment, bold_first=True), escape(summary(report))]
    if report.results:
        backends = _backends(report.results)
        header = ("record", "title", "on", *backends, "workaround", "verdict")
        parts.append(table(header, (row for r in report.results for row in _rows(r, backends))))
    if report.broken:
        parts += ["### Records that could not be read", fence("\n".join(block(b) for b in report.broken))]
    if report.cures:
        parts.append("## Workarounds, put to the proof")
        head = ("id", "kind", "does", "on", "effect", "price, or what went wrong")
        parts.append(table(head, (_cure(cure) for cure in report.cures)))
    for result in report.results:
        if result.contradicts or result.verdict not in (Verdict.CLEAR, Verdict.HOLDS):
            parts += _section(result)
    return "\n\n".join(parts) + "\n"


def _cure(cure: Cure) -> tuple[str, ...]:
    helps = cure.effect in (Effect.CURES, Effect.NOT_NEEDED)
    told = price(cure) if helps else f"{cure.outcome.did.value}{_after(cause(cure.outcome))}"
    return tuple(map(escape, (cure.id, cure.kind, cure.what, cure.target, cure.effect.value, told)))


def _notices(report: CheckReport) -> Iterator[str]:
    if report.interrupted:
        yield "> **Interrupted**: the check ended early; what was not run is `unresolved`."
    for warning in report.warnings:
        yield f"> Warning: {escape(warning)}"


def _backends(results: Iterable[Result]) -> tuple[str, ...]:
    present = {target.backend for result in results for target in result.outcomes}
    return tuple(b for b in BACKENDS if b in present)


def _rows(result: Result, backends: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    verdict = result.verdict.value
    names = (escape(result.id), escape(result.label))
    found = ladders(result)
    if not found:
        yield (*names, "", *("" for _ in backends), "", verdict)
    for ladder in found:
        cells = (_cell(ladder, backend) for backend in backends)
        yield (*names, ladder.label, *cells, ladder.help.value, verdict)
        names, verdict = (escape(result.id), ""), ""


def _cell(ladder: Ladder, backend: str) -> str:
    if backend not in ladder.outcomes:
        return "not run"
    did = ladder.outcomes[backend].did
    text = f"{_MARKS.get(did, '✘')} {did.value}"
    return f"**{text}**" if backend == ladder.first_bad else text


def _section(result: Result) -> Iterator[str]:
    yield f"### {escape(result.id)}: {escape(result.title)}"
    if result.record == "contract":
        symptom = f", as {result.symptom.value}" if result.truth is Truth.DIFFER else ""
        recorded = f"the record says of this torch: {result.truth.value if result.truth else 'unknown'}{symptom}"
        facts = [f"- told: {escape(result.label)}", f"- verdict: **{result.verdict.value}** ({recorded})"]
    else:
        recorded = f"recorded symptom {result.symptom.value}; the record says of this torch: {result.expected.value}"
        facts = [f"- verdict: **{result.verdict.value}** ({recorded})"]
    if result.verdict not in (Verdict.REPRODUCES, Verdict.UNRESOLVED):
        facts.append(f"- {escape(because(result))}")
    facts.append(f"- to run it again: {code(f'compilefix check {result.id}')}")
    yield "\n".join(facts)
    for ladder in ladders(result):
        for backend, outcome in ladder.outcomes.items():
            if backend == ladder.first_bad or outcome.did is Did.UNRESOLVED:
                yield from _evidence(ladder, backend, outcome)
        if lines := _rest(ladder):
            yield "\n".join(lines)


def _evidence(ladder: Ladder, backend: str, outcome: Outcome) -> Iterator[str]:
    first = " (first that goes wrong)" if backend == ladder.first_bad else ""
    yield f"**{escape(ladder.target(backend))}: {outcome.did.value}**{first}"
    defects = outcome.defects
    if defects:
        shown = [defects[0]]
        worst = max(defects, key=_size)
        if worst is not defects[0]:
            shown.append(worst)
        lines = [f"- {code(describe(d))}" for d in shown]
        more = len(defects) - len(shown)
        yield "\n".join([*lines, *([f"- and {more} more"] if more else [])])
    elif text := cause(outcome):
        yield fence(text)
    if outcome.error is not None:
        yield fence(block(": ".join(part for part in outcome.error if part)))
    if outcome.did in (Did.CRASH, Did.UNRESOLVED) and outcome.stderr.strip():
        tail = "\n".join(block(outcome.stderr).splitlines()[-_TAIL:])
        yield f"End of its stderr:\n\n{fence(tail)}"


def _size(difference: Difference) -> float:
    try:
        return float(difference.worst or 0)
    except ValueError:
        return 0.0


def _rest(ladder: Ladder) -> list[str]:
    said: dict[str, list[str]] = {}
    first = ladder.outcomes[ladder.first_bad] if ladder.first_bad else None
    for backend, outcome in ladder.outcomes.items():
        if backend == ladder.first_bad or outcome.did in (Did.OK, Did.NUMERICS, Did.UNRESOLVED):
            continue
        same = first is not None and (outcome.did, cause(outcome)) == (first.did, cause(first))
        text = "the same" if same else f"{outcome.did.value}{_after(cause(outcome))}"
        said.setdefault(text, []).append(code(ladder.target(backend)))
    for backend, outcome in ladder.workarounds.items():
        text = f"workaround {outcome.did.value}{_after(cause(outcome))}"
        said.setdefault(text, []).append(code(ladder.target(backend)))
    if first is not None and not ladder.workarounds:
        said["no workaround was run"] = [code(ladder.label)]
    return [f"- {text} on {', '.join(targets)}" for text, targets in said.items()]


def _after(text: str) -> str:
    return f" ({code(text)})" if text else ""
