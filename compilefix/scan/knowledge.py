"""What the records say, in the form that the scan of a file needs: small, and the same for all files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from packaging.version import Version

from compilefix.issue import Affected, Contract, Expectation
from compilefix.registry import Record
from compilefix.scan.releases import RELEASES

GENERIC = frozenset(
    (
        "abs",
        "add",
        "all",
        "amp.autocast",
        "arange",
        "as_tensor",
        "autograd.Function",
        "autograd.grad",
        "bmm",
        "cat",
        "clamp",
        "clone",
        "compiler.nested_compile_region",
        "cos",
        "cumsum",
        "empty",
        "empty_like",
        "eq",
        "exp",
        "eye",
        "flatten",
        "flip",
        "from_numpy",
        "full",
        "func.grad",
        "func.jacfwd",
        "func.vjp",
        "ge",
        "gt",
        "le",
        "library.custom_op",
        "lt",
        "matmul",
        "max",
        "mean",
        "min",
        "mm",
        "mul",
        "ne",
        "neg",
        "nn.BatchNorm1d",
        "nn.functional.dropout",
        "nn.functional.relu",
        "nn.Linear",
        "nn.Module",
        "nn.Module.register_forward_hook",
        "no_grad",
        "ones",
        "ones_like",
        "permute",
        "pow",
        "rand",
        "rand_like",
        "randn",
        "randn_like",
        "relu",
        "reshape",
        "set_default_dtype",
        "sigmoid",
        "sin",
        "sort",
        "split",
        "sqrt",
        "squeeze",
        "stack",
        "sub",
        "sum",
        "tanh",
        "Tensor",
        "tensor",
        "Tensor.__getitem__",
        "Tensor.add",
        "Tensor.add_",
        "Tensor.backward",
        "Tensor.clamp_",
        "Tensor.clone",
        "Tensor.copy_",
        "Tensor.detach",
        "Tensor.expand",
        "Tensor.fill_",
        "Tensor.float",
        "Tensor.item",
        "Tensor.mT",
        "Tensor.mul_",
        "Tensor.register_hook",
        "Tensor.to",
        "Tensor.view",
        "transpose",
        "unsqueeze",
        "view",
        "where",
        "zeros",
        "zeros_like",
    )
)
"""Ops that stand in a repro to show its defect, and that any program uses: looked for only as the culprit."""

COMMON = GENERIC | frozenset(
    (
        "addmm",
        "amax",
        "amin",
        "argmax",
        "argmin",
        "atan2",
        "chunk",
        "custom_op",
        "deepcopy",
        "div",
        "floor_divide",
        "gather",
        "index_select",
        "nn.functional.avg_pool2d",
        "nn.functional.conv2d",
        "nn.functional.interpolate",
        "nn.functional.layer_norm",
        "nn.functional.linear",
        "nn.functional.max_pool2d",
        "nn.functional.pad",
        "nn.functional.rms_norm",
        "prod",
        "remainder",
        "round",
        "scatter",
        "select",
        "slice",
        "Tensor.__setitem__",
        "to",
    )
)
"""Ops so common that one in compiled code says little: the defect takes certain inputs. They are notes, no problems."""

_UNTYPED = frozenset({"Tensor.__setitem__"})
"""Ops that say nothing of what they are done to: lists and dicts have them too. A contract alone is too little."""

_LINK = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One record, for the releases that are supported."""

    id: str
    title: str
    concerns: bool
    """Some supported release is affected, or may be."""

    fixed: str | None
    """Release that fixed it, where there is one."""

    text: str
    """Affected releases in words."""


@dataclass(frozen=True, slots=True)
class DropIn:
    """An op that ``compilefix.ops`` has."""

    name: str
    upstream: str
    """Full name of what it replaces."""

    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is looked for, in every file alike."""

    minimum: Version | None
    maximum: Version | None
    bounded: bool = False
    """`maximum` is a promise: what lies beyond need not be kept."""

    entries: dict[str, Entry] = field(default_factory=dict)
    ops: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Op, as records name it, to ids of records that concern a supported release."""

    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """``owner/repository#number`` to ids of records."""

    drop_ins: dict[str, DropIn] = field(default_factory=dict)
    """Full name of an upstream function to its drop-in."""


