"""The order of work and what a worker's end means, with workers that are only pretended."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compilefix import registry
from compilefix.environment import Environment
from compilefix.issue import STAGES
from compilefix.outcome import Did, Outcome, Target, Verdict
from compilefix.runner.layered import UnavailableError
from compilefix.runner.process import Child, Ended, execute
from compilefix.runner.protocol import Mode, Request, decode_reply, encode_reply
from compilefix.runner.schedule import Check, Options, targets_for
from tests.conftest import FIXTURES
from tests.machines import machine

Behave = Callable[[Request, int], int]
"""What a pretended worker does with its reply descriptor; returns the wait status it ends with."""


def environment(**changes: object) -> Environment:
    """Return a machine with one CPU target missing nothing."""
    fields: dict[str, object] = {
        "torch_git": "0" * 40,
        "isa": "avx2",
        "cxx": "g++ 12",
    }
    return machine(**fields | changes)


class Pretended:
    """A launcher whose workers are threads that follow a script."""

    allowance = 0.0

    def __init__(self, behave: Behave, **changes: object) -> None:
        self.environment = environment(**changes)
        self.behave = behave
        self.requests: list[Request] = []
        self.running = 0
        self.most = 0

    def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
        self.requests.append(request)
        return _Thread(self, request, os.dup(reply))

    def close(self) -> None:
        """Nothing to let go of."""


class _Thread(threading.Thread):
    def __init__(self, launcher: Pretended, request: Request, reply: int) -> None:
        super().__init__(daemon=True)
        self.launcher, self.request, self.reply = launcher, request, reply
        self.killed = threading.Event()
        self.status: int | None = None
        self.start()

    def run(self) -> None:
        self.launcher.running += 1
        self.launcher.most = max(self.launcher.most, self.launcher.running)
        status = self.launcher.behave(self.request, self.reply)
        if status == -1:  # hangs until it is killed
            self.killed.wait(30)
            status = int(signal.SIGKILL)
        os.close(self.reply)
        self.launcher.running -= 1
        self.status = status

    def wait(self, seconds: float) -> Ended | None:
        self.join(max(seconds, 0))
        return None if self.status is None else Ended(self.status, 0.01)

    def kill(self) -> None:
        self.killed.set()


def replying(outcome: Outcome) -> Behave:
    """Return a worker that sends `outcome`."""

    def behave(request: Request, reply: int) -> int:
        os.write(reply, encode_reply(outcome))
        return 0

    return behave


def request() -> Request:
    """Return any request."""
    return Request(repro="x.py", target="inductor:cpu", mode=Mode.PROGRAM, exchange="/nowhere")


def run(behave: Behave, timeout: float = 5.0, cancelled: threading.Event | None = None) -> Outcome:
    """Execute one pretended worker."""
    return execute(Pretended(behave), request(), timeout, cancelled or threading.Event())


def test_a_reply_is_passed_on() -> None:
    """The worker's own outcome is the result."""
    assert run(replying(Outcome(did=Did.NUMERICS, reason="rounding"))).did is Did.NUMERICS


@pytest.mark.parametrize(
    ("status", "did", "reason"),
    [
        (int(signal.SIGSEGV), Did.CRASH, "died of SIGSEGV"),
        (int(signal.SIGFPE), Did.CRASH, "died of SIGFPE"),
        (int(signal.SIGABRT), Did.CRASH, "died of SIGABRT"),
        (int(signal.SIGKILL), Did.UNRESOLVED, "killed from outside"),
        (0, Did.UNRESOLVED, "exit code 0, no reply"),
        (7 << 8, Did.UNRESOLVED, "exit code 7, no reply"),
    ],
)
def test_every_end_without_a_reply_has_its_class(status: int, did: Did, reason: str) -> None:
    """Signals are crashes, early exits and kills from outside are unresolved."""
    outcome = run(lambda request, reply: status)
    assert outcome.did is did
    assert reason in str(outcome.reason)


@pytest.mark.parametrize("garbage", [b"", b"{", b"[]", b'{"outcome": "splendid"}', b"\xff\xfe", b'{"no": 1}'])
def test_an_unreadable_reply_is_unresolved(garbage: bytes) -> None:
    """A reply that is none never becomes ok."""

    def behave(request: Request, reply: int) -> int:
        os.write(reply, garbage)
        return 0

    assert run(behave).did is Did.UNRESOLVED


def test_the_time_limit_kills_and_is_a_hang() -> None:
    """What does not end in time is killed and reported with the limit."""
    outcome = run(lambda request, reply: -1, timeout=0.3)
    assert (outcome.did, outcome.reason) == (Did.HANG, "no end within 0.3 s")


