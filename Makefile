# Two commands do everything on a fresh machine with Python 3.11+, a C compiler and make:
#   make demo    a real language-server session on examples/
#   make test    every test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KERNELS := $(wildcard core/excise/*.pyx core/excise/*.pxd)
CLIENT := vscode-client
NODE_READY := $(CLIENT)/node_modules/.ready
RUN_CLIENT = VENV="$(abspath $(VENV))" node $(CLIENT)/scripts/run.mjs

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench bench-ir bench-lsp bench-patches eval eval-envs images nightly clean \
  code vsix test-vscode check-vscode screenshots

help:
	@echo "make demo     a real language-server session on examples/, printed as an editor shows it"
	@echo "make test     every test (data for measuring: EXCISE_DATA=DIR)"
	@echo "make code     try the VS Code extension on examples/, in a browser"
	@echo "make check    everything static: ruff, cython-lint, mypy --strict, import contracts, eslint, tsc"
	@echo "make format   rewrite the Python code as ruff wants it"
	@echo "make bench    every goal side by side with its peers, as ratios within one run"
	@echo "make bench-ir instructions of the kernels, counted by callgrind"
	@echo "make bench-patches time, memory and agreement of grouping patches (EXCISE_DATA=DIR)"
	@echo "make bench-lsp what the language server costs an editor: p50, p95, max"
	@echo "make eval     the measures of the field beside Excision Score, on EXCISE_DATA: tables, figures"
	@echo "make eval-envs environments of their own for CodeBLEU (45 MB), BERTScore and LENS (1.5 GB)"
	@echo "make images   draw the pictures of the README and docs from real output"
	@echo "make test-vscode the VS Code extension alone; fails where Node or a browser is missing"
	@echo "make vsix     package the VS Code extension into dist/, with and without its server"
	@echo "make screenshots renew the pictures of the VS Code extension under docs/images/"
	@echo "make nightly  the property tests with ten times the examples"
	@echo "make clean    remove the virtual environment and everything built"

$(READY): pyproject.toml build_backend/backend.py $(KERNELS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "excise needs Python 3.11 or newer; this is `$(PYTHON) --version`. Try: make PYTHON=python3.12"; exit 1; }
	@command -v $${CC:-cc} >/dev/null || { \
	  echo "excise needs a C compiler (Debian: apt-get install gcc python3-dev)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "excise needs the venv module (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "Installing and building into $(VENV) (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,eval]'
	@touch $@

# No script of a package runs: what is installed is what the lock file names.
$(NODE_READY): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' && command -v npm >/dev/null || { \
	  echo "the VS Code extension needs Node 20 or newer and npm: https://nodejs.org"; exit 1; }
	@echo "Installing Node packages into $(CLIENT)/node_modules"
	@cd $(CLIENT) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

demo: $(READY)
	@$(BIN)/python examples/demo.py

test: $(READY)
	$(BIN)/python -m pytest

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

bench-ir: $(READY)
	$(BIN)/python benchmarks/instructions.py

bench-patches: $(READY)
	$(BIN)/python benchmarks/patches.py
	$(BIN)/python benchmarks/patches_scale.py

bench-lsp: $(READY)
	$(BIN)/python benchmarks/lsp.py

eval: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[eval]'
	$(BIN)/python benchmarks/evaluation.py

# What cannot share our environment goes into others, which the tests and `excise eval` can use:
#   EXCISE_CODEBLEU_PYTHON=.venv-codebleu/bin/python EXCISE_LENS_PYTHON=.venv-models/bin/python ...
eval-envs: .venv-codebleu/.ready .venv-models/.ready

.venv-%/.ready: pyproject.toml
	@$(PYTHON) -m venv .venv-$*
	@$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); \
	  print(*project["dependency-groups"]["$*"], sep="\n")' | \
	  .venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -r /dev/stdin
	@touch $@

images: $(READY)
	$(BIN)/python docs/images.py

nightly: $(READY)
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest

code: $(READY) $(NODE_READY)
	@$(RUN_CLIENT) code

vsix: $(READY) $(NODE_READY)
	@$(RUN_CLIENT) vsix --offline

test-vscode: $(READY)
	EXCISE_VSCODE=required $(BIN)/python -m pytest -v -s tests/vscode

screenshots: $(READY) $(NODE_READY)
	@$(RUN_CLIENT) screenshots

check-vscode: $(NODE_READY)
	cd $(CLIENT) && npm run --silent check

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint core/excise/*.pyx core/excise/*.pxd
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v node >/dev/null; then $(MAKE) --no-print-directory check-vscode; \
	  else echo "no Node here: the VS Code extension is not checked (https://nodejs.org)"; fi

format: $(READY)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

clean:
	rm -rf $(CLIENT)/node_modules $(CLIENT)/.vscode-test $(CLIENT)/dist $(CLIENT)/out
	rm -rf $(VENV) build dist *.egg-info core/excise/*.so core/excise/_*.c \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
