"""What differs between two runs of one failure is taken out of its text; what tells failures apart stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.issue import Symptom
from compilefix.upgrade.signature import Failure, Signature, normalise, of_traceback, place


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 0x7f12ab", "at 0x55d0"),
        ("size [2, 3] and [4]", "size [20, 30] and [5]"),
        ("torch.Size([2, 3])", "torch.Size([7])"),
        ("got 3.14e-05, want -2", "got 1.0, want 17"),
        ("in /tmp/torchinductor_a/ab/cabc12.py", "in /home/x/y/z.py"),
        ("buf12 += primals_3", "buf7 += primals_11"),
        ("kernel cpp_fused_add_0", "kernel cpp_fused_add_14"),
        ("torch 2.9.1+cu128 has no", "torch 2.14.1 has no"),
        ("key deadbeef01 of s77", "key 0123456789abcdef of s1"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
        ("a\n  b", "a b"),
    ],
)
def test_what_changes_from_run_to_run_is_taken_out(one: str, other: str) -> None:
    """Both normalise to the same text."""
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dtype float32", "dtype float64"),
        ("conv2d is missing", "conv3d is missing"),
        ("aten.scatter fails", "aten.gather fails"),
        ("x is None", "x is not None"),
    ],
)
def test_names_stay(one: str, other: str) -> None:
    """Digits that belong to a name tell failures apart."""
    assert normalise(one) != normalise(other)


def failure(**changes: str) -> Failure:
    """Return a failure."""
    fields = {"test": "t.py::test", "when": "call", "error": "torch.X.BackendError", "message": "boom 1\nrest"}
    return Failure(**fields | changes)


def test_a_signature_is_class_first_line_and_place() -> None:
    """The module of the class and later lines do not count; the place does."""
    assert failure(frame="model.py:step").signature == Signature("BackendError", "boom <n>", "model.py:step")
    assert failure(message="boom 22").signature == failure().signature
    assert failure(frame="a.py:f").signature != failure(frame="a.py:g").signature


def test_assertions_are_grouped_by_place_and_errors_by_what_they_say() -> None:
    """`Tensor-likes are not close!` says nothing of its cause."""
    a, b = (failure(error="AssertionError", frame=f"t.py:{name}").signature for name in ("f", "g"))
    assert a.cause != b.cause
    c, d = (failure(frame=f"t.py:{name}").signature for name in ("f", "g"))
    assert c.cause == d.cause


@pytest.mark.parametrize(
    ("error", "message", "symptom"),
    [
        ("AssertionError", "", Symptom.WRONG_RESULT),
        ("SIGSEGV", "", Symptom.CRASH),
        ("Timeout", "", Symptom.HANG),
        ("Failed", "DID NOT RAISE <class 'IndexError'>", Symptom.MISSING_ERROR),
        ("RuntimeError", "", Symptom.ERROR),
    ],
)
def test_the_symptom_follows_from_the_class(error: str, message: str, symptom: Symptom) -> None:
    """As a record would call it."""
    assert failure(error=error, message=message).symptom is symptom


TEXT = """\
warning
Traceback (most recent call last):
  File "other.py", line 1, in <module>
    f()
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "{folder}/train.py", line 9, in <module>
    main()
  File "{folder}/net/model.py", line 4, in forward
    return op(x)
           ^^^^^
  File "/opt/lib/python3.11/site-packages/torch/_ops.py", line 3, in __call__
    raise torch.X.BackendError("boom\\n second")
torch.X.BackendError: boom
  second
"""


def test_the_last_traceback_is_read(tmp_path: Path) -> None:
    """Class, message, and the innermost frame of the user's own code."""
    told = of_traceback(TEXT.format(folder=tmp_path))
    assert told is not None
    error, message, frames = told
    assert (error, message) == ("torch.X.BackendError", "boom\n  second")
    assert place(frames, tmp_path) == "net/model.py:forward"
    assert of_traceback("no traceback here") is None
