"""What runs here: torch and its git hash, devices, instruction set, C++ compiler, Triton, Python."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

from compilefix.condition import Condition
from compilefix.errors import HarnessError
from compilefix.text import first_line

SCRUBBED_PREFIXES = ("TORCH", "PYTORCH", "TRITON", "AOT_", "INDUCTOR", "FUNCTORCH", "ENABLE_AOT")
"""Variables that steer torch.compile from outside; workers never see them."""

KEPT = frozenset({"TORCH_HOME", "TORCH_CUDA_ARCH_LIST"})


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One torch build on one machine. Reports carry it whole."""

    torch: str
    torch_git: str | None
    python: str
    system: str
    machine: str
    isa: str | None
    """Vector instruction set that Inductor's C++ code uses, such as ``avx512``."""

    cxx: str | None
    """First line of the C++ compiler's version, None where none works."""

    triton: str | None
    cuda: str | None
    """CUDA version that this torch was built for."""

    numpy: str | None = None
    devices: tuple[str, ...] = ("cpu",)
    threads: int = 1
    """Intra-op threads of a worker."""

    gpu: str | None = None
    """GPU that the target ``inductor:cuda-interpreted`` compiles for, such as ``h100``; None where it cannot run."""

    missing: dict[str, str] = field(default_factory=dict)
    """Targets that cannot run here (``inductor:cpu``) and why."""

    scrubbed: tuple[str, ...] = ()
    """Variables of the caller that workers do not see."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        raw = asdict(self)
        return raw | {"devices": list(self.devices), "scrubbed": list(self.scrubbed)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Environment:
        """Read what `to_json` wrote."""
        fields = dict(raw)
        return cls(**fields | {"devices": tuple(fields["devices"]), "scrubbed": tuple(fields["scrubbed"])})

    @property
    def identity(self) -> dict[str, str | None]:
        """What identifies a machine and its torch, by name; None for what is not there."""
        return {
            "torch": self.torch,
            "git hash": self.torch_git,
            "Python": self.python,
            "OS": f"{self.system} {self.machine}",
            "vector ISA": self.isa,
            "C++ compiler": self.cxx,
            "Triton": self.triton,
            "CUDA of the build": self.cuda,
        }

    @property
    def features(self) -> frozenset[str]:
        """Words that a record's ``requires`` may use."""
        words = {self.system.lower(), self.machine, *self.devices}
        if self.numpy:
            words.add("numpy")
        if self.isa:
            words.add(self.isa)
            if self.isa.startswith("avx512"):
                words |= {"avx2", "avx512"}
        return frozenset(words)

    def holds(self, condition: Condition) -> bool | None:
        """Tell whether `condition` holds here, None where this description does not say, as for features."""
        facts = {"torch": self.torch, "python": self.python, "triton": self.triton, "cuda": self.cuda}
        facts |= {
            "numpy": self.numpy,
            "system": self.system.lower(),
            "machine": self.machine,
            "isa": self.isa,
        } | compiler_facts(self.cxx)
        return condition.holds(facts, lambda kind, name: None)

    @property
    def slug(self) -> str:
        """Name of the measured file of this environment, such as ``torch-2.13.0+cpu-py311-linux-x86_64``."""
        python = "".join(self.python.split(".")[:2])
        return f"torch-{self.torch}-py{python}-{self.system.lower()}-{self.machine}"


def installed_torch() -> str | None:
    """Return the version of the installed torch without importing it, or None."""
    return _version("torch")


def require_torch() -> None:
    """Raise `HarnessError` where torch is not installed or does not import."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise HarnessError(f"torch does not import here ({first_line(str(error))}); install it and try again") from None


def scrubbed_environ(cache: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """
    Return the environment of a worker, and the names of the variables that were taken out.

    `cache` keeps the C++ objects. The graph caches are turned off by configuration in `runner.warm`, not here: their
    variables would override what a record sets.
    """
    taken = tuple(sorted(n for n in os.environ if n.startswith(SCRUBBED_PREFIXES) and n not in KEPT))
    environ = {name: value for name, value in os.environ.items() if name not in taken}
    environ |= {
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return environ, taken


def interpreting(environ: Mapping[str, str], cache: str) -> dict[str, str]:
    """Return the environment of a worker that interprets Triton's kernels, made from that of any other worker."""
    return {
        **environ,
        "TRITON_INTERPRET": "1",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/interpreted",
        "TRITON_CACHE_DIR": f"{cache}/interpreted/triton",
        "OPENBLAS_NUM_THREADS": "1",
    }


