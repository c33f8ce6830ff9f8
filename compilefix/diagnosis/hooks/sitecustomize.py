"""Python runs this at start-up where ``-- COMMAND`` is diagnosed: it watches the graphs as soon as torch has Dynamo."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

WATCHED = "torch._dynamo.output_graph"


class Watching(importlib.abc.Loader):
    """Loads the watched module as always, then puts the watcher into it."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: Any) -> Any:
        """See `importlib.abc.Loader`."""
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Load, then watch."""
        self.loader.exec_module(module)
        from compilefix.diagnosis import watching

        watching.install(module.OutputGraph, os.environ["COMPILEFIX_CAPTURE"])


class Finder(importlib.abc.MetaPathFinder):
    """Finds the watched module once."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return the usual spec with our loader."""
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None:
            spec.loader = Watching(spec.loader)
        return spec


def start() -> None:
    """Run the user's own sitecustomize, then wait for torch."""
    here = str(Path(__file__).resolve().parent)
    rest = [p for p in sys.path if os.path.realpath(p or ".") != here]
    own = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if own is not None and own.loader is not None:
        own.loader.exec_module(importlib.util.module_from_spec(own))
    if "COMPILEFIX_CAPTURE" in os.environ:
        sys.meta_path.insert(0, Finder())


start()
