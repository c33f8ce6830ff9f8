"""
A match statement with a dict pattern ends in an internal error.

Why: Dynamo handed its own stand-in for the tuple of keys to code that expects a real tuple.
What to do: upgrade; right in 2.11.0. On an affected release use if with in.
"""

import torch

from compilefix.issue import Affected, Issue, Symptom

ISSUE = Issue(
    symptom=Symptom.ERROR,
    stage="eager",
    culprit="symbolic_convert/match_keys",
    devices=("cpu", "cuda"),
    affected=(Affected(first_seen="2.4.1", last_seen="2.9.1", fixed="2.11.0"),),
    matches=(r"'TupleVariable' object is not iterable",),
    references=("https://github.com/pytorch/pytorch/pull/165956",),
)


def program(options: dict[str, torch.Tensor]) -> torch.Tensor:
    match options:
        case {"bias": bias, "scale": scale}:
            return bias + scale
        case _:
            return torch.zeros(2)


def workaround(options: dict[str, torch.Tensor]) -> torch.Tensor:
    if "bias" in options and "scale" in options:
        return options["bias"] + options["scale"]
    return torch.zeros(2)


def inputs(device: str) -> tuple[dict[str, torch.Tensor], ...]:
    return ({"bias": torch.ones(2, device=device), "scale": torch.arange(2.0, device=device)},)