def test_cancelling_kills_and_is_no_hang() -> None:
    """An interrupted run says so."""
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    outcome = run(lambda request, reply: -1, timeout=30, cancelled=cancelled)
    assert (outcome.did, outcome.reason) == (Did.UNRESOLVED, "not run: interrupted")


def check(launcher: Pretended, ids: tuple[str, ...], **options: object) -> Check:
    """Return a check of fixtures on a pretended launcher."""
    records = registry.discover([FIXTURES], shipped=False).select(ids)
    return Check(records, launcher, Options(**options), lambda *_: None)  # type: ignore[arg-type]


def test_the_reference_runs_first_and_the_workaround_last_where_needed() -> None:
    """Reference, then the stages, then the workaround on the stage that misbehaves."""

    def behave(request: Request, reply: int) -> int:
        bad = request.target == "inductor:cpu" and request.mode is Mode.PROGRAM
        os.write(reply, encode_reply(Outcome(did=Did.HANG if bad else Did.OK)))
        return 0

    launcher = Pretended(behave)
    (result,) = check(launcher, ("local-wrong-relu",)).results()
    order = [(r.mode.value, r.target.split(":")[0]) for r in launcher.requests]
    assert order == [
        ("reference", "reference"),
        ("program", "eager"),
        ("program", "aot_eager"),
        ("program", "aot_eager_decomp_partition"),
        ("program", "inductor"),
        ("workaround", "inductor"),
    ]
    assert result.verdict is Verdict.DIFFERENT
    assert list(result.workarounds) == [Target("inductor")]


def test_without_a_reference_nothing_is_compiled() -> None:
    """An unresolved reference ends the record: no target is started, all say why."""
    launcher = Pretended(replying(Outcome(did=Did.UNRESOLVED, reason="not deterministic")))
    (result,) = check(launcher, ("local-healthy",)).results()
    assert len(launcher.requests) == 1
    assert {o.reason for t, o in result.outcomes.items() if t.backend != "reference"} == {
        "no reference: not deterministic"
    }


def test_jobs_bound_what_runs_at_once() -> None:
    """Never more workers than jobs, and as many as jobs where there is work."""

    def behave(request: Request, reply: int) -> int:
        time.sleep(0.05)
        os.write(reply, encode_reply(Outcome(did=Did.OK)))
        return 0

    launcher = Pretended(behave)
    list(check(launcher, ("local-healthy", "local-fixed-early", "local-floods-stdout"), jobs=3).results())
    assert launcher.most == 3


def test_a_hang_begins_first() -> None:
    """What waits longest is started first, whatever its place in the list."""
    launcher = Pretended(replying(Outcome(did=Did.OK)))
    list(check(launcher, ("local-healthy", "local-hangs")).results())
    assert "local_hangs" in launcher.requests[0].repro


def test_a_missing_compiler_makes_only_its_target_unsupported() -> None:
    """The environment's reason stands for the target that needs it; the other stages run."""
    launcher = Pretended(replying(Outcome(did=Did.OK)), missing={"inductor:cpu": "no working C++ compiler"})
    (result,) = check(launcher, ("local-healthy",)).results()
    assert result.outcomes[Target("inductor")].reason == "no working C++ compiler"
    assert result.outcomes[Target("aot_eager")].did is Did.OK
    assert result.verdict is Verdict.UNSUPPORTED


def test_cuda_is_serial_and_only_listed_where_it_is() -> None:
    """CUDA targets appear on a machine that has CUDA, and run one at a time."""
    record = registry.discover().get("gh198094")
    assert {t.device for t in targets_for(record, environment(), Options())} == {"cpu", "cuda-interpreted"}
    devices = {t.device for t in targets_for(record, environment(devices=("cpu", "cuda")), Options())}
    assert devices == {"cpu", "cuda", "cuda-interpreted"}
    alive = {"cuda": 0, "most": 0}

    def behave(request: Request, reply: int) -> int:
        cuda = request.parsed_target.device == "cuda"
        alive["cuda"] += cuda
        alive["most"] = max(alive["most"], alive["cuda"])
        time.sleep(0.02)
        alive["cuda"] -= cuda
        os.write(reply, encode_reply(Outcome(did=Did.OK)))
        return 0

    launcher = Pretended(behave, devices=("cpu", "cuda"))
    list(Check([record], launcher, Options(jobs=4), lambda *_: None).results())
    assert alive["most"] == 1
    assert sum(r.parsed_target.device == "cuda" for r in launcher.requests) == 5


