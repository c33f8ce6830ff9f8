"""
The report for CI servers: JUnit XML, one suite a target, one case a record.

JUnit knows passed, failed, in error and skipped. This is how verdicts are told in these words:

- A defect that reproduces as recorded is a *passed* case with the property ``known=reproduces``, like an expected
  failure of LLVM's lit: nothing changed, so nothing should turn a build red. A contract from which compiled code
  strays as recorded is one with ``known=eager and compiled differ``.
- ``regressed`` and ``different`` fail on every target that misbehaves.
- ``fixed-early`` fails on the last compiled target that came out right: only there is the claim refuted.
- A contract whose record says otherwise fails on every target that misbehaves; where none does, on the last one that
  came out right if compiled code was to differ, and else on the reference, which is what grants or refutes a claim.
- ``unresolved`` is an error, ``unsupported`` is skipped; both carry the reason.
- Records that cannot be read are errors of the suite ``records``.
- A target that was not run has no case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as ET

from compilefix.check import CheckReport
from compilefix.cure import Cure
from compilefix.issue import Truth
from compilefix.outcome import OF_CONTRACTS, PRESENT, REFERENCE, Did, Outcome, Result, Target, Verdict
from compilefix.report.interface import because, cause, describe, one_line
from compilefix.text import strip_ansi

RECORDS = "records"
"""Suite of what belongs to no target."""

_FORBIDDEN = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STATES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def render(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return the report as JUnit XML in plain ASCII, other characters as references."""
    suites: dict[str, ET.Element] = {}
    for result in report.results:
        judged = _judged(result)
        for target, outcome in result.outcomes.items():
            suite = suites.setdefault(str(target), _suite(str(target), report))
            cures = [c for c in report.cures if (c.id, c.target) == (result.id, target)]
            suite.append(_case(result, target, outcome, judged.get(target), cures))
        fine = result.verdict in (Verdict.CLEAR, *OF_CONTRACTS) and not result.contradicts
        if not result.outcomes and not fine:
            state = "failure" if result.contradicts else "error"
            case = _record_case(suites, report, result.id)
            _note(case, state, result.verdict.value, "no target was run", result.label)
    for line in report.broken:
        case = _record_case(suites, report, line.partition(": ")[0])
        _note(case, "error", "record", line, line)
    root = ET.Element("testsuites", name="compilefix")
    ordered = sorted(suites.items(), key=lambda item: _order(item[0]))
    root.extend(suite for _, suite in ordered)
    for element in (*suites.values(), root):
        _count(element)
    ET.indent(root)
    body = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _order(name: str) -> tuple[int, str, bool]:
    if name == RECORDS:
        return (99, "", False)
    target = Target.parse(name)
    return (target.rank, target.device, target.dynamic)


def _judged(result: Result) -> dict[Target, tuple[str, str, str]]:
    """Return the targets on which the verdict shows, each with element name, type and message."""
    verdict, compiled = result.verdict, [t for t in result.outcomes if t.backend != REFERENCE]
    bad = [t for t in compiled if result.outcomes[t].did.bad]
    shown: list[Target] = []
    if result.contradicts:
        right = [t for t in compiled if result.outcomes[t].did.good]
        last = sorted(right or compiled or result.outcomes, key=lambda t: (t.rank, t.device, t.dynamic))[-1:]
        shown = last if verdict is Verdict.FIXED_EARLY else bad or last
        if verdict is Verdict.FIXED_EARLY:
            shown = list(dict.fromkeys([*shown, *bad]))
        if verdict in (Verdict.HOLDS, Verdict.DOES_NOT_HOLD) and result.truth is not Truth.DIFFER:
            shown = [t for t in result.outcomes if t.backend == REFERENCE] or last
        return {t: ("failure", verdict.value, because(result)) for t in shown}
    if verdict not in PRESENT:
        return {t: ("error", verdict.value, f"not judged: {because(result)}") for t in bad}
    return {}


def _case(
    result: Result,
    target: Target,
    outcome: Outcome,
    judged: tuple[str, str, str] | None,
    cures: Sequence[Cure],
) -> ET.Element:
    case = ET.Element(
        "testcase", classname=f"compilefix.{target}", name=_legal(result.id), time=_seconds([outcome.seconds])
    )
    known = outcome.did.bad and result.verdict in PRESENT and not result.contradicts
    properties = {"outcome": outcome.did.value, "verdict": result.verdict.value, "symptom": result.symptom.value}
    if result.statement is not None:
        properties["statement"] = result.statement
        properties["recorded"] = result.truth.value if result.truth is not None else "unknown"
    if known:
        properties["known"] = result.verdict.value
    if target in result.workarounds:
        properties["workaround"] = result.workarounds[target].did.value
    for cure in cures:
        properties[f"workaround {cure.kind}"] = cure.effect.value
    _properties(case, properties)
    if judged is not None:
        _note(case, *judged, _details(result, outcome))
    elif outcome.did is Did.UNRESOLVED:
        _note(case, "error", outcome.did.value, cause(outcome) or "no reason given", _details(result, outcome))
    elif outcome.did is Did.UNSUPPORTED:
        _note(case, "skipped", outcome.did.value, cause(outcome) or "no reason given", "")
    for tag, text in (("system-out", outcome.stdout), ("system-err", outcome.stderr)):
        if text:
            ET.SubElement(case, tag).text = _legal(text)
    return case


def _record_case(suites: dict[str, ET.Element], report: CheckReport, name: str) -> ET.Element:
    suite = suites.setdefault(RECORDS, _suite(RECORDS, report))
    return ET.SubElement(
        suite, "testcase", classname=f"compilefix.{RECORDS}", name=_legal(name) or "unnamed", time="0.000"
    )


def _details(result: Result, outcome: Outcome) -> str:
    lines = [result.label, *map(describe, outcome.defects)]
    if outcome.error is not None:
        lines.append(f"{outcome.error[0]}: {outcome.error[1]}")
    return "\n".join(lines)


def _note(case: ET.Element, tag: str, type: str, message: str, text: str) -> None:
    element = ET.SubElement(case, tag, type=type, message=_legal(one_line(message, 300)))
    element.text = _legal(text) or None


def _suite(name: str, report: CheckReport) -> ET.Element:
    suite = ET.Element("testsuite", name=name)
    environment = report.environment
    facts = {
        "torch": environment.torch,
        "torch_git": environment.torch_git,
        "python": environment.python,
        "platform": f"{environment.system} {environment.machine}",
        "isa": environment.isa,
        "cxx": environment.cxx,
        "triton": environment.triton,
        "cuda": environment.cuda,
        "seed": str(report.seed),
        "interrupted": "true" if report.interrupted else None,
    }
    _properties(suite, {key: value for key, value in facts.items() if value})
    return suite


def _properties(parent: ET.Element, values: Mapping[str, str | None]) -> None:
    holder = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(holder, "property", name=name, value=_legal(value or ""))


def _count(element: ET.Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for tag, attribute in _STATES.items():
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", _seconds(float(case.get("time", "0")) for case in cases))


def _seconds(values: Iterable[float | None]) -> str:
    return f"{sum(v for v in values if isinstance(v, int | float) and math.isfinite(v)):.3f}"


def _legal(text: str) -> str:
    """Return `text` without what XML 1.0 forbids or discourages; CI servers refuse a file for one such character."""
    return _FORBIDDEN.sub("", strip_ansi(text).replace("\r\n", "\n"))
