"""The table of sources: each source, setting and id is in it once, and each answer is watched."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields

import pytest
from tests.server.git_repository import make, needs_git

from excise_server import sources
from excise_server.review.candidate import SCHEMES
from excise_server.sources.finding import SourceSettings
from excise_server.sources.registry import SOURCES, setting_of


def test_every_file_that_finds_is_in_the_table():
    modules = pkgutil.iter_modules(sources.__path__)
    names = [f"excise_server.sources.{module.name}" for module in modules]
    finding = {
        find
        for name in names
        if callable(find := getattr(importlib.import_module(name), "find", None))
        and find.__module__ == name
        and next(iter(inspect.signature(find).parameters), "") == "context"
    }
    assert finding == {source.find for source in SOURCES}


def test_every_setting_switches_one_source():
    settings = [setting for source in SOURCES for setting in source.settings.values()]
    assert sorted(settings) == sorted(field.name for field in fields(SourceSettings))


def test_every_id_is_of_one_source_and_has_its_place_in_the_order_of_names():
    kinds = [kind for source in SOURCES for kind in source.settings if kind != "origin"]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) < set(SCHEMES)
    assert {setting_of(f"{kind}:x") for kind in kinds} | {"origin"} == {
        field.name for field in fields(SourceSettings)
    }


@needs_git
@pytest.mark.slow
def test_every_source_watches_what_its_answer_depends_on(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch)
    repo.commit(a__py="one\n")
    (repo.path / "p").mkdir()
    context = repo.context(patches=("p",), runs=("p",))
    for source in SOURCES:
        assert source.find(context, None).watch
        assert source.watches
