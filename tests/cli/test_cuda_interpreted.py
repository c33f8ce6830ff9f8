"""`compilefix check` for CUDA without a GPU, end to end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compilefix.cuda_interpreted import requirement
from tests.conftest import FIXTURES, Cli, command, environ

pytestmark = pytest.mark.slow
TARGET = "inductor:cuda-interpreted"
needs_triton = pytest.mark.skipif(requirement.trouble() is not None, reason=str(requirement.trouble()))


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the results of a JSON report by id."""
    assert done.stdout, done.stderr
    return {row["id"]: row for row in json.loads(done.stdout)["results"]}


@needs_triton
def test_a_defect_of_cuda_only_reproduces_without_a_gpu(cli: Cli) -> None:
    """pytorch#198280: a wrong value and the race behind it, with kernel and line; its cure cures it."""
    done = cli("check", "gh198280", "--format", "json", "--gpu", "a100", "--timeout", "240")
    raw = json.loads(done.stdout)
    assert raw["environment"]["gpu"] == "a100"
    (row,) = raw["results"]
    assert list(row["outcomes"]) == ["reference:cpu", TARGET]
    outcome = row["outcomes"][TARGET]
    assert outcome["facts"]["gpu"] == "a100"
    if row["expected"] == "affected":
        assert row["verdict"] == "reproduces"
        races = [d["got"] for d in outcome["differences"] if d["what"] == "race" and "in no order" in d["got"]]
        assert len(races) == 1
        assert "which program" in races[0]
        assert "tl.load(in_ptr0" in races[0]
        assert "forward and reverse order leave different results" in races[0]
        assert row["workarounds"][TARGET]["outcome"] == "ok"


