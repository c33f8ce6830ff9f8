"""A call of an index-taking operator, whichever way it was spelt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

INT = frozenset({torch.int32, torch.int64})
INTEGERS = frozenset({torch.int8, torch.int16}) | INT
"""What a tensor without dimensions may be between brackets."""

LONG = frozenset({torch.int64})
BOOL = frozenset({torch.bool})
BOOL_OR_BYTE = frozenset({torch.bool, torch.uint8})

ALIASES = {"self": "input", "axis": "dim"}
"""Keywords that torch takes for another one."""


@dataclass(frozen=True)
class Index:
    """One tensor of integers that picks places along one dimension, or from the flattened target."""

    label: str
    tensor: torch.Tensor
    dim: int | None
    """Dimension of the target, or None for the flattened one."""

    size: int
    """How many places there are to pick from."""

    selects: bool = False
    """True for a tensor without dimensions between brackets, which counts as a plain integer."""


@dataclass(frozen=True)
class Values:
    """What the rules about values read; every tensor has its values, whatever the call looked like."""

    spec: Spec
    shape: tuple[int, ...]
    """Shape of the target."""

    indices: tuple[Index, ...]
    written: torch.Tensor | None = None
    """What goes to the places: of the index's shape for scatter, elsewhere index dimensions first."""

    available: int = 0
    """Elements of the source, for a mask that takes them one by one."""

    idle: bool = False
    """True where no element is read or written, so that torch looks at no index but those that select."""


@dataclass(frozen=True)
class Call:
    """
    A call with its arguments under torch's names.

    `dim` is counted from the front, and None where it is missing or out of range. `in_place` is True for the
    operators that write into their target, `readable` where the tensors have values that may be looked at now.
    """

    op: str
    spec: Spec
    in_place: bool
    target: torch.Tensor
    arguments: Mapping[str, Any]
    dim: int | None
    indices: tuple[Index, ...]
    readable: bool = False

    @property
    def index(self) -> Any:
        """The argument that says where."""
        return self.arguments.get(self.spec.index)

    @property
    def source(self) -> torch.Tensor | None:
        """The tensor that says what is written, if it is one."""
        value = self.arguments.get(self.spec.source or "")
        return value if isinstance(value, torch.Tensor) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the target."""
        return tuple(self.target.shape)


Rule = Callable[[Call], Iterator[str]]
ValueRule = Callable[[Values], Iterator[str]]
Locate = Callable[["Spec", torch.Tensor, Mapping[str, Any]], "tuple[Index, ...]"]
Written = Callable[[Call], "torch.Tensor | None"]


def _nowhere(spec: Spec, target: torch.Tensor, arguments: Mapping[str, Any]) -> tuple[Index, ...]:
    return ()


@dataclass(frozen=True)
class Spec:
    """
    What torch says about one operator.

    `parameters` are the names in order, with defaults in `defaults`; `target`, `index` and `source` say which of them
    are read, picked by and written. `rules` read shapes, dtypes and devices, `memory_rules` storages, `value_rules`
    the values of the indices. `written` lays the source out for the search for duplicates; operators without one
    have a defined result for duplicates.
    """

    parameters: tuple[str, ...]
    rules: tuple[Rule, ...]
    index: str = "index"
    source: str | None = None
    target: str = "input"
    defaults: Mapping[str, Any] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    index_dtypes: frozenset[torch.dtype] = INT
    negative: bool = False
    empty_index_is_free: bool = False
    """True where an index without elements may have any dtype and rank."""

    locate: Locate = _nowhere
    value_rules: tuple[ValueRule, ...] = ()
    memory_rules: tuple[Rule, ...] = ()
    written: Written | None = None
    elementwise: bool = False
    """True where every element of the index is a place of its own, as in scatter."""

    idle: Callable[[Call], bool] | None = None
    """Tells whether no element is read or written; None where torch refuses an index out of range all the same."""

    roams: bool = False
    """True where indices, and values without dimensions, may stay on the CPU."""

    brackets: bool = False
    """True for ``x[i]``, where None adds a dimension; False for index_put, where it keeps one."""

    promoted: bool = False
    """True where autocast may bring target and source to one dtype."""


def bind(spec: Spec, op: str, in_place: bool, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call | None:
    """Return the call with its arguments named, or None where torch has no such signature, and for nested tensors."""
    if len(args) > len(spec.parameters):
        return None
    bound = dict(spec.defaults) | dict(zip(spec.parameters, args, strict=False))
    for name, value in kwargs.items():
        name = ALIASES.get(name, name)
        name = spec.aliases.get(name, name)
        if name in spec.parameters[: len(args)]:
            return None
        bound[name] = value
    target = bound.get(spec.target)
    if not isinstance(target, torch.Tensor) or any(name not in bound for name in spec.parameters):
        return None
    if target.is_nested:
        return None
    dim = bound.get("dim")
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int)):
        return None
    count = max(target.dim(), 1)
    if dim is not None:
        dim = dim + count if -count <= dim < 0 else dim if 0 <= dim < count else None
    located = spec.locate(spec, target, bound | {"dim": dim})
    return Call(op, spec, in_place, target, bound, dim, located)
