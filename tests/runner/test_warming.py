"""What a warmed parent is warmed for."""

from __future__ import annotations

import pytest

from compilefix.outcome import Target
from compilefix.runner import Options
from compilefix.runner.session import _exercise
from compilefix.runner.warm import EXERCISED


@pytest.mark.parametrize(
    ("targets", "exercised"),
    [
        ((), EXERCISED),
        (("inductor:cpu",), EXERCISED),
        (("eager:cpu", "inductor:cuda"), EXERCISED),
        (("aot_eager:cpu", "aot_eager_decomp_partition:cpu:dynamic"), ("aot_eager",)),
        (("eager:cpu", "reference:cpu"), ()),
        (("inductor:cuda-interpreted",), ()),
    ],
)
def test_only_what_the_targets_use_is_exercised(targets: tuple[str, ...], exercised: tuple[str, ...]) -> None:
    """The interpreted target has a parent of its own; proving workarounds may compile with any backend."""
    chosen = tuple(map(Target.parse, targets))
    assert _exercise(Options(targets=chosen)) == exercised
    assert _exercise(Options(targets=chosen, kinds=lambda record: {})) == EXERCISED
