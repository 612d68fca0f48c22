"""What a path holds, by a table of names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.patches.features import IGNORED
from excise_server.review.kinds import KINDS, by_kind, kind_of

EXPECTED = {
    "code": """
        src/app.py setup.py latest.py contest.py src/testing/client.py numpy/testing/__init__.py
        src/history.py src/news.js changes.go todo.ts requirements.txt CMakeLists.txt LICENSE.py
        Dockerfile Makefile .github/workflows/test.yml api-spec.yaml package.json Cargo.toml
        pyproject.toml go.mod tools/license-checker.js attest.rs src/contests/a.py protest.rb
        excise.spec src/documents.py notebook.ipynb benchmarks/run.py examples/demo.py
        src/Latest.java src/greatest/x.c index.min.html block.c lock.py src/Manifests/a.cs _test
    """,
    "tests": """
        tests/test_app.py test/app.js src/test/java/AppTest.java app_test.go src/app.test.tsx
        src/app.spec.ts spec/models/user_spec.rb conftest.py polls/tests.py src/AppTests.cs
        App.Tests/Unit.cs AppTests/Unit.swift __tests__/app.js testdata/a.json Tests/A.py
        __snapshots__/app.js.snap tests/README.md tests/cases/changelog.txt lib/e2e/login.ts
        tools/selftests/x.c UserSpec.scala docs/tests/page.py unit-tests/a.c
    """,
    "docs": """
        README README.md readme.txt docs/conf.py docs/index.html doc/x.c CHANGELOG CHANGELOG.md
        ChangeLog CHANGES.rst CHANGES.txt NEWS NEWS.adoc LICENSE LICENSE-MIT LICENSE.txt COPYING
        newsfragments/12.bugfix AUTHORS src/guide.mdx CITATION.cff CHANGELOG.1.0 changelog.d/3
    """,
    "generated": """
        uv.lock Cargo.lock yarn.lock package-lock.json pnpm-lock.yaml go.sum bun.lockb flake.lock
        web/package-lock.json tests/uv.lock docs/package-lock.json app.min.js api_pb2.py api.pb.go
        node_modules/a/index.js dist/index.js messages.pot .terraform.lock.hcl packages.lock.json
        Package.resolved gradle.lockfile Form.Designer.cs schema.generated.ts
    """,
}


@pytest.mark.parametrize(
    ("path", "kind"), [(path, kind) for kind, paths in EXPECTED.items() for path in paths.split()]
)
def test_a_path_is_of_the_kind_of_its_row(path, kind):
    assert kind_of(path) == kind


def test_what_is_left_out_of_patches_is_not_code():
    for glob in IGNORED:
        name = glob.replace("CHANGES.*", "CHANGES.rst").replace("NEWS.*", "NEWS.rst")
        assert kind_of(name.replace("*", "") if name[0] != "*" else f"a{name[1:]}") != "code"


def test_hostile_paths_are_of_some_kind():
    for path in ("", "/", "\n", "tests\n/a.py", "a\0b", "\udce4.md", "x" * 4000, "a/" * 2000):
        assert kind_of(path) in KINDS
    assert kind_of("tests\n/a.py") == kind_of("README\n") == "code"


@given(st.lists(st.text() | st.sampled_from(" ".join(EXPECTED.values()).split())))
def test_every_path_is_of_one_kind(paths):
    found = by_kind(paths)
    assert sorted(path for of_kind in found.values() for path in of_kind) == sorted(paths)
    assert tuple(found) == KINDS
    assert all(kind_of(path) == kind for kind, of_kind in found.items() for path in of_kind)
