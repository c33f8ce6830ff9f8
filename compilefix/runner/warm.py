"""Load and exercise torch's compiler once, so that a forked child starts at once."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence

EXERCISED = ("aot_eager", "inductor")
"""Backends whose first compile a warmed parent can do for its children."""


def single_thread() -> None:
    """Keep torch on one thread: no OpenMP pool, so forking stays safe and parallel children do not fight for cores."""
    import torch

    torch.set_num_threads(1)


def prepare() -> str | None:
    """
    Import Dynamo and Inductor, and set what every worker needs set.

    Returns None, or the reason why Inductor's C++ path cannot run here.
    """
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    single_thread()
    torch._inductor.config.compile_threads = 1
    torch._inductor.config.fx_graph_cache = False
    for owner, name in (
        (torch._functorch.config, "enable_autograd_cache"),
        (torch._dynamo.config, "automatic_dynamic_local_pgo"),  # would carry shapes from one check to the next
    ):
        if hasattr(owner, name):
            setattr(owner, name, False)
    _skip_guard_timing()
    return cxx_trouble()


def _skip_guard_timing() -> None:
    """Turn off a timing that Dynamo logs after every compile: flushing the processor's caches for it costs 20 ms."""
    import torch._dynamo.guards

    if hasattr(torch._dynamo.guards, "profile_guard_manager"):
        torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0


def cxx_trouble() -> str | None:
    """Return why no C++ compiler works here, or None."""
    from torch._inductor import cpp_builder

    # the public name is new in torch 2.5
    find = getattr(cpp_builder, "get_cpp_compiler", None) or getattr(cpp_builder, "_get_cpp_compiler", None)
    if find is None:
        return "no working C++ compiler (this torch does not say which one it takes)"
    try:
        compiler = find()
    except Exception as error:  # torch raises InvalidCxxCompiler, and RuntimeError on other releases
        return f"no working C++ compiler ({str(error).strip().splitlines()[0] or type(error).__name__})"
    return None if shutil.which(compiler) else f"no working C++ compiler ({compiler} not found)"


def exercise(backends: Sequence[str] = EXERCISED) -> str | None:
    """
    Compile small programs on one thread so that pattern tables, ISA probe and lazy imports are paid for.

    Of `EXERCISED`, `backends` are those that workers are going to use.

    No backward pass runs, and on a build with accelerators none is traced: autograd's engine would start threads for
    their devices, which do not survive a fork. Returns None, or why it failed.
    """
    import torch
    import torch._dynamo

    def forward(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (x @ x).relu().sum(-1), x.softmax(-1), x.index_select(0, i), torch.scatter(x, 0, i.expand(4, 4), 1.0)

    x, i = torch.ones(4, 4), torch.zeros(4, dtype=torch.int64)
    # the ISA probe waits for processes of its own; the thread is gone before anything forks
    probe = threading.Thread(target=_probe_isa)
    probe.start()
    reason = None
    try:
        for backend in backends:
            if backend == "inductor":
                probe.join()
            torch.compile(forward, backend=backend)(x, i)
            if cpu_only():
                torch.compile(forward, backend=backend)(torch.ones(4, 4, requires_grad=True), i)
    except Exception as error:  # reported as the reason why Inductor's targets are unsupported here
        first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        reason = f"Inductor does not work here ({type(error).__name__}: {first})"
    probe.join()
    torch._dynamo.reset()
    forget_counters()
    return reason


def interpret(gpu: str) -> str | None:
    """
    Make this process compile for the GPU named `gpu` and interpret the kernels, and exercise that once.

    It cannot be undone. Returns None, or why it failed.
    """
    import torch
    import torch._dynamo

    from compilefix.cuda_interpreted import backend, gpus

    def forward(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (x @ x).relu().sum(-1), x.softmax(-1), x.index_select(0, i), torch.scatter(x, 0, i.expand(4, 4), 1.0)

    try:
        backend.install(gpus.gpu(gpu))
        for grad in (False, True)[: 1 + cpu_only()]:
            torch.compile(forward)(torch.ones(4, 4, requires_grad=grad), torch.zeros(4, dtype=torch.int64))
    except Exception as error:  # reported as the reason why the target is unsupported here
        return f"compiling for {gpu} does not work here ({type(error).__name__}: {str(error).strip().splitlines()[0]})"
    finally:
        torch._dynamo.reset()
        forget_counters()
    return None


def _probe_isa() -> None:
    try:
        importlib.import_module(f"torch._inductor.{_isa_module()}").valid_vec_isa_list()
    except Exception as error:  # Inductor probes again when it compiles, and its failure is what gets reported
        print(f"the instruction set could not be probed: {error}", file=sys.stderr)


def _isa_module() -> str:
    """Return where this torch looks for vector instructions: a module of its own is new in 2.5."""
    return "cpu_vec_isa" if importlib.util.find_spec("torch._inductor.cpu_vec_isa") else "codecache"


def cpu_only() -> bool:
    """Tell whether this torch was built without support for any accelerator."""
    import torch

    return all(getattr(torch.version, name, None) is None for name in ("cuda", "hip", "xpu"))


def forget_counters() -> None:
    """Set the counts of graphs, graph breaks and recompiles back to zero."""
    import torch._dynamo.utils

    torch._dynamo.utils.counters.clear()
    torch._dynamo.utils.clear_compilation_metrics()


def usable_cache(folder: str) -> tuple[str, str | None]:
    """
    Return a cache folder that can be written, and why it is not `folder`.

    Compiled C++ objects go there. Where `folder` cannot be written a temporary one serves, cold.
    """
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0" * 65536)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return tempfile.mkdtemp(prefix="compilefix-cache-"), f"{folder}: {error.strerror}"
    return folder, None