def checked(isolation: str, state: Path, *ids: str) -> dict[str, Any]:
    """Check fixtures in one run; return the report."""
    line = ("--repros", str(FIXTURES), *ids, "--isolation", isolation, "--format", "json", "--timeout", "240")
    done = subprocess.run(command("check", *line), env=environ(state), capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report of programs that need the interpreter in one way or another, in forked workers."""
    ids = ("local-user-kernel", "local-index-out-of-range", "local-says-what-is-set", "local-wrapper-in-cpp")
    return checked("fork", tmp_path_factory.mktemp("state"), *ids)


@pytest.fixture(scope="module")
def spawned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report of two of them, each worker a Python of its own."""
    return checked("spawn", tmp_path_factory.mktemp("state"), "local-user-kernel", "local-index-out-of-range")


def row_of(report: dict[str, Any], id: str) -> dict[str, Any]:
    """Return the row of one record."""
    row: dict[str, Any]
    (row,) = (row for row in report["results"] if row["id"] == id)
    return row


@needs_triton
def test_interpreting_leaves_the_other_targets_alone(forked: dict[str, Any]) -> None:
    """In one check, the CPU's Inductor sees neither the variable nor the interpreter."""
    outcomes = row_of(forked, "local-says-what-is-set")["outcomes"]
    assert [name for name, o in outcomes.items() if o["outcome"] != "ok"] == []
    names = ("device", "TRITON_INTERPRET", "interpreter", "cuda")
    seen = {target: [outcomes[target]["facts"].get(n) for n in names] for target in ("inductor:cpu", TARGET)}
    assert seen == {"inductor:cpu": ["cpu", None, False, False], TARGET: ["cpu", "1", True, False]}


@needs_triton
@pytest.mark.parametrize("workers", ["forked", "spawned"])
def test_a_kernel_of_the_program_has_a_plain_reference(workers: str, request: pytest.FixtureRequest) -> None:
    """The plain program launches it as well, where there is no GPU: so its reference runs in the interpreter."""
    outcomes = row_of(request.getfixturevalue(workers), "local-user-kernel")["outcomes"]
    assert {target: (o["outcome"], o["reason"]) for target, o in outcomes.items()} == {
        "reference:cpu": ("ok", None),
        TARGET: ("ok", None),
    }


@needs_triton
@pytest.mark.parametrize("workers", ["forked", "spawned"])
def test_an_index_out_of_range_is_an_assertion_and_no_crash(workers: str, request: pytest.FixtureRequest) -> None:
    """The plain program raises IndexError, the kernel a device-side assertion: as it should be."""
    row = row_of(request.getfixturevalue(workers), "local-index-out-of-range")
    outcome = row["outcomes"][TARGET]
    assert (row["verdict"], outcome["outcome"]) == ("clear", "ok")
    assert outcome["error"]["message"].startswith("device-side assert triggered: index out of bounds")


@needs_triton
def test_a_limit_of_the_interpreter_is_unsupported_with_its_name(
    forked: dict[str, Any], cli: Cli, tmp_path: Path
) -> None:
    """Never an error of the program; with nothing else measured, a check is inconclusive."""
    row = row_of(forked, "local-wrapper-in-cpp")
    assert row["verdict"] == "unsupported"
    assert row["outcomes"][TARGET]["reason"] == "beyond the interpreter: the setting cpp_wrapper"
    (tmp_path / "one.json").write_text(json.dumps({**forked, "results": [row]}))
    assert cli("merge", str(tmp_path / "one.json")).returncode == 4


def test_without_triton_the_row_says_how_to_install_it(cli: Cli, tmp_path: Path) -> None:
    """Not measured, never ok; the command names the release that fits."""
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(
        "from importlib import util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name == 'triton' else found(name, package)\n"
    )
    done = cli("check", "gh198280", "--format", "json", PYTHONPATH=f"{hiding}:{FIXTURES.parents[1]}")
    row = rows(done)["gh198280"]
    assert row["verdict"] == "unsupported"
    assert "needs Triton's interpreter; install it: " in row["outcomes"][TARGET]["reason"]
    assert str(requirement.pinned_triton()) in row["outcomes"][TARGET]["reason"]
    assert json.loads(done.stdout)["environment"]["gpu"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gpu", "b300"), "unknown GPU 'b300'; write one of h100, h200, a100, l4, rtx4090, t4"),
        (("--grid", "backwards"), "unknown grid order 'backwards'; write forward, reverse, shuffle or shuffle:SEED"),
        (("--target", "eager:cuda-interpreted"), "on cuda-interpreted only inductor runs"),
        (("--target", "inductor:cuda-emulated"), "DEVICE one of cpu, cuda, cuda-interpreted"),
    ],
)
def test_a_mistake_gives_one_line(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, no traceback."""
    done = cli("check", "gh198280", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@needs_triton
def test_kernels_shows_the_in_place_write_of_a_cache(cli: Cli, tmp_path: Path) -> None:
    """gh145189: the slice is stored into the cache itself; the sources lie in the folder that was asked for."""
    done = cli("kernels", "gh145189", "--gpu", "a100", "--format", "json", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["gpu"], found["broken"]) == ("a100", [])
    (kernel,) = [k for k in found["kernels"] if k["in_place"]]
    (store,) = [a for a in kernel["accesses"] if a["does"] == "store"]
    assert store["argument"] in kernel["in_place"]
    assert kernel["bytes_read"] == kernel["bytes_written"] > 0
    assert kernel["given"][store["argument"]].startswith("arg")
    assert "@triton.jit" in (tmp_path / "out" / f"{kernel['name']}.py").read_text()
    padding = found["padding"]
    assert padding["asked"] == ["bmm 2x4x8 by 2x8x33"]
    assert {name: len(padding[name]["kernels"]) for name in ("no", "yes", "off")} == {"no": 1, "yes": 2, "off": 1}
    assert len(list((tmp_path / "out" / "padded").glob("*.py"))) == 2


@needs_triton
def test_kernels_names_lines_of_the_program_and_shows_the_backward_pass(cli: Cli, tmp_path: Path) -> None:
    """Forward and backward kernels, each with its lines, operators and bytes."""
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\n"
        "def inputs(device):\n"
        "    return (torch.ones(8, device=device, requires_grad=True),)\n"
        "def square(x):\n"
        "    y = x.sin()\n"
        "    return y * 3\n"
    )
    done = cli("kernels", f"{file}:square")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "2 kernels, 160 bytes moved for H100"
    assert "computes aten.sin, aten.mul" in lines
    assert "from model.py:5 y = x.sin()" in lines
    assert "from model.py:6 return y * 3" in lines
    assert any("cos" in line for line in lines)


@needs_triton
@pytest.mark.parametrize("order", ["forward", "reverse", "shuffle:3"])
def test_a_result_that_depends_on_the_order_of_the_grid_is_a_race_in_every_order(cli: Cli, order: str) -> None:
    """pytorch#197829 comes out right in reverse order and wrong in forward order; it is named in all."""
    done = cli("check", "gh197829", "--target", TARGET, "--grid", order, "--format", "json", "--timeout", "240")
    outcome = rows(done)["gh197829"]["outcomes"][TARGET]
    if rows(done)["gh197829"]["expected"] == "affected":
        (race,) = [d["got"] for d in outcome["differences"] if d["what"] == "race" and "in no order" in d["got"]]
        assert "triton_poi_fused" in race
        assert "order leave different results" in race
        assert ("values" in {d["what"] for d in outcome["differences"]}) is (order != "reverse")
    assert outcome["facts"].get("grid", "forward") == order


@needs_triton
def test_what_is_too_large_is_said_before_the_time_is_spent_or_shrunk(cli: Cli) -> None:
    """A repro whose inputs take a scale runs at an eighth of its size; another one is unsupported."""
    fixtures = ("--repros", str(FIXTURES), "local-large-launch", "local-shrinks")
    done = cli("check", *fixtures, "--format", "json", "--timeout", "60", "--jobs", "1")
    found = rows(done)
    large = found["local-large-launch"]["outcomes"][TARGET]
    assert (found["local-large-launch"]["verdict"], large["outcome"]) == ("unsupported", "unsupported")
    assert large["reason"].startswith("too large for the interpreter: triton_per_fused__softmax")
    assert "400000 programs of 2 loads and stores each, would take about" in large["reason"]
    assert large["seconds"] < 40
    small = found["local-shrinks"]["outcomes"][TARGET]
    assert (small["outcome"], small["reason"]) == ("ok", "inputs shrunk to 0.125 of their size")
    assert small["facts"]["scale"] == 0.125


@pytest.mark.parametrize(
    ("program", "message", "code"),
    [
        ("/no/such/file.py:f", "no such file: /no/such/file.py", 2),
        ("gh1", "unknown id 'gh1'", 2),
        (f"{FIXTURES / 'local_healthy.py'}:nothing", "has no function 'nothing'", 3),
    ],
)
@needs_triton
def test_kernels_of_nothing_is_one_line(cli: Cli, program: str, message: str, code: int) -> None:
    """No traceback."""
    done = cli("kernels", program)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
