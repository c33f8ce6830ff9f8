"""Are two runs the same? Values, masks, shapes, strides, mutation, aliasing, gradients, exceptions."""

from __future__ import annotations

from compilefix.oracle.compare import compare
from compilefix.oracle.memory import overlaps
from compilefix.oracle.observation import Node, Observation, Raised, TensorLeaf, flatten, raised
from compilefix.oracle.tensors import compare_tensors

__all__ = [
    "Node",
    "Observation",
    "Raised",
    "TensorLeaf",
    "compare",
    "compare_tensors",
    "flatten",
    "overlaps",
    "raised",
]
