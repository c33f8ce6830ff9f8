"""Compile one function of a file for a GPU, run it interpreted, and print its kernels as JSON. A process of its own."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch.utils._pytree import tree_flatten

from compilefix.cuda_interpreted import backend, gpus, lines, memory
from compilefix.cuda_interpreted.kernels import externs_of, kernels_of
from compilefix.cuda_interpreted.padding import PADDING
from compilefix.settings import patched


def load(path: str) -> Any:
    """Execute the file `path` as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shown(path: str, function: str, gpu: str) -> dict[str, Any]:
    """
    Return the kernels of `function` in the file `path`, called with what the file's ``inputs("cpu")`` returns.

    Bytes are those that the launches of these calls touched. Rules that a kernel broke are told as well. Where Inductor
    would decide by timing whether to pad a product, ``padding`` holds the products and both decisions.
    """
    backend.install(gpus.gpu(gpu))
    lines.install()
    inductor_config.fx_graph_cache = False
    if hasattr(functorch_config, "enable_autograd_cache"):
        functorch_config.enable_autograd_cache = False
    module = load(path)
    if not hasattr(module, function) and not (function == "program" and hasattr(module, "make")):
        raise AttributeError(f"{path} has no function {function!r}")
    with patched(dict(getattr(getattr(module, "ISSUE", None), "config", {}))):
        first = _compiled(module, function)
        asked = list(dict.fromkeys(PADDING.asked))
        answer = {"gpu": gpu, **first}
        if asked:
            PADDING.pad = True
            padded = _compiled(module, function)
            PADDING.pad = False
            with inductor_config.patch(shape_padding=False):
                off = _compiled(module, function)
            answer["padding"] = {"asked": asked, "no": _brief(first), "yes": _brief(padded), "off": _brief(off)}
            answer["padded"] = padded["kernels"]
    return answer


def _compiled(module: Any, function: str) -> dict[str, Any]:
    """Compile, run and describe the program once."""
    torch._dynamo.reset()
    memory.reset()
    backend.WRAPPERS.clear()
    torch.random.manual_seed(0)
    inputs = tuple(module.inputs("cpu")) if hasattr(module, "inputs") else ()
    program = getattr(module, function, None) if function != "program" or not hasattr(module, "make") else None
    compiled: Any = torch.compile(program if program is not None else module.make("cpu"))
    if function == "program" and hasattr(module, "drive"):
        module.drive(compiled, *inputs)
    else:
        results = tree_flatten(compiled(*inputs))[0]
        differentiable = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
        if differentiable:
            torch.autograd.backward(differentiable, [torch.ones_like(r) for r in differentiable])
    rows, externs = [], []
    for wrapper in backend.WRAPPERS:
        externs += externs_of(wrapper)
        for kernel in kernels_of(wrapper):
            read, written = memory.WATCH.moved.get(kernel.name, [0, 0])
            rows.append(kernel.to_json() | {"bytes_read": read, "bytes_written": written})
    return {"kernels": rows, "externs": externs, "broken": [str(f) for f in memory.findings() if not f.note]}


def _brief(found: dict[str, Any]) -> dict[str, Any]:
    moved = sum(k["bytes_read"] + k["bytes_written"] for k in found["kernels"])
    return {"kernels": [k["name"] for k in found["kernels"]], "externs": found["externs"], "bytes": moved}


if __name__ == "__main__":
    try:
        answer = shown(*sys.argv[1:4])
    except Exception as problem:
        first = next((line for line in str(problem).splitlines() if line.strip()), "")
        answer = {"error": f"{type(problem).__name__}: {first}"}
    sys.stdout.write(json.dumps(answer) + "\n")
