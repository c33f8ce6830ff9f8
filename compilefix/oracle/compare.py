"""Hold a compiled run against the reference: all differences, in the order in which a person would look."""

from __future__ import annotations

import cmath
import math
import re

from compilefix.issue import Symptom
from compilefix.oracle.observation import Leaf, Node, Observation, Opaque, Raised, TensorLeaf
from compilefix.oracle.tensors import compare_tensors
from compilefix.outcome import Difference
from compilefix.text import first_line, normalise

COMPILER_ERRORS = frozenset(
    {"InternalTorchDynamoError", "BackendCompilerFailed", "InductorError", "LoweringException", "Unsupported"}
)
"""Exceptions that say that the compiler failed, not the program."""

WRAPPERS = COMPILER_ERRORS | {"TorchRuntimeError", "UserError"}
"""Exceptions in which the compiler hands on the program's own."""


def compare(
    got: Observation, want: Observation, precise: Observation | None = None, *, strict: tuple[str, ...] = ()
) -> tuple[Difference, ...]:
    """
    Return every difference of the compiled run `got` from the reference run `want`.

    `precise` is the reference in float64, where the inputs allowed one. `strict` names comparisons that are a
    contract: ``strides``, ``rng``, ``bitwise``; elsewhere strides and random state are notes.
    """
    if got.raised is not None or want.raised is not None:
        return _exceptions(got.raised, want.raised) + _before(got, want, strict)
    found: list[Difference] = []
    for path, expected in want.leaves.items():
        if path not in got.leaves:
            found.append(_plain("structure", path, "missing", _show(expected)))
            continue
        other = precise.leaves.get(path) if precise is not None else None
        found += _leaf(path, got.leaves[path], expected, other, strict)
    found += [
        _plain("structure", path, _show(leaf), "missing")
        for path, leaf in got.leaves.items()
        if path not in want.leaves
    ]
    for a, b in sorted(got.overlaps ^ want.overlaps):
        shared, free = "share memory", "separate"
        pair = (shared, free) if (a, b) in got.overlaps else (free, shared)
        found.append(
            Difference(what="alias", leaf=f"{a} and {b}", got=pair[0], want=pair[1], symptom=Symptom.WRONG_ALIAS)
        )
    if got.rng != want.rng:
        found.append(
            Difference(what="rng", leaf="random state", got="differs", want="the reference's", note="rng" not in strict)
        )
    return tuple(found)


def _exceptions(got: Raised | None, want: Raised | None) -> tuple[Difference, ...]:
    if got is None or want is None:
        symptom = Symptom.ERROR if got is not None else Symptom.MISSING_ERROR
        side = got or want
        assert side is not None
        return (Difference(what="exception", leaf=side.where, got=_name(got), want=_name(want), symptom=symptom),)
    first = (normalise(want.message).splitlines() or [""])[0]
    told = first in normalise(got.message) if first else got.message == ""
    if told and (got.type == want.type or (got.type in WRAPPERS and len(first) > 8)):
        return ()
    named = want.type in got.chain if got.type not in COMPILER_ERRORS else f"{want.type}:" in got.message
    same = got.type == want.type or named
    return (
        Difference(
            what="exception", leaf=got.where, got=_name(got), want=_name(want), note=same, symptom=Symptom.ERROR
        ),
    )


def _before(got: Observation, want: Observation, strict: tuple[str, ...]) -> tuple[Difference, ...]:
    """Compare what both runs had returned before one of them raised."""
    both = [path for path in want.leaves if path in got.leaves]
    ends = [path for path in both if "raised" in (got.leaves[path], want.leaves[path])]
    return tuple(
        difference
        for path in both
        if path not in ends
        for difference in _leaf(path, got.leaves[path], want.leaves[path], None, strict)
    )


def _leaf(path: str, got: Leaf, want: Leaf, precise: Leaf, strict: tuple[str, ...]) -> list[Difference]:
    symptom, what = _symptom(path)
    if isinstance(got, TensorLeaf) and isinstance(want, TensorLeaf):
        judge = precise.value if isinstance(precise, TensorLeaf) else None
        return compare_tensors(path, got, want, symptom=symptom, what=what, precise=judge, strict=strict)
    other = isinstance(got, Opaque) and isinstance(want, Opaque) and got.type != want.type
    if type(got) is not type(want) or other:
        return [_plain("structure", path, _show(got), _show(want))]
    if isinstance(got, Node) and isinstance(want, Node):
        return _nodes(path, got, want)
    if isinstance(got, float | complex) and isinstance(want, float | complex):
        same, excused = _numbers(got, want, precise, exact="bitwise" in strict)
        return [] if same else [_plain("numerics" if excused else what, path, _show(got), _show(want), note=excused)]
    return [] if got == want else [_plain(what, path, _show(got), _show(want))]


def _nodes(path: str, got: Node, want: Node) -> list[Difference]:
    if (got.type, got.size) != (want.type, want.size):
        return [_plain("structure", path, _show(got), _show(want))]
    if got.keys != want.keys and set(got.keys) == set(want.keys):  # else the missing keys have lines of their own
        return [_plain("structure", path, f"order {', '.join(got.keys)}", f"order {', '.join(want.keys)}")]
    return []


def _numbers(got: complex, want: complex, precise: Leaf, *, exact: bool) -> tuple[bool, bool]:
    """Tell whether two Python numbers of one type are the same, and if not, whether float64 excuses that."""
    if repr(got) == repr(want):
        return True, False
    if exact or not (cmath.isfinite(got) and cmath.isfinite(want)):
        return got == want and not exact, False
    off = abs(got - want)
    same = off <= 1e-12 * max(abs(got), abs(want))
    excused = isinstance(precise, float | complex) and abs(got - precise) <= 2 * abs(want - precise)
    return same, excused and not same


def _symptom(path: str) -> tuple[Symptom, str]:
    if path.startswith("grad of ") or re.search(r"(\['|\.)grad", path):
        return Symptom.WRONG_GRADIENT, "gradient"
    if path.startswith(("input", "global ")):
        return Symptom.WRONG_ALIAS, "mutation"
    return Symptom.WRONG_RESULT, "values"


def _plain(what: str, path: str, got: object, want: object, *, note: bool = False) -> Difference:
    return Difference(what=what, leaf=path, got=got, want=want, note=note, symptom=_symptom(path)[0])


def _show(leaf: Leaf) -> str | int | float | bool | None:
    match leaf:
        case TensorLeaf():
            dtype = str(leaf.value.dtype).removeprefix("torch.")
            return f"tensor {dtype}{list(leaf.value.shape)}"
        case Node():
            return f"{leaf.type} of {leaf.size}"
        case Opaque():
            return leaf.text or leaf.type
        case complex():
            return str(leaf)
        case float() if not math.isfinite(leaf):
            return str(leaf)  # JSON has no word for these
        case _:
            return leaf


def _name(error: Raised | None) -> str:
    if error is None:
        return "no exception"
    return f"{error.type}: {first_line(error.message)}".removesuffix(": ")
