"""Which part of the compiler raised: the innermost frames of an exception, read as a subsystem. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULES: tuple[tuple[str, str], ...] = (
    (r"torch/_dynamo/variables/(?:iter)\.py", "iterators"),
    (r"torch/_dynamo/variables/higher_order_ops\.py", "higher_order_ops"),
    (r"torch/_dynamo/variables/(\w+)\.py", "variables"),
    (r"torch/_dynamo/guards\.py", "guards"),
    (r"torch/_dynamo/side_effects\.py", "side_effects"),
    (r"torch/_dynamo/(?:resume_execution|bytecode_\w+|codegen)\.py", "graph_break"),
    (r"torch/_higher_order_ops/(\w+)\.py", "higher_order_ops"),
    (r"torch/_functorch/partitioners\.py", "partitioner"),
    (r"torch/_functorch/(?:_aot_autograd/)?(\w+)\.py", "aot_autograd"),
    (r"torch/_subclasses/functional_tensor\.py", "functionalization"),
    (r"torch/_meta_registrations\.py", "meta_registrations"),
    (r"torch/_subclasses/(?:fake_tensor|fake_impls|meta_utils)\.py", "fake_tensor"),
    (r"torch/_(?:decomp|refs)/\w+\.py", "decomposition"),
    (r"torch/_inductor/decomposition\.py", "decomposition"),
    (r"torch/_inductor/fx_passes/(\w+)\.py", "passes"),
    (r"torch/_inductor/lowering\.py", "lowerings"),
    (r"torch/_inductor/kernel/(\w+)\.py", "lowerings"),
    (r"torch/_inductor/(?:scheduler|memory)\.py", "scheduler"),
    (r"torch/_inductor/codegen/(\w+)\.py", "codegen"),
    (r"torch/_inductor/cpp_builder\.py", "cpp_builder"),
    (r"torch/_inductor/(?:codecache)\.py", "codegen"),
    (r"/[a-z0-9]{2}/c[a-z0-9]{50,}\.py", "codegen"),  # what Inductor has written
    (r"torch/fx/experimental/(symbolic_shapes)\.py", "dynamic_shapes"),
)
_BY_FUNCTION = {"meta_registrations", "decomposition"}
_META = re.compile(r"^meta_|_meta$|^_")


def subsystem(frames: Sequence[str]) -> tuple[str, str | None] | None:
    """
    Return subsystem and op or part that the innermost telling frame stands for; None where no frame is torch's.

    `frames` are ``file:function:line``, outermost first.
    """
    for frame in reversed(frames):
        file, function, _ = frame.rsplit(":", 2)
        for pattern, name in _RULES:
            match = re.search(pattern + "$", file.replace("\\", "/"))
            if match:
                part = match[1] if match.groups() else None
                if name in _BY_FUNCTION:
                    part = _META.sub("", function) or None
                return name, part
    return None


def target_in(message: str) -> str | None:
    """Return the base name of the op that an exception's message says it was about; None where it says none."""
    match = re.search(r"target: aten\.(\w+?)_?\.\w+", message) or re.search(r"aten[.:]+(\w+?)_?\.\w+", message)
    return match[1] if match else None
