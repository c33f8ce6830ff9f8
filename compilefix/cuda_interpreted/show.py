"""Compile one function of a file for a GPU, run it interpreted, and print its kernels as JSON. A process of its own."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch

from compilefix.cuda_interpreted import backend, gpus, memory
from compilefix.cuda_interpreted.kernels import kernels_of


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

    Bytes are those that the launches of this one call touched. Rules that a kernel broke are told as well.
    """
    backend.install(gpus.gpu(gpu))
    module = load(path)
    torch.random.manual_seed(0)
    inputs = tuple(module.inputs("cpu")) if hasattr(module, "inputs") else ()
    if not hasattr(module, function):
        raise AttributeError(f"{path} has no function {function!r}")
    compiled: Any = torch.compile(getattr(module, function))
    compiled(*inputs)
    rows = []
    for wrapper in backend.WRAPPERS:
        for kernel in kernels_of(wrapper):
            read, written = memory.WATCH.moved.get(kernel.name, [0, 0])
            rows.append(kernel.to_json() | {"bytes_read": read, "bytes_written": written})
    return {"gpu": gpu, "kernels": rows, "broken": [str(f) for f in memory.findings()]}


if __name__ == "__main__":
    try:
        answer = shown(*sys.argv[1:4])
    except Exception as problem:
        first = next((line for line in str(problem).splitlines() if line.strip()), "")
        answer = {"error": f"{type(problem).__name__}: {first}"}
    sys.stdout.write(json.dumps(answer) + "\n")
