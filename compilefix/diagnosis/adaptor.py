"""Inside a probe: load the user's code, and hand its program, inputs and state to the runner."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import inspect
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from compilefix.diagnosis import saved
from compilefix.diagnosis.subject import SPEC

LARGEST = 1 << 24
"""Elements of a global tensor above which it is not watched."""

STATE = (torch.Tensor, bool, int, float, complex, str, list, dict, set, tuple, deque)

LIVE: dict[str, Any] = {}
"""Function, arguments and keyword arguments of a caller that forked this process."""


NUDGE: list[Callable[[Any], Any]] = []
"""What changes inputs and parameters before a run, see `switch_nudge`."""


class SubjectError(Exception):
    """The user's code is not what was announced; the message says so in one line."""


class Loaded:
    """The user's program, loaded anew: module state is fresh in every run."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.modules: dict[str, ModuleType] = {}
        self.program: Any = None
        self.taken = 0
        """How many of the inputs are positional arguments."""

        self.keywords: tuple[str, ...] = ()
        self._made: tuple[Any, ...] | None = None
        if spec.get("beside") and spec["beside"] not in sys.path:
            sys.path.append(spec["beside"])  # what a shortened copy of the file imports
        if spec["kind"] in ("file", "fx"):
            self._module(spec["file"])
        if spec["kind"] == "live":
            _restore()

    @classmethod
    def read(cls, file: str) -> Loaded:
        """Load what the specification beside the generated repro `file` says."""
        return cls(json.loads(Path(file).with_name(SPEC).read_text(encoding="utf-8")))

    @property
    def drives(self) -> bool:
        """True where the user's file makes the calls itself."""
        return bool(self.spec.get("drive"))

    @property
    def measures(self) -> bool:
        """True where the user's file measures facts."""
        return bool(self.spec.get("facts"))

    def drive(self, function: Any, *args: Any) -> Any:
        """Make the calls as the user's file does."""
        return self._module(self.spec["file"]).drive(function, *args)

    def facts(self, device: str) -> dict[str, Any]:
        """Return what the user's file measures."""
        return dict(self._module(self.spec["file"]).facts(device))

    def make(self, device: str) -> Any:
        """Return the function or module that is compiled; it takes what `inputs` returns."""
        made = {
            "file": self._from_file,
            "fx": self._fx,
            "captured": self._captured,
            "live": self._live,
            "saved": self._saved,
        }
        program = made[self.spec["kind"]](device)
        args = self._arguments(device)
        self.program = plain = uncompiled(program)
        if self.spec.get("eval") and isinstance(plain, torch.nn.Module):
            plain.eval()
        if isinstance(plain, torch.nn.Module):
            for nudge in NUDGE:
                nudge(plain)
        if not callable(plain):
            raise SubjectError(f"{self.spec.get('function')} is a {type(plain).__name__}, which cannot be called")
        if not self.drives:
            _check_arity(plain, args, self.keywords)
        return _with_keywords(plain, len(args) - len(self.keywords), self.keywords) if self.keywords else plain

    def inputs(self, device: str) -> tuple[Any, ...]:
        """Return fresh arguments, those passed by keyword last."""
        self._made = None
        return self._arguments(device)

    def state(self) -> dict[str, Any]:
        """Return what the program may change besides its inputs: globals, closures, attributes, buffers."""
        found: dict[str, Any] = {}
        for module in self.modules.values():
            for name, value in vars(module).items():
                if not name.startswith("__"):
                    found |= _watched(f"global {name}", value)
        target = self.program
        if isinstance(target, torch.nn.Module):
            for name, child in target.named_modules():
                own = {k: v for k, v in vars(child).items() if not k.startswith("_") and k != "training"}
                own |= dict(child.named_buffers(recurse=False)) | dict(child.named_parameters(recurse=False))
                for key, value in own.items():
                    found |= _watched(f"global self{'.' * bool(name)}{name}.{key}", value)
        for name, (get, _) in _variables(target, names=self.spec["kind"] in ("live", "saved")).items():
            found |= _watched(f"global {name}", get())
        return found

    def _arguments(self, device: str) -> tuple[Any, ...]:
        if self._made is None:
            args, kwargs = self._given(device)
            self.keywords = tuple(kwargs)
            self._made = (*args, *kwargs.values())
            for nudge in NUDGE:
                self._made = tuple(map(nudge, self._made))
        return self._made

    def _given(self, device: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        kind = self.spec["kind"]
        if kind == "live":
            args, kwargs = _fresh((tuple(LIVE["args"]), dict(LIVE["kwargs"])))
            return args, kwargs
        if kind == "saved":
            return saved.load(Path(self.spec["file"]))[1:]
        if kind == "captured":
            held = torch.load(self.spec["file"], weights_only=False)
            if "random" in held:
                torch.set_rng_state(held["random"])
            return tuple(held["inputs"]), {}
        if kind == "fx":
            return _fx_inputs(self._module(self.spec["file"]), Path(self.spec["file"]).parent), {}
        if not self.spec.get("inputs"):
            return (), {}
        file, name = self.spec["inputs"]
        found = getattr(self._module(file), name)
        if callable(found):
            found = found(device) if _takes_one(found) else found()
            return _split(found)
        return _split(_fresh(found))

    def _from_file(self, device: str) -> Any:
        module, name = self._module(self.spec["file"]), self.spec["function"]
        found: Any = module
        for part in name.split("."):
            if not hasattr(found, part):
                raise SubjectError(f"{self.spec['file']} defines no {name!r}")
            found = getattr(found, part)
        if isinstance(found, type):
            try:
                return found()
            except TypeError as error:
                raise SubjectError(f"{name}() cannot be made without arguments: {error}; name a function") from None
        return found(device) if name == "make" else found

    def _fx(self, device: str) -> Any:
        module = self._module(self.spec["file"])
        return module.mod if hasattr(module, "mod") else module.Repro()

    def _captured(self, device: str) -> Any:
        return torch.load(self.spec["file"], weights_only=False)["graph"]

    def _live(self, device: str) -> Any:
        function = LIVE["function"]
        return _fresh(function) if isinstance(function, torch.nn.Module) else function

    def _saved(self, device: str) -> Any:
        with _plain_compile():
            return saved.load(Path(self.spec["file"]))[0]

    def _module(self, file: str) -> ModuleType:
        if file not in self.modules:
            self.modules[file] = load(Path(file))
        return self.modules[file]


Variable = tuple[Callable[[], Any], Callable[[Any], None]]
"""How one reads and writes a variable."""


def _variables(target: Any, *, names: bool) -> dict[str, Variable]:
    """Return the closure of a function, and with `names` the globals that it names."""
    function = inspect.unwrap(target) if callable(target) else target
    function = getattr(function, "__func__", function)
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    found: dict[str, Variable] = {}
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        with contextlib.suppress(ValueError):  # a cell that is still empty
            cell.cell_contents  # noqa: B018
            found[name] = (partial(getattr, cell, "cell_contents"), partial(setattr, cell, "cell_contents"))
    if code and names:
        space = function.__globals__
        found |= {n: (partial(space.get, n), partial(space.__setitem__, n)) for n in code.co_names if n in space}
    return found


_SNAPSHOT: dict[str, Any] = {}


def _restore() -> None:
    """Put back what a run of the live function may have changed; the first time, take note of it."""
    variables = _variables(uncompiled(LIVE["function"]), names=True)
    first = not _SNAPSHOT
    _SNAPSHOT.setdefault("", None)
    for name, (get, put) in variables.items():
        value = get()
        if isinstance(value, torch.nn.Module):
            if first:
                _SNAPSHOT[name] = _fresh(dict(value.state_dict()))
            else:
                value.load_state_dict(_SNAPSHOT[name])
        elif isinstance(value, STATE):
            if first:
                _SNAPSHOT[name] = _fresh(value)
            elif name in _SNAPSHOT:
                put(_fresh(_SNAPSHOT[name]))


def load(path: Path) -> ModuleType:
    """Execute the user's file as a new module, with its folder on the path; torch.compile in it does nothing."""
    name = f"compilefix_subject_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:6]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SubjectError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    with _plain_compile():
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _plain_compile() -> Iterator[None]:
    def plain(model: Any = None, **_: Any) -> Any:
        return model if model is not None else lambda function: function

    with mock.patch.object(torch, "compile", plain):
        yield


def uncompiled(program: Any) -> Any:
    """Return what was given to torch.compile, or `program` itself."""
    seen = 0
    while seen < 8:
        inner = getattr(program, "_torchdynamo_orig_callable", None)
        if isinstance(program, torch.nn.Module):
            inner = program._modules.get("_orig_mod")
        if inner is None:
            return program
        program, seen = inner, seen + 1
    return program


def _with_keywords(function: Any, taken: int, names: tuple[str, ...]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return function(*args[:taken], **dict(zip(names, args[taken:], strict=True)))

    return call


def _check_arity(program: Any, args: tuple[Any, ...], keywords: tuple[str, ...]) -> None:
    taken = len(args) - len(keywords)
    try:
        signature = inspect.signature(program.forward if isinstance(program, torch.nn.Module) else program)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args[:taken], **dict(zip(keywords, args[taken:], strict=True)))
    except TypeError as error:
        hint = "" if args else "; give --inputs FILE:FUNC, or define inputs() beside it"
        raise SubjectError(
            f"the inputs do not fit {getattr(program, '__name__', 'the module')}: {error}{hint}"
        ) from None


def _takes_one(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)


def _split(found: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Read what inputs() returned: arguments, keyword arguments, both, or one object."""
    if isinstance(found, dict) and all(isinstance(key, str) for key in found):
        return (), found
    if not isinstance(found, tuple | list):
        return (found,), {}
    both = len(found) == 2 and isinstance(found[0], tuple | list) and isinstance(found[1], dict)
    if both and all(isinstance(key, str) and key.isidentifier() for key in found[1]):
        return tuple(found[0]), found[1]
    return tuple(found), {}


def _fresh(value: Any) -> Any:
    """Return a copy of `value` that keeps aliasing inside; what cannot be copied is shared."""
    import copy

    memo: dict[int, Any] = {}
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        if isinstance(value, tuple | list):
            return type(value)(_fresh(item) for item in value)
        if isinstance(value, dict):
            return {key: _fresh(item) for key, item in value.items()}
        if isinstance(value, torch.Tensor):
            return value.detach().clone().requires_grad_(value.requires_grad)
        return value


def _watched(path: str, value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {path: value} if value.numel() <= LARGEST else {}
    if isinstance(value, STATE) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return {path: value}
    own = type(value).__module__.startswith(("compilefix_subject_", "__main__"))
    if not own or isinstance(value, torch.nn.Module) or not hasattr(value, "__dict__"):
        return {}
    return {f"{path}.{k}": v for k, v in vars(value).items() if isinstance(v, STATE) and not k.startswith("__")}


def _fx_inputs(module: ModuleType, folder: Path) -> tuple[Any, ...]:
    if hasattr(module, "load_args"):
        from torch._dynamo.debug_utils import InputReader

        reader = InputReader(save_dir=str(folder))
        module.load_args(reader)
        return tuple(reader.args)
    if hasattr(module, "args"):
        return tuple(_fresh(module.args))
    raise SubjectError("an FX repro has load_args(reader) or args; this file has neither")
