"""What deciding a gate leaves dead, and whether the code may be changed for it."""

from __future__ import annotations

import ast

from compilefix.scan.gates import Gate
from compilefix.scan.knowledge import Knowledge

_HARMLESS = frozenset({"hasattr", "getattr", "isinstance", "len", "is_available", "is_compiling"})


def decided(gate: Gate) -> bool | None:
    """Return the truth of the whole test that `gate` decides; None where it does not."""
    verdict = gate.judgement.verdict
    if verdict not in ("dead-true", "dead-false"):
        return None
    return (verdict == "dead-true") is not gate.negated


def dead_lines(gate: Gate) -> tuple[int, int] | None:
    """Return first and last line of the branch that never runs; None where there is none."""
    test = decided(gate)
    node = gate.decides
    if test is None or not isinstance(node, ast.If | ast.While):
        return None
    body = node.orelse if test else node.body
    if not body or (isinstance(node, ast.While) and test):
        return None
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def edit_of(gate: Gate, known: Knowledge) -> str | None:
    """Return in words what ``--fix`` does about a dead gate; None where nothing is done."""
    judged = gate.judgement
    if judged.defect or not judged.certain or (judged.beyond and not known.bounded):
        return None
    if known.minimum is None or gate.kind in ("try-import", "match", "requirement") or gate.holder is None:
        return None
    if any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(gate.holder.test)):
        return None
    whole = _simplified(gate)
    if whole is None:
        return "take the gate out of the test" if _removable(gate) else None
    return _branch(gate.holder, whole)


def _simplified(gate: Gate) -> bool | None:
    """Return the truth of the test in which the gate stands, where the gate settles it alone."""
    if gate.decides is not None:
        return decided(gate)
    value = gate.judgement.verdict == "dead-true"
    for parent, child in gate.above:
        if isinstance(parent, ast.UnaryOp):
            value = not value
        elif isinstance(parent, ast.BoolOp):
            if value is isinstance(parent.op, ast.And):
                return None  # the others decide
            if any(not _harmless(v) for v in parent.values[: parent.values.index(child)]):  # type: ignore[arg-type]
                return None
    return value


def _removable(gate: Gate) -> bool:
    """Tell whether the gate is a neutral part of ``and`` or ``or``."""
    value = gate.judgement.verdict == "dead-true"
    for parent, _ in gate.above:
        if isinstance(parent, ast.UnaryOp):
            value = not value
        elif isinstance(parent, ast.BoolOp):
            return value is isinstance(parent.op, ast.And)
    return False


def _harmless(node: ast.expr) -> bool:
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return all((n.func.id if isinstance(n.func, ast.Name) else getattr(n.func, "attr", "")) in _HARMLESS for n in calls)


def _branch(node: ast.If | ast.While | ast.Assert | ast.IfExp, test: bool) -> str | None:
    match node:
        case ast.Assert():
            return "remove the assert" if test else None
        case ast.IfExp():
            return f"keep the value {'before' if test else 'after'} the test"
        case ast.While():
            return None if test or node.orelse else "remove the loop"
    dead, kept = (node.orelse, node.body) if test else (node.body, node.orelse)
    if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal) for s in dead for n in ast.walk(s)):
        return None
    if not kept:
        return "remove the statement"
    return "keep the branch that runs" if dead else "take away the test"
