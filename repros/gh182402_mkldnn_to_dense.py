"""
A compiled function that makes an MKL-DNN tensor dense raises RuntimeError.

Why: the tensor's data lie in an opaque layout. Tracing replaces it by an ordinary tensor that to_dense() refuses, and
the generated code asks for an address that there is not.
What to do: upgrade; right in 2.14.1. On an affected release call to_dense() before the compiled function.
"""

from collections.abc import Callable

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="aot_eager",
    culprit="functionalization/opaque_layout",
    devices=("cpu",),
    ops=("Tensor.to_dense",),
    affected=(Affected(first_seen="2.4.1", last_seen="2.13.0", fixed="2.14.1"),),
    requires=("torch.backends.mkldnn",),
    matches=(r"expects MKL-DNN tensor input|Cannot access data pointer of Tensor that doesn't have storage",),
    references=("https://github.com/pytorch/pytorch/issues/182402", "https://github.com/pytorch/pytorch/issues/183773"),
)

Maps = Callable[[torch.Tensor], torch.Tensor]


def program(x: torch.Tensor) -> torch.Tensor:
    return x.to_dense() + 1.0


def workaround(x: torch.Tensor) -> torch.Tensor:
    return x + 1.0


def drive(f: Maps) -> torch.Tensor:
    return f(torch.arange(4.0).reshape(2, 2).to_mkldnn())


def drive_workaround(f: Maps) -> torch.Tensor:
    return f(torch.arange(4.0).reshape(2, 2).to_mkldnn().to_dense())
