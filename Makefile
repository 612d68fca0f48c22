# Two commands do everything on a fresh machine with Python 3.11+, a C compiler and make:
#   make demo    a real language-server session on examples/
#   make test    every test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KERNELS := $(wildcard core/excise/*.pyx core/excise/*.pxd)

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench bench-ir bench-lsp images nightly clean

help:
	@echo "make demo     a real language-server session on examples/, printed as an editor shows it"
	@echo "make test     every test (data for measuring: EXCISE_DATA=DIR)"
	@echo "make check    everything static: ruff, cython-lint, mypy --strict, import contracts"
	@echo "make format   rewrite the Python code as ruff wants it"
	@echo "make bench    every goal side by side with its peers, as ratios within one run"
	@echo "make bench-ir instructions of the kernels, counted by callgrind"
	@echo "make bench-lsp what the language server costs an editor: p50, p95, max"
	@echo "make images   draw the README's picture from real output"
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
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
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

bench-lsp: $(READY)
	$(BIN)/python benchmarks/lsp.py

images: $(READY)
	$(BIN)/python docs/images.py

nightly: $(READY)
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint core/excise/*.pyx core/excise/*.pxd
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

clean:
	rm -rf $(VENV) build dist *.egg-info core/excise/*.so core/excise/_*.c \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
