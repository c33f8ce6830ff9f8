"""A contract's claim is run plainly beside its program, and the whole oracle says whether the two agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.outcome import Did, Outcome
from compilefix.runner.protocol import Mode, Request
from compilefix.runner.worker import serve

HEAD = '''"""
Told.

Why: it is told.
What to do: nothing.
"""

import torch

from compilefix.issue import Contract, Truth

CONTRACT = Contract(statement="It is so.", truth=Truth.HOLDS)


def inputs(device):
    return torch.tensor([1.0, 2.0, 3.0], device=device), torch.tensor([5.0], device=device)


'''


def reference(folder: Path, program: str, claim: str, more: str = "") -> Outcome:
    """Serve the reference run of a contract with these bodies of `program(x, y)` and `claim(x, y)`."""
    repro = folder / "contract_told.py"
    functions = f"def program(x, y):\n    {program}\n\n\ndef claim(x, y):\n    {claim}\n\n\n{more}"
    repro.write_text(HEAD + functions, encoding="utf-8")
    return serve(Request(repro=str(repro), target="reference:cpu", mode=Mode.REFERENCE, exchange=str(folder)))


AGREE = [
    ("return x + x", "return x * 2"),
    ("return x.sum()", "return torch.tensor(6.0)"),
    ("x.mul_(2)\n    return None", "x.copy_(torch.tensor([2.0, 4.0, 6.0]))"),
    ("return x[:2]", "return x.view(-1)[0:2]"),
    ("raise ValueError('mine')", "raise ValueError('in other words')"),
    ("return torch.rand(2)", "return torch.rand(2)"),
    ("return x * float('nan')", "return torch.full((3,), float('nan'))"),
]


@pytest.mark.parametrize(("program", "claim"), AGREE)
def test_a_claim_that_agrees_holds(program: str, claim: str, tmp_path: Path) -> None:
    """The same result by another way, the same write, the same alias, the same type of exception."""
    outcome = reference(tmp_path, program, claim)
    assert (outcome.did, outcome.facts["claim"]) == (Did.OK, True)
    assert "against" not in outcome.facts


DISAGREE = {
    "values": ("return x + x", "return x * 3", "values of result at [0]: told 3.0, is 2.0"),
    "dtype": ("return x + 1", "return (x + 1).double()", "dtype of result: told float64, is float32"),
    "shape": ("return x + 1", "return (x + 1)[None]", "shape of result: told [1, 3], is [3]"),
    "mutation": ("return x + 1", "return x.add_(1)", "mutation of input[0] at [0]: told 2.0, is 1.0"),
    "no mutation": ("x.zero_()\n    return 1", "return 1", "mutation of input[0] at [0]: told 1.0, is 0.0"),
    "alias": ("return x.clone()", "return x", "alias of result and input[0]: told share memory, is separate"),
    "no alias": ("return x", "return x.clone()", "alias of result and input[0]: told separate, is share memory"),
    "raises": (
        "return x",
        "raise IndexError('out of range')",
        "exception of the call: told IndexError: out of range, is no exception",
    ),
    "raises not": ("raise IndexError('no')", "return x", "exception of the call: told no exception, is IndexError: no"),
    "raises otherwise": (
        "raise IndexError('no')",
        "raise RuntimeError('no')",
        "exception of the call: told RuntimeError: no, is IndexError: no",
    ),
    "structure": ("return [x + 1]", "return (x + 1,)", "structure of result: told tuple of 1, is list of 1"),
    "exact values where the program rounds": (
        "return (x[:1] + 1e8) - 1e8",
        "return x[:1] * 1",
        "values of result at [0]: told 1.0, is 0.0",
    ),
}


@pytest.mark.parametrize(("program", "claim", "against"), DISAGREE.values(), ids=DISAGREE)
def test_a_claim_that_lies_is_told_with_its_first_difference(
    program: str, claim: str, against: str, tmp_path: Path
) -> None:
    """Each kind of difference that the oracle knows makes the statement false; the plain run is still a reference."""
    outcome = reference(tmp_path, program, claim)
    assert outcome.did is Did.OK
    assert outcome.facts["claim"] is False
    assert outcome.facts["against"] == against


def test_the_claim_gets_inputs_of_its_own(tmp_path: Path) -> None:
    """What the program wrote into its inputs, or into the module, is not what the claim begins with."""
    more = "SEEN = []\n"
    outcome = reference(
        tmp_path, "x.zero_()\n    SEEN.append(1)\n    return len(SEEN)", "x.mul_(0)\n    return 1", more
    )
    assert outcome.facts["claim"] is True


def test_the_claim_is_driven_as_the_program_is(tmp_path: Path) -> None:
    """Every call of a drive is compared, and what it returns."""
    more = "def drive(f, x, y):\n    f(x, y)\n    return f(x, y)\n"
    same = reference(tmp_path, "return x.add_(1)", "x += 1\n    return x", more)
    assert same.facts["claim"] is True
    other = reference(tmp_path, "return x.add_(1) * 1", "x.fill_(9)\n    return x * 1", more)
    assert other.facts["against"] == "values of call 0 at [0]: told 9.0, is 2.0"


BROKEN = {
    "slip": ("return x", "return undefined", "the claim is broken: NameError: name 'undefined' is not defined"),
    "random": (
        "return x",
        "import os\n    return os.urandom(8)",
        "not deterministic: two runs of the claim differ in values of result",
    ),
    "program slips": (
        "return undefined",
        "return x",
        "the plain program raises NameError: name 'undefined' is not defined; there is nothing to compare with",
    ),
}


@pytest.mark.parametrize(("program", "claim", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_claim_that_is_no_use_is_no_verdict(program: str, claim: str, reason: str, tmp_path: Path) -> None:
    """A typing mistake or a claim that is never the same twice says nothing of torch."""
    outcome = reference(tmp_path, program, claim)
    assert (outcome.did, outcome.reason) == (Did.UNRESOLVED, reason)
    assert "claim" not in outcome.facts
