"""What a path holds, by a table of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.patches.features import IGNORED
from excise_server.review.kinds import KINDS, kind_of, script_stem, text_stem

EXPECTED = {
    "code": """
        src/app.py setup.py latest.py contest.py src/testing/client.py numpy/testing/__init__.py
        src/history.py src/news.js changes.go todo.ts requirements.txt CMakeLists.txt LICENSE.py
        Dockerfile Makefile .github/workflows/test.yml api-spec.yaml package.json Cargo.toml
        pyproject.toml go.mod tools/license-checker.js attest.rs src/contests/a.py protest.rb
        excise.spec src/documents.py notebook.ipynb benchmarks/run.py examples/demo.py
        src/Latest.java src/greatest/x.c index.min.html block.c lock.py src/Manifests/a.cs _test.c/a
        django/test/client.py conftest.py test.py spec/api.yaml docs/conf.py docs/index.html doc/x.c
        docs/requirements.txt requirements-dev.txt constraints.txt words.txt reproduce.py
        lib/e2e/login.ts api_spec.yaml src/guide.mdx mdx.js
    """,
    "tests": """
        tests/test_app.py test/app.js src/test/java/AppTest.java app_test.go src/app.test.tsx
        src/app.spec.ts spec/models/user_spec.rb polls/tests.py src/AppTests.cs test_app.c
        __tests__/app.js testdata/a.json Tests/A.py core/src/test/resources/a.xml x_tests.c
        __snapshots__/app.js.snap tests/README.md tests/cases/changelog.txt tests/admin/admin.py
        UserSpec.scala docs/tests/page.py src/HttpTest.java test_data tests.rs tests/conftest.py
    """,
    "docs": """
        README README.md readme.txt docs/guide.rst CHANGELOG CHANGELOG.md locale/de/django.po
        ChangeLog CHANGES.rst CHANGES.txt NEWS NEWS.adoc LICENSE LICENSE-MIT LICENSE.txt COPYING
        newsfragments/12.bugfix AUTHORS CITATION.cff CHANGELOG.1.0 changelog.d/3
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


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("reproduce.py", "reproduce"), ("a/b/try-it.mjs", "try-it"), ("check_1.sh", "check_1"),
        ("x.ts", "x"), ("setup.py", ""), ("Conftest.py", ""), ("a/__main__.py", ""),
        ("a/__init__.py", ""), ("manage.py", ""), ("noxfile.py", ""), ("tasks.py", ""),
        ("index.js", ""), ("vite.config.js", ""), (".eslintrc.js", ""), ("types.d.ts", ""),
        ("test_x.py", ""), ("tests/x.py", ""), ("x.test.js", ""), ("main.go", ""), ("try.c", ""),
        ("try.rb", ""), ("try", ""), (".py", ""), ("-x.py", ""), ("a\nb.py", ""), ("\u00e4.py", ""),
        ("a b.py", ""), ("x.py/y", ""), ("dist/x.js", ""),
    ],
)  # fmt: skip
def test_only_a_script_without_a_known_name_may_be_left_behind(path, stem):
    assert script_stem(path) == stem


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("docs/ref/models.txt", "models"), ("notes.txt", "notes"), ("requirements.txt", ""),
        ("a/Requirements-dev.txt", ""), ("constraints_3.txt", ""), ("CMakeLists.txt", ""),
        ("docs/cmakelists.txt", ""), ("adapt/log.txt", ""), ("src/doc/a.txt", "a"),
        ("tests/a.txt", ""), ("README.txt", ""), ("a\nb.txt", ""),
        ("notes.TXT", ""), ("txt", ""),
    ],
)  # fmt: skip
def test_lists_of_packages_and_files_are_no_prose(path, stem):
    assert text_stem(path) == stem


@given(st.text() | st.sampled_from(" ".join(EXPECTED.values()).split()))
def test_every_path_is_of_one_kind(path):
    assert kind_of(path) in KINDS
