"""Hold a compiled run against the reference: all differences, in the order in which a person would look."""

from __future__ import annotations

import re

from compilefix.issue import Symptom
from compilefix.oracle.observation import Leaf, Node, Observation, Opaque, Raised, TensorLeaf
from compilefix.oracle.tensors import compare_tensors
from compilefix.outcome import Difference
from compilefix.text import first_line

COMPILER_ERRORS = frozenset(
    {"InternalTorchDynamoError", "BackendCompilerFailed", "InductorError", "LoweringException", "Unsupported"}
)
"""Exceptions that say that the compiler failed, not the program."""


def compare(
    got: Observation, want: Observation, precise: Observation | None = None, *, strict: tuple[str, ...] = ()
) -> tuple[Difference, ...]:
    """
    Return every difference of the compiled run `got` from the reference run `want`.

    `precise` is the reference in float64, where the inputs allowed one. `strict` names comparisons that are a
    contract: ``strides``, ``rng``, ``bitwise``; elsewhere strides and random state are notes.
    """
    if got.raised is not None or want.raised is not None:
        return _exceptions(got.raised, want.raised)
    found: list[Difference] = []
    for path, expected in want.leaves.items():
        if path not in got.leaves:
            found.append(_plain("structure", path, "missing", _show(expected)))
            continue
        other = precise.leaves.get(path) if precise is not None else None
        found += _leaf(path, got.leaves[path], expected, other, strict)
    found += [
        _plain("structure", path, _show(leaf), "missing") for path, leaf in got.leaves.items() if path not in want.leaves
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
    first = normalise(want.message).splitlines()[:1]
    if want.message and first and first[0] in normalise(got.message) and (got.type == want.type or len(first[0]) > 8):
        return ()
    named = want.type in got.chain if got.type not in COMPILER_ERRORS else f"{want.type}:" in got.message
    same = got.type == want.type or named
    return (
        Difference(
            what="exception", leaf=got.where, got=_name(got), want=_name(want), note=same, symptom=Symptom.ERROR
        ),
    )


def normalise(message: str) -> str:
    """Strip what differs from run to run: addresses, paths, line numbers, generated names."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", message)
    message = re.sub(r"0x[0-9a-fA-F]+", "0x…", message)
    message = re.sub(r"(/[\w.+-]+)+/([\w.+-]+)", r"\2", message)
    message = re.sub(r"\bline \d+", "line N", message)
    message = re.sub(r"\bc[a-z0-9]{50,}\b", "<hash>", message)
    return message.strip()


def _leaf(path: str, got: Leaf, want: Leaf, precise: Leaf, strict: tuple[str, ...]) -> list[Difference]:
    symptom, what = _symptom(path)
    if isinstance(got, TensorLeaf) and isinstance(want, TensorLeaf):
        judge = precise.value if isinstance(precise, TensorLeaf) else None
        return compare_tensors(path, got, want, symptom=symptom, what=what, precise=judge, strict=strict)
    if type(got) is not type(want):
        return [_plain("structure", path, _show(got), _show(want))]
    if isinstance(got, float) and isinstance(want, float):
        same = got == want or (got != got and want != want) or abs(got - want) <= 1e-12 * max(abs(got), abs(want))
        excused = isinstance(precise, float) and not same and abs(got - precise) <= 2 * abs(want - precise)
        if same:
            return []
        return [_plain("numerics" if excused else what, path, got, want, note=excused)]
    return [] if got == want else [_plain("structure" if isinstance(got, Node) else what, path, _show(got), _show(want))]


def _symptom(path: str) -> tuple[Symptom, str]:
    if path.startswith("grad of ") or re.search(r"(\['|\.)grad", path):
        return Symptom.WRONG_GRADIENT, "gradient"
    if path.startswith("input"):
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
            return leaf.type
        case complex():
            return str(leaf)
        case _:
            return leaf


def _name(error: Raised | None) -> str:
    if error is None:
        return "no exception"
    return f"{error.type}: {first_line(error.message)}".removesuffix(": ")
