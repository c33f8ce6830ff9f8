"""Run a test where Triton interprets: in a fork of a process that was set up for it. pytest's own stays as it is."""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any
from unittest import mock

import pytest

from compilefix.cuda_interpreted import requirement

PATIENCE = 300.0
"""Seconds within which one test must end."""


@functools.cache
def _server() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.cuda_interpreted.warm"])
    folder = tempfile.mkdtemp(prefix="compilefix-interpreted-")
    variables = {"TRITON_INTERPRET": "1", "TORCHINDUCTOR_CACHE_DIR": folder, "TRITON_CACHE_DIR": folder}
    with mock.patch.dict(os.environ, variables):
        context.Process(target=int).start()  # starts the server, which keeps these variables
    return context


def interpreted(test: Callable[..., None]) -> Callable[..., None]:
    """Run `test` in a fork of the interpreting process; skip it where Triton's interpreter cannot be had."""

    @functools.wraps(test)
    def outside(**arguments: Any) -> None:
        if reason := requirement.trouble():
            pytest.skip(reason)
        context = _server()
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_inside, args=(there, test.__module__, test.__name__, arguments))
        process.start()
        there.close()
        try:
            failure = here.recv() if here.poll(PATIENCE) else f"no end within {PATIENCE} s"
        except EOFError:
            process.join()
            failure = f"the process died with exit code {process.exitcode}"
        process.kill()
        process.join()
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    return outside


def _inside(connection: Connection, module: str, name: str, arguments: dict[str, Any]) -> None:
    from tests.cuda_interpreted import warm  # noqa: F401  (preloaded; here for a server that could not)

    try:
        getattr(importlib.import_module(module), name).__wrapped__(**arguments)
    except BaseException:
        connection.send(traceback.format_exc())
    else:
        connection.send(None)
