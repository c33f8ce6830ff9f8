"""
The operators that validated mode knows, one entry each, with torch's own rules.

Measured on plain torch 2.6.0, 2.9.1, 2.13.0, 2.14.1 and 2.15.0 on the CPU; where these differ, `probes` asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compilefix.validation import kinds, locate, memory, shapes, slices, values
from compilefix.validation.call import BOOL, INT, LONG, Spec
from compilefix.validation.probes import SCATTER_TAKES_INT32, TAKE_ALONG_DIM_WRAPS

_COMMON = (shapes.dim_exists, kinds.index_dtype, kinds.same_device)
_ONE_PLACE = (
    shapes.index_has_targets_rank,
    shapes.index_fits_target,
    shapes.source_has_index_rank,
    shapes.index_fits_source,
)
_ROW = (*_COMMON, shapes.index_is_a_row)
_ADDED = (*_ROW, shapes.source_is_target_with_rows, kinds.same_dtype)
_ALONE = (memory.no_leaf, memory.not_expanded)
_MEMORY = (*_ALONE, memory.no_overlap)
_SUBSCRIPTS = (kinds.subscript_dtypes, kinds.same_device, shapes.subscripts_fit)
_RANGE = (values.in_range,)
_FILLED = (shapes.dim_exists, kinds.same_device)

_PLACE_DTYPES = INT if SCATTER_TAKES_INT32 else LONG

_SCATTER: dict[str, Any] = {
    "rules": (*_COMMON, kinds.same_dtype, *_ONE_PLACE),
    "source": "src",
    "index_dtypes": _PLACE_DTYPES,
    "empty_index_is_free": True,
    "locate": locate.along_dim,
    "value_rules": _RANGE,
    "memory_rules": _MEMORY,
    "elementwise": True,
}

SPECS: dict[str, Spec] = {
    "scatter": Spec(
        ("input", "dim", "index", "src"), aliases={"value": "src"}, written=locate.written_by_scatter, **_SCATTER
    ),
    "scatter_add": Spec(("input", "dim", "index", "src"), promoted=True, **_SCATTER),
    "scatter_reduce": Spec(("input", "dim", "index", "src", "reduce"), **_SCATTER),
    "gather": Spec(
        ("input", "dim", "index"),
        (*_COMMON, *_ONE_PLACE),
        index_dtypes=_PLACE_DTYPES,
        empty_index_is_free=True,
        locate=locate.along_dim,
        value_rules=_RANGE,
    ),
    "take_along_dim": Spec(
        ("input", "indices", "dim"),
        (*_COMMON, shapes.indices_broadcast),
        index="indices",
        index_dtypes=LONG,
        negative=TAKE_ALONG_DIM_WRAPS,
        defaults={"dim": None},
        locate=locate.along_dim_or_flat,
        value_rules=_RANGE,
    ),
    "index_select": Spec(
        ("input", "dim", "index"),
        (*_ROW, shapes.index_of_scalar_is_single),
        locate=locate.along_dim,
        value_rules=_RANGE,
    ),
    "index_add": Spec(
        ("input", "dim", "index", "source"),
        _ADDED,
        source="source",
        locate=locate.along_dim,
        value_rules=_RANGE,
        idle=locate.target_is_empty,
        memory_rules=_MEMORY,
    ),
    "index_reduce": Spec(
        ("input", "dim", "index", "source", "reduce"),
        _ADDED,
        source="source",
        locate=locate.along_dim,
        value_rules=_RANGE,
        memory_rules=_MEMORY,
    ),
    "index_copy": Spec(
        ("input", "dim", "index", "source"),
        (*_ROW, shapes.source_is_rows_to_copy, kinds.same_dtype),
        source="source",
        index_dtypes=LONG,
        locate=locate.along_dim,
        value_rules=_RANGE,
        idle=locate.rest_is_empty,
        memory_rules=_MEMORY,
        written=locate.written_by_copy,
        promoted=True,
    ),
    "index_fill": Spec(
        ("input", "dim", "index", "value"),
        (*_ROW, shapes.value_is_a_number, kinds.value_is_real),
        source="value",
        index_dtypes=LONG,
        negative=True,
        roams=True,
        locate=locate.along_dim,
        value_rules=_RANGE,
        idle=locate.rest_is_empty,
        memory_rules=_ALONE,
    ),
    "index_put": Spec(
        ("input", "indices", "values", "accumulate"),
        (*_SUBSCRIPTS, shapes.value_broadcasts, kinds.assigned_dtype),
        index="indices",
        source="values",
        defaults={"accumulate": False},
        negative=True,
        roams=True,
        locate=locate.subscripts,
        value_rules=_RANGE,
        idle=locate.result_is_empty,
        memory_rules=_MEMORY,
        written=locate.written_by_subscripts,
        promoted=True,
    ),
    "x[...]": Spec(
        ("input", "index"),
        _SUBSCRIPTS,
        negative=True,
        roams=True,
        brackets=True,
        locate=locate.subscripts,
        value_rules=_RANGE,
        idle=locate.result_is_empty,
    ),
    "x[...] = v": Spec(
        ("input", "index", "value"),
        (*_SUBSCRIPTS, shapes.value_broadcasts, kinds.assigned_dtype),
        source="value",
        negative=True,
        roams=True,
        brackets=True,
        locate=locate.subscripts,
        value_rules=_RANGE,
        idle=locate.result_is_empty,
        memory_rules=_MEMORY,
        written=locate.written_by_subscripts,
        promoted=True,
    ),
    "masked_fill": Spec(
        ("input", "mask", "value"),
        (kinds.index_dtype, kinds.same_device, shapes.mask_broadcasts, shapes.value_is_a_number, kinds.value_is_real),
        index="mask",
        source="value",
        index_dtypes=BOOL,
        roams=True,
        memory_rules=_ALONE,
    ),
    "masked_scatter": Spec(
        ("input", "mask", "source"),
        (kinds.index_dtype, kinds.same_device, kinds.same_dtype, shapes.mask_broadcasts),
        index="mask",
        source="source",
        index_dtypes=BOOL,
        locate=locate.mask,
        value_rules=(values.mask_has_elements,),
        memory_rules=_MEMORY,
    ),
    "embedding": Spec(
        ("input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"),
        (kinds.index_dtype, kinds.same_device, shapes.weight_is_a_table),
        index="input",
        target="weight",
        defaults={
            "padding_idx": None,
            "max_norm": None,
            "norm_type": 2.0,
            "scale_grad_by_freq": False,
            "sparse": False,
        },
        locate=locate.rows,
        value_rules=_RANGE,
    ),
    "slice_scatter": Spec(
        ("input", "src", "dim", "start", "end", "step"),
        (*_FILLED, slices.slice_is_filled),
        source="src",
        defaults={"dim": 0, "start": None, "end": None, "step": 1},
    ),
    "select_scatter": Spec(("input", "src", "dim", "index"), (*_FILLED, slices.selection_is_filled), source="src"),
    "diagonal_scatter": Spec(
        ("input", "src", "offset", "dim1", "dim2"),
        (kinds.same_device, slices.diagonal_is_filled),
        source="src",
        defaults={"offset": 0, "dim1": 0, "dim2": 1},
    ),
    "as_strided_scatter": Spec(
        ("input", "src", "size", "stride", "storage_offset"),
        (kinds.same_device, slices.strided_view_is_filled),
        source="src",
        defaults={"storage_offset": None},
    ),
}


def _spellings() -> dict[Callable[..., Any], tuple[str, str, bool]]:
    """Return torch's functions and methods, each with its entry, its name and whether it writes in place."""
    found: dict[Callable[..., Any], tuple[str, str, bool]] = {}
    for key in SPECS:
        for name in (key, f"{key}_"):
            for holder in (torch, torch.Tensor):
                if function := getattr(holder, name, None):
                    found[function] = key, name, name.endswith("_")
    found.pop(torch.embedding)  # the weight comes first there
    found[torch.nn.functional.embedding] = "embedding", "embedding", False
    found[torch.Tensor.__getitem__] = "x[...]", "x[...]", False
    found[torch.Tensor.__setitem__] = "x[...] = v", "x[...] = v", True
    return found


SPELLINGS = _spellings()
"""Function or method to the key of its entry, the name in messages, whether it writes in place."""
