"""Cures: what a workaround does to a program, from the two outcomes."""

from __future__ import annotations

import itertools

import pytest

from compilefix.cure import Cure, Effect, effect, weigh
from compilefix.outcome import Did, Outcome, Target

TARGET = Target("inductor")


@pytest.mark.parametrize(
    ("program", "treated", "what"),
    [
        (Did.MISMATCH, Did.OK, Effect.CURES),
        (Did.CRASH, Did.NUMERICS, Effect.CURES),
        (Did.MISMATCH, Did.MISMATCH, Effect.DOES_NOT_CURE),
        (Did.CRASH, Did.MISMATCH, Effect.DOES_NOT_CURE),
        (Did.MISMATCH, Did.ERROR, Effect.WORSE),
        (Did.ERROR, Did.HANG, Effect.WORSE),
        (Did.OK, Did.MISMATCH, Effect.WORSE),
        (Did.OK, Did.OK, Effect.NOT_NEEDED),
        (Did.MISMATCH, Did.UNRESOLVED, Effect.UNCLEAR),
        (Did.UNSUPPORTED, Did.OK, Effect.UNCLEAR),
    ],
)
def test_the_effect_is_what_a_user_would_say(program: Did, treated: Did, what: Effect) -> None:
    assert effect(Outcome(did=program), Outcome(did=treated)) is what


def test_every_pair_of_outcomes_has_an_effect_and_only_a_right_run_cures() -> None:
    for program, treated in itertools.product(Did, Did):
        found = effect(Outcome(did=program), Outcome(did=treated))
        assert (found is Effect.CURES) == (program.bad and treated in (Did.OK, Did.NUMERICS))


def test_a_cure_goes_through_json_with_its_price() -> None:
    program = Outcome(did=Did.MISMATCH, facts={"graph_breaks": 1})
    treated = Outcome(did=Did.OK, facts={"graph_breaks": 3, "price": {"ratio": 1.25, "extra_bytes": -8}})
    cure = weigh("gh1", "config", "a setting", TARGET, program, treated)
    assert (cure.ratio, cure.graph_breaks, cure.extra_bytes) == (1.25, 2, -8)
    assert Cure.from_json(cure.to_json()) == cure


def test_what_was_not_measured_stays_unset() -> None:
    cure = weigh("gh1", "own", "a rewrite", TARGET, Outcome(did=Did.CRASH), Outcome(did=Did.OK))
    assert (cure.ratio, cure.graph_breaks, cure.extra_bytes) == (None, None, None)
    assert cure.effect is Effect.CURES