TARGET = Target("inductor", "cuda-interpreted")


def test_the_interpreted_target_shares_the_reference_of_the_cpu() -> None:
    """One plain run on the CPU serves both ladders; the tensors of both lie on the CPU."""
    launcher = Pretended(replying(Outcome(did=Did.OK)))
    (result,) = list(check(launcher, ("local-says-what-is-set",)).results())
    assert [r.target for r in launcher.requests if r.mode is Mode.REFERENCE] == ["reference:cpu"]
    assert result.outcomes[TARGET].did is Did.OK
    assert len({r.exchange for r in launcher.requests}) == 1


def test_a_record_about_cuda_alone_is_interpreted_where_no_gpu_is() -> None:
    """And nothing else of it is listed as missing."""
    record = registry.discover([FIXTURES]).get("local-index-out-of-range")
    assert targets_for(record, environment(), Options()) == (Target("reference"), TARGET)
    dynamic = targets_for(record, environment(), Options(dynamic=True))
    assert dynamic == (Target("reference"), TARGET, Target("inductor", "cuda-interpreted", True))


def test_any_record_may_be_interpreted_when_asked() -> None:
    """Also one that is recorded for the CPU only."""
    record = registry.discover([FIXTURES]).get("local-healthy")
    assert targets_for(record, environment(), Options()) == (Target("reference"), *map(Target, STAGES))
    assert targets_for(record, environment(), Options(targets=(TARGET,))) == (Target("reference"), TARGET)


def test_what_the_interpreting_parent_lacks_makes_its_target_unsupported() -> None:
    """Whether the environment knows it at once or the parent finds out."""

    def behave(request: Request, reply: int) -> int:
        os.write(reply, encode_reply(Outcome(did=Did.OK)))
        return 0

    class Without(Pretended):
        def start(self, request: Request, stdout: int, stderr: int, reply: int) -> Child:
            if request.parsed_target.interpreted:
                raise UnavailableError("compiling for h100 does not work here")
            return super().start(request, stdout, stderr, reply)

    for launcher in (
        Without(behave),
        Pretended(behave, missing={str(TARGET): "compiling for h100 does not work here"}),
    ):
        (result,) = list(check(launcher, ("local-says-what-is-set",)).results())
        assert result.outcomes[TARGET].did is Did.UNSUPPORTED
        assert result.outcomes[TARGET].reason == "compiling for h100 does not work here"
        assert result.outcomes[Target("inductor")].did is Did.OK


def test_a_program_that_outlasts_the_limit_is_too_large_and_no_hang() -> None:
    """An interpreter is slow: its time says nothing of a GPU's."""

    def behave(request: Request, reply: int) -> int:
        if request.parsed_target.interpreted:
            return -1
        os.write(reply, encode_reply(Outcome(did=Did.OK)))
        return 0

    (result,) = list(check(Pretended(behave), ("local-index-out-of-range",), timeout=0.3).results())
    assert result.outcomes[TARGET].did is Did.UNSUPPORTED
    assert result.outcomes[TARGET].reason == "too large for the interpreter: no end within 0.3 s"


@pytest.mark.parametrize(("id", "kernels"), [("local-user-kernel", True), ("local-shrinks", False)])
def test_the_reference_of_a_program_with_kernels_is_interpreted_too(id: str, kernels: bool) -> None:
    """The request for it goes to the worker that interprets; that of any other program does not."""
    asked = []

    def behave(request: Request, reply: int) -> int:
        asked.append((request.target, request.interpreted))
        os.write(reply, encode_reply(Outcome(did=Did.OK)))
        return 0

    list(check(Pretended(behave), (id,)).results())
    assert asked == [("reference:cpu", kernels), (str(TARGET), True)]


def test_requests_and_replies_survive_the_pipe() -> None:
    """Both directions are JSON and come back equal."""
    sent = Request(
        repro="r.py", target="eager:cpu:dynamic", mode=Mode.WORKAROUND, exchange="/x", seed=3, memory=1 << 30
    )
    assert Request.from_bytes(sent.to_bytes()) == sent
    outcome = Outcome(did=Did.ERROR, reason="r", error=("E", "m"), facts={"graphs": 1}, seconds=0.5)
    assert decode_reply(encode_reply(outcome)) == outcome
    with pytest.raises(ValueError, match="not a reply"):
        decode_reply(json.dumps({"seconds": 1}).encode())


def test_the_folder_of_a_check_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanged observations do not stay in the temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    list(check(Pretended(replying(Outcome(did=Did.OK))), ("local-healthy",)).results())
    assert list(tmp_path.iterdir()) == []
