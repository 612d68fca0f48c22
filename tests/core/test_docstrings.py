"""Examples in the docstrings of the library say what it does."""

import doctest
import importlib
import pkgutil

import pytest

import excise

NAMES = sorted(
    module.name
    for module in pkgutil.walk_packages(excise.__path__, "excise.")
    if not module.name.startswith(("excise.kernels", "excise.evaluation"))
)


@pytest.mark.parametrize("name", ["excise", *NAMES])
def test_examples_give_what_they_say(name: str):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
