"""The package is light, and knows its recipes."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from compilefix import recipes

FILES = {p.stem for p in Path(recipes.__file__).parent.glob("*.py") if p.name[0] != "_"}


def test_importing_the_package_imports_no_torch() -> None:
    """Names are resolved when asked for; listing them costs no torch either."""
    code = "import sys, compilefix.recipes as r; dir(r); assert 'torch' not in sys.modules; r.set_seed"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_file_is_a_recipe_with_a_docstring() -> None:
    """A name stands for the function of that name, whose docstring says what it returns or does, and its errors."""
    assert set(recipes.__all__) == FILES
    assert set(dir(recipes)) >= FILES
    for name in FILES:
        recipe = getattr(recipes, name)
        assert inspect.isfunction(recipe)
        assert recipe.__name__ == name
        assert recipe.__doc__ is not None
        assert "rror" in recipe.__doc__


def test_type_checkers_know_every_recipe() -> None:
    """The imports for type checkers name all files."""
    tree = ast.parse(Path(recipes.__file__).read_text(encoding="utf-8"))
    typed = next(n for n in tree.body if isinstance(n, ast.If))
    names = {alias.asname for n in typed.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert names == FILES


def test_a_name_stays_the_function_after_its_file_is_imported() -> None:
    """The import system binds a submodule to its package; file and function have the same name."""
    code = (
        "import inspect, compilefix.recipes.select_actions as first\n"
        "from compilefix.recipes.select_actions import select_actions\n"
        "from compilefix.recipes import select_actions as second\n"
        "import compilefix.recipes as r\n"
        "assert first is second is select_actions is r.select_actions and inspect.isfunction(second)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_is_an_attribute_error_that_lists_the_recipes() -> None:
    """One line says what there is."""
    with pytest.raises(AttributeError, match=r"no recipe 'pad_sequence'; there are check_vectorized, .*pad_sequences"):
        recipes.pad_sequence  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module("compilefix.recipes.pad_sequence")


def test_the_example_of_the_readme_runs() -> None:
    """It has its own assertions; every recipe is in the table below it."""
    section = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").partition("## Recipes")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("equal, ")
    assert all(f"`{name}`" in section for name in FILES)
