"""What ARCHITECTURE.md says and no import contract can hold."""

import ast
import collections
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY, SHELL = ROOT / "core/excise", ROOT / "server/excise_server"
PAGE = re.sub(r"```.*?```", "", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), flags=re.S)
KERNELS = sorted(LIBRARY.rglob("*.pyx"))
TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for top in (LIBRARY, SHELL)
    for path in sorted(top.rglob("*.py"))
}


# --- kernels -------------------------------------------------------------------------------------

DEF = re.compile(r"^( *)def (\w+)\(([^)]*)\)", re.MULTILINE)
CLASS = re.compile(r"^(?:cdef )?class (\w+)", re.MULTILINE)
CYTHON = {"__cinit__": "__init__", "__dealloc__": None, "__reduce__": None}


def offered(kernel: Path) -> dict[str, list[str]]:
    """Return the names that Python sees of a kernel, each with its parameters."""
    text = re.sub(r"#.*|\[[^\]]*\]", "", kernel.read_text(encoding="utf-8"))
    found = {}
    starts = {match.start(): match[1] for match in CLASS.finditer(text)}
    for match in DEF.finditer(text):
        indent, name, parameters = match.groups()
        name = CYTHON.get(name, name)
        if name is None or (name.startswith("_") and not name.startswith("__")):
            continue
        own = [parameter.partition("=")[0].strip() for parameter in parameters.split(",")]
        named = [re.sub(r" not None$", "", one).split()[-1] for one in own if one not in ("", "*")]
        owner = [starts[at] for at in starts if at < match.start()][-1:] if indent else []
        found[".".join([*owner, name])] = named
    return found


def stubbed(stub: Path) -> dict[str, list[str]]:
    """Return the functions and methods of a stub, each with its parameters."""
    found = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        methods = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for method in methods:
            if isinstance(method, ast.FunctionDef):
                given = (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)
                found[f"{owner}{method.name}"] = [one.arg for one in given]
    return found


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_a_stub_says_what_its_kernel_has(kernel):
    stub = kernel.with_suffix(".pyi")
    said = stubbed(stub) if stub.exists() else {}
    # Attributes that the kernel declares are properties of the stub.
    texts = [path.read_text() for path in (kernel, kernel.with_suffix(".pxd")) if path.exists()]
    declared = re.findall(r"^ +cdef (?:readonly|public) (.*)", "\n".join(texts), re.MULTILINE)
    fields = {name for line in declared for name in re.findall(r"\w+", line)}
    said = {name: given for name, given in said.items() if name.rpartition(".")[2] not in fields}
    has = offered(kernel)
    loose = {name for name, given in has.items() if any(one.startswith("*") for one in given)}
    assert said | dict.fromkeys(loose & set(said)) == has | dict.fromkeys(loose)


def test_only_the_library_imports_kernels():
    """The linter cannot tell a compiled module from the façade, so this test does."""
    for path, tree in TREES.items():
        if SHELL in path.parents:
            assert not any(name.startswith("excise.kernels") for name in imported(tree)), path


def test_the_page_of_the_kernels_names_each_of_them():
    stems = {path.stem for path in KERNELS} | {path.stem for path in LIBRARY.rglob("*.pxd")}
    assert {path.parent.name for path in KERNELS} == {"kernels"}
    page = ast.get_docstring(TREES[LIBRARY / "kernels/__init__.py"]) or ""
    rows = re.findall(r"^``(\w+)``", page, re.MULTILINE)
    assert sorted(rows) == sorted(stems)


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full names that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# --- rooms ---------------------------------------------------------------------------------------


def modules(top: Path) -> set[str]:
    """Return the modules and packages that stand directly in a package."""
    packages = {path.parent.name for path in top.glob("*/__init__.py")}
    own = packages | {path.stem for path in top.glob("*.py")}
    return own - {"__init__", "__main__"}


@pytest.mark.parametrize("top", [LIBRARY, SHELL], ids=["library", "shell"])
def test_the_page_names_every_room_and_module(top):
    quoted = " ".join(re.findall(r"`([^`]+)`", PAGE))
    known = {name.removesuffix(".py") for name in re.findall(r"[\w.]+", quoted)}
    assert modules(top) - known == set()


