"""On, off, again, elsewhere: contexts, decorators, threads, the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack

import compilefix
from compilefix.validation import IndexFault, UncheckedWarning, validate, validated
from compilefix.validation import mode as mode_module
from tests.validation.calls import faults, t, x

ROOT = Path(__file__).parents[2]


def test_no_state_is_left_behind() -> None:
    """After faults, nesting and normal exits the stack of modes is as before, and torch has its own functions."""
    functions = torch.scatter, torch.Tensor.__getitem__, torch.nn.functional.embedding
    for _ in range(2):
        with pytest.raises(IndexFault), validate(), validate("error"):
            x()[t(9)]
        assert _get_current_function_mode_stack() == []
    with pytest.raises(IndexError):
        x()[t(9)]
    assert functions == (torch.scatter, torch.Tensor.__getitem__, torch.nn.functional.embedding)


def test_the_inner_activation_decides_first() -> None:
    """Nested activations each check with their own policy; one object may be entered again."""
    conflict = lambda: x().index_copy(0, t(1, 1), x(2, 5))  # noqa: E731
    outer = validate("ignore")
    with outer, pytest.raises(IndexFault), validate("error"):
        conflict()
    with outer, outer:
        conflict()
    with validate("error"), validate("ignore"), pytest.raises(IndexFault):
        conflict()


def test_the_decorator() -> None:
    """With and without arguments; the function keeps its name, and a wrong policy is heard at once."""

    @validated
    def pick(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return table[index]

    @validated(duplicates="error")
    def write(table: torch.Tensor) -> torch.Tensor:
        return table.index_copy(0, t(1, 1), x(2, 5))

    assert pick.__name__ == "pick"
    assert pick(x(), t(1)).tolist() == [[5.0, 6.0, 7.0, 8.0, 9.0]]
    with pytest.raises(IndexFault, match=r"index\[0\] = 4 is outside"):
        pick(x(), t(4))
    with pytest.raises(IndexFault, match="undefined"):
        write(x())
    with pytest.raises(ValueError, match="must be one of"):
        validated(duplicates="no")(lambda: None)
    assert _get_current_function_mode_stack() == []


def test_threads_have_their_own() -> None:
    """A thread started inside the context is not in it."""
    seen: list[int] = []
    with validate():
        thread = threading.Thread(target=lambda: seen.append(len(_get_current_function_mode_stack())))
        thread.start()
        thread.join()
    assert seen == [0]


def test_what_is_not_checked_can_be_read() -> None:
    """The limits are there for every activation, one line each."""
    assert validate().limits == compilefix.validate.limits
    assert all("\n" not in line for line in validate.limits)
    assert any("thread" in line for line in validate.limits)


@pytest.mark.parametrize(
    ("release", "says"),
    [
        ("2.5.1+cpu", "measured on 2.6 and later only"),
        ("2.6.0", None),
        ("2.13.0+cpu", None),
        ("2.14.0a0+git1234567", "hides x[i] = v"),
        ("2.15.0", "hides x[i] = v"),
    ],
)
def test_what_a_release_leaves_unchecked_is_said_once(
    monkeypatch: pytest.MonkeyPatch, release: str, says: str | None
) -> None:
    """Nothing is skipped in silence."""
    monkeypatch.setattr(torch, "__version__", release)
    mode_module._warn_of_release.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        validate()
        validate()
    mode_module._warn_of_release.cache_clear()
    assert [w.category for w in caught] == ([UncheckedWarning] if says else [])
    assert all(str(says) in str(w.message) and w.filename == __file__ for w in caught)


PROBE = """
import torch
{module}
try:
    torch.zeros(3).index_copy(0, torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    torch.zeros(3)[torch.tensor([3])]
except IndexError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1", "IndexFault x[...]: index[0] = 3 is outside [-3, 3) of dim 0 of input (3,)"),
        ("error", "IndexFault index_copy: index[0] and index[1] write different values to input[1] of (3,)"),
        ("0", "IndexError index 3 is out of bounds"),
        ("", "IndexError index 3 is out of bounds"),
    ],
)
def test_the_environment_turns_it_on(value: str, says: str) -> None:
    """For the process that imports the room, with the policy that was asked for."""
    done = probe("import compilefix.validation", value)
    assert done.stdout.startswith(says), done.stderr


def test_the_environment_alone_does_nothing() -> None:
    """Importing compilefix does not import torch, so it cannot turn anything on."""
    assert probe("import compilefix", "1").stdout.startswith("IndexError index 3")


def test_a_wrong_value_in_the_environment() -> None:
    """One clear error names what would be right."""
    done = probe("import compilefix.validation", "yes")
    assert done.returncode != 0
    assert "COMPILEFIX_VALIDATE='yes' must be 0, 1, warn, error or ignore" in done.stderr.splitlines()[-1]


def probe(module: str, value: str) -> subprocess.CompletedProcess[str]:
    """Run two wrong calls in a process of their own."""
    environ = os.environ | {"COMPILEFIX_VALIDATE": value, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    code = PROBE.format(module=module)
    return subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)


def test_faults_helper_sees_a_valid_call() -> None:
    """The shorthand that the other tests rely on tells valid from wrong."""
    assert faults(lambda: x()[t(0)]) == ()
    assert len(faults(lambda: x()[t(4)])) == 1
