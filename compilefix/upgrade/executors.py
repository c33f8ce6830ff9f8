"""
Hand units of work to any `concurrent.futures.Executor`: this process, a pool, or a cluster's.

Whatever the executor, a unit is delivered once. A unit whose worker was lost is handed out again.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, TypeVar

from compilefix.errors import HarnessError, UsageError

U = TypeVar("U")
R = TypeVar("R")
ATTEMPTS = 3
"""How many workers a unit may lose before the whole is given up."""

PATIENCE = 20
"""Seconds in which a scheduler must answer."""

Place = tuple[str, str | None]
"""Device and resource that the worker of a unit must have."""


class Serial(Executor):
    """Runs everything at once, in the calling thread: Ctrl-C reaches what runs."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Call `fn` now and return its finished future; what is no `Exception` goes through."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def spread(
    units: Iterable[U],
    work: Callable[[U], R],
    executor: Callable[[U], Executor],
    *,
    ahead: int = 64,
    lost: Callable[[U], None] = lambda unit: None,
) -> Iterator[tuple[U, R]]:
    """
    Yield every unit with what `work` returned for it, in the order in which they are done.

    `executor` says which executor a unit goes to; at most `ahead` units are handed out at a time. `lost` is told of
    each unit that is handed out again because its worker died. Raises what `work` raises, and `HarnessError` for a unit
    that lost `ATTEMPTS` workers.
    """
    queue = iter(units)
    tries: dict[int, int] = {}
    running: dict[Future[R], tuple[int, U]] = {}
    numbered = enumerate(queue)
    try:
        while True:
            for number, unit in numbered:
                running[executor(unit).submit(work, unit)] = (number, unit)
                if len(running) >= ahead or next(iter(running)).done():
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                number, unit = running.pop(future)
                error = None if future.cancelled() else future.exception()
                if not future.cancelled() and error is None:
                    yield unit, future.result()
                    continue
                if error is not None and not _worker_died(error):
                    raise error
                tries[number] = tries.get(number, 1) + 1
                if tries[number] > ATTEMPTS:
                    raise HarnessError(f"{unit}: {ATTEMPTS} workers died over it")
                lost(unit)
                try:
                    running[executor(unit).submit(work, unit)] = (number, unit)
                except BrokenExecutor as broken:
                    raise HarnessError(f"{unit}: no worker is left: {broken}") from None
    finally:
        for future in running:
            future.cancel()


def _worker_died(error: BaseException) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, BrokenExecutor | CancelledError) or bool(names & {"KilledWorker", "FutureCancelledError"})


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Callable[[Place], Executor]]:
    """
    Connect to a Dask scheduler and yield what returns the executor for a device and a resource.

    A unit for CUDA goes to workers that were started with ``--resources "cuda=1"``, a unit for a place such as
    ``h100`` or ``avx2`` to those with that resource; one for a CPU and no place to any. The scheduler itself hands the
    units of a lost worker to the next. Raises `UsageError` where Dask is missing, `HarnessError` where nothing answers.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UsageError('--cluster needs Dask: pip install "compilefix[cluster]"') from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise HarnessError(f"no Dask scheduler answers at {address}: {error}") from None
    made: dict[Place, Executor] = {}

    def executor(place: Place) -> Executor:
        if place not in made:
            device, resource = place
            needed = {name: 1 for name in ("cuda" if device == "cuda" else None, resource) if name}
            _offered(client, needed)
            made[place] = client.get_executor(pure=False, **({"resources": needed} if needed else {}))
        return made[place]

    with client:
        yield executor


def _offered(client: Any, needed: dict[str, int]) -> None:
    """Raise `UsageError` where no worker has all of `needed`: its units would wait for ever."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except TypeError:  # Dask before 2025 tells of all workers
        workers = client.scheduler_info()["workers"].values()
    if not workers:
        raise HarnessError("the cluster has no workers")
    if not any(all(worker.get("resources", {}).get(n, 0) >= k for n, k in needed.items()) for worker in workers):
        raise UsageError(f'no worker of the cluster offers {", ".join(needed)} (dask worker --resources "NAME=1")')
