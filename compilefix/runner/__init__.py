"""Run repros, each target in a process of its own."""

from __future__ import annotations

from compilefix.runner.process import Launcher, SpawnLauncher, ZygoteLauncher
from compilefix.runner.schedule import Check, Options, targets_for
from compilefix.runner.session import Watcher, check, default_cache, default_isolation

__all__ = [
    "Check",
    "Launcher",
    "Options",
    "SpawnLauncher",
    "Watcher",
    "ZygoteLauncher",
    "check",
    "default_cache",
    "default_isolation",
    "targets_for",
]
