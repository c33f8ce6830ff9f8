"""Run repros, each target in a process of its own."""

from __future__ import annotations

from compilefix.runner.process import Launcher, SpawnLauncher, ZygoteLauncher
from compilefix.runner.schedule import Check, Options, targets_for

__all__ = ["Check", "Launcher", "Options", "SpawnLauncher", "ZygoteLauncher", "targets_for"]
