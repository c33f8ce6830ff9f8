"""
Triton kernels that the user writes: Dynamo takes them for what they are, and a launch is interpreted.

With ``TRITON_INTERPRET=1`` the decorator ``triton.jit`` gives an object that Dynamo does not know and would trace
into. So what users decorate becomes a `JITFunction` whose launch is the interpreter's; what Inductor generates stays as
it is. What a kernel writes, which torch reads from compiled code, is read from its source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch._higher_order_ops.triton_kernel_wrap as triton_kernel_wrap
import torch._inductor.runtime.triton_heuristics as heuristics
import torch.utils._triton as triton_questions
import triton
from torch._inductor.dependencies import ReadWrites, StarDep
from torch._inductor.ir import TensorBox
from torch._inductor.runtime.cache_dir_utils import cache_dir
from torch.utils._ordered_set import OrderedSet
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from compilefix.cuda_interpreted import source

_jit = triton.jit


class UserKernel(JITFunction):  # type: ignore[misc]
    """A kernel of the user's: known to Dynamo, launched by the interpreter."""

    def __init__(self, function: Any, **options: Any) -> None:
        super().__init__(function, **options)
        self._interpreted = InterpretedFunction(function)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launch the kernel, or nothing where it would only be compiled."""
        return self._interpreted.run(*args, grid=grid, warmup=warmup, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it from another kernel."""
        return self._interpreted(*args, **kwargs)


def generated(file: str) -> bool:
    """Tell whether `file` was written by Inductor or belongs to torch or Triton."""
    places = cache_dir(), str(Path(torch.__file__).parent), str(Path(triton.__file__).parent)
    return file.startswith(places) or "compile_tasks" in file


def jit(function: Any = None, **options: Any) -> Any:
    """Stand for ``triton.jit``."""
    if function is None:
        return lambda function: jit(function, **options)
    if generated(function.__code__.co_filename):
        return _jit(function, **options)
    return UserKernel(function, **options)


def touched(kernel: Any, arguments: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the tensor arguments that `kernel` loads and those that it writes; all where its source does not tell."""
    tensors = [name for name, value in arguments.items() if isinstance(value, torch.Tensor | TensorBox)]
    function = kernel
    while not isinstance(function, JITFunction):
        function = function.fn  # below autotuning
    known = source.read(function.fn.__code__.co_filename, function.fn.__name__)
    if not known.written:
        return tensors, tensors
    return [name for name in tensors if name in known.loaded], [name for name in tensors if name in known.written]


def mutated(kernel: Any, arguments: dict[str, Any], *_: object) -> list[str]:
    """Stand for ``identify_mutated_tensors``, which compiles the kernel."""
    return touched(kernel, arguments)[1]


def accessed(kernel: Any, arguments: dict[str, Any], *_: object) -> Any:
    """Stand for ``identify_accessed_tensors``, its name on later releases."""
    reads, writes = ({StarDep(name): None for name in names} for names in touched(kernel, arguments))
    known = ReadWrites(OrderedSet(reads), OrderedSet(writes), OrderedSet())
    return triton_kernel_wrap.TensorAccesses(known, can_fuse_epilogue=False)


_by_position = getattr(heuristics.CachingAutotuner, "_interpret_args_grid", None)


def arguments_and_grid(self: Any, args: tuple[Any, ...], config: Any) -> tuple[tuple[Any, ...], tuple[int, int, int]]:
    """Return what to launch a kernel with; that of a user gets all by name, its constants included."""
    if "user" not in str(self.heuristic_type).lower():
        assert _by_position is not None
        placed: tuple[tuple[Any, ...], tuple[int, int, int]] = _by_position(self, args, config)
        return placed
    names = [name for name, kind in self.triton_meta["signature"].items() if kind != "constexpr"]
    extra = list(self.inductor_meta.get("extra_launcher_args", ()))
    values = dict(zip([*names, *extra], args, strict=False))
    grid = heuristics.GridExpr.from_meta(self.inductor_meta, config, mode=self.grid_mode).eval_slow(dict(values))
    every = list(self.fn.arg_names)
    for key, value in (self.triton_meta.get("constants") or {}).items():
        place = key[0] if isinstance(key, tuple) else key
        values[every[place] if isinstance(place, int) else place] = value
    config.kwargs.update({name: value for name, value in values.items() if name in every})
    return (), grid


def _found() -> Any:
    """
    Return what answers Dynamo, which asks whether kernels can be launched before it takes one for what it is.

    The rest of torch holds the function itself; clearing the cache of the answer clears that one's.
    """

    def has_triton(*_: object, **__: object) -> bool:
        return True

    has_triton.cache_clear = triton_questions.has_triton.cache_clear  # type: ignore[attr-defined]
    return has_triton


def install() -> None:
    """Decorate users' kernels so in this process."""
    triton.jit = jit
    vars(triton_questions)["has_triton"] = _found()
    names = vars(triton_kernel_wrap)
    stands = {"identify_mutated_tensors": mutated, "identify_accessed_tensors": accessed}
    names |= {name: stand for name, stand in stands.items() if name in names}
    if _by_position is not None:  # earlier releases have the grid among the arguments
        setattr(heuristics.CachingAutotuner, "_interpret_args_grid", arguments_and_grid)  # noqa: B010
