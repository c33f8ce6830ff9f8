"""Write down what the compiler makes while it makes it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from torch.fx.passes.graph_transform_observer import GraphTransformObserver

from compilefix.diagnosis import artifacts, hook
from compilefix.registry import Record


@contextlib.contextmanager
def enter(told: dict[str, Any], record: Record, seen: dict[str, Any]) -> Iterator[None]:
    """Keep graphs and kernels in ``told["folder"]``; with ``depyf`` only the bytecode, decompiled."""
    folder, troubles = Path(told["folder"]), list[str]()
    seen["artifacts"] = {"troubles": troubles}
    if told.get("depyf"):
        yield
        artifacts.decompile(folder / "bytecode", troubles)
        return
    for name in ("graphs", "kernels"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with _passes(folder / "graphs"), _kernels(folder / "kernels", troubles), _dynamo(folder / "graphs"):
        yield


@contextlib.contextmanager
def _dynamo(folder: Path) -> Iterator[None]:
    def choose(number: int, gm: Any, compiler: hook.Compiler) -> hook.Compiler:
        (folder / f"dynamo_{number}.txt").write_text(_code(gm), encoding="utf-8")
        return compiler

    with hook.each_graph(choose):
        yield


def _code(gm: Any) -> str:
    try:
        return str(gm.print_readable(print_output=False))
    except Exception:  # some graphs cannot be printed in full
        return str(gm.graph)


@contextlib.contextmanager
def _passes(folder: Path) -> Iterator[None]:
    names = ("apply_gm_pass", "apply_graph_pass")
    before = {n: GraphTransformObserver.__dict__[n] for n in names if n in GraphTransformObserver.__dict__}
    count = 0

    def watched(original: Any) -> Any:
        def apply(self: Any, function: Any) -> Any:
            nonlocal count
            count += 1
            stem, text = f"{count:03d}_{self.passname}", str(self.gm.graph)
            try:
                return original(self, function)
            finally:
                after = str(self.gm.graph)
                if after != text:
                    (folder / f"{stem}_before.txt").write_text(text, encoding="utf-8")
                    (folder / f"{stem}_after.txt").write_text(after, encoding="utf-8")

        return apply

    with contextlib.ExitStack() as stack:
        for name, original in before.items():
            stack.enter_context(mock.patch.object(GraphTransformObserver, name, watched(original)))
        yield


@contextlib.contextmanager
def _kernels(folder: Path, troubles: list[str]) -> Iterator[None]:
    from torch._inductor.graph import GraphLowering

    if not hasattr(GraphLowering, "save_output_code"):
        troubles.append("no kernels: this torch does not say what it has written")
        yield
        return
    count = 0

    def save(code: str) -> None:
        nonlocal count
        (folder / f"output_code_{count}.py").write_text(code, encoding="utf-8")
        count += 1

    with mock.patch.object(GraphLowering, "save_output_code", staticmethod(save)):
        yield
