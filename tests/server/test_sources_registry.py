"""The table of sources: each source, setting and id is in it once, and each answer is watched."""

import os
from dataclasses import fields

import pytest
from tests.server.git_repository import make, needs_git

from excise_server.review.candidate import in_order
from excise_server.sources.collect import collect
from excise_server.sources.registry import finders, setting_of
from excise_server.wire.sources import SOURCES, SourceSettings


def test_every_id_is_of_one_source_and_every_source_has_a_setting():
    assert ["origin", *SOURCES] == [each.name for each in fields(SourceSettings)]
    kinds = [kind for source in SOURCES.values() for kind in source.kinds]
    assert len(set(kinds)) == len(kinds)
    assert list(dict.fromkeys(setting_of(f"{kind}:x") for kind in kinds)) == [*SOURCES]
    assert in_order(["new:x", *(f"{kind}:x" for kind in kinds)])[-1] == "new:x"


@needs_git
@pytest.mark.slow
def test_every_source_watches_what_its_answer_depends_on(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, a__py="one\n")
    (repo.path / "p").mkdir()
    context = repo.context(patches=("p",))
    for find in finders():
        assert find(context, None).watch
    watched = {os.path.basename(watch.folder) for watch in collect(context).watch}
    assert {".git", "p"} < watched
