"""The help of every verb: complete as a manual page, and true."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from compilefix import cli, config
from compilefix.cli import Verb
from compilefix.cli.manual import Manual
from compilefix.errors import Exit

VERBS = cli.names()


def child(name: str) -> argparse.ArgumentParser:
    """Return the parser of one verb."""
    (group,) = (a for a in cli.parser(name)._actions if isinstance(a, argparse._SubParsersAction))
    parser: argparse.ArgumentParser = group.choices[name]
    return parser


def options(name: str) -> Iterator[argparse.Action]:
    """Yield the options of one verb that take a value."""
    for action in child(name)._actions:
        if action.option_strings and action.nargs != 0:
            yield action


def words(line: str) -> list[str]:
    """Return the arguments of the compilefix call in a line of shell."""
    inside = re.search(r"\$\((.*)\)", line)
    before = (inside[1] if inside else line).partition(" > ")[0]
    parts = shlex.split(before)
    assert parts[0] == "compilefix", line
    return parts[1:]


def manuals() -> Iterator[tuple[str, Manual]]:
    yield "compilefix", cli.MANUAL
    for name in VERBS:
        yield name, cli.load(name).MANUAL


EXAMPLES = [(name, line) for name, manual in manuals() for line, _ in manual.examples]


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_is_a_command_line_that_parses(name: str, line: str) -> None:
    """Each example is one of its own verb; neither option nor choice in it may rot."""
    args = cli.parse(words(line))
    assert name in (args.verb, "compilefix")
    assert bool(args.command) == (" -- " in line)


@pytest.mark.parametrize("name", VERBS)
def test_the_help_shows_all_sections_of_a_manual_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Synopsis, description, options in groups, examples, exit status and files, in lines that a terminal has."""
    with pytest.raises(SystemExit) as left:
        cli.main([name, "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    sections = ["usage: ", "\nexamples:\n", "\nexit status:\n", "\nfiles:\n"]
    assert sorted(sections, key=text.index) == sections
    manual = cli.load(name).MANUAL
    assert all(line in text and what.split()[0] in text for line, what in manual.examples)
    assert all(re.search(rf"^  {code:<6} \S", text, re.M) for code in manual.exits)


@pytest.mark.parametrize(("name", "manual"), list(manuals()), ids=["compilefix", *VERBS])
def test_a_manual_says_enough(name: str, manual: Manual) -> None:
    """Two to four examples; codes that exist, with those of success and of a usage error; settings that exist."""
    assert 2 <= len(manual.examples) <= 4
    assert len(manual.description.split()) >= 20
    assert set(manual.exits) <= {int(code) for code in Exit}
    assert {0, 2} <= set(manual.exits)
    assert set(manual.settings) <= set(config.TYPES)


@pytest.mark.parametrize("name", VERBS)
def test_an_option_names_its_default_and_its_unit(name: str) -> None:
    """Every option that takes a value says what it is without it; times are seconds."""
    for action in options(name):
        said = action.help or ""
        assert action.required or "default" in said or "repeatable" in said, action.option_strings
        if action.metavar == "S":
            assert "seconds" in said, action.option_strings
        if action.default not in (None, argparse.SUPPRESS) and action.dest != "color":
            assert str(action.default).removesuffix(".0") in said, action.option_strings


@pytest.mark.parametrize("name", VERBS)
def test_options_stand_in_groups(name: str) -> None:
    """Only the help itself stands under "options"; everything has a word of help."""
    parser = child(name)
    (plain,) = (group for group in parser._action_groups if group.title == "options")
    assert [action.dest for action in plain._group_actions] == ["help"]
    assert all(action.help for action in parser._actions)


def test_the_top_names_every_verb() -> None:
    text = cli.parser().format_help()
    assert all(re.search(rf"^    {name}\b", text, re.M) for name in VERBS)


def test_a_command_imports_its_own_verb_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `list` costs does not grow with the other verbs; a wrong verb still names all of them."""
    loaded: list[str] = []
    load = cli.load

    def noted(name: str) -> Verb:
        loaded.append(name)
        return load(name)

    monkeypatch.setattr(cli, "load", noted)
    assert cli.main(["explain", "gh198094"]) == 0
    assert set(loaded) == {"explain"}
    with pytest.raises(SystemExit) as left:
        cli.main(["--version"])
    assert (left.value.code, set(loaded)) == (0, {"explain"})
    with pytest.raises(SystemExit) as left:
        cli.main(["explian", "gh198094"])
    assert left.value.code == 2
    assert "upgrade" in capsys.readouterr().err
