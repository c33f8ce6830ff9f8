"""The backend that checks while it runs: what it sees, what it does then, and what it leaves alone."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._inductor import config

from compilefix import backend
from compilefix.errors import UsageError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Compile anew in every test, and count only its own graphs."""
    torch._dynamo.reset()
    backend._GRAPHS.clear()
    yield
    torch._dynamo.reset()


@pytest.fixture
def wrong_relu() -> Iterator[None]:
    """Inductor's own planted defect: relu adds one."""
    with config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}):
        yield


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x.sin()) @ y


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(8, 8, requires_grad=True), torch.randn(8, 8)


def only() -> backend.GraphReport:
    (report,) = backend.reports()
    return report


def test_a_healthy_graph_is_checked_and_stays_compiled(tmp_path: Path) -> None:
    function = backend.guarded(program, check_calls=2, sample_every=3, folder=str(tmp_path))
    args = inputs()
    with warnings.catch_warnings():
        warnings.simplefilter("error", backend.MismatchWarning)
        for expected in (1, 2, 2, 2, 3, 3, 3, 4):
            torch.testing.assert_close(function(*args), program(*args))
            assert only().trials == expected
    assert (only().state, only().runs, only().folder) == ("checked", "inductor", None)
    assert list(tmp_path.iterdir()) == []


def test_sampling_can_be_off() -> None:
    function = backend.guarded(program, check_calls=0, sample_every=0)
    for _ in range(3):
        function(*inputs())
    assert (only().state, only().trials) == ("not checked", 0)


@pytest.mark.usefixtures("wrong_relu")
def test_a_wrong_graph_is_said_once_kept_and_run_plainly(tmp_path: Path) -> None:
    function = backend.guarded(program, folder=str(tmp_path))
    args = inputs()
    with warnings.catch_warnings(record=True) as all_seen:
        warnings.simplefilter("always")
        results = [function(*args) for _ in range(3)]
    torch.testing.assert_close(results, [program(*args)] * 3)
    (seen,) = (str(w.message) for w in all_seen if w.category is backend.MismatchWarning)
    assert re.search(r"of test_backend\.py:\d+ differs .* runs in eager", seen)
    report = only()
    assert (report.state, report.runs, report.trials) == ("differs", "eager", 1)
    assert {d.what for d in report.differences} == {"values", "gradient"}
    assert report.folder == tmp_path / report.id


