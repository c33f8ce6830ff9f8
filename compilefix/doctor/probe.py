"""Run in a process of its own: what torch says of itself, as JSON in the file that is the first argument."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

Said = dict[str, Any]


def main(reply: Path, *, compile: bool) -> None:
    """Fill the reply step by step, so that what was said before a crash is not lost."""
    said: Said = {}
    start = time.perf_counter()

    def write() -> None:
        temporary = reply.with_suffix(".tmp")
        temporary.write_text(json.dumps(said), encoding="utf-8")
        temporary.replace(reply)

    try:
        import torch
    except Exception as error:  # a broken install fails in many ways
        said["import_error"] = f"{type(error).__name__}: {error}"
        write()
        return
    said |= {
        "torch": torch.__version__,
        "git": torch.version.git_version,
        "import_seconds": round(time.perf_counter() - start, 2),
        "cuda_build": torch.version.cuda,
        "hip_build": torch.version.hip,
    }
    write()
    for name, ask in (("cuda", _cuda), ("inductor", _inductor), ("settings", _settings)):
        try:
            said[name] = ask()
        except Exception as error:
            said[name] = {"error": f"{type(error).__name__}: {error}"}
        write()
    if compile:
        said["compile"] = _compile()
        write()


def _cuda() -> Said:
    import torch

    if not torch.cuda.is_available():
        return {"available": False}
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"available": True, "devices": names, "capability": list(torch.cuda.get_device_capability())}


def _inductor() -> Said:
    from torch._inductor import cpp_builder, cpu_vec_isa
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    found: Said = {}
    for name, ask in (
        ("cxx", cpp_builder.get_cpp_compiler),
        ("isa", lambda: str(cpu_vec_isa.pick_vec_isa())),
        ("cache", cache_dir),
    ):
        try:
            found[name] = ask()
        except Exception as error:
            found[f"{name}_error"] = f"{type(error).__name__}: {error}"
    return found


def _settings() -> Said:
    """Return the settings that are not torch's own defaults, by module."""
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    found: Said = {}
    for module in (torch._dynamo.config, torch._functorch.config, torch._inductor.config):
        with contextlib.suppress(AttributeError):
            lines = module.codegen_config().splitlines()
            found[module.__name__] = [line.strip() for line in lines if line.strip()]
    return found


def _compile() -> Said:
    import torch

    graphs: list[int] = []

    def counting(graph: Any, example_inputs: Any) -> Any:
        from torch._inductor.compile_fx import compile_fx

        graphs.append(1)
        return compile_fx(graph, example_inputs)

    def one_liner(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1

    seconds, x = [], torch.arange(64.0)
    try:
        for _ in range(2):
            torch._dynamo.reset()
            start = time.perf_counter()
            result = torch.compile(one_liner, backend=counting)(x)
            seconds.append(round(time.perf_counter() - start, 2))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    right = bool(torch.allclose(result, one_liner(x), atol=1e-5))
    return {"seconds": seconds, "graphs": len(graphs), "right": right}


if __name__ == "__main__":
    main(Path(sys.argv[1]), compile="--compile" in sys.argv[2:])
