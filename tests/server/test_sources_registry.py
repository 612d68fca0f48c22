"""The table of sources: each source, setting and id is in it once, and each answer is watched."""

from __future__ import annotations

import importlib
import os
import pkgutil
from dataclasses import fields

import pytest
from tests.server.git_repository import make, needs_git

from excise_server import sources
from excise_server.review.candidate import SCHEMES
from excise_server.sources.collect import collect
from excise_server.sources.finding import SourceSettings
from excise_server.sources.registry import SOURCES, setting_of


def test_every_file_that_finds_or_lists_is_in_the_table():
    modules = pkgutil.iter_modules(sources.__path__)
    loaded = [importlib.import_module(f"excise_server.sources.{module.name}") for module in modules]
    finding = {
        find
        for module in loaded
        for name, find in vars(module).items()
        if (name == "find" or name.startswith("list_")) and find.__module__ == module.__name__
    }
    known = {asked for source in SOURCES for asked in (source.find, source.listed) if asked}
    assert finding < known
    assert {asked.__name__ for asked in known - finding} == {"_checkouts"}
    assert all((source.find is None) is not (source.listed is None) for source in SOURCES)


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
    context = repo.context(patches=("p",))
    for source in SOURCES:
        assert source.find is None or source.find(context, None).watch
        assert source.watches
    watched = {os.path.basename(watch.folder) for watch in collect(context).watch}
    assert {".git", "p"} < watched
