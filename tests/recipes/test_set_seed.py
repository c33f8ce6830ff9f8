"""Same numbers after the same seed, and all states back afterwards."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
import torch

from compilefix.recipes import set_seed
from compilefix.recipes.set_seed import CUBLAS, SeedRestorer, _restore_device


@pytest.fixture(autouse=True)
def private_state() -> Iterator[None]:
    """Keep this file's seeds from other tests, without the code under test."""
    state = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(state[0])
    numpy.random.set_state(state[1])
    torch.set_rng_state(state[2])


def draw() -> tuple[float, float, float]:
    """Draw from every generator."""
    return random.random(), float(numpy.random.rand()), float(torch.rand(()))


def test_same_seed_same_numbers() -> None:
    """All generators start at the seed, and give what they give when seeded one by one."""
    set_seed(7)
    first = draw()
    set_seed(7)
    assert draw() == first
    set_seed(8)
    assert all(a != b for a, b in zip(draw(), first, strict=True))
    random.seed(7)
    numpy.random.seed(7)
    torch.manual_seed(7)
    assert draw() == first


def test_call_brings_every_state_back() -> None:
    """The numbers that follow are those that would have followed; also at the second call."""
    set_seed(1)
    draw()
    restore = set_seed(2)
    draw()
    restore()
    after = draw()
    restore()
    assert draw() == after
    set_seed(1)
    draw()
    assert draw() == after
    assert (restore.seed, restore.deterministic) == (2, False)
    assert isinstance(restore, SeedRestorer)


def test_block_brings_every_state_back_even_after_an_error() -> None:
    """Nested blocks, the inner one left by an exception."""
    set_seed(1)
    want = draw()
    set_seed(1)
    with set_seed(2):
        inside = draw()
        with pytest.raises(ValueError, match="no number"), set_seed(3):
            int("no number")
    assert draw() == want
    set_seed(2)
    assert draw() == inside


@pytest.mark.parametrize("workspace", [None, ":16:8"])
def test_deterministic_settings_come_and_go(monkeypatch: pytest.MonkeyPatch, workspace: str | None) -> None:
    """On with the flag, as before after the restore; a workspace that is set stays."""
    monkeypatch.delenv(CUBLAS, raising=False)
    if workspace is not None:
        monkeypatch.setenv(CUBLAS, workspace)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with set_seed(0, deterministic=True) as restorer:
            assert restorer.deterministic
            assert torch.are_deterministic_algorithms_enabled()
            assert not torch.is_deterministic_algorithms_warn_only_enabled()
            assert torch.backends.cudnn.deterministic
            assert not torch.backends.cudnn.benchmark
            assert os.environ[CUBLAS] == (workspace or ":4096:8")
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        assert not torch.backends.cudnn.deterministic
        assert torch.backends.cudnn.benchmark
        assert os.environ.get(CUBLAS) == workspace
    finally:
        torch.use_deterministic_algorithms(False)


def test_without_the_flag_settings_stay() -> None:
    """A program that has deterministic algorithms on keeps them."""
    torch.use_deterministic_algorithms(True)
    try:
        set_seed(0)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy is not installed the rest is seeded all the same."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "numpy" else find(name, *rest))
    numpy.random.seed(5)
    want = numpy.random.get_state()[1].tolist()
    set_seed(3)()
    assert numpy.random.get_state()[1].tolist() == want


class Device:
    """The part of torch.cuda that keeps random state, with two devices."""

    def __init__(self, *, started: bool) -> None:
        self.started = started
        self.states = [10, 20]
        self.queued: int | None = None

    def is_initialized(self) -> bool:
        """Tell whether the device has been used."""
        return self.started

    def get_rng_state_all(self) -> list[int]:
        """Return the states; asking would start the device."""
        assert self.started
        return list(self.states)

    def set_rng_state_all(self, states: list[int]) -> None:
        """Set the states; that would start the device."""
        assert self.started
        self.states = list(states)

    def manual_seed_all(self, seed: int) -> None:
        """Seed now, or when the device starts."""
        self.queued = seed


def test_a_device_that_runs_gets_its_states_back() -> None:
    """One state for each device of the kind."""
    device = Device(started=True)
    undo = _restore_device(device, earlier=99)
    device.states = [1, 2]
    undo()
    assert (device.states, device.queued) == ([10, 20], None)


@pytest.mark.parametrize("starts", [False, True])
def test_a_device_that_has_not_started_is_not_started(starts: bool) -> None:
    """It gets the seed back that torch held for it, whether or not it started in between."""
    device = Device(started=False)
    undo = _restore_device(device, earlier=99)
    device.started = starts
    undo()
    assert device.queued == 99


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (-1, ValueError, "seed=-1 must be from 0 to 4294967295"),
        (2**32, ValueError, "seed=4294967296 must be from 0 to 4294967295"),
        (1.0, TypeError, "seed must be an int, not float"),
        (True, TypeError, "seed must be an int, not bool"),
    ],
)
def test_mistakes(seed: Any, error: type[Exception], message: str) -> None:
    """Each names what is wrong, and nothing has been seeded then."""
    before = torch.get_rng_state()
    with pytest.raises(error, match=message):
        set_seed(seed)
    assert torch.equal(torch.get_rng_state(), before)
    set_seed(2**32 - 1)()