def detect(*, missing: Mapping[str, str], scrubbed: tuple[str, ...] = ()) -> Environment:
    """Describe the torch in this process. Imports torch; initialises no device."""
    import torch

    devices = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
    return Environment(
        torch=torch.__version__,
        torch_git=torch.version.git_version,
        python=platform.python_version(),
        system=platform.system(),
        machine=platform.machine(),
        isa=None if "inductor:cpu" in missing else _isa(),
        cxx=_cxx(),
        triton=_version("triton"),
        numpy=_version("numpy"),
        cuda=torch.version.cuda,
        devices=devices,
        threads=torch.get_num_threads(),
        missing=dict(missing),
        scrubbed=scrubbed,
    )


def _isa() -> str | None:
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    return {"AVX512": "avx512", "AVX2": "avx2", "DEFAULT": None}.get(capability, capability.lower())


def compiler_command(environ: Mapping[str, str]) -> str | None:
    """Return the C++ compiler that `environ` names or that is found, without asking whether it works; None: none."""
    return environ.get("CXX") or next((c for c in ("g++", "clang++") if shutil.which(c)), None)


def _cxx() -> str | None:
    command = compiler_command(os.environ)
    if command is None or sys.platform == "win32":
        return None
    try:
        out = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return out.stdout.splitlines()[0] if out.stdout else command


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def compiler_facts(cxx: str | None) -> dict[str, str | None]:
    """Return the versions of g++ and clang++ from the first line of the compiler's ``--version``."""
    found: dict[str, str | None] = {"g++": None, "clang++": None}
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", re.sub(r"\([^)]*\)", "", cxx or ""))
    if cxx and match:
        found["clang++" if "clang" in cxx else "g++"] = match[1]
    return found


@functools.cache
def facts() -> dict[str, str | None]:
    """Return what conditions are held against in this process. Imports torch; initialises no device."""
    import torch

    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "triton": _version("triton"),
        "cuda": torch.version.cuda,
        "cudnn": _cudnn(),
        "numpy": _version("numpy"),
        "system": platform.system().lower(),
        "machine": platform.machine(),
        "isa": _isa(),
    } | compiler_facts(_cxx())


def _cudnn() -> str | None:
    import torch

    cudnn: Any = torch.backends.cudnn
    number = cudnn.version() if cudnn.is_available() else None
    if number is None:
        return None
    thousand = 10000 if number >= 90000 else 1000  # 91002 is 9.10.2, 8902 is 8.9.2
    return f"{number // thousand}.{number % thousand // 100}.{number % 100}"


def holds(condition: Condition) -> bool | None:
    """Tell whether `condition` holds in this process, features included."""
    return condition.holds(facts(), feature)


def feature(kind: str, name: str) -> bool | None:
    """
    Tell whether this torch has something: ``has`` a dotted attribute, ``parameter`` of a function, ``setting``.

    None where it cannot be told, such as the parameter of a built-in without a signature.
    """
    if kind == "parameter":
        owner, _, argument = name.rpartition(".")
        function = _find(owner)
        if function is None:
            return False
        try:
            return argument in inspect.signature(function).parameters
        except (TypeError, ValueError):
            return None
    return _find(name) is not None


def _find(name: str) -> Any:
    parts = name.split(".")
    try:
        owner: Any = importlib.import_module(parts[0])
    except ImportError:
        return None
    for i, part in enumerate(parts[1:], 1):
        if not hasattr(owner, part):
            try:
                owner = importlib.import_module(".".join(parts[: i + 1]))
            except ImportError:
                return None
        else:
            owner = getattr(owner, part)
    return owner if owner is not None else _Nothing


class _Nothing:
    """Stands for a name whose value is None, such as a setting that is unset."""


def build() -> dict[str, str | None]:
    """Return what identifies this build on this machine: a measurement is valid where all of it is equal."""
    import torch

    names = ("torch", "python", "triton", "cuda", "machine", "isa", "g++", "clang++")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    here = facts()
    python = ".".join((here["python"] or "").split(".")[:2])
    return {name: here[name] for name in names} | {"python": python, "git": torch.version.git_version, "device": device}