def gather(
    records: Sequence[Record], minimum: Version | None, maximum: Version | None, *, bounded: bool = False
) -> Knowledge:
    """Return what `records` say of the releases from `minimum` to `maximum`."""
    entries = {r.id: _entry(r, minimum, maximum) for r in records}
    ops: dict[str, list[str]] = {}
    links: dict[str, list[str]] = {}
    for record in records:
        if entries[record.id].concerns:
            for op in _ops(record):
                ops.setdefault(op, []).append(record.id)
        for link in _links(record) if record.goes_wrong else ():
            links.setdefault(link, []).append(record.id)
    return Knowledge(
        minimum,
        maximum,
        bounded,
        entries,
        {op: tuple(ids) for op, ids in ops.items()},
        {link: tuple(ids) for link, ids in links.items()},
        {d.upstream: d for d in drop_ins()},
    )


def _entry(record: Record, minimum: Version | None, maximum: Version | None) -> Entry:
    supported = [
        v for v in map(Version, RELEASES) if (minimum is None or v >= minimum) and (maximum is None or v <= maximum)
    ] or [v for v in (minimum, maximum) if v is not None]
    concerns = any(record.known.expectation(v) is not Expectation.UNAFFECTED for v in supported)
    fixed = [Version(span.fixed) for span in _spans(record) if span.fixed]
    return Entry(record.id, record.title, concerns, str(max(fixed)) if fixed else None, record.known.affected_text())


def _spans(record: Record) -> tuple[Affected, ...]:
    known = record.known
    return known.differs if isinstance(known, Contract) else known.affected


def _ops(record: Record) -> Iterable[str]:
    """Return the ops that a record is about: those it names, less those that merely help to show it."""
    culprit = (record.known.culprit or "").rpartition("/")[2].removesuffix("_backward")
    if isinstance(record.known, Contract):
        return [op for op in record.known.ops if op not in GENERIC and op not in _UNTYPED]
    swapped = {d.name for d in drop_ins() if record.id in d.records}
    traced = record.known.stage == "eager"  # a defect of how Python is traced; its ops are there by chance
    named = [
        op
        for op in record.known.ops
        if (leaf := op.rpartition(".")[2]) == culprit or leaf in swapped or not (traced or op in GENERIC)
    ]
    used = _used(record) if culprit else set()
    return dict.fromkeys([*named, *([culprit] if culprit in used and culprit not in GENERIC else [])])


def _used(record: Record) -> set[str]:
    """Return the names of the functions and methods that a record's program calls."""
    return {
        node.func.attr
        for node in ast.walk(ast.parse(record.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def _links(record: Record) -> Iterable[str]:
    own = re.fullmatch(r"gh(\d+)", record.id)
    found = [f"pytorch/pytorch#{own[1]}"] if own else []
    return dict.fromkeys(found + [f"{m[1]}#{m[2]}" for link in record.known.references if (m := _LINK.search(link))])


def common(op: str) -> bool:
    """Tell whether `op`, as records name it, is one that most programs use, in place or not."""
    return op in COMMON or op.removeprefix("Tensor.").removesuffix("_") in COMMON


@cache
def drop_ins() -> tuple[DropIn, ...]:
    """Return the ops of ``compilefix.ops`` that replace a function, read from their files: torch is not imported."""
    found = []
    for path in sorted((Path(__file__).parents[1] / "ops").glob("op_*.py")):
        name, text = path.stem.removeprefix("op_"), path.read_text(encoding="utf-8")
        where = "torch.nn.functional" if f"functional.{name}" in text else "torch"
        records = re.findall(
            r"gh\d+|local-[a-z0-9-]+", " ".join(re.findall(r"(?:records|RECORDS)\s*=\s*\(([^)]*)\)", text))
        )
        found.append(DropIn(name, f"{where}.{name}", tuple(dict.fromkeys(records))))
    return tuple(found)
