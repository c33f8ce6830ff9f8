"""One comparison of the scanned program: its answer, and what is noteworthy about how it was made."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from compilefix.scan.releases import Build
from compilefix.scan.values import UNKNOWN, Dotted, Function, Loose, Raised, TorchText

OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_NAMES = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Event:
    """Something noteworthy in the evaluation of a gate."""

    what: str
    """
    ``text``, ``texts`` (comparison of plain text, of its pieces), ``bound`` (a version comparison; `detail` is operator
    and bound), ``member``, ``length``, ``minor``, ``slice``, ``character``, ``float``, ``regex``, ``digits``, …
    """

    detail: str = ""


def compare(op: ast.cmpop, left: Any, right: Any, build: Build, events: set[Event]) -> Any:
    """Return what ``left op right`` is; raise `Raised` where the program would."""
    if isinstance(op, ast.Is | ast.IsNot):
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        if isinstance(left, Dotted) and isinstance(right, Dotted):
            return (left == right) is isinstance(op, ast.Is)
        return OPERATORS[type(op)](left, right)
    if _opaque(left) or _opaque(right):
        return UNKNOWN
    try:
        answer = OPERATORS[type(op)](left, right)
    except Exception as error:
        raise Raised(error) from None
    _note(op, left, right, build, events)
    return answer


def _opaque(value: Any) -> bool:
    if value is UNKNOWN or isinstance(value, Dotted | Function):
        return True
    return isinstance(value, tuple | list) and any(_opaque(v) for v in value)


def _note(op: ast.cmpop, left: Any, right: Any, build: Build, events: set[Event]) -> None:
    name = _NAMES.get(type(op), "")
    if isinstance(op, ast.In | ast.NotIn) and isinstance(right, tuple | list | set | frozenset | dict):
        short = any(isinstance(v, str) and v.count(".") < 2 for v in right)
        if isinstance(left, TorchText | Version):
            events.add(Event("member", "short" if short else ""))
        return
    if not name:
        return
    ordered = name in ("<", "<=", ">", ">=")
    for have, want, sign in ((left, right, name), (right, left, _MIRRORED[name])):
        if type(have) is str and type(want) is str and ordered and _numeric(have) and _numeric(want):
            events.add(Event("text"))
        elif _texts(have) and _texts(want) and ordered:
            events.add(Event("texts", type(have).__name__))
        elif isinstance(have, TorchText) and isinstance(want, str) and name == "!=":
            events.add(Event("unequal"))
        elif isinstance(have, TorchText) and isinstance(want, str | tuple | list):
            text = want if isinstance(want, str) else ".".join(str(v) for v in want)
            events.add(Event("bound", f"{sign} {text}"))
        elif isinstance(have, Version | Loose) and isinstance(want, Version) and _is(have, build):
            events.add(Event("bound", f"{sign} {want}"))
        elif _ints(have) and _ints(want) and len(have) != len(want) and _prefix(have, build) > _prefix(want, build):
            harmless = len(have) > len(want) and sign in ("<", ">=")
            events.add(Event("length", "shorter" if len(have) < len(want) else "longer")) if not harmless else None
        elif type(have) is int and type(want) is int:
            if have == build.base.minor:
                events.add(Event("minor"))
            if name == "==" and have == build.base.major:
                events.add(Event("major"))
        elif isinstance(have, float) and isinstance(want, float | int):
            events.add(Event("float"))


def _is(have: Any, build: Build) -> bool:
    return not isinstance(have, Version) or have.release[:3] == build.base.release


def _numeric(text: str) -> bool:
    return text[:1].isdigit() and (len(text) > 1 or not text)


def _texts(value: Any) -> bool:
    return isinstance(value, tuple | list) and bool(value) and all(isinstance(v, str) for v in value)


def _ints(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) > 1 and all(type(v) is int for v in value)


def _prefix(value: Any, build: Build) -> bool:
    return tuple(value[:3]) == build.base.release[: len(value)]
