"""Units of work on any executor: delivered once each, and handed out again when a worker dies."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compilefix.errors import HarnessError, UsageError
from compilefix.upgrade import executors
from compilefix.upgrade.executors import Serial, spread


def square(number: int) -> int:
    """Return a square; zero is an error."""
    if number == 0:
        raise ValueError("no zero")
    return number * number


def stay(folder: str, number: int) -> int:
    """Leave a file a try, take a while and return a square."""
    Path(folder, f"{number}-{os.getpid()}-{time.time_ns()}").touch()
    time.sleep(0.3)
    return number * number


def die(number: int) -> int:
    """End the worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("make", [Serial, lambda: ThreadPoolExecutor(3)], ids=["serial", "threads"])
def test_every_unit_is_delivered_once(make: Any) -> None:
    """However many units there are, and however few are handed out at a time."""
    with make() as pool:
        found = list(spread(range(1, 40), square, lambda unit: pool, ahead=4))
    assert sorted(found) == [(n, n * n) for n in range(1, 40)]


def test_serial_hands_over_what_is_done_before_it_starts_the_next() -> None:
    """So that it is on disk when the next one is interrupted."""
    log: list[str] = []

    def work(unit: int) -> int:
        log.append(f"ran {unit}")
        return unit

    for unit, _ in spread([1, 2, 3], work, lambda unit: Serial()):
        log.append(f"got {unit}")
    assert log == ["ran 1", "got 1", "ran 2", "got 2", "ran 3", "got 3"]


def test_an_interrupt_reaches_the_caller_of_a_serial_executor() -> None:
    def work(unit: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(spread([1], work, lambda unit: Serial()))


def test_an_error_of_the_work_is_raised() -> None:
    """It is no lost worker, so it is not tried again."""
    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="no zero"):
        list(spread([1, 0, 2], square, lambda unit: pool))


def test_a_pool_that_breaks_for_good_is_an_error_of_the_harness() -> None:
    """Its units cannot be handed out again."""
    with ProcessPoolExecutor(1) as pool, pytest.raises(HarnessError, match="no worker is left"):
        list(spread([1], die, lambda unit: pool))


def test_without_dask_the_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"compilefix\[cluster\]"), executors.cluster("tcp://127.0.0.1:1"):
        pass


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """Two worker processes, one of which has a GPU as far as it says."""
    import distributed
    from distributed.nanny import Nanny

    spec = {
        name: {"cls": Nanny, "options": {"nthreads": 1, "resources": resources}}
        for name, resources in (("plain", {"avx2": 1}), ("gpu", {"avx2": 1, "h100": 1, "cuda": 1}))
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard": False, "port": 0}}
    with distributed.SpecCluster(workers=spec, scheduler=scheduler, silence_logs=50) as cluster:
        cluster.wait_for_workers(2, timeout=120)
        yield cluster


def kill_a_busy_worker(dask: Any) -> None:
    """Kill the process of a worker that is in the middle of a unit."""
    import distributed

    with distributed.Client(dask.scheduler_address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        for _ in range(600):
            busy = [address for address, keys in client.processing().items() if keys and address in pids]
            if busy:
                os.kill(pids[busy[0]], signal.SIGKILL)
                return
            time.sleep(0.05)
    raise AssertionError("no worker became busy")


def kill_who_has_begun(folder: Path) -> None:
    """Kill the process that has just begun a unit, while it stays in it."""
    for _ in range(6000):
        begun = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
        if len(begun) > 3:  # those before may be over
            os.kill(int(begun[-1].name.split("-")[1]), signal.SIGKILL)
            return
        time.sleep(0.01)
    raise AssertionError("no worker began")


@pytest.mark.slow
def test_a_killed_worker_loses_nothing_and_doubles_nothing(dask: Any, tmp_path: Path) -> None:
    """One of two processes is killed in the middle: every unit comes back once, the lost one was run again."""
    killer = threading.Thread(target=kill_who_has_begun, args=(tmp_path,))
    with executors.cluster(dask.scheduler_address) as executor:
        pool: Executor = executor(("cpu", None))
        killer.start()
        found = list(spread(range(20), partial(stay, str(tmp_path)), lambda unit: pool))
    killer.join()
    assert sorted(found) == [(n, n * n) for n in range(20)]
    tries = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    assert len(tries) > 20
    assert {int(name) for name in tries} == set(range(20))


@pytest.mark.slow
def test_units_go_where_their_resources_are(dask: Any) -> None:
    """A place names a resource; one that no worker offers is an error at once, not a wait for ever."""
    dask.wait_for_workers(2, timeout=120)
    with executors.cluster(dask.scheduler_address) as executor:
        for place in (("cuda", None), ("cpu", "h100")):
            pool = executor(place)
            where = {pid for _, pid in spread(range(4), _pid, lambda unit, pool=pool: pool)}
            assert len(where) == 1
        with pytest.raises(UsageError, match="no worker of the cluster offers cuda, a100"):
            executor(("cuda", "a100"))


def _pid(number: int) -> int:
    time.sleep(0.1)
    return os.getpid()


@pytest.mark.slow
def test_an_address_where_nothing_answers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 1)
    with pytest.raises(HarnessError, match="no Dask scheduler answers"), executors.cluster("tcp://127.0.0.1:9"):
        pass
