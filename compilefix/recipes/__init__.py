"""
Functions that the field keeps rewriting, each right in plain and in compiled code.

A recipe is one file, named after its function. Importing this package imports no torch: a name loads its file when it
is first asked for. Argument errors are `TypeError` or `ValueError` with one line that has the numbers in it; they are
found from shapes and dtypes, never from the values of a tensor, so no check breaks a compiled graph.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilefix.recipes.check_vectorized import check_vectorized as check_vectorized
    from compilefix.recipes.one_hot_scatter import one_hot_scatter as one_hot_scatter
    from compilefix.recipes.pad_sequences import pad_sequences as pad_sequences
    from compilefix.recipes.ring_buffer_update import ring_buffer_update as ring_buffer_update
    from compilefix.recipes.ring_buffer_update_ import ring_buffer_update_ as ring_buffer_update_
    from compilefix.recipes.scatter_mean import scatter_mean as scatter_mean
    from compilefix.recipes.segment_diff import segment_diff as segment_diff
    from compilefix.recipes.select_actions import select_actions as select_actions
    from compilefix.recipes.set_seed import set_seed as set_seed
    from compilefix.recipes.topk_gather import topk_gather as topk_gather
    from compilefix.recipes.weighted_scatter_add import weighted_scatter_add as weighted_scatter_add

__all__ = sorted(entry.name for entry in pkgutil.iter_modules(__path__) if entry.name[0] != "_")


class _Recipes(ModuleType):
    """The package itself: a recipe's name stands for the function, although its file has the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in __all__:  # the import system binds the file it has just run
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Recipes


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"no recipe {name!r}; there are {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{name}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