def test_every_file_that_the_page_names_exists():
    files = {
        path.name
        for top in (ROOT / "core", ROOT / "server", ROOT / "tests", ROOT / "vscode-client/src")
        for path in top.rglob("*")
    }
    files |= {path.name for path in ROOT.iterdir()} | {path.name for path in ROOT.glob("docs/*")}
    named = re.findall(r"`[\w/]*?(\w+\.(?:pyx|py|ts|md|toml|yml))`", PAGE)
    assert len(named) > 40
    assert set(named) - files == set()


# Where a thread waits for what would hold up the event loop.
WAITING = {"lsp", "mcp"}
# A bar that appears late; NumPy without the interpreter's lock; one thread at a time.
THREADS = {"cli/progress.py", "evaluation/run.py", "workers/worker.py", "candidates/running.py"}
STARTING = re.compile(
    r"^os\.(fork|forkpty|system|popen|exec\w+|spawn\w+|posix_spawn\w*)$"
    r"|\.create_subprocess_\w+$|^subprocess\.|^multiprocessing\b|^pty\.|ProcessPoolExecutor"
)
THREADED = re.compile(r"\.to_thread$|^threading\.|ThreadPoolExecutor|\.run_in_executor$")


def used(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module imports, and those that it has of other modules."""
    yield from imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def test_processes_and_threads_have_one_room():
    """The linter sees imports; a fork and a command of the user's are calls."""
    starting, shells, threads = set(), set(), set()
    for path, tree in TREES.items():
        if SHELL not in path.parents:
            continue
        name = str(path.relative_to(SHELL))
        names = set(used(tree))
        starting |= {name} if any(map(STARTING.search, names)) else set()
        threads |= {name} if any(map(THREADED.search, names)) else set()
        text = path.read_text(encoding="utf-8")
        shells |= {name} if "/bin/sh" in text or "shell=True" in text else set()
    room = {name for name in starting | threads if name.startswith("processes/")}
    assert starting - room == {"git/command.py"}
    assert {"processes/sandbox.py", "processes/runs.py"} <= room
    assert {name for name in threads - room if name.partition("/")[0] not in WAITING} == THREADS
    # The user's commands: of --run, and of --execute, which run inside the sandbox.
    assert shells == {"processes/sandbox.py", "processes/runs.py"}


def test_every_package_is_in_a_contract_of_layers():
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = document["tool"]["importlinter"]["contracts"]
    layered = {
        container: contract.get("exhaustive")
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
    }
    assert layered == {"excise": True, "excise_server": True}


# --- names ---------------------------------------------------------------------------------------

# A class whose name another module has as well, and why neither is called something else.
SAME_NAME = {
    "Hunk": "what git, diffs and reviews call it: `excise.Hunk` of texts, `excise.patches.Hunk` of"
    " a patch",
}


def test_a_class_name_is_used_in_one_module_only():
    modules_of = collections.defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                modules_of[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in modules_of.items() if len(paths) > 1}
    assert shared.keys() == SAME_NAME.keys(), shared


# --- state ---------------------------------------------------------------------------------------

# Loaded or computed once, and the same whenever that happens: grammars and tables, what is
# installed, and objects of the libraries that compute measures.
LOADED = {
    "names.kind_of", "languages._tables", "normal_form._is_string",
    "syntax._grammar", "syntax.version", "evaluation.base._version",
    "evaluation.meteor._stemmer", "evaluation.rouge._scorer",
    "evaluation.translation.sacrebleu_metric", "evaluation.translation._tokeniser",
}  # fmt: skip
CHANGING = {
    "add",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "setdefault",
    "update",
}


def test_the_library_has_no_mutable_module_state_but_what_is_loaded_once():
    cached = set()
    for path, tree in TREES.items():
        if LIBRARY not in path.parents:
            continue
        constants = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Global), path
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                assert ast.unparse(node.value) not in constants, (path, ast.unparse(node))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                changes = node.func.attr in CHANGING and ast.unparse(node.func.value) in constants
                assert not changes, (path, ast.unparse(node))
        module = ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
        cached |= {
            f"{module}.{node.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and any(re.search(r"\b(lru_)?cache\b", ast.unparse(d)) for d in node.decorator_list)
        }
    assert cached == LOADED


def test_the_page_lists_the_rooms_in_the_order_of_the_contract():
    listed = [set(re.findall(r"`(\w+)/`", row)) for row in re.findall(r"^\d+\. (.*)$", PAGE, re.M)]
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (rooms,) = (c["layers"] for c in contracts if c["name"].startswith("The rooms"))
    assert [{*row.split(" | ")} for row in rooms[1:-1]] == listed
