"""GPU descriptions, and what to install where the target cannot run."""

from __future__ import annotations

from importlib import metadata, util

import pytest

from compilefix.cuda_interpreted import requirement
from compilefix.cuda_interpreted.gpus import DEFAULT, GPUS, gpu
from compilefix.errors import UsageError


def test_every_gpu_has_the_figures_of_its_data_sheet() -> None:
    """Multiprocessors and compute capability, by the words that --gpu takes."""
    figures = {word: (g.multi_processor_count, g.capability) for word, g in GPUS.items()}
    assert figures == {
        "h100": (132, (9, 0)),
        "h200": (132, (9, 0)),
        "a100": (108, (8, 0)),
        "l4": (58, (8, 9)),
        "rtx4090": (128, (8, 9)),
        "t4": (40, (7, 5)),
    }
    assert all(
        g.warp_size == 32 and g.shared_memory_per_block_optin >= g.shared_memory_per_block for g in GPUS.values()
    )
    assert DEFAULT in GPUS


def test_an_unknown_gpu_is_a_usage_error_that_names_the_known_ones() -> None:
    """Case does not matter; everything else does."""
    assert gpu("H100") is GPUS["h100"]
    with pytest.raises(UsageError, match=r"unknown GPU 'b200'; write one of h100, h200, a100, l4, rtx4090, t4"):
        gpu("b200")


class Distribution:
    """What the metadata of an installed torch says."""

    def __init__(self, version: str, requires: list[str] | None) -> None:
        self.version = version
        self.requires = requires


@pytest.mark.parametrize(
    ("version", "requires", "triton"),
    [
        ("2.13.0+cpu", ["sympy>=1.13"], "triton==3.7.1"),
        ("2.13.0+cpu", None, "triton==3.7.1"),
        ("2.9.1", ['triton==3.5.1; platform_system == "Linux"'], "triton==3.5.1"),
        ("2.14.1", ['triton~=3.8.0; platform_system == "Linux"'], "triton~=3.8.0"),
        ("2.6.0", ['triton (==3.2.0) ; platform_system == "Linux"'], "triton==3.2.0"),
        ("2.9.0.dev20250901+cpu", [], "triton==3.5.1"),
        ("9.9.0", [], None),
    ],
)
def test_the_triton_that_fits_is_what_torch_pins_else_what_its_release_pinned(
    monkeypatch: pytest.MonkeyPatch, version: str, requires: list[str] | None, triton: str | None
) -> None:
    """A CUDA wheel says it itself; for a CPU wheel the table knows the release."""
    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution(version, requires))
    assert requirement.pinned_triton() == triton


def test_the_command_installs_what_is_missing_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Triton and NumPy: both; --no-deps, so that pip leaves torch alone."""
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution("2.13.0+cpu", []))
    monkeypatch.setattr(metadata, "version", lambda name: "2.13.0+cpu")
    reason = requirement.trouble()
    assert reason is not None
    assert reason.endswith(" -m pip install --no-deps triton==3.7.1 numpy")


@pytest.mark.parametrize(("have", "fits"), [("3.7.1", True), ("3.7.0", True), ("3.5.1", False)])
def test_a_triton_of_another_release_does_not_fit(monkeypatch: pytest.MonkeyPatch, have: str, fits: bool) -> None:
    """Patch releases are let through; another minor release is named with the command for the right one."""
    monkeypatch.setattr(util, "find_spec", lambda name: object())
    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution("2.13.0+cpu", []))
    monkeypatch.setattr(metadata, "version", lambda name: {"torch": "2.13.0+cpu", "triton": have}[name])
    reason = requirement.trouble()
    assert (reason is None) is fits
    if reason is not None:
        assert f"Triton {have} does not fit this torch" in reason
        assert '"triton==3.7.1"' in reason


def test_an_old_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.6 the parts that are used here are not there."""
    monkeypatch.setattr(metadata, "version", lambda name: "2.5.1+cpu")
    assert requirement.trouble() == "CUDA without a GPU needs torch 2.6 or newer"