@pytest.mark.usefixtures("wrong_relu")
def test_the_kept_program_runs_with_torch_alone_and_shows_the_difference(tmp_path: Path) -> None:
    function = backend.guarded(program, folder=str(tmp_path))
    with pytest.warns(backend.MismatchWarning):
        function(*inputs())
    folder = only().folder
    assert folder is not None
    (tmp_path / "use.py").write_text(
        "import importlib.util, sys, torch\n"
        f"spec = importlib.util.spec_from_file_location('repro', {str(folder / 'repro.py')!r})\n"
        "repro = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(repro)\n"
        "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'\n"
        "(plain,), (compiled,) = repro.program(*repro.inputs()), torch.compile(repro.program)(*repro.inputs())\n"
        "assert not torch.allclose(plain, compiled)\nassert 'compilefix' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, str(tmp_path / "use.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("wrong_relu")
def test_raise_and_warn_do_what_they_say(tmp_path: Path) -> None:
    args = inputs()
    with pytest.raises(backend.MismatchError, match="differs from its plain run"):
        backend.guarded(program, on_mismatch="raise", folder=str(tmp_path))(*args)
    torch._dynamo.reset()
    with pytest.warns(backend.MismatchWarning, match="goes on as compiled"):
        result = backend.guarded(program, on_mismatch="warn", folder=str(tmp_path))(*args)
    assert not torch.allclose(result, program(*args))


def test_a_graph_that_does_not_compile_runs_plainly(tmp_path: Path) -> None:
    function = backend.guarded(program, folder=str(tmp_path))
    args = inputs()
    with (
        config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"}),
        pytest.warns(backend.MismatchWarning, match="does not compile"),
    ):
        torch.testing.assert_close(function(*args), program(*args))
    assert (only().state, only().runs) == ("does not compile", "eager")


def test_inputs_written_in_place_are_written_once(tmp_path: Path) -> None:
    def add(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    x = torch.zeros(4)
    function = backend.guarded(add, folder=str(tmp_path))
    for turn in range(1, 5):
        assert function(x).tolist() == [2.0 * turn] * 4
        assert x.tolist() == [float(turn)] * 4
    assert only().state == "checked"


def test_random_state_is_that_of_an_unchecked_call() -> None:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand_like(x)

    states = []
    for calls in (0, 3):
        torch._dynamo.reset()
        torch.manual_seed(1)
        backend.guarded(noisy, check_calls=calls, sample_every=0)(torch.zeros(4))
        states.append(torch.get_rng_state())
    assert torch.equal(*states)
    assert backend.reports()[-1].reason == (
        "it draws random numbers, and Inductor's stream differs from eager's by design"
    )


def test_inputs_that_share_memory_share_it_in_the_trial_too() -> None:
    seen: list[Any] = []

    def plain(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor]:
        seen.append((a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr(), a.stride(), b.storage_offset()))
        a.add_(1)
        return (b * 1,)

    from compilefix.oracle.trial import trial

    base = torch.arange(12.0).reshape(3, 4)
    assert trial(plain, plain, (base.t(), base[1:])) == ()
    assert set(seen) == {(True, (1, 4), 4)}
    assert base[0, 1] == 1.0


def test_buffers_that_a_graph_holds_are_put_back_after_a_trial() -> None:
    """Before torch 2.5 the statistics of a BatchNorm are attributes of the graph, not inputs."""
    from compilefix.oracle.trial import trial

    count = torch.zeros(1)

    def plain(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x + count.add_(1),)

    def wrong(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x + count.add_(2),)

    assert trial(plain, plain, (torch.ones(3),), held=(count,)) == ()
    assert trial(wrong, plain, (torch.ones(3),), held=(count,)) != ()
    assert count.item() == 0


def test_noise_where_terms_cancel_is_no_mismatch() -> None:
    """The gradient of a bias before a BatchNorm is 0 but for rounding; what is wrong by as little is still told."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    guarded = backend.guarded(model)
    for _ in range(5):
        guarded(torch.randn(8, 4)).sum().backward()
    assert only().state == "checked"
    assert model[1].num_batches_tracked.item() == 5

    from compilefix.oracle.trial import trial

    def plain(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x * 2,)

    def slightly_wrong(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x * 2 + 5e-5,)

    assert trial(slightly_wrong, plain, (torch.ones(3),)) != ()


def test_training_is_what_it_is_without_the_guard() -> None:
    def trained(compile: Any) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = compile(model)
        for _ in range(4):
            optimizer.zero_grad()
            step(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        return [p.detach() for p in model.parameters()]

    for got, want in zip(trained(backend.guarded), trained(lambda model: model), strict=True):
        torch.testing.assert_close(got, want)
    assert only().state == "checked"


def test_large_inputs_are_not_kept_and_the_warning_says_so(tmp_path: Path, wrong_relu: None) -> None:
    function = backend.guarded(program, folder=str(tmp_path), keep_bytes=100)
    with pytest.warns(backend.MismatchWarning, match="were not kept"):
        function(*inputs())


def test_a_folder_that_cannot_be_written_loses_no_call(tmp_path: Path, wrong_relu: None) -> None:
    (tmp_path / "file").touch()
    function = backend.guarded(program, folder=str(tmp_path / "file"))
    with pytest.warns(backend.MismatchWarning, match="could not be kept"):
        torch.testing.assert_close(function(*inputs()), program(*inputs()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_mismatch": "explode"}, "on_mismatch 'explode' is not one of fallback, raise, warn"),
        ({"check_calls": -1}, "check_calls -1 must be a whole number"),
        ({"no_such_setting": 1}, "'no_such_setting' is neither an option"),
        ({"mode": "fast"}, "mode 'fast' is not one of"),
    ],
)
def test_a_mistake_in_the_options_is_said_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        backend.guarded(program, **options)


def test_settings_of_inductor_pass_through() -> None:
    @backend.guarded(max_fusion_size=1, dynamic=True)
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin().cos()

    assert function(torch.ones(3)).shape == (3,)
    assert only().state == "checked"


def test_the_name_is_registered_with_dynamo(tmp_path: Path) -> None:
    options = {"on_mismatch": "raise", "folder": str(tmp_path)}
    compiled = torch.compile(program, backend="compilefix", options=options)
    torch.testing.assert_close(compiled(*inputs()), program(*inputs()))
    assert only().state == "checked"
