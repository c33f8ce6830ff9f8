"""What a user may name, and the one-line errors where it is not that."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.diagnosis import subject
from compilefix.errors import UsageError

SOURCE = "def f(x):\n    return x\n\n\ndef make_inputs():\n    return (1,)\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_inputs_are_found_by_name(file: Path, tmp_path: Path) -> None:
    found = subject.build(f"{file}:f", tmp_path / "work")
    assert found.spec["inputs"] == [str(file), "make_inputs"]
    assert found.record.known.stage == "inductor"


def test_settings_and_arguments_are_in_the_record(file: Path, tmp_path: Path) -> None:
    config = {"torch._inductor.config.shape_padding": False}
    found = subject.build(f"{file}:f", tmp_path / "work", compile={"dynamic": True}, config=config)
    assert found.record.known.compile == {"dynamic": True}
    assert found.record.known.config == config


def test_a_repro_brings_its_own_settings(tmp_path: Path) -> None:
    found = subject.build("gh198094", tmp_path / "work")
    assert found.function == "program"
    assert found.name == "gh198094"


@pytest.mark.parametrize(
    ("parameters", "driven"), [("f, x", True), ("f, *args", True), ("f", False), ("", False), ("self, f, x, y", True)]
)
def test_a_function_called_drive_that_takes_no_inputs_is_the_users_own(
    parameters: str, driven: bool, file: Path, tmp_path: Path
) -> None:
    file.write_text(f"{SOURCE}\n\ndef drive({parameters}):\n    return None\n", encoding="utf-8")
    assert subject.build(f"{file}:f", tmp_path / "work").driven is driven


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("nowhere.py:f", "no such file: nowhere.py"),
        ("{file}:g", "defines no 'g'; it has f, make_inputs"),
        ("{file}:f g", "write FILE:FUNC"),
        ("{file}", "write FILE:FUNC; it defines no program"),
        ("gh1", "unknown id 'gh1'"),
        ("{folder}", "no captured graph"),
    ],
)
def test_what_it_cannot_be_is_said_in_one_line(argument: str, words: str, file: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=words) as raised:
        subject.build(argument.format(file=file, folder=tmp_path / "empty"), tmp_path / "work")
    assert "\n" not in str(raised.value)


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ndef f(:\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"broken\.py:2: not valid Python"):
        subject.build(f"{path}:f", tmp_path / "work")


def test_a_setting_must_be_a_full_name(file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be a full name"):
        subject.build(f"{file}:f", tmp_path / "work", config={"shape_padding": 1})
